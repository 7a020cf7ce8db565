package pcap

import (
	"fmt"
	"io"
	"slices"
	"sort"

	"nettrace/source"
	"nettrace/unit"
)

// The index notes one record in each stretch of the capture. The stretches get longer when there are too many of them,
// so that it stays below a few MiB.
const (
	stretchBytes = 1 << 20
	maxPoints    = 1 << 16
)

// Index finds a record of a seekable capture with one seek and about 1 MiB of decoding (more above 64 GiB of capture).
type Index struct {
	Interfaces []Interface `json:"interfaces"`
	Sections   []section   `json:"sections"`
	Points     []Point     `json:"points"`

	next    int64 // offset from which on a record is noted
	stretch int64
}

// Point is one record and what it takes to read on from it.
type Point struct {
	Record     int64      `json:"record"`
	Offset     int64      `json:"offset"`
	Time       unit.Nanos `json:"time_ns"`
	Section    int        `json:"section"`    // which of the index's states holds there
	Interfaces int        `json:"interfaces"` // described before it
}

// note is called with each packet, before it is counted.
func (x *Index) note(p *Packet, r *Reader) {
	if p.Offset < x.next {
		return
	}
	if n := len(x.Sections); n == 0 || x.Sections[n-1] != r.state {
		x.Sections = append(x.Sections, r.state)
	}
	x.Points = append(x.Points, Point{r.record + 1, p.Offset, p.Time, len(x.Sections) - 1, len(r.info.Interfaces)})
	x.stretch = max(x.stretch, stretchBytes)
	if len(x.Points) >= maxPoints {
		x.thin()
	}
	x.next = p.Offset + x.stretch
}

// thin drops every second point.
func (x *Index) thin() {
	for n := range len(x.Points) / 2 {
		x.Points[n] = x.Points[2*n]
	}
	x.Points = x.Points[:len(x.Points)/2]
	x.stretch *= 2
}

// Find returns the last point at or before a record; false if there is none.
func (x *Index) Find(record int64) (Point, bool) {
	n := sort.Search(len(x.Points), func(n int) bool { return x.Points[n].Record > record })
	if n == 0 {
		return Point{}, false
	}
	return x.Points[n-1], true
}

// OpenAt returns a reader of the (uncompressed) capture in from whose Next returns the record, and then those after it.
// The capture has to be the one that the index was made from. Losses are not reported a second time.
func OpenAt(from io.ReaderAt, name string, x *Index, record int64) (*Reader, error) {
	point, found := x.Find(record)
	if !found || record < 1 {
		return nil, fmt.Errorf("%s: there is no record %d", name, record)
	}
	const farthest = 1 << 62
	in := source.NewInput(name, io.NewSectionReader(from, point.Offset, farthest))
	r := &Reader{win: newWindow(in), ledger: &source.Ledger{}, state: x.Sections[point.Section], record: point.Record - 1}
	r.win.offset = point.Offset
	r.info.Interfaces = slices.Clone(x.Interfaces[:point.Interfaces])
	r.info.Format = r.state.Format
	for n := range r.info.Interfaces {
		i := &r.info.Interfaces[n]
		i.clock = newClock(i.Resolution, i.Offset)
	}
	return r, r.forward(record)
}

// forward goes on until Next will return the record, or the next packet where its number is that of a block without one.
func (r *Reader) forward(record int64) error {
	for {
		p, err := r.Next()
		if err != nil {
			return fmt.Errorf("%s: there is no record %d, the last one is %d", r.win.in.Name(), record, r.record)
		}
		if r.held = p.Record >= record; r.held {
			return nil
		}
	}
}
