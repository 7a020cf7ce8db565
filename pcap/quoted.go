package pcap

import (
	"encoding/binary"
	"net/netip"
)

// ICMP types and codes that are about a packet, which they quote (RFC 792, RFC 1191, RFC 4443).
const (
	icmpUnreachable   = 3
	icmpSourceQuench  = 4
	icmpRedirect      = 5
	icmpTimeExceeded  = 11
	icmpParameter     = 12
	icmpNeedsFragment = 4 // a code of unreachable
	icmp6Unreachable  = 1
	icmp6TooBig       = 2
	icmp6TimeExceeded = 3
	icmp6Parameter    = 4
)

// Quoted is the packet that an ICMP error is about, as far as the error quotes it: its IP header and the first 8 bytes
// behind it at least (RFC 792; RFC 1812 section 4.3.2.3 asks for more).
type Quoted struct {
	Kind      string // "packet-too-big", "port-unreachable", ...
	Transport Transport
	Src, Dst  netip.AddrPort // ports are 0 where the transport has none or they are not quoted
	IPLen     int            // of the whole packet, by its header
	Seq       uint32         // valid iff Transport is TCP
	MTU       int            // of the next hop, 0 unless Kind is packet-too-big (and in errors of routers before RFC 1191)
}

// Quoted returns what an ICMP error quotes. h is the decoded header of p; ok is false for other packets.
func (h *Header) Quoted(p *Packet) (q Quoted, ok bool) {
	if h.Transport != ICMP || h.Fragment {
		return q, false
	}
	if q.Kind = icmpKind(h); q.Kind == "" || h.PayloadAt > len(p.Data) {
		return q, false
	}
	if q.Kind == tooBig {
		q.MTU = h.nextHopMTU(p.Data)
	}
	return q, q.read(p.Data[h.PayloadAt:])
}

const tooBig = "packet-too-big"

// icmpKind names the errors, "" for what is none.
func icmpKind(h *Header) string {
	if h.Network == IPv6 {
		return icmp6Kind(h.ICMPType, h.ICMPCode)
	}
	switch h.ICMPType {
	case icmpUnreachable:
		switch h.ICMPCode {
		case 0, 6, 11:
			return "net-unreachable"
		case 3:
			return "port-unreachable"
		case icmpNeedsFragment:
			return tooBig
		case 9, 10, 13:
			return "prohibited"
		}
		return "host-unreachable"
	case icmpSourceQuench:
		return "source-quench"
	case icmpTimeExceeded:
		return timeExceeded(h.ICMPCode)
	case icmpRedirect:
		return "redirect"
	case icmpParameter:
		return "bad-header"
	}
	return ""
}

func icmp6Kind(kind, code uint8) string {
	switch kind {
	case icmp6Unreachable:
		return [...]string{"net-unreachable", "prohibited", "host-unreachable", "host-unreachable", "port-unreachable", "prohibited", "net-unreachable"}[min(code, 6)]
	case icmp6TooBig:
		return tooBig
	case icmp6TimeExceeded:
		return timeExceeded(code)
	case icmp6Parameter:
		return "bad-header"
	}
	return ""
}

func timeExceeded(code uint8) string {
	if code == 1 {
		return "fragment-missing"
	}
	return "hops-exceeded"
}

// nextHopMTU reads the MTU: the last 2 of the 4 bytes behind the checksum (RFC 1191), or all 4 (RFC 4443).
func (h *Header) nextHopMTU(data []byte) int {
	if h.PayloadAt < 4 || h.PayloadAt > len(data) {
		return 0
	}
	mtu := binary.BigEndian.Uint32(data[h.PayloadAt-4:])
	if h.Network == IPv4 {
		mtu &= 0xffff
	}
	return int(min(mtu, 1<<30))
}

// read takes the addresses and ports out of the quoted bytes.
func (q *Quoted) read(b []byte) bool {
	var in Header
	protocol, at := uint8(0), 0
	switch {
	case len(b) >= 20 && b[0]>>4 == 4 && b[0]&15 >= 5:
		in.Network, protocol, at = IPv4, b[9], int(b[0]&15)*4
		*(*[4]byte)(in.Src[:]) = [4]byte(b[12:])
		*(*[4]byte)(in.Dst[:]) = [4]byte(b[16:])
		q.IPLen = int(binary.BigEndian.Uint16(b[2:]))
	case len(b) >= 40 && b[0]>>4 == 6:
		in.Network, protocol, at = IPv6, b[6], 40
		in.Src, in.Dst = [16]byte(b[8:]), [16]byte(b[24:])
		q.IPLen = int(binary.BigEndian.Uint16(b[4:])) + 40
	default:
		return false
	}
	switch protocol {
	case protoTCP:
		q.Transport = TCP
	case protoUDP:
		q.Transport = UDP
	default:
		q.Transport = OtherTransport
	}
	if q.Transport != OtherTransport && len(b) >= at+4 {
		in.SrcPort, in.DstPort = binary.BigEndian.Uint16(b[at:]), binary.BigEndian.Uint16(b[at+2:])
	}
	if q.Transport == TCP && len(b) >= at+8 {
		q.Seq = binary.BigEndian.Uint32(b[at+4:])
	}
	q.Src, q.Dst = in.Source(), in.Destination()
	return true
}
