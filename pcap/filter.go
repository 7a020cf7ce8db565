package pcap

import "net/netip"

// Filter selects packets. The zero value lets every packet through.
type Filter struct {
	text  string
	match predicate
}

type predicate func(*Packet, *Header) bool

// Match reports whether the filter lets a packet through; h is the packet's decoded header.
func (f Filter) Match(p *Packet, h *Header) bool { return f.match == nil || f.match(p, h) }

// String returns the expression that the filter was made from.
func (f Filter) String() string { return f.text }

func either(a, b predicate) predicate {
	return func(p *Packet, h *Header) bool { return a(p, h) || b(p, h) }
}

func both(a, b predicate) predicate {
	return func(p *Packet, h *Header) bool { return a(p, h) && b(p, h) }
}

func not(a predicate) predicate {
	return func(p *Packet, h *Header) bool { return !a(p, h) }
}

// protocol returns the test for a protocol's word; nil where the word is none.
func protocol(word string) predicate {
	switch word {
	case "ip":
		return func(_ *Packet, h *Header) bool { return h.Network == IPv4 }
	case "ip6":
		return func(_ *Packet, h *Header) bool { return h.Network == IPv6 }
	case "tcp":
		return func(_ *Packet, h *Header) bool { return h.Transport == TCP }
	case "udp":
		return func(_ *Packet, h *Header) bool { return h.Transport == UDP }
	case "icmp":
		return func(_ *Packet, h *Header) bool { return h.Transport == ICMP && h.Network == IPv4 }
	case "icmp6":
		return func(_ *Packet, h *Header) bool { return h.Transport == ICMP && h.Network == IPv6 }
	}
	return nil
}

// side says which end of a packet has to fit.
type side uint8

const (
	anySide side = iota
	sourceSide
	destinationSide
	bothSides
)

func (s side) of(src, dst bool) bool {
	switch s {
	case sourceSide:
		return src
	case destinationSide:
		return dst
	case bothSides:
		return src && dst
	}
	return src || dst
}

// inNetwork tests addresses against a prefix; a host is one that covers all bits.
func inNetwork(s side, prefix netip.Prefix) predicate {
	network, want, mask := IPv6, prefix.Masked().Addr().As16(), prefixMask(prefix.Bits())
	if prefix.Addr().Is4() {
		four := prefix.Masked().Addr().As4()
		network, want = IPv4, [16]byte{}
		copy(want[:], four[:])
	}
	fits := func(addr *[16]byte) bool {
		for n := range addr {
			if addr[n]&mask[n] != want[n] {
				return false
			}
		}
		return true
	}
	return func(_ *Packet, h *Header) bool {
		return h.Network == network && s.of(fits(&h.Src), fits(&h.Dst))
	}
}

func prefixMask(bits int) (mask [16]byte) {
	for n := range bits {
		mask[n/8] |= 0x80 >> (n % 8)
	}
	return mask
}

// inPorts tests the ports of TCP and UDP packets.
func inPorts(s side, first, last uint16) predicate {
	fits := func(port uint16) bool { return first <= port && port <= last }
	return func(_ *Packet, h *Header) bool {
		return (h.Transport == TCP || h.Transport == UDP) && s.of(fits(h.SrcPort), fits(h.DstPort))
	}
}

// tagged tests the outermost VLAN tag; id -1 stands for any.
func tagged(id int) predicate {
	return func(_ *Packet, h *Header) bool { return h.Tags > 0 && (id < 0 || int(h.VLAN) == id) }
}

func longer(n int) predicate  { return func(p *Packet, _ *Header) bool { return p.WireLen >= n } }
func shorter(n int) predicate { return func(p *Packet, _ *Header) bool { return p.WireLen <= n } }

func going(d Direction) predicate {
	return func(p *Packet, _ *Header) bool { return p.Direction == d }
}
