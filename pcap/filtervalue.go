package pcap

import (
	"net/netip"
	"strconv"
	"strings"
)

// qualified reads the value that the qualifiers stand before.
func (p *filterParser) qualified(q qualifiers) (predicate, error) {
	if p.peek() == "" {
		return nil, p.errorf("the filter ends behind %q, expected what it stands for", q.kind)
	}
	var match predicate
	var err error
	switch q.kind {
	case "host":
		match, err = p.host(q.side)
	case "net":
		match, err = p.net(q.side)
	default:
		match, err = p.ports(q)
	}
	if err != nil {
		return nil, err
	}
	p.last = q
	if q.protocol != "" {
		match = both(protocol(q.protocol), match)
	}
	return match, nil
}

func (p *filterParser) host(s side) (predicate, error) {
	addr, err := netip.ParseAddr(p.peek())
	if err != nil || addr.Zone() != "" {
		return nil, p.errorf("host takes an IPv4 or IPv6 address, not %q; names are not resolved", p.peek())
	}
	p.next++
	return inNetwork(s, netip.PrefixFrom(addr, addr.BitLen())), nil
}

// net reads "A/bits", "A mask M", "A" of IPv6, and IPv4 networks that are given by their first bytes: "10", "192.0.2".
func (p *filterParser) net(s side) (predicate, error) {
	word := p.peek()
	prefix, err := netip.ParsePrefix(word)
	if err != nil {
		addr, bits, ok := network(word)
		if !ok {
			return nil, p.errorf("net takes a network such as 192.0.2.0/24 or 2001:db8::/32, not %q", word)
		}
		prefix = netip.PrefixFrom(addr, bits)
		if p.ahead(1) == "mask" && addr.Is4() {
			p.next += 2
			if bits, ok = maskBits(p.peek()); !ok {
				return nil, p.errorf("mask takes a network mask such as 255.255.255.0, not %q", p.peek())
			}
			prefix = netip.PrefixFrom(addr, bits)
		}
	}
	if prefix.Masked() != prefix {
		return nil, p.errorf("%s has bits set behind its mask, did you mean %s?", prefix, prefix.Masked())
	}
	p.next++
	return inNetwork(s, prefix), nil
}

// network reads an address, or the first bytes of an IPv4 address.
func network(word string) (addr netip.Addr, bits int, ok bool) {
	missing := 3 - strings.Count(word, ".")
	if strings.Contains(word, ":") || missing < 0 {
		missing = 0
	}
	addr, err := netip.ParseAddr(word + strings.Repeat(".0", missing))
	return addr, addr.BitLen() - 8*missing, err == nil && addr.Zone() == ""
}

// maskBits counts the bits of an IPv4 mask; it reports false when they are not the first ones.
func maskBits(word string) (bits int, ok bool) {
	addr, err := netip.ParseAddr(word)
	if err != nil || !addr.Is4() {
		return 0, false
	}
	mask := addr.As4()
	for bits < 32 && mask[bits/8]&(0x80>>(bits%8)) != 0 {
		bits++
	}
	want := prefixMask(bits)
	return bits, mask == [4]byte(want[:])
}

func (p *filterParser) ports(q qualifiers) (predicate, error) {
	if q.protocol == "icmp" || q.protocol == "icmp6" {
		return nil, p.errorf("%s has no ports", q.protocol)
	}
	first, last := p.peek(), p.peek()
	if q.kind == "portrange" {
		first, last, _ = strings.Cut(p.peek(), "-")
	}
	from, err1 := strconv.ParseUint(first, 10, 16)
	to, err2 := strconv.ParseUint(last, 10, 16)
	if err1 != nil || err2 != nil || from > to {
		return nil, p.errorf("%s takes %s up to 65535, not %q; names are not resolved", q.kind, portForm(q.kind), p.peek())
	}
	p.next++
	return inPorts(q.side, uint16(from), uint16(to)), nil
}

func portForm(kind string) string {
	if kind == "portrange" {
		return "two numbers such as 8000-8100"
	}
	return "a number"
}

func (p *filterParser) vlan() (predicate, error) {
	if !isValue(p.peek()) {
		return tagged(-1), nil
	}
	id, err := p.number(4095)
	return tagged(id), err
}

func (p *filterParser) number(most int) (int, error) {
	n, err := strconv.Atoi(p.peek())
	if err != nil || n < 0 || n > most {
		return 0, p.errorf("expected a number up to %d, not %q", most, p.peek())
	}
	p.next++
	return n, nil
}
