package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// rows is what a table shows. Cells are asked for only where they are drawn, sorted or filtered by.
type rows interface {
	Len() int
	Cell(row, column int) cell
}

// marked is implemented by rows some of which have a mark in front.
type marked interface{ Marked(row int) bool }

// cell is one value: how it is shown, and the number that it is sorted and compared by, if it is one.
type cell struct {
	text    string // cleaned
	value   float64
	numeric bool
	style   *lipgloss.Style
}

func text(s string) cell                        { return cell{text: clean(s)} }
func number(shown string, value float64) cell   { return cell{text: shown, value: value, numeric: true} }
func styled(c cell, style *lipgloss.Style) cell { c.style = style; return c }

// column describes one column of a table.
type column struct {
	name  string // as filters call it
	title string // above the column; the name if empty
	width int    // 0: as wide as its widest cell
	min   int    // least width, of the one that grows
	grow  bool   // takes the room that the others leave
	right bool
	drop  int                                   // where there is no room, columns with the highest number go first; 0 stays
	parse func(string) (value float64, ok bool) // of a filter's value; nil reads quantities such as 40ms
}

// table shows rows, of which only those that are visible cost anything.
type table struct {
	look    *look
	title   string
	empty   string // what is said if there are no rows at all
	columns []column
	rows    rows
	fixed   bool // in an order that means something: not sorted

	order  []int32      // rows in the order in which they are shown; nil: all as they are
	kept   *arrangement // see arranged
	filter filter

	cursor, top, body int // in the order; body is how many rows the last drawing had
	chosen            int // the row that the user went to, from 1; it is selected whenever it is shown
	shift             int // columns of text that are scrolled away in the growing column
	heads             []span
	widths            []int // natural ones, nil until they are measured
}

// arranged is how columns and rows are arranged.
func (t *table) arranged() *arrangement {
	if t.kept == nil {
		t.kept = t.look.arrangement(t.columns)
	}
	return t.kept
}

// span is where a column was drawn.
type span struct{ column, from, to int }

// Heading implements pane.
func (t *table) Heading() string {
	text := t.title
	switch shown, all := t.Len(), t.rows.Len(); {
	case shown != all:
		text += fmt.Sprintf(" (%s of %s)", count(shown), count(all))
	case all > 0:
		text += fmt.Sprintf(" (%s)", count(all))
	}
	if t.filter.text != "" {
		text += "  /" + t.filter.text
	}
	if a := t.arranged(); a.sorted > 0 {
		direction := "up"
		if a.down {
			direction = "down"
		}
		text += "  by " + t.columns[a.sorted-1].head() + " " + direction
	}
	return text
}

func (c *column) head() string {
	if c.title != "" {
		return c.title
	}
	return c.name
}

// Len returns how many rows are shown.
func (t *table) Len() int {
	if t.order == nil {
		return t.rows.Len()
	}
	return len(t.order)
}

// row returns the number of the row at a place of the order.
func (t *table) row(place int) int {
	if t.order == nil {
		return place
	}
	return int(t.order[place])
}

// Selected returns the selected row; false if none is shown.
func (t *table) Selected() (int, bool) {
	if t.cursor < 0 || t.cursor >= t.Len() {
		return 0, false
	}
	return t.row(t.cursor), true
}

// Select goes to a row, if it is shown.
func (t *table) Select(row int) {
	if place, shown := t.place(row); shown {
		t.choose(place)
	}
}

// place returns where a row is in the order.
func (t *table) place(row int) (place int, shown bool) {
	if t.order == nil {
		return row, row < t.rows.Len()
	}
	place = slices.Index(t.order, int32(row))
	return place, place >= 0
}

// choose goes to a place of the order.
func (t *table) choose(place int) {
	t.cursor = clamp(place, t.Len())
	if row, ok := t.Selected(); ok {
		t.chosen = row + 1
	}
}

// SetRows shows other rows, for instance when more were read; the selected place stays.
func (t *table) SetRows(r rows) {
	t.rows, t.widths, t.chosen = r, nil, 0
	t.arrange()
}

func clamp(i, n int) int { return max(0, min(i, n-1)) }

// Move implements pane.
func (t *table) Move(rows int) { t.choose(t.cursor + rows) }

// Height implements pane.
func (t *table) Height() int { return t.body }

// Page implements pane.
func (t *table) Page(pages int) { t.Move(pages * max(t.body-1, 1)) }

// First implements pane.
func (t *table) First() { t.choose(0) }

// Last implements pane.
func (t *table) Last() { t.choose(t.Len() - 1) }

// Shift scrolls the text of the growing column sideways.
func (t *table) Shift(columns int) { t.shift = max(t.shift+columns, 0) }

// Click implements pane. A click on a column's head sorts by it.
func (t *table) Click(x, y int) (again bool) {
	if y == 0 && !t.fixed {
		for _, s := range t.heads {
			if x >= s.from && x < s.to {
				t.sortBy(s.column + 1)
			}
		}
		return false
	}
	place := t.top + y - 1
	if y < 1 || place >= t.Len() {
		return false
	}
	again = place == t.cursor
	t.choose(place)
	return again
}

// Sort goes on to sort by the next column that is visible, at last by none; it says what it did.
func (t *table) Sort() string {
	next := t.arranged().sorted + 1
	for next <= len(t.columns) && !slices.ContainsFunc(t.heads, func(s span) bool { return s.column == next-1 }) {
		next++
	}
	if next > len(t.columns) {
		next = 0
	}
	return t.sortedBy(next)
}

// SortAside sorts by the visible column to the left or right of the one that rows are sorted by.
func (t *table) SortAside(step int) string {
	if len(t.heads) == 0 {
		return "no column is seen to sort by"
	}
	at := slices.IndexFunc(t.heads, func(s span) bool { return s.column == t.arranged().sorted-1 })
	if at < 0 && step < 0 {
		at = len(t.heads)
	}
	return t.sortedBy(t.heads[clamp(at+step, len(t.heads))].column + 1)
}

func (t *table) sortedBy(column int) string {
	if column == 0 || column != t.arranged().sorted {
		t.sortBy(column)
	}
	if column == 0 {
		return "in the order of the result again"
	}
	return "sorted by " + t.columns[column-1].head() + "; S turns it round"
}

// sortBy sorts by a column, numbers from the largest down; a second time the other way round.
func (t *table) sortBy(column int) {
	a := t.arranged()
	if column == a.sorted && column > 0 {
		t.Turn()
		return
	}
	a.sorted = column
	a.down = column > 0 && t.numbers(column-1)
	t.arrange()
}

// numbers reports whether a column holds numbers.
func (t *table) numbers(column int) bool {
	for row := range min(t.rows.Len(), measured) {
		if t.rows.Cell(row, column).numeric {
			return true
		}
	}
	return false
}

// Turn turns the order round.
func (t *table) Turn() {
	a := t.arranged()
	a.down = !a.down
	t.arrange()
}

// Filter shows the rows that a filter lets through. One that cannot be understood changes nothing.
func (t *table) Filter(text string) error {
	f, err := parseFilter(text, t.columns)
	if err != nil {
		return err
	}
	t.filter = f
	t.arrange()
	return nil
}

// arrange makes the order anew. The row that the user went to stays selected if it is still shown.
func (t *table) arrange() {
	t.order = nil
	if len(t.filter.terms) > 0 || t.arranged().sorted > 0 {
		t.order = t.passing()
		t.sort()
	}
	t.cursor = clamp(t.cursor, t.Len())
	if t.chosen == 0 {
		return
	}
	place, shown := t.place(t.chosen - 1)
	if !shown {
		place = 0
	}
	t.cursor = clamp(place, t.Len())
}

// passing returns the rows that the filter lets through. The beginning of a column's name lets through nothing as a word;
// it is one half typed then, and left out.
func (t *table) passing() []int32 {
	order := t.letThrough(&t.filter)
	if n := len(t.filter.terms) - 1; len(order) == 0 && n >= 0 && t.filter.terms[n].begins(t.columns) {
		order = t.letThrough(&filter{terms: t.filter.terms[:n]})
	}
	return order
}

func (t *table) letThrough(f *filter) []int32 {
	order := make([]int32, 0, t.rows.Len())
	for i := range t.rows.Len() {
		if f.match(t.rows, i, len(t.columns)) {
			order = append(order, int32(i))
		}
	}
	return order
}

func (t *table) sort() {
	a := t.arranged()
	if a.sorted == 0 {
		return
	}
	keys := make(map[int32]cell, len(t.order))
	for _, i := range t.order {
		keys[i] = t.rows.Cell(int(i), a.sorted-1)
	}
	slices.SortStableFunc(t.order, func(i, j int32) int {
		x, y := keys[i], keys[j]
		c := 0
		if x.numeric || y.numeric {
			c = cmp.Or(compareBool(x.numeric, y.numeric), cmp.Compare(x.value, y.value))
		} else {
			c = strings.Compare(x.text, y.text)
		}
		if a.down {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(i, j))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}
