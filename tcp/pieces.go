package tcp

import (
	"fmt"
	"sort"

	"nettrace/finding"
	"nettrace/pcap"
	"nettrace/source"
)

// Piece is one file of a capture that was written to several, one after the other. Records and offsets of the capture
// count on over its pieces.
type Piece struct {
	Source string `json:"source"`
	Record int64  `json:"record"` // how many are in the pieces before
	Offset int64  `json:"offset"` // how many bytes are
}

// Continue goes on with another file of the same capture. records and bytes are how many the files before hold together.
func (t *Tracker) Continue(name string, records, bytes int64) {
	if len(t.pieces) == 0 {
		t.pieces = []Piece{{Source: t.source}}
	}
	t.piece = Piece{name, records, bytes}
	t.pieces = append(t.pieces, t.piece)
}

// Goes reports whether packets with these headers go on where the capture ends: the first packet of an open connection in
// one of its directions begins at the sequence number that the direction had reached, or within a window below it.
func (t *Tracker) Goes(on []pcap.Header) bool {
	const window = 1 << 20
	var met map[*conn]bool
	for i := range on {
		h := &on[i]
		if h.Transport != pcap.TCP || h.Flags&pcap.SYN != 0 {
			continue
		}
		var k key
		fromHigh := k.set(h)
		c := t.table.find(&k, t.table.hash(&k))
		if c == nil || c.ended() || met[c] {
			continue
		}
		if dir := c.direction(fromHigh); c.reached[dir] != 0 {
			if ahead := int32(h.Seq - c.reached[dir]); ahead <= 0 && ahead >= -window {
				return true
			}
			if met == nil {
				met = map[*conn]bool{}
			}
			met[c] = true
		}
	}
	return false
}

// at is the place of a record by its number and offset in the whole capture.
func at(name string, pieces []Piece, record, offset int64) source.Pos {
	i := sort.Search(len(pieces), func(i int) bool { return pieces[i].Record >= record }) - 1
	if i < 0 {
		return source.Pos{Source: name, Record: record, Offset: offset}
	}
	p := &pieces[i]
	return source.Pos{Source: p.Source, Record: record - p.Record, Offset: offset - p.Offset}
}

// At is the place of a record of the capture, in the file that holds it.
func (c *Capture) At(record, offset int64) source.Pos { return at(c.Source, c.Pieces, record, offset) }

// locate puts evidence into the files that hold it.
func (c *Capture) locate(list []finding.Evidence) {
	if len(c.Pieces) == 0 {
		return
	}
	for i := range list {
		list[i].Pos = c.At(list[i].Record, list[i].Offset)
	}
}

// explain has text explain an event with the numbers that the packets beside it have in the event's own file; those in
// another file are named.
func (c *Capture) explain(k *Connection, e *Event, text func(*Connection, *Event) string) string {
	if len(c.Pieces) == 0 {
		return text(k, e)
	}
	own, elsewhere := *e, ""
	here := c.At(e.Record, 0).Source
	for _, number := range []*int64{&own.With, &own.Before} {
		if *number == 0 {
			continue
		}
		pos := c.At(*number, 0)
		if *number = pos.Record; pos.Source != here {
			elsewhere = fmt.Sprintf(" (#%d is in %s)", pos.Record, pos.Source)
		}
	}
	return text(k, &own) + elsewhere
}
