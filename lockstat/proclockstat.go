package lockstat

import (
	"bytes"
	"fmt"

	"nettrace/source"
)

// /proc/lock_stat of Linux kernels with CONFIG_LOCK_STAT (kernel/locking/lockdep_proc.c):
//
//	lock_stat version 0.4
//	   class name    con-bounces    contentions   waittime-min   waittime-max waittime-total   waittime-avg    acq-bounces ...
//	unix_table_lock:         110            112           0.21          49.24         163.91           1.46          21094 ...
//
// with, below a class, where threads waited and where the lock was held meanwhile. Times are microseconds with two
// decimals. Versions 0.2 and 0.3 lack the averages, 0.1 also the bounces. acq-bounces and the averages are not kept:
// the first says nothing of waiting, the second follow from the totals.

const procLockStat = "lock_stat"

// SniffProcLockStat recognises /proc/lock_stat by its first line, its header, or a row.
func SniffProcLockStat(head []byte) source.Match {
	line := firstLine(head)
	n := len(line)
	if n < 20 {
		return source.No
	}
	if bytes.Contains(line, []byte("lock_stat version 0.")) && bytes.Index(line, []byte("lock_stat version 0.")) < 80 {
		return source.Strong
	}
	if bytes.HasPrefix(line, []byte("class name ")) && bytes.Contains(line, []byte("waittime-total")) {
		return source.Strong
	}
	if last := line[n-1]; last < '0' || last > '9' || line[n-3] != '.' || bytes.IndexByte(line, ':') < 0 {
		return source.No
	}
	var buf [16]figure
	if _, figures, ok := procRow(line, buf[:0]); ok && layoutOf(figures, true) != nil {
		return source.Strong
	}
	return source.No
}

type procReader struct {
	l       *source.Lines
	b       *builder
	figures []figure
	w       [][]byte

	lock    int    // of the class read last, -1 before the first
	name    string // of the class whose numbers go on in the next line
	pos     source.Pos
	partial bool
	rules   int // short rules below the class: 1 waiters, 2 holders
	strange int
	begun   bool
}

// ReadProcLockStat reads one /proc/lock_stat, whole or what was cut from it.
func ReadProcLockStat(l *source.Lines, ledger *source.Ledger) (*Table, error) {
	r := &procReader{l: l, b: newBuilder(l.Pos(), Tool{Program: procLockStat, System: "Linux"}, ByLock, ledger), lock: -1}
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		if len(line) > 0 && !r.take(line) {
			l.Back()
			return r.b.finish(), nil
		}
	}
	if r.partial {
		r.cut()
	}
	return r.b.finish(), nil
}

// take reads a line and reports whether it is part of this output.
func (r *procReader) take(line []byte) bool {
	switch {
	case bytes.Contains(line, []byte("lock_stat version 0.")):
		if r.begun {
			return false // the next dump
		}
		_, version, _ := bytes.Cut(line, []byte("lock_stat version "))
		version, _, _ = bytes.Cut(version, []byte(" "))
		r.begun, r.b.table.Tool.Version = true, string(version[:min(len(version), 8)])
		return true
	case bytes.HasPrefix(line, []byte("*WARNING* lock debugging disabled")):
		r.b.lose("lock-debugging-disabled", source.Warning, r.l.Pos(), 1, "the kernel stopped counting, possibly because lockdep found an error (see dmesg); the figures end there")
		return true
	case rule(line, '.', 40):
		r.rules = 0
		return true
	case rule(line, '-', 3):
		if len(line) < 100 {
			r.rules++
		}
		return true
	case bytes.HasPrefix(line, []byte("class name ")):
		return true
	}
	if r.point(line) || r.row(line) {
		r.begun, r.strange = true, 0
		return true
	}
	return r.damaged(line)
}

// point reads "&list->lock#3   15570000   [<ffffffff812474da>] dev_queue_xmit+0x2ea/0x468": where threads waited or, in
// the second block, where they held the lock.
func (r *procReader) point(line []byte) bool {
	name, place, ok := bytes.Cut(line, []byte("[<"))
	if !ok {
		return false
	}
	_, caller, ok := bytes.Cut(place, []byte(">] "))
	r.w = words(name, r.w)
	if !ok || len(r.w) < 2 || r.lock < 0 {
		return false
	}
	count, ok := whole(r.w[len(r.w)-1])
	if !ok {
		return false
	}
	if !r.l.Complete() {
		r.cut()
		return true
	}
	site := Site{Caller: r.b.name(bytes.TrimSpace(caller)), Stats: Stats{Contentions: count}, Stacks: []Stack{}, Pos: []source.Pos{r.l.Pos()}}
	l := &r.b.table.Locks[r.lock]
	if r.rules >= 2 {
		if len(l.Holders) < 8 {
			l.Holders = append(l.Holders, site)
		}
		return true
	}
	s := &l.Sites[r.b.site(r.lock, site.Caller, "")]
	s.Contentions = sum(s.Contentions, count)
	if len(s.Pos) < maxPlace {
		s.Pos = append(s.Pos, r.l.Pos())
	}
	return true
}

// row reads the numbers of a class, which mail programs may have wrapped onto several lines.
func (r *procReader) row(line []byte) bool {
	name, figures, ok := procRow(line, r.figures[:0])
	if !ok && r.partial {
		figures, ok = procFigures(line, r.figures)
		if !ok || layoutOf(figures, false) == nil {
			return false
		}
	} else if !ok || len(name) == 0 || layoutOf(figures, false) == nil {
		return false
	} else {
		if r.partial {
			r.b.lose("damaged-line", source.Warning, r.pos, 1, r.name+": the row has too few numbers")
		}
		r.name, r.pos = r.b.name(name), r.l.Pos()
	}
	r.figures = figures
	layout := layoutOf(figures, true)
	if r.partial = layout == nil; r.partial {
		return true
	}
	if !r.l.Complete() {
		r.cut()
		return true
	}
	r.class(layout, figures)
	return true
}

// class adds a class to the table. The writers and readers of a lock have rows of their own.
func (r *procReader) class(layout *layout, f []figure) {
	if r.b.table.Tool.Version == "" {
		r.b.table.Tool.Version = layout.version
	}
	row := Row{Pos: r.pos, Act: Wait, Lock: r.name, Stack: []string{}}
	first := 0
	if layout.bounces {
		row.Bounces, first = f[0].value, 1
	}
	row.Wait, row.Hold = timed(f[first:]), timed(f[layout.hold:])
	name := r.name
	if base, side, ok := sides(name); ok {
		name, row.Kind = base, side
	}
	r.b.keep(row)
	if row.Wait.Count == 0 && row.Wait.Total > 0 || row.Wait.Max > row.Wait.Total+10 {
		r.b.quarantine(row, fmt.Sprintf("%s of wait, longest %s, in %d contentions", row.Wait.Total, row.Wait.Max, row.Wait.Count))
		return
	}
	lock := r.b.add(r.name, name, &row)
	if r.lock >= 0 && row.Kind == "read" && r.b.table.Locks[r.lock].Name == name {
		return // the places below are of both; they stay with the writers, which come first
	}
	r.lock, r.rules = lock, 0
}

// damaged counts a line that is not understood. It reports false where another output begins.
func (r *procReader) damaged(line []byte) bool {
	if !r.begun {
		return false
	}
	if !r.l.Complete() {
		r.cut()
		return true
	}
	likely := bytes.Contains(line, []byte("[<")) || bytes.Count(line, []byte(".")) > 4
	if r.strange++; !likely || r.strange > strangeLines {
		return false
	}
	if !r.l.Stray() {
		return false
	}
	r.b.lose("damaged-line", source.Warning, r.l.Pos(), 1, "not a row of lock_stat: "+source.Excerpt(r.l.Bytes()))
	return true
}

func (r *procReader) cut() {
	r.partial = false
	r.b.lose("cut-input", source.Warning, r.l.Pos(), 1, "the input ends inside a row")
}
