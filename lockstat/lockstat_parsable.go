package lockstat

import (
	"bytes"

	"nettrace/source"
	"nettrace/unit"
)

// The three forms of lockstat without headings.

// takeTotal reads a line of -D 0, which prints nothing but how often each type of event happened.
func (r *lockstatReader) takeTotal(line []byte) bool {
	if r.form != totals && r.form != unseen {
		return false
	}
	h, ok := parseTotal(line)
	if !ok || r.event != nil && h.event.number <= r.event.Number {
		return false
	}
	if r.form == unseen {
		r.form = totals
		r.b.option("-D 0")
		r.b.lose("no-locks", source.Note, r.l.Pos(), 1, "lockstat -D 0 prints how many events there were (with -R: how many a second), and no locks")
	}
	r.endEvent()
	r.event = &tableEvent{Event: Event{Name: h.event.name, Number: h.event.number, Act: h.event.act, Kind: h.event.kind, Count: h.count, Pos: r.l.Pos()}}
	return true
}

// takeParsable reads a line of -p: event, count, lock, caller, references; then, as recorded, the total time, 64 bins
// and the stack.
func (r *lockstatReader) takeParsable(line []byte) bool {
	if r.form != parsable && r.form != unseen || !sniffParsable(line, r.w) {
		return false
	}
	if r.form == unseen {
		r.form = parsable
		r.b.option("-p")
		r.open = true // until a line is whole
		line = r.lookAhead()
	}
	r.open = false
	if !r.l.Complete() {
		r.cut()
		return true
	}
	r.w = words(line, r.w)
	number, _ := whole(r.w[0])
	e, _ := eventNumbered(number)
	p := &pendingRow{Row: Row{Pos: r.l.Pos(), Event: e.name, Act: e.act, Kind: e.kind, Lock: r.b.name(r.w[2]), Caller: r.b.name(r.w[3]), Stack: []string{}}}
	p.count, _ = whole(r.w[1])
	steps := r.steps && e.act == Spin
	m := Measured{Count: p.count}
	if len(r.w) > 5 {
		total, ok := whole(r.w[5])
		if !ok || !r.distribution(p, r.w[6:]) {
			r.b.lose("damaged-line", source.Warning, r.l.Pos(), 1, "not a line of lockstat -p: the total, or one of the 64 bins behind it, is no number")
			return true
		}
		m.Total = unit.Nanos(total)
		if p.count > 0 {
			m.Mean = unit.Nanos(total / p.count)
		}
		m.Bins = upper.bins(p.labels) // -p came with DTrace's quantize
		m.Max, m.Exact = max(m.Mean, longest(m.Bins)), p.count == 1
	}
	r.measure(&p.Row, m, steps)
	r.count(e, m, len(r.w) > 5, steps)
	r.store(&p.Row)
	return true
}

// distribution reads the 64 bins and the frames behind them.
func (r *lockstatReader) distribution(p *pendingRow, w [][]byte) bool {
	if len(w) == 0 {
		return true
	}
	if len(w) < 64 {
		return false
	}
	for i, word := range w[:64] {
		n, ok := whole(word)
		if !ok {
			return false
		}
		if n > 0 && i < 62 {
			p.labels = append(p.labels, label{value: 1 << i, count: n})
		}
	}
	for _, symbol := range w[64:] {
		p.frame(r.b, symbol)
	}
	return true
}

// count adds a row to its event, which -p and -T print no total of.
func (r *lockstatReader) count(e eventType, m Measured, timed, steps bool) {
	events := r.b.table.Events
	if n := len(events); n == 0 || events[n-1].Number != e.number {
		for i := range events {
			if events[i].Number == e.number {
				events[i].addRow(m)
				return
			}
		}
		unit := map[bool]string{true: "ns"}[timed]
		if timed && steps {
			unit = "iterations"
		}
		events = append(events, Event{Name: e.name, Number: e.number, Act: e.act, Kind: e.kind, Unit: unit, Pos: r.l.Pos()})
		r.b.table.Events = events
	}
	events[len(events)-1].addRow(m)
}

func (e *Event) addRow(m Measured) {
	e.Count, e.Shown = sum(e.Count, m.Count), sum(e.Shown, m.Count)
	if e.Unit == "ns" {
		e.Time = sum(e.Time, m.Total)
	}
}

// lookAhead finds out whose output it is: -p and -T print no units, and illumos counts the loops of spinning where
// FreeBSD takes the time. Without a sign of FreeBSD they are taken for loops, which are in no sum of time. It returns
// the current line, which looking ahead moves.
func (r *lockstatReader) lookAhead() []byte {
	r.l.Back()
	head := r.l.Head(64 << 10)
	if freeBSD(head) {
		r.b.table.Tool.System = "FreeBSD"
	}
	r.l.Next()
	if r.b.table.Tool.System != "FreeBSD" {
		r.steps = true
		r.b.lose("unit-unknown", source.Note, r.l.Pos(), 1, "nothing shows which system this is from: times of spinning are taken for loop iterations, as illumos counts them, and are in no sum of time")
	}
	return bytes.TrimSpace(r.l.Bytes())
}

// freeBSD reports whether there is an address of FreeBSD's kernel heap, or an event that only FreeBSD has.
func freeBSD(head []byte) bool {
	if bytes.Contains(head, []byte(" 0xfffff8")) || bytes.Contains(head, []byte(" 0xfffffe")) {
		return true
	}
	var buf [4][]byte
	for line := range bytes.Lines(head) {
		w := words(line[:min(len(line), 40)], buf[:0])
		if len(w) < 3 {
			continue
		}
		if n, ok := whole(w[0]); ok && (n >= 8 && n <= 15 || n == 36 || n == 37) {
			return true
		}
	}
	return false
}

// takeTrace reads -T: one line for each event, "0         311          0x0  0xfffff80003a4d018        iflib_if_transmit+0x1c2",
// with the frames of its stack below.
func (r *lockstatReader) takeTrace() bool {
	if traceHeader(r.w) && r.form == unseen {
		r.form = traced
		r.b.option("-T")
		r.lookAhead()
		return true
	}
	if r.form != traced {
		return false
	}
	w := r.w
	if len(w) == 1 && symbolic(w[0]) && r.row != nil {
		r.row.frame(r.b, w[0])
		return true
	}
	if len(w) < 5 {
		return false
	}
	number, ok := whole(w[0])
	e, known := eventNumbered(number)
	nanos, ok2 := whole(w[1])
	if !ok || !known || !ok2 || !symbolic(w[len(w)-1]) {
		return false
	}
	if !r.l.Complete() {
		r.cut()
		return true
	}
	r.flush()
	row := Row{Pos: r.l.Pos(), Event: e.name, Act: e.act, Kind: e.kind, Lock: r.b.name(bytes.Join(w[3:len(w)-1], []byte(" "))), Caller: r.b.name(w[len(w)-1]), Stack: []string{}}
	m := Measured{Count: 1, Total: unit.Nanos(nanos), Mean: unit.Nanos(nanos), Max: unit.Nanos(nanos), Exact: true}
	r.measure(&row, m, r.steps && e.act == Spin)
	r.count(e, m, true, r.steps && e.act == Spin)
	r.row = &pendingRow{Row: row, measured: true}
	return true
}
