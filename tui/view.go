package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// The least size that the explorer can be used in.
const (
	leastWidth  = 60
	leastHeight = 16
)

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "nettrace: " + m.incident()
	return v
}

// lines draws everything: head, page, answer and keys; dialogs last.
func (m *Model) lines() []string {
	if m.width <= 0 || m.height <= 0 {
		return nil
	}
	if m.width < leastWidth || m.height < leastHeight {
		return m.tooSmall()
	}
	lines := m.head()
	lines = exactly(lines, m.width, len(lines))
	lines = append(lines, exactly(m.page().Render(m.width, m.height-len(lines)-2), m.width, m.height-len(lines)-2)...)
	lines = append(lines, m.answer(), m.foot())
	for _, d := range m.dialogs {
		lines = over(lines, d.Render(m.width, m.height), m.width)
	}
	return lines
}

func (m *Model) tooSmall() []string {
	text := fmt.Sprintf("nettrace needs %dx%d characters; this terminal has %dx%d. q quits.", leastWidth, leastHeight, m.width, m.height)
	return exactly(wrap(text, m.width), m.width, m.height)
}

// head is what was read, the screens, and where the user is. Wide terminals have the first two in one line.
func (m *Model) head() []string {
	summary := m.summary()
	tabs, plain := m.tabs()
	place := m.look.bold.Render(cut(" "+m.breadcrumb(), m.width, m.look.more))
	if m.wide(plain) {
		room := m.width - widthOf(plain) - 1
		return []string{fit(summary, room, m.look.more) + tabs + " ", place}
	}
	return []string{fit(summary, m.width, m.look.more), tabs, place}
}

func (m *Model) wide(tabs string) bool { return m.width >= widthOf(tabs)+70 }

func (m *Model) headLines() int {
	if _, plain := m.tabs(); m.wide(plain) {
		return 2
	}
	return 3
}

// summary says what was read and found: " nettrace  rr-4345 · 15 sources · 3 critical, 2 warning · nothing lost".
func (m *Model) summary() string {
	parts := []string{m.incident()}
	switch r := m.result; {
	case r == nil && m.reading:
		parts = append(parts, "reading")
	case r != nil:
		if r.Partial {
			parts = append(parts, "interrupted")
		}
		parts = append(parts, plural(len(r.Sources), "source", "sources"), severities(r.Findings), losses(r.Ledger))
	}
	if len(m.errs) > 0 {
		parts = append(parts, plural(len(m.errs), "source could not be read", "sources could not be read"))
	}
	return " " + m.look.title.Render("nettrace") + "  " + strings.Join(parts, m.look.dot)
}

func (m *Model) incident() string {
	if m.result != nil {
		return clean(m.result.Incident())
	}
	if len(m.options.Paths) == 1 {
		return clean(m.options.Paths[0])
	}
	return plural(len(m.options.Paths), "path", "paths")
}

func severities(findings []finding.Finding) string {
	var counts [4]int
	for i := range findings {
		counts[findings[i].Severity]++
	}
	var parts []string
	for s := finding.Critical; ; s-- {
		if n := counts[s]; n > 0 && (s >= finding.Warning || len(parts) == 0) {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
		if s == finding.Info {
			break
		}
	}
	if len(parts) == 0 {
		return "nothing found"
	}
	return strings.Join(parts, ", ")
}

func losses(ledger []source.Entry) string {
	n := 0
	for i := range ledger {
		if ledger[i].Severity == source.Warning {
			n++
		}
	}
	if n == 0 {
		return "nothing lost"
	}
	return plural(n, "loss", "losses")
}

// tabs draws the screens' names, those without data faint, and returns them without styles too.
func (m *Model) tabs() (drawn, plain string) {
	short := m.width < 78
	for i := range m.screens {
		name := fmt.Sprintf(" %d %s", i+1, m.screens[i].name)
		if short && i != m.current {
			name = fmt.Sprintf(" %d", i+1)
		}
		style := &m.look.plain
		if i == m.current {
			name = "[" + name[1:] + "]"
			style = &m.look.title
		} else if _, absent := m.screens[i].pages[0].(*absentPage); absent {
			style = &m.look.faint
		}
		drawn += style.Render(name)
		plain += name
	}
	return drawn, plain
}

// screenAt returns the screen whose name is at a place, or -1.
func (m *Model) screenAt(x, y int) int {
	_, plain := m.tabs()
	row, left := 1, 0
	if m.wide(plain) {
		row, left = 0, m.width-widthOf(plain)-1
	}
	if y != row || x < left || x >= left+len(plain) {
		return -1
	}
	// A name begins at its digit, one column in.
	for i := screenCount - 1; i >= 0; i-- {
		if at := strings.Index(plain, fmt.Sprint(i+1)); at >= 0 && x-left >= at-1 {
			return i
		}
	}
	return -1
}

// breadcrumb says where the user is: "Findings › cross/adaptive-rx › a.pcap #6".
func (m *Model) breadcrumb() string {
	s := &m.screens[m.current]
	text := s.name
	for _, p := range s.pages[1:] {
		text += m.look.into + clean(p.Name())
	}
	return text
}

// answer is the line below the page: the prompt, what the last key did, or what there is to tell of the selected row.
func (m *Model) answer() string {
	switch {
	case m.prompt != nil:
		return ansi.Truncate(m.prompt.Render(m.look, m.width), m.width, "")
	case m.said != "":
		return m.look.bold.Render(fit(" "+m.said, m.width, m.look.more))
	default:
		return m.look.faint.Render(fit(" "+m.page().Note(), m.width, m.look.more))
	}
}

// footKey is a key of the last line, and where it stands.
type footKey struct {
	binding
	from, to int
}

// footKeys are the most useful keys, as far as there is room for them; ? is always among them.
func (m *Model) footKeys(room int) (list []footKey) {
	used := 0
	add := func(k binding, most int) {
		if w := widthOf(k.keys) + widthOf(k.word) + 3; used+w <= most {
			list = append(list, footKey{k, used, used + w})
			used += w
		}
	}
	help := binding{"?", "keys", ""}
	keys := m.page().Keys()
	for _, k := range keys[:min(len(keys), 5)] {
		add(k, room-widthOf(help.keys)-widthOf(help.word)-3)
	}
	add(help, room)
	return list
}

// foot is the last line: the most useful keys, and how far the reading is.
func (m *Model) foot() string {
	corner := m.corner()
	room := m.width - widthOf(corner) - 2
	line, used := "", 0
	for _, k := range m.footKeys(room) {
		line += " " + m.look.bold.Render(k.keys) + " " + m.look.faint.Render(k.word) + " "
		used = k.to
	}
	return line + blank(room-used) + " " + m.look.faint.Render(corner) + " "
}

func (m *Model) corner() string {
	if !m.reading {
		return ""
	}
	p := m.progress
	switch {
	case m.stopped:
		return "ending"
	case p.Path == "":
		return "reading"
	case p.Size > 0:
		return fmt.Sprintf("%s read", unit.Percent(float64(int(100*float64(p.Bytes)/float64(p.Size)))/100))
	default:
		return unit.Bytes(p.Bytes) + " read"
	}
}
