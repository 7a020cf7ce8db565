package pcap

import "encoding/binary"

// Values of the EtherType field (IANA, IEEE 802 numbers) that are followed.
const (
	etherIPv4     = 0x0800
	etherVLAN     = 0x8100
	etherBridged  = 0x6558 // an Ethernet frame inside of GRE or Geneve
	etherIPv6     = 0x86dd
	etherPPP      = 0x880b
	etherMPLS     = 0x8847
	etherMPLSMany = 0x8848
	etherPPPoE    = 0x8864
	etherQinQ     = 0x88a8
	etherBackbone = 0x88e7 // IEEE 802.1ah: a service tag before an Ethernet frame
	etherFabric   = 0x8903 // Cisco FabricPath: a tag before an Ethernet frame
	etherVNTag    = 0x8926 // port extenders, before IEEE 802.1BR
	etherHSR      = 0x892f // ring redundancy (IEC 62439-3)
	etherETag     = 0x893f // IEEE 802.1BR
	etherNSH      = 0x894f // RFC 8300
	etherQinQOld  = 0x9100
)

// Bounds on how deep headers may be stacked.
const (
	maxTunnels    = 8
	maxTags       = 8
	maxFrames     = 12 // Ethernet headers, and tags and headers that are not counted otherwise
	maxExtensions = 16
)

// Decode fills h from a packet. It never fails: what the packet does not have, or was not captured, stays zero.
//
// The functions below pass the packet's captured bytes, the place in them where a layer begins, and the place where what
// encloses it ends. The end comes from lengths in headers and may lie behind the captured bytes; all access to data is
// checked against what was captured.
func (h *Header) Decode(p *Packet) {
	*h = Header{}
	h.link(p.Data, 0, p.WireLen, p.LinkType)
}

// link reads a packet of a link type; it reports false for one that is not understood.
func (h *Header) link(data []byte, at, end int, t LinkType) bool {
	switch t {
	case LinkEthernet:
		h.ethernet(data, at, end)
	case LinkSLL:
		h.cooked(data, at, 14, 16, end)
	case LinkSLL2:
		h.cooked(data, at, 0, 20, end)
	case LinkNull, LinkLoop:
		h.family(data, at, end)
	case LinkRaw, linkRaw12, linkRaw14, LinkIPv4, LinkIPv6:
		h.ip(data, at, end)
	case LinkPPP, LinkPPPHDLC:
		h.ppp(data, at, end)
	case LinkPPPoE:
		h.pppoe(data, at, end)
	default:
		return h.rareLink(data, at, end, t)
	}
	return true
}

// cut notes that the capture ends inside a header, unless a fault was noted before.
func (h *Header) cut() { h.fault(HeaderCut) }

func (h *Header) fault(f Fault) {
	if h.Fault == NoFault {
		h.Fault = f
	}
}

func (h *Header) ethernet(data []byte, at, end int) {
	if len(data) < at+14 || !h.deeper() {
		return
	}
	h.ether(data, at+14, end, binary.BigEndian.Uint16(data[at+12:]))
}

// deeper counts a header that may hold its like; it reports false when there are too many.
func (h *Header) deeper() bool {
	h.frames++
	if h.frames > maxFrames {
		h.fault(TooDeep)
	}
	return h.frames <= maxFrames
}

// cooked reads a link header of headBytes whose EtherType is at typeAt of it.
func (h *Header) cooked(data []byte, at, typeAt, headBytes, end int) {
	if len(data) >= at+headBytes {
		h.ether(data, at+headBytes, end, binary.BigEndian.Uint16(data[at+typeAt:]))
	}
}

// ether goes on behind an EtherType: through any stack of tags and labels to the network layer.
func (h *Header) ether(data []byte, at, end int, kind uint16) {
	for {
		switch kind {
		case etherIPv4:
			h.ipv4(data, at, end)
			return
		case etherIPv6:
			h.ipv6(data, at, end)
			return
		case etherVLAN, etherQinQ, etherQinQOld:
			if len(data) < at+4 || !h.tag(binary.BigEndian.Uint16(data[at:])) {
				return
			}
			kind = binary.BigEndian.Uint16(data[at+2:])
			at += 4
		case etherETag, etherVNTag, etherHSR: // tags that name no VLAN
			if at += 6; kind == etherETag {
				at += 2
			}
			if len(data) < at || !h.deeper() {
				return
			}
			kind = binary.BigEndian.Uint16(data[at-2:])
		case etherMPLS, etherMPLSMany:
			h.mpls(data, at, end)
			return
		case etherBackbone:
			h.ethernet(data, at+4, end)
			return
		case etherFabric:
			h.ethernet(data, at+2, end)
			return
		case etherNSH:
			h.nsh(data, at, end)
			return
		case etherPPPoE:
			h.pppoe(data, at, end)
			return
		case etherPPP:
			h.ppp(data, at, end)
			return
		case etherBridged:
			h.ethernet(data, at, end)
			return
		default:
			h.llc(data, at, end, kind)
			return
		}
	}
}

// tag notes a VLAN tag's control information; it reports false when there are too many.
func (h *Header) tag(control uint16) bool {
	if h.Tags == maxTags {
		h.fault(TooDeep)
		return false
	}
	if h.Tags == 0 {
		h.VLAN = control & 0x0fff
	}
	h.Tags++
	return true
}

// llc follows IEEE 802.3 frames, whose type field is a length, if their LLC header is SNAP with an EtherType or names IP.
func (h *Header) llc(data []byte, at, end int, length uint16) {
	const snap, onlyIP, longest = "\xaa\xaa\x03\x00\x00\x00", "\x06\x06\x03", 1500
	switch {
	case length > longest || len(data) < at+3:
	case string(data[at:at+3]) == onlyIP:
		h.ipv4(data, at+3, end)
	case len(data) >= at+8 && string(data[at:at+6]) == snap:
		if kind := binary.BigEndian.Uint16(data[at+6:]); kind > longest {
			h.ether(data, at+8, end, kind)
		}
	}
}

// mpls goes past the labels (RFC 3032); what follows is told by its first four bits (RFC 4928): 4 and 6 are IP, 0 is a
// control word (RFC 4385) before an Ethernet frame.
func (h *Header) mpls(data []byte, at, end int) {
	for range maxTags {
		if len(data) < at+5 {
			return
		}
		bottom := data[at+2]&1 != 0
		at += 4
		if !bottom {
			continue
		}
		if data[at]>>4 == 0 {
			h.ethernet(data, at+4, end)
		} else {
			h.ip(data, at, end)
		}
		return
	}
	h.fault(TooDeep)
}

// pppoe goes past a PPPoE session header (RFC 2516): version and type 0x11, code 0, session, length.
func (h *Header) pppoe(data []byte, at, end int) {
	if len(data) < at+8 || data[at] != 0x11 || data[at+1] != 0 {
		return
	}
	if length := int(binary.BigEndian.Uint16(data[at+4:])); length > 0 {
		end = min(end, at+6+length)
	}
	h.ppp(data, at+6, end)
}

// ppp reads a PPP frame (RFC 1661), with or without the address and control bytes of HDLC-like framing (RFC 1662), its
// protocol field in two bytes or, compressed, in one odd one.
func (h *Header) ppp(data []byte, at, end int) {
	if len(data) >= at+2 && data[at] == 0xff && data[at+1] == 0x03 {
		at += 2
	}
	if len(data) < at+2 {
		return
	}
	protocol := uint16(data[at])
	if at++; protocol&1 == 0 {
		protocol = protocol<<8 | uint16(data[at])
		at++
	}
	switch protocol {
	case 0x0021:
		h.ipv4(data, at, end)
	case 0x0057:
		h.ipv6(data, at, end)
	case 0x0281, 0x0283:
		h.mpls(data, at, end)
	}
}

// family reads the address family of NULL (in the byte order of the host that captured) and LOOP (big-endian): 2 is
// IPv4 everywhere; IPv6 is 10 on Linux, 23 on Windows, 24 on NetBSD and OpenBSD, 28 on FreeBSD, 30 on macOS.
func (h *Header) family(data []byte, at, end int) {
	if len(data) < at+4 {
		return
	}
	family := binary.BigEndian.Uint32(data[at:])
	if family > 0xffff {
		family = binary.LittleEndian.Uint32(data[at:])
	}
	switch family {
	case 2:
		h.ipv4(data, at+4, end)
	case 10, 23, 24, 28, 30:
		h.ipv6(data, at+4, end)
	}
}
