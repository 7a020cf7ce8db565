package pcap

import "encoding/binary"

// IP protocol numbers that are followed.
const (
	protoHopByHop = 0
	protoICMP     = 1
	protoIPv4     = 4
	protoTCP      = 6
	protoUDP      = 17
	protoIPv6     = 41
	protoRouting  = 43
	protoFragment = 44
	protoGRE      = 47
	protoAH       = 51
	protoICMPv6   = 58
	protoNone     = 59
	protoDest     = 60
	protoMobility = 135
	protoHIP      = 139
	protoShim6    = 140
)

// ip reads the IP packet of either version that begins at at.
func (h *Header) ip(data []byte, at, end int) {
	if len(data) <= at {
		return
	}
	switch data[at] >> 4 {
	case 4:
		h.ipv4(data, at, end)
	case 6:
		h.ipv6(data, at, end)
	}
}

// bound settles where an IP packet ends whose header says length bytes from at on, at least least of them headers.
func (h *Header) bound(at, end, length, least int) int {
	switch {
	case length == 0:
		h.LengthZero = true
	case length < least:
		h.fault(LengthBelow)
		h.LengthZero = true
	case at+length > end && h.inPart: // the rest is in the fragments that follow
		end = at + length
	case at+length > end:
		h.fault(LengthAbove)
	default:
		end = at + length
	}
	h.IPLen = max(end-at, 0)
	return end
}

// leastTransport is the least that a packet of a transport protocol has; an IP length below it is not the packet's (a
// segmentation offload has left something else there).
func leastTransport(protocol uint8) int {
	switch protocol {
	case protoTCP:
		return 20
	case protoUDP:
		return 8
	}
	return 0
}

func (h *Header) ipv4(data []byte, at, end int) {
	if len(data) < at+20 {
		h.cut()
		return
	}
	b := data[at : at+20 : at+20]
	head := int(b[0]&15) * 4
	if b[0]>>4 != 4 || head < 20 {
		h.fault(BadHeader)
		return
	}
	h.Network, h.NetworkAt = IPv4, at
	h.ECN, h.TTL = b[1]&3, b[8]
	h.ID, h.HasID = binary.BigEndian.Uint16(b[4:]), true
	*(*[4]byte)(h.Src[:]) = [4]byte(b[12:])
	*(*[4]byte)(h.Dst[:]) = [4]byte(b[16:])
	protocol := b[9]
	part := binary.BigEndian.Uint16(b[6:])
	h.Fragment, h.FirstFrag = part&0x3fff != 0, part&0x3fff == 0x2000
	length := int(binary.BigEndian.Uint16(b[2:]))
	least := head
	if !h.Fragment {
		least += leastTransport(protocol)
	}
	if length == 0 && !offloaded(protocol) {
		h.fault(LengthMissing)
		h.IPLen = max(end-at, 0)
		return
	}
	end = h.bound(at, end, length, least)
	if h.Fragment && !h.FirstFrag {
		return
	}
	if protocol == protoAH {
		h.extensions(data, at+head, end, protocol)
		return
	}
	h.transport(data, at+head, end, protocol)
}

// offloaded reports whether segmentation offload leaves packets of a protocol without a length: TCP, UDP, and tunnels
// that carry them.
func offloaded(protocol uint8) bool {
	switch protocol {
	case protoTCP, protoUDP, protoIPv4, protoIPv6, protoGRE:
		return true
	}
	return false
}

func (h *Header) ipv6(data []byte, at, end int) {
	if len(data) < at+40 {
		h.cut()
		return
	}
	b := data[at : at+40 : at+40]
	if b[0]>>4 != 6 {
		h.fault(BadHeader)
		return
	}
	h.Network, h.NetworkAt = IPv6, at
	h.ECN, h.TTL = b[1]>>4&3, b[7]
	h.Src, h.Dst = [16]byte(b[8:]), [16]byte(b[24:])
	length, next := int(binary.BigEndian.Uint16(b[4:])), b[6]
	if length == 0 && next == protoHopByHop {
		length = jumbo(data, at+40)
	}
	if length > 0 || next == protoNone {
		length += 40
	}
	end = h.bound(at, end, length, 40+leastTransport(next))
	h.extensions(data, at+40, end, next)
}

// jumbo returns the payload length of the jumbo option (RFC 2675: type 0xc2, 4 bytes) in a hop-by-hop header, 0 without one.
func jumbo(data []byte, at int) int {
	if len(data) < at+8 {
		return 0
	}
	options := data[at+2 : min(at+8+int(data[at+1])*8, len(data))]
	for len(options) >= 2 {
		size := 2 + int(options[1])
		if options[0] == 0 { // Pad1
			size = 1
		}
		if size > len(options) {
			return 0
		}
		if options[0] == 0xc2 && size == 6 {
			return int(binary.BigEndian.Uint32(options[2:]) & 0x7fffffff)
		}
		options = options[size:]
	}
	return 0
}

// extensions goes past IPv6 extension headers (RFC 8200 section 4) and authentication headers (RFC 4302) to the transport.
func (h *Header) extensions(data []byte, at, end int, next uint8) {
	for range maxExtensions {
		if !isExtension(next) {
			h.transport(data, at, end, next)
			return
		}
		if len(data) < at+8 {
			h.cut()
			return
		}
		size := 8
		switch next {
		case protoFragment:
			part := binary.BigEndian.Uint16(data[at+2:]) &^ 6
			h.Fragment, h.FirstFrag = part != 0, part == 1
			if h.Fragment && !h.FirstFrag {
				return
			}
		case protoAH: // its length counts words of 4 bytes less 2
			size = int(data[at+1])*4 + 8
		default:
			size = int(data[at+1])*8 + 8
		}
		next = data[at]
		at += size
	}
	h.fault(TooDeep)
}

func isExtension(protocol uint8) bool {
	switch protocol {
	case protoHopByHop, protoRouting, protoFragment, protoAH, protoDest, protoMobility, protoHIP, protoShim6:
		return true
	}
	return false
}
