package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// page is one level of a screen.
type page interface {
	// Name stands in the breadcrumb.
	Name() string
	Render(width, height int) []string
	// split gives the panes.
	panes() *split
	// Enter goes one level down.
	Enter() act
	// Press takes a key of this page's own; taken is false for all others.
	Press(key string) (a act, taken bool)
	// Keys lists the page's keys, the most useful first.
	Keys() []binding
	// Copy returns what y copies, and what that is.
	Copy() (text, what string)
	// Note is told below the page; it may be empty.
	Note() string
}

// filtering is implemented by pages whose list can be filtered.
type filtering interface {
	Filter(text string) error
	FilterText() string
	FilterHint() string
}

// sorting is implemented by pages whose list can be sorted.
type sorting interface {
	Sort() string
	Turn()
}

// wanting is implemented by pages that show what has to be read: Want returns the command that reads what is missing,
// and is asked after every message.
type wanting interface{ Want() tea.Cmd }

// act is what a key asks for besides a change within its page.
type act struct {
	push   page   // go one level down
	screen int    // go to a screen, from 1
	say    string // tell this
	cmd    tea.Cmd
}

func say(text string) act { return act{say: text} }

// listPage is a page whose first pane is a list.
type listPage struct {
	split
	list *table
	name string
}

func newListPage(name string, l *look, list *table, share int, more ...pane) listPage {
	list.look = l
	return listPage{split: newSplit(l, share, append([]pane{list}, more...)...), list: list, name: name}
}

// Name implements page.
func (p *listPage) Name() string { return p.name }

func (p *listPage) panes() *split { return &p.split }

// Press implements page.
func (p *listPage) Press(string) (act, bool) { return act{}, false }

// Note implements page.
func (p *listPage) Note() string { return "" }

// detailed shows the selected row in the second pane; make is called when another one was shown before.
func (p *listPage) detailed(d *document, make func(row int) (title string, paragraphs []paragraph)) {
	row, ok := p.list.Selected()
	switch {
	case ok:
		d.Show(row, func() (string, []paragraph) { return make(row) })
	case p.list.rows.Len() > 0: // the filter lets nothing through
		d.Show(-1, func() (string, []paragraph) { return "nothing selected", nil })
	}
}

// Copy implements page: the row, with tabs between its cells.
func (p *listPage) Copy() (text, what string) {
	row, ok := p.list.Selected()
	if !ok {
		return "", ""
	}
	for c := range p.list.columns {
		if c > 0 {
			text += "\t"
		}
		text += p.list.rows.Cell(row, c).text
	}
	return text, "the row"
}

// Filter implements filtering.
func (p *listPage) Filter(text string) error { return p.list.Filter(text) }

// FilterText implements filtering.
func (p *listPage) FilterText() string { return p.list.filter.text }

// FilterHint implements filtering: the columns that a filter may name.
func (p *listPage) FilterHint() string {
	var names []string
	for i := range p.list.columns {
		names = append(names, p.list.columns[i].name)
	}
	return "columns: " + strings.Join(names, " ")
}

// Sort implements sorting.
func (p *listPage) Sort() string {
	if p.list.fixed {
		return p.list.title + " stay in this order: it is that of the input"
	}
	return p.list.Sort()
}

// Turn implements sorting.
func (p *listPage) Turn() {
	if !p.list.fixed {
		p.list.Turn()
	}
}
