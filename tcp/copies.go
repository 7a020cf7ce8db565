package tcp

import (
	"math/bits"

	"nettrace/unit"
)

// copies remembers the last packets of a connection, to set aside those that the capture holds more than once: from a
// mirror port that copies both directions, from both sides of a router, from a bridge and its port. The next packets of a
// connection tell a copy apart from a retransmission by what a sender never repeats: the IP identification and the
// timestamp.
type copies struct {
	identities [ringSize]uint64 // apart from the rest: it is what every packet is compared with
	ring       [ringSize]sighting
	next       uint8
	nextOf     uint8
	merged     *[4]merged // the last super-segments, nil before the first
}

// merged is a super-segment. GRO merges a packet that the network then delivers once more, alone.
type merged struct {
	start, bytes, micros uint32
	id                   uint16
	dir                  uint8
}

// holds reports whether s is a packet of the super-segment again: the identifications of its packets count up.
func (m *merged) holds(dir int, s *segment) bool {
	h := s.header
	from, age := h.Seq-m.start, unit.Nanos(uint32(s.now/unit.Microsecond)-m.micros)*unit.Microsecond
	return int(m.dir) == dir && from+uint32(h.Payload) <= m.bytes && from < m.bytes && from%uint32(s.size) == 0 && h.ID == m.id+uint16(from/uint32(s.size)) && age <= copyWithin
}

// again reports whether s was part of one of the last super-segments. It remembers s if it is one.
func (c *copies) again(dir int, s *segment) bool {
	h := s.header
	switch {
	case !h.HasID || h.ID == 0 || h.Payload == 0:
		return false
	case h.Payload > s.size:
		if c.merged == nil {
			c.merged = new([4]merged)
		}
		c.merged[c.nextOf%uint8(len(c.merged))] = merged{h.Seq, uint32(h.Payload), uint32(s.now / unit.Microsecond), h.ID, uint8(dir)}
		c.nextOf++
	case c.merged != nil:
		for i := range c.merged {
			if c.merged[i].holds(dir, s) {
				return true
			}
		}
	}
	return false
}

const ringSize = 8

type sighting struct {
	micros uint32 // wraps after 71 minutes
	vlan   uint16
	ttl    uint8 // 0 for a place that is free
	port   uint8
}

// How long after a packet its copy may come. Mirror ports and bridges copy within microseconds (15 us in the mirror-port
// case); 20 ms leave room for a slow one and stay below any retransmission timer. Without an identification only a
// shorter time than a round trip tells a copy apart. Copies that were routed (TTL), tagged or captured elsewhere can be
// nothing else, and may be as late as a path is long.
const (
	copyWithin          = 20 * unit.Millisecond
	copyWithinUntold    = 100 * unit.Microsecond
	copyWithinElsewhere = unit.Second
)

// seen reports whether s is a copy of one of the last packets, how long after it, and whether with another TTL. It
// remembers s otherwise. fresh says that it surely is none, as it goes on where its direction ends.
func (c *copies) seen(dir int, s *segment, fresh bool) (age unit.Nanos, routed, found bool) {
	h := s.header
	id := identity(dir, s)
	micros, vlan := uint32(s.now/unit.Microsecond), h.VLAN<<2|uint16(h.Tags&3)
	if !fresh {
		for i, other := range c.identities {
			if other == id && c.ring[i].ttl != 0 {
				first := &c.ring[i]
				age := unit.Nanos(int32(micros-first.micros)) * unit.Microsecond
				if elsewhere := first.vlan != vlan || first.ttl != h.TTL || first.port != uint8(s.packet.Tap); max(age, -age) <= copyLimit(s, elsewhere) {
					return max(age, -age), first.ttl != h.TTL, true
				}
			}
		}
	}
	if c.again(dir, s) {
		return 0, false, true
	}
	c.identities[c.next] = id
	mine := &c.ring[c.next]
	mine.micros, mine.vlan, mine.ttl, mine.port = micros, vlan, h.TTL, uint8(s.packet.Tap)
	c.next = (c.next + 1) % ringSize
	return 0, false, false
}

// copyLimit returns how far apart s and an equal packet may be to be one; negative if they may be two at any distance.
func copyLimit(s *segment, elsewhere bool) unit.Nanos {
	h := s.header
	switch {
	case elsewhere:
		return copyWithinElsewhere
	case h.HasID && h.ID != 0:
		return copyWithin
	case s.timed && (h.Payload > 0 || h.Options.HasTimestamp):
		return copyWithinUntold
	default:
		return -1 // two bare ACKs look alike: the second may be a duplicate ACK
	}
}

// identity hashes what a copy has in common with its original. Neither TTL and VLAN, which change on the way, nor the
// checksum, which offload changes, are part of it.
func identity(dir int, s *segment) uint64 {
	h := s.header
	o := &h.Options
	x := (uint64(h.Seq)<<32|uint64(h.Ack))*0x9e3779b97f4a7c15 + // products that do not wait for one another
		(uint64(h.ID)<<48|uint64(h.Window)<<32|uint64(h.Payload)<<12^uint64(h.Flags)<<1^uint64(dir))*0xbf58476d1ce4e5b9 +
		(uint64(o.TSVal)<<32|uint64(o.TSEcr))*0x94d049bb133111eb
	for i := range min(int(o.SACKs), len(o.SACK)) {
		x = mix(x, uint64(o.SACK[i][0])<<32|uint64(o.SACK[i][1]))
	}
	return x
}

func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xbf58476d1ce4e5b9)
	return high ^ low
}

// view is how one direction was captured, where a capture has several interfaces. The interface that showed the direction
// first is its own; what others show of the same bytes is set aside, also when the packets are cut differently (before and
// after segmentation) and stand far apart in the file.
type view struct {
	port int32
	own  *own // nil until another interface shows the direction
}

// own is how far the own interface has come: its highest sequence and ACK number.
type own struct{ high, ack uint64 }

// elsewhere reports whether another interface has shown the packet before. acknowledged is the highest ACK number seen
// from this direction's end, ack that of the packet.
func (v *view) elsewhere(d *direction, s *segment, acknowledged, ack uint64) bool {
	here := int32(s.packet.Tap) == v.port
	if here && v.own == nil {
		return false
	}
	if v.own == nil {
		v.own = &own{d.high, acknowledged}
	}
	if s.end == s.start { // no payload, SYN or FIN: only its ACK number can be new
		before := ack <= acknowledged
		if here {
			before = before && ack > v.own.ack
			v.own.ack = max(v.own.ack, ack)
		}
		return before
	}
	before := s.end <= d.high
	if here {
		before = before && s.start >= v.own.high
		v.own.high = max(v.own.high, s.end)
	}
	return before
}
