package analyze

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"nettrace/finding"
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// Series is the course of one connection, thinned to what a time/sequence plot can show. Times are since the epoch of the
// connection's capture.
type Series struct {
	Source     string    `json:"source"`
	Connection int64     `json:"conn"` // its number in the capture
	Client     string    `json:"client"`
	Server     string    `json:"server"`
	Cited      []int64   `json:"cited"`      // records that findings cite, ascending
	Directions [2]Course `json:"directions"` // client to server, server to client
}

// Course is what one end sent. Packets near a cited one are all there; of the others one in so many, marked packets
// thinned apart from the rest, so that a rare mark is never lost among them.
type Course struct {
	Packets int64     `json:"packets"` // before thinning; what the capture holds twice is not in it
	Points  []Point   `json:"points"`  // in the order of the capture
	Thinned []Thinned `json:"thinned"` // of which kinds not every packet is a point
}

// Thinned says that of the packets with a mark ("" for those without) every so many-th was kept.
type Thinned struct {
	Mark    string `json:"mark"`
	Packets int64  `json:"packets"`
	Every   int64  `json:"every"`
}

// Point is one packet. Sequence and ACK numbers are relative to the first byte of their direction, as Wireshark has them
// less one, and do not wrap. In JSON it is an array: time, record, sequence number, payload bytes, ACK number, mark, edge
// and SACK blocks, without what lacks at its end.
type Point struct {
	Time   unit.Nanos
	Record int64
	Seq    int64
	Bytes  int64
	ACK    int64  // -1 without one
	Mark   string // the weightiest of the packet's marks, as tcp.Flags names it
	Edge   int64  // ACK number and window: how far the other end may send; -1 if the scale of the window is not known
	SACK   [][2]int64
}

// MarshalJSON writes the point as an array.
func (p Point) MarshalJSON() ([]byte, error) {
	text := fmt.Appendf(nil, "[%d,%d,%d,%d,%d", p.Time, p.Record, p.Seq, p.Bytes, p.ACK)
	more := p.Edge >= 0 || len(p.SACK) > 0
	if p.Mark != "" || more {
		mark, err := json.Marshal(p.Mark)
		if err != nil {
			return nil, err
		}
		text = append(append(text, ','), mark...)
	}
	if more {
		text = fmt.Appendf(text, ",%d", p.Edge)
	}
	if len(p.SACK) > 0 {
		blocks, err := json.Marshal(p.SACK)
		if err != nil {
			return nil, err
		}
		text = append(append(text, ','), blocks...)
	}
	return append(text, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Point) UnmarshalJSON(text []byte) error {
	var fields []json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	if len(fields) < 5 {
		return fmt.Errorf("a point of %d numbers; expected time, record, sequence number, bytes, ACK number", len(fields))
	}
	p.Edge = -1
	for i, to := range []any{&p.Time, &p.Record, &p.Seq, &p.Bytes, &p.ACK, &p.Mark, &p.Edge, &p.SACK}[:min(len(fields), 8)] {
		if err := json.Unmarshal(fields[i], to); err != nil {
			return err
		}
	}
	return nil
}

// SeriesOptions bound what CollectSeries keeps. The zero value keeps at most 6 connections, 2 for each finding.
type SeriesOptions struct {
	Connections int // 0 is 6
	PerFinding  int // 0 is 2
}

// CollectSeries reads the captures behind paths once more, for the courses of the connections that findings cite, and
// enters them into the models of r. Sources that can be read only once (standard input, written results) give none.
func CollectSeries(ctx context.Context, paths []string, r *Result, o SeriesOptions) error {
	wanted := citedConnections(r, o)
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == "-" })
	if len(wanted) == 0 || len(paths) == 0 {
		return nil
	}
	var ledger source.Ledger // the first reading told all that is in it
	for src, err := range source.Walk(paths, nil, &ledger) {
		if err != nil || ctx.Err() != nil {
			continue
		}
		followed := wanted[src.Path]
		if len(followed) == 0 {
			continue
		}
		if f := recognise(Formats(), src.Input.Peek(headBytes), true); f == nil || f.Kind != Capture {
			continue
		}
		if err := follow(ctx, src, followed); err != nil {
			return fmt.Errorf("%s: read for the plots: %w", src.Path, err)
		}
		for _, f := range followed {
			r.Models.Series = append(r.Models.Series, f.series())
		}
		delete(wanted, src.Path)
	}
	slices.SortStableFunc(r.Models.Series, func(a, b Series) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Connection, b.Connection))
	})
	r.Models.Series = slices.CompactFunc(r.Models.Series, func(a, b Series) bool { return a.Source == b.Source && a.Connection == b.Connection })
	return nil
}

// follow hands the packets of the connections of a capture to their courses.
func follow(ctx context.Context, src *source.Source, followed []*follower) error {
	byNumber := map[int64]*follower{}
	for _, f := range followed {
		byNumber[f.Connection] = f
	}
	var ledger source.Ledger
	epoch, started := unit.Nanos(0), false
	_, _, err := track(ctx, src, &ledger, Options{}, func(p *pcap.Packet, h *pcap.Header, m tcp.Mark) error {
		if p.HasTime && !started {
			epoch, started = p.Time-p.Time%unit.Second, true
		}
		if f := byNumber[m.Connection]; f != nil && m.Flags&tcp.FlagCopy == 0 {
			f.add(p, h, m, epoch)
		}
		return nil
	})
	return err
}

// citedConnections returns, by source, the connections that findings cite: in the order of the findings, so that those of
// the first are there whatever the bound.
func citedConnections(r *Result, o SeriesOptions) map[string][]*follower {
	limit, perFinding := cmp.Or(o.Connections, 6), cmp.Or(o.PerFinding, 2)
	index := indexConnections(r)
	found := map[string][]*follower{}
	total := 0
	for i := range r.Findings {
		seen := map[*follower]bool{}
		for _, e := range r.Findings[i].Evidence {
			c := index.connection(&e)
			if c == nil {
				continue
			}
			k := slices.IndexFunc(found[e.Source], func(f *follower) bool { return f.Connection == c.Number })
			if k < 0 {
				if total == limit || len(seen) == perFinding {
					continue
				}
				total++
				found[e.Source] = append(found[e.Source], newFollower(e.Source, c))
				k = len(found[e.Source]) - 1
			}
			f := found[e.Source][k]
			seen[f] = true
			f.cite(e.Record)
		}
	}
	return found
}

// connectionIndex finds the connection that a record belongs to, by what the summaries tell of records.
type connectionIndex struct {
	exact map[source.Pos]*tcp.Connection // by source and record
	only  map[string]*tcp.Connection     // of captures with one connection
}

func indexConnections(r *Result) connectionIndex {
	index := connectionIndex{map[source.Pos]*tcp.Connection{}, map[string]*tcp.Connection{}}
	for _, c := range r.Models.Captures {
		for i := range c.Connections {
			conn := &c.Connections[i]
			index.exact[source.Pos{Source: c.Source, Record: conn.Record}] = conn
			for _, e := range conn.Events {
				index.exact[source.Pos{Source: c.Source, Record: e.Record}] = conn
			}
		}
		if len(c.Connections) == 1 && c.Totals.NotKept == 0 {
			index.only[c.Source] = &c.Connections[0]
		}
	}
	return index
}

func (x connectionIndex) connection(e *finding.Evidence) *tcp.Connection {
	if e.Record == 0 {
		return nil
	}
	if c := x.exact[source.Pos{Source: e.Source, Record: e.Record}]; c != nil {
		return c
	}
	return x.only[e.Source]
}
