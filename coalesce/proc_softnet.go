package coalesce

import (
	"bytes"
	"fmt"

	"nettrace/source"
)

// /proc/net/softnet_stat: the receive backlog of each online CPU, one line each, hexadecimal, unsigned 32 bit.
//
//	00ad6638 00000000 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
//
// Columns from 1 (net/core/net-procfs.c): processed, dropped, time_squeeze, five unused, cpu_collision (0 since 4.17),
// received_rps (2.6.36), flow_limit_count (3.11), backlog length and CPU number (5.10), input and process queue length
// (6.x). Files have 9, 10, 11, 13 or 15 columns; further ones are ignored until they have a meaning. Without the CPU
// number lines are taken as CPUs 0, 1, 2..., which is wrong if CPUs are offline. "processed" counts after GRO.

const (
	softnetCPU  = 12 // index of the CPU number's column
	softnetLess = 9  // columns that all kernels print
)

// softnetColumns names the columns by index, "" for those without a meaning.
func softnetColumns() []string {
	return []string{"processed", "dropped", "time_squeeze", "", "", "", "", "", "cpu_collision", "received_rps", "flow_limit_count", "backlog_len", "", "input_queue_len", "process_queue_len"}
}

// SniffSoftnet recognises lines of 8-digit hexadecimal numbers; fewer than 9 only weakly, to refuse them with a message.
func SniffSoftnet(head []byte) source.Match {
	line, _ := firstLine(head)
	switch n := softnetFields(line); {
	case n >= softnetLess:
		return source.Strong
	case n >= 4:
		return source.Weak
	}
	return source.No
}

// softnetFields returns how many 8-digit numbers a line of nothing else holds, or 0.
func softnetFields(line []byte) int {
	line = bytes.TrimRight(line, " \r")
	if len(line)%9 != 8 || len(line) > 9*64 {
		return 0
	}
	for i, c := range line {
		if blank := i%9 == 8; blank != (c == ' ') || !blank && hexDigit(c) < 0 {
			return 0
		}
	}
	return (len(line) + 1) / 9
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func softnetField(line []byte, i int) (v uint64) {
	for _, c := range line[9*i : 9*i+8] {
		v = v<<4 | uint64(hexDigit(c))
	}
	return v
}

// ReadSoftnet reads /proc/net/softnet_stat.
func ReadSoftnet(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "proc-softnet_stat", Pos: l.Pos(), Table: &Table{}}
	table := out.Table
	rows := map[string]int{}
	for l.Next() {
		line := l.Bytes()
		n := softnetFields(line)
		if n == 0 {
			if !l.Complete() && len(line) > 0 && len(table.CPUs) > 0 && hexDigit(line[0]) >= 0 {
				cut(ledger, l.Pos(), "the input ends inside a line of softnet_stat; its CPU is left out")
				break
			}
			if len(table.CPUs) == 0 || len(bytes.TrimSpace(line)) == 0 || !damaged(l, func(line []byte) bool { return softnetFields(line) >= softnetLess }) {
				l.Back()
				break
			}
			skip(l, ledger, "a line of softnet_stat")
			continue
		}
		if n < softnetLess {
			return nil, &source.SyntaxError{Pos: l.Pos(), Msg: fmt.Sprintf("%d columns; softnet_stat has 9 or more, so this is another file, or damaged", n)}
		}
		if len(table.CPUs) < maxItems {
			table.addSoftnet(line, n, l.Pos(), rows)
		}
	}
	if len(table.CPUs) == 0 {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no line of softnet_stat; 9 or more 8-digit hexadecimal numbers were expected"}
	}
	return out, nil
}

// addSoftnet enters a line, which has n columns, as a column of the table.
func (t *Table) addSoftnet(line []byte, n int, pos source.Pos, rows map[string]int) {
	cpu := len(t.CPUs)
	if n > softnetCPU {
		cpu = int(softnetField(line, softnetCPU))
	} else {
		t.CPUsAssumed = true
	}
	for i, name := range softnetColumns() {
		if name == "" {
			continue
		}
		at, known := rows[name]
		switch {
		case !known && i >= n:
			continue
		case !known:
			at = len(t.Rows)
			rows[name] = at
			t.Rows = append(t.Rows, TableRow{Key: name, Pos: pos, Unknown: append([]int(nil), t.CPUs...)})
		}
		row := &t.Rows[at]
		if i >= n {
			row.Unknown = append(row.Unknown, cpu)
		} else if v := softnetField(line, i); v != 0 {
			row.Cells = append(row.Cells, Cell{cpu, v})
		}
	}
	t.CPUs, t.CPUPos = append(t.CPUs, cpu), append(t.CPUPos, pos)
}
