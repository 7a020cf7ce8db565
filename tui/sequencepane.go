package tui

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"nettrace/unit"
)

// sequencePane draws a time/sequence plot: sequence numbers upwards, time to the right. Each packet is a line from its first
// to its last byte, below them runs the ACK line of the other end, above them how far its window reaches.
type sequencePane struct {
	look   *look
	title  string
	empty  string
	data   *sequenceData // nil until it was read
	goal   int64         // record to begin at
	server bool          // what the server sent is shown
	window bool          // room is made for all of the window

	from, to   unit.Nanos // what is seen
	cursor     int        // index into points
	body       int
	area       area   // of the canvas in the last drawing
	drawn      [2]int // points of it
	y          [2]int64
	inkSegment ink
	inkACK     ink
	inkWindow  ink
	inkSACK    ink
	inkMark    ink
	inkCursor  ink
}

// leastSpan is the shortest time that can be zoomed to.
const leastSpan = unit.Microsecond

func (p *sequencePane) show(d *sequenceData) {
	slices.SortStableFunc(d.points, func(a, b plotted) int { return cmp.Compare(a.time, b.time) }) // a clock may step back
	p.data, p.server = d, d.bytes[1] > d.bytes[0]
	p.whole()
	p.cursor = 0
	for i := range d.points {
		if d.points[i].record <= p.goal {
			p.cursor = i
		}
	}
}

// ready reports whether there is anything to walk in.
func (p *sequencePane) ready() bool { return p.data != nil && len(p.data.points) > 0 }

// at returns the packet of the cursor.
func (p *sequencePane) at() *plotted {
	if !p.ready() {
		return nil
	}
	return &p.data.points[clamp(p.cursor, len(p.data.points))]
}

func (p *sequencePane) whole() {
	if p.ready() {
		points := p.data.points
		p.from, p.to = points[0].time, max(points[len(points)-1].time, points[0].time+leastSpan)
	}
}

// turn shows what the other end sent.
func (p *sequencePane) turn() { p.server = !p.server }

// zoom changes how much time is seen, around the cursor if it is seen, else around the middle.
func (p *sequencePane) zoom(factor float64) {
	if !p.ready() {
		return
	}
	span := p.to - p.from
	middle, share := p.from+span/2, 0.5
	if t := p.at().time; t >= p.from && t <= p.to {
		middle, share = t, float64(t-p.from)/float64(span)
	}
	all := p.data.points
	longest := max(all[len(all)-1].time-all[0].time, leastSpan)
	wide := min(max(unit.Nanos(float64(span)*factor), leastSpan), longest)
	p.from = middle - unit.Nanos(float64(wide)*share)
	p.to = p.from + wide
	p.within()
}

// pan moves what is seen by a part of it.
func (p *sequencePane) pan(part float64) {
	if !p.ready() {
		return
	}
	step := unit.Nanos(float64(p.to-p.from) * part)
	p.from, p.to = p.from+step, p.to+step
	p.within()
}

// within keeps what is seen within the connection.
func (p *sequencePane) within() {
	all := p.data.points
	first, last := all[0].time, all[len(all)-1].time
	if over := p.to - max(last, first+leastSpan); over > 0 {
		p.from, p.to = p.from-over, p.to-over
	}
	if under := first - p.from; under > 0 {
		p.from, p.to = p.from+under, p.to+under
	}
}

// reveal brings the cursor into sight.
func (p *sequencePane) reveal() {
	t, span := p.at().time, p.to-p.from
	if t < p.from || t > p.to {
		p.from, p.to = t-span/2, t+span/2
		p.within()
	}
}

// nextMark goes to the next packet with a mark.
func (p *sequencePane) nextMark(back bool) bool {
	if !p.ready() {
		return false
	}
	n, step := len(p.data.points), 1
	if back {
		step = -1
	}
	for i := 1; i <= n; i++ {
		at := ((p.cursor+i*step)%n + n) % n
		if p.data.points[at].mark != nil {
			p.cursor = at
			p.reveal()
			return true
		}
	}
	return false
}

// Heading implements pane.
func (p *sequencePane) Heading() string {
	if !p.ready() {
		return p.title
	}
	ends := "client > server"
	if p.server {
		ends = "server > client"
	}
	text := fmt.Sprintf("%s  %s  %s of %s", p.title, ends, p.to-p.from, p.data.points[len(p.data.points)-1].time-p.data.points[0].time)
	if p.data.every > 1 {
		text += fmt.Sprintf("  one packet in %s", count(int(p.data.every)))
	}
	return text
}

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

// records returns the first and the last packet that is in sight.
func (p *sequencePane) records() (first, last int64, ok bool) {
	if !p.ready() {
		return 0, 0, false
	}
	for _, q := range p.data.points {
		if q.time >= p.from && q.time <= p.to {
			if first == 0 {
				first = q.record
			}
			last = q.record
		}
	}
	return first, last, first > 0
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

// describe tells of a packet.
func (p *sequencePane) describe(q *plotted) string {
	from := "client"
	if q.fromServer {
		from = "server"
	}
	text := fmt.Sprintf("#%s at %.6f s from the %s: seq %s, %s bytes", count(int(q.record)), q.time.Seconds(), from, count(int(q.seq)), count(int(q.payload)))
	if q.ack >= 0 {
		text += ", ack " + count(int(q.ack))
	}
	if q.edge >= 0 && q.ack >= 0 {
		text += ", window " + unit.Bytes(q.edge-q.ack)
	}
	for _, s := range q.sack {
		text += fmt.Sprintf(", SACK %s-%s", count(int(s[0])), count(int(s[1])))
	}
	if q.mark != nil {
		text += p.look.dot + q.mark.Label
	}
	return text
}

// Move implements pane: to the previous or next packet.
func (p *sequencePane) Move(rows int) {
	if p.ready() {
		p.cursor = clamp(p.cursor+rows, len(p.data.points))
		p.reveal()
	}
}

// Page implements pane.
func (p *sequencePane) Page(pages int) { p.pan(float64(pages)) }

// Height implements pane.
func (p *sequencePane) Height() int { return p.body }

// First implements pane.
func (p *sequencePane) First() { p.Move(-len(p.points())) }

// Last implements pane.
func (p *sequencePane) Last() { p.Move(len(p.points())) }

func (p *sequencePane) points() []plotted {
	if p.data == nil {
		return nil
	}
	return p.data.points
}

// Click implements pane: to the packet that is nearest in time.
func (p *sequencePane) Click(x, y int) (again bool) {
	if !p.ready() || !p.area.has(x, y) {
		return false
	}
	t := p.from + unit.Nanos(float64(p.to-p.from)*float64(x-p.area.x)/float64(p.area.width))
	all := p.data.points
	at := clamp(sort.Search(len(all), func(i int) bool { return all[i].time >= t }), len(all))
	if at > 0 && t-all[at-1].time < all[at].time-t {
		at--
	}
	again = p.cursor == at
	p.cursor = at
	return again
}
