package tcp

import (
	"math"

	"nettrace/pcap"
	"nettrace/unit"
)

// judge takes one packet of a connection into account.
func (t *shard) judge(c *conn, dir int, s *segment) Flags {
	d, h := &c.dir[dir], s.header
	t.place(c, d, s)
	if t.isCopy(c, dir, s) {
		d.copies++
		t.totals.Copies++
		return FlagCopy
	}
	d.seen = true
	d.signs.look(s, c.addresses)
	d.tally(s)
	var f Flags
	if h.Flags&pcap.SYN != 0 {
		f |= t.syn(c, dir, s)
	} else if dir == ClientToServer && c.synACK != none && c.ack == none {
		c.ack = s.now
		c.leg(ServerToClient, s, c.synACK)
	}
	if h.Flags&pcap.RST != 0 {
		t.resetWith(c, dir, s)
		return f
	}
	if h.Flags&pcap.ACK != 0 {
		f |= t.acknowledge(c, dir, s)
	}
	if h.Payload > 0 {
		f |= t.data(c, dir, s)
	} else if h.Flags&(pcap.SYN|pcap.FIN) == 0 {
		f |= t.empty(c, dir, s)
	}
	if h.Flags&pcap.FIN != 0 {
		f |= d.finish(s)
	}
	return f | t.advertise(c, dir, s)
}

// place finds the packet's place in the sequence space, and what it is on the wire.
func (t *shard) place(c *conn, d *direction, s *segment) {
	h := s.header
	if d.packets+uint64(d.copies) == 0 {
		d.view.port = int32(s.packet.Tap)
	}
	switch {
	case !d.seen && !d.acked:
		d.begin(h.Seq)
	case !d.seen: // what was sent before the capture began is no gap
		d.high = extend(d.una, h.Seq)
	}
	s.start = extend(d.high, h.Seq)
	if h.Flags&pcap.SYN != 0 {
		s.start++
	}
	s.end = s.start + uint64(h.Payload)
	s.cut(&d.mss)
}

// cut finds how many packets the segment is on the wire.
func (s *segment) cut(m *mss) {
	h := s.header
	s.size = m.size(int(h.Options.Length), h.Network == pcap.IPv6)
	if s.wire = 1; h.Payload > s.size {
		s.wire = wire(h.Payload, s.size)
	}
}

func (t *shard) isCopy(c *conn, dir int, s *segment) bool {
	if age, routed, found := c.copies.seen(dir, s, c.dir[dir].goesOn(&c.dir[1-dir], s)); found {
		t.picture.copied(s.packet, s.now, age, routed)
		return true
	}
	d, sent := &c.dir[dir], &c.dir[1-dir]
	if !d.seen {
		return false
	}
	ack := sent.una
	if s.header.Flags&pcap.ACK != 0 && sent.acked {
		ack = extend(sent.una, s.header.Ack)
	}
	if d.view.elsewhere(d, s, sent.una, ack) {
		t.picture.Copies.note(s.packet, s.now, 0)
		return true
	}
	return false
}

// goesOn reports whether a packet holds the next data of this direction or acknowledges what was not acknowledged: no copy
// of anything seen does.
func (d *direction) goesOn(sent *direction, s *segment) bool {
	h := s.header
	if !d.seen || h.Flags&^(pcap.ACK|pcap.PSH) != 0 {
		return false
	}
	if h.Payload > 0 {
		return s.start >= d.high
	}
	ack := extend(sent.una, h.Ack)
	return sent.acked && ack > sent.una && ack <= sent.high
}

// tally counts the packet.
func (d *direction) tally(s *segment) {
	h := s.header
	d.packets++
	if h.Tags > 0 {
		d.tagged++
		if h.VLAN != 0 {
			d.vlan = h.VLAN
		}
	}
	if h.Payload == 0 && h.Flags&(pcap.SYN|pcap.FIN|pcap.RST) == 0 {
		d.pureACKs++
	}
}

// syn judges a SYN or SYN-ACK.
func (t *shard) syn(c *conn, dir int, s *segment) (f Flags) {
	d, h, o := &c.dir[dir], s.header, &s.header.Options
	if d.synSeen && d.isn == h.Seq {
		d.repeatedSYNs = uint8(min(int(d.repeatedSYNs)+1, math.MaxUint8))
		f = FlagRepeatedSYN
	} else {
		if d.synSeen || d.dataPackets > 0 {
			d.restart()
		}
		d.begin(h.Seq + 1)
		s.start = d.high
		s.end = s.start + uint64(h.Payload)
	}
	d.synSeen, d.isn, d.message.aligned = true, h.Seq, true
	d.options = synOptions{o.MSS, o.Scale, o.HasMSS, o.HasScale, o.HasTimestamp, o.SACKOK, o.Cut}
	if asksECN(h.Flags) {
		c.ecn |= 1 << dir
	}
	if !o.HasMSS && !o.Cut {
		d.options.mss = defaultMSS4
		if h.Network == pcap.IPv6 {
			d.options.mss = defaultMSS6
		}
	}
	c.negotiate()
	s.cut(&d.mss)
	if o.FastOpen {
		c.fastOpen |= fastOpenAsked
	}
	switch {
	case h.Flags&pcap.ACK == 0:
		c.syn = s.now
		if h.Payload > 0 {
			c.fastOpen |= fastOpenData
		}
	case c.synACK == none:
		c.synACK = s.now
		c.leg(ClientToServer, s, c.syn)
		c.fastOpened(&c.dir[1-dir], h.Ack)
	}
	return f
}

// asksECN reports whether the flags of a SYN or SYN-ACK offer explicit congestion notification (RFC 3168 section 6.1.1).
func asksECN(flags uint8) bool {
	if flags&pcap.ACK == 0 {
		return flags&(pcap.ECE|pcap.CWR) == pcap.ECE|pcap.CWR
	}
	return flags&(pcap.ECE|pcap.CWR) == pcap.ECE
}

// leg takes the handshake's sample of the round-trip time in a direction whose SYN was sent at that time.
func (c *conn) leg(dir int, s *segment, sent unit.Nanos) {
	if d := &c.dir[dir]; s.timed && sent != none && d.repeatedSYNs == 0 {
		d.rtt.times.add(s.now - sent)
	}
}

// negotiate sets the MSS of both directions from the options that were seen.
func (c *conn) negotiate() {
	a, b := &c.dir[0], &c.dir[1]
	option, known := min(a.options.mss, b.options.mss), uint8(handshake)
	if option == 0 {
		option, known = max(a.options.mss, b.options.mss), oneSYN
	}
	if option > 0 {
		a.mss.option, a.mss.known = option, known
		b.mss.option, b.mss.known = option, known
	}
	if a.synSeen && b.synSeen && !a.options.cut && !b.options.cut {
		a.waits.scale, b.waits.scale = 0, 0
		if a.options.hasScale && b.options.hasScale { // both or none (RFC 7323 section 2.2)
			a.waits.scale, b.waits.scale = int8(min(b.options.scale, 14)), int8(min(a.options.scale, 14))
		}
	}
}

// fastOpened learns from the SYN-ACK whether the data of a Fast Open SYN was taken. If not, it will come again, which is
// no loss: the client's numbers go back.
func (c *conn) fastOpened(client *direction, ack uint32) {
	if c.fastOpen&fastOpenData == 0 || !client.synSeen {
		return
	}
	if ack != client.isn+1 {
		c.fastOpen |= fastOpenAccepted
		return
	}
	c.fastOpen |= fastOpenRefused
	first := extend(client.high, client.isn+1)
	client.unique -= min(client.unique, client.high-first)
	client.high = first
	client.message = message{aligned: true}
	client.rtt.inFlight = 0
	c.exchanges.withdraw()
}

// data judges a packet with payload.
func (t *shard) data(c *conn, dir int, s *segment) (f Flags) {
	d, h, peer := &c.dir[dir], s.header, &c.dir[1-dir]
	switch {
	case h.Payload == 1 && s.end == d.high && d.acked && d.una >= d.high:
		return t.keptAlive(c, dir, s)
	case h.Payload == 1 && s.start == d.high && peer.windowKnown && peer.window == 0:
		t.waiting(d).probes++
		return FlagZeroWindowProbe // what it carries counts when it comes again
	}
	d.dataPackets++
	d.wirePackets += uint64(s.wire)
	d.bytes += uint64(h.Payload)
	d.size = int32(s.size)
	d.largest = max(d.largest, uint32(h.Payload))
	t.picture.verified(d, s)
	if h.Payload > s.size {
		d.superSegments++
		t.picture.Above.note(s.packet, s.now, int64(h.Payload))
		f |= FlagSuperSegment
	}
	if h.Flags&pcap.PSH == 0 && (h.Payload != s.size || d.mss.even < enoughSegments) {
		d.mss.observe(h.Payload, s.size, int(h.Options.Length))
	}
	d.complete(s.start)
	jump := 0
	if d.idents.own() && h.HasID {
		jump = int(int16(h.ID-d.idents.highest)) - 1
	}
	switch {
	case s.start > d.high+maxJump: // another connection's numbers, or a capture with a long pause
		d.restart()
		d.high = s.start
		fallthrough
	case s.start >= d.high:
		f |= t.fresh(c, dir, s)
	default:
		f |= t.late(c, dir, s)
		d.high = max(d.high, s.end)
		t.timing(d).sent(s, true)
		if f&FlagReordered == 0 {
			d.idents.took(h.ID, s.wire)
		}
	}
	t.limited(c, dir, s, f, jump)
	t.sent(c, dir, s, f&(FlagRetransmission|FlagReordered) != 0)
	d.sentAt = s.now
	return f
}

// fresh judges data above all that was seen.
func (t *shard) fresh(c *conn, dir int, s *segment) (f Flags) {
	d := &c.dir[dir]
	if s.start > d.high {
		f |= FlagGap
		t.jump(d, s)
	}
	if c.fastOpen&fastOpenRefused != 0 && dir == ClientToServer && s.start == extend(d.high, d.isn+1) && d.unique == 0 {
		f |= FlagFastOpenFallback
	}
	if d.acked && d.una > s.start && d.dataPackets > 1 {
		t.picture.Behind.note(s.packet, s.now, int64(s.now-d.unaAt))
	}
	t.released(c, dir, s)
	d.unique += s.end - s.start
	c.dir[1-dir].turn()
	if dir == ClientToServer {
		t.turns(c).requested(s, c.dir[ServerToClient].outstanding())
	} else {
		c.exchanges.responded(s)
	}
	f |= t.write(c, dir, s)
	d.high, d.partial = s.end, s.header.Fragment
	t.timing(d).sent(s, false)
	if s.header.HasID && s.header.Flags&pcap.SYN == 0 {
		d.idents.next(s.header.ID, s.wire, f&FlagGap == 0 && s.now-d.sentAt < timeoutAfter)
	}
	return f
}

// complete takes what is missing behind a first fragment for captured, up to where the next packet or an acknowledgement
// shows that it ended: the fragments that follow name no ports.
func (d *direction) complete(end uint64) {
	const longest = 64 << 10 // an IP packet
	if d.partial && end > d.high && end-d.high < longest {
		d.bytes += end - d.high
		d.unique += end - d.high
		d.high = end
	}
}

// turn ends the message of this direction, since the other one has begun to answer.
func (d *direction) turn() {
	if d.message.begun {
		d.close(int(d.segmentSize()))
	}
}

// empty judges a packet with neither payload nor SYN, FIN or RST.
func (t *shard) empty(c *conn, dir int, s *segment) Flags {
	d, peer := &c.dir[dir], &c.dir[1-dir]
	if s.start+1 == d.high && peer.windowKnown && peer.window == 0 {
		t.waiting(d).probes++
		return FlagZeroWindowProbe // Linux probes so (tcp_xmit_probe_skb)
	}
	if s.start+1 == d.high && !d.outstanding() {
		return t.keptAlive(c, dir, s)
	}
	if d.answers(peer, s) {
		return FlagKeepAliveACK
	}
	if s.header.HasID {
		d.idents.took(s.header.ID, 1)
	}
	c.exchanges.acknowledged(dir)
	return 0
}

// finish judges a packet with FIN, which takes one sequence number.
func (d *direction) finish(s *segment) Flags {
	if d.finSeen && s.end < d.high {
		return FlagRepeatedFIN
	}
	d.finSeen = true
	if d.limit != nil {
		d.limit.finish(s.now)
	}
	d.high = max(d.high, s.end+1)
	return 0
}
