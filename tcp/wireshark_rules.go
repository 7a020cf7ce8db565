package tcp

import (
	"nettrace/pcap"
	"nettrace/unit"
)

// The conditions of the marks are those of Wireshark's User's Guide 4.0, section 7.5 "TCP Analysis", made exact by what
// tshark 4.0.17 prints for captures made to tell one reading from another (TestMarksOfTshark). Numbers are compared as
// RFC 1323 does, in 32 bits; a number of 0 counts as not known, as it does there.

// wiresharkSide is what one end sent last.
type wiresharkSide struct {
	next       uint32     // end of the highest payload (SYN and FIN count as a byte)
	continuous uint32     // the highest number that the other end may acknowledge without a gap in the capture
	ack        uint32     // of the last packet
	first      uint32     // number of the first packet, the initial one if that was a SYN
	nextAt     unit.Nanos // when next was reached
	ackAt      unit.Nanos // of the last packet
	duplicates int32      // ACKs that repeat ack, or duplicatesUnseen
	marks      WiresharkFlags
	window     uint32 // of the last packet, or windowUnknown
	scale      int8   // of the window, or one of the two below
	unscaled   bool   // no packet but a SYN carried an ACK yet: the window is as it says
	begun      bool   // first is set
}

const windowUnknown = 1<<32 - 1

// What is known of a window scale that is none.
const (
	scaleUnknown int8 = -1
	scaleUnused  int8 = -2
)

// duplicatesUnseen stands for duplicate ACKs that the capture may have missed.
const duplicatesUnseen = -1

// Times that decide between the kinds of what was seen before.
const (
	wiresharkFastWithin      = 20 * unit.Millisecond // of the last ACK
	wiresharkReorderedWithin = 3 * unit.Millisecond  // of the highest segment, where the initial round trip is not known
)

// wiresharkSegment is a packet as its connection sees it.
type wiresharkSegment struct {
	header   *pcap.Header
	now      unit.Nanos
	conn     *wiresharkConn
	from, to *wiresharkSide
}

// reset makes c a connection of which nothing is known.
func (c *wiresharkConn) reset() {
	c.started, c.syn, c.rtt = false, 0, 0
	for i := range c.side {
		c.side[i] = wiresharkSide{scale: scaleUnknown, window: windowUnknown}
	}
}

// unsigned takes a time as Wireshark does: one that runs backwards counts as very long.
func unsigned(t unit.Nanos) uint64 { return uint64(t) }

func below(a, b uint32) bool { return int32(a-b) < 0 }

func (s *wiresharkSegment) has(flags uint8) bool { return s.header.Flags&flags != 0 }

// mark judges the packet and takes it into account. The order matters: each step sees what the ones before it changed.
func (s *wiresharkSegment) mark() WiresharkFlags {
	h := s.header
	f := s.handshake()
	if !s.from.begun {
		s.from.begun, s.from.first = true, h.Seq
		if !s.has(pcap.SYN) {
			s.from.first--
		}
	}
	if !s.to.begun && s.has(pcap.ACK) {
		s.to.begun, s.to.first = true, h.Ack-1
	}
	f |= s.segment()
	if h.Ack != s.from.ack {
		s.from.duplicates = 0
	}
	if s.has(pcap.ACK) && s.to.continuous != 0 && below(s.to.continuous, h.Ack) {
		f |= s.to.acknowledgedUnseen()
	}
	f |= s.again(f)
	s.remember(f)
	return f
}

// handshake looks at what begins a connection: a SYN with another initial number begins a new one, a SYN-ACK with another
// one is marked only.
func (s *wiresharkSegment) handshake() (f WiresharkFlags) {
	h, c := s.header, s.conn
	if h.Flags&(pcap.SYN|pcap.ACK) == pcap.SYN {
		if s.from.begun && s.from.first != h.Seq {
			c.reset()
			f = wiresharkReusedPorts
		} else if s.from.begun {
			s.from.next = s.from.continuous
		}
		c.started, c.syn = true, s.now
	}
	if h.Flags&(pcap.SYN|pcap.ACK) == pcap.SYN|pcap.ACK && s.from.begun && s.from.first != h.Seq {
		f, s.from.first = wiresharkReusedPorts, h.Seq
	}
	return f
}

// segment returns the marks that come from the packet's place in its direction and from its window.
func (s *wiresharkSegment) segment() (f WiresharkFlags) {
	h, from, to := s.header, s.from, s.to
	plain := !s.has(pcap.SYN | pcap.FIN | pcap.RST)
	if h.Payload == 1 && h.Seq == from.next && to.window == 0 {
		return wiresharkZeroWindowProbe
	}
	if h.Window == 0 && plain {
		f |= wiresharkZeroWindow
	}
	if from.next != 0 && below(from.next, h.Seq) && !s.has(pcap.RST) {
		f |= wiresharkLostSegment
	}
	if h.Payload <= 1 && h.Seq == from.next-1 && plain {
		f |= wiresharkKeepAlive
	}
	if h.Payload > 0 && plain && to.scale != scaleUnknown && h.Seq+uint32(h.Payload) == to.ack+to.edge() {
		f |= wiresharkWindowFull
	}
	if h.Payload == 0 && h.Seq == from.next && plain {
		f |= s.repeatedACK()
	}
	return f
}

// acknowledgedUnseen returns the mark of an ACK of this end's data that goes beyond continuous. One that goes beyond all
// that was captured is told once, and not at all after a duplicate ACK of this end; until the next such ACK whatever the
// other end sends again counts as sent fast.
func (s *wiresharkSide) acknowledgedUnseen() (f WiresharkFlags) {
	if s.continuous != s.next {
		s.continuous = s.next
		return wiresharkACKLostSegment
	}
	if s.duplicates == 0 {
		f = wiresharkACKLostSegment
	}
	s.duplicates = duplicatesUnseen
	return f
}

// edge returns how far behind its ACK number the window reaches.
func (s *wiresharkSide) edge() uint32 {
	if s.unscaled || s.scale < 0 {
		return s.window
	}
	return s.window << s.scale
}

// repeatedACK returns the mark of a packet without payload in its place.
func (s *wiresharkSegment) repeatedACK() WiresharkFlags {
	h, from, to := s.header, s.from, s.to
	same := h.Ack == from.ack
	switch {
	case uint32(h.Window) != from.window:
		if h.Window != 0 && same {
			return wiresharkWindowUpdate
		}
	case h.Window == 0:
		if same && to.marks&wiresharkZeroWindowProbe != 0 {
			return wiresharkZeroWindowProbeACK
		}
	case !same:
	case to.marks&wiresharkKeepAlive != 0:
		return wiresharkKeepAliveACK
	default:
		from.duplicates = max(from.duplicates, 0) + 1
		return wiresharkDuplicateACK
	}
	return 0
}

// again returns the marks of a packet whose numbers were seen before. More than a byte from the one before the next is new:
// the byte may have been a probe's.
func (s *wiresharkSegment) again(f WiresharkFlags) WiresharkFlags {
	h, from, to := s.header, s.from, s.to
	if h.Payload == 0 && !s.has(pcap.SYN|pcap.FIN) || f&wiresharkKeepAlive != 0 {
		return 0
	}
	if h.Payload > 0 && to.ack != 0 && !below(to.ack, h.Seq+uint32(h.Payload)) {
		return wiresharkSpurious | wiresharkRetransmission
	}
	if from.next == 0 || !below(h.Seq, from.next) || h.Payload > 1 && h.Seq == from.next-1 {
		return 0
	}
	if (to.duplicates >= 2 || to.duplicates == duplicatesUnseen) && to.ack == h.Seq && unsigned(s.now-to.ackAt) < unsigned(wiresharkFastWithin) {
		return wiresharkFastRetransmission | wiresharkRetransmission
	}
	within := s.conn.rtt
	if within == 0 {
		within = wiresharkReorderedWithin
	}
	if unsigned(s.now-from.nextAt) < unsigned(within) && s.end() != from.next {
		return wiresharkOutOfOrder
	}
	return wiresharkRetransmission
}

// end returns the number behind the packet.
func (s *wiresharkSegment) end() uint32 {
	if s.has(pcap.SYN | pcap.FIN) {
		return s.header.Seq + uint32(s.header.Payload) + 1
	}
	return s.header.Seq + uint32(s.header.Payload)
}

// remember takes the packet into account.
func (s *wiresharkSegment) remember(f WiresharkFlags) {
	h, from := s.header, s.from
	end := s.end()
	if f&wiresharkZeroWindowProbe == 0 {
		if from.next == 0 || below(from.next, end) {
			from.next, from.nextAt = end, s.now
		}
		if from.continuous == 0 || from.continuous == h.Seq {
			from.continuous = from.next
		}
	}
	from.window, from.ack, from.ackAt, from.marks = uint32(h.Window), h.Ack, s.now, f
	from.unscaled = s.has(pcap.SYN) || from.unscaled && !s.has(pcap.ACK)
	if c := s.conn; h.Flags&(pcap.SYN|pcap.ACK) == pcap.ACK && c.started && c.rtt == 0 {
		c.rtt = s.now - c.syn
	}
	if s.has(pcap.SYN) {
		s.scale()
	}
}

// scale learns from a SYN or SYN-ACK whether windows are scaled.
func (s *wiresharkSegment) scale() {
	o := &s.header.Options
	if o.HasScale {
		s.from.scale = int8(min(o.Scale, 14))
	}
	switch {
	case o.Cut: // its dissector gave up in the options
	case s.from.scale == scaleUnknown:
		s.from.scale, s.to.scale = scaleUnused, scaleUnused
	case s.has(pcap.ACK) && s.to.scale == scaleUnused:
		s.from.scale = scaleUnused
	}
}
