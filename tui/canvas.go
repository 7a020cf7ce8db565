package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// canvas is a drawing of dots, two beside and four above each other in a character: braille (U+2800 to U+28FF), or where that
// is not there a character of what was drawn last.
type canvas struct {
	width, height int // in characters
	cells         []canvasCell
	ascii         bool
}

type canvasCell struct {
	dots byte
	ink  *ink
	text rune // is drawn in place of dots
}

// ink is what something is drawn with. Where several things meet, the one with the highest rank gives the colour.
type ink struct {
	rank  int
	ascii rune
	style *lipgloss.Style
}

// Dots of a character.
const (
	dotsAcross = 2
	dotsDown   = 4
)

func newCanvas(width, height int, ascii bool) *canvas {
	return &canvas{width: width, height: height, cells: make([]canvasCell, max(width, 0)*max(height, 0)), ascii: ascii}
}

// brailleDots are the bits of the dots, by row and column.
var brailleDots = [dotsDown][dotsAcross]byte{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// dot draws one; x counts from the left, y from the top, in dots.
func (c *canvas) dot(x, y int, k *ink) {
	if x < 0 || y < 0 || x >= c.width*dotsAcross || y >= c.height*dotsDown {
		return
	}
	cell := &c.cells[y/dotsDown*c.width+x/dotsAcross]
	cell.dots |= brailleDots[y%dotsDown][x%dotsAcross]
	if cell.ink == nil || k.rank > cell.ink.rank {
		cell.ink = k
	}
}

// across draws a line from one x to another, down one from one y to another; both ends belong to it.
func (c *canvas) across(from, to, y int, k *ink) {
	for x := max(from, 0); x <= min(to, c.width*dotsAcross-1); x++ {
		c.dot(x, y, k)
	}
}

func (c *canvas) down(x, from, to int, k *ink) {
	if from > to {
		from, to = to, from
	}
	for y := max(from, 0); y <= min(to, c.height*dotsDown-1); y++ {
		c.dot(x, y, k)
	}
}

// write puts a text over the dots, from the character with the dot x, y on.
func (c *canvas) write(x, y int, text string, k *ink) {
	column, row := x/dotsAcross, y/dotsDown
	for _, r := range text {
		if x >= 0 && y >= 0 && column < c.width && row < c.height {
			cell := &c.cells[row*c.width+column]
			cell.text, cell.ink = r, k
		}
		column++
	}
}

// lines are the rows of characters.
func (c *canvas) lines() []string {
	lines := make([]string, c.height)
	for y := range lines {
		lines[y] = c.line(c.cells[y*c.width : (y+1)*c.width])
	}
	return lines
}

// line joins the characters, those that follow each other in one style at once.
func (c *canvas) line(cells []canvasCell) string {
	var line, run strings.Builder
	var style *lipgloss.Style
	flush := func() {
		if style != nil {
			line.WriteString(style.Render(run.String()))
		} else {
			line.WriteString(run.String())
		}
		run.Reset()
	}
	for i := range cells {
		var s *lipgloss.Style
		if cells[i].ink != nil {
			s = cells[i].ink.style
		}
		if s != style {
			flush()
			style = s
		}
		run.WriteRune(c.rune(&cells[i]))
	}
	flush()
	return line.String()
}

func (c *canvas) rune(cell *canvasCell) rune {
	switch {
	case cell.text != 0:
		return cell.text
	case cell.dots == 0:
		return ' '
	case c.ascii:
		return cell.ink.ascii
	}
	return 0x2800 + rune(cell.dots)
}
