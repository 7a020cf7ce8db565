package lockstat

import (
	"bytes"
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

// klockstat of bcc (tools/klockstat.py: mutexes) and of its libbpf tools (libbpf-tools/klockstat.c: mutexes and
// reader-writer semaphores), a table of waits and one of holds, with -i a pair for each interval:
//
//	                        Caller   Avg Spin  Count   Max spin Total spin
//	            psi_avgs_work+0x2e       3675      5       5468      18379
//
//	                        Caller  Avg Wait    Count   Max Wait   Total Wait
//	            psi_avgs_work+0x2e    3.7 us        5     5.5 us      18.4 us
//
// Every acquisition is counted, not only those that waited, so its mean wait is not to be compared with perf's, and the
// times hold the cost of the probes. With -s more frames stand below a row; bcc's begin with the caller again. The libbpf
// tool then repeats the header for each row, and tells which lock and thread had the longest wait. With -P (libbpf) or -p
// rows are of threads, or of one process; -t and -p of bcc cannot be seen.

// SniffKlockstat recognises klockstat by its first line or its header.
func SniffKlockstat(head []byte) source.Match {
	line := firstLine(head)
	if bytes.HasPrefix(line, []byte("Tracing lock events... Hit Ctrl-C to end")) || bytes.HasPrefix(line, []byte("Tracing mutex/sem lock events...")) {
		return source.Strong
	}
	if len(line) > 120 || !bytes.Contains(line, []byte(" Avg ")) {
		return source.No
	}
	if _, ok := parseKlockHeader(line); ok {
		return source.Strong
	}
	return source.No
}

// klockHeader is what a header tells of the rows below.
type klockHeader struct {
	hold    bool
	units   bool // libbpf: values with units
	threads bool // Tid Comm in place of the caller
}

func parseKlockHeader(line []byte) (h klockHeader, ok bool) {
	switch text := strings.Join(strings.Fields(string(line[:min(len(line), 120)])), " "); text {
	case "Caller Avg Spin Count Max spin Total spin":
		return klockHeader{}, true
	case "Caller Avg Hold Count Max hold Total hold":
		return klockHeader{hold: true}, true
	case "Caller Avg Wait Count Max Wait Total Wait", "Tid Comm Avg Wait Count Max Wait Total Wait":
		return klockHeader{units: true, threads: text[0] == 'T'}, true
	case "Caller Avg Hold Count Max Hold Total Hold", "Tid Comm Avg Hold Count Max Hold Total Hold":
		return klockHeader{hold: true, units: true, threads: text[0] == 'T'}, true
	}
	return h, false
}

type klockReader struct {
	l        *source.Lines
	b        *builder
	w        [][]byte
	header   klockHeader
	begun    bool
	rows     []Row // of this interval
	earlier  []Row // of the one before, where it may be part of this
	acquired map[string]int64
	strange  int
}

// ReadKlockstat reads one run of klockstat.
func ReadKlockstat(l *source.Lines, ledger *source.Ledger) (*Table, error) {
	r := &klockReader{l: l, b: newBuilder(l.Pos(), Tool{Program: "klockstat", System: "Linux"}, ByCaller, ledger), acquired: map[string]int64{}}
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		if len(line) > 0 && !r.take(line) {
			l.Back()
			break
		}
	}
	return r.end(), nil
}

// take reads a line and reports whether it is part of this output.
func (r *klockReader) take(line []byte) bool {
	if h, ok := parseKlockHeader(line); ok {
		r.table(h)
		return true
	}
	switch {
	case bytes.HasPrefix(line, []byte("Tracing ")):
		return !r.begun && SniffKlockstat(line) == source.Strong
	case string(line) == "^C", bytes.HasPrefix(line, []byte("Exiting trace of ")), len(line) == 8 && line[2] == ':' && line[5] == ':':
		return true
	case bytes.HasPrefix(line, []byte("WARNING: ")) && bytes.Contains(line, []byte(" stack traces lost")):
		n, _ := whole(words(line, nil)[1])
		r.b.lose("stacks-lost", source.Warning, r.l.Pos(), max(n, 1), "klockstat lost stacks: their callers are not known; record with a larger --stack-storage-size")
		return true
	case !r.begun:
		return false
	case r.detail(line) || r.row(line):
		r.strange = 0
		return true
	}
	return r.damaged(line)
}

// table begins a table. A table of waits behind one of holds begins the next interval.
func (r *klockReader) table(h klockHeader) {
	if r.begun && r.header.hold && !h.hold {
		r.interval()
	}
	r.header, r.begun = h, true
	if h.units {
		r.b.table.Tool.Version = "libbpf"
	}
	if h.threads {
		r.b.table.Keyed = ByThread
		r.b.option("-P")
	}
}

// row reads a row: the figures are counted from the end, since the caller may hold blanks.
func (r *klockReader) row(line []byte) bool {
	r.w = words(line, r.w)
	w, figured := r.w, 4
	if r.header.units {
		figured = 7
	}
	if len(w) <= figured {
		return len(w) == 1 && r.frame(w[0])
	}
	name, fields := bytes.Join(w[:len(w)-figured], []byte(" ")), w[len(w)-figured:]
	m, ok := klockFigures(fields, r.header.units)
	if !ok {
		return false
	}
	if !r.l.Complete() {
		r.cut()
		return true
	}
	row := Row{Pos: r.l.Pos(), Act: Wait, Wait: m, Stack: []string{}}
	if r.header.hold {
		row.Act, row.Wait, row.Hold = Hold, Measured{}, m
	}
	if !r.header.units {
		row.Kind = "mutex"
	}
	if row.Caller = r.b.name(name); r.header.threads {
		row.Caller, row.Thread = "", row.Caller
	}
	if len(r.rows) < maxRows {
		r.rows = append(r.rows, row)
	} else {
		r.b.ledger.Add("rows-not-listed", source.Warning, row.Pos, 1, "more than 4,096 rows in one interval; further ones are left out")
	}
	return true
}

// klockFigures reads average, count, maximum and total.
func klockFigures(w [][]byte, units bool) (m Measured, ok bool) {
	var slack [3]unit.Nanos
	at := 0
	for i, to := range []*unit.Nanos{&m.Mean, nil, &m.Max, &m.Total} {
		if to == nil {
			if m.Count, ok = whole(w[at]); !ok {
				return m, false
			}
			at++
			continue
		}
		v, s, used, ok := perfTime(w[at:], !units)
		if !ok {
			return m, false
		}
		*to, slack[min(i, 2)], at = v, s, at+used
	}
	m.Slack, m.Exact = slack[2], true
	return m, true
}

// frame reads a frame below a row; bcc repeats the caller there.
func (r *klockReader) frame(symbol []byte) bool {
	if len(r.rows) == 0 || !symbolic(symbol) && string(symbol) != "Unknown" {
		return false
	}
	row := &r.rows[len(r.rows)-1]
	r.b.option("-s")
	if len(row.Stack) == 0 {
		row.Stack = append(row.Stack, row.Caller)
	}
	if string(symbol) != row.Stack[len(row.Stack)-1] && len(row.Stack) < maxFrames {
		row.Stack = append(row.Stack, r.b.name(symbol))
	}
	return true
}

// detail reads "Max PID 12, COMM tx, Lock rtnl_mutex (0xffffffff8300b740)": whose the longest wait or hold of the row was.
func (r *klockReader) detail(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("Max PID ")) || len(r.rows) == 0 {
		return false
	}
	row := &r.rows[len(r.rows)-1]
	_, lock, ok := bytes.Cut(line, []byte(", Lock "))
	name, address, ok2 := bytes.Cut(lock, []byte(" ("))
	if ok && ok2 {
		row.Lock, row.Address = r.b.name(name), r.b.name(bytes.TrimSuffix(address, []byte(")")))
	}
	if _, comm, ok := bytes.Cut(line, []byte(", COMM ")); ok {
		comm, _, _ = bytes.Cut(comm, []byte(", Lock "))
		row.Thread = r.b.name(comm)
	}
	return ok
}

// interval ends an interval. bcc begins anew in each; the libbpf tool goes on counting unless it is told to (-R), so there
// an interval in which no count fell holds the one before.
func (r *klockReader) interval() {
	for i := range r.rows {
		r.b.keep(r.rows[i])
	}
	if r.earlier != nil && !(r.header.units && grew(r.earlier, r.rows)) {
		r.add(r.earlier)
	}
	r.earlier, r.rows = r.rows, nil
}

// grew reports whether each row of earlier is there in later with at least its count.
func grew(earlier, later []Row) bool {
	type key struct {
		act            Act
		caller, thread string
	}
	counts := map[key]int64{}
	for i := range later {
		k := key{later[i].Act, later[i].Caller, later[i].Thread}
		counts[k] += later[i].Wait.Count + later[i].Hold.Count
	}
	for i := range earlier {
		k := key{earlier[i].Act, earlier[i].Caller, earlier[i].Thread}
		if counts[k] -= earlier[i].Wait.Count + earlier[i].Hold.Count; counts[k] < 0 {
			return false
		}
	}
	return true
}

func (r *klockReader) add(rows []Row) {
	for i := range rows {
		row := rows[i]
		name := row.Caller
		if r.header.threads {
			name = row.Thread
		}
		r.acquired[name] = sum(r.acquired[name], row.Wait.Count)
		row.Wait.Count = 0 // acquisitions, not waits
		row.Address = ""
		r.b.add(name, name, &row)
	}
}

// end adds what was read. Acquisitions are counted in both tables; a caller may be in one of them only (-n).
func (r *klockReader) end() *Table {
	r.interval()
	r.add(r.earlier)
	t := r.b.table
	t.Total.Acquisitions = 0
	for i := range t.Locks {
		l := &t.Locks[i]
		l.Acquisitions = max(l.Acquisitions, r.acquired[l.Name])
		if len(l.Sites) == 1 {
			l.Sites[0].Acquisitions = l.Acquisitions
		}
		t.Total.Acquisitions = sum(t.Total.Acquisitions, l.Acquisitions)
	}
	if len(t.Locks) == 0 {
		r.b.lose("no-contention", source.Note, t.Pos, 1, "no rows: no lock was taken while klockstat ran, or a filter left nothing")
	} else {
		r.b.lose("every-acquisition", source.Note, t.Pos, 1, "klockstat times every acquisition, not only contended ones, and its own probes with them: its waits are upper bounds")
	}
	return r.b.finish()
}

// damaged counts a line that is not understood. It reports false where another output begins.
func (r *klockReader) damaged(line []byte) bool {
	if !r.l.Complete() && blank(r.l.Bytes()[0]) {
		r.cut()
		return true
	}
	if r.strange++; !blank(r.l.Bytes()[0]) || r.strange > strangeLines {
		return false
	}
	if !r.l.Stray() {
		return false
	}
	r.b.lose("damaged-line", source.Warning, r.l.Pos(), 1, "not a row of klockstat: "+source.Excerpt(r.l.Bytes()))
	return true
}

func (r *klockReader) cut() {
	r.b.lose("cut-input", source.Warning, r.l.Pos(), 1, "the input ends inside a row")
}
