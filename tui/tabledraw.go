package tui

import "strings"

// gap is between columns; in front of the first is room for the mark of the selected row.
const (
	gap      = 2
	markRoom = 2
	measured = 200 // rows by which columns are measured
)

// Render implements pane.
func (t *table) Render(width, height int, focused bool) []string {
	if t.Len() == 0 {
		t.heads = nil
		return exactly(t.nothing(width), width, height)
	}
	t.body = max(height-1, 1)
	t.scroll()
	columns, widths := t.fitting(width - markRoom)
	lines := make([]string, 0, height)
	lines = append(lines, t.head(columns, widths))
	for place := t.top; place < min(t.top+t.body, t.Len()); place++ {
		lines = append(lines, t.line(place, columns, widths, focused))
	}
	return exactly(lines, width, height)
}

func (t *table) nothing(width int) []string {
	text := t.empty
	if t.rows.Len() > 0 {
		text = "nothing fits the filter /" + t.filter.text + "; an empty filter shows all " + count(t.rows.Len())
	}
	var lines []string
	for _, line := range wrap(text, width-markRoom) {
		lines = append(lines, "  "+line)
	}
	return lines
}

// scroll keeps the selected row within what is drawn.
func (t *table) scroll() {
	t.top = min(t.top, t.cursor)
	t.top = max(t.top, t.cursor-t.body+1)
	t.top = max(min(t.top, t.Len()-t.body), 0)
}

// fitting returns the columns that there is room for, and their widths.
func (t *table) fitting(room int) (columns, widths []int) {
	natural := t.natural()
	columns = t.chosenColumns()
	for t.least(columns, natural) > room && len(columns) > 1 {
		worst := 0
		for i, c := range columns {
			if t.columns[c].drop >= t.columns[columns[worst]].drop {
				worst = i
			}
		}
		if t.columns[columns[worst]].drop == 0 {
			break
		}
		columns = append(columns[:worst:worst], columns[worst+1:]...)
	}
	rest := room - t.least(columns, natural)
	for _, c := range columns {
		w := t.leastOf(c, natural)
		if t.columns[c].grow {
			w += max(rest, 0)
		}
		widths = append(widths, w)
	}
	for ; rest < 0; rest++ { // the widest give way
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		widths[widest] = max(widths[widest]-1, 1)
	}
	return columns, widths
}

// least is the room that columns need.
func (t *table) least(columns, natural []int) int {
	room := gap * (len(columns) - 1)
	for _, c := range columns {
		room += t.leastOf(c, natural)
	}
	return room
}

// leastOf is the room that a column needs, and what the user gave it more or less.
func (t *table) leastOf(column int, natural []int) int {
	w := natural[column]
	if t.columns[column].grow {
		w = t.columns[column].min
	}
	return max(w+t.arranged().wider[column], 1)
}

// natural returns how wide columns are by what they hold.
func (t *table) natural() []int {
	if t.widths != nil {
		return t.widths
	}
	widths := make([]int, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		if c.width > 0 {
			widths[i] = c.width
			continue
		}
		widths[i] = widthOf(c.head())
		for place := t.top; place < min(t.top+measured, t.Len()); place++ {
			widths[i] = max(widths[i], widthOf(t.rows.Cell(t.row(place), i).text))
		}
		if !c.grow {
			widths[i] = min(widths[i], max(c.min, 30))
		}
	}
	t.widths = widths
	return widths
}

func (t *table) head(columns, widths []int) string {
	var b strings.Builder
	b.WriteString(blank(markRoom))
	t.heads = t.heads[:0]
	at := markRoom
	for i, c := range columns {
		t.heads = append(t.heads, span{c, at, at + widths[i]})
		b.WriteString(t.cellText(t.columns[c].head(), c, widths[i]))
		at += widths[i]
		if i < len(columns)-1 {
			b.WriteString(blank(gap))
			at += gap
		}
	}
	return t.look.faint.Render(b.String())
}

func (t *table) cellText(s string, column, width int) string {
	if t.columns[column].right {
		return fitRight(s, width, t.look.more)
	}
	return fit(s, width, t.look.more)
}

// line draws a row. The selected one is in one style as a whole, with a mark in front of it.
func (t *table) line(place int, columns, widths []int, focused bool) string {
	row, selected := t.row(place), place == t.cursor
	var b strings.Builder
	b.WriteString(t.front(row, selected))
	for i, c := range columns {
		v := t.rows.Cell(row, c)
		s := v.text
		if t.shift > 0 && t.columns[c].grow {
			s = shifted(s, t.shift)
		}
		s = t.cellText(s, c, widths[i])
		if v.style != nil && !selected {
			s = v.style.Render(s)
		}
		b.WriteString(s)
		if i < len(columns)-1 {
			b.WriteString(blank(gap))
		}
	}
	switch {
	case selected && focused:
		return t.look.here.Render(b.String())
	case selected:
		return t.look.away.Render(b.String())
	}
	return b.String()
}

func (t *table) front(row int, selected bool) string {
	front := " "
	if m, ok := t.rows.(marked); ok && m.Marked(row) {
		front = t.look.mark
	}
	if selected {
		return t.look.cursor + front
	}
	return " " + front
}
