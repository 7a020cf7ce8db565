package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
)

// Model is the program: seven screens, dialogs above them, and what was read so far.
type Model struct {
	options Options
	look    *look
	width   int
	height  int

	screens [screenCount]screen
	current int // index into screens
	dialogs []dialog
	prompt  *prompt
	said    string // an answer to the last key

	library  *library
	progress progressMsg
	reading  bool
	first    chan struct{} // closed when the first packets were read
	stop     context.CancelFunc
	read     context.Context // of the analysis, which can be ended alone
	endRead  context.CancelFunc
	stopped  bool // the user ended the reading
	result   *analyze.Result
	errs     []error
}

// screen is one of the seven, and how deep the user is in it.
type screen struct {
	name  string
	pages []page // from the top level down; never empty
}

const (
	findingsScreen = iota
	flowsScreen
	packetsScreen
	locksScreen
	stacksScreen
	countersScreen
	sourcesScreen
	screenCount
)

func screenNames() [screenCount]string {
	return [...]string{"Findings", "Flows", "Packets", "Locks", "Stacks", "Counters", "Sources"}
}

// NewModel returns the explorer before anything is read. The context ends what it reads in the background.
func NewModel(ctx context.Context, o Options) *Model {
	ctx, stop := context.WithCancel(ctx)
	m := &Model{options: o, look: newLook(o.Theme != "light", o.ASCII), reading: true, first: make(chan struct{}), stop: stop}
	m.library = newLibrary(ctx, m.look)
	m.read, m.endRead = context.WithCancel(ctx)
	for i, name := range screenNames() {
		m.screens[i] = screen{name, []page{newReadingPage(m.look, name, o.Paths)}}
	}
	return m
}

// Init implements tea.Model: reading begins at once.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.library.listen(), m.analyse(), m.preview()}
	if m.options.Theme == "" || m.options.Theme == "auto" {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg)
	if w, ok := m.page().(wanting); ok {
		cmd = tea.Batch(cmd, w.Want())
	}
	return m, cmd
}

func (m *Model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		*m.look = *newLook(msg.IsDark(), m.options.ASCII)
	case tea.KeyPressMsg:
		m.said = ""
		return m.press(tea.Key(msg))
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.MouseClickMsg:
		m.said = ""
		return m.click(tea.Mouse(msg))
	case tea.MouseWheelMsg:
		m.wheel(tea.Mouse(msg))
	case progressMsg:
		m.progress = msg
	case previewMsg:
		return m.previewed(msg)
	case resultMsg:
		m.show(msg)
		return m.predict()
	case predictedMsg:
		m.predicted(msg)
	case fedMsg:
		return tea.Batch(m.take(msg.Msg), m.library.listen())
	default:
		return m.library.take(msg)
	}
	return nil
}

// page is the one that is seen.
func (m *Model) page() page {
	pages := m.screens[m.current].pages
	return pages[len(pages)-1]
}

// press takes a key: the topmost dialog first, then a prompt, then the page, then the program.
func (m *Model) press(key tea.Key) tea.Cmd {
	if n := len(m.dialogs); n > 0 {
		if m.dialogs[n-1].Press(key) {
			m.dialogs = m.dialogs[:n-1]
		}
		return nil
	}
	if m.prompt != nil {
		if m.prompt.Press(key) {
			m.prompt = nil
		}
		return nil
	}
	name := key.String()
	if a, taken := m.page().Press(name); taken {
		return m.do(a)
	}
	if m.move(name) {
		return nil
	}
	return m.command(name)
}

// move takes the keys that move within the pane that has them.
func (m *Model) move(name string) (taken bool) {
	p := m.page().panes().current()
	switch name {
	case "up", "k":
		p.Move(-1)
	case "down", "j":
		p.Move(1)
	case "pgup", "ctrl+u":
		p.Page(-1)
	case "pgdown", "space", "ctrl+d":
		p.Page(1)
	case "home", "g":
		p.First()
	case "end", "G":
		p.Last()
	case "tab", "shift+tab":
		m.page().panes().Tab()
	case "left", "right":
		if t, ok := p.(interface{ Shift(int) }); ok {
			t.Shift(map[string]int{"left": -8, "right": 8}[name])
		}
	default:
		return false
	}
	return true
}

// command takes the keys of the whole program.
func (m *Model) command(name string) tea.Cmd {
	switch name {
	case "enter":
		return m.do(m.page().Enter())
	case "esc", "backspace":
		m.up()
	case "1", "2", "3", "4", "5", "6", "7":
		m.current = int(name[0] - '1')
	case "/":
		m.ask()
	case "s", "S":
		m.sort(name == "S")
	case "?":
		m.dialogs = append(m.dialogs, newHelp(m.look, m.page().Keys()))
	case "y":
		return m.copy()
	case "q":
		m.stop()
		return tea.Quit
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+z":
		return tea.Suspend
	default:
		m.said = "no key " + clean(name) + " here; ? lists the keys of this screen"
	}
	return nil
}

// do carries out what a page asks for.
func (m *Model) do(a act) tea.Cmd {
	m.said = a.say
	if a.screen > 0 {
		m.current = a.screen - 1
	}
	if a.push != nil {
		s := &m.screens[m.current]
		s.pages = append(s.pages, a.push)
	}
	return a.cmd
}

// up goes one level up. On the top level it takes a filter away.
func (m *Model) up() {
	s := &m.screens[m.current]
	if n := len(s.pages); n > 1 {
		s.pages = s.pages[:n-1]
		return
	}
	if f, ok := m.page().(filtering); ok && f.FilterText() != "" && f.Filter("") == nil {
		m.said = "the filter is taken away"
		return
	}
	m.said = "this is the top level of " + s.name + "; q quits"
}

func (m *Model) sort(turn bool) {
	p, ok := m.page().(sorting)
	switch {
	case !ok:
		m.said = "nothing to sort here"
	case turn:
		p.Turn()
	default:
		m.said = p.Sort()
	}
}

func (m *Model) ask() {
	p, ok := m.page().(filtering)
	if !ok {
		m.said = "nothing to filter here"
		return
	}
	m.prompt = newPrompt(p)
}

func (m *Model) paste(text string) {
	if m.prompt != nil && len(m.dialogs) == 0 {
		m.prompt.Paste(text)
	}
}

// interrupt ends the reading, or the program if nothing is read.
func (m *Model) interrupt() tea.Cmd {
	if !m.reading {
		m.stop()
		return tea.Quit
	}
	m.endRead()
	m.stopped = true
	m.said = "the reading ends; what was read is judged"
	return nil
}

// copy puts what is selected into the clipboard of the terminal, which may be far away, and says what it was.
func (m *Model) copy() tea.Cmd {
	text, what := m.page().Copy()
	if text == "" {
		m.said = "nothing is selected that could be copied"
		return nil
	}
	m.said = fmt.Sprintf("copied %s (%s)", what, plural(len(text), "byte", "bytes"))
	return clipboard(text, m.options.Env)
}

func (m *Model) click(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || len(m.dialogs) > 0 {
		return nil
	}
	if s := m.screenAt(at.X, at.Y); s >= 0 {
		m.current = s
		return nil
	}
	if at.Y >= m.headLines() && m.page().panes().click(at.X, at.Y-m.headLines()) {
		return m.do(m.page().Enter())
	}
	return nil
}

func (m *Model) wheel(at tea.Mouse) {
	rows := map[tea.MouseButton]int{tea.MouseWheelUp: -3, tea.MouseWheelDown: 3}[at.Button]
	if len(m.dialogs) == 0 && at.Y >= m.headLines() {
		m.page().panes().wheel(at.X, at.Y-m.headLines(), rows)
	}
}
