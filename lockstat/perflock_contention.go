package lockstat

import (
	"bytes"
	"fmt"
	"strings"

	"nettrace/source"
)

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

// contentionRow reads a row: the columns are in the order of the header, and the last one takes what is left. A symbol
// may be empty.
func (r *perfReader) contentionRow(line []byte) (*Row, bool) {
	if r.rows == 0 {
		r.keyed()
	}
	row := &Row{Pos: r.l.Pos(), Stack: []string{}}
	var f figures
	fields := r.fields(line)
	for i, c := range r.header.columns {
		last := i == len(r.header.columns)-1
		switch {
		case len(fields) == 0:
			if !last || c != columnSymbol && c != columnStack {
				return nil, false
			}
		case c <= columnMin:
			used, ok := f.read(c, fields, r.header.nanos)
			if !ok {
				return nil, false
			}
			fields = fields[used:]
		default:
			text := fields[0]
			if last && r.header.sep == nil {
				text = bytes.Join(fields, []byte(" "))
			}
			if !r.label(row, c, text) {
				return nil, false
			}
			fields = fields[1:]
		}
	}
	row.Act, row.Wait = actOf(row.Kind), f.measured(r.header)
	return row, true
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
