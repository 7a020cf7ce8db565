package coalesce

import (
	"bytes"
	"fmt"

	"nettrace/source"
)

// /proc/net/snmp and /proc/net/netstat: the counters of the host's network protocols, a line of names and a line of
// values for each protocol.
//
//	Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
//	Udp: 1050258 0 2002334 1 2002334 0 0 0 0
//
// Written by Linux (net/ipv4/proc.c); the names grow with its versions. Counters are named as nstat does, protocol and
// counter together: UdpRcvbufErrors. Negative values (Tcp MaxConn -1: no limit) are no counts and left out.

// SniffSNMP recognises /proc/net/snmp.
func SniffSNMP(head []byte) source.Match { return sniffProtocols(head, false) }

// SniffNetstat recognises /proc/net/netstat.
func SniffNetstat(head []byte) source.Match { return sniffProtocols(head, true) }

func sniffProtocols(head []byte, extended bool) source.Match {
	names, rest := firstLine(head)
	proto, ok := protocolOf(names)
	if !ok || isExtended(proto) != extended {
		return source.No
	}
	if len(names) == len(head) { // the names do not end within the head
		return source.Weak
	}
	values, _ := firstLine(rest)
	if !bytes.HasPrefix(values, names[:len(proto)+2]) {
		return source.No
	}
	return source.Strong
}

// protocolOf returns the protocol of a line "Proto: Name ...", or of its values.
func protocolOf(line []byte) (proto []byte, ok bool) {
	colon := bytes.IndexByte(line, ':')
	if colon < 2 || colon > 12 || len(line) < colon+3 || line[colon+1] != ' ' {
		return nil, false
	}
	proto = line[:colon]
	for _, known := range protocols() {
		if string(proto) == known {
			return proto, true
		}
	}
	return nil, false
}

func protocols() [9]string {
	return [...]string{"Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "MPTcpExt"}
}

func isExtended(proto []byte) bool { return bytes.HasSuffix(proto, []byte("Ext")) }

// ReadSNMP reads /proc/net/snmp.
func ReadSNMP(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	return readProtocols(l, ledger, "proc-net-snmp", false)
}

// ReadNetstat reads /proc/net/netstat.
func ReadNetstat(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	return readProtocols(l, ledger, "proc-net-netstat", true)
}

func readProtocols(l *source.Lines, ledger *source.Ledger, tool string, extended bool) (*Output, error) {
	out := &Output{Tool: tool, Pos: l.Pos()}
	i := InterfaceOutput{Host: true}
	pairs := 0
	for l.Next() {
		proto, ok := protocolOf(l.Bytes())
		if !ok || isExtended(proto) != extended {
			l.Back()
			break
		}
		key, names, at := string(proto), bytes.Fields(bytes.Clone(l.Bytes()[len(proto)+1:])), l.Pos()
		if !l.Next() || !l.Complete() {
			cut(ledger, at, "the input ends between the names and the values of "+key+"; they are left out")
			pairs++
			break
		}
		pairs++
		other, ok := protocolOf(l.Bytes())
		if !ok || string(other) != key {
			ledger.Add("unreadable-line", source.Warning, at, 1, "no values of "+key+" follow its names; they are left out")
			l.Back()
			continue
		}
		i.pair(key, names, bytes.Fields(l.Bytes()[len(key)+1:]), l.Pos(), ledger)
	}
	if pairs == 0 {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no " + tool + " begins here; a line \"Proto: names\" and one of values were expected"}
	}
	out.Interfaces = []InterfaceOutput{i}
	return out, nil
}

// pair enters a line of names and one of values.
func (i *InterfaceOutput) pair(proto string, names, values [][]byte, pos source.Pos, ledger *source.Ledger) {
	if len(names) != len(values) {
		ledger.Add("unreadable-line", source.Warning, pos, 1, fmt.Sprintf("%s has %d names and %d values; as many as there are of both are used", proto, len(names), len(values)))
	}
	for k := range min(len(names), len(values), maxItems-len(i.Counters)) {
		if n, ok := parseUint(values[k]); ok {
			i.Counters = append(i.Counters, Count{Name: proto + string(names[k]), Value: n, Line: pos.Line, Offset: pos.Offset})
		}
	}
}
