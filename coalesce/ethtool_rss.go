package coalesce

import (
	"bytes"
	"slices"
	"strings"

	"nettrace/source"
)

// ethtool -x IFACE: which queue the hash of a received packet selects.
//
//	RX flow hash indirection table for enp1s0 with 2 RX ring(s):
//	    0:      0    0    0    0    0    0    0    0
//	RSS hash key:
//
// Written by all versions (rxfhindir.c of old, ethtool.c). The settings are "rings", "table-entries" of each queue that
// occurs and of the whole table, and the hash functions ("hash-toeplitz"). The key is ignored: a secret, and no cost.

const rssTitle = "RX flow hash indirection table for "

func rssHeader(line []byte) (iface string, rings uint64, ok bool) {
	_, after, found := bytes.Cut(line, []byte(rssTitle))
	name, rest, with := bytes.Cut(after, []byte(" with "))
	digits, _, _ := bytes.Cut(rest, []byte{' '})
	rings, number := parseUint(digits)
	return string(name), rings, found && with && number && len(name) > 0 && len(name) <= 32
}

// SniffRSS recognises ethtool -x.
func SniffRSS(head []byte) source.Match {
	line, _ := firstLine(head)
	if !bytes.Contains(line, []byte(rssTitle)) {
		return source.No
	}
	if _, _, ok := rssHeader(line); ok {
		return source.Strong
	}
	return source.No
}

// ReadRSS reads ethtool -x.
func ReadRSS(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "ethtool-x", Pos: l.Pos()}
	if !l.Next() {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "the input is empty; \"" + rssTitle + "IFACE with N RX ring(s):\" was expected"}
	}
	iface, rings, ok := rssHeader(l.Bytes())
	if !ok {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: source.Excerpt(l.Bytes()) + " begins no ethtool -x; \"" + rssTitle + "IFACE with N RX ring(s):\" was expected"}
	}
	out.Pos = l.Pos()
	r := rssReader{settings: []Setting{{Name: "rings", Value: Num(rings), Queue: -1, Pos: l.Pos()}}}
	for l.Next() {
		if !l.Complete() && len(bytes.Fields(l.Bytes())) > 1 && bytes.IndexByte(l.Bytes(), ':') > 0 && !r.functions {
			cut(ledger, l.Pos(), "the input ends inside the table of ethtool -x; the line is left out")
			break
		}
		if !r.line(l.Bytes(), l.Pos()) {
			if len(l.Bytes()) > 0 {
				l.Back()
			}
			break
		}
	}
	out.Interfaces = []InterfaceOutput{{Name: iface, Settings: r.finish()}}
	return out, nil
}

type rssReader struct {
	settings  []Setting
	queues    []Setting // entries of the table by queue
	total     uint64
	functions bool
}

// line takes a line and reports whether it belongs to ethtool -x.
func (r *rssReader) line(line []byte, pos source.Pos) bool {
	text := bytes.TrimSpace(line)
	name, rest, colon := bytes.Cut(text, []byte{':'})
	_, numbered := parseUint(name)
	switch {
	case string(text) == "RSS hash function:":
		r.functions = true
	case r.functions && colon && line[0] == ' ':
		r.settings = append(r.settings, Setting{Name: "hash-" + string(name), Value: parseValue(rest), Queue: -1, Pos: pos})
		return len(r.settings) < 32
	case string(text) == "RSS hash key:", refusal(text) != "", len(text) > 30 && isHashKey(text):
	case numbered && colon && line[0] == ' ':
		for _, w := range bytes.Fields(rest) {
			r.entry(w, pos)
		}
	default:
		return false
	}
	return true
}

func isHashKey(text []byte) bool {
	for i, c := range text {
		if colon := i%3 == 2; colon != (c == ':') || !colon && hexDigit(c) < 0 {
			return false
		}
	}
	return true
}

func (r *rssReader) entry(word []byte, pos source.Pos) {
	q, ok := parseUint(word)
	if !ok || q > 1<<16 {
		return
	}
	r.total++
	k := slices.IndexFunc(r.queues, func(s Setting) bool { return s.Queue == int(q) })
	if k < 0 {
		k = len(r.queues)
		if k == 1<<12 {
			return
		}
		r.queues = append(r.queues, Setting{Name: "table-entries", Queue: int(q), Value: Num(0), Pos: pos})
	}
	r.queues[k].Value.N++
}

func (r *rssReader) finish() []Setting {
	if r.total == 0 {
		return r.settings
	}
	whole := Setting{Name: "table-entries", Value: Num(r.total), Queue: -1, Pos: r.queues[0].Pos}
	slices.SortFunc(r.queues, func(a, b Setting) int { return a.Queue - b.Queue })
	return append(append(r.settings, whole), r.queues...)
}

// ethtool -n IFACE rx-flow-hash tcp4: which fields of a packet the hash is made of.
//
//	TCP over IPV4 flows use these fields for computing Hash flow key:
//	IP SA
//	L4 bytes 0 & 1 [TCP/UDP src port]
//
// Written by all versions (ethtool.c, dump_rxfhash). The settings are "<flow> addresses" and "<flow> ports": on if both
// ends' are among the fields. The output does not name its interface.

const hashTitle = " flows use these fields for computing Hash flow key:"

// SniffFlowHash recognises ethtool -n rx-flow-hash.
func SniffFlowHash(head []byte) source.Match {
	line, _ := firstLine(head)
	if len(line) < 90 && bytes.HasSuffix(line, []byte(hashTitle)) {
		return source.Strong
	}
	return source.No
}

// ReadFlowHash reads ethtool -n rx-flow-hash.
func ReadFlowHash(l *source.Lines, _ *source.Ledger) (*Output, error) {
	out := &Output{Tool: "ethtool-n", Pos: l.Pos()}
	if SniffFlowHash(l.Head(4096)) != source.Strong || !l.Next() {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no ethtool -n rx-flow-hash begins here; \"..." + hashTitle + "\" was expected"}
	}
	flow, _, _ := strings.Cut(strings.TrimSpace(string(l.Bytes())), hashTitle)
	flow = strings.ToLower(strings.ReplaceAll(flow, " over ", "-"))
	out.Pos = l.Pos()
	fields := map[string]bool{}
	for l.Next() {
		line := strings.TrimSpace(string(l.Bytes()))
		if !strings.HasPrefix(line, "IP ") && !strings.HasPrefix(line, "L4 bytes ") && !strings.HasPrefix(line, "L3 proto") && line != "VLAN tag" && line != "L2DA" {
			if line != "" {
				l.Back()
			}
			break
		}
		fields[line] = true
	}
	ports := fields["L4 bytes 0 & 1 [TCP/UDP src port]"] && fields["L4 bytes 2 & 3 [TCP/UDP dst port]"]
	out.Interfaces = []InterfaceOutput{{Settings: []Setting{
		{Name: flow + " addresses", Value: Switch(fields["IP SA"] && fields["IP DA"]), Queue: -1, Pos: out.Pos},
		{Name: flow + " ports", Value: Switch(ports), Queue: -1, Pos: out.Pos},
	}}}
	return out, nil
}
