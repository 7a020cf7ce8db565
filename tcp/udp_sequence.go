package tcp

import (
	"encoding/binary"
	"math"

	"nettrace/pcap"
	"nettrace/unit"
)

// layout is where a protocol over UDP writes a sequence number in each datagram, all big-endian:
//
//	iperf3       seconds, microseconds, number (32 bits; 64 with --udp-counters-64bit)   iperf_udp.c, iperf_udp_send
//	iperf2       number, seconds, microseconds; negative at the end                      payloads.h, UDP_datagram
//	RTP          version 2, payload type, number (16 bits), media time, SSRC             RFC 3550 section 5.1
type layout uint8

const (
	layoutIperf3 layout = iota
	layoutIperf3Long
	layoutIperf2
	layoutRTP
	layouts
)

var layoutNames = [layouts]string{"iperf3", "iperf3", "iperf2", "rtp"}

// sequence looks for sequence numbers in the datagrams of one direction, and accounts for them once they are found.
type sequence struct {
	runs     [layouts]run // of each layout; once one of them is settled, of up to as many RTP sources
	kind     layout
	settled  bool
	hopeless bool
	tries    uint8
}

const (
	// settles is how many numbers in step show a layout: 8 by chance would be one in 2^96.
	settles = 8
	// triesAtMost is how many datagrams are looked at without finding one.
	triesAtMost = 64
	// farAhead16 and farAhead are from where a jump is a new beginning (RFC 3550 appendix A.1, MAX_DROPOUT).
	farAhead16, farAhead = 3000, 1 << 20
)

// numbered is what a datagram says by a layout.
type numbered struct {
	seq      uint64
	bits     uint
	source   uint32     // SSRC
	sent     unit.Nanos // valid iff hasSent
	hasSent  bool
	mediaTag uint8 // payload type
}

func (y layout) read(b []byte) (n numbered, ok bool) {
	const shortest = 12
	if len(b) < shortest {
		return n, false
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	stamp := func(i int) bool {
		n.sent, n.hasSent = unit.Nanos(word(i))*unit.Second+unit.Nanos(word(i+1))*unit.Microsecond, true
		return word(i+1) < 1_000_000
	}
	switch y {
	case layoutIperf3:
		n.seq, n.bits = uint64(word(2)), 32
		return n, stamp(0) && n.seq > 0
	case layoutIperf3Long:
		if len(b) < longestNumbered {
			return n, false
		}
		n.seq, n.bits = binary.BigEndian.Uint64(b[8:]), 64
		return n, stamp(0) && n.seq > 0 && n.seq < math.MaxInt64
	case layoutIperf2:
		n.seq, n.bits = uint64(word(0)), 32
		return n, stamp(1) && int32(word(0)) >= 0
	}
	const version, firstRTCP, lastRTCP = 2, 72, 76 // RFC 5761 section 4
	n.seq, n.bits, n.source, n.mediaTag = uint64(binary.BigEndian.Uint16(b[2:])), 16, word(2), b[1]&0x7f
	return n, b[0]>>6 == version && n.source != 0 && (n.mediaTag < firstRTCP || n.mediaTag > lastRTCP) && (n.mediaTag <= 34 || n.mediaTag >= 96)
}

// opening is the first datagram of a direction, which is looked at only once a second one has come: most flows are one
// question and one answer.
type opening struct {
	head  [longestNumbered]byte
	bytes uint8
	wire  uint16
	at    Sight
}

// longestNumbered is how many bytes of a datagram a layout needs.
const longestNumbered = 16

// number looks for the sequence number of a datagram, which is so many on the wire.
func (d *datagrams) number(s *stream, p *pcap.Packet, h *pcap.Header, wire int, now unit.Nanos) Flags {
	if s.sequence != nil && s.sequence.hopeless {
		return 0
	}
	var b []byte
	if h.PayloadAt < len(p.Data) {
		b = p.Data[h.PayloadAt:min(len(p.Data), h.PayloadAt+min(max(h.Payload, 0), longestNumbered))]
	}
	at := Sight{Record: p.Record, Offset: p.Offset, Time: now}
	if s.packets == 1 {
		o := &s.opening
		o.bytes, o.wire, o.at = uint8(copy(o.head[:], b)), uint16(wire), at
		return 0
	}
	if s.sequence == nil {
		s.sequence = d.sequencing.take()
		s.sequence.next(s.opening.head[:s.opening.bytes], int(s.opening.wire), s.opening.at)
	}
	return s.sequence.next(b, wire, at)
}

// next takes a datagram into account that begins with b and stands for so many.
func (q *sequence) next(b []byte, wire int, at Sight) Flags {
	if !q.settled {
		q.try(b, wire, at)
		return 0
	}
	n, ok := q.kind.read(b)
	if !ok {
		return 0
	}
	if r := q.of(n.source); r != nil {
		f, _ := r.take(n, wire, at)
		return f
	}
	return 0
}

// try looks whether a datagram goes on in step by some layout.
func (q *sequence) try(b []byte, wire int, at Sight) {
	for y := range layouts {
		n, ok := y.read(b)
		r := &q.runs[y]
		if !ok || r.received > 0 && n.source != r.source {
			continue
		}
		if _, inStep := r.take(n, wire, at); !inStep {
			*r = run{}
			r.take(n, wire, at)
		}
		if r.good >= settles {
			won := *r
			q.kind, q.settled, q.runs = y, true, [layouts]run{won}
			return
		}
	}
	if q.tries++; q.tries >= triesAtMost {
		q.hopeless = true
	}
}

// of returns the run of an RTP source, nil if there are too many.
func (q *sequence) of(source uint32) *run {
	for i := range q.runs {
		if r := &q.runs[i]; r.received == 0 || r.source == source {
			return r
		}
	}
	return nil
}

// run counts the numbers of one source, as a receiver would (RFC 3550 appendix A.3).
type run struct {
	source                 uint32
	base, highest          uint64
	seen                   uint64 // bit i: highest-i came
	received, before       uint64 // before: expected ahead of the last new beginning
	duplicates, late, gaps uint32
	burst                  uint64 // the longest
	good                   uint8
	transit                unit.Nanos
	jitter                 float64
	firstGap, worstGap     Sight
}

// take counts a number. inStep reports whether it follows those before as a sequence does.
func (r *run) take(n numbered, wire int, at Sight) (f Flags, inStep bool) {
	span := uint64(max(wire, 1))
	if r.received == 0 {
		r.source, r.base, r.highest, r.seen, r.received, r.transit = n.source, n.seq, n.seq+span-1, ones(span), span, at.Time-n.sent
		return 0, true
	}
	seq := n.seq
	switch n.bits {
	case 16:
		seq = r.highest + uint64(int64(int16(uint16(n.seq)-uint16(r.highest))))
	case 32:
		seq = r.highest + uint64(int64(int32(uint32(n.seq)-uint32(r.highest))))
	}
	step := int64(seq - r.highest)
	inStep = r.clocked(n, at.Time)
	far := int64(farAhead)
	if n.bits == 16 {
		far = farAhead16
	}
	switch {
	case step > far || -step > far:
		r.before += r.expected()
		r.base, r.highest, r.seen, r.received = seq, seq+span-1, ones(span), r.received+span
		return 0, false
	case step > 0:
		f = r.ahead(uint64(step), span, at)
		if r.good < settles {
			r.good++
		}
		return f, inStep && step <= 16
	case -step < 64 && r.seen&(1<<uint(-step)) != 0:
		r.duplicates++
		return 0, inStep && false
	}
	r.late++
	r.received += span
	if -step < 64 {
		r.seen |= 1 << uint(-step)
	}
	return FlagReordered, inStep
}

// ahead counts a number above all others.
func (r *run) ahead(step, span uint64, at Sight) (f Flags) {
	if lost := step - 1; lost > 0 {
		f = FlagGap
		at.Value = int64(lost)
		if r.gaps++; r.gaps == 1 {
			r.firstGap = at
		}
		if lost > r.burst {
			r.burst, r.worstGap = lost, at
		}
	}
	r.highest += step + span - 1
	r.seen = shifted(r.seen, step+span-1) | ones(span)
	r.received += span
	return f
}

func shifted(bits, by uint64) uint64 {
	if by >= 64 {
		return 0
	}
	return bits << by
}

func ones(n uint64) uint64 {
	if n >= 64 {
		return math.MaxUint64
	}
	return 1<<n - 1
}

// clocked follows the jitter (RFC 3550 section 6.4.1) and reports whether the sender's clock goes with the capture's.
func (r *run) clocked(n numbered, now unit.Nanos) bool {
	if !n.hasSent {
		return true
	}
	transit := now - n.sent
	change := transit - r.transit
	r.transit = transit
	if change < 0 {
		change = -change
	}
	const astray = 2 * unit.Second
	if change > astray {
		return false
	}
	r.jitter += (float64(change) - r.jitter) / 16
	return true
}

func (r *run) expected() uint64 { return r.highest - r.base + 1 }

// Sequence is what the sequence numbers of one direction of a flow tell.
type Sequence struct {
	Protocol     string     `json:"protocol"` // iperf3, iperf2, rtp
	Sources      int        `json:"sources"`  // that number apart (RTP)
	Expected     int64      `json:"expected"`
	Lost         int64      `json:"lost"` // did not come before the capture's end
	Late         int64      `json:"late"` // came behind a later one
	Duplicates   int64      `json:"duplicates"`
	Gaps         int64      `json:"gaps"`
	LongestBurst int64      `json:"longest_burst"`       // lost in a row, or late
	Jitter       unit.Nanos `json:"jitter_ns,omitempty"` // of the transit time, smoothed (RFC 3550); iperf only, whose datagrams tell when they were sent
	First        Sight      `json:"first_gap,omitzero"`  // value: how many lack before it
	Worst        Sight      `json:"worst_gap,omitzero"`
}

// Share is the part that was lost.
func (s *Sequence) Share() float64 { return share(s.Lost, s.Expected) }

func (q *sequence) summary() *Sequence {
	if q == nil || !q.settled {
		return nil
	}
	s := &Sequence{Protocol: layoutNames[q.kind]}
	for i := range q.runs {
		r := &q.runs[i]
		if r.received == 0 {
			continue
		}
		expected := r.before + r.expected()
		s.Sources++
		s.Expected += int64(expected)
		s.Lost += int64(expected - min(expected, r.received))
		s.Late += int64(r.late)
		s.Duplicates += int64(r.duplicates)
		s.Gaps += int64(r.gaps)
		if s.First.Record == 0 || r.gaps > 0 && r.firstGap.Record < s.First.Record {
			s.First = r.firstGap
		}
		if int64(r.burst) > s.LongestBurst {
			s.LongestBurst, s.Worst = int64(r.burst), r.worstGap
		}
		s.Jitter = max(s.Jitter, unit.Nanos(r.jitter))
	}
	return s
}
