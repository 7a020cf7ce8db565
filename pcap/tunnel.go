package pcap

import "encoding/binary"

const (
	portVXLAN    = 4789 // RFC 7348
	portVXLANOld = 8472 // Linux before the port was assigned
	portVXLANGPE = 4790 // draft-ietf-nvo3-vxlan-gpe
	portGeneve   = 6081 // RFC 8926
	portGTP      = 2152 // 3GPP TS 29.281
	portL2TP     = 1701 // RFC 2661
	portTeredo   = 3544 // RFC 4380
	portMPLS     = 6635 // RFC 7510
)

// tunnelled reads what a datagram from or to a port of tunnels carries, from at to end; it reports false where the port is none.
func (h *Header) tunnelled(port uint16, data []byte, at, end int) bool {
	switch port {
	case portVXLAN, portVXLANOld:
		h.vxlan(data, at, end)
	case portVXLANGPE:
		h.vxlanGPE(data, at, end)
	case portGeneve:
		h.geneve(data, at, end)
	case portGTP:
		h.gtp(data, at, end)
	case portL2TP:
		h.l2tp(data, at, end)
	case portTeredo:
		h.teredo(data, at, end)
	case portMPLS:
		h.inner(MPLSinUDP, h.ends(), data, at, end, etherMPLS)
	default:
		return false
	}
	return true
}

// inner goes on with the packet in a tunnel, if there is an IP packet in it; otherwise h stays what the outer one gave.
// id is what tells tunnels of a kind apart, the same in both directions.
func (h *Header) inner(kind TunnelKind, id uint32, data []byte, at, end int, etherType uint16) {
	if h.Tunnels == maxTunnels {
		h.fault(TooDeep)
		return
	}
	in := Header{
		Fault: h.Fault, VLAN: h.VLAN, Tags: h.Tags, frames: h.frames, inPart: h.inPart || h.FirstFrag,
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
// where their flags are set; or of version 1 (RFC 2637, PPTP), whose key is another in each direction and which may have
// the number that it acknowledges.
func (h *Header) gre(data []byte, at, end int) {
	if len(data) < at+4 {
		h.cut()
		return
	}
	const (
		hasChecksum, hasKey, hasSequence, hasAck = 0x8000, 0x2000, 0x1000, 0x0080
		routingOrVersion, pptp                   = 0x4007, 1
	)
	flags, protocol := binary.BigEndian.Uint16(data[at:]), binary.BigEndian.Uint16(data[at+2:])
	version := flags & routingOrVersion
	if version > pptp || version == pptp && protocol != etherPPP {
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
		if version != pptp {
			id = mix(id, binary.BigEndian.Uint32(data[at:]))
		}
		at += 4
	}
	if flags&hasSequence != 0 {
		at += 4
	}
	if version == pptp && flags&hasAck != 0 {
		at += 4
	}
	if protocol == mirrorERSPAN || protocol == mirrorERSPAN3 {
		h.erspan(id, data, at, end, protocol, flags&hasSequence != 0)
		return
	}
	h.inner(GRE, id, data, at, end, protocol)
}

// Protocols of GRE that hold frames which a switch mirrored (draft-foschiano-erspan).
const (
	mirrorERSPAN  = 0x88be
	mirrorERSPAN3 = 0x22eb
)

// erspan goes past the header of a mirrored frame: none in type I, which has no sequence number; 8 bytes in type II; 12 in
// type III, and 8 more if the last bit says so. What is mirrored goes one way, whichever way the frame went.
func (h *Header) erspan(id uint32, data []byte, at, end int, protocol uint16, numbered bool) {
	switch {
	case protocol == mirrorERSPAN3:
		if at += 12; len(data) >= at && data[at-1]&1 != 0 {
			at += 8
		}
	case numbered:
		at += 8
	}
	h.inner(GRE, id, data, at, end, etherBridged)
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

// nextProtocol is the EtherType of what VXLAN-GPE and NSH number in their own way, 0 for what is not followed.
func nextProtocol(number byte) uint16 {
	protocols := [...]uint16{1: etherIPv4, 2: etherIPv6, 3: etherBridged, 4: etherNSH, 5: etherMPLS}
	if int(number) < len(protocols) {
		return protocols[number]
	}
	return 0
}

// vxlanGPE reads a VXLAN header whose P bit says that its fourth byte tells what follows.
func (h *Header) vxlanGPE(data []byte, at, end int) {
	const hasProtocol = 0x04
	if len(data) < at+8 || data[at]&hasProtocol == 0 {
		h.vxlan(data, at, end)
		return
	}
	h.inner(VXLAN, binary.BigEndian.Uint32(data[at+4:])>>8, data, at+8, end, nextProtocol(data[at+3]))
}

// nsh goes past a network service header (RFC 8300): its length in words, kind of metadata, what follows, the path.
func (h *Header) nsh(data []byte, at, end int) {
	if len(data) < at+8 || !h.deeper() {
		return
	}
	h.ether(data, at+int(data[at+1]&0x3f)*4, end, nextProtocol(data[at+3]))
}

// gtp reads a packet of a subscriber (message 255) behind a header of version 1: flags, message, length, tunnel; if one
// of the last three flags is set, 4 more bytes, of which the last is the kind of an extension header; those have their
// length in words and, last, the next kind. Tunnels have another number in each direction: their ends tell them apart.
func (h *Header) gtp(data []byte, at, end int) {
	const version1, versionMask, extension, optional, message = 0x30, 0xf0, 0x04, 0x07, 255
	if len(data) < at+12 || data[at]&versionMask != version1 || data[at+1] != message {
		return
	}
	flags := data[at]
	if at += 8; flags&optional != 0 {
		at += 4
	}
	if flags&extension != 0 {
		for data[at-1] != 0 {
			if len(data) <= at || data[at] == 0 {
				return
			}
			if at += int(data[at]) * 4; len(data) < at {
				return
			}
		}
	}
	h.inner(GTP, h.ends(), data, at, end, versionOf(data, at))
}

// versionOf is the EtherType of the IP packet at at, 0 if there is none.
func versionOf(data []byte, at int) uint16 {
	if len(data) <= at {
		return 0
	}
	switch data[at] >> 4 {
	case 4:
		return etherIPv4
	case 6:
		return etherIPv6
	}
	return 0
}

// l2tp reads a data message of version 2 (RFC 2661 section 3.1): flags, a length, tunnel and session, which are others in
// each direction, sequence numbers and an offset, where their flags are set; then PPP.
func (h *Header) l2tp(data []byte, at, end int) {
	const control, hasLength, hasSequence, hasOffset, version, version2 = 0x8000, 0x4000, 0x0800, 0x0200, 0x000f, 2
	if len(data) < at+6 {
		return
	}
	flags := binary.BigEndian.Uint16(data[at:])
	if flags&control != 0 || flags&version != version2 {
		return
	}
	at += 6
	if flags&hasLength != 0 {
		at += 2
	}
	if flags&hasSequence != 0 {
		at += 4
	}
	if flags&hasOffset != 0 {
		if len(data) < at+2 {
			return
		}
		at += 2 + int(binary.BigEndian.Uint16(data[at:]))
	}
	h.inner(L2TP, h.ends(), data, at, end, etherPPP)
}

// teredo reads an IPv6 packet, behind what may come before it: authentication (0x0001, with the lengths of two values)
// and origin (0x0000).
func (h *Header) teredo(data []byte, at, end int) {
	if len(data) >= at+13 && data[at] == 0 && data[at+1] == 1 {
		at += 13 + int(data[at+2]) + int(data[at+3])
	}
	if len(data) >= at+8 && data[at] == 0 && data[at+1] == 0 {
		at += 8
	}
	if versionOf(data, at) == etherIPv6 {
		h.inner(Teredo, h.ends(), data, at, end, etherIPv6)
	}
}
