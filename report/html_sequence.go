package report

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/unit"
)

// glyph is how a kind of packet is drawn in sequence plots: a shape of its own, so that no one depends on colours. The shape
// is a path around the current point.
type glyph struct {
	analyze.PlotMark
	shape string
}

func glyphs() (list []glyph) {
	shapes := map[string]string{
		"retransmission": "m-4-4h8v8h-8z",
		"spurious":       "m-4-4h8v8h-8zm2 2v4h4v-4z",
		"reordered":      "m0-5l5 9h-10z",
		"zero-window":    "m-4-5l4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z",
		"tail-held":      "m0-5l5 5-5 5-5-5z",
		"tail-visible":   "m0-5l5 5-5 5-5-5zm0 2.5l-2.5 2.5 2.5 2.5 2.5-2.5z",
		"tail-hidden":    "m-4 0a4 4 0 0 1 8 0a4 4 0 0 1-8 0zm2 0a2 2 0 0 0 4 0a2 2 0 0 0-4 0z",
		"stretch-ack":    "m0 5l-5-9h10z",
		"duplicate-ack":  "m-1-5h2v4h4v2h-4v4h-2v-4h-4v-2h4z",
	}
	for _, m := range analyze.PlotMarks() {
		list = append(list, glyph{m, shapes[m.Name]})
	}
	return list
}

// plot is the part of a connection that a sequence plot shows: what one end sends, and how the other end acknowledges it.
type plot struct {
	series      *analyze.Series
	dir         int
	first, last int64         // records
	detail      bool          // few packets, each drawn as such
	shaded      [2]unit.Nanos // the part that another plot shows closer
}

// plotView is a plot as the page shows it.
type plotView struct {
	Caption string
	SVG     template.HTML
	Legend  []legendItem
	Notes   []string
	Numbers *table // what is drawn, for those who cannot see it
}

type legendItem struct {
	Class, Label string
	Shape        template.HTML // of a svg element of 14 pixels
}

// sender returns the direction that has more to show: the one with more marked packets, or more payload.
func sender(s *analyze.Series) int {
	weight := func(dir int) (marked, bytes int64) {
		for _, p := range s.Directions[dir].Points {
			bytes += p.Bytes
			if p.Mark != "" && p.Bytes > 0 {
				marked++
			}
		}
		return marked, bytes
	}
	marked0, bytes0 := weight(0)
	marked1, bytes1 := weight(1)
	if cmp.Or(cmp.Compare(marked1, marked0), cmp.Compare(bytes1, bytes0)) > 0 {
		return 1
	}
	return 0
}

func (p *plot) shown(points []analyze.Point) []analyze.Point {
	from, _ := slices.BinarySearchFunc(points, p.first, func(q analyze.Point, r int64) int { return cmp.Compare(q.Record, r) })
	to, _ := slices.BinarySearchFunc(points, p.last+1, func(q analyze.Point, r int64) int { return cmp.Compare(q.Record, r) })
	return points[from:to]
}

// extent is the range of times and sequence numbers of a plot.
type extent struct {
	any                 bool
	first, last         unit.Nanos
	lowest, highest     int64
	otherData, numbered bool
}

func (x *extent) time(t unit.Nanos) {
	if !x.any {
		x.any, x.first, x.last = true, t, t
	}
	x.first, x.last = min(x.first, t), max(x.last, t)
}

func (x *extent) number(low, high int64) {
	if !x.numbered {
		x.numbered, x.lowest, x.highest = true, low, high
	}
	x.lowest, x.highest = min(x.lowest, low), max(x.highest, high)
}

// extent returns the range that is drawn. The window of the other side is in it where that makes what was sent at most
// half as large.
func (p *plot) extent(sent, back []analyze.Point) extent {
	var x extent
	for _, s := range sent {
		x.time(s.Time)
		x.number(s.Seq, s.Seq+s.Bytes)
	}
	for _, b := range back {
		x.time(b.Time)
		if b.ACK >= 0 && (!x.numbered || b.ACK <= x.highest) { // an ACK of what was not captured would make the rest small
			x.number(b.ACK, b.ACK)
		}
		x.otherData = x.otherData || b.Bytes > 0
	}
	room := 2*x.highest - x.lowest
	for _, b := range back {
		if x.numbered && b.Edge >= 0 && b.Edge <= room {
			x.number(b.ACK, b.Edge)
		}
	}
	return x
}

// draw draws the plot.
func (p *plot) draw() plotView {
	course, other := &p.series.Directions[p.dir], &p.series.Directions[1-p.dir]
	sent, back := p.shown(course.Points), p.shown(other.Points)
	x := p.extent(sent, back)
	c := newChart(timeAxis(x.first, x.last), countAxis(float64(x.lowest), float64(x.highest), "sequence number, bytes"), p.said(&x, len(sent), len(back)))
	c.shade(float64(p.shaded[0]), float64(p.shaded[1]))
	p.acks(c, back)
	beyond := p.window(c, back)
	p.segments(c, sent)
	p.sacks(c, back)
	p.responses(c, back)
	view := plotView{Caption: p.caption(), Legend: p.legend(x.otherData, back)}
	for _, m := range glyphs() {
		points := sent
		if m.OnACK {
			points = back
		}
		if n := p.marked(c, m, points); n > 0 {
			view.Legend = append(view.Legend, legendItem{"mark " + m.Name, fmt.Sprintf("%s (%s)", m.Label, unit.Count(int64(n))), shape(m.shape)})
		}
	}
	view.SVG = c.done()
	view.Notes = thinned(p.detail, course, other)
	if beyond > 0 {
		view.Notes = append(view.Notes, fmt.Sprintf("the window reaches up to %s beyond what is drawn", unit.Bytes(beyond)))
	}
	return view
}

// said describes the plot in words.
func (p *plot) said(x *extent, sent, back int) string {
	return fmt.Sprintf("Time/sequence plot of %s: %d packets over %s, %s of sequence numbers, and %d packets of the other side with its ACK numbers.",
		p.caption(), sent, x.last-x.first, unit.Bytes(x.highest-x.lowest), back)
}

func (p *plot) caption() string {
	from, to := p.series.Client, p.series.Server
	if p.dir == 1 {
		from, to = to, from
	}
	if p.detail {
		return fmt.Sprintf("%s > %s, packets #%d to #%d", from, to, p.first, p.last)
	}
	return fmt.Sprintf("%s > %s, all of the connection", from, to)
}

// segments draws what was sent: each packet from its first to its last byte.
func (p *plot) segments(c *chart, sent []analyze.Point) {
	var bars strings.Builder
	for _, s := range sent {
		if s.Bytes == 0 {
			continue
		}
		x, from, to := c.x.at(float64(s.Time)), c.y.at(float64(s.Seq)), c.y.at(float64(s.Seq+s.Bytes))
		if from-to < 1.5 {
			to = from - 1.5 // a byte is to be seen, too
		}
		fmt.Fprintf(&bars, "M%s %sV%s", px(x), px(from), px(to))
	}
	c.path(p.class("segment"), bars.String())
}

func (p *plot) class(name string) string {
	if p.detail {
		return name + " wide"
	}
	return name
}

// acks draws the ACK number of the other side over time.
func (p *plot) acks(c *chart, back []analyze.Point) {
	var line steps
	for _, b := range back {
		if b.ACK >= 0 && float64(b.ACK) <= c.y.high {
			line.to(c.x.at(float64(b.Time)), c.y.at(float64(b.ACK)))
		}
	}
	c.path("ack", line.b.String())
}

// window draws how far the other side lets the sender go, where that is within the plot, and returns how far beyond the
// plot it reaches.
func (p *plot) window(c *chart, back []analyze.Point) (beyond int64) {
	var line steps
	for _, b := range back {
		switch {
		case b.Edge < 0:
		case float64(b.Edge) <= c.y.high:
			line.to(c.x.at(float64(b.Time)), c.y.at(float64(b.Edge)))
		default:
			beyond = max(beyond, b.Edge-int64(c.y.high))
		}
	}
	c.path("window", line.b.String())
	return beyond
}

// sacks draws the blocks that the other side acknowledges selectively.
func (p *plot) sacks(c *chart, back []analyze.Point) {
	var bars strings.Builder
	for _, b := range back {
		for _, block := range b.SACK {
			if from, to := max(float64(block[0]), c.y.low), min(float64(block[1]), c.y.high); from < to {
				fmt.Fprintf(&bars, "M%s %sV%s", px(c.x.at(float64(b.Time))), px(c.y.at(from)), px(c.y.at(to)))
			}
		}
	}
	c.path(p.class("sack"), bars.String())
}

// responses marks along the time axis when the other side sent data.
func (p *plot) responses(c *chart, back []analyze.Point) {
	var ticks strings.Builder
	for _, b := range back {
		if b.Bytes > 0 {
			fmt.Fprintf(&ticks, "M%s %sv-7", px(c.x.at(float64(b.Time))), px(c.y.from))
		}
	}
	c.path(p.class("response"), ticks.String())
}

// maxNamed bounds the marks that tell their packet when pointed at.
const maxNamed = 150

func (p *plot) marked(c *chart, m glyph, points []analyze.Point) (n int) {
	var all strings.Builder
	for _, q := range points {
		if q.Mark != m.Name {
			continue
		}
		at := q.Seq + q.Bytes
		if m.OnACK {
			at = q.ACK
		}
		n++
		d := fmt.Sprintf("M%s %s%s", px(c.x.at(float64(q.Time))), px(c.y.at(float64(at))), m.shape)
		if n <= maxNamed {
			c.printf(`<path class="mark %s" d="%s"><title>%s</title></path>`+"\n", m.Name, d, html.EscapeString(fmt.Sprintf("#%d: %s, %d bytes", q.Record, m.Label, q.Bytes)))
		} else {
			all.WriteString(d)
		}
	}
	c.path("mark "+m.Name, all.String())
	return n
}

func shape(d string) template.HTML {
	return template.HTML(`<path d="M7 7` + d + `"/>`)
}

func (p *plot) legend(otherData bool, back []analyze.Point) []legendItem {
	items := []legendItem{
		{p.class("segment"), "packet, from its first to its last byte", `<path d="M7 1V13"/>`},
		{"ack", "ACK number of the other side", `<path d="M0 11H7V4H14"/>`},
	}
	if otherData {
		items = append(items, legendItem{p.class("response"), "data of the other side", `<path d="M7 13v-7"/>`})
	}
	if slices.ContainsFunc(back, func(b analyze.Point) bool { return b.Edge >= 0 }) {
		items = append(items, legendItem{"window", "end of the window that the other side offers", `<path d="M0 7H7V2H14"/>`})
	}
	if slices.ContainsFunc(back, func(b analyze.Point) bool { return len(b.SACK) > 0 }) {
		items = append(items, legendItem{p.class("sack"), "acknowledged selectively (SACK)", `<path d="M7 1V13"/>`})
	}
	return items
}

// thinned says which packets are no points.
func thinned(detail bool, courses ...*analyze.Course) []string {
	var notes []string
	for _, c := range courses {
		for _, t := range c.Thinned {
			what := "packets without a mark"
			if t.Mark != "" {
				what = t.Mark + " packets"
			}
			if !detail {
				notes = append(notes, fmt.Sprintf("one in %s of %s %s is drawn, and all near a cited one", unit.Count(t.Every), unit.Count(t.Packets), what))
			}
		}
	}
	return notes
}
