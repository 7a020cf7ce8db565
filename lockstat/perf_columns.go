package lockstat

import (
	"bytes"
	"slices"

	"nettrace/unit"
)

// column is one column of a table of perf lock.
type column uint8

const (
	columnName column = iota
	columnAcquired
	columnContended
	columnAvg
	columnTotal
	columnMax
	columnMin
	columnType
	columnCaller
	columnPID
	columnComm
	columnOwner
	columnAddress
	columnSymbol
	columnGroup
	columnStack
)

var perfColumns = [...]struct {
	words  string
	column column
}{
	{"Name", columnName}, {"acquired", columnAcquired}, {"contended", columnContended}, {"avg wait", columnAvg}, {"total wait", columnTotal}, {"max wait", columnMax}, {"min wait", columnMin},
	{"type", columnType}, {"caller", columnCaller}, {"pid", columnPID}, {"comm", columnComm}, {"owner", columnOwner}, {"address", columnAddress}, {"symbol", columnSymbol}, {"cgroup", columnGroup}, {"stacktrace", columnStack},
}

// perfHeader is the line of column names of a table.
type perfHeader struct {
	columns []column
	nanos   bool   // times are nanoseconds without unit
	sep     []byte // with -x
}

func (h *perfHeader) has(c column) bool { return slices.Contains(h.columns, c) }

// report reports whether the table is one of perf lock report.
func (h *perfHeader) report() bool { return h.columns[0] == columnName }

// parsePerfHeader reads " contended   total wait     max wait     avg wait         type   caller", the same of
// perf lock report, which begins with Name, or the comment that -x writes: "# output: contended, total wait, ...".
func parsePerfHeader(line []byte) (*perfHeader, bool) {
	line = bytes.TrimSpace(line)
	if rest, ok := bytes.CutPrefix(line, []byte("# output: ")); ok {
		return parseCSVHeader(rest)
	}
	var buf [24][]byte
	w := words(line[:min(len(line), 300)], buf[:0])
	if len(w) < 2 {
		return nil, false
	}
	if _, n := perfColumn(w); n == 0 {
		return nil, false
	}
	h := &perfHeader{}
	for i := 0; i < len(w); {
		c, n := perfColumn(w[i:])
		if n == 0 {
			return nil, false
		}
		if i += n; i < len(w) && string(w[i]) == "(ns)" {
			h.nanos = true
			i++
		}
		h.columns = append(h.columns, c)
	}
	return h, h.valid()
}

func parseCSVHeader(line []byte) (*perfHeader, bool) {
	h := &perfHeader{nanos: true, sep: separator(line)}
	if len(h.sep) == 0 {
		return nil, false
	}
	for part := range bytes.SplitSeq(line, h.sep) {
		c, n := perfColumn(words(part, nil))
		if n == 0 {
			return nil, false
		}
		h.columns = append(h.columns, c)
	}
	return h, h.valid()
}

// separator is what stands between the first column's name and the second's, without the blank that perf adds.
func separator(line []byte) []byte {
	for _, name := range []string{"contended", "total wait", "max wait", "min wait", "avg wait"} {
		rest, ok := bytes.CutPrefix(line, []byte(name))
		if !ok {
			continue
		}
		end := bytes.IndexFunc(rest, func(r rune) bool { return r >= 'a' && r <= 'z' })
		if end <= 0 {
			return nil
		}
		if sep := bytes.TrimSpace(rest[:end]); len(sep) > 0 {
			return bytes.Clone(sep)
		}
		return bytes.Clone(rest[:end])
	}
	return nil
}

// perfColumn reads the name at the beginning of w and how many words it has.
func perfColumn(w [][]byte) (column, int) {
	for _, c := range perfColumns {
		first, second, two := bytes.Cut([]byte(c.words), []byte(" "))
		if len(w) == 0 || !bytes.Equal(w[0], first) {
			continue
		}
		if !two {
			return c.column, 1
		}
		if len(w) > 1 && bytes.Equal(w[1], second) {
			return c.column, 2
		}
	}
	return 0, 0
}

// valid reports whether the columns are those of one of perf's tables.
func (h *perfHeader) valid() bool {
	if len(h.columns) < 2 || len(h.columns) > 12 {
		return false
	}
	timed := h.has(columnTotal) || h.has(columnAvg) || h.has(columnMax) || h.has(columnMin)
	if h.columns[0] == columnName {
		return h.has(columnAcquired) || h.has(columnContended) || timed
	}
	last := h.columns[len(h.columns)-1]
	return (h.has(columnContended) || timed) && last >= columnType
}

// figures are the numbers of a row while it is read.
type figures struct {
	contended, acquired int64
	times               Measured
	meanSlack           unit.Nanos
}

// read takes a column of numbers from the beginning of fields.
func (f *figures) read(c column, fields [][]byte, nanos bool) (used int, ok bool) {
	switch c {
	case columnContended:
		f.contended, ok = whole(fields[0])
		return 1, ok
	case columnAcquired:
		f.acquired, ok = whole(fields[0])
		return 1, ok
	}
	v, slack, used, ok := perfTime(fields, nanos)
	switch c {
	case columnTotal:
		f.times.Total, f.times.Slack = v, slack
	case columnAvg:
		f.times.Mean, f.meanSlack = v, slack
	case columnMax:
		f.times.Max = v
	case columnMin:
		f.times.Min = v
	}
	return used, ok
}

// measured returns the row's waits, with what was not printed worked out from what was.
func (f *figures) measured(h *perfHeader) Measured {
	m := f.times
	m.Count, m.Exact = f.contended, true
	if !h.has(columnTotal) {
		m.Total, m.Slack = unit.Nanos(product(int64(m.Mean), m.Count)), unit.Nanos(product(int64(f.meanSlack), m.Count))
	}
	if m.Mean == 0 && m.Count > 0 {
		m.Mean = m.Total / unit.Nanos(m.Count)
	}
	if !h.has(columnMax) {
		m.Max, m.Exact = m.Mean, m.Count == 1
	}
	return m
}

// perfTime reads a time and how far it may be off by rounding: "95.28 ms", or nanoseconds alone.
func perfTime(w [][]byte, nanos bool) (value, slack unit.Nanos, used int, ok bool) {
	if len(w) == 0 {
		return 0, 0, 0, false
	}
	digits, places, ok := decimal(w[0])
	if nanos {
		return unit.Nanos(digits), 0, 1, ok && places == 0
	}
	if !ok || len(w) < 2 {
		return 0, 0, 0, false
	}
	scale := perfUnit(w[1])
	if scale == 0 {
		return 0, 0, 0, false
	}
	per := pow10(places)
	if digits > 1<<52/scale { // beyond some weeks: exact to the unit only
		return unit.Nanos(product(digits/per, scale)), unit.Nanos(scale), 2, true
	}
	if places > 0 || scale > 1 {
		slack = unit.Nanos(scale / per / 2)
	}
	return unit.Nanos(digits * scale / per), slack, 2, true
}

// perfUnit is the length of a unit in nanoseconds; m is minutes, h hours.
func perfUnit(word []byte) int64 {
	switch string(word) {
	case "ns":
		return 1
	case "us":
		return 1e3
	case "ms":
		return 1e6
	case "s":
		return 1e9
	case "m":
		return 60e9
	case "h":
		return 3600e9
	}
	return 0
}
