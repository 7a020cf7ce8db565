package coalesce

import (
	"bytes"

	"nettrace/source"
)

// tc -s qdisc: what the queueing disciplines sent and dropped, which /proc/net/dev does not count.
//
//	qdisc pfifo_fast 0: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1
//	 Sent 901019 bytes 8941 pkt (dropped 0, overlimits 0 requeues 1)
//	 backlog 0b 0p requeues 1
//
// Written by tc of iproute2 (tc/tc_qdisc.c, tc_util.c). A counter's name has the discipline and its handle before it:
// "pfifo_fast 0: dropped". The backlog, a length of the moment, and lines of single disciplines are ignored.

// SniffQdisc recognises tc -s qdisc.
func SniffQdisc(head []byte) source.Match {
	line, rest := firstLine(head)
	if _, _, ok := qdiscTitle(line); !ok {
		return source.No
	}
	if next, _ := firstLine(rest); bytes.HasPrefix(next, []byte(" Sent ")) || len(next) == 0 {
		return source.Strong
	}
	return source.No
}

// qdiscTitle reads "qdisc KIND HANDLE: dev IFACE"; name is "KIND HANDLE:". With "show dev IFACE" the interface is not told.
func qdiscTitle(line []byte) (name, iface []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("qdisc "))
	colon := bytes.Index(rest, []byte(": "))
	if !ok || colon <= 0 || colon > 40 {
		return nil, nil, false
	}
	name, rest = rest[:colon+1], rest[colon+2:]
	if after, dev := bytes.CutPrefix(rest, []byte("dev ")); dev {
		iface, _, ok = bytes.Cut(after, []byte{' '})
		return name, iface, ok && len(iface) > 0 && len(iface) <= 32
	}
	return name, nil, bytes.HasPrefix(rest, []byte("root ")) || bytes.HasPrefix(rest, []byte("parent "))
}

// ReadQdisc reads tc -s qdisc.
func ReadQdisc(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "tc-qdisc", Pos: l.Pos()}
	if SniffQdisc(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no tc -s qdisc begins here; \"qdisc KIND HANDLE: dev IFACE\" was expected"}
	}
	prefix := ""
	for l.Next() {
		line := l.Bytes()
		if name, iface, ok := qdiscTitle(line); ok {
			prefix = string(name) + " "
			if n := len(out.Interfaces); n == 0 || out.Interfaces[n-1].Name != string(iface) {
				out.Interfaces = append(out.Interfaces, InterfaceOutput{Name: string(iface)})
			}
			continue
		}
		if len(line) == 0 || line[0] != ' ' {
			if len(line) > 0 {
				l.Back()
			}
			break
		}
		if !bytes.HasPrefix(line, []byte(" Sent ")) {
			continue
		}
		i := &out.Interfaces[len(out.Interfaces)-1]
		switch {
		case !l.Complete() && bytes.IndexByte(line, ')') < 0:
			cut(ledger, l.Pos(), "the input ends inside tc -s qdisc; the counts are left out")
		case !i.qdiscCounts(prefix, line, l.Pos()):
			ledger.Add("unreadable-line", source.Warning, l.Pos(), 1, source.Excerpt(line)+" are no counts of tc -s qdisc; they are left out")
		}
	}
	return out, nil
}

// qdiscCounts reads " Sent N bytes N pkt (dropped N, overlimits N requeues N)".
func (i *InterfaceOutput) qdiscCounts(prefix string, line []byte, pos source.Pos) bool {
	words := bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '(' || r == ')' || r == ',' })
	if len(words) < 11 || len(i.Counters) >= maxItems {
		return false
	}
	at := [...]int{1, 3, 6, 8, 10}
	for k, name := range [...]string{"sent_bytes", "sent_packets", "dropped", "overlimits", "requeues"} {
		n, ok := parseUint(words[at[k]])
		if !ok {
			i.Counters = i.Counters[:len(i.Counters)-k]
			return false
		}
		i.Counters = append(i.Counters, Count{Name: prefix + name, Value: n, Line: pos.Line, Offset: pos.Offset})
	}
	return true
}
