package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/unit"
)

// Packets that a detail plot shows before and behind the cited one, both directions together.
const (
	detailBefore = 14
	detailBehind = 18
)

// gallery hands out the plots of the connections: each is drawn once, in the finding that is closest to it, and others
// that cite its packets link to it.
type gallery struct {
	series []analyze.Series
	home   []int              // the finding that shows each series, -1 if none does
	drawn  map[[2]string]bool // source and record of packets that a table of the page lists
}

func newGallery(r *analyze.Result) *gallery {
	g := &gallery{series: r.Models.Series, home: make([]int, len(r.Models.Series)), drawn: map[[2]string]bool{}}
	for k := range g.series {
		g.home[k] = -1
		for i := range r.Findings {
			f := &r.Findings[i]
			if len(citedOf(&g.series[k], f)) == 0 {
				continue
			}
			if g.home[k] < 0 || strings.HasPrefix(f.Rule, "tcp/") {
				g.home[k] = i
			}
			if strings.HasPrefix(f.Rule, "tcp/") {
				break
			}
		}
	}
	return g
}

// citedOf returns the records of a series that a finding cites.
func citedOf(s *analyze.Series, f *finding.Finding) []int64 {
	var records []int64
	for _, e := range f.Evidence {
		if e.Source == s.Source && slices.Contains(s.Cited, e.Record) {
			records = append(records, e.Record)
		}
	}
	return records
}

// of draws the plots that finding i is the home of, and returns the findings that show the others that it cites.
func (g *gallery) of(i int, f *finding.Finding) (views []plotView, elsewhere []int) {
	for k := range g.series {
		s := &g.series[k]
		records := citedOf(s, f)
		switch {
		case len(records) == 0:
		case g.home[k] != i:
			if !slices.Contains(elsewhere, g.home[k]) {
				elsewhere = append(elsewhere, g.home[k])
			}
		default:
			views = append(views, g.draw(s, records)...)
		}
	}
	return views, elsewhere
}

// draw draws a connection whole, and the packets around the first of the records that has a mark.
func (g *gallery) draw(s *analyze.Series, records []int64) []plotView {
	all := merged(s)
	if len(all) == 0 {
		return nil
	}
	dir := sender(s)
	center := slices.IndexFunc(all, func(p placed) bool { return p.Mark != "" && slices.Contains(records, p.Record) })
	if center < 0 {
		center = max(slices.IndexFunc(all, func(p placed) bool { return p.Record == records[0] }), 0)
	}
	from, to := around(all, center)
	detail := plot{series: s, dir: dir, first: all[from].Record, last: all[to].Record, detail: true}
	closer := detail.draw()
	closer.Numbers = g.packets(s, all[from:to+1])
	if to-from+1 >= len(all)-2 {
		return []plotView{closer}
	}
	whole := plot{series: s, dir: dir, first: all[0].Record, last: all[len(all)-1].Record, shaded: [2]unit.Nanos{all[from].Time, all[to].Time}}
	return []plotView{whole.draw(), closer}
}

// around returns the packets that belong to the one at center: those before and behind it, up to a long pause. If the pause
// is what its mark is about, it is shown.
func around(all []placed, center int) (from, to int) {
	from, to = max(center-detailBefore, 0), min(center+detailBehind, len(all)-1)
	switch all[center].Mark {
	case "tail-visible", "tail-hidden", "stretch-ack", "":
	default:
		return from, to
	}
	const pause, least = 8, 4 // times the span so far; packets that make a span
	first, last := center, center
	for first > from || last < to {
		before, behind := unit.Nanos(math.MaxInt64), unit.Nanos(math.MaxInt64)
		if first > from {
			before = all[first].Time - all[first-1].Time
		}
		if last < to {
			behind = all[last+1].Time - all[last].Time
		}
		if last-first+1 >= least && min(before, behind) > pause*(all[last].Time-all[first].Time) {
			break
		}
		if before <= behind {
			first--
		} else {
			last++
		}
	}
	return first, last
}

// placed is a packet with its direction.
type placed struct {
	analyze.Point
	dir int
}

// merged returns the packets of both directions in their order.
func merged(s *analyze.Series) []placed {
	var all []placed
	for dir := range s.Directions {
		for _, p := range s.Directions[dir].Points {
			all = append(all, placed{p, dir})
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Compare(a.Record, b.Record) })
	return all
}

// packets lists packets.
func (g *gallery) packets(s *analyze.Series, list []placed) *table {
	t := &table{Caption: "Packets of the plot", Head: []column{{"packet", true}, {"time", true}, {"way", false}, {"seq", true}, {"bytes", true}, {"ACK", true}, {"mark", false}}}
	for _, p := range list {
		ack := text("")
		if p.ACK >= 0 {
			ack = whole(p.ACK)
		}
		r := row{ID: packetID(s.Source, p.Record), Cells: []cell{
			number(float64(p.Record), fmt.Sprintf("#%d", p.Record)), number(float64(p.Time), fmt.Sprintf("%.6f s", p.Time.Seconds())),
			text([2]string{"client to server", "server to client"}[p.dir]), whole(p.Seq), whole(p.Bytes), ack, text(p.Mark)}}
		if slices.Contains(s.Cited, p.Record) {
			r.Class = "cited"
		}
		g.drawn[packetKey(s.Source, p.Record)] = true
		t.Rows = append(t.Rows, r)
	}
	return t
}

func packetKey(source string, record int64) [2]string { return [2]string{source, fmt.Sprint(record)} }

func packetID(source string, record int64) string {
	return anchor("packet", source, fmt.Sprint(record))
}

// at returns the cited packet, if a series has it.
func (g *gallery) at(source string, record int64) (analyze.Point, *analyze.Series) {
	for k := range g.series {
		s := &g.series[k]
		if s.Source != source || !slices.Contains(s.Cited, record) {
			continue
		}
		for _, p := range merged(s) {
			if p.Record == record {
				return p.Point, s
			}
		}
	}
	return analyze.Point{}, nil
}
