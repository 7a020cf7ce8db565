package tui

import (
	"fmt"

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
	return []binding{{"left right", "sideways", "scroll long lines sideways"}, filterKey(), copyKey(), upKey()}
}

// Keys implements page.
func (p *viewerPage) Keys() []binding { return viewerKeys() }

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
	return cell{text: clean(untab(p.excerpt.Lines[row]))}
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

// Copy implements page.
func (p *viewerPage) Copy() (text, what string) {
	row, ok := p.list.Selected()
	if !ok {
		return "", ""
	}
	return clean(p.excerpt.Lines[row]), "the line"
}
