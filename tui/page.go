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
	// Copies returns what y offers to copy, the most useful first.
	Copies() []clip
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
	SortAside(step int) string
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
	ask    *prompt
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
	list.arrange()
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

// Copies implements page: the row, with tabs between its cells, and each of the cells.
func (p *listPage) Copies() []clip {
	row, ok := p.list.Selected()
	if !ok {
		return nil
	}
	whole := clip{what: "the row"}
	var cells []clip
	for i, c := range p.list.chosenColumns() {
		text := p.list.rows.Cell(row, c).text
		if i > 0 {
			whole.text += "\t"
		}
		whole.text += text
		if text != "" {
			cells = append(cells, clip{p.list.columns[c].head(), text})
		}
	}
	return append([]clip{whole}, cells...)
}

// Spot implements spotted.
func (p *listPage) Spot() int64 {
	row, ok := p.list.Selected()
	if !ok {
		return 0
	}
	return int64(row) + 1
}

// Return implements spotted.
func (p *listPage) Return(spot int64) { p.list.Select(int(spot) - 1) }

// GoTo implements numbered: rows count from 1 as they are shown.
func (p *listPage) GoTo(number int) { p.list.choose(number - 1) }

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
func (p *listPage) Sort() string { return p.sorted(p.list.Sort) }

// SortAside implements sorting.
func (p *listPage) SortAside(step int) string {
	return p.sorted(func() string { return p.list.SortAside(step) })
}

func (p *listPage) sorted(sort func() string) string {
	if p.list.fixed {
		return p.list.title + " stay in this order: it is that of the input"
	}
	return sort()
}

// Turn implements sorting.
func (p *listPage) Turn() {
	if !p.list.fixed {
		p.list.Turn()
	}
}
