package tcp

import (
	"slices"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// datagrams follows the UDP flows of one capture: two addresses and ports, whichever way the datagrams go. The table is
// bounded; the flow that was idle for longest gives way.
type datagrams struct {
	at         map[flowKey]*datagramFlow
	idle       flowList // the longest idle one first
	last       *datagramFlow
	maxFlows   int
	maxKept    int
	finished   []Flow
	totals     FlowTotals
	sequencing pool[sequence]
}

// flowKey is both ends of a flow, the smaller one first.
type flowKey struct {
	low, high         [16]byte
	lowPort, highPort uint16
	network           pcap.Network
	tunnel            uint32
}

func flowKeyOf(h *pcap.Header) (k flowKey, fromHigh bool) {
	fromHigh = slices.Compare(h.Src[:], h.Dst[:]) > 0 || h.Src == h.Dst && h.SrcPort > h.DstPort
	if fromHigh {
		return flowKey{h.Dst, h.Src, h.DstPort, h.SrcPort, h.Network, h.Tunnel}, true
	}
	return flowKey{h.Src, h.Dst, h.SrcPort, h.DstPort, h.Network, h.Tunnel}, false
}

// datagramFlow is a live flow.
type datagramFlow struct {
	key            flowKey
	prev, next     *datagramFlow
	serverIsHigh   bool
	record, offset int64
	start, end     unit.Nanos
	recent         [8]datagramMark
	nRecent        uint8
	dir            [2]stream
}

// stream is one direction of a flow. Copies are counted in copies only.
type stream struct {
	packets, bytes, wire      uint64
	copies                    uint32
	fragmented                uint32
	super, superBytes         uint64
	tails                     uint32 // super-datagrams that end in a small rest
	largest, single, smallest int    // payload; single: the largest that is one datagram on the wire
	first, last               unit.Nanos
	between                   durations
	silence                   gap // the longest
	second                    unit.Nanos
	inSecond, mostInSecond    uint32
	bitsInSecond, mostBits    uint64
	partial, complete         uint8
	outbound, inbound, ttl    uint8
	firstSuper, worstSuper    Sight
	firstFragment             Sight
	sequence                  *sequence // nil before its second datagram
	opening                   opening   // its first datagram
}

// datagramMark is what tells a datagram from others.
type datagramMark struct {
	at           unit.Nanos
	id, checksum uint16
	length       int
	port         int // interface
	ttl          uint8
	reverse      bool
	hasID        bool
}

const (
	defaultFlows = 100_000
	// ethernetMTU and jumboMTU: above the first an IP packet that is no fragment can be a super-datagram, above the second
	// (the largest frames that switches pass) it is one.
	ethernetMTU, jumboMTU = 1500, 9216
)

// other takes a packet into account that is no TCP.
func (t *Tracker) other(p *pcap.Packet, h *pcap.Header, now unit.Nanos, timed bool) Mark {
	switch h.Transport {
	case pcap.UDP:
		return t.datagram(p, h, now, timed)
	case pcap.ICMP:
		t.noticed(p, h, now)
	}
	return Mark{WirePackets: 1}
}

// datagram takes a UDP packet into account.
func (t *Tracker) datagram(p *pcap.Packet, h *pcap.Header, now unit.Nanos, timed bool) Mark {
	d := &t.datagrams
	k, fromHigh := flowKeyOf(h)
	f := d.last
	if f == nil || f.key != k {
		if f = d.at[k]; f == nil {
			f = t.newFlow(p, h, k, fromHigh, now)
		}
		d.last = f
	}
	d.idle.renew(f)
	dir := ClientToServer
	if fromHigh == f.serverIsHigh {
		dir = ServerToClient
	}
	m := Mark{Reverse: dir == ServerToClient, WirePackets: 1}
	s := &f.dir[dir]
	if routed, age, found := f.copied(p, h, dir, now); found {
		s.copies++
		t.picture.copied(p, now, age, routed)
		m.Flags = FlagCopy
		return m
	}
	f.start, f.end = min(f.start, now), max(f.end, now)
	s.sign(p, h)
	size, wire, super := s.measure(p, h, now)
	if super {
		m.Flags |= FlagSuperSegment
	}
	m.WirePackets = wire
	if timed {
		s.pace(p, size, wire, now)
	}
	s.packets++
	s.bytes += uint64(size)
	s.wire += uint64(wire)
	m.Flags |= d.number(s, p, h, wire, now)
	return m
}

func (t *Tracker) newFlow(p *pcap.Packet, h *pcap.Header, k flowKey, fromHigh bool, now unit.Nanos) *datagramFlow {
	d := &t.datagrams
	if d.at == nil {
		d.at, d.maxFlows, d.maxKept = map[flowKey]*datagramFlow{}, defaultFlows, t.options.MaxKept
	}
	if len(d.at) >= d.maxFlows {
		oldest := d.idle.first
		t.ledger.Add("flow-evicted", source.Warning, t.at(oldest.record, oldest.offset), 1,
			"more UDP flows at once than the table holds: the longest idle one was finished; its later packets count as another flow")
		d.totals.Evicted++
		d.finish(oldest)
	}
	f := &datagramFlow{key: k, record: p.Record, offset: p.Offset, start: now, end: now}
	f.serverIsHigh = fromHigh == (h.SrcPort < h.DstPort)                  // services listen on low ports
	if h.SrcPort == h.DstPort || h.SrcPort >= 1024 && h.DstPort >= 1024 { // who begins is the client
		f.serverIsHigh = !fromHigh
	}
	d.at[k] = f
	d.idle.push(f)
	return f
}

// copied reports whether the capture holds the datagram already: the same identification, checksum and length within
// 20 ms, or within 1 s if TTL or interface differ. Without an identification only another TTL or interface tells a copy,
// and only with a checksum, which covers the payload.
func (f *datagramFlow) copied(p *pcap.Packet, h *pcap.Header, dir int, now unit.Nanos) (routed bool, age unit.Nanos, found bool) {
	m := datagramMark{now, h.ID, h.Checksum, h.Payload, p.Tap, h.TTL, dir == ServerToClient, h.HasID && h.ID != 0}
	for i := range f.recent[:min(int(f.nRecent), len(f.recent))] {
		o := &f.recent[i]
		if o.length != m.length || o.checksum != m.checksum || o.id != m.id || o.reverse != m.reverse {
			continue
		}
		elsewhere := o.ttl != m.ttl || o.port != m.port
		switch age = now - o.at; {
		case age < 0 || age > unit.Second, !m.hasID && (!elsewhere || m.checksum == 0):
		case elsewhere || age <= 20*unit.Millisecond:
			return o.ttl != m.ttl, age, true
		}
	}
	f.recent[int(f.nRecent)%len(f.recent)] = m
	if f.nRecent++; int(f.nRecent) == 2*len(f.recent) {
		f.nRecent = uint8(len(f.recent))
	}
	return false, 0, false
}

// sign notes what tells where the flow was captured.
func (s *stream) sign(p *pcap.Packet, h *pcap.Header) {
	const enough = 16
	if s.packets >= enough {
		return
	}
	if s.packets == 0 {
		s.ttl = h.TTL
	}
	switch p.Direction {
	case pcap.Outbound:
		s.outbound++
	case pcap.Inbound:
		s.inbound++
	}
	switch pcap.Verify(p, h) {
	case pcap.ChecksumPartial:
		s.partial++
	case pcap.ChecksumValid, pcap.ChecksumWrong, pcap.ChecksumCut:
		s.complete++
	}
}

// measure returns the payload of the datagram, how many packets it is on the wire, and whether segmentation offload makes
// them. A first fragment has the length of the whole datagram in its UDP header.
func (s *stream) measure(p *pcap.Packet, h *pcap.Header, now unit.Nanos) (size, wire int, super bool) {
	size, wire = h.Payload, 1
	const header = 8
	switch {
	case h.Fragment:
		if at := h.PayloadAt - 4; at >= 0 && at+2 <= len(p.Data) {
			size = max(size, int(p.Data[at])<<8|int(p.Data[at+1])-header)
		}
		if part := h.Payload + header; part > header {
			wire = (size + header + part - 1) / part
		}
		if s.fragmented++; s.fragmented == 1 {
			s.firstFragment = Sight{p.Record, p.Offset, now, int64(size)}
		}
	case h.IPLen > jumboMTU, h.IPLen > ethernetMTU && pcap.Verify(p, h) == pcap.ChecksumPartial:
		super = !loopback(h)
	}
	if !super {
		s.single = max(s.single, size)
	} else {
		wire = s.split(p, h, size, now)
	}
	if s.packets == 0 {
		s.smallest = size
	}
	s.largest, s.smallest = max(s.largest, size), min(s.smallest, size)
	return size, wire, super
}

// loopback reports whether the packet stays on its host, where the MTU is 64 KiB.
func loopback(h *pcap.Header) bool {
	src, dst := h.Source().Addr(), h.Destination().Addr()
	return src.IsLoopback() || dst.IsLoopback() || src == dst
}

// split tells how many datagrams a super-datagram is: by the largest that the direction sends singly, which is usually the
// rest of such a batch or the first message of a protocol; else by what fits an Ethernet frame.
func (s *stream) split(p *pcap.Packet, h *pcap.Header, size int, now unit.Nanos) int {
	segment := s.segment(h.Network)
	s.super++
	s.superBytes += uint64(size)
	at := Sight{p.Record, p.Offset, now, int64(size)}
	if s.super == 1 {
		s.firstSuper = at
	}
	if at.Value > s.worstSuper.Value {
		s.worstSuper = at
	}
	if rest := size % segment; rest > 0 && rest <= segment/8 {
		s.tails++
	}
	return wire(size, segment)
}

// segment is the payload of one datagram of a super-datagram.
func (s *stream) segment(n pcap.Network) int {
	const header4, header6, least = 28, 48, 512
	most := ethernetMTU - header4
	if n == pcap.IPv6 {
		most = ethernetMTU - header6
	}
	if s.single >= least && s.single <= most {
		return s.single
	}
	return most
}

// pace notes when the datagram came.
func (s *stream) pace(p *pcap.Packet, size, wire int, now unit.Nanos) {
	if s.packets == 0 {
		s.first, s.last, s.second = now, now, now
	}
	if took := now - s.last; s.packets > 0 && took >= 0 {
		s.between.add(took)
		if took > s.silence.took {
			s.silence = gap{p.Record, p.Offset, took}
		}
	}
	if now-s.second >= unit.Second || now < s.second {
		s.second, s.inSecond, s.bitsInSecond = now, 0, 0
	}
	s.inSecond += uint32(wire)
	s.bitsInSecond += 8 * uint64(size)
	s.mostInSecond, s.mostBits = max(s.mostInSecond, s.inSecond), max(s.mostBits, s.bitsInSecond)
	s.last = max(s.last, now)
}

// finish takes a flow out of the table and into the summaries.
func (d *datagrams) finish(f *datagramFlow) {
	delete(d.at, f.key)
	d.idle.remove(f)
	if d.last == f {
		d.last = nil
	}
	s := f.summary()
	d.totals.add(&s)
	d.finished = append(d.finished, s)
	if len(d.finished) >= 2*max(d.maxKept, 1) {
		d.finished = keepFlows(d.finished, d.maxKept)
	}
	for i := range f.dir {
		d.sequencing.give(f.dir[i].sequence)
	}
}

// end finishes all flows.
func (d *datagrams) end() (kept []Flow, totals FlowTotals) {
	for f := d.idle.first; f != nil; f = d.idle.first {
		d.finish(f)
	}
	kept = keepFlows(d.finished, max(d.maxKept, 1))
	d.totals.NotKept = d.totals.Flows - int64(len(kept))
	return kept, d.totals
}

// flowList is a doubly linked list of flows.
type flowList struct{ first, last *datagramFlow }

func (l *flowList) push(f *datagramFlow) {
	f.prev, f.next = l.last, nil
	if l.last == nil {
		l.first = f
	} else {
		l.last.next = f
	}
	l.last = f
}

func (l *flowList) remove(f *datagramFlow) {
	if f.prev == nil {
		l.first = f.next
	} else {
		f.prev.next = f.next
	}
	if f.next == nil {
		l.last = f.prev
	} else {
		f.next.prev = f.prev
	}
}

func (l *flowList) renew(f *datagramFlow) {
	if l.last != f {
		l.remove(f)
		l.push(f)
	}
}
