package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// FreeBSD sysctl dev: counters and settings of network devices.
//
//	dev.ix.0.queue0.rx_packets: 4812345
//	dev.ix.0.iflib.txq0.r_drops: 17
//	hw.intr_storm_threshold: 0
//
// Written by FreeBSD's sysctl (sbin/sysctl) over what drivers and iflib export (sys/net/iflib.c, sys/dev/*). The interface is
// driver and unit, the counter's name is the rest. A tree mixes counters with settings and positions in rings, which all
// have numbers; texts (descriptions, ring states) are passed over. hw, net and kern are sizes of the kernel.

// SniffSysctl recognises FreeBSD's sysctl.
func SniffSysctl(head []byte) source.Match {
	line, rest := firstLine(head)
	if !isFreeBSDLine(line) {
		return source.No
	}
	if next, _ := firstLine(rest); isFreeBSDLine(next) || len(next) == 0 {
		return source.Strong
	}
	return source.No
}

func isFreeBSDLine(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte(": "))
	if !ok || len(name) > 120 || bytes.IndexByte(name, ' ') >= 0 || bytes.Count(name, []byte{'.'}) < 1 {
		return false
	}
	return bytes.HasPrefix(name, []byte("dev.")) || bytes.HasPrefix(name, []byte("hw.")) || bytes.HasPrefix(name, []byte("net.")) || bytes.HasPrefix(name, []byte("kern."))
}

// ReadSysctl reads FreeBSD's sysctl.
func ReadSysctl(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "sysctl", Pos: l.Pos(), Machine: machine()}
	if SniffSysctl(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no sysctl of FreeBSD begins here; \"dev.DRIVER.UNIT.NAME: VALUE\" was expected"}
	}
	at := map[string]int{}
	for l.Next() {
		line := l.Bytes()
		if !isFreeBSDLine(line) {
			if len(bytes.TrimSpace(line)) > 0 && !continuesText(line) {
				l.Back()
				break
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		n, isNumber := parseUint(bytes.TrimSpace(value))
		switch {
		case !isNumber:
		case !l.Complete():
			cut(ledger, l.Pos(), "the input ends inside a value of sysctl, which is left out")
		case bytes.HasPrefix(name, []byte("dev.")):
			out.deviceCount(at, string(name), n, l.Pos())
		case len(out.Machine.Kernel) < maxMachine:
			out.Machine.Kernel = append(out.Machine.Kernel, KernelSize{Name: string(name), Value: n, Pos: l.Pos()})
		}
	}
	return out, nil
}

// continuesText reports whether a line goes on with a text of several lines: sysctl indents those, or leaves them empty.
func continuesText(line []byte) bool { return line[0] == ' ' || line[0] == '\t' }

// deviceCount enters "dev.ix.0.queue0.rx_packets" as queue0.rx_packets of ix0.
func (o *Output) deviceCount(at map[string]int, name string, n uint64, pos source.Pos) {
	parts := strings.SplitN(name, ".", 4)
	if len(parts) < 4 {
		return
	}
	if _, unit := parseUint([]byte(parts[2])); !unit {
		return
	}
	iface := parts[1] + parts[2]
	k, known := at[iface]
	if !known {
		if len(o.Interfaces) == maxItems || len(iface) > 32 {
			return
		}
		k = len(o.Interfaces)
		at[iface] = k
		o.Interfaces = append(o.Interfaces, InterfaceOutput{Name: iface})
	}
	if i := &o.Interfaces[k]; len(i.Counters) < maxItems {
		i.Counters = append(i.Counters, Count{Name: parts[3], Value: n, Line: pos.Line, Offset: pos.Offset})
	}
}
