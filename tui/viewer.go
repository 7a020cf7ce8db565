package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/source"
)

// viewerPage shows the text around a line that evidence is about.
type viewerPage struct {
	listPage
	at      source.Pos
	excerpt *analyze.Excerpt
	asked   bool
	search  string // in all lines
	found   []int  // rows that hold it
}

func newViewerPage(l *look, name string, at source.Pos) *viewerPage {
	p := &viewerPage{at: at}
	list := &table{title: clean(name), empty: "reading " + clean(at.Source), rows: p, fixed: true, columns: []column{
		{name: "line", min: 6, right: true}, {name: "text", grow: true, min: 20},
	}}
	if at.Line > 0 {
		name = fmt.Sprintf("%s:%d", name, at.Line)
	}
	p.listPage = newListPage(name, l, list, 100)
	return p
}

func viewerKeys() []binding {
	return []binding{{"/", "search", "search as you type"}, {"n N", "match", "next, previous match"}, {"left right", "sideways", "scroll long lines sideways"}, copyKey(), upKey()}
}

// Keys implements page.
func (p *viewerPage) Keys() []binding { return viewerKeys() }

// Filter implements filtering: here it searches, and leaves all lines in place.
func (p *viewerPage) Filter(text string) error {
	p.search, p.found = text, nil
	for row := 0; text != "" && row < p.Len(); row++ {
		if matches(p.excerpt.Lines[row], text) {
			p.found = append(p.found, row)
		}
	}
	if at, _ := slices.BinarySearch(p.found, p.list.cursor); at < len(p.found) {
		p.list.choose(p.found[at])
	}
	return nil
}

// FilterText implements filtering.
func (p *viewerPage) FilterText() string { return p.search }

// FilterHint implements filtering.
func (p *viewerPage) FilterHint() string {
	return plural(len(p.found), "line", "lines") + "; words that a line holds"
}

// Press implements page.
func (p *viewerPage) Press(key string) (act, bool) {
	if key != "n" && key != "N" {
		return act{}, false
	}
	if len(p.found) == 0 {
		return say("nothing to go to: / searches"), true
	}
	at, here := slices.BinarySearch(p.found, p.list.cursor)
	switch {
	case key == "N":
		at--
	case here:
		at++
	}
	p.list.choose(p.found[(at+len(p.found))%len(p.found)])
	return act{}, true
}

// Note implements page.
func (p *viewerPage) Note() string {
	if p.search == "" {
		return ""
	}
	return "/" + clean(p.search) + ": " + p.FilterHint()
}

// Enter implements page: this is the lowest level.
func (p *viewerPage) Enter() act { return say("this is the lowest level; esc goes up") }

// excerptMsg is a text that was read.
type excerptMsg struct {
	to      *viewerPage
	excerpt *analyze.Excerpt
	err     error
}

// Want implements wanting.
func (p *viewerPage) Want() tea.Cmd {
	if p.asked {
		return nil
	}
	p.asked = true
	at := p.at
	return func() tea.Msg {
		x, err := analyze.ReadExcerpt(at)
		return excerptMsg{p, x, err}
	}
}

func (p *viewerPage) take(msg excerptMsg) {
	if msg.err != nil {
		p.list.empty = clean(msg.err.Error())
		return
	}
	p.excerpt = msg.excerpt
	if !p.excerpt.Whole {
		p.list.title += ", around this line"
	}
	p.list.SetRows(p)
	if p.at.Line > 0 {
		p.list.Select(p.at.Line - p.excerpt.First)
		p.list.top = max(p.list.cursor-5, 0)
	}
}

// Len implements rows.
func (p *viewerPage) Len() int {
	if p.excerpt == nil {
		return 0
	}
	return len(p.excerpt.Lines)
}

// Marked implements marked: the line that evidence is about.
func (p *viewerPage) Marked(row int) bool { return p.excerpt.First+row == p.at.Line }

// Cell implements rows.
func (p *viewerPage) Cell(row, column int) cell {
	if column == 0 {
		n := p.excerpt.First + row
		return styled(number(fmt.Sprint(n), float64(n)), &p.look.faint)
	}
	c := cell{text: clean(untab(p.excerpt.Lines[row]))}
	if _, found := slices.BinarySearch(p.found, row); found {
		c.style = &p.look.match
	}
	return c
}

// untab sets tabs to columns of eight, as terminals do.
func untab(line string) string {
	out := make([]byte, 0, len(line)+16)
	column := 0
	for i := 0; i < len(line); i++ {
		if line[i] != '\t' {
			out = append(out, line[i])
			if line[i]&0xc0 != 0x80 { // not within a character
				column++
			}
			continue
		}
		for n := 8 - column%8; n > 0; n-- {
			out = append(out, ' ')
			column++
		}
	}
	return string(out)
}

// Copies implements page.
func (p *viewerPage) Copies() []clip {
	row, ok := p.list.Selected()
	if !ok {
		return nil
	}
	all := ""
	for _, line := range p.excerpt.Lines {
		all += clean(line) + "\n"
	}
	return []clip{{"the line", clean(p.excerpt.Lines[row])}, {"all that is shown", all}}
}

// GoTo implements numbered: the number of the line.
func (p *viewerPage) GoTo(number int) {
	if p.excerpt != nil {
		p.list.choose(number - p.excerpt.First)
	}
}
