package analyze

import (
	"cmp"
	"slices"

	"nettrace/pcap"
	"nettrace/tcp"
	"nettrace/unit"
)

// Bounds of a course: how many points of packets without a mark and of each mark are kept, and how many packets before and
// behind a cited one are kept whatever they are.
const (
	plainPoints  = 1000
	markedPoints = 400
	nearby       = 24
)

// follower collects the series of one connection while its capture is read.
type follower struct {
	Series
	courses [2]course
	plotted plotted
	marks   []PlotMark
	near    int // packets still to be kept behind a cited one
}

func newFollower(source string, c *tcp.Connection) *follower {
	return &follower{marks: PlotMarks(), Series: Series{Source: source, Connection: c.Number, Client: c.Client.String(), Server: c.Server.String()}}
}

func (f *follower) cite(record int64) {
	if at, have := slices.BinarySearch(f.Cited, record); !have {
		f.Cited = slices.Insert(f.Cited, at, record)
	}
}

func (f *follower) add(packet *pcap.Packet, h *pcap.Header, m tcp.Mark, epoch unit.Nanos) {
	dir := tcp.ClientToServer
	if m.Reverse {
		dir = tcp.ServerToClient
	}
	if h.Flags&pcap.RST != 0 {
		return // its numbers may be anything
	}
	r, record := f.plotted.row(packet, h, m, epoch), packet.Record
	p := Point{Time: r.Time, Record: record, Seq: r.Seq, Bytes: r.Payload, ACK: r.ACK, Mark: f.mark(m.Flags), Edge: r.Edge, SACK: slices.Clone(r.SACK)}
	if _, cited := slices.BinarySearch(f.Cited, record); cited {
		f.near = nearby + 1
		for i := range f.courses {
			f.courses[i].keepRecent()
		}
	}
	f.courses[dir].add(p, f.near > 0)
	f.near = max(f.near-1, 0)
}

// mark returns the name of the weightiest mark, "" for none.
func (f *follower) mark(flags tcp.Flags) string {
	for i := range f.marks {
		if flags&f.marks[i].Flag != 0 {
			return f.marks[i].Name
		}
	}
	return ""
}

func (f *follower) series() Series {
	s := f.Series
	for dir := range s.Directions {
		s.Directions[dir] = f.courses[dir].finish()
	}
	return s
}

// course thins the packets of one direction as they come.
type course struct {
	packets int64
	kinds   []thinner     // by mark, in the order of their first packets
	near    []Point       // kept whatever they are
	recent  [nearby]Point // packet n is in place n modulo nearby
	last    Point
}

// add takes the next packet. near marks one that is kept in any case.
func (c *course) add(p Point, near bool) {
	c.last = p
	k := slices.IndexFunc(c.kinds, func(t thinner) bool { return t.mark == p.Mark })
	if k < 0 {
		limit := markedPoints
		if p.Mark == "" {
			limit = plainPoints
		}
		c.kinds = append(c.kinds, thinner{mark: p.Mark, every: 1, limit: limit})
		k = len(c.kinds) - 1
	}
	c.kinds[k].add(p)
	if near {
		c.near = append(c.near, p)
	}
	c.recent[c.packets%nearby] = p
	c.packets++
}

// keepRecent keeps the packets shortly before a cited one.
func (c *course) keepRecent() {
	for n := max(c.packets-nearby, 0); n < c.packets; n++ {
		c.near = append(c.near, c.recent[n%nearby])
	}
}

func (c *course) finish() Course {
	done := Course{Packets: c.packets, Points: slices.Clone(c.near), Thinned: []Thinned{}}
	if c.packets > 0 {
		done.Points = append(done.Points, c.last)
	}
	for _, t := range c.kinds {
		done.Points = append(done.Points, t.kept...)
		if t.every > 1 {
			done.Thinned = append(done.Thinned, Thinned{t.mark, t.seen, t.every})
		}
	}
	slices.SortFunc(done.Points, func(a, b Point) int { return cmp.Compare(a.Record, b.Record) })
	done.Points = slices.CompactFunc(done.Points, func(a, b Point) bool { return a.Record == b.Record })
	return done
}

// thinner keeps every so many-th of the packets of one kind, so many that they are never more than limit.
type thinner struct {
	mark        string
	seen, every int64
	limit       int
	kept        []Point // kept[i] is packet i*every
}

func (t *thinner) add(p Point) {
	if t.seen%t.every == 0 {
		if len(t.kept) == t.limit {
			for i := range t.limit / 2 {
				t.kept[i] = t.kept[2*i]
			}
			t.kept = t.kept[:t.limit/2]
			t.every *= 2
		}
		if t.seen%t.every == 0 {
			t.kept = append(t.kept, p)
		}
	}
	t.seen++
}
