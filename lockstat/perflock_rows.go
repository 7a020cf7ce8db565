package lockstat

import (
	"bytes"
	"fmt"
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

type nanos = unit.Nanos

// ReadPerfLockContention reads one table of perf lock contention.
func ReadPerfLockContention(l *source.Lines, ledger *source.Ledger) (*Table, error) {
	r := newPerfReader(l, ledger, "perf lock contention", ByCaller)
	r.read, r.flush = (*perfReader).contentionRow, (*perfReader).addContention
	r.lines()
	return r.b.finish(), nil
}

// keyed tells what the rows of the table stand for, and notes the options that show.
func (r *perfReader) keyed() {
	h, t := r.header, r.b.table
	for _, k := range []struct {
		column column
		keyed  Keyed
		option string
	}{{columnPID, ByThread, "-t"}, {columnOwner, ByOwner, "-o"}, {columnAddress, ByLock, "-l"}, {columnGroup, ByGroup, "-g"}} {
		if h.has(k.column) {
			t.Keyed = k.keyed
			r.b.option(k.option)
		}
	}
	if h.sep != nil {
		r.b.option("-x")
	}
}

// contentionRow reads a row: the figures are in the order of the header, and the last column takes what is left.
func (r *perfReader) contentionRow(line []byte) (*Row, bool) {
	row := &Row{Pos: r.l.Pos(), Act: Wait, Stack: []string{}}
	fields, nanosOnly := r.fields(line), r.header.nanos
	if r.rows == 0 {
		r.keyed()
	}
	var count int64
	var slack nanos
	m := &row.Wait
	m.Exact = true
	for i, c := range r.header.columns {
		last := i == len(r.header.columns)-1
		if len(fields) == 0 {
			return row, last && (c == columnSymbol || c == columnCaller || c == columnComm || c == columnStack) && r.close(row, count, slack)
		}
		if c <= columnMin {
			used, ok := r.number(m, c, fields, nanosOnly, &count, &slack)
			if !ok {
				return nil, false
			}
			fields = fields[used:]
			continue
		}
		text := fields[0]
		if last && r.header.sep == nil {
			text = bytes.Join(fields, []byte(" "))
		}
		if !r.label(row, c, text) {
			return nil, false
		}
		fields = fields[1:]
	}
	return row, r.close(row, count, slack)
}

// fields splits a row on blanks, or on the separator of -x.
func (r *perfReader) fields(line []byte) [][]byte {
	if r.header.sep == nil {
		r.w = words(line, r.w)
		return r.w
	}
	r.w = r.w[:0]
	for part := range bytes.SplitSeq(line, r.header.sep) {
		r.w = append(r.w, bytes.TrimSpace(part))
	}
	return r.w
}

// number reads a column of figures at the beginning of fields.
func (r *perfReader) number(m *Measured, c column, fields [][]byte, nanosOnly bool, count *int64, slack *nanos) (used int, ok bool) {
	if c == columnContended || c == columnAcquired {
		*count, ok = whole(fields[0])
		return 1, ok
	}
	v, s, used, ok := perfTime(fields, nanosOnly)
	switch c {
	case columnTotal:
		m.Total, m.Slack = v, s
	case columnAvg:
		m.Mean, *slack = v, s
	case columnMax:
		m.Max = v
	case columnMin:
		m.Min = v
	}
	return used, ok
}

// label reads a column of text.
func (r *perfReader) label(row *Row, c column, text []byte) bool {
	switch c {
	case columnType:
		row.Kind = r.b.name(text)
		return symbolic(text)
	case columnCaller:
		row.Caller = r.b.name(text)
	case columnAddress:
		row.Address = r.b.name(text)
		return isAddress(row.Address)
	case columnSymbol:
		row.Lock = r.b.name(text)
		if name, kind, ok := strings.Cut(row.Lock, " ("); ok && strings.HasSuffix(kind, ")") {
			row.Lock, row.Kind = name, strings.TrimSuffix(kind, ")")
		}
	case columnPID:
		row.Thread = r.b.name(text)
		_, ok := whole(bytes.TrimPrefix(text, []byte("-")))
		return ok
	case columnComm, columnOwner, columnGroup:
		row.Thread = strings.TrimSpace(string(text) + " " + row.Thread)
	case columnStack:
		for frame := range bytes.SplitSeq(text, []byte(":")) {
			if len(frame) > 0 && len(row.Stack) < maxFrames {
				row.Stack = append(row.Stack, r.b.name(frame))
			}
		}
	}
	return true
}

// close completes a row.
func (r *perfReader) close(row *Row, count int64, meanSlack nanos) bool {
	row.Wait.complete(count, int64(meanSlack), r.header.has(columnTotal))
	row.Act = actOf(row.Kind)
	return true
}

// actOf tells how threads wait for a kind of lock, as perf names it. A mutex may be spun on for a while before the
// waiter sleeps; perf counts both as one wait.
func actOf(kind string) Act {
	name, _, _ := strings.Cut(kind, ":")
	switch name {
	case "spinlock", "rwlock", "mutex-spin":
		return Spin
	case "mutex", "rwsem", "rtmutex", "rwlock-rt", "percpu-rwsem", "pcpu-sem", "pcpu-rwsem", "semaphore":
		return Block
	}
	return Wait
}

// addContention adds a row. Owners that perf 6.15 lists behind the waiters are no waits of their own.
func (r *perfReader) addContention(row *Row) {
	if r.owners {
		row.Act = Hold
		r.b.option("-o")
		r.b.keep(*row)
		return
	}
	if len(row.Stack) > 0 {
		r.b.option("-v")
	}
	r.b.keep(*row)
	if r.impossible(row) {
		return
	}
	identity, name := row.Caller, row.Caller
	switch r.b.table.Keyed {
	case ByThread, ByOwner, ByGroup:
		identity, name = row.Thread, row.Thread
	case ByLock:
		identity = row.Address
		if name = row.Lock; name == "" {
			name = row.Address
		}
	}
	r.b.add(identity, name, row)
}

// impossible quarantines a row that a lost event has spoilt: perf counts a wait when it begins and its time when it
// ends, so a time without a wait belongs to another.
func (r *perfReader) impossible(row *Row) bool {
	m := &row.Wait
	switch {
	case m.Count == 0 && m.Total > 0:
		r.b.quarantine(*row, fmt.Sprintf("%s of wait in 0 contentions", m.Total))
	case m.Total > 0 && m.Max > m.Total+m.Total/50+m.Slack:
		r.b.quarantine(*row, fmt.Sprintf("the longest wait, %s, is more than all waits, %s", m.Max, m.Total))
	default:
		return false
	}
	return true
}

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
	w := words(line, r.w)
	r.w = w
	h, figures := r.header, 0
	for _, c := range h.columns[1:] {
		figures++
		if c > columnContended && !h.nanos {
			figures++
		}
	}
	if len(w) < figures {
		return nil, false
	}
	row := &Row{Pos: r.l.Pos(), Act: Wait, Stack: []string{}}
	row.Lock = r.b.name(bytes.Join(w[:len(w)-figures], []byte(" ")))
	row.Wait.Exact = true
	var contended, acquired int64
	var slack nanos
	fields := w[len(w)-figures:]
	for _, c := range h.columns[1:] {
		count := &contended
		if c == columnAcquired {
			count = &acquired
		}
		used, ok := r.number(&row.Wait, c, fields, h.nanos, count, &slack)
		if !ok {
			return nil, false
		}
		fields = fields[used:]
	}
	row.Hold.Count = acquired
	row.Wait.complete(contended, int64(slack), h.has(columnTotal))
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
			l.Sites = append(l.Sites, Site{Caller: l.Name, Stats: l.Stats, Stack: []string{}, Pos: l.Pos})
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
