package pcap

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

// quotedTCP is an IPv4 packet of 1500 bytes from 192.0.2.1:40000 to 198.51.100.2:443, as far as an ICMP error quotes it.
func quotedTCP() []byte {
	b := make([]byte, 28)
	b[0], b[9] = 0x45, protoTCP
	binary.BigEndian.PutUint16(b[2:], 1500)
	copy(b[12:], []byte{192, 0, 2, 1})
	copy(b[16:], []byte{198, 51, 100, 2})
	binary.BigEndian.PutUint16(b[20:], 40000)
	binary.BigEndian.PutUint16(b[22:], 443)
	binary.BigEndian.PutUint32(b[24:], 12345)
	return b
}

// icmpv4 is an ICMP message in an IPv4 packet from 203.0.113.1.
func icmpv4(kind, code byte, word uint32, body []byte) []byte {
	b := make([]byte, 28, 28+len(body))
	b[0], b[8], b[9] = 0x45, 64, protoICMP
	binary.BigEndian.PutUint16(b[2:], uint16(28+len(body)))
	copy(b[12:], []byte{203, 0, 113, 1})
	b[20], b[21] = kind, code
	binary.BigEndian.PutUint32(b[24:], word)
	return append(b, body...)
}

func quotedV6() []byte {
	b := make([]byte, 48)
	b[0], b[6] = 0x60, protoUDP
	binary.BigEndian.PutUint16(b[4:], 1460)
	b[23], b[39] = 1, 2
	binary.BigEndian.PutUint16(b[40:], 5000)
	binary.BigEndian.PutUint16(b[42:], 53)
	return b
}

func icmpv6(kind, code byte, word uint32, body []byte) []byte {
	b := make([]byte, 48, 48+len(body))
	b[0], b[6] = 0x60, protoICMPv6
	binary.BigEndian.PutUint16(b[4:], uint16(8+len(body)))
	b[40], b[41] = kind, code
	binary.BigEndian.PutUint32(b[44:], word)
	return append(b, body...)
}

func TestQuoted(t *testing.T) {
	four := Quoted{Transport: TCP, Src: netip.MustParseAddrPort("192.0.2.1:40000"), Dst: netip.MustParseAddrPort("198.51.100.2:443"), IPLen: 1500, Seq: 12345}
	six := Quoted{Transport: UDP, Src: netip.MustParseAddrPort("[::1]:5000"), Dst: netip.MustParseAddrPort("[::2]:53"), IPLen: 1500}
	with := func(q Quoted, kind string, mtu int) Quoted {
		q.Kind, q.MTU = kind, mtu
		return q
	}
	for name, c := range map[string]struct {
		data []byte
		want Quoted
		ok   bool
	}{
		"needs fragmentation":    {icmpv4(3, 4, 1400, quotedTCP()), with(four, "packet-too-big", 1400), true},
		"before RFC 1191":        {icmpv4(3, 4, 0, quotedTCP()), with(four, "packet-too-big", 0), true},
		"unused bits are no MTU": {icmpv4(3, 4, 0xffff0578, quotedTCP()), with(four, "packet-too-big", 1400), true},
		"port":                   {icmpv4(3, 3, 0, quotedTCP()), with(four, "port-unreachable", 0), true},
		"filter":                 {icmpv4(3, 13, 0, quotedTCP()), with(four, "prohibited", 0), true},
		"net":                    {icmpv4(3, 0, 0, quotedTCP()), with(four, "net-unreachable", 0), true},
		"host":                   {icmpv4(3, 1, 0, quotedTCP()), with(four, "host-unreachable", 0), true},
		"hops":                   {icmpv4(11, 0, 0, quotedTCP()), with(four, "hops-exceeded", 0), true},
		"fragments":              {icmpv4(11, 1, 0, quotedTCP()), with(four, "fragment-missing", 0), true},
		"quench":                 {icmpv4(4, 0, 0, quotedTCP()), with(four, "source-quench", 0), true},
		"redirect":               {icmpv4(5, 1, 0, quotedTCP()), with(four, "redirect", 0), true},
		"echo":                   {icmpv4(8, 0, 0, quotedTCP()), Quoted{}, false},
		"nothing quoted":         {icmpv4(3, 3, 0, nil), with(Quoted{}, "port-unreachable", 0), false},
		"cut in the header":      {icmpv4(3, 3, 0, quotedTCP()[:19]), with(Quoted{}, "port-unreachable", 0), false},
		"too big":                {icmpv6(2, 0, 1280, quotedV6()), with(six, "packet-too-big", 1280), true},
		"port, IPv6":             {icmpv6(1, 4, 0, quotedV6()), with(six, "port-unreachable", 0), true},
		"hops, IPv6":             {icmpv6(3, 0, 0, quotedV6()), with(six, "hops-exceeded", 0), true},
		"neighbour":              {icmpv6(135, 0, 0, quotedV6()), Quoted{}, false},
	} {
		p := Packet{Data: c.data, CapLen: len(c.data), WireLen: len(c.data), LinkType: LinkRaw}
		var h Header
		h.Decode(&p)
		if q, ok := h.Quoted(&p); q != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %v; want %+v", name, q, ok, c.want)
		}
	}
}
