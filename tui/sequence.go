package tui

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/unit"
)

// maxPlotted bounds the packets of a plot. Of more, one in so many of those without a mark is drawn.
const maxPlotted = 1 << 17

// plotted is one packet of a time/sequence plot.
type plotted struct {
	time         unit.Nanos
	record       int64
	seq, payload int64
	ack, edge    int64 // -1 where they are not known
	sack         [][2]int64
	fromServer   bool
	mark         *plotMark // nil for none
}

// keeps reports whether a packet is drawn however many there are.
func (p *plotted) keeps() bool { return p.mark != nil || len(p.sack) > 0 }

// plotMark is a kind of packet that a plot marks with a letter.
type plotMark struct {
	analyze.PlotMark
	letter string
}

func plotMarks() (list []plotMark) {
	letters := map[string]string{"spurious": "N", "retransmission": "R", "reordered": "O", "zero-window": "Z", "tail-held": "H", "tail-visible": "T", "tail-hidden": "t",
		"stretch-ack": "A", "duplicate-ack": "D"}
	for _, m := range analyze.PlotMarks() {
		list = append(list, plotMark{m, letters[m.Name]})
	}
	return list
}

// sequenceData is a connection's packets, thinned.
type sequenceData struct {
	points []plotted
	every  int64 // one in so many packets without a mark is there
	packet int64
	bytes  [2]int64 // sent by client and server
}

// readSequence reads the packets of a connection.
func readSequence(ctx context.Context, path string, connection int64) (*sequenceData, error) {
	marks := plotMarks()
	d := &sequenceData{every: 1}
	_, err := analyze.TimeSequence(ctx, path, connection, analyze.Options{}, func(r *analyze.SequenceRow) error {
		p := plotted{time: r.Time, record: r.Record, seq: r.Seq, payload: r.Payload, ack: r.ACK, edge: r.Edge, fromServer: r.From == "server"}
		for i := range marks {
			if slices.Contains(r.Flags, marks[i].Name) {
				p.mark = &marks[i]
				break
			}
		}
		if len(r.SACK) > 0 {
			p.sack = slices.Clone(r.SACK)
		}
		end := 0
		if p.fromServer {
			end = 1
		}
		d.bytes[end] += r.Payload
		d.add(p)
		return ctx.Err()
	})
	return d, err
}

func (d *sequenceData) add(p plotted) {
	d.packet++
	if !p.keeps() && d.packet%d.every != 0 {
		return
	}
	if d.points = append(d.points, p); len(d.points) < maxPlotted {
		return
	}
	d.every *= 2
	d.halve(func(p *plotted) bool { return !p.keeps() })
	if len(d.points) > maxPlotted/4*3 { // marked packets are the most of it
		d.halve(func(*plotted) bool { return true })
	}
}

// halve leaves out every second of some points.
func (d *sequenceData) halve(some func(*plotted) bool) {
	n := 0
	d.points = slices.DeleteFunc(d.points, func(p plotted) bool {
		if some(&p) {
			n++
		}
		return some(&p) && n%2 == 0
	})
}

// sequencePage is the time/sequence plot of a connection: what one end sent, and how the other acknowledged it.
type sequencePage struct {
	split
	library *library
	capture *capture
	number  int64
	who     string
	plot    *sequencePane
	asked   bool
}

func newSequencePage(l *look, c *capture, number int64, who string, record int64) *sequencePage {
	p := &sequencePage{library: c.library, capture: c, number: number, who: who}
	p.plot = &sequencePane{look: l, title: who, empty: "reading connection " + fmt.Sprint(number) + " of " + c.name(), goal: record}
	p.split = newSplit(l, 100, p.plot)
	return p
}

func sequenceKeys() []binding {
	return []binding{
		{"enter", "packet", "the packet in the list of packets"}, {"+ -", "zoom", "zoom in, out in time"}, {"left right", "pan", "earlier, later"}, {"n N", "mark", "next, previous marked packet"},
		{"up down", "step", "previous, next packet"}, {"a", "all", "the whole connection"}, {"r", "other side", "what the other end sent"}, {"v", "window", "make room for the whole window"}, copyKey(), upKey(),
	}
}

// Name implements page.
func (p *sequencePage) Name() string { return fmt.Sprintf("connection %d over time", p.number) }

func (p *sequencePage) panes() *split { return &p.split }

// Keys implements page.
func (p *sequencePage) Keys() []binding { return sequenceKeys() }

// Enter implements page.
func (p *sequencePage) Enter() act {
	q := p.plot.at()
	if q == nil {
		return say("there is no packet to open yet")
	}
	return act{push: newPacketsPage(p.look, p.capture, q.record)}
}

// Press implements page.
func (p *sequencePage) Press(key string) (act, bool) {
	switch key {
	case "+", "=":
		p.plot.zoom(0.5)
	case "-":
		p.plot.zoom(2)
	case "left":
		p.plot.pan(-0.25)
	case "right":
		p.plot.pan(0.25)
	case "a":
		p.plot.whole()
	case "r":
		p.plot.turn()
	case "v":
		p.plot.window = !p.plot.window
	case "n", "N":
		if !p.plot.nextMark(key == "N") {
			return say("no packet of this plot has a mark"), true
		}
	default:
		return act{}, false
	}
	return act{}, true
}

// sequenceMsg is a connection that was read for its plot.
type sequenceMsg struct {
	to   *sequencePage
	data *sequenceData
	err  error
}

// Want implements wanting.
func (p *sequencePage) Want() tea.Cmd {
	if p.asked {
		return nil
	}
	p.asked = true
	ctx, path, number := p.library.ctx, p.capture.path, p.number
	return func() tea.Msg {
		d, err := readSequence(ctx, path, number)
		return sequenceMsg{p, d, err}
	}
}

func (p *sequencePage) take(msg sequenceMsg) {
	if msg.err != nil {
		p.plot.empty = clean(msg.err.Error())
		return
	}
	p.plot.show(msg.data)
}

// Copies implements page.
func (p *sequencePage) Copies() []clip {
	q := p.plot.at()
	if q == nil {
		return nil
	}
	return []clip{{fmt.Sprintf("packet %d", q.record), p.plot.describe(q)}}
}

// Command implements commanded.
func (p *sequencePage) Command() string {
	return commandLine("flows", p.capture.path, "--series", fmt.Sprint(p.number), "-o", "csv")
}

// Selections implements selecting.
func (p *sequencePage) Selections(*Model) []selection {
	list := []selection{ofConnection(p.capture, p.number)}
	if first, last, ok := p.plot.records(); ok {
		s := ofConnection(p.capture, p.number)
		s.what = fmt.Sprintf("what is seen of it, #%d to #%d", first, last)
		s.marked.Records = []analyze.Span{{First: first, Last: last}}
		list = append(list, s)
	}
	return list
}

// Note implements page.
func (p *sequencePage) Note() string {
	q := p.plot.at()
	if q == nil {
		return ""
	}
	return p.plot.describe(q)
}
