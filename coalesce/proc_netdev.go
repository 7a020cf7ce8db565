package coalesce

import (
	"bytes"
	"slices"

	"nettrace/source"
)

// /proc/net/dev: bytes, packets and errors of each interface since it came up.
//
//	Inter-|   Receive                                                |  Transmit
//	 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
//	  eth0: 874354587 1036395    0    0    0     0          0         0 563352563  732147    0    0    0     0       0          0
//
// Written by Linux since 2.2 (net/core/net-procfs.c): 16 columns, unsigned long. The name may touch the first number.
// "drop" is rx_dropped and rx_missed_errors together; counters are named "rx_packets", "tx_drop".

// SniffNetDev recognises /proc/net/dev by its two title lines, and what net-tools print of it.
func SniffNetDev(head []byte) source.Match {
	line, rest := firstLine(head)
	if !bytes.Contains(line, []byte("Inter-|")) {
		return sniffNetTools(line, rest)
	}
	if next, _ := firstLine(rest); bytes.Contains(next, []byte("face |bytes")) {
		return source.Strong
	}
	return source.No
}

func netDevColumns() []string {
	return []string{"rx_bytes", "rx_packets", "rx_errs", "rx_drop", "rx_fifo", "rx_frame", "rx_compressed", "rx_multicast",
		"tx_bytes", "tx_packets", "tx_errs", "tx_drop", "tx_fifo", "tx_colls", "tx_carrier", "tx_compressed"}
}

// ReadNetDev reads /proc/net/dev, ifconfig or netstat -i.
func ReadNetDev(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "proc-net-dev", Pos: l.Pos()}
	head := l.Head(4096)
	if SniffNetDev(head) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no /proc/net/dev begins here; \"Inter-|   Receive\", an interface of ifconfig or the head of netstat -i was expected"}
	}
	line, _ := firstLine(head)
	switch _, long := ifconfigName(line); {
	case long:
		readIfconfig(l, ledger, out)
		out.Interfaces = slices.DeleteFunc(out.Interfaces, func(i InterfaceOutput) bool { return len(i.Counters) == 0 }) // aliases
		return out, nil
	case !bytes.Contains(line, []byte("Inter-|")):
		readShort(l, ledger, out)
		return out, nil
	}
	l.Next()
	l.Next()
	for l.Next() {
		line := l.Bytes()
		if i, ok := parseNetDev(line, l.Pos()); ok && len(out.Interfaces) < maxItems && l.Complete() {
			out.Interfaces = append(out.Interfaces, i)
			continue
		}
		if !l.Complete() && bytes.IndexByte(line, ':') >= 0 {
			cut(ledger, l.Pos(), "the input ends without a line end in /proc/net/dev; the interface is left out")
			break
		}
		if len(bytes.TrimSpace(line)) == 0 || !damaged(l, isNetDevLine) {
			break
		}
		skip(l, ledger, "an interface of /proc/net/dev")
	}
	return out, nil
}

func isNetDevLine(line []byte) bool {
	_, ok := parseNetDev(line, source.Pos{})
	return ok
}

func parseNetDev(line []byte, pos source.Pos) (i InterfaceOutput, ok bool) {
	colon := bytes.LastIndexByte(line, ':') // an alias's name holds one itself: eth0:1
	if colon < 0 {
		return i, false
	}
	columns := netDevColumns()
	values := bytes.Fields(line[colon+1:])
	i.Name = string(bytes.TrimSpace(line[:colon]))
	if len(values) != len(columns) || i.Name == "" || len(i.Name) > 32 {
		return i, false
	}
	for k, v := range values {
		n, ok := parseUint(v)
		if !ok {
			return i, false
		}
		i.Counters = append(i.Counters, Count{Name: columns[k], Value: n, Line: pos.Line, Offset: pos.Offset})
	}
	return i, true
}
