package lockstat

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// ReadPerfLockReport reads one table of perf lock report.
func ReadPerfLockReport(l *source.Lines, ledger *source.Ledger) (*Table, error) {
	r := newPerfReader(l, ledger, "perf lock report", ByLock)
	r.read, r.flush = (*perfReader).reportRow, (*perfReader).addReport
	r.lines()
	r.reportKeys()
	return r.b.finish(), nil
}

// reportRow reads a row: the name may hold blanks, so the figures are counted from the end.
func (r *perfReader) reportRow(line []byte) (*Row, bool) {
	r.w = words(line, r.w)
	h, w, figured := r.header, r.w, 0
	for _, c := range h.columns[1:] {
		figured++
		if c > columnContended && !h.nanos {
			figured++
		}
	}
	if len(w) < figured || figured == 0 {
		return nil, false
	}
	row := &Row{Pos: r.l.Pos(), Act: Wait, Stack: []string{}}
	row.Lock = r.b.name(bytes.Join(w[:len(w)-figured], []byte(" ")))
	var f figures
	fields := w[len(w)-figured:]
	for _, c := range h.columns[1:] {
		used, ok := f.read(c, fields, h.nanos)
		if !ok {
			return nil, false
		}
		fields = fields[used:]
	}
	row.Wait, row.Hold.Count = f.measured(h), f.acquired
	return row, true
}

func (r *perfReader) addReport(row *Row) {
	r.b.keep(*row)
	if !r.impossible(row) {
		r.b.add(row.Lock, row.Lock, row)
	}
}

// reportKeys finds out what the names are, which depends on how it was recorded: classes of locks on kernels with
// lockdep, else the callers; threads with -t. On the latter two each acquisition counted is a contended one.
func (r *perfReader) reportKeys() {
	callers, classes, same := false, false, r.header != nil && r.header.has(columnAcquired) && r.header.has(columnContended)
	for i := range r.b.table.Locks {
		l := &r.b.table.Locks[i]
		callers = callers || strings.Contains(l.Name, "+0x")
		classes = classes || lockish(l.Name)
		same = same && l.Acquisitions == l.Contentions
	}
	switch {
	case len(r.b.table.Locks) == 0:
		return
	case callers:
		r.b.table.Keyed = ByCaller
		for i := range r.b.table.Locks {
			l := &r.b.table.Locks[i]
			l.Sites = append(l.Sites, Site{Caller: l.Name, Stats: l.Stats, Stacks: []Stack{}, Pos: l.Pos})
		}
	case !classes:
		r.b.table.Keyed = ByThread
		r.b.option("-t")
	}
	if same {
		r.b.lose("acquisitions-unknown", source.Note, r.b.table.Pos, 1, "acquired equals contended in each row: only waits were recorded (a kernel without lockdep), so this is no contention rate of 100 %")
		r.b.table.Total.Acquisitions = 0
		for i := range r.b.table.Locks {
			r.b.table.Locks[i].Acquisitions = 0
			for j := range r.b.table.Locks[i].Sites {
				r.b.table.Locks[i].Sites[j].Acquisitions = 0
			}
		}
	}
}

// lockish reports whether a name looks like that of a lock or a function rather than a thread's.
func lockish(name string) bool {
	for _, part := range []string{"lock", "mutex", "sem", "rcu", "&", "->", "...", "+0x", "#"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
