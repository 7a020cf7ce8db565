package coalesce

import (
	"bytes"

	"nettrace/source"
)

// turbostat: how busy and fast each CPU was, and in which idle states it rested.
//
//	Core	CPU	Avg_MHz	Busy%	Bzy_MHz	TSC_MHz	IRQ	POLL%	C1%	C6%	CPU%c1	CPU%c6
//	-	-	312	11.05	2824	2600	10233	0.01	3.11	85.32	9.13	79.82
//	0	0	402	14.23	2825	2600	6023	0.02	4.20	80.79	11.01	74.76
//
// Written by turbostat of the kernel's tools (tools/power/x86/turbostat), tabs between the columns, which differ by
// machine; older ones have blanks and %c0 for Busy%. The row "-" is the whole machine. A head begins each report.
// What --debug prints before, and columns that are no numbers, are left out.

// SniffTurbostat recognises turbostat by its head.
func SniffTurbostat(head []byte) source.Match {
	line, _ := firstLine(head)
	if isTurbostatHead(line) {
		return source.Strong
	}
	return source.No
}

func isTurbostatHead(line []byte) bool {
	return bytes.Contains(line, []byte("Avg_MHz")) && bytes.Contains(line, []byte("Bzy_MHz")) && (bytes.Contains(line, []byte("Busy%")) || bytes.Contains(line, []byte("%Busy")))
}

// ReadTurbostat reads turbostat.
func ReadTurbostat(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "turbostat", Pos: l.Pos()}
	if SniffTurbostat(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no turbostat begins here; a head with Avg_MHz, Busy% and Bzy_MHz was expected"}
	}
	r := newReports("turbostat")
	var columns []string
	cpu := -1
	for l.Next() {
		line := l.Bytes()
		words := bytes.Fields(line)
		switch {
		case isTurbostatHead(line):
			columns, cpu = columns[:0], -1
			for k, w := range words {
				columns = append(columns, string(w))
				if string(w) == "CPU" {
					cpu = k
				}
			}
		case len(words) == 0 || !digit(words[0][0]) && string(words[0]) != "-":
			if len(words) > 0 {
				l.Back()
			}
			out.Reported = r.list
			return out, nil
		case !l.Complete():
			cut(ledger, l.Pos(), "the input ends inside a line of turbostat; it is left out")
		default:
			r.turbostatRow(columns, cpu, words, l.Pos())
		}
	}
	out.Reported = r.list
	return out, nil
}

// turbostatRow enters a row. The columns of cores and packages stand in the row of their first CPU only, at the end.
func (r *reports) turbostatRow(columns []string, cpu int, words [][]byte, pos source.Pos) {
	subject := ""
	if cpu >= 0 && cpu < len(words) && string(words[cpu]) != "-" {
		subject = "CPU " + string(words[cpu])
	}
	for k, name := range columns[:min(len(columns), len(words))] {
		switch name {
		case "Core", "CPU", "Package", "Node", "Die", "usec", "Time_Of_Day_Seconds", "APIC", "X2APIC":
			continue
		}
		if v, ok := parseFloat(words[k]); ok {
			unit := reportedUnit(name)
			if bytes.Contains([]byte(name), []byte("%c")) { // CPU%c6
				unit = "%"
			}
			r.add(subject, name, unit, v, pos)
		}
	}
}
