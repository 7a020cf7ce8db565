package analyze

import (
	bin "encoding/binary"

	"nettrace/pcap"
	"nettrace/unit"
)

// A packet in a partial is its headers and what the capture says of it, as varints: steps of record, offset and time since
// the packet before in the chunk; a byte of bits; the other fields; and as many bytes as the analysis reads of it.

const (
	chunkBytes = 256 << 10
	// readOf is how much of a packet other than TCP is read: the headers quoted by an ICMP error, sequence numbers of
	// iperf3 and RTP.
	readOf = 256
)

// Bits of a packet: whether it has a time, its direction, what its checksum is.
const (
	bitTime      = 1
	shiftSent    = 1 // two bits
	shiftChecked = 3 // three bits
)

// packetCoder writes packets into a chunk.
type packetCoder struct {
	buf            []byte
	record, offset int64
	time           unit.Nanos
}

func (c *packetCoder) reset() { *c = packetCoder{buf: c.buf[:0]} }

func (c *packetCoder) add(p *pcap.Packet, h *pcap.Header) {
	keep := min(len(p.Data), readOf)
	if h.Transport == pcap.TCP {
		keep = min(len(p.Data), h.PayloadAt)
	}
	bits := byte(p.Direction)<<shiftSent | byte(pcap.Verify(p, h))<<shiftChecked
	if p.HasTime {
		bits |= bitTime
	}
	b := append(c.buf, bits)
	for _, v := range [...]int64{p.Record - c.record, p.Offset - c.offset, int64(p.Time - c.time)} {
		b = bin.AppendVarint(b, v)
	}
	for _, v := range [...]int{p.CapLen, p.WireLen, p.Tap, int(p.LinkType), int(p.Device), keep} {
		b = bin.AppendUvarint(b, uint64(v))
	}
	c.buf = append(b, p.Data[:keep]...)
	c.record, c.offset, c.time = p.Record, p.Offset, p.Time
}

// packetDecoder reads the packets of a chunk.
type packetDecoder struct {
	rest    []byte
	packet  pcap.Packet // the one at hand
	damaged bool
}

func (d *packetDecoder) next() bool {
	if len(d.rest) == 0 || d.damaged {
		return false
	}
	p, bits := &d.packet, d.rest[0]
	d.rest = d.rest[1:]
	p.HasTime, p.Direction, p.Verified = bits&bitTime != 0, pcap.Direction(bits>>shiftSent&3), pcap.Checksum(bits>>shiftChecked&7)
	p.Record += d.varint()
	p.Offset += d.varint()
	p.Time += unit.Nanos(d.varint())
	p.CapLen, p.WireLen, p.Tap = d.number(), d.number(), d.number()
	p.LinkType, p.Device = pcap.LinkType(d.number()), uint32(d.number())
	keep := d.number()
	if d.damaged = d.damaged || keep > len(d.rest); d.damaged {
		return false
	}
	p.Data, d.rest = d.rest[:keep:keep], d.rest[keep:]
	return true
}

func (d *packetDecoder) varint() int64 {
	v, n := bin.Varint(d.rest)
	d.skip(n)
	return v
}

// number reads a size or a number that fits 32 bits.
func (d *packetDecoder) number() int {
	v, n := bin.Uvarint(d.rest)
	d.skip(n)
	d.damaged = d.damaged || v > 1<<32-1
	return int(v & (1<<32 - 1))
}

func (d *packetDecoder) skip(n int) {
	if d.damaged = d.damaged || n <= 0; !d.damaged {
		d.rest = d.rest[n:]
	}
}
