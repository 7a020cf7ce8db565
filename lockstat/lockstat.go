package lockstat

import (
	"bytes"
	"fmt"

	"nettrace/source"
)

// lockstat(1) of FreeBSD (cddl/contrib/opensolaris/cmd/lockstat), illumos and Solaris writes a table for each type of
// event that happened:
//
//	Adaptive mutex spin: 94178 events in 10.004 seconds (9414 events/sec)
//	Count indv cuml rcnt     nsec Lock                   Caller
//	71414  76%  76% 0.00      194 0xfffff80003a4d018     iflib_if_transmit+0x1c2
//
// with variations by its options; see lockstat(1). Fields overflow to the right, so rows are split on blanks. The
// columns indv and cuml repeat what the counts tell and are kept as text only; rcnt is always 0 or 1 and ignored, but
// for telling the old driver. Options that cannot be seen in the output (-n, -d, -f, -l, -e) are not known here.

// strangeLines is how many lines that are not understood may follow each other inside an open table.
const strangeLines = 3

// form is one of the four shapes of lockstat's output.
type form uint8

const (
	unseen   form = iota
	tables        // the default
	totals        // -D 0
	parsable      // -p
	traced        // -T
)

type lockstatReader struct {
	l *source.Lines
	b *builder
	w [][]byte

	form    form
	columns columns
	event   *tableEvent
	row     *pendingRow // its histogram and stack may still come
	open    bool        // a table whose closing rule was not met
	inTable int         // rows since the header
	strange int         // lines in a row that were not understood
	bounds  bounds      // how the histograms before were read
	steps   bool        // -p, -T: whether spin events count iterations
}

// ReadLockstat reads one output of lockstat(1), of any form.
func ReadLockstat(l *source.Lines, ledger *source.Ledger) (*Table, error) {
	r := &lockstatReader{l: l, b: newBuilder(l.Pos(), Tool{Program: "lockstat"}, ByLock, ledger)}
	for l.Next() {
		line := bytes.TrimRight(l.Bytes(), " \t\r")
		if len(line) > 0 && !r.take(line) {
			l.Back()
			return r.end(), nil
		}
	}
	if r.open {
		r.cut()
	}
	return r.end(), nil
}

// take reads a line and reports whether it is part of this output.
func (r *lockstatReader) take(line []byte) bool {
	trimmed := bytes.TrimSpace(line)
	if h, ok := parseHeading(line); ok {
		return r.heading(h, line[h.end:])
	}
	if name := complaint(trimmed); name != "" {
		r.complain(name, trimmed)
		return true
	}
	if r.form == tables || r.form == traced {
		if rule(trimmed, '-', 20) {
			r.closing()
			return true
		}
		if string(trimmed) == "[...]" {
			r.elided()
			return true
		}
	}
	r.w = words(line, r.w)
	switch {
	case r.takeTotal(trimmed), r.takeTrace(), r.takeParsable(trimmed), r.takeTable(line):
		r.strange = 0
		return true
	}
	if !r.l.Complete() && (r.form == tables && beginsEvent(trimmed) || r.form > tables && trimmed[0] >= '0' && trimmed[0] <= '9') {
		r.cut()
		return true
	}
	return r.form == tables && r.open && r.damaged(trimmed)
}

// heading begins a table. It reports false where another run of lockstat begins: types come in the order of their
// numbers, and all of one run last equally long.
func (r *lockstatReader) heading(h heading, rest []byte) bool {
	if r.form != tables && r.form != unseen || r.event != nil && (h.event.number <= r.event.Number || h.seconds != r.b.table.Seconds) {
		return false
	}
	r.form, r.strange = tables, 0
	r.flush()
	r.begin(h)
	if rest = bytes.TrimSpace(rest); len(rest) > 0 {
		r.flat(rest)
	}
	return true
}

// begin starts the table of an event.
func (r *lockstatReader) begin(h heading) {
	r.endEvent()
	r.b.table.Seconds = h.seconds
	e := Event{Name: h.event.name, Number: h.event.number, Act: h.event.act, Kind: h.event.kind, Count: h.count, Pos: r.l.Pos()}
	r.event = &tableEvent{Event: e, byTime: true}
	r.open, r.inTable = true, 0
	if n := h.event.number; n >= 8 && n <= 15 || n == 36 || n == 37 {
		r.b.table.Tool.System = "FreeBSD"
	}
}

// takeTable reads what stands below a heading.
func (r *lockstatReader) takeTable(line []byte) bool {
	if r.form != tables && r.form != unseen {
		return false
	}
	if c, ok := parseColumns(r.w); ok && c.length == len(r.w) {
		r.header(c)
		return true
	}
	if r.form == unseen {
		return false
	}
	if bytes.Contains(line, []byte("- Time Distribution -")) {
		return r.row != nil
	}
	if r.row != nil {
		if l, frame, ok := parseBin(line); ok {
			r.row.labels = append(r.row.labels, l)
			r.row.frame(r.b, frame)
			return true
		}
	}
	if row, ok := r.parseRow(); ok {
		if !r.l.Complete() {
			r.cut()
			return true
		}
		r.flush()
		r.row = row
		r.inTable++
		return true
	}
	return r.continued(line)
}

// header takes the line of column names, which comes once for each table or, with histograms, for each row.
func (r *lockstatReader) header(c columns) {
	r.form, r.open, r.inTable = tables, true, 0
	r.flush()
	r.columns = c
	if r.event == nil { // a table cut out of an output, without the line that names the event
		r.event = &tableEvent{Event: Event{Act: Failure, Number: -1, Pos: r.l.Pos()}}
		r.b.lose("event-line-missing", source.Warning, r.l.Pos(), 1, "the table has no line that names its event: whether its rows are waits or holds cannot be told, and they are not summed; copy the output whole")
	}
	r.event.unit(c.unit)
	for _, o := range []struct {
		name string
		seen bool
	}{{"-R", c.rate}, {"-g", c.generated}, {"-W", c.hottestLock}, {"-w", c.hottestCaller}, {"-b", c.unit == ""}} {
		if o.seen {
			r.b.option(o.name)
		}
	}
	if c.unit == "spin" {
		r.b.table.Tool.System = "illumos"
	}
}

// continued reads lines that belong to a row: a frame of the stack beyond the histogram, or the end of a wrapped heading.
func (r *lockstatReader) continued(line []byte) bool {
	if r.inTable == 0 && string(bytes.TrimSpace(line)) == "events/sec)" {
		return true
	}
	if r.row == nil || len(r.row.labels) == 0 || len(r.w) != 1 || !symbolic(r.w[0]) {
		return false
	}
	indented := bytes.HasPrefix(line, []byte("                    "))
	if !indented && !bytes.Contains(r.w[0], []byte("+0x")) && !bytes.HasPrefix(r.w[0], []byte("0x")) {
		return false
	}
	r.row.frame(r.b, r.w[0])
	return true
}

// closing takes a rule of dashes: below the header, or at the end of a table or record.
func (r *lockstatReader) closing() {
	if r.inTable > 0 {
		r.flush()
		r.open, r.inTable = false, 0
	}
}

// elided takes the mark by which people cut an output.
func (r *lockstatReader) elided() {
	r.flush()
	r.open = false
	if r.event != nil {
		r.event.elided = true
	}
	r.b.lose("cut-by-hand", source.Note, r.l.Pos(), 1, `"[...]": rows were left out by whoever copied the output; sums are too low`)
}

// damaged counts a line inside an open table that is not understood. It reports false where another output begins.
func (r *lockstatReader) damaged(line []byte) bool {
	if !r.l.Complete() {
		r.cut()
		return true
	}
	if r.strange++; r.strange > strangeLines || !r.l.Stray() {
		return false
	}
	if r.event != nil {
		r.event.elided = true
	}
	r.b.lose("damaged-line", source.Warning, r.l.Pos(), 1, "not a row of lockstat: "+source.Excerpt(r.l.Bytes()))
	return true
}

// cut enters that the input ends inside a table.
func (r *lockstatReader) cut() {
	r.open = false
	if r.event != nil {
		r.event.elided = true
	}
	r.b.lose("cut-input", source.Warning, r.l.Pos(), 1, "the input ends inside a table; what was cut off is in no sum")
}

func (r *lockstatReader) complain(name string, line []byte) {
	weight, n, text := source.Warning, int64(1), string(bytes.TrimPrefix(bytes.TrimPrefix(line, []byte("lockstat: ")), []byte("warning: ")))
	switch name {
	case "records-lost":
		text += ": counts are too low; record again with a larger -n, and -x aggsize=4m"
	case "aggregation-drops", "dynamic-variable-drops", "trace-drops":
		if w := words([]byte(text), nil); len(w) > 0 {
			if drops, ok := whole(w[0]); ok {
				n = max(drops, 1)
			}
		}
		text += ": counts are too low; record again with -x aggsize=4m (or dynvarsize=4m for holds)"
	case "command-failed":
		text += ": the recording may not hold the load that was meant"
	}
	r.b.lose(name, weight, r.l.Pos(), n, fmt.Sprintf("lockstat: %s", text))
}

func (r *lockstatReader) end() *Table {
	r.flush()
	r.endEvent()
	return r.b.finish()
}
