package pcap

import (
	"encoding/binary"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/source"
)

// The functions below build packets from the inside out, as bytes.

func cat(parts ...string) string { return strings.Join(parts, "") }

func be16(v int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(v))) }
func be32(v int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(v))) }

const (
	ether  = "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01"
	four1  = "\xc0\x00\x02\x01"
	four2  = "\xc6\x33\x64\x02"
	six1   = "\x20\x01\x0d\xb8\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"
	six2   = "\x20\x01\x0d\xb8\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02"
	ports  = "\x9c\x40\x13\x89" // 40000 and 5001
	noOpts = "\x50"
)

func tcpOf(offset, options, payload string) string {
	return cat(ports, be32(1000), be32(2000), offset, "\x18", be16(502), be16(0xbeef), be16(0), options, payload)
}

func udpOf(dst, length int, payload string) string {
	return cat("\x9c\x40", be16(dst), be16(length), be16(0), payload)
}

// ip4 builds an IPv4 packet; a length of -1 stands for the true one.
func ip4(protocol byte, length, fragment int, payload string) string {
	if length < 0 {
		length = 20 + len(payload)
	}
	return cat("\x45\x02", be16(length), be16(77), be16(fragment), "\x40", string([]byte{protocol}), be16(0), four1, four2, payload)
}

func ip6(next byte, length int, payload string) string {
	if length < 0 {
		length = len(payload)
	}
	return cat("\x60\x20\x00\x00", be16(length), string([]byte{next}), "\x40", six1, six2, payload)
}

// snap is an LLC and SNAP header.
func snap(kind int) string { return cat("\xaa\xaa\x03\x00\x00\x00", be16(kind)) }

func decodeAs(link LinkType, data string, wire int) Header {
	var h Header
	h.Decode(&Packet{LinkType: link, Data: []byte(data), CapLen: len(data), WireLen: max(wire, len(data))})
	return h
}

// TestDecode decodes packets that hold one TCP segment of 40000 > 5001 with 7 bytes of payload, each in its own way.
func TestDecode(t *testing.T) {
	segment := tcpOf(noOpts, "", "payload")
	over4, over6 := ip4(6, -1, 0, segment), ip6(6, -1, segment)
	frame := cat(ether, be16(0x0800), over4)
	for _, c := range []struct {
		name   string
		link   LinkType
		data   string
		v6     bool
		kind   TunnelKind
		vlan   uint16
		tags   uint8
		length bool // LengthZero
		fault  Fault
	}{
		{name: "Ethernet", link: LinkEthernet, data: frame},
		{name: "Ethernet, IPv6", link: LinkEthernet, data: cat(ether, be16(0x86dd), over6), v6: true},
		{name: "padded to 60 bytes behind the IP length", link: LinkEthernet, data: cat(frame, strings.Repeat("\x00", 9))},
		{name: "802.1Q", link: LinkEthernet, data: cat(ether, be16(0x8100), be16(0xa005), be16(0x0800), over4), vlan: 5, tags: 1},
		{name: "three tags", link: LinkEthernet, data: cat(ether, be16(0x88a8), be16(7), be16(0x9100), be16(8), be16(0x8100), be16(9), be16(0x86dd), over6), v6: true, vlan: 7, tags: 3},
		{name: "LLC and SNAP", link: LinkEthernet, data: cat(ether, be16(len(over4)+8), "\xaa\xaa\x03\x00\x00\x00", be16(0x0800), over4)},
		{name: "MPLS, two labels", link: LinkEthernet, data: cat(ether, be16(0x8847), be32(100<<12|64), be32(200<<12|0x100|63), over6), v6: true},
		{name: "MPLS pseudowire with a control word", link: LinkEthernet, data: cat(ether, be16(0x8847), be32(100<<12|0x100), be32(0), frame)},
		{name: "PPPoE", link: LinkEthernet, data: cat(ether, be16(0x8864), "\x11\x00\x00\x01", be16(len(over4)+2), "\x00\x21", over4)},
		{name: "PPPoE as link type", link: LinkPPPoE, data: cat("\x11\x00\x00\x01", be16(len(over6)+2), "\x00\x57", over6), v6: true},
		{name: "PPP", link: LinkPPP, data: cat("\x00\x21", over4)},
		{name: "PPP, compressed protocol field", link: LinkPPP, data: cat("\x21", over4)},
		{name: "PPP in HDLC-like framing", link: LinkPPPHDLC, data: cat("\xff\x03\x00\x57", over6), v6: true},
		{name: "Cisco HDLC", link: LinkCHDLC, data: cat("\x0f\x00", be16(0x0800), over4)},
		{name: "SLL", link: LinkSLL, data: cat("\x00\x00\x00\x01\x00\x06\x02\x00\x00\x00\x00\x01\x00\x00", be16(0x0800), over4)},
		{name: "SLL2 and a tag", link: LinkSLL2, data: cat(be16(0x8100), "\x00\x00\x00\x00\x00\x02\x00\x01\x00\x06\x02\x00\x00\x00\x00\x01\x00\x00", be16(12), be16(0x0800), over4), vlan: 12, tags: 1},
		{name: "NULL, little-endian", link: LinkNull, data: cat("\x02\x00\x00\x00", over4)},
		{name: "NULL, big-endian, macOS", link: LinkNull, data: cat("\x00\x00\x00\x1e", over6), v6: true},
		{name: "LOOP, OpenBSD", link: LinkLoop, data: cat("\x00\x00\x00\x18", over6), v6: true},
		{name: "802.3 with IP in LLC", link: LinkEthernet, data: cat(ether, be16(len(over4)+3), "\x06\x06\x03", over4)},
		{name: "SNAP and a tag", link: LinkEthernet, data: cat(ether, be16(len(over4)+12), snap(0x8100), be16(12), be16(0x0800), over4), vlan: 12, tags: 1},
		{name: "tag of a port extender", link: LinkEthernet, data: cat(ether, be16(0x893f), "\x00\x00\x00\x01\x00\x00", be16(0x0800), over4)},
		{name: "VN-Tag", link: LinkEthernet, data: cat(ether, be16(0x8926), be32(1), be16(0x86dd), over6), v6: true},
		{name: "ring redundancy", link: LinkEthernet, data: cat(ether, be16(0x892f), be16(60), be16(7), be16(0x0800), over4)},
		{name: "backbone bridge", link: LinkEthernet, data: cat(ether, be16(0x88e7), be32(7), frame)},
		{name: "FabricPath", link: LinkEthernet, data: cat(ether, be16(0x8903), be16(64), frame)},
		{name: "NSH with metadata", link: LinkEthernet, data: cat(ether, be16(0x894f), "\x0f\xc6\x01\x01", be32(1<<8), be32(0), be32(0), be32(0), be32(0), over4)},
		{name: "FDDI", link: 10, data: cat("\x50", ether, snap(0x0800), over4)},
		{name: "token ring", link: 6, data: cat("\x10\x40", ether, snap(0x0800), over4)},
		{name: "token ring with a route", link: 6, data: cat("\x10\x40", ether[:6], "\x82", ether[7:], "\x06\x30\x00\x11\x00\x20", snap(0x86dd), over6), v6: true},
		{name: "ATM", link: 100, data: cat(snap(0x0800), over4)},
		{name: "ATM on Solaris", link: 123, data: cat("\x82\x00\x00\x64", snap(0x0800), over4)},
		{name: "SLIP", link: 8, data: cat(strings.Repeat("\x00", 16), over4)},
		{name: "frame relay", link: 107, data: cat("\x18\x41\x03\xcc", over4)},
		{name: "frame relay, IPv6, four bytes of address, padding", link: 107, data: cat("\x18\x40\x00\x41\x03\x00\x8e", over6), v6: true},
		{name: "frame relay with SNAP", link: 107, data: cat("\x18\x41\x03\x00\x80\x00\x00\x00", be16(0x0800), over4)},
		{name: "frame relay as Cisco has it", link: 107, data: cat("\x18\x41", be16(0x0800), over4)},
		{name: "ENC", link: 109, data: cat("\x02\x00\x00\x00", be32(9), be32(0), over4)},
		{name: "PFLOG", link: 117, data: cat("\x3d\x02\x00\x00", strings.Repeat("\x00", 60), over4)},
		{name: "PPP of pppd", link: 166, data: cat("\x01\x03\x00\x21", over4)},
		{name: "PPP with a direction", link: 204, data: cat("\x01\xff\x03\x00\x57", over6), v6: true},
		{name: "FireWire", link: 138, data: cat(strings.Repeat("\x01", 16), be16(0x0800), over4)},
		{name: "IP over InfiniBand", link: 242, data: cat(strings.Repeat("\x00", 40), be16(0x86dd), be16(0), over6), v6: true},
		{name: "netANALYZER", link: 240, data: cat(be32(7), frame, "\x00\x00\x00\x00")},
		{name: "tag of a Broadcom switch", link: 281, data: cat(ether, be32(7), be16(0x0800), over4)},
		{name: "tag of a Broadcom switch before the frame", link: 282, data: cat(be32(7), frame)},
		{name: "tag of a Marvell switch", link: 284, data: cat(ether, be32(7), be16(0x86dd), over6), v6: true},
		{name: "tag of a Marvell switch with an EtherType", link: 285, data: cat(ether, be16(0xdada), be16(0), be32(7), be16(0x0800), over4)},
		{name: "NFLOG", link: 239, data: cat("\x02\x00\x00\x05", "\x08\x00\x01\x00\x08\x00\x01\x00", "\x05\x00\x0a\x00\x00\x00\x00\x00", string([]byte{byte(4 + len(over4)), 0, 9, 0}), over4)},
		{name: "NFLOG, big-endian", link: 239, data: cat("\x0a\x00\x00\x05", "\x00\x08\x00\x01\x86\xdd\x01\x00", be16(4+len(over6)), be16(9), over6), v6: true},
		{name: "PKTAP", link: 258, data: cat("\x10\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00", "en0\x00", frame)},
		{name: "PPI", link: 192, data: cat("\x00\x00\x10\x00\x69\x00\x00\x00", strings.Repeat("\x02", 8), "\x08\x01", strings.Repeat("\x00", 22), snap(0x0800), over4)},
		{name: "802.11", link: 105, data: cat("\x08\x02", strings.Repeat("\x00", 20), "\x10\x00", snap(0x0800), over4)},
		{name: "802.11 between access points, quality, control", link: 105, data: cat("\x88\x83", strings.Repeat("\x00", 20), "\x10\x00", strings.Repeat("\x01", 6), "\x00\x00", be32(0), snap(0x86dd), over6), v6: true},
		{name: "802.11 aggregate", link: 105, data: cat("\x88\x01", strings.Repeat("\x00", 20), "\x10\x00", "\x80\x00", ether, be16(8+len(over4)), snap(0x0800), over4)},
		{name: "radiotap", link: 127, data: cat("\x00\x00\x08\x00\x00\x00\x00\x00", "\x08\x02", strings.Repeat("\x00", 22), snap(0x0800), over4)},
		{name: "radiotap with a time, padding and a checksum", link: 127, data: cat("\x00\x00\x1c\x00\x03\x00\x00\x80", "\x00\x00\x00\x00", "\x00\x00\x00\x00", strings.Repeat("t", 8), "\x30\x00\x00\x00", "\x88\x02", strings.Repeat("\x00", 24), "\x00\x00", snap(0x0800), over4, "fcs.")},
		{name: "Prism", link: 119, data: cat("\x44\x00\x00\x00\x90\x00\x00\x00", strings.Repeat("\x00", 136), "\x08\x01", strings.Repeat("\x00", 22), snap(0x0800), over4)},
		{name: "AVS", link: 163, data: cat("\x80\x21\x10\x01\x00\x00\x00\x40", strings.Repeat("\x00", 56), "\x08\x01", strings.Repeat("\x00", 22), snap(0x0800), over4)},
		{name: "RAW", link: LinkRaw, data: over6, v6: true},
		{name: "old RAW", link: 12, data: over4},
		{name: "IPV6", link: LinkIPv6, data: over6, v6: true},
		{name: "IPv4 options", link: LinkIPv4, data: cat("\x46\x02", be16(24+27), be16(77), be16(0), "\x40\x06", be16(0), four1, four2, "\x94\x04\x00\x00", segment)},
		{name: "IPv4 length 0", link: LinkRaw, data: ip4(6, 0, 0, segment), length: true},
		{name: "IPv4 length 20, as some drivers write", link: LinkRaw, data: ip4(6, 20, 0, segment), length: true, fault: LengthBelow},
		{name: "IPv4 length above the record", link: LinkRaw, data: ip4(6, 9000, 0, segment), fault: LengthAbove},
		{name: "don't fragment", link: LinkRaw, data: ip4(6, -1, 0x4000, segment)},
		{name: "IPv4 authentication header", link: LinkRaw, data: ip4(51, -1, 0, cat("\x06\x04\x00\x00", strings.Repeat("a", 20), segment))},
		{name: "IPv6 extension headers", link: LinkRaw, data: ip6(0, -1, cat("\x2b\x00\x01\x04\x00\x00\x00\x00", "\x3c\x00\x00\x00\x00\x00\x00\x00", "\x06\x01", strings.Repeat("\x00", 14), segment)), v6: true},
		{name: "IPv6 atomic fragment", link: LinkRaw, data: ip6(44, -1, cat("\x06\x00\x00\x00\x00\x00\x00\x09", segment)), v6: true},
		{name: "IPv6 length 0 without a jumbo option", link: LinkRaw, data: ip6(6, 0, segment), v6: true, length: true},
		{name: "IPv6 jumbo option", link: LinkRaw, data: cat(ip6(0, 0, cat("\x06\x00\xc2\x04", be32(8+27), segment)), "behind"), v6: true},
		{name: "IPv6 jumbo option behind padding", link: LinkRaw, data: cat(ip6(0, 0, cat("\x06\x01\x00\x01\x04\x00\x00\x00\x00\xc2\x04", be32(16+27), "\x00", segment)), "behind"), v6: true},
		{name: "IPv4 in IPv4", link: LinkRaw, data: ip4(4, -1, 0, over4), kind: IPinIP},
		{name: "IPv6 in IPv4", link: LinkRaw, data: ip4(41, -1, 0, over6), v6: true, kind: IPinIP},
		{name: "IPv4 in IPv6", link: LinkRaw, data: ip6(4, -1, over4), kind: IPinIP},
		{name: "GRE with checksum, key and sequence", link: LinkRaw, data: ip4(47, -1, 0, cat("\xb0\x00", be16(0x86dd), be32(0), be32(5), be32(1), over6)), v6: true, kind: GRE},
		{name: "GRE with Ethernet", link: LinkRaw, data: ip4(47, -1, 0, cat("\x00\x00", be16(0x6558), frame)), kind: GRE},
		{name: "VXLAN", link: LinkRaw, data: ip4(17, -1, 0, udpOf(4789, 16+len(frame), cat("\x08\x00\x00\x00", be32(42<<8), frame))), kind: VXLAN},
		{name: "VXLAN on Linux' old port over IPv6", link: LinkRaw, data: ip6(17, -1, udpOf(8472, 16+len(frame), cat("\x08\x00\x00\x00", be32(42<<8), frame))), kind: VXLAN},
		{name: "VXLAN, both lengths 0", link: LinkRaw, data: ip4(17, 0, 0, udpOf(4789, 0, cat("\x08\x00\x00\x00", be32(42<<8), cat(ether, be16(0x0800), ip4(6, 0, 0, segment))))), kind: VXLAN, length: true},
		{name: "Geneve with options", link: LinkRaw, data: ip4(17, -1, 0, udpOf(6081, 24+len(frame), cat("\x02\x00", be16(0x6558), be32(42<<8), be32(0), be32(0), frame))), kind: Geneve},
		{name: "Geneve with IP straight in it", link: LinkRaw, data: ip4(17, -1, 0, udpOf(6081, 16+len(over6), cat("\x00\x00", be16(0x86dd), be32(42<<8), over6))), v6: true, kind: Geneve},
		{name: "PPTP with both numbers", link: LinkRaw, data: ip4(47, -1, 0, cat("\x30\x81\x88\x0b", be16(4+len(over4)), be16(9), be32(1), be32(2), "\xff\x03\x00\x21", over4)), kind: GRE},
		{name: "ERSPAN I", link: LinkRaw, data: ip4(47, -1, 0, cat("\x00\x00", be16(0x88be), frame)), kind: GRE},
		{name: "ERSPAN II", link: LinkRaw, data: ip4(47, -1, 0, cat("\x10\x00", be16(0x88be), be32(1), be32(1<<28), be32(0), frame)), kind: GRE},
		{name: "ERSPAN III", link: LinkRaw, data: ip4(47, -1, 0, cat("\x10\x00", be16(0x22eb), be32(1), be32(2<<28), be32(0), be32(0), frame)), kind: GRE},
		{name: "ERSPAN III and more", link: LinkRaw, data: ip4(47, -1, 0, cat("\x10\x00", be16(0x22eb), be32(1), be32(2<<28), be32(0), be32(1), be32(0), be32(0), frame)), kind: GRE},
		{name: "VXLAN-GPE with IP straight in it", link: LinkRaw, data: ip4(17, -1, 0, udpOf(4790, 16+len(over6), cat("\x0c\x00\x00\x02", be32(42<<8), over6))), v6: true, kind: VXLAN},
		{name: "VXLAN-GPE with NSH and a frame", link: LinkRaw, data: ip4(17, -1, 0, udpOf(4790, 24+len(frame), cat("\x0c\x00\x00\x04", be32(42<<8), "\x0f\xc2\x02\x03", be32(1<<8), frame))), kind: VXLAN},
		{name: "VXLAN on its port without the P bit", link: LinkRaw, data: ip4(17, -1, 0, udpOf(4790, 16+len(frame), cat("\x08\x00\x00\x00", be32(42<<8), frame))), kind: VXLAN},
		{name: "GTP", link: LinkRaw, data: ip4(17, -1, 0, udpOf(2152, 16+len(over4), cat("\x30\xff", be16(len(over4)), be32(7), over4))), kind: GTP},
		{name: "GTP with a session container", link: LinkRaw, data: ip4(17, -1, 0, udpOf(2152, 24+len(over6), cat("\x34\xff", be16(8+len(over6)), be32(7), "\x00\x00\x00\x85", "\x01\x00\x09\x00", over6))), v6: true, kind: GTP},
		{name: "L2TP", link: LinkRaw, data: ip4(17, -1, 0, udpOf(1701, 18+len(over4), cat("\x00\x02", be16(1), be16(2), "\xff\x03\x00\x21", over4))), kind: L2TP},
		{name: "L2TP with length, sequence and offset", link: LinkRaw, data: ip4(17, -1, 0, udpOf(1701, 8+18+len(over4), cat("\x4a\x02", be16(18+len(over4)), be16(1), be16(2), be32(1), be16(2), "..", "\x00\x21", over4))), kind: L2TP},
		{name: "Teredo", link: LinkRaw, data: ip4(17, -1, 0, udpOf(3544, 8+len(over6), over6)), v6: true, kind: Teredo},
		{name: "Teredo from its port, with both headers", link: LinkRaw, data: ip4(17, -1, 0, cat(be16(3544), be16(50000), be16(8+21+len(over6)), be16(0), "\x00\x01\x00\x00", "nonce123\x00", "\x00\x00\x00\x01\xc0\x00\x02\x01", over6)), v6: true, kind: Teredo},
		{name: "MPLS in UDP", link: LinkRaw, data: ip4(17, -1, 0, udpOf(6635, 12+len(over4), cat(be32(100<<12|0x100|64), over4))), kind: MPLSinUDP},
		{name: "IPv4 in the first fragment of a tunnel", link: LinkRaw, data: ip4(4, -1, 0x2000, over4), kind: IPinIP},
		{name: "VXLAN in GRE", link: LinkRaw, data: ip4(47, -1, 0, cat("\x00\x00", be16(0x0800), ip4(17, -1, 0, udpOf(4789, 16+len(frame), cat("\x08\x00\x00\x00", be32(1<<8), frame))))), kind: VXLAN},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := decodeAs(c.link, c.data, 0)
			network, src, dst := IPv4, "192.0.2.1", "198.51.100.2"
			if c.v6 {
				network, src, dst = IPv6, "2001:db8:1::1", "2001:db8:2::2"
			}
			if h.Network != network || h.Source() != netip.AddrPortFrom(netip.MustParseAddr(src), 40000) || h.Destination() != netip.AddrPortFrom(netip.MustParseAddr(dst), 5001) {
				t.Fatalf("network %d, %s > %s, transport %d, fault %q", h.Network, h.Source(), h.Destination(), h.Transport, h.Fault)
			}
			if h.Transport != TCP || h.Payload != 7 || c.data[h.PayloadAt:h.PayloadAt+7] != "payload" || h.Seq != 1000 || h.Ack != 2000 || h.Flags != ACK|PSH || h.Window != 502 || h.Checksum != 0xbeef {
				t.Errorf("%+v", h)
			}
			if h.TTL != 64 || h.ECN != 2 || h.HasID != !c.v6 || !c.v6 && h.ID != 77 {
				t.Errorf("TTL %d, ECN %d, ID %d", h.TTL, h.ECN, h.ID)
			}
			if h.TunnelKind != c.kind || h.VLAN != c.vlan || h.Tags != c.tags || h.LengthZero != c.length || h.Fault != c.fault || h.Fragment {
				t.Errorf("tunnel %q, VLAN %d, %d tags, length zero %v, fault %q, fragment %v", h.TunnelKind, h.VLAN, h.Tags, h.LengthZero, h.Fault, h.Fragment)
			}
			for cut := range len(c.data) { // no cut may change what is decoded, but for what is cut off
				part := decodeAs(c.link, c.data[:cut], len(c.data))
				if part.Transport == TCP && part.Tunnels == h.Tunnels && (part.Payload != h.Payload || part.Seq != h.Seq) {
					t.Errorf("cut at %d: payload %d, sequence %d", cut, part.Payload, part.Seq)
				}
			}
		})
	}
}

// TestDecodeNoSegment holds what is told of packets without a whole TCP or UDP header.
func TestDecodeNoSegment(t *testing.T) {
	segment := tcpOf(noOpts, "", "payload")
	for _, c := range []struct {
		name      string
		link      LinkType
		data      string
		wire      int
		network   Network
		transport Transport
		fault     Fault
		fragment  bool
	}{
		{"ARP", LinkEthernet, cat(ether, be16(0x0806), strings.Repeat("\x00", 28)), 0, NoNetwork, NoTransport, NoFault, false},
		{"a frame of 10 bytes", LinkEthernet, ether[:10], 60, NoNetwork, NoTransport, NoFault, false},
		{"an IPv4 header cut", LinkRaw, ip4(6, -1, 0, segment)[:19], 47, NoNetwork, NoTransport, HeaderCut, false},
		{"an IPv6 header cut", LinkRaw, ip6(6, -1, segment)[:39], 67, NoNetwork, NoTransport, HeaderCut, false},
		{"a TCP header cut", LinkRaw, ip4(6, -1, 0, segment)[:39], 47, IPv4, NoTransport, HeaderCut, false},
		{"a UDP header cut", LinkRaw, ip4(17, -1, 0, udpOf(53, 8, ""))[:27], 28, IPv4, NoTransport, HeaderCut, false},
		{"an extension header cut", LinkRaw, ip6(60, -1, "\x06\x00\x00\x00"), 64, IPv6, NoTransport, HeaderCut, false},
		{"a TCP header of 16 bytes", LinkRaw, ip4(6, -1, 0, tcpOf("\x40", "", "payload")), 0, IPv4, NoTransport, BadHeader, false},
		{"a TCP header longer than the packet", LinkRaw, ip4(6, -1, 0, tcpOf("\xf0", "", "payload")), 0, IPv4, NoTransport, BadHeader, false},
		{"a UDP length of 5", LinkRaw, ip4(17, -1, 0, udpOf(53, 5, "payload")), 0, IPv4, NoTransport, BadHeader, false},
		{"an IPv4 header length of 16", LinkRaw, "\x44" + ip4(6, -1, 0, segment)[1:], 0, NoNetwork, NoTransport, BadHeader, false},
		{"version 5", LinkEthernet, cat(ether, be16(0x0800), "\x55", ip4(6, -1, 0, segment)[1:]), 0, NoNetwork, NoTransport, BadHeader, false},
		{"a later fragment", LinkRaw, ip4(6, -1, 0x2000|10, segment), 0, IPv4, NoTransport, NoFault, true},
		{"the last fragment", LinkRaw, ip4(17, -1, 10, "rest"), 0, IPv4, NoTransport, NoFault, true},
		{"the first fragment", LinkRaw, ip4(6, -1, 0x2000, segment), 0, IPv4, TCP, NoFault, true},
		{"a later fragment of IPv6", LinkRaw, ip6(44, -1, cat("\x06\x00", be16(8<<3|1), be32(9), "rest")), 0, IPv6, NoTransport, NoFault, true},
		{"the first fragment of IPv6", LinkRaw, ip6(44, -1, cat("\x06\x00", be16(1), be32(9), segment)), 0, IPv6, TCP, NoFault, true},
		{"ICMP", LinkRaw, ip4(1, -1, 0, "\x08\x00\x00\x00\x00\x00\x00\x00"), 0, IPv4, ICMP, NoFault, false},
		{"ICMP without an IP length", LinkRaw, ip4(1, 0, 0, "\x08\x00\x00\x00\x00\x00\x00\x00"), 0, IPv4, NoTransport, LengthMissing, false},
		{"ICMPv6", LinkRaw, ip6(58, -1, "\x80\x00\x00\x00"), 0, IPv6, ICMP, NoFault, false},
		{"SCTP", LinkRaw, ip4(132, -1, 0, strings.Repeat("s", 12)), 0, IPv4, OtherTransport, NoFault, false},
		{"ESP", LinkRaw, ip6(50, -1, strings.Repeat("s", 12)), 0, IPv6, OtherTransport, NoFault, false},
		{"no next header", LinkRaw, ip6(59, -1, ""), 0, IPv6, OtherTransport, NoFault, false},
		{"GRE of PPTP", LinkRaw, ip4(47, -1, 0, "\x30\x01\x88\x0b\x00\x00\x00\x00"), 0, IPv4, OtherTransport, NoFault, false},
		{"VXLAN with ARP in it", LinkRaw, ip4(17, -1, 0, udpOf(4789, 16+14+28, cat("\x08\x00\x00\x00", be32(42<<8), ether, be16(0x0806), strings.Repeat("\x00", 28)))), 0, IPv4, UDP, NoFault, false},
		{"802.11 encrypted", 105, cat("\x08\x42", strings.Repeat("\x00", 22), snap(0x0800), ip4(6, -1, 0, segment)), 0, NoNetwork, NoTransport, NoFault, false},
		{"802.11 without data", 105, cat("\x48\x01", strings.Repeat("\x00", 22)), 0, NoNetwork, NoTransport, NoFault, false},
		{"802.11 beacon", 105, cat("\x80\x00", strings.Repeat("\x00", 22), snap(0x0800), ip4(6, -1, 0, segment)), 0, NoNetwork, NoTransport, NoFault, false},
		{"802.11, a later fragment", 105, cat("\x08\x02", strings.Repeat("\x00", 20), "\x11\x00", snap(0x0800), ip4(6, -1, 0, segment)), 0, NoNetwork, NoTransport, NoFault, false},
		{"20 PPI headers in each other", 192, strings.Repeat("\x00\x00\x08\x00\xc0\x00\x00\x00", 20), 0, NoNetwork, NoTransport, TooDeep, false},
		{"20 NSH in each other", LinkEthernet, cat(ether, be16(0x894f), strings.Repeat("\x0f\xc2\x02\x04"+be32(1), 20)), 0, NoNetwork, NoTransport, TooDeep, false},
		{"20 tags without a VLAN", LinkEthernet, cat(ether, strings.Repeat(be16(0x892f)+be32(1), 20), be16(0x0800), ip4(6, -1, 0, segment)), 0, NoNetwork, NoTransport, TooDeep, false},
		{"control message of GTP", LinkRaw, ip4(17, -1, 0, udpOf(2152, 20, cat("\x32\x01", be16(4), be32(0), be32(0)))), 0, IPv4, UDP, NoFault, false},
		{"control message of L2TP", LinkRaw, ip4(17, -1, 0, udpOf(1701, 20, cat("\xc8\x02", be16(12), be32(0), be32(0)))), 0, IPv4, UDP, NoFault, false},
		{"another protocol on VXLAN's port", LinkRaw, ip4(17, -1, 0, udpOf(4789, 8+4, "text")), 0, IPv4, UDP, NoFault, false},
		{"20 tunnels", LinkRaw, nested(20), 0, IPv4, OtherTransport, TooDeep, false},
		{"20 tags", LinkEthernet, cat(ether, strings.Repeat(be16(0x8100)+be16(1), 20), be16(0x0800), ip4(6, -1, 0, segment)), 0, NoNetwork, NoTransport, TooDeep, false},
		{"20 extension headers", LinkRaw, ip6(60, -1, strings.Repeat("\x3c\x00\x00\x00\x00\x00\x00\x00", 20)), 0, IPv6, NoTransport, TooDeep, false},
		{"20 frames in each other", LinkEthernet, strings.Repeat(cat(ether, be16(0x6558)), 20), 0, NoNetwork, NoTransport, TooDeep, false},
		{"a link type that is not decoded", 189, ip4(6, -1, 0, segment), 0, NoNetwork, NoTransport, NoFault, false},
	} {
		h := decodeAs(c.link, c.data, c.wire)
		if h.Network != c.network || h.Transport != c.transport || h.Fault != c.fault || h.Fragment != c.fragment {
			t.Errorf("%s: network %d, transport %d, fault %q, fragment %v; want %d, %d, %q, %v", c.name, h.Network, h.Transport, h.Fault, h.Fragment, c.network, c.transport, c.fault, c.fragment)
		}
		if h.FirstFrag != (c.fragment && c.transport == TCP) {
			t.Errorf("%s: first fragment %v", c.name, h.FirstFrag)
		}
	}
}

func TestFaultEnter(t *testing.T) {
	var ledger source.Ledger
	for f := NoFault; f <= TooDeep; f++ {
		f.Enter(&ledger, source.Pos{Source: "x", Record: int64(f)})
	}
	entries := ledger.Entries()
	if len(entries) != int(TooDeep) || entries[0].Name != "bad-header" || entries[0].Severity != source.Note || entries[0].Text == "" {
		t.Errorf("%+v", entries)
	}
}

func nested(tunnels int) string {
	packet := ip4(6, -1, 0, tcpOf(noOpts, "", ""))
	for range tunnels {
		packet = ip4(4, -1, 0, packet)
	}
	return packet
}

func TestTCPOptions(t *testing.T) {
	for _, c := range []struct {
		name    string
		options string
		cut     int // bytes of them that were captured, 0 for all
		want    TCPOptions
	}{
		{"timestamp alone", "\x01\x01\x08\x0a\x00\x00\x00\x07\x00\x00\x00\x09", 0, TCPOptions{Length: 12, HasTimestamp: true, TSVal: 7, TSEcr: 9}},
		{"SYN of Linux", "\x02\x04\x05\xb4\x04\x02\x08\x0a\x00\x00\x00\x07\x00\x00\x00\x00\x01\x03\x03\x07", 0,
			TCPOptions{Length: 20, HasMSS: true, MSS: 1460, SACKOK: true, HasTimestamp: true, TSVal: 7, HasScale: true, Scale: 7}},
		{"SACK of three", "\x01\x01\x05\x1a" + be32(1) + be32(2) + be32(3) + be32(4) + be32(5) + be32(6), 0,
			TCPOptions{Length: 28, SACKs: 3, SACK: [4][2]uint32{{1, 2}, {3, 4}, {5, 6}}}},
		{"multipath", "\x1e\x0c\x01\x81aaaabbbb", 0, TCPOptions{Length: 12, MPTCP: true}},
		{"Fast Open", "\x22\x02\x01\x01", 0, TCPOptions{Length: 4, FastOpen: true}},
		{"experimental Fast Open", "\xfe\x04\xf9\x89", 0, TCPOptions{Length: 4, FastOpen: true}},
		{"another experiment", "\xfe\x04\x45\x78", 0, TCPOptions{Length: 4}},
		{"end of list", "\x00\x02\x04\x05", 0, TCPOptions{Length: 4}},
		{"a wrong length", "\x02\x03\x05\x01\x03\x03\x07\x01", 0, TCPOptions{Length: 8, HasScale: true, Scale: 7}},
		{"a length of 0", "\x02\x00\x05\xb4", 0, TCPOptions{Length: 4, Cut: true}},
		{"a length past the header", "\x02\x08\x05\xb4", 0, TCPOptions{Length: 4, Cut: true}},
		{"cut behind the MSS", "\x02\x04\x05\xb4\x04\x02\x08\x0a\x00\x00\x00\x07\x00\x00\x00\x00\x01\x03\x03\x07", 6, TCPOptions{Length: 20, Cut: true, HasMSS: true, MSS: 1460, SACKOK: true}},
		{"cut before the first", "\x01\x01\x08\x0a\x00\x00\x00\x07\x00\x00\x00\x09", -1, TCPOptions{Length: 12, Cut: true}},
	} {
		offset := string([]byte{byte(20+len(c.options)) << 2})
		packet := ip4(6, -1, 0, tcpOf(offset, c.options, "payload"))
		captured := len(packet)
		if c.cut != 0 {
			captured = 40 + max(c.cut, 0)
		}
		h := decodeAs(LinkRaw, packet[:captured], len(packet))
		if h.Options != c.want || h.Payload != 7 || h.Fault != NoFault {
			t.Errorf("%s: %+v, payload %d, fault %q; want %+v", c.name, h.Options, h.Payload, h.Fault, c.want)
		}
	}
}

// TestTunnelsApart holds the hash of tunnels: the same in both directions, another for another network, key or end.
func TestTunnelsApart(t *testing.T) {
	segment := tcpOf(noOpts, "", "")
	frame := cat(ether, be16(0x0800), ip4(6, -1, 0, segment))
	vxlan := func(network int) string {
		return ip4(17, -1, 0, udpOf(4789, 16+len(frame), cat("\x08\x00\x00\x00", be32(network<<8), frame)))
	}
	gre := func(key int) string {
		return ip4(47, -1, 0, cat("\x20\x00", be16(0x0800), be32(key), ip4(6, -1, 0, segment)))
	}
	other := ip4(4, -1, 0, ip4(6, -1, 0, segment))
	hashes := map[uint32]string{}
	for name, data := range map[string]string{
		"VXLAN 1": vxlan(1), "VXLAN 2": vxlan(2), "GRE 1": gre(1), "GRE 2": gre(2),
		"IP in IP": other, "IP in IP of other ends": strings.Replace(other, four1, "\xc0\x00\x02\x09", 1),
		"two tunnels": ip4(4, -1, 0, other),
	} {
		h := decodeAs(LinkRaw, data, 0)
		back := decodeAs(LinkRaw, data[:12]+data[16:20]+data[12:16]+data[20:], 0)
		if h.Tunnel == 0 || h.Tunnel != back.Tunnel {
			t.Errorf("%s: %d one way, %d the other", name, h.Tunnel, back.Tunnel)
		}
		if first, twice := hashes[h.Tunnel]; twice {
			t.Errorf("%s and %s are the same", name, first)
		}
		hashes[h.Tunnel] = name
	}
	if len(hashes) != 7 {
		t.Errorf("%d hashes, want 7", len(hashes))
	}
}

// TestTunnelInFragments holds that a packet in a tunnel has the length of its own header where the tunnel's packet was cut
// into fragments, and only there.
func TestTunnelInFragments(t *testing.T) {
	inner := ip4(6, -1, 0, tcpOf(noOpts, "", strings.Repeat("x", 1400)))
	frame := cat(ether, be16(0x0800), inner)
	v6 := ip6(6, -1, tcpOf(noOpts, "", strings.Repeat("x", 1400)))
	for _, c := range []struct {
		name, data string
		payload    int
		fault      Fault
	}{
		{"IPv4 in IPv4", ip4(4, -1, 0x2000, inner[:800]), 1400, NoFault},
		{"IPv6 in GRE", ip4(47, -1, 0x2000, cat("\x00\x00", be16(0x86dd), v6[:800])), 1400, NoFault},
		{"VXLAN", ip4(17, -1, 0x2000, udpOf(4789, 16+len(frame), cat("\x08\x00\x00\x00", be32(42<<8), frame[:800]))), 1400, NoFault},
		{"VXLAN over IPv6", ip6(44, -1, cat("\x11\x00", be16(1), be32(9), udpOf(4789, 16+len(frame), cat("\x08\x00\x00\x00", be32(42<<8), frame[:800])))), 1400, NoFault},
		{"VXLAN in IPv4", ip4(4, -1, 0x2000, ip4(17, 20+16+len(frame), 0, udpOf(4789, 16+len(frame), cat("\x08\x00\x00\x00", be32(42<<8), frame[:800])))), 1400, NoFault},
		{"a tunnel that is whole", ip4(4, -1, 0, inner[:800]), 800 - 40, LengthAbove},
	} {
		if h := decodeAs(LinkRaw, c.data, 0); h.Transport != TCP || h.Payload != c.payload || h.Fault != c.fault || h.Fragment {
			t.Errorf("%s: transport %d, payload %d, fault %q, fragment %v; want payload %d, fault %q", c.name, h.Transport, h.Payload, h.Fault, h.Fragment, c.payload, c.fault)
		}
	}
}

// TestShortSnaplen holds that a snap length of 60 leaves ports, numbers and flags.
func TestShortSnaplen(t *testing.T) {
	c := readFile(t, filepath.Join(fixtures, "snaplen-60.pcap"))
	cut, payload := 0, 0
	for _, d := range c.packets {
		if d.Transport != TCP || d.SrcPort != 5001 && d.DstPort != 5001 || d.Fault != NoFault {
			t.Errorf("record %d: transport %d, fault %q", d.Record, d.Transport, d.Fault)
		}
		payload += d.Payload
		if d.Options.Cut {
			cut++
		}
	}
	if len(c.packets) != 31 || payload != 200001 {
		t.Errorf("%d packets, %d bytes of payload", len(c.packets), payload)
	}
	if cut == 0 {
		t.Error("no packet has its options cut")
	}
}

// TestChecksums holds what tools beside the captures found: at the GRO receiver merged packets have partial checksums
// and so has what it sends; what arrived alone has valid ones, where it was captured whole.
func TestChecksums(t *testing.T) {
	type key struct {
		from  string
		size  string
		state Checksum
	}
	const sender, receiver = "192.0.2.1", "198.51.100.2"
	want := map[key]int{
		{sender, "super", ChecksumPartial}: 18, {sender, "data", ChecksumCut}: 4, {sender, "empty", ChecksumValid}: 5,
		{receiver, "data", ChecksumPartial}: 1, {receiver, "empty", ChecksumPartial}: 21,
	}
	got := map[key]int{}
	for _, d := range readFile(t, filepath.Join(fixtures, "bulk-gro-receiver.pcap")).packets {
		size := "empty"
		switch {
		case d.Payload > 1460:
			size = "super"
		case d.Payload > 0:
			size = "data"
		}
		got[key{d.Source().Addr().String(), size, Verify(&d.Packet, &d.Header)}]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestVerify(t *testing.T) {
	packet := []byte(ip4(6, -1, 0, tcpOf(noOpts, "", "payload!!")))
	checksum := func(protocol byte, data []byte) uint16 {
		h := decodeAs(LinkRaw, string(data), 0)
		at := 20
		binary.BigEndian.PutUint16(data[at+16:], 0)
		sum := sum16(data[at:], sum16(h.Src[:], uint32(protocol))+sum16(h.Dst[:], uint32(len(data)-at)))
		return ^fold(sum)
	}
	verify := func(data []byte, wire int) Checksum {
		p := Packet{LinkType: LinkRaw, Data: data, CapLen: len(data), WireLen: wire}
		var h Header
		h.Decode(&p)
		return Verify(&p, &h)
	}
	right := slices.Clone(packet)
	binary.BigEndian.PutUint16(right[36:], checksum(6, right))
	if got := verify(right, len(right)); got != ChecksumValid {
		t.Errorf("right: %d", got)
	}
	if got := verify(right[:45], len(right)); got != ChecksumCut {
		t.Errorf("right but cut: %d", got)
	}
	wrong := slices.Clone(right)
	wrong[45]++
	if got := verify(wrong, len(wrong)); got != ChecksumWrong {
		t.Errorf("wrong: %d", got)
	}
	partial := slices.Clone(packet)
	binary.BigEndian.PutUint16(partial[36:], fold(sum16([]byte(four1+four2), 6)+uint32(len(partial)-20)))
	for _, captured := range []int{40, len(partial)} {
		if got := verify(partial[:captured], len(partial)); got != ChecksumPartial {
			t.Errorf("partial, %d bytes captured: %d", captured, got)
		}
	}
	binary.BigEndian.PutUint16(partial[36:], fold(sum16([]byte(four1+four2), 6)))
	if got := verify(partial, len(partial)); got != ChecksumPartial {
		t.Errorf("partial without a length: %d", got)
	}
	for name, data := range map[string]string{
		"a fragment": ip4(6, -1, 0x2000, tcpOf(noOpts, "", "x")), "UDP without a checksum": ip4(17, -1, 0, udpOf(53, 8, "")), "ICMP": ip4(1, -1, 0, "\x08\x00\x00\x00\x00\x00\x00\x00"),
	} {
		if got := verify([]byte(data), len(data)); got != ChecksumUnknown {
			t.Errorf("%s: %d", name, got)
		}
	}
}

func TestFold(t *testing.T) {
	long := make([]byte, 600<<10)
	for n := range long {
		long[n] = 0xff
	}
	if got := fold(sum16(long, 0)); got != 0xffff {
		t.Errorf("the sum of ones is %#x", got)
	}
	if got := sum16([]byte{1, 2, 3}, 0); got != 0x0102+0x0300 {
		t.Errorf("an odd byte: %#x", got)
	}
}
