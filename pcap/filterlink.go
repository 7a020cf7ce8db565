package pcap

import (
	"bytes"
	"encoding/binary"
	"net"
	"strconv"
)

// Tests of the Ethernet header and of protocol numbers. Only what was captured on Ethernet fits those of the header.

// addresses returns the destination and source of an Ethernet frame.
func addresses(p *Packet) (dst, src []byte, ok bool) {
	if p.LinkType != LinkEthernet || len(p.Data) < 14 {
		return nil, nil, false
	}
	return p.Data[:6], p.Data[6:12], true
}

func etherType(kind uint16) predicate {
	return func(p *Packet, h *Header) bool {
		at := 12
		switch p.LinkType {
		case LinkEthernet:
			at += 4 * int(min(h.Tags, maxTags))
		case LinkSLL:
			at = 14
		case LinkSLL2:
			at = 0
		default:
			return false
		}
		return len(p.Data) >= at+2 && binary.BigEndian.Uint16(p.Data[at:]) == kind
	}
}

func broadcast(p *Packet, _ *Header) bool {
	dst, _, ok := addresses(p)
	return ok && bytes.Equal(dst, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
}

func multicast(p *Packet, _ *Header) bool {
	dst, _, ok := addresses(p)
	return ok && dst[0]&1 != 0
}

// ethernet reads what follows "ether".
func (p *filterParser) ethernet() (predicate, error) {
	switch {
	case p.accept("broadcast"):
		return broadcast, nil
	case p.accept("multicast"):
		return multicast, nil
	case p.accept("proto"):
		kind, err := p.protocolNumber(map[string]uint64{"ip": etherIPv4, "ip6": etherIPv6, "arp": 0x0806, "vlan": etherVLAN}, 16)
		return etherType(uint16(kind)), err
	}
	q := qualifiers{}
	directed := p.direction(&q)
	if !p.accept("host") && !directed {
		return nil, p.unexpected("proto, host, src, dst, broadcast or multicast")
	}
	want, err := net.ParseMAC(p.peek())
	if err != nil || len(want) != 6 {
		return nil, p.errorf("ether host takes a hardware address such as 02:00:00:00:00:01, not %q", p.peek())
	}
	p.next++
	return func(packet *Packet, _ *Header) bool {
		dst, src, ok := addresses(packet)
		return ok && q.side.of(bytes.Equal(src, want), bytes.Equal(dst, want))
	}, nil
}

// ipProtocol reads "ip proto N" and "ip6 proto N": the number in the IPv4 header, or the IPv6 header's next one.
func (p *filterParser) ipProtocol() (predicate, error) {
	network, at := IPv4, 9
	if p.peek() == "ip6" {
		network, at = IPv6, 6
	}
	p.next += 2
	number, err := p.protocolNumber(map[string]uint64{"tcp": protoTCP, "udp": protoUDP, "icmp": protoICMP, "icmp6": protoICMPv6, "gre": protoGRE, "ah": protoAH}, 8)
	return func(packet *Packet, h *Header) bool {
		return h.Network == network && h.NetworkAt+at < len(packet.Data) && uint64(packet.Data[h.NetworkAt+at]) == number
	}, err
}

func (p *filterParser) protocolNumber(names map[string]uint64, bits int) (uint64, error) {
	number, named := names[p.peek()]
	if !named {
		var err error
		if number, err = strconv.ParseUint(p.peek(), 0, bits); err != nil {
			return 0, p.errorf("proto takes a number or a name, not %q", p.peek())
		}
	}
	p.next++
	return number, nil
}
