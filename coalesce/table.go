package coalesce

import (
	"bytes"

	"nettrace/source"
)

// Reading of tables whose header names the CPUs and whose rows are "KEY: count count ... text": /proc/interrupts and
// /proc/softirqs. Columns are mapped by the header, since offline CPUs have none.

// cpuHeader reads a line of nothing but CPU names. The line may begin with a prompt that ends in the file's path.
func cpuHeader(line []byte, path string) (cpus []int, ok bool) {
	if _, after, found := bytes.Cut(line, []byte(path)); found {
		line = after
	}
	if !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("CPU")) {
		return nil, false
	}
	for _, w := range bytes.Fields(line) {
		digits, isCPU := bytes.CutPrefix(w, []byte("CPU"))
		n, isNumber := parseUint(digits)
		if !isCPU || !isNumber || n > 1<<20 {
			return nil, false
		}
		cpus = append(cpus, int(n))
	}
	return cpus, true
}

// isRow reports, without allocation, whether line is "key: number...".
func isRow(line []byte) bool {
	key, rest, ok := bytes.Cut(bytes.TrimLeft(line, " \t"), []byte{':'})
	if !ok || len(key) == 0 || len(key) > 16 || bytes.IndexByte(key, ' ') >= 0 {
		return false
	}
	rest = bytes.TrimLeft(rest, " \t")
	return len(rest) > 0 && digit(rest[0])
}

// parseRow reads a row; text is what follows the counts. short reports that there are fewer counts than CPUs, which is
// right only for the rows that have one value.
func parseRow(line []byte, cpus []int) (row TableRow, text []byte, short bool) {
	key, rest, _ := bytes.Cut(bytes.TrimLeft(line, " \t"), []byte{':'})
	row.Key = string(key)
	n := 0
	for n < len(cpus) {
		word := bytes.TrimLeft(rest, " \t")
		end := bytes.IndexAny(word, " \t")
		if end < 0 {
			end = len(word)
		}
		count, ok := parseUint(word[:end])
		if !ok {
			break
		}
		if count != 0 {
			row.Cells = append(row.Cells, Cell{cpus[n], count})
		}
		rest = word[end:]
		n++
	}
	text = bytes.TrimSpace(rest)
	if n == len(cpus) {
		return row, text, false
	}
	if n == 1 && len(text) == 0 { // ERR and MIS
		row.Single = true
		return row, text, false
	}
	row.Unknown = append(row.Unknown, cpus[n:]...)
	return row, text, true
}

// tableReader reads the rows below a header.
type tableReader struct {
	out    *Output
	ledger *source.Ledger
	what   string                           // for the ledger: "/proc/interrupts"
	keep   func(row *TableRow, text []byte) // fills in what follows the counts
}

func (t *tableReader) rows(l *source.Lines) {
	table := t.out.Table
	for l.Next() {
		line := l.Bytes()
		if !isRow(line) {
			if unfinished(l) && len(bytes.TrimSpace(line)) > 0 {
				cut(t.ledger, l.Pos(), "the input ends inside a row of "+t.what)
				return
			}
			if len(bytes.TrimSpace(line)) == 0 || !damaged(l, isRow) {
				return
			}
			skip(l, t.ledger, "a row of "+t.what)
			continue
		}
		row, text, short := parseRow(line, table.CPUs)
		row.Pos = l.Pos()
		switch {
		case !l.Complete() && (short || len(text) == 0):
			cut(t.ledger, row.Pos, "the input ends inside a row of "+t.what+"; the row is left out")
			return
		case !l.Complete():
			cut(t.ledger, row.Pos, "the input ends without a line end in a row of "+t.what+"; its counts are whole")
		case short:
			t.ledger.Add("unreadable-line", source.Warning, row.Pos, 1, "the row "+row.Key+" has fewer counts than there are CPUs in the header; those missing are unknown")
		case len(table.Rows) == maxItems:
			t.ledger.Add("too-many-counters", source.Warning, row.Pos, 1, "more than 65,536 rows in one output; the rest is left out")
			continue
		}
		t.keep(&row, text)
		table.Rows = append(table.Rows, row)
	}
}
