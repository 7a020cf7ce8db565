package pcap

import "encoding/binary"

// transport reads what an IP packet carries, from at to end.
func (h *Header) transport(data []byte, at, end int, protocol uint8) {
	switch protocol {
	case protoTCP:
		h.tcp(data, at, end)
	case protoUDP:
		h.udp(data, at, end)
	case protoICMP, protoICMPv6:
		h.icmp(data, at, end)
	case protoIPv4, protoIPv6:
		h.Transport = OtherTransport
		h.inner(IPinIP, h.ends(), data, at, end, [...]uint16{etherIPv4, etherIPv6}[protocol>>5&1])
	case protoGRE:
		h.Transport = OtherTransport
		h.gre(data, at, end)
	default:
		h.Transport = OtherTransport
	}
}

func (h *Header) icmp(data []byte, at, end int) {
	if len(data) < at+2 {
		h.cut()
		return
	}
	h.Transport = ICMP
	h.ICMPType, h.ICMPCode = data[at], data[at+1]
	h.PayloadAt, h.Payload = at+8, max(end-at-8, 0)
}

func (h *Header) udp(data []byte, at, end int) {
	if len(data) < at+8 {
		h.cut()
		return
	}
	b := data[at : at+8 : at+8]
	length := int(binary.BigEndian.Uint16(b[4:]))
	if length != 0 && length < 8 || end-at < 8 {
		h.fault(BadHeader)
		return
	}
	if length != 0 && at+length < end && !h.LengthZero { // a datagram that is larger than its field says nothing by it
		end = at + length
	}
	h.Transport = UDP
	h.SrcPort, h.DstPort = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	h.Checksum = binary.BigEndian.Uint16(b[6:])
	h.PayloadAt, h.Payload = at+8, end-at-8
	if !h.tunnelled(h.DstPort, data, at+8, end) {
		h.tunnelled(h.SrcPort, data, at+8, end)
	}
}

func (h *Header) tcp(data []byte, at, end int) {
	if len(data) < at+20 {
		h.cut()
		return
	}
	b := data[at : at+20 : at+20]
	head := int(b[12]>>4) * 4
	if head < 20 || end-at < head {
		h.fault(BadHeader)
		return
	}
	h.Transport = TCP
	h.SrcPort, h.DstPort = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	h.Seq, h.Ack = binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	h.Flags = b[13]
	h.Window, h.Checksum = binary.BigEndian.Uint16(b[14:]), binary.BigEndian.Uint16(b[16:])
	h.PayloadAt, h.Payload = at+head, end-at-head
	h.Options.Length = uint8(head - 20)
	if head > 20 {
		h.Options.decode(data[at+20 : min(at+head, len(data))])
		h.Options.Cut = h.Options.Cut || at+head > len(data)
	}
}

// Kinds of TCP options (IANA, TCP parameters).
const (
	optionEnd        = 0
	optionNop        = 1
	optionMSS        = 2
	optionScale      = 3
	optionSACKOK     = 4
	optionSACK       = 5
	optionTimestamp  = 8
	optionMPTCP      = 30
	optionFastOpen   = 34
	optionTest1      = 253 // experiments with a 16-bit identifier (RFC 6994)
	optionTest2      = 254
	experimentalOpen = 0xf989 // Fast Open before RFC 7413
)

// decode reads the options that were captured.
func (o *TCPOptions) decode(b []byte) {
	const timestampAlone = 0x0101080a // as nearly every stack writes it: NOP, NOP, timestamp
	if len(b) == 12 && binary.BigEndian.Uint32(b) == timestampAlone {
		o.timestamp(b[4:])
		return
	}
	for len(b) > 0 && b[0] != optionEnd {
		size := optionSize(b)
		switch size {
		case 0:
			o.Cut = true
			return
		case 1:
		default:
			o.option(b[0], b[2:size])
		}
		b = b[size:]
	}
}

// optionSize returns how many bytes the first of some options takes, 0 if it does not fit.
func optionSize(b []byte) int {
	switch {
	case b[0] == optionNop:
		return 1
	case len(b) < 2 || b[1] < 2 || int(b[1]) > len(b):
		return 0
	}
	return int(b[1])
}

func (o *TCPOptions) timestamp(b []byte) {
	o.HasTimestamp = true
	o.TSVal, o.TSEcr = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
}

// option reads one option's value; one of the wrong length is passed over.
func (o *TCPOptions) option(kind uint8, value []byte) {
	switch {
	case kind == optionTimestamp && len(value) == 8:
		o.timestamp(value)
	case kind == optionSACK && len(value)%8 == 0:
		for ; len(value) > 0 && int(o.SACKs) < len(o.SACK); value = value[8:] {
			o.SACK[o.SACKs] = [2]uint32{binary.BigEndian.Uint32(value), binary.BigEndian.Uint32(value[4:])}
			o.SACKs++
		}
	case kind == optionMSS && len(value) == 2:
		o.HasMSS, o.MSS = true, binary.BigEndian.Uint16(value)
	case kind == optionScale && len(value) == 1:
		o.HasScale, o.Scale = true, value[0]
	case kind == optionSACKOK && len(value) == 0:
		o.SACKOK = true
	case kind == optionMPTCP:
		o.MPTCP = true
	case kind == optionFastOpen:
		o.FastOpen = true
	case kind == optionTest1 || kind == optionTest2:
		o.FastOpen = o.FastOpen || len(value) >= 2 && binary.BigEndian.Uint16(value) == experimentalOpen
	}
}
