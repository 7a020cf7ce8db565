package pcap

import "encoding/binary"

// rareLink reads a packet of a link type that few captures have; it reports false for one that is not understood.
// Sources: the descriptions at https://www.tcpdump.org/linktypes.html.
func (h *Header) rareLink(data []byte, at, end int, t LinkType) bool {
	const (
		ieee802, withRouting = 13, 0x80 // bytes before LLC: a control byte and two addresses; a bit of the source's
		frameCheck           = 4
	)
	switch t {
	case LinkCHDLC: // address, control, EtherType
		h.cooked(data, at, 2, 4, end)
	case linkFDDI:
		h.llc(data, at+ieee802, end, 0)
	case linkTokenRing:
		if at += ieee802 + 1; len(data) > at && data[at-6]&withRouting != 0 {
			at += int(data[at] & 31)
		}
		h.llc(data, at, end, 0)
	case linkATM:
		h.llc(data, at, end, 0)
	case linkSunATM: // kind, path, channel
		h.llc(data, at+4, end, 0)
	case linkSLIP: // direction, kind, compressed header
		h.ip(data, at+16, end)
	case linkFrameRelay:
		h.frameRelay(data, at, end)
	case linkEnc: // family, index of the security association, flags
		h.ip(data, at+12, end)
	case linkPFLog: // begins with its length, without the padding to words
		if len(data) > at {
			h.ip(data, at+padded(int(data[at])), end)
		}
	case linkPPPD, linkPPPWithDir: // direction; PPPD has it in place of the address
		if at++; t == linkPPPD {
			at++
		}
		h.ppp(data, at, end)
	case linkFireWire: // two addresses of 8 bytes, EtherType
		h.cooked(data, at, 16, 18, end)
	case linkIPoIB: // routing header of 40 bytes, EtherType, 2 bytes reserved
		h.cooked(data, at, 40, 44, end)
	case linkNetana:
		h.ethernet(data, at+4, end-frameCheck)
	case linkBroadcom, linkMarvell: // a switch's tag of 4 bytes between addresses and EtherType
		h.cooked(data, at, 16, 18, end)
	case linkMarvellEth:
		h.cooked(data, at, 20, 22, end)
	case linkBroadcomAt:
		h.ethernet(data, at+4, end)
	case linkNFLog:
		h.nflog(data, at, end)
	case linkPKTAP:
		h.enclosed(data, at, end, 0, 8)
	case linkPPI:
		h.enclosed(data, at, end, 2, 4)
	case linkDot11:
		h.dot11(data, at, end, false)
	case linkRadiotap:
		h.radiotap(data, at, end)
	case linkPrism, linkAVS:
		h.prism(data, at, end)
	default:
		return false
	}
	return true
}

// enclosed goes past a header that has its own length (16 bits of it count) and the link type of what follows, both in
// little-endian order: that of PPI, and of every host that writes PKTAP.
func (h *Header) enclosed(data []byte, at, end, lengthAt, typeAt int) {
	if len(data) < at+typeAt+4 || !h.deeper() {
		return
	}
	length, t := binary.LittleEndian.Uint16(data[at+lengthAt:]), binary.LittleEndian.Uint32(data[at+typeAt:])
	if int(length) >= typeAt+4 && t <= 0xffff {
		h.link(data, at+int(length), end, LinkType(t))
	}
}

// frameRelay goes past the address (ITU-T Q.922: its last byte is odd) to what RFC 2427 says of the network layer:
// control 3, any padding, then a protocol identifier; or, as Cisco has it, an EtherType.
func (h *Header) frameRelay(data []byte, at, end int) {
	const longest, identifierSNAP, identifierIPv4, identifierIPv6 = 4, 0x80, 0xcc, 0x8e
	for from := at; ; at++ {
		if len(data) <= at+4 || at == from+longest {
			return
		}
		if data[at]&1 != 0 {
			break
		}
	}
	at++
	if data[at] != 3 {
		h.ether(data, at+2, end, binary.BigEndian.Uint16(data[at:]))
		return
	}
	if at++; data[at] == 0 {
		at++
	}
	switch data[at] {
	case identifierIPv4:
		h.ipv4(data, at+1, end)
	case identifierIPv6:
		h.ipv6(data, at+1, end)
	case identifierSNAP:
		if at++; len(data) >= at+5 && string(data[at:at+3]) == "\x00\x00\x00" {
			h.ether(data, at+5, end, binary.BigEndian.Uint16(data[at+3:]))
		}
	}
}

// nflog looks for the payload among the attributes of a packet that the Linux firewall logged: behind family, version and
// group (4 bytes) come length and type in the order of the host, value, and padding to words (linux/netfilter/nfnetlink_log.h:
// NFULA_PAYLOAD is 9).
func (h *Header) nflog(data []byte, at, end int) {
	const payload = 9
	for at += 4; len(data) >= at+4; {
		order := byteOrder(data[at] == 0 && data[at+1] >= 4) // big-endian: no attribute but the payload has 256 bytes
		length, kind := int(order.u16(data[at:])), order.u16(data[at+2:])
		switch {
		case length < 4:
			return
		case kind == payload:
			h.ip(data, at+4, end)
			return
		}
		at += padded(length)
	}
}
