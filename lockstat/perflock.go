package lockstat

import (
	"bytes"
	"strconv"
	"strings"

	"nettrace/source"
)

// perf lock contention (perf 5.20/6.0 and newer) and perf lock report (2.6.33 and newer), tools/perf/builtin-lock.c:
//
//	 contended   total wait     max wait     avg wait         type   caller
//
//	         3    285.85 ms    262.99 ms     95.28 ms      rwsem:W   __iterate_supers+0xdc
//
// Up to about 6.5 the tables are written to stderr, so an empty file is often one that was saved without 2>&1. Warnings
// of lost events come before the table, counts of events that did not pair behind it. Averages follow from the totals
// and are used only where those are not printed. Filters (-S, -L, -G, -E) cannot be seen.

// SniffPerfLockContention recognises a table of perf lock contention, or perf's warnings before one.
func SniffPerfLockContention(head []byte) source.Match { return sniffPerfLock(head, false) }

// SniffPerfLockReport recognises a table of perf lock report, or perf's warnings before one.
func SniffPerfLockReport(head []byte) source.Match { return sniffPerfLock(head, true) }

func sniffPerfLock(head []byte, report bool) source.Match {
	line := firstLine(head)
	if bytes.HasPrefix(line, []byte("Warning:")) {
		line = behindWarnings(head)
	}
	if len(line) < 15 || len(line) > 250 {
		return source.No
	}
	switch line[0] {
	case 'E':
		if !report && refusal(line) {
			return source.Strong
		}
		return source.No
	case 'N':
		if !bytes.HasPrefix(line, []byte("Name ")) {
			return source.No
		}
	case '#':
		if !bytes.HasPrefix(line, []byte("# output: ")) {
			return source.No
		}
	case 'c', 't', 'a', 'm':
		if !bytes.Contains(line, []byte(" wait")) && !bytes.HasPrefix(line, []byte("contended")) {
			return source.No
		}
	default:
		return source.No
	}
	if h, ok := parsePerfHeader(line); ok && h.report() == report {
		return source.Strong
	}
	return source.No
}

// behindWarnings returns the first line that is not one of perf's warnings.
func behindWarnings(head []byte) []byte {
	for line := range bytes.Lines(head[:min(len(head), 1500)]) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !perfNoise(line) {
			return line
		}
	}
	return nil
}

// perfNoise reports whether a line is part of a warning of lost events.
func perfNoise(line []byte) bool {
	for _, start := range []string{"Warning:", "Processed ", "Check IO/CPU overload!"} {
		if bytes.HasPrefix(line, []byte(start)) {
			return true
		}
	}
	return false
}

// refusal reports whether perf says that it was built without BPF, so that -b records nothing.
func refusal(line []byte) bool {
	return bytes.HasPrefix(line, []byte("Error: switch `b' is not available"))
}

// refused takes what perf says then, with the usage behind it.
func (r *perfReader) refused(line []byte) bool {
	switch {
	case refusal(line) && r.rows == 0 && r.header == nil:
		r.rows++
		r.b.lose("bpf-refused", source.Warning, r.l.Pos(), 1, "perf was built without BPF (no BUILD_BPF_SKEL), so -b recorded nothing: use perf lock record, then perf lock contention")
		return true
	case r.rows == 0 || r.header != nil:
		return false
	}
	return bytes.HasPrefix(line, []byte("Usage: perf lock ")) || bytes.HasPrefix(line, []byte("-b, --use-bpf")) || bytes.HasPrefix(line, []byte("(not built-in because "))
}

type perfReader struct {
	l       *source.Lines
	b       *builder
	header  *perfHeader
	w       [][]byte
	row     *Row // its stack may still come
	read    func(*perfReader, []byte) (*Row, bool)
	flush   func(*perfReader, *Row)
	debug   bool // behind "=== output for debug ==="
	owners  bool // behind "=== owner stack trace ==="
	rows    int
	strange int
}

func newPerfReader(l *source.Lines, ledger *source.Ledger, program string, keyed Keyed) *perfReader {
	return &perfReader{l: l, b: newBuilder(l.Pos(), Tool{Program: program, System: "Linux"}, keyed, ledger)}
}

// lines takes the lines that belong to the output.
func (r *perfReader) lines() {
	for r.l.Next() {
		line := bytes.TrimSpace(r.l.Bytes())
		if len(line) > 0 && !r.take(line) {
			r.l.Back()
			break
		}
	}
	r.finishRow()
	if r.rows == 0 {
		r.b.lose("no-contention", source.Note, r.b.table.Pos, 1, "a header without rows: nothing waited for a lock while perf recorded, or a filter left nothing")
	}
}

func (r *perfReader) finishRow() {
	if r.row != nil {
		r.flush(r, r.row)
		r.row = nil
	}
}

// take reads a line and reports whether it is part of this output.
func (r *perfReader) take(line []byte) bool {
	if perfNoise(line) {
		return r.warning(line)
	}
	if h, ok := parsePerfHeader(line); ok {
		if r.header != nil || r.rows > 0 {
			return false // the next table
		}
		r.header = h
		return true
	}
	if r.header == nil {
		return r.refused(line)
	}
	if bytes.HasPrefix(line, []byte("=== ")) {
		r.finishRow()
		r.debug = bytes.Contains(line, []byte("output for debug"))
		r.owners = bytes.Contains(line, []byte("owner stack trace"))
		return r.debug || r.owners
	}
	if r.debug || bytes.HasPrefix(line, []byte("# debug:")) {
		return r.debugLine(line)
	}
	if r.stack(line) {
		return true
	}
	if row, ok := r.read(r, line); ok {
		r.strange = 0
		r.finishRow()
		r.rows++
		if !r.l.Complete() {
			r.cut()
			return true
		}
		r.row = row
		return true
	}
	return r.damaged(line)
}

// warning takes perf's words on what it lost. Behind a table they belong to the next.
func (r *perfReader) warning(line []byte) bool {
	if r.header != nil {
		return false
	}
	w := words(line, r.w)
	for i := 1; i+1 < len(w); i++ {
		if string(w[i]) != "lost" {
			continue
		}
		if n, ok := whole(w[i+1]); ok {
			r.b.lose("events-lost", source.Warning, r.l.Pos(), max(n, 1), "perf: "+string(line)+" a lost end of a wait lengthens another; record with larger buffers (-m 8M) or fewer CPUs")
		} else {
			r.b.lose("samples-lost", source.Warning, r.l.Pos(), 1, "perf: "+string(line))
		}
	}
	return true
}

// debugLine takes what perf says of events that did not pair.
func (r *perfReader) debugLine(line []byte) bool {
	if rest, ok := bytes.CutPrefix(line, []byte("# debug:")); ok {
		line = bytes.ReplaceAll(bytes.ReplaceAll(rest, []byte("="), []byte(": ")), []byte(","), nil)
		for w := words(line, nil); len(w) > 1; w = w[1:] {
			if n, ok := whole(w[1]); ok && string(w[0]) == "bad:" {
				r.bad(n)
			}
		}
		return true
	}
	if bytes.HasPrefix(line, []byte("histogram of ")) || bytes.HasPrefix(line, []byte("bad rate: ")) {
		return true
	}
	name, number, ok := bytes.Cut(line, []byte(": "))
	number, _, _ = bytes.Cut(number, []byte(", total: "))
	n, isNumber := whole(bytes.TrimSpace(number))
	if !ok || !isNumber || len(name) > 10 {
		return false
	}
	if string(name) == "bad" {
		r.bad(n)
	}
	return true
}

func (r *perfReader) bad(n int64) {
	if n > 0 {
		r.b.lose("bad-pairs", source.Warning, r.l.Pos(), n, "perf: "+strconv.FormatInt(n, 10)+" locks had events that did not pair: their waits are incomplete")
	}
}

// stack reads a frame of -v: "0xffffffff8220389b  _raw_spin_lock+0x3b".
func (r *perfReader) stack(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("0x")) || r.row == nil {
		return false
	}
	r.w = words(line, r.w)
	if !isAddress(string(r.w[0])) || len(r.w) > 4 {
		return false
	}
	frame := r.w[0]
	if len(r.w) > 1 {
		frame = r.w[1]
	}
	if len(r.row.Stack) < maxFrames {
		r.row.Stack = append(r.row.Stack, r.b.name(frame))
	}
	return true
}

// damaged counts a line inside a table that is not understood. It reports false where another output begins.
func (r *perfReader) damaged(line []byte) bool {
	if first := r.l.Bytes()[0]; !r.l.Complete() && (blank(first) || first >= '0' && first <= '9') { // as rows begin
		r.rows++
		r.cut()
		return true
	}
	if r.rows == 0 {
		return false
	}
	likely := strings.Contains(string(line), " us ") || strings.Contains(string(line), " ms ") || strings.Contains(string(line), " ns ") || strings.Contains(string(line), "+0x")
	if r.strange++; !likely || r.strange > strangeLines {
		return false
	}
	if !r.l.Stray() {
		return false
	}
	r.b.lose("damaged-line", source.Warning, r.l.Pos(), 1, "not a row of "+r.b.table.Tool.Program+": "+source.Excerpt(r.l.Bytes()))
	return true
}

func (r *perfReader) cut() {
	r.b.lose("cut-input", source.Warning, r.l.Pos(), 1, "the input ends inside a row")
}
