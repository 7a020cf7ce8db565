package tui

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

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
