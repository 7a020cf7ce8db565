package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
)

// Model is the program: eight screens, dialogs above them, and what was read so far.
type Model struct {
	options Options
	look    *look
	width   int
	height  int

	screens [screenCount]screen
	current int // index into screens
	dialogs []dialog
	prompt  *prompt
	next    func(key string) // takes the next key, if it is not nil
	said    string           // an answer to the last key
	digits  digits
	history history
	marks   map[string]mark // by their letters
	written []string        // files
	other   *incident       // to compare with, nil if there is none

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

// screen is one of the eight, and how deep the user is in it.
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
	replayScreen
	screenCount
)

func screenNames() [screenCount]string {
	return [...]string{"Findings", "Flows", "Packets", "Locks", "Stacks", "Counters", "Sources", "Replay"}
}

// NewModel returns the explorer before anything is read. The context ends what it reads in the background.
func NewModel(ctx context.Context, o Options) *Model {
	ctx, stop := context.WithCancel(ctx)
	m := &Model{options: o, look: newLook(o.theme(true)), reading: true, first: make(chan struct{}), stop: stop, marks: map[string]mark{}}
	m.library = newLibrary(ctx, m.look)
	m.read, m.endRead = context.WithCancel(ctx)
	for i, name := range screenNames() {
		m.screens[i] = screen{name, []page{newReadingPage(m.look, name, o.Paths)}}
	}
	m.history.note(m.place())
	return m
}

// Init implements tea.Model: reading begins at once.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.library.listen(), m.analyse(), m.preview()}
	if m.options.Theme != ThemeDark && m.options.Theme != ThemeLight {
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
		m.look.change(m.options.theme(msg.IsDark()))
	case tea.KeyPressMsg:
		m.said = ""
		defer func() { m.history.note(m.place()) }()
		return m.press(tea.Key(msg))
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.MouseClickMsg:
		m.said = ""
		defer func() { m.history.note(m.place()) }()
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
	case savedMsg:
		m.saved(msg)
	case incidentMsg:
		return m.compared(msg)
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
		a, done := m.dialogs[n-1].Press(key)
		if !done {
			return nil
		}
		m.dialogs = m.dialogs[:n-1]
		return m.do(a)
	}
	if m.prompt != nil {
		p := m.prompt
		a, done := p.Press(key)
		if !done {
			return nil
		}
		if m.prompt == p { // else it has asked for something more
			m.prompt = nil
		}
		return m.do(a)
	}
	name := key.String()
	if take := m.next; take != nil {
		m.next = nil
		take(name)
		return nil
	}
	if m.digit(name) {
		return nil
	}
	n := m.count(name)
	if n > 0 && (name == "g" || name == "G") {
		m.goToNumber(n)
		return nil
	}
	if a, taken := m.page().Press(name); taken {
		return m.do(a)
	}
	if m.move(name, max(n, 1)) {
		return nil
	}
	return m.command(name)
}

// move takes the keys that move within the pane that has them, n times as far.
func (m *Model) move(name string, n int) (taken bool) {
	p := m.page().panes().current()
	switch name {
	case "up", "k":
		p.Move(-n)
	case "down", "j":
		p.Move(n)
	case "pgup":
		p.Page(-n)
	case "pgdown", "space":
		p.Page(n)
	case "ctrl+u":
		halfPages(p, -n)
	case "ctrl+d":
		halfPages(p, n)
	case "home", "g":
		p.First()
	case "end", "G":
		p.Last()
	case "tab", "shift+tab":
		m.page().panes().Tab()
	case "left", "right":
		if t, ok := p.(interface{ Shift(int) }); ok {
			t.Shift(map[string]int{"left": -8, "right": 8}[name] * n)
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
	case "[", "]":
		m.walkHistory(name)
	case "m":
		m.mark()
	case "'":
		m.recall()
	case "/":
		m.ask()
	case ":":
		m.askCommand()
	case "s", "S":
		m.sort(name == "S")
	case "<":
		m.sortAside(-1)
	case ">":
		m.sortAside(1)
	case "c":
		m.columns()
	case "?":
		m.dialogs = append(m.dialogs, newHelp(m.look, m.page().Keys()))
	case "y":
		m.copy()
	case "w":
		m.writePackets()
	case "e":
		m.exports()
	case "o":
		m.report()
	case "d":
		m.compare()
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
	if a.say != "" {
		m.said = a.say
	}
	if a.ask != nil {
		m.prompt = a.ask
	}
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
	m.prompt = newFilterPrompt(p)
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

func (m *Model) click(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft {
		return nil
	}
	if len(m.dialogs) > 0 {
		return m.clickDialog(at)
	}
	if s := m.screenAt(at.X, at.Y); s >= 0 {
		m.current = s
		return nil
	}
	if at.Y == m.height-1 {
		return m.clickFoot(at.X)
	}
	if at.Y >= m.headLines() && m.page().panes().click(at.X, at.Y-m.headLines()) {
		return m.do(m.page().Enter())
	}
	return nil
}

// clickFoot presses the key that is named at a place of the last line.
func (m *Model) clickFoot(x int) tea.Cmd {
	for _, k := range m.footKeys(m.width) {
		if x >= k.from && x < k.to {
			return m.press(keyNamed(strings.Fields(k.keys)[0]))
		}
	}
	return nil
}

// keyNamed is the key of a name that pages list.
func keyNamed(name string) tea.Key {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "left": tea.KeyLeft, "up": tea.KeyUp, "ctrl+c": 'c'}
	if code, special := codes[name]; special {
		k := tea.Key{Code: code}
		if name == "ctrl+c" {
			k.Mod = tea.ModCtrl
		}
		return k
	}
	return tea.Key{Code: rune(name[0]), Text: name[:1]}
}

// clickDialog chooses what is clicked on in a dialog.
func (m *Model) clickDialog(at tea.Mouse) tea.Cmd {
	d, ok := m.dialogs[len(m.dialogs)-1].(*menu)
	if !ok {
		return nil
	}
	top := (m.height - len(d.Render(m.width, m.height))) / 2
	i := d.top + at.Y - top - 1
	if at.Y <= top || i >= len(d.items) {
		return nil
	}
	m.dialogs = m.dialogs[:len(m.dialogs)-1]
	return m.do(d.items[i].run())
}

func (m *Model) wheel(at tea.Mouse) {
	rows := map[tea.MouseButton]int{tea.MouseWheelUp: -3, tea.MouseWheelDown: 3}[at.Button]
	if len(m.dialogs) == 0 && at.Y >= m.headLines() {
		m.page().panes().wheel(at.X, at.Y-m.headLines(), rows)
	}
}
