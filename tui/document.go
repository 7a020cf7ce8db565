package tui

import (
	"charm.land/lipgloss/v2"
)

// document is text that is read by scrolling: paragraphs behind labels, wrapped to the width that there is.
type document struct {
	look       *look
	title      string
	paragraphs []paragraph

	top, body int
	width     int // that lines were wrapped for
	lines     []string
	shown     int // the row that Show made paragraphs for, and 2; 0 to make them anew
	row       int // the same, but never taken back
}

// paragraph is a text behind a label. Without both it is an empty line.
type paragraph struct {
	label string
	text  string // cleaned
	style *lipgloss.Style
	plain bool // is not wrapped, but cut
}

const labelRoom = 6

// Set shows other paragraphs, from the beginning.
func (d *document) Set(title string, paragraphs []paragraph) {
	d.title, d.paragraphs = title, paragraphs
	d.top, d.lines = 0, nil
}

// Show shows the paragraphs of a list's row, -1 for none, which are made only when another row was shown before.
func (d *document) Show(row int, make func() (title string, paragraphs []paragraph)) {
	if d.shown == row+2 {
		return
	}
	top := d.top
	if d.Set(make()); d.row == row+2 { // the same row once more
		d.top = top
	}
	d.shown, d.row = row+2, row+2
}

// Heading implements pane.
func (d *document) Heading() string { return d.title }

// Render implements pane.
func (d *document) Render(width, height int, _ bool) []string {
	if d.lines == nil || d.width != width {
		d.width = width
		d.lines = d.layOut(width)
	}
	d.body = height
	d.top = max(min(d.top, len(d.lines)-height), 0)
	shown := append([]string(nil), d.lines[d.top:min(d.top+height, len(d.lines))]...)
	if rest := len(d.lines) - d.top - height; rest > 0 && height > 1 {
		shown[len(shown)-1] = d.look.faint.Render("  " + d.look.more + " " + plural(rest+1, "more line", "more lines") + ": Tab, then PageDown")
	}
	return exactly(shown, width, height)
}

func (d *document) layOut(width int) []string {
	room := width - labelRoom - 1
	lines := []string{}
	for i := range d.paragraphs {
		p := &d.paragraphs[i]
		wrapped := []string{cut(p.text, room, d.look.more)}
		if !p.plain {
			wrapped = wrap(p.text, room)
		}
		for n, line := range wrapped {
			label := ""
			if n == 0 {
				label = p.label
			}
			if p.style != nil {
				line = p.style.Render(line)
			}
			lines = append(lines, d.look.faint.Render(fit(label, labelRoom, ""))+" "+line)
		}
	}
	return lines
}

// Move implements pane.
func (d *document) Move(rows int) { d.top = max(d.top+rows, 0) }

// Height implements pane.
func (d *document) Height() int { return d.body }

// Page implements pane.
func (d *document) Page(pages int) { d.Move(pages * max(d.body-1, 1)) }

// First implements pane.
func (d *document) First() { d.top = 0 }

// Last implements pane.
func (d *document) Last() { d.top = len(d.lines) }

// Click implements pane.
func (d *document) Click(int, int) (again bool) { return false }
