package coalesce

import (
	"bytes"

	"nettrace/source"
)

// /proc/stat: the time of each CPU by what it did, in ticks of USER_HZ (1/100 s), and counts of the whole host.
//
//	cpu  28902 0 25065 119403 534 0 5855 103 0 0
//	cpu0 14259 0 11835 60996 66 0 2704 46 0 0
//	ctxt 6070162
//
// Written by Linux (fs/proc/stat.c). The line of all CPUs is their sum and ignored; of intr and softirq, whose kinds
// /proc/interrupts and softirqs name, the total is kept; btime and the numbers of processes are not counts.

func statColumns() []string {
	return []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"}
}

// SniffStat recognises /proc/stat by the lines of all CPUs and of the first.
func SniffStat(head []byte) source.Match {
	if !bytes.HasPrefix(head, []byte("cpu  ")) {
		return source.No
	}
	line, rest := firstLine(head)
	next, _ := firstLine(rest)
	if len(line) > 5 && digit(line[5]) && bytes.HasPrefix(next, []byte("cpu")) {
		return source.Strong
	}
	return source.No
}

// ReadStat reads /proc/stat.
func ReadStat(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "proc-stat", Pos: l.Pos(), Table: &Table{}}
	if SniffStat(l.Head(4096)) != source.Strong || !l.Next() {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no /proc/stat begins here; \"cpu  \" and \"cpu0 \" were expected"}
	}
	t := out.Table
	for _, name := range statColumns() {
		t.Rows = append(t.Rows, TableRow{Key: name, Pos: l.Pos()})
	}
	for l.Next() {
		words := bytes.Fields(l.Bytes())
		if len(words) > 0 && !l.Complete() {
			cut(ledger, l.Pos(), "the input ends inside /proc/stat; the line is left out")
			break
		}
		if len(words) < 2 || !isStatLine(words[0]) {
			if len(words) > 0 {
				l.Back()
			}
			break
		}
		if !t.addStat(words, l.Pos()) {
			ledger.Add("unreadable-line", source.Warning, l.Pos(), 1, source.Excerpt(l.Bytes())+" is no line of /proc/stat; it is left out")
		}
	}
	return out, nil
}

func isStatLine(word []byte) bool {
	switch string(word) {
	case "intr", "ctxt", "btime", "processes", "procs_running", "procs_blocked", "softirq", "page", "swap":
		return true
	}
	return bytes.HasPrefix(word, []byte("cpu"))
}

// addStat enters a line.
func (t *Table) addStat(words [][]byte, pos source.Pos) bool {
	digits, isCPU := bytes.CutPrefix(words[0], []byte("cpu"))
	if !isCPU {
		n, ok := parseUint(words[1])
		switch string(words[0]) {
		case "intr", "ctxt", "processes", "softirq":
			key := string(words[0])
			if key == "softirq" { // the column of that name is time
				key = "softirqs"
			}
			t.Rows = append(t.Rows, TableRow{Key: key, Single: true, Cells: []Cell{{Value: n}}, Pos: pos})
		}
		return ok && len(t.Rows) < maxItems
	}
	cpu, ok := parseUint(digits)
	if !ok || cpu > 1<<20 || len(t.CPUs) >= maxItems {
		return false
	}
	for k := range statColumns() {
		if k+1 >= len(words) {
			t.Rows[k].Unknown = append(t.Rows[k].Unknown, int(cpu))
			continue
		}
		n, ok := parseUint(words[k+1])
		if !ok {
			return false
		}
		if n != 0 {
			t.Rows[k].Cells = append(t.Rows[k].Cells, Cell{int(cpu), n})
		}
	}
	t.CPUs, t.CPUPos = append(t.CPUs, int(cpu)), append(t.CPUPos, pos)
	return true
}
