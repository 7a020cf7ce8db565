package pcap

import (
	"strconv"
	"strings"
)

// The part of pcap-filter(7) that compares bytes: "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "ip[2:2] > 576", "len <= 60".
// Values are 32 bits wide and wrap, as in BPF. A comparison with a byte
// that the packet lacks, or that was cut, is false.

// amount computes a number of a packet; ok is false if the packet does not have it.
type amount func(*Packet, *Header) (v uint32, ok bool)

// accessor names a header whose bytes can be read: where it begins, -1 if the packet does not have it.
func accessor(name string) func(*Packet, *Header) int {
	switch name {
	case "ether", "link":
		return func(*Packet, *Header) int { return 0 }
	case "ip":
		return networkAt(IPv4)
	case "ip6":
		return networkAt(IPv6)
	case "tcp":
		return func(_ *Packet, h *Header) int { return transportAt(h, TCP, 20+int(h.Options.Length)) }
	case "udp":
		return func(_ *Packet, h *Header) int { return transportAt(h, UDP, 8) }
	case "icmp", "icmp6":
		network := IPv4
		if name == "icmp6" {
			network = IPv6
		}
		return func(_ *Packet, h *Header) int {
			if h.Network != network {
				return -1
			}
			return transportAt(h, ICMP, 8)
		}
	}
	return nil
}

func networkAt(n Network) func(*Packet, *Header) int {
	return func(_ *Packet, h *Header) int {
		if h.Network != n {
			return -1
		}
		return h.NetworkAt
	}
}

func transportAt(h *Header, t Transport, headBytes int) int {
	if h.Transport != t {
		return -1
	}
	return h.PayloadAt - headBytes
}

// byteNames are the names of offsets and values (pcap-filter(7)).
func byteNames() map[string]uint32 {
	return map[string]uint32{
		"tcpflags": 13, "tcp-fin": 1, "tcp-syn": 2, "tcp-rst": 4, "tcp-push": 8, "tcp-ack": 16, "tcp-urg": 32, "tcp-ece": 64, "tcp-cwr": 128,
		"icmptype": 0, "icmpcode": 1, "icmp6type": 0, "icmp6code": 1, "icmp-echoreply": 0, "icmp-unreach": 3, "icmp-sourcequench": 4, "icmp-redirect": 5, "icmp-echo": 8,
		"icmp-timxceed": 11, "icmp-paramprob": 12, "icmp6-destinationunreach": 1, "icmp6-packettoobig": 2, "icmp6-timeexceeded": 3, "icmp6-parameterproblem": 4,
		"icmp6-echo": 128, "icmp6-echoreply": 129,
	}
}

// byteParser reads a comparison from text on.
type byteParser struct {
	text  string
	at    int
	depth int
}

// comparison reads "value relation value". ok is false if there is none here.
func (b *byteParser) comparison() (match predicate, ok bool) {
	left, ok := b.binary(0)
	if !ok {
		return nil, false
	}
	relation := b.operator("!=", ">=", "<=", "==", "=", ">", "<")
	if relation == "" {
		return nil, false
	}
	right, ok := b.binary(0)
	if !ok {
		return nil, false
	}
	return func(p *Packet, h *Header) bool {
		x, hasX := left(p, h)
		y, hasY := right(p, h)
		return hasX && hasY && holds(relation, x, y)
	}, true
}

func holds(relation string, x, y uint32) bool {
	switch relation {
	case "!=":
		return x != y
	case ">=":
		return x >= y
	case "<=":
		return x <= y
	case ">":
		return x > y
	case "<":
		return x < y
	}
	return x == y
}

// operatorsAt lists the operators by how closely they bind, the loosest first (as in C).
func operatorsAt(level int) []string {
	return [...][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}[level]
}

const operatorLevels = 6

func (b *byteParser) binary(level int) (amount, bool) {
	if level == operatorLevels {
		return b.operand()
	}
	left, ok := b.binary(level + 1)
	for ok {
		op := b.operator(operatorsAt(level)...)
		if op == "" {
			return left, true
		}
		var right amount
		if right, ok = b.binary(level + 1); ok {
			left = combined(op, left, right)
		}
	}
	return nil, false
}

func combined(op string, left, right amount) amount {
	return func(p *Packet, h *Header) (uint32, bool) {
		x, hasX := left(p, h)
		y, hasY := right(p, h)
		if !hasX || !hasY || y == 0 && (op == "/" || op == "%") {
			return 0, false
		}
		switch op {
		case "|":
			return x | y, true
		case "^":
			return x ^ y, true
		case "&":
			return x & y, true
		case "<<":
			return x << y, true
		case ">>":
			return x >> y, true
		case "+":
			return x + y, true
		case "-":
			return x - y, true
		case "*":
			return x * y, true
		case "/":
			return x / y, true
		}
		return x % y, true
	}
}

// operand reads a number, a name, "len", a header's bytes, or something in parentheses.
func (b *byteParser) operand() (amount, bool) {
	if b.depth++; b.depth > maxNesting {
		return nil, false
	}
	defer func() { b.depth-- }()
	if b.operator("(") != "" {
		inner, ok := b.binary(0)
		return inner, ok && b.operator(")") != ""
	}
	word := b.word()
	if number, err := strconv.ParseUint(word, 0, 32); err == nil {
		return constant(uint32(number)), true
	}
	if number, named := byteNames()[word]; named {
		return constant(number), true
	}
	if word == "len" {
		return func(p *Packet, _ *Header) (uint32, bool) { return uint32(p.WireLen), true }, true
	}
	if begin := accessor(word); begin != nil && b.operator("[") != "" {
		return b.bytes(begin)
	}
	return nil, false
}

// bytes reads "offset]" or "offset:size]".
func (b *byteParser) bytes(begin func(*Packet, *Header) int) (amount, bool) {
	offset, ok := b.binary(0)
	size := uint64(1)
	if ok && b.operator(":") != "" {
		var err error
		if size, err = strconv.ParseUint(b.word(), 0, 8); err != nil || size != 1 && size != 2 && size != 4 {
			return nil, false
		}
	}
	if !ok || b.operator("]") == "" {
		return nil, false
	}
	return func(p *Packet, h *Header) (v uint32, ok bool) {
		at, has := offset(p, h)
		from := begin(p, h)
		if !has || from < 0 || uint64(from)+uint64(at)+size > uint64(len(p.Data)) {
			return 0, false
		}
		for _, c := range p.Data[from+int(at):][:size] {
			v = v<<8 | uint32(c)
		}
		return v, true
	}, true
}

func constant(v uint32) amount { return func(*Packet, *Header) (uint32, bool) { return v, true } }

func (b *byteParser) space() {
	for b.at < len(b.text) && strings.IndexByte(" \t\r\n", b.text[b.at]) >= 0 {
		b.at++
	}
}

// operator takes the first of those that is next; "&&" and "||" are none, they join comparisons.
func (b *byteParser) operator(list ...string) string {
	b.space()
	rest := b.text[b.at:]
	for _, op := range list {
		if strings.HasPrefix(rest, op) && !strings.HasPrefix(rest, "&&") && !strings.HasPrefix(rest, "||") {
			b.at += len(op)
			return op
		}
	}
	return ""
}

func (b *byteParser) word() string {
	b.space()
	from := b.at
	for b.at < len(b.text) && (b.text[b.at] >= '0' && b.text[b.at] <= '9' || b.text[b.at] >= 'a' && b.text[b.at] <= 'z' || b.text[b.at] >= 'A' && b.text[b.at] <= 'Z' || b.text[b.at] == '-' && b.named(from)) {
		b.at++
	}
	return b.text[from:b.at]
}

// named reports whether a hyphen goes on with a name such as tcp-syn, and is no minus.
func (b *byteParser) named(from int) bool {
	switch b.text[from:b.at] {
	case "tcp", "icmp", "icmp6":
		return true
	}
	return false
}

// comparison reads a comparison of bytes at the next word, if there is one.
func (p *filterParser) comparison() (predicate, bool) {
	if p.next >= len(p.words) {
		return nil, false
	}
	b := byteParser{text: p.expr, at: p.words[p.next].at}
	match, ok := b.comparison()
	if !ok {
		return nil, false
	}
	for p.next < len(p.words) && p.words[p.next].at < b.at {
		p.next++
	}
	return match, true
}
