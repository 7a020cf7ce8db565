package pcap

import "encoding/binary"

const (
	portVXLAN    = 4789 // RFC 7348
	portVXLANOld = 8472 // Linux before the port was assigned
	portGeneve   = 6081 // RFC 8926
)

// inner goes on with the packet in a tunnel, if there is an IP packet in it; otherwise h stays what the outer one gave.
// id is what tells tunnels of a kind apart, the same in both directions.
func (h *Header) inner(kind TunnelKind, id uint32, data []byte, at, end int, etherType uint16) {
	if h.Tunnels == maxTunnels {
		h.fault(TooDeep)
		return
	}
	in := Header{
		Fault: h.Fault, VLAN: h.VLAN, Tags: h.Tags, frames: h.frames,
		Tunnel: mix(mix(h.Tunnel, uint32(kind)), id), TunnelKind: kind, Tunnels: h.Tunnels + 1,
	}
	outer := *h
	*h = in
	h.ether(data, at, end, etherType)
	if h.Network == NoNetwork {
		*h = outer
	}
}

// mix adds a word to a hash (the finishing step of MurmurHash3, public domain). It is never 0.
func mix(sum, word uint32) uint32 {
	sum = (sum ^ word) * 0x85ebca6b
	sum = (sum ^ sum>>13) * 0xc2b2ae35
	return max(sum^sum>>16, 1)
}

// ends hashes the addresses of a packet, whichever way it goes.
func (h *Header) ends() uint32 { return hash(&h.Src) + hash(&h.Dst) }

func hash(addr *[16]byte) uint32 {
	sum := uint32(0)
	for n := 0; n < len(addr); n += 4 {
		sum = mix(sum, binary.BigEndian.Uint32(addr[n:]))
	}
	return sum
}

// gre reads a GRE header of version 0 (RFC 2784, RFC 2890): flags, protocol, then checksum, key and sequence number
// where their flags are set.
func (h *Header) gre(data []byte, at, end int) {
	if len(data) < at+4 {
		h.cut()
		return
	}
	const hasChecksum, hasKey, hasSequence, routingOrVersion = 0x8000, 0x2000, 0x1000, 0x4007
	flags, protocol := binary.BigEndian.Uint16(data[at:]), binary.BigEndian.Uint16(data[at+2:])
	if flags&routingOrVersion != 0 {
		return
	}
	at += 4
	if flags&hasChecksum != 0 {
		at += 4
	}
	id := h.ends()
	if flags&hasKey != 0 {
		if len(data) < at+4 {
			h.cut()
			return
		}
		id = mix(id, binary.BigEndian.Uint32(data[at:]))
		at += 4
	}
	if flags&hasSequence != 0 {
		at += 4
	}
	h.inner(GRE, id, data, at, end, protocol)
}

// vxlan reads a VXLAN header: flags with the I bit, three reserved bytes, network in 24 bits, a reserved byte.
func (h *Header) vxlan(data []byte, at, end int) {
	if len(data) < at+8 || data[at]&0x08 == 0 {
		return
	}
	h.inner(VXLAN, binary.BigEndian.Uint32(data[at+4:])>>8, data, at+8, end, etherBridged)
}

// geneve reads a Geneve header of version 0: option length in words, flags, protocol, network in 24 bits, options.
func (h *Header) geneve(data []byte, at, end int) {
	if len(data) < at+8 || data[at]>>6 != 0 {
		return
	}
	options := int(data[at]&0x3f) * 4
	h.inner(Geneve, binary.BigEndian.Uint32(data[at+4:])>>8, data, at+8+options, end, binary.BigEndian.Uint16(data[at+2:]))
}
