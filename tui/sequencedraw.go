package tui

import (
	"fmt"
	"sort"
	"strings"

	"nettrace/unit"
)

// How a time/sequence plot is drawn.

// Sizes of what is beside the canvas.
const (
	gutter  = 10 // numbers at the left
	timings = 2  // times and the legend below
)

// Render implements pane.
func (p *sequencePane) Render(width, height int, focused bool) []string {
	p.body = height
	if !p.ready() {
		return exactly([]string{"  " + p.empty}, width, height)
	}
	p.inks()
	c := newCanvas(max(width-gutter-1, 1), max(height-timings, 1), p.look.rule == asciiGlyphs().rule)
	p.area = area{gutter + 1, 0, c.width, c.height}
	p.drawn = p.seen()
	p.y = p.numbers()
	p.draw(c)
	lines := c.lines()
	for i := range lines {
		label := ""
		switch i {
		case 0:
			label = unit.Bytes(p.y[1])
		case c.height - 1:
			label = unit.Bytes(p.y[0])
		case c.height / 2:
			label = unit.Bytes(p.y[0] + (p.y[1]-p.y[0])/2)
		}
		lines[i] = p.look.faint.Render(fitRight(label, gutter, "")+p.look.bar) + lines[i]
	}
	return exactly(append(lines, p.times(width), p.legend(width)), width, height)
}

func (p *sequencePane) inks() {
	p.inkWindow = ink{1, '.', &p.look.faint}
	p.inkACK = ink{2, '-', &p.look.good}
	p.inkSACK = ink{3, ':', &p.look.title}
	p.inkSegment = ink{4, '|', &p.look.plain}
	p.inkMark = ink{5, '*', &p.look.bad}
	p.inkCursor = ink{0, '!', &p.look.faint}
}

// seen returns the points that are in sight, and one on either side for the lines.
func (p *sequencePane) seen() [2]int {
	all := p.data.points
	first := sort.Search(len(all), func(i int) bool { return all[i].time >= p.from })
	last := sort.Search(len(all), func(i int) bool { return all[i].time > p.to })
	return [2]int{max(first-1, 0), min(last+1, len(all))}
}

// numbers returns the range of sequence numbers in sight.
func (p *sequencePane) numbers() [2]int64 {
	low, high, any := int64(0), int64(0), false
	add := func(n int64) {
		if !any {
			low, high, any = n, n, true
		}
		low, high = min(low, n), max(high, n)
	}
	points := p.data.points[p.drawn[0]:p.drawn[1]]
	for i := range points {
		if q := &points[i]; q.fromServer == p.server && q.payload > 0 {
			add(q.seq)
			add(q.seq + q.payload)
		}
	}
	data := any
	for i := range points {
		q := &points[i]
		switch {
		case q.fromServer == p.server:
		case q.ack >= 0 && (!data || q.ack <= high): // an ACK of what was not captured would make the rest small
			add(q.ack)
		}
		if q.fromServer != p.server && q.edge >= 0 && p.window {
			add(q.edge)
		}
	}
	if high == low {
		high++
	}
	return [2]int64{low, high}
}

func (p *sequencePane) x(c *canvas, t unit.Nanos) int {
	return int(float64(t-p.from) / float64(p.to-p.from) * float64(c.width*dotsAcross-1))
}

func (p *sequencePane) row(c *canvas, seq int64) int {
	bottom := c.height*dotsDown - 1
	return bottom - int(float64(seq-p.y[0])/float64(p.y[1]-p.y[0])*float64(bottom))
}

// draw draws what is in sight: lines first, then packets, then marks over all.
func (p *sequencePane) draw(c *canvas) {
	points := p.data.points[p.drawn[0]:p.drawn[1]]
	c.down(p.x(c, p.at().time), 0, c.height*dotsDown-1, &p.inkCursor)
	p.steps(c, points, "win", &p.inkWindow, func(q *plotted) int64 { return q.edge })
	p.steps(c, points, "ack", &p.inkACK, func(q *plotted) int64 { return q.ack })
	for i := range points {
		q := &points[i]
		if q.time < p.from || q.time > p.to {
			continue
		}
		x := p.x(c, q.time)
		switch {
		case q.fromServer == p.server && q.payload > 0:
			c.down(x, p.row(c, q.seq), p.row(c, q.seq+q.payload), &p.inkSegment)
		case q.fromServer != p.server:
			for _, s := range q.sack {
				c.down(x, p.row(c, s[0]), p.row(c, s[1]), &p.inkSACK)
				c.write(x, p.row(c, s[1]), "s", &p.inkSACK)
			}
		}
	}
	for i := range points {
		q := &points[i]
		if q.mark == nil || q.time < p.from || q.time > p.to || q.mark.OnACK != (q.fromServer != p.server) {
			continue
		}
		at := q.seq + q.payload
		if q.mark.OnACK {
			at = q.ack
		}
		c.write(p.x(c, q.time), p.row(c, at), q.mark.letter, &p.inkMark)
	}
}

// steps draws a line that stays as it is until the next packet of the other end, with its name at the end.
func (p *sequencePane) steps(c *canvas, points []plotted, name string, k *ink, of func(*plotted) int64) {
	x, y, begun := 0, 0, false
	for i := range points {
		q := &points[i]
		if q.fromServer == p.server || of(q) < 0 {
			continue
		}
		nx, ny := p.x(c, q.time), p.row(c, of(q))
		if begun {
			c.across(x, nx, y, k)
			c.down(nx, y, ny, k)
		}
		x, y, begun = nx, ny, true
	}
	if begun {
		c.across(x, c.width*dotsAcross-1, y, k)
		c.write((c.width-len(name))*dotsAcross, y, name, k)
	}
}

// times is the line with the time axis.
func (p *sequencePane) times(width int) string {
	label := func(t unit.Nanos) string { return fmt.Sprintf("%.6f s", t.Seconds()) }
	left, right := label(p.from), label(p.to)
	room := width - gutter - 1 - widthOf(left) - widthOf(right)
	return p.look.faint.Render(blank(gutter) + p.look.bar + fit(left+blank(room)+right, width-gutter-1, ""))
}

// legend names the letters that are in sight, with how many there are.
func (p *sequencePane) legend(width int) string {
	counts := map[string]int{}
	points := p.data.points[p.drawn[0]:p.drawn[1]]
	for i := range points {
		q := &points[i]
		if q.mark != nil && q.mark.OnACK == (q.fromServer != p.server) {
			counts[q.mark.letter]++
		}
		if q.fromServer != p.server && len(q.sack) > 0 {
			counts["s"]++
		}
	}
	var words []string
	for _, m := range plotMarks() {
		if n := counts[m.letter]; n > 0 {
			words = append(words, fmt.Sprintf("%s %s (%s)", m.letter, m.Label, count(n)))
		}
	}
	if n := counts["s"]; n > 0 {
		words = append(words, fmt.Sprintf("s SACK (%s)", count(n)))
	}
	return p.look.faint.Render(fit(strings.Join(append(words, "bars: packets", "steps: ACKs and window of the other end"), p.look.dot), width, p.look.more))
}
