package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// arrangement is how the user has arranged the columns of a kind of table, and what it is sorted by. All tables with these
// columns share it.
type arrangement struct {
	order  []int // all columns
	hidden []bool
	wider  []int // than by themselves
	sorted int   // column that rows are sorted by, from 1; 0: none
	down   bool  // largest first
}

// arrangement returns what the user has chosen for tables with such columns.
func (l *look) arrangement(columns []column) *arrangement {
	var names strings.Builder
	for i := range columns {
		names.WriteString(columns[i].name + " ")
	}
	a := l.arranged[names.String()]
	if a == nil {
		a = &arrangement{hidden: make([]bool, len(columns)), wider: make([]int, len(columns))}
		for i := range columns {
			a.order = append(a.order, i)
		}
		l.arranged[names.String()] = a
	}
	return a
}

// chosenColumns returns the columns that are not hidden, in their order.
func (t *table) chosenColumns() []int {
	a := t.arranged()
	return slices.DeleteFunc(slices.Clone(a.order), func(c int) bool { return a.hidden[c] })
}

// columnsDialog changes the arrangement of a table's columns.
type columnsDialog struct {
	look  *look
	table *table
	at    int
}

// Press implements dialog.
func (d *columnsDialog) Press(key tea.Key) (a act, done bool) {
	x := d.table.arranged()
	c := x.order[d.at]
	switch key.String() {
	case "esc", "enter", "ctrl+c", "c":
		return act{}, true
	case "up", "k":
		d.at = clamp(d.at-1, len(x.order))
	case "down", "j":
		d.at = clamp(d.at+1, len(x.order))
	case "space", "x":
		if x.hidden[c] || len(d.table.chosenColumns()) > 1 {
			x.hidden[c] = !x.hidden[c]
		}
	case "left", "<":
		d.swap(x, -1)
	case "right", ">":
		d.swap(x, 1)
	case "+":
		x.wider[c] = min(x.wider[c]+2, 100)
	case "-":
		x.wider[c] = max(x.wider[c]-2, -100)
	case "r":
		d.look.forget(d.table.columns, x)
	}
	return act{}, false
}

func (d *columnsDialog) swap(x *arrangement, step int) {
	to := clamp(d.at+step, len(x.order))
	x.order[d.at], x.order[to] = x.order[to], x.order[d.at]
	d.at = to
}

// forget puts columns back as they were.
func (l *look) forget(columns []column, x *arrangement) {
	for i := range columns {
		x.order[i], x.hidden[i], x.wider[i] = i, false, 0
	}
}

// Render implements dialog.
func (d *columnsDialog) Render(width, height int) []string {
	x := d.table.arranged()
	w := min(width-6, 60)
	var lines []string
	for _, text := range wrap("space shows or hides, left and right move, + and - change the width, r puts all back", w) {
		lines = append(lines, d.look.faint.Render(text))
	}
	rows := max(min(len(x.order), height-6-len(lines)), 1)
	top := max(min(d.at-rows/2, len(x.order)-rows), 0)
	for i := top; i < top+rows; i++ {
		c := x.order[i]
		box := "[x]"
		if x.hidden[c] {
			box = "[ ]"
		}
		line := fmt.Sprintf("%s %s", box, d.table.columns[c].head())
		if x.wider[c] != 0 {
			line += fmt.Sprintf(" (%+d)", x.wider[c])
		}
		if !slices.ContainsFunc(d.table.heads, func(s span) bool { return s.column == c }) && !x.hidden[c] {
			line += " - no room for it"
		}
		line = fit(line, w-2, d.look.more)
		if i == d.at {
			lines = append(lines, d.look.here.Render(d.look.cursor+" "+line))
		} else {
			lines = append(lines, "  "+line)
		}
	}
	return frame(d.look, "columns", lines, w)
}

// columns opens the dialog for the pane that has the keys, or the page's list.
func (m *Model) columns() {
	t := m.list()
	if t == nil {
		m.said = "this screen has no columns"
		return
	}
	m.dialogs = append(m.dialogs, &columnsDialog{look: m.look, table: t})
}

// list returns the page's table, nil if it has none.
func (m *Model) list() *table {
	s := m.page().panes()
	if t, ok := s.current().(*table); ok {
		return t
	}
	for _, p := range s.panes {
		if t, ok := p.(*table); ok {
			return t
		}
	}
	return nil
}

// sortAside sorts by the column to the left or right of the one that rows are sorted by.
func (m *Model) sortAside(step int) {
	p, ok := m.page().(sorting)
	if !ok {
		m.said = "nothing to sort here"
		return
	}
	m.said = p.SortAside(step)
}
