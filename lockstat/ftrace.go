package lockstat

import (
	"bytes"

	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// Lock events in the text of the kernel's own tracer (cat /sys/kernel/tracing/trace or trace_pipe, also trace-cmd report
// -R; Linux kernel/trace/trace_output.c):
//
//	#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
//	             cat-5551    [001] dnh2.  1421.349745: contention_begin: 00000000a565a478 (flags=SPIN)
//
// The group "(-----)" behind the thread and the column of flags may be absent. Addresses are hashed, but each stands for
// one lock. Events that are not of locks are counted and left out, since they say nothing of locks; so are stacks
// ("<stack trace>", "=> f"), which the tracer prints as an event of its own.

// SniffFtrace recognises the tracer's text by its header, if lock events are in the head, or by a line of one.
func SniffFtrace(head []byte) source.Match {
	line := firstLine(head)
	if bytes.HasPrefix(line, []byte("# tracer: ")) {
		for _, name := range lockEvents {
			if bytes.Contains(head, []byte(": "+name[len("lock:"):]+": ")) {
				return source.Strong
			}
		}
		return source.No
	}
	if len(line) < 40 || !bytes.Contains(line, []byte(": ")) {
		return source.No
	}
	var e perf.Event
	if parseFtrace(line, &e) && lockEventNamed(e.Name) {
		return source.Strong
	}
	return source.No
}

func lockEventNamed(name string) bool {
	for _, known := range lockEvents {
		if known == name {
			return true
		}
	}
	return false
}

// ReadFtrace reads lock events of the tracer's text and pairs them.
func ReadFtrace(l *source.Lines, ledger *source.Ledger) ([]*Table, error) {
	r := &ftraceReader{l: l, ledger: ledger, p: NewPairing(l.Pos(), ledger)}
	r.p.rows = true
	for l.Next() {
		line := bytes.TrimRight(l.Bytes(), " \t\r")
		if len(line) > 0 && !r.take(line) {
			l.Back()
			break
		}
	}
	return r.p.Tables(Recording{CPUs: r.cpus, Lost: r.lost}), nil
}

type ftraceReader struct {
	l      *source.Lines
	ledger *source.Ledger
	p      *Pairing
	e      perf.Event
	cpus   int
	lost   int64
}

// take reads a line and reports whether it is of this text.
func (r *ftraceReader) take(line []byte) bool {
	switch {
	case line[0] == '#':
		return r.header(line)
	case bytes.HasPrefix(line, []byte("CPU:")):
		return r.hole(line)
	case bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("=> ")):
		return true
	case !parseFtrace(line, &r.e):
		return r.damaged(line)
	case !r.l.Complete():
		r.ledger.Add("cut-input", source.Warning, r.l.Pos(), 1, "the input ends inside an event; it is left out")
		return true
	case !lockEventNamed(r.e.Name):
		r.ledger.Add("other-events", source.Note, r.l.Pos(), 1, "events that are not of locks say nothing here; left out")
		return true
	}
	r.e.Pos = r.l.Pos()
	r.p.Event(&r.e)
	return true
}

// header reads "# entries-in-buffer/entries-written: 21713/30000   #P:2". Only the first comment lines are one header.
func (r *ftraceReader) header(line []byte) bool {
	if bytes.HasPrefix(line, []byte("# tracer: ")) && r.p.contention != nil {
		return false // the next text
	}
	rest, ok := bytes.CutPrefix(line, []byte("# entries-in-buffer/entries-written: "))
	if !ok {
		return true
	}
	kept, rest, _ := bytes.Cut(rest, []byte("/"))
	written, rest, _ := bytes.Cut(rest, []byte(" "))
	n, ok1 := whole(kept)
	m, ok2 := whole(written)
	if ok1 && ok2 && m > n {
		r.lost = sum(r.lost, m-n)
	}
	if _, cpus, ok := bytes.Cut(rest, []byte("#P:")); ok {
		n, _ := whole(bytes.TrimSpace(cpus))
		r.cpus = int(min(n, 1<<16))
	}
	return true
}

// hole reads "CPU:1 [LOST 123 EVENTS]", where the buffer ran over while it was read.
func (r *ftraceReader) hole(line []byte) bool {
	_, rest, ok := bytes.Cut(line, []byte(" [LOST "))
	number, _, events := bytes.Cut(rest, []byte(" EVENTS]"))
	if !ok || !events {
		return false
	}
	n, _ := whole(number)
	r.lost = sum(r.lost, max(n, 1))
	return true
}

// damaged counts a line that is not understood, and reports false where another output begins.
func (r *ftraceReader) damaged(line []byte) bool {
	if !r.l.Complete() && blank(line[0]) {
		r.ledger.Add("cut-input", source.Warning, r.l.Pos(), 1, "the input ends inside an event; it is left out")
		return true
	}
	if !bytes.Contains(line, []byte("] ")) || !bytes.Contains(line, []byte(": ")) {
		return false
	}
	if !r.l.Stray() {
		return false
	}
	r.ledger.Add("damaged-line", source.Warning, r.l.Pos(), 1, "not an event of the tracer: "+source.Excerpt(r.l.Bytes()))
	return true
}

// parseFtrace takes a line apart: "TASK-PID (TGID) [CPU] flags time: event: fields". The thread's name may hold anything,
// so it ends before the first "[digits]" that a number in front follows from.
func parseFtrace(line []byte, e *perf.Event) bool {
	for at := 0; ; {
		i := bytes.Index(line[at:], []byte(" ["))
		if i < 0 {
			return false
		}
		at += i + 2
		if tid, ok := ftraceTask(line[:at-2]); ok && ftraceRest(line[at:], e) {
			e.TID, e.HasTID = tid, true
			return true
		}
	}
}

// ftraceTask reads the thread's number of "cat-5551", "<idle>-0" and "cat-5551    (   5551)".
func ftraceTask(text []byte) (tid int, ok bool) {
	text = bytes.TrimRight(text, " ")
	if bytes.HasSuffix(text, []byte(")")) {
		i := bytes.LastIndexByte(text, '(')
		if i < 0 {
			return 0, false
		}
		text = bytes.TrimRight(text[:i], " ")
	}
	dash := bytes.LastIndexByte(text, '-')
	if dash < 0 {
		return 0, false
	}
	n, ok := whole(text[dash+1:])
	return int(min(n, 1<<31-1)), ok
}

// ftraceRest reads "001] dnh2.  1421.349745: contention_begin: 00000000a565a478 (flags=SPIN)".
func ftraceRest(text []byte, e *perf.Event) bool {
	number, rest, ok := bytes.Cut(text, []byte("] "))
	cpu, isNumber := whole(number)
	if !ok || !isNumber || cpu > 1<<16 {
		return false
	}
	for range 2 { // the column of flags may be absent
		rest = bytes.TrimLeft(rest, " ")
		stamp, behind, ok := bytes.Cut(rest, []byte(": "))
		if !ok {
			return false
		}
		if digits, places, ok := decimal(stamp); ok && places > 0 {
			return ftraceEvent(behind, unit.Nanos(product(digits, pow10(9-places))), int(cpu), e)
		}
		if len(stamp) > 40 || bytes.IndexByte(stamp, ' ') < 0 {
			return false
		}
		_, rest, _ = bytes.Cut(rest, []byte(" "))
	}
	return false
}

func ftraceEvent(text []byte, at unit.Nanos, cpu int, e *perf.Event) bool {
	name, payload, ok := bytes.Cut(text, []byte(": "))
	if !ok || len(name) == 0 || bytes.IndexByte(name, ' ') >= 0 {
		return false
	}
	*e = perf.Event{Name: "lock:other", CPU: cpu, HasCPU: true, Time: at, HasTime: true, Payload: payload}
	for _, known := range lockEvents {
		if known[len("lock:"):] == string(name) {
			e.Name = known
		}
	}
	return true
}
