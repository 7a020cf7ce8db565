package tui

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// bytesPane shows bytes in hexadecimal and as text.
type bytesPane struct {
	look     *look
	data     []byte
	from, to int // marked
	at       int // cursor
	top      int
	body     int
	per      int // bytes in a line
	moved    func(at int)
}

// mark marks a range of bytes; follow brings it into sight.
func (b *bytesPane) mark(from, to int, follow bool) {
	b.from, b.to = from, to
	if follow && to > from {
		b.at = from
	}
}

// Heading implements pane.
func (b *bytesPane) Heading() string {
	if b.to > b.from {
		return fmt.Sprintf("bytes %d to %d of %s", b.from, b.to-1, count(len(b.data)))
	}
	return "bytes"
}

// Render implements pane.
func (b *bytesPane) Render(width, height int, focused bool) []string {
	b.per = 16
	for b.per > 4 && 6+b.per*4+2 > width {
		b.per /= 2
	}
	b.body = height
	b.at = clamp(b.at, len(b.data))
	row := b.at / b.per
	b.top = max(min(b.top, row), row-height+1, 0)
	var lines []string
	for y := b.top; y < b.top+height && y*b.per < len(b.data); y++ {
		lines = append(lines, b.line(y, focused))
	}
	return exactly(lines, width, height)
}

func (b *bytesPane) line(y int, focused bool) string {
	var digits, chars strings.Builder
	for i := y * b.per; i < (y+1)*b.per; i++ {
		if i >= len(b.data) {
			digits.WriteString("   ")
			continue
		}
		style := &b.look.plain
		switch {
		case i == b.at && focused:
			style = &b.look.here
		case i >= b.from && i < b.to:
			style = &b.look.match
		}
		c := "."
		if v := b.data[i]; v >= ' ' && v < 0x7f {
			c = string(rune(v))
		}
		digits.WriteString(style.Render(hex.EncodeToString(b.data[i:i+1])) + " ")
		chars.WriteString(style.Render(c))
	}
	return b.look.faint.Render(fmt.Sprintf("%04x  ", y*b.per)) + digits.String() + " " + chars.String()
}

// selected returns the marked bytes in hexadecimal.
func (b *bytesPane) selected() string {
	return hex.EncodeToString(b.data[min(b.from, len(b.data)):min(b.to, len(b.data))])
}

func (b *bytesPane) walk(n int) {
	b.at = clamp(b.at+n, len(b.data))
	b.moved(b.at)
}

// Move implements pane.
func (b *bytesPane) Move(rows int) { b.walk(rows * max(b.per, 1)) }

// Height implements pane.
func (b *bytesPane) Height() int { return b.body }

// Page implements pane.
func (b *bytesPane) Page(pages int) { b.Move(pages * max(b.body-1, 1)) }

// First implements pane.
func (b *bytesPane) First() { b.walk(-len(b.data)) }

// Last implements pane.
func (b *bytesPane) Last() { b.walk(len(b.data)) }

// Click implements pane.
func (b *bytesPane) Click(x, y int) (again bool) {
	if x -= 6; x >= 0 && x < b.per*3 {
		b.at = clamp((b.top+y)*b.per+x/3, len(b.data))
		b.moved(b.at)
	}
	return false
}
