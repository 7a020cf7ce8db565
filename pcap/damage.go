package pcap

import (
	"fmt"

	"nettrace/source"
	"nettrace/unit"
)

// tally counts one kind of small loss, of which there may be one in each packet, until the ledger gets the sum.
type tally struct {
	first source.Pos
	n     int64
}

// What the tallies count; entry has their names.
const (
	appendedCapture = iota
	capturedAboveLength
	cutBySnaplen
	fractionAbove
	noTime
	reservedLinkBits
	skippedBlock
	timeOutOfRange
	tooManyInterfaces
	unknownInterface
	unknownVersion
	tallies
)

// entry is what the ledger says of a tally.
func entry(kind int) (name string, loss source.Loss, text string) {
	switch kind {
	case appendedCapture:
		return "appended-capture", source.Note, "a second file header begins here: captures joined together; read on with its byte order, time unit and link type"
	case capturedAboveLength:
		return "captured-above-length", source.Note, "more bytes captured than the packet is said to have; their number is taken for its length"
	case cutBySnaplen:
		return "cut-by-snaplen", source.Note, "only the beginning of the packet was captured; lengths are taken from its headers"
	case fractionAbove:
		return "fraction-out-of-range", source.Note, "the fraction of the time is a second or more; it is carried over"
	case noTime:
		return "no-timestamp", source.Note, "simple packet blocks have no time; nothing is judged by the time of these packets"
	case reservedLinkBits:
		return "reserved-link-type-bits", source.Note, "reserved bits of the link-type field are set; ignored"
	case skippedBlock:
		return "skipped-block", source.Note, "a block of a type that is not understood; skipped by its length"
	case timeOutOfRange:
		return "time-out-of-range", source.Note, "the time does not fit into 64 bits of nanoseconds; the packet counts as one without a time"
	case tooManyInterfaces:
		return "too-many-interfaces", source.Warning, fmt.Sprintf("more than %d interfaces or file headers; packets of further ones are skipped", maxInterfaces)
	case unknownInterface:
		return "unknown-interface", source.Warning, "the packet belongs to an interface that the section has not described; skipped"
	default:
		return "unknown-version", source.Note, "the format's version is not one that is known; read as the newest"
	}
}

func (r *Reader) count(kind int) {
	t := &r.tally[kind]
	if t.n == 0 {
		t.first = r.pos()
	}
	t.n++
}

// truncated ends the capture at a record of which less is there than it says.
func (r *Reader) truncated(place source.Pos, what string, wanted, there int64) {
	text := fmt.Sprintf("the capture is cut short: the %s wants %s bytes, %s are there", what, unit.Count(wanted), unit.Count(there))
	if err := r.win.in.Err(); err != nil {
		text += " (" + err.Error() + ")"
	}
	r.ledger.Add("truncated-record", source.Warning, place, 1, text)
	r.finish()
}

// Close ends the reading before the end of the capture. What was counted so far goes into the ledger, as it does at the
// end by itself.
func (r *Reader) Close() { r.finish() }

// finish ends the reading and enters what was counted into the ledger.
func (r *Reader) finish() {
	if r.ended {
		return
	}
	r.ended = true
	for kind, t := range r.tally {
		if t.n > 0 {
			name, loss, text := entry(kind)
			r.ledger.Add(name, loss, t.first, t.n, text)
		}
	}
	end := source.Pos{Source: r.win.in.Name(), Offset: r.win.offset, Record: r.record}
	for n := range r.info.Interfaces {
		r.conclude(&r.info.Interfaces[n], end)
	}
}

func (r *Reader) conclude(i *Interface, end source.Pos) {
	if i.Dropped < 0 && i.packetDrops > 0 {
		i.Dropped = i.packetDrops
	}
	if drops := max(i.Dropped, 0) + max(i.OSDrops, 0); drops > 0 {
		r.ledger.Add("capture-drops", source.Warning, end, drops, fmt.Sprintf("the capture says that it lost packets on interface %q; what looks like loss may be that", i.Name))
	}
	if i.Packets > 0 && !i.LinkType.Decoded() {
		r.ledger.Add("link-type-not-decoded", source.Note, source.Pos{Source: end.Source}, i.Packets, fmt.Sprintf("packets of link type %d (%s) are counted, not decoded", i.LinkType, i.LinkType))
	}
}

// lookAhead is how much of what follows a possible record is in memory when it is judged.
const lookAhead = 128 << 10

// damaged enters a record that cannot be one, and goes on at the next place that plausible recognises as a record.
// Each byte is looked at once.
func (r *Reader) damaged(fact string, plausible func(b []byte, last bool) bool) {
	place := r.pos()
	r.win.advance(min(1, len(r.win.peek(1))))
	for {
		b := r.win.peek(2 * lookAhead)
		last := len(b) < 2*lookAhead
		scan := len(b)
		if !last {
			scan -= lookAhead
		}
		for n := range scan {
			if plausible(b[n:], last) {
				r.win.advance(n)
				r.ledger.Add("damaged-record", source.Warning, place, 1, fmt.Sprintf("%s; %s bytes skipped up to the next intact record at byte %s",
					fact, unit.Count(r.win.offset-place.Offset), unit.Count(r.win.offset)))
				return
			}
		}
		r.win.advance(scan)
		if last {
			r.ledger.Add("damaged-record", source.Warning, place, 1, fmt.Sprintf("%s; no intact record in the %s bytes that follow",
				fact, unit.Count(r.win.offset-place.Offset)))
			r.finish()
			return
		}
	}
}

// saturated bounds a counter of the file, so that sums of some stay in range.
func saturated(n uint64) int64 { return int64(min(n, 1<<50)) }
