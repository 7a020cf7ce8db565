package pcap

import (
	"fmt"
	"strings"
)

// FilterError is a place where a filter cannot be understood.
type FilterError struct {
	Expr string
	At   int // byte in Expr, from 0
	Msg  string
}

func (e *FilterError) Error() string {
	return fmt.Sprintf("filter %q, column %d: %s", e.Expr, e.At+1, e.Msg)
}

const maxNesting = 100

// ParseFilter understands the words of pcap-filter(7) that select packets by what Decode tells:
//
//	tcp udp icmp icmp6 ip ip6                    protocol, alone or before the next line's words
//	[src|dst|src or dst|src and dst] host A      address; "host" may be left out
//	[src|dst] net 192.0.2.0/24, net 10, net A mask M
//	[src|dst] port N, portrange N-M
//	vlan [ID]                                    outermost tag; what follows is not shifted, tagged packets are decoded
//	less N, greater N                            original length at most, at least N
//	inbound, outbound                            where the capture tells
//	arp, ip proto N, ip6 proto N, ether proto N  N is a number, or tcp, udp, icmp, icmp6, gre
//	ether [src|dst] host MAC, ether broadcast, ether multicast, broadcast, multicast
//	tcp[13] & 7 != 0, ip[2:2] > 576, len <= 60   bytes of ether, ip, ip6, tcp, udp, icmp, icmp6; names such as tcpflags, tcp-syn
//	not ! and && or || ( )                       "and" and "or" bind equally, from the left
//
// An address or number alone repeats the qualifiers before it: "port 80 or 443". All of it is about the innermost packet
// of tunnels. Names are not resolved. An empty expression lets every packet through.
func ParseFilter(expr string) (Filter, error) {
	p := filterParser{expr: expr, words: filterWords(expr)}
	if len(p.words) == 0 {
		return Filter{}, nil
	}
	match, err := p.expression(0)
	if err == nil && p.next < len(p.words) {
		err = p.unexpected("and, or, or the end")
	}
	if err != nil {
		return Filter{}, err
	}
	return Filter{expr, match}, nil
}

type filterWord struct {
	text string
	at   int
}

// filterWords cuts an expression into words, parentheses and operators.
func filterWords(expr string) []filterWord {
	var words []filterWord
	for at := 0; at < len(expr); {
		n := 1
		switch c := expr[at]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			at++
			continue
		case strings.HasPrefix(expr[at:], "&&"), strings.HasPrefix(expr[at:], "||"):
			n = 2
		case strings.IndexByte("()!&|", c) < 0:
			if n = strings.IndexAny(expr[at:], " \t\r\n()!&|"); n < 0 {
				n = len(expr) - at
			}
		}
		words = append(words, filterWord{expr[at : at+n], at})
		at += n
	}
	return words
}

// qualifiers are what stands before an address or number.
type qualifiers struct {
	protocol string
	side     side
	kind     string // host, net, port, portrange
}

type filterParser struct {
	expr  string
	words []filterWord
	next  int
	last  qualifiers // that a lone address or number repeats
}

// peek returns the next word, "" at the end.
func (p *filterParser) peek() string { return p.ahead(0) }

func (p *filterParser) ahead(n int) string {
	if p.next+n < len(p.words) {
		return p.words[p.next+n].text
	}
	return ""
}

// accept takes the next word if it is one of those given.
func (p *filterParser) accept(words ...string) bool {
	for _, w := range words {
		if p.peek() == w {
			p.next++
			return true
		}
	}
	return false
}

func (p *filterParser) errorf(format string, args ...any) error {
	at := len(p.expr)
	if p.next < len(p.words) {
		at = p.words[p.next].at
	}
	return &FilterError{p.expr, at, fmt.Sprintf(format, args...)}
}

func (p *filterParser) unexpected(expected string) error {
	word := p.peek()
	switch {
	case word == "":
		return p.errorf("the filter ends here, expected %s", expected)
	case strings.ContainsAny(word, "[=<>"):
		return p.errorf("%q: expected a comparison such as tcp[tcpflags] & tcp-syn != 0, ip[2:2] > 576 or len <= 60, or %s", word, expected)
	}
	if near := nearest(word, filterVocabulary()); near != "" && near != word {
		return p.errorf("%q is not known here, did you mean %q?", word, near)
	}
	return p.errorf("%q is not known here, expected %s", word, expected)
}

func filterVocabulary() []string {
	return []string{"tcp", "udp", "icmp", "icmp6", "ip", "ip6", "src", "dst", "host", "net", "port", "portrange", "vlan", "less", "greater",
		"inbound", "outbound", "arp", "ether", "broadcast", "multicast", "and", "or", "not"}
}

func (p *filterParser) expression(depth int) (predicate, error) {
	left, err := p.term(depth)
	for err == nil {
		join := both
		switch {
		case p.accept("and", "&&"):
		case p.accept("or", "||"):
			join = either
		default:
			return left, nil
		}
		var right predicate
		if right, err = p.term(depth); err == nil {
			left = join(left, right)
		}
	}
	return nil, err
}

func (p *filterParser) term(depth int) (predicate, error) {
	if depth > maxNesting {
		return nil, p.errorf("more than %d parentheses or negations in each other", maxNesting)
	}
	if match, ok := p.comparison(); ok {
		return match, nil
	}
	switch {
	case p.accept("not", "!"):
		inner, err := p.term(depth + 1)
		if err != nil {
			return nil, err
		}
		return not(inner), nil
	case p.accept("("):
		inner, err := p.expression(depth + 1)
		if err == nil && !p.accept(")") {
			err = p.unexpected("and, or, or \")\"")
		}
		return inner, err
	}
	return p.primitive()
}

func (p *filterParser) primitive() (predicate, error) {
	switch {
	case p.accept("vlan"):
		return p.vlan()
	case p.accept("less"):
		n, err := p.number(1 << 30)
		return shorter(n), err
	case p.accept("greater"):
		n, err := p.number(1 << 30)
		return longer(n), err
	case p.accept("inbound"):
		return going(Inbound), nil
	case p.accept("outbound"):
		return going(Outbound), nil
	case p.accept("arp"):
		return etherType(0x0806), nil
	case p.accept("broadcast"):
		return broadcast, nil
	case p.accept("multicast"):
		return multicast, nil
	case p.accept("ether"):
		return p.ethernet()
	case (p.peek() == "ip" || p.peek() == "ip6") && p.ahead(1) == "proto":
		return p.ipProtocol()
	case isValue(p.peek()):
		if p.last.kind == "" {
			p.last.kind = "host"
		}
		return p.qualified(p.last)
	}
	q := qualifiers{}
	if protocol(p.peek()) != nil {
		q.protocol = p.peek()
		p.next++
	}
	directed := p.direction(&q)
	if word := p.peek(); word == "host" || word == "net" || word == "port" || word == "portrange" {
		q.kind = word
		p.next++
	}
	switch {
	case q.kind == "" && directed:
		q.kind = "host"
	case q.kind == "" && q.protocol != "":
		if isValue(p.peek()) {
			return nil, p.errorf("expected host, net, port or portrange between %q and %q", q.protocol, p.peek())
		}
		return protocol(q.protocol), nil
	case q.kind == "":
		return nil, p.unexpected("a protocol, host, net, port, vlan, less or greater")
	}
	return p.qualified(q)
}

// isValue tells addresses and numbers from words.
func isValue(word string) bool {
	return word != "" && !strings.Contains(word, "[") && (word[0] >= '0' && word[0] <= '9' || strings.Contains(word, ":"))
}

// direction reads "src", "dst", "src or dst" and "src and dst".
func (p *filterParser) direction(q *qualifiers) bool {
	first := p.peek()
	if first != "src" && first != "dst" {
		return false
	}
	join, second := p.ahead(1), p.ahead(2)
	if (second == "src" || second == "dst") && second != first {
		switch join {
		case "or", "||":
			p.next += 3
			return true
		case "and", "&&":
			p.next += 3
			q.side = bothSides
			return true
		}
	}
	p.next++
	q.side = sourceSide
	if first == "dst" {
		q.side = destinationSide
	}
	return true
}
