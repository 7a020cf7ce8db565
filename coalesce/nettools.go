package coalesce

import (
	"bytes"

	"nettrace/source"
)

// ifconfig and netstat -i of net-tools and busybox on Linux: the counters of /proc/net/dev, which they read.
//
//	eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500
//	        RX packets 476  bytes 46211 (45.1 KiB)
//	        TX errors 0  dropped 0 overruns 0  carrier 0  collisions 0
//
//	Iface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg
//
// Written by net-tools 1.60 and 2.10 (lib/interface.c, ife_print_long and ife_print_short); before 2.0 ifconfig wrote
// "eth0      Link encap:Ethernet" and "RX packets:476 errors:0". Addresses and settings are left out. BSD's commands of
// the same names have other forms (see ReadNetstatInterfaces).

// sniffNetTools recognises an interface of ifconfig and the head of netstat -i.
func sniffNetTools(line, rest []byte) source.Match {
	switch {
	case bytes.Contains(line, []byte(" Link encap:")):
		return source.Strong
	case bytes.Contains(line, []byte(": flags=")) && bytes.Contains(line, []byte(" mtu ")):
		rest, _, _ = bytes.Cut(rest, []byte(": flags=")) // the next interface
		if bytes.Contains(rest, []byte("RX packets ")) {
			return source.Strong
		}
	case bytes.HasPrefix(line, []byte("Kernel Interface table")), isShortHead(line):
		return source.Strong
	}
	return source.No
}

func isShortHead(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("Iface")) && bytes.Contains(line, []byte(" RX-OK"))
}

// readIfconfig reads interfaces of ifconfig.
func readIfconfig(l *source.Lines, ledger *source.Ledger, out *Output) {
	var at *InterfaceOutput
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		if name, ok := ifconfigName(line); ok && l.Complete() {
			if len(out.Interfaces) == maxItems {
				return
			}
			out.Interfaces = append(out.Interfaces, InterfaceOutput{Name: name})
			at = &out.Interfaces[len(out.Interfaces)-1]
			continue
		}
		switch {
		case len(line) == 0, isSettingOfIfconfig(line):
		case at == nil || !isCounterOfIfconfig(line):
			l.Back()
			return
		case !l.Complete():
			cut(ledger, l.Pos(), "the input ends without a line end in ifconfig; the line is left out")
		default:
			at.Counters = append(at.Counters, ifconfigCounters(line, l.Pos())...)
		}
	}
}

// ifconfigName returns the interface that a line begins, of the old form or the new.
func ifconfigName(line []byte) (string, bool) {
	name, _, ok := bytes.Cut(line, []byte(" Link encap:"))
	if !ok {
		if name, _, ok = bytes.Cut(line, []byte(": flags=")); !ok {
			return "", false
		}
	}
	name = bytes.TrimSpace(name)
	return string(name), len(name) > 0 && len(name) <= 32 && bytes.IndexByte(name, ' ') < 0
}

func isCounterOfIfconfig(line []byte) bool {
	for _, begin := range [...]string{"RX ", "TX ", "collisions:"} {
		if bytes.HasPrefix(line, []byte(begin)) {
			return true
		}
	}
	return false
}

// isSettingOfIfconfig recognises the lines between that tell no counters.
func isSettingOfIfconfig(line []byte) bool {
	for _, begin := range [...]string{"inet ", "inet6 ", "inet addr:", "inet6 addr:", "ether ", "loop ", "tunnel ", "unspec ", "sit ", "ppp ", "infiniband ",
		"UP ", "BROADCAST ", "LOOPBACK ", "POINTOPOINT ", "NOARP ", "RUNNING ", "MULTICAST ", "DOWN ", "Interrupt:", "Memory:", "device ", "HWaddr "} {
		if bytes.HasPrefix(line, []byte(begin)) {
			return true
		}
	}
	return false
}

// ifconfigCounters reads "RX packets 476  bytes 46211 (45.1 KiB)", in the old form with colons for blanks.
func ifconfigCounters(line []byte, pos source.Pos) []Count {
	var counts []Count
	direction, words := "", bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == ':' })
	for k, w := range words {
		if string(w) == "RX" || string(w) == "TX" {
			direction = string(bytes.ToLower(w))
			continue
		}
		name, ok := ifconfigCounter(direction, string(w))
		if !ok || k+1 == len(words) {
			continue
		}
		if n, ok := parseUint(words[k+1]); ok {
			counts = append(counts, Count{Name: name, Value: n, Line: pos.Line, Offset: pos.Offset})
		}
	}
	return counts
}

// ifconfigCounter names a counter as /proc/net/dev has it.
func ifconfigCounter(direction, word string) (string, bool) {
	switch word {
	case "collisions":
		return "tx_colls", true
	case "packets", "bytes", "frame", "carrier":
		return direction + "_" + word, direction != ""
	case "errors":
		return direction + "_errs", direction != ""
	case "dropped":
		return direction + "_drop", direction != ""
	case "overruns":
		return direction + "_fifo", direction != ""
	}
	return "", false
}

// readShort reads the table of netstat -i and ifconfig -s.
func readShort(l *source.Lines, ledger *source.Ledger, out *Output) {
	var columns [][]byte
	for l.Next() {
		line := l.Bytes()
		words := bytes.Fields(line)
		switch {
		case bytes.HasPrefix(line, []byte("Kernel Interface table")) && columns == nil:
		case isShortHead(line):
			columns = bytes.Fields(bytes.Clone(line))
		case bytes.Contains(line, []byte("no statistics available")) && columns != nil: // of an alias
		case !l.Complete() && len(words) <= len(columns):
			cut(ledger, l.Pos(), "the input ends without a line end in netstat -i; the interface is left out")
		default:
			i, ok := shortRow(columns, words, l.Pos())
			if !ok || len(out.Interfaces) == maxItems {
				l.Back()
				return
			}
			out.Interfaces = append(out.Interfaces, i)
		}
	}
}

// shortRow reads a row; the last column, of flags, may be empty.
func shortRow(columns, words [][]byte, pos source.Pos) (i InterfaceOutput, ok bool) {
	if len(columns) == 0 || len(words) < len(columns)-1 || len(words) > len(columns) {
		return i, false
	}
	i.Name = string(words[0])
	for k, w := range words[1:min(len(words), len(columns)-1)] {
		n, ok := parseUint(w)
		if !ok {
			return i, false
		}
		if name := shortCounter(string(columns[k+1])); name != "" {
			i.Counters = append(i.Counters, Count{Name: name, Value: n, Line: pos.Line, Offset: pos.Offset})
		}
	}
	return i, true
}

// shortCounter names a column as /proc/net/dev has it, "" for settings.
func shortCounter(column string) string {
	switch column {
	case "RX-OK":
		return "rx_packets"
	case "RX-ERR":
		return "rx_errs"
	case "RX-DRP":
		return "rx_drop"
	case "RX-OVR":
		return "rx_fifo"
	case "TX-OK":
		return "tx_packets"
	case "TX-ERR":
		return "tx_errs"
	case "TX-DRP":
		return "tx_drop"
	case "TX-OVR":
		return "tx_fifo"
	}
	return ""
}
