package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// FreeBSD vmstat -i: interrupts since boot.
//
//	interrupt                          total       rate
//	irq256: em0:rx0                  2555941       2745
//	Total                            2555943       2745
//
// Written by FreeBSD (usr.bin/vmstat); the widths of the columns differ by version. The rate is the total by the uptime,
// not of now, and is ignored, as is the total of all. Lines of sources that never fired are hidden unless -a is given.

// SniffVmstat recognises FreeBSD's vmstat -i.
func SniffVmstat(head []byte) source.Match {
	if !bytes.HasPrefix(head, []byte("interrupt ")) {
		return source.No
	}
	line, _ := firstLine(head)
	if words := bytes.Fields(line); len(words) == 3 && string(words[1]) == "total" && string(words[2]) == "rate" {
		return source.Strong
	}
	return source.No
}

// ReadVmstat reads FreeBSD's vmstat -i.
func ReadVmstat(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "vmstat-i", Pos: l.Pos(), Table: &Table{}}
	if SniffVmstat(l.Head(4096)) != source.Strong || !l.Next() {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no vmstat -i begins here; \"interrupt total rate\" was expected"}
	}
	for l.Next() {
		row, ok := parseVmstat(l.Bytes())
		switch {
		case ok && l.Complete():
			row.Pos = l.Pos()
			if row.Key != "Total" && len(out.Table.Rows) < maxItems {
				out.Table.Rows = append(out.Table.Rows, row)
			}
			continue
		case ok || unfinished(l) || !l.Complete() && bytes.IndexByte(l.Bytes(), ':') > 0:
			cut(ledger, l.Pos(), "the input ends inside vmstat -i; the line is left out")
			return out, nil
		case len(bytes.TrimSpace(l.Bytes())) == 0 || !damaged(l, func(line []byte) bool { _, ok := parseVmstat(line); return ok }):
			return out, nil
		}
		skip(l, ledger, "a line of vmstat -i")
	}
	return out, nil
}

// parseVmstat reads "irq17: em0 bge1   2555941   2745".
func parseVmstat(line []byte) (row TableRow, ok bool) {
	words := bytes.Fields(line)
	if len(words) < 3 {
		return row, false
	}
	total, ok := parseUint(words[len(words)-2])
	if _, rate := parseUint(words[len(words)-1]); !ok || !rate {
		return row, false
	}
	name := string(bytes.Join(words[:len(words)-2], []byte{' '}))
	key, rest, _ := strings.Cut(name, ":")
	return TableRow{Key: key, Name: strings.TrimSpace(rest), Single: true, Cells: []Cell{{Value: total}}}, len(key) <= 32
}

// FreeBSD netstat -i: counters of interfaces.
//
//	Name Mtu Network Address Ipkts Ierrs Idrop Ibytes Opkts Oerrs Obytes Coll
//	igc0 1500 <Link#1> aa:bb:cc:dd:ee:ff 100 1 2 10000 80 3 8000 0
//
// Written by FreeBSD (usr.bin/netstat/if.c) with -b, -d, -n, -W or without. The rows <Link#n> carry the counts; their
// address may be missing, so columns are counted from the end. Rows of other addresses repeat them and are ignored.
// An asterisk behind the name means that the interface is down.

// SniffNetstatInterfaces recognises FreeBSD's netstat -i.
func SniffNetstatInterfaces(head []byte) source.Match {
	if !bytes.HasPrefix(head, []byte("Name ")) {
		return source.No
	}
	line, _ := firstLine(head)
	if bytes.Contains(line, []byte(" Network ")) && bytes.Contains(line, []byte(" Ipkts ")) && bytes.Contains(line, []byte(" Opkts ")) {
		return source.Strong
	}
	return source.No
}

// netstatName returns the counter of a column.
func netstatName(title string) string {
	switch title {
	case "Ipkts":
		return "rx_packets"
	case "Ierrs":
		return "rx_errors"
	case "Idrop":
		return "rx_dropped"
	case "Ibytes":
		return "rx_bytes"
	case "Opkts":
		return "tx_packets"
	case "Oerrs":
		return "tx_errors"
	case "Obytes":
		return "tx_bytes"
	case "Coll":
		return "collisions"
	case "Drop":
		return "tx_dropped"
	}
	return ""
}

// ReadNetstatInterfaces reads FreeBSD's netstat -i.
func ReadNetstatInterfaces(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "netstat-i", Pos: l.Pos()}
	if SniffNetstatInterfaces(l.Head(4096)) != source.Strong || !l.Next() {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no netstat -i begins here; \"Name Mtu Network Address Ipkts\" was expected"}
	}
	titles := strings.Fields(string(l.Bytes()))
	columns := titles[min(4, len(titles)):]
	for l.Next() {
		words := bytes.Fields(l.Bytes())
		if len(words) > 0 && !l.Complete() {
			cut(ledger, l.Pos(), "the input ends inside netstat -i; the line is left out")
			break
		}
		if len(words) < len(columns)+3 {
			if len(words) > 0 {
				l.Back()
			}
			break
		}
		if !bytes.HasPrefix(words[2], []byte("<Link#")) {
			continue
		}
		i := InterfaceOutput{Name: strings.TrimSuffix(string(words[0]), "*")}
		if !i.netstatCounts(columns, words[len(words)-len(columns):], l.Pos()) || len(out.Interfaces) >= maxItems {
			ledger.Add("unreadable-line", source.Warning, l.Pos(), 1, source.Excerpt(l.Bytes())+" has counts that are no numbers; the interface is left out")
			continue
		}
		out.Interfaces = append(out.Interfaces, i)
	}
	return out, nil
}

func (i *InterfaceOutput) netstatCounts(columns []string, values [][]byte, pos source.Pos) bool {
	for k, title := range columns {
		n, ok := parseUint(values[k])
		if name := netstatName(title); ok && name != "" {
			i.Counters = append(i.Counters, Count{Name: name, Value: n, Line: pos.Line, Offset: pos.Offset})
		} else if name != "" && string(values[k]) != "-" {
			return false
		}
	}
	return true
}
