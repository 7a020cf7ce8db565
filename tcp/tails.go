package tcp

import (
	"math"

	"nettrace/pcap"
	"nettrace/unit"
)

// message is what one write, or several that the stack joined, hands down. It ends at a packet with PSH that is no
// multiple of the MSS (Linux sets PSH at the end of a write, and also on multiples in the middle of one: tcp_push,
// tcp_mark_push), or where the other side answers.
type message struct {
	start, end uint64 // end is that of what was seen of it
	small      uint64 // end of the last segment smaller than the MSS
	begun      bool
	aligned    bool // the end of the one before was seen, so that the start is known
}

// tails finds the small rests of messages in one direction. A message longer than the MSS leaves as k*MSS bytes and a
// rest; a rest of at most MSS/smallTail bytes is a tail. It is
//
//	hidden   if it ends a super-segment: only on the wire is it a packet of its own (with TSO it will be, with GRO it was),
//	visible  if it is a packet of its own right behind the full-sized ones,
//	held     if such a packet came only after an ACK for an earlier small segment: Nagle's algorithm as Linux has it
//	         (Minshall's form, tcp_minshall_check) holds a small segment while another one is unacknowledged.
type tails struct {
	body                            body
	messages, hidden, visible, held uint32 // messages: longer than the MSS
	wire                            uint64 // their packets on the wire
	lost                            unit.Nanos
	sizes                           [3]tailSize
}

// body is the last packet of full-sized segments in the message at hand.
type body struct {
	end    uint64 // 0 if there is none
	small  uint64 // end of a small segment that was unacknowledged when it left, 0 if there was none
	at     unit.Nanos
	record int64
}

// tailSize counts the tails of one size: a Misra-Gries table, so that counts may be too low if there are more sizes.
type tailSize struct {
	bytes, count uint32
	message      uint32 // length of the messages, 0 if they differ
}

// smallTail is the part of the MSS that a tail is at most: a packet that carries less than an eighth of what it could.
const smallTail = 8

// tailWithin bounds the time between the parts of one message where no round-trip time is known, or a short one.
const tailWithin = unit.Millisecond

// write judges a packet of new data by the message that it belongs to.
func (t *shard) write(c *conn, dir int, s *segment) Flags {
	d := &c.dir[dir]
	m := &d.message
	if m.begun && s.start != m.end {
		m.begun, m.aligned = false, false
	}
	if !m.begun {
		m.begun, m.start = true, s.start
		if d.tails != nil {
			d.tails.body = body{}
		}
	}
	m.end = s.end
	payload := s.header.Payload
	if d.tails == nil {
		if payload < s.size || d.mss.known == assumed {
			m.small = s.end
			if s.header.Flags&pcap.PSH != 0 {
				m.begun, m.aligned = false, true
			}
			return 0
		}
		d.tails = t.tailPool.take()
	}
	if payload != s.size { // by far the most common length spares the division
		if rest := payload % s.size; rest > 0 {
			return t.rest(c, dir, s, rest)
		}
	}
	b := &d.tails.body
	b.end, b.small, b.at, b.record = s.end, 0, s.now, s.packet.Record
	if d.acked && d.una < m.small {
		b.small = m.small
	}
	return 0
}

// rest judges a packet that is no multiple of the MSS.
func (t *shard) rest(c *conn, dir int, s *segment, rest int) Flags {
	d := &c.dir[dir]
	form, waited := tailHidden, unit.Nanos(0)
	if s.header.Payload < s.size {
		form, waited = d.apart(s, c.roundTrip())
	}
	before := d.tails.body.record
	d.message.small, d.tails.body = s.end, body{}
	if s.header.Flags&pcap.PSH == 0 || !d.close(s.size) || rest > s.size/smallTail || form == kinds {
		return 0
	}
	e := exemplarOf(dir, s, int64(s.end-d.message.start))
	if form != tailHidden {
		e.with = before
	}
	d.tails.size(uint32(rest), uint32(min(e.value, math.MaxUint32)))
	var f Flags
	switch form {
	case tailHidden:
		d.tails.hidden++
		f = FlagTailHidden
	case tailVisible:
		d.tails.visible++
		f = FlagTailVisible
	default:
		d.tails.held++
		d.tails.lost += waited
		e.value = int64(waited)
		f = FlagTailHeld
	}
	t.note(c, form, e)
	return f
}

// apart tells how a packet smaller than the MSS relates to the full-sized one before it: its visible or held tail, or a
// message of its own (kinds).
func (d *direction) apart(s *segment, roundTrip unit.Nanos) (kind, unit.Nanos) {
	b := &d.tails.body
	if b.end != s.start {
		return kinds, 0
	}
	waited := s.now - b.at
	within := max(tailWithin, roundTrip+roundTrip/2)
	released := b.small > 0 && d.una >= b.small && s.now-d.unaAt <= within
	switch {
	case released && (waited >= tailWithin || roundTrip > 0 && waited >= roundTrip/2):
		return tailHeld, waited
	case waited <= within:
		return tailVisible, waited
	default: // a write of its own that came later
		d.message.end = s.start
		d.close(s.size)
		d.message.begun, d.message.start, d.message.end = true, s.start, s.end
		return kinds, 0
	}
}

// close ends the message at hand and reports whether it counts: longer than the MSS, with a known start.
func (d *direction) close(size int) bool {
	m := &d.message
	length := m.end - m.start
	counts := m.begun && m.aligned && length > uint64(size) && d.tails != nil
	if counts {
		d.tails.messages++
		d.tails.wire += (length + uint64(size) - 1) / uint64(size)
	}
	m.begun, m.aligned = false, true
	return counts
}

// size counts a tail of so many bytes, of a message of so many.
func (m *tails) size(rest, message uint32) {
	free := -1
	for i := range m.sizes {
		switch known := &m.sizes[i]; {
		case known.count == 0:
			free = i
		case known.bytes == rest:
			if known.count++; known.message != message {
				known.message = 0
			}
			return
		}
	}
	if free >= 0 {
		m.sizes[free] = tailSize{rest, 1, message}
		return
	}
	for i := range m.sizes {
		m.sizes[i].count--
	}
}
