package tcp

import (
	"math"

	"nettrace/pcap"
	"nettrace/unit"
)

// step is a packet to judge in one line of the cache, as it has to go from one core to the other. What few packets have
// besides, and the end of a connection, is in an odd.
type step struct {
	conn           *conn
	now            unit.Nanos
	record, offset uint32 // behind those of the batch
	seq, ack       uint32
	stamp, echo    uint32 // the timestamp option
	payload        uint32
	id, window     uint16
	checksum       uint16
	vlan           uint16
	port           uint16
	odd            uint16 // one more than its place in the batch, 0 for none
	flags, ttl     uint8
	options        uint8 // bytes
	tags           uint8
	ipLen, wireLen uint8 // or the most that there is room for
	has            uint8
	shard          uint8
}

// What a step's packet has; the direction that the capture notes is above these bits.
const (
	hasDirection = 1 << iota // of the connection
	hasTime
	hasIPv6
	hasID
	hasTimestamp
	hasFrame // of Ethernet, around this very packet
	hasSent  = iota
)

// odd is what a step cannot hold.
type odd struct {
	header   pcap.Header
	packet   pcap.Packet
	checksum pcap.Checksum
	flags    Flags
	ends     bool
}

// more returns the room for what the step cannot hold.
func (b *batch) more(x *step) *odd {
	if len(b.odd) < cap(b.odd) {
		b.odd = b.odd[:len(b.odd)+1]
	} else {
		b.odd = append(b.odd, odd{})
	}
	x.odd = uint16(len(b.odd))
	return &b.odd[len(b.odd)-1]
}

// plain reports whether a step of the batch holds all that is judged of a packet.
func (b *batch) plain(s *segment, f Flags) bool {
	p, h := s.packet, s.header
	if f != 0 || s.checksum != pcap.ChecksumUnknown || h.Flags&pcap.SYN != 0 || h.Options.SACKs > 0 || h.Fragment {
		return false
	}
	if !b.based {
		b.based, b.record, b.offset = true, p.Record, p.Offset
	}
	return uint64(p.Record-b.record)|uint64(p.Offset-b.offset) <= math.MaxUint32
}

// hold takes over what is judged of a plain packet.
func (x *step) hold(b *batch, s *segment) {
	p, h := s.packet, s.header
	x.record, x.offset, x.odd = uint32(p.Record-b.record), uint32(p.Offset-b.offset), 0
	x.seq, x.ack, x.stamp, x.echo = h.Seq, h.Ack, h.Options.TSVal, h.Options.TSEcr
	x.payload, x.id, x.window, x.checksum, x.vlan, x.port = uint32(h.Payload), h.ID, h.Window, h.Checksum, h.VLAN, uint16(p.Tap)
	x.flags, x.ttl, x.options, x.tags = h.Flags, h.TTL, h.Options.Length, h.Tags
	x.ipLen, x.wireLen = uint8(min(h.IPLen, math.MaxUint8)), uint8(min(p.WireLen, math.MaxUint8))
	has := x.has | uint8(p.Direction)<<hasSent
	if h.Network == pcap.IPv6 {
		has |= hasIPv6
	}
	if h.HasID {
		has |= hasID
	}
	if h.Options.HasTimestamp {
		has |= hasTimestamp
	}
	if p.LinkType == pcap.LinkEthernet && h.Tunnels == 0 {
		has |= hasFrame
	}
	x.has = has
}

// restore fills in the parts of a plain packet that are judged. All others stay zero.
func (x *step) restore(b *batch, p *pcap.Packet, h *pcap.Header) {
	p.Record, p.Offset, p.WireLen, p.Tap = b.record+int64(x.record), b.offset+int64(x.offset), int(x.wireLen), int(x.port)
	p.Direction, p.LinkType = pcap.Direction(x.has>>hasSent), 0
	if x.has&hasFrame != 0 {
		p.LinkType = pcap.LinkEthernet
	}
	h.Network = pcap.IPv4
	if x.has&hasIPv6 != 0 {
		h.Network = pcap.IPv6
	}
	h.Seq, h.Ack, h.Flags, h.Window, h.Payload, h.Checksum = x.seq, x.ack, x.flags, x.window, int(x.payload), x.checksum
	h.TTL, h.ID, h.HasID, h.IPLen, h.VLAN, h.Tags = x.ttl, x.id, x.has&hasID != 0, int(x.ipLen), x.vlan, x.tags
	o := &h.Options
	o.Length, o.HasTimestamp, o.TSVal, o.TSEcr = x.options, x.has&hasTimestamp != 0, x.stamp, x.echo
}

func (x *step) dir() int { return int(x.has & hasDirection) }

// take judges the packet or ends the connection.
func (o *odd) take(t *shard, x *step) {
	if o.ends {
		t.finish(x.conn, x.now)
		return
	}
	t.take(x.conn, x.dir(), o.flags, &segment{packet: &o.packet, header: &o.header, now: x.now, timed: x.has&hasTime != 0, checksum: o.checksum})
}
