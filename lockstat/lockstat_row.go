package lockstat

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

// tableEvent is the table of an event while it is read.
type tableEvent struct {
	Event
	rows     int
	elided   bool // rows are missing for another reason than -D
	byTime   bool // the rows come in the order of their times
	offShare bool // a percentage that is not that of the count
	last     int64
	reached  int64 // the last cumulative percentage
}

// unit takes the name of the column of means.
func (e *tableEvent) unit(column string) {
	switch column {
	case "":
		e.Unit = ""
	case "spin":
		e.Unit = "iterations"
	default:
		e.Unit = "ns"
	}
}

// pendingRow is a row whose histogram and stack are still being read.
type pendingRow struct {
	Row
	count, mean int64
	timed       bool
	measured    bool // what was measured is in the row already
	labels      []label
	frames      int
}

// maxFrames bounds a stack; lockstat's own bound is 50.
const maxFrames = 64

// frame takes a frame of the stack. Frames below the caller, and the caller itself, are no news.
func (p *pendingRow) frame(b *builder, symbol []byte) {
	if len(symbol) == 0 || len(p.Stack) >= maxFrames {
		return
	}
	if p.frames++; p.frames <= 4 && string(symbol) == p.Caller {
		p.Stack = p.Stack[:0]
		return
	}
	p.Stack = append(p.Stack, b.name(symbol))
}

// parseRow reads "71414  76%  76% 0.00      194 0xfffff80003a4d018     iflib_if_transmit+0x1c2". Names of locks may
// hold blanks, so the caller is the last word and the lock what is left.
func (r *lockstatReader) parseRow() (*pendingRow, bool) {
	w := r.w
	if r.event == nil || len(w) < 6 || !percent(w[1]) || !percent(w[2]) && string(w[2]) != "----" {
		return nil, false
	}
	count, ok := whole(w[0])
	_, _, ok2 := decimal(w[3])
	if !ok || !ok2 {
		return nil, false
	}
	p := &pendingRow{count: count, Row: Row{Pos: r.l.Pos(), Percent: r.b.name(w[1]), Cumulative: r.b.name(w[2]), Stack: []string{}}}
	lock := 4
	if r.columns.unit != "" {
		if p.mean, ok = whole(w[4]); !ok || len(w) < 7 {
			return nil, false
		}
		p.timed = true
		lock = 5
	}
	if string(w[3]) == "1.00" {
		r.b.table.Tool.Version = "driver" // before Solaris 10
	}
	p.Lock, p.Caller = r.b.name(bytes.Join(w[lock:len(w)-1], []byte(" "))), r.b.name(w[len(w)-1])
	return p, true
}

// flush adds the pending row to the table.
func (r *lockstatReader) flush() {
	p := r.row
	if p == nil {
		return
	}
	r.row = nil
	if p.measured {
		r.store(&p.Row)
		return
	}
	e := r.event
	e.note(p, &r.columns)
	count := p.count
	if r.columns.rate {
		count = int64(min(math.Round(float64(p.count)*r.b.table.Seconds), math.MaxInt64/2))
	}
	e.Shown = sum(e.Shown, count)
	p.Event, p.Act, p.Kind = e.Name, e.Act, e.Kind
	m := Measured{Count: count}
	if p.timed {
		m.Mean, m.Total, m.Slack = unit.Nanos(p.mean), unit.Nanos(product(p.mean, count)), unit.Nanos(max(count-1, 0))
		if r.columns.rate {
			m.Slack = sum(m.Slack, unit.Nanos(product(p.mean, int64(math.Ceil(r.b.table.Seconds)))))
		}
		m.Bins = r.place(p)
		m.Max, m.Exact = max(m.Mean, longest(m.Bins)), count == 1
		e.Time = sum(e.Time, m.Total)
	}
	r.measure(&p.Row, m, e.Unit == "iterations")
	r.store(&p.Row)
}

// measure puts what was measured where it belongs by the event's act. Iterations are no time.
func (r *lockstatReader) measure(row *Row, m Measured, iterations bool) {
	switch {
	case row.Act == Hold:
		row.Hold = m
	case iterations:
		row.Spins = m
	default:
		row.Wait = m
	}
}

// store keeps a row and adds it to its lock. Samples of the CPUs and failures are no locks, and the rows of -g count an
// event once for each frame of its stack.
func (r *lockstatReader) store(row *Row) {
	r.b.keep(*row)
	if strings.HasPrefix(row.Lock, "0xfffff8") || strings.HasPrefix(row.Lock, "0xfffffe") || strings.HasSuffix(row.Lock, "]+Intr") || strings.HasSuffix(row.Lock, "]+TShar") {
		r.b.table.Tool.System = "FreeBSD"
	}
	if row.Event == recursiveEntry && !r.columns.generated {
		r.b.recursion(*row)
	}
	if row.Act == Profile || row.Act == Failure || r.columns.generated {
		return
	}
	if mean := max(row.Wait.Mean, row.Hold.Mean); r.b.table.Seconds > 0 && mean.Seconds() > 1.01*r.b.table.Seconds { // lockstat rounds the seconds
		r.b.quarantine(*row, fmt.Sprintf("a mean of %s, longer than the recording", mean))
		return
	}
	identity := row.Lock
	if r.columns.hottestLock { // the row is for all locks taken at the caller; the printed one is only the hottest
		identity = "at " + row.Caller
	}
	r.b.add(identity, row.Lock, row)
}

// place reads a histogram's labels; see bounds.
func (r *lockstatReader) place(p *pendingRow) []Bin {
	if len(p.labels) == 0 {
		return nil
	}
	r.b.option("-h")
	if len(p.Stack) > 0 {
		r.b.option("-s")
	}
	b, fits := decide(p.labels, p.mean)
	if !fits && !r.columns.rate {
		r.b.lose("bins-and-mean-disagree", source.Warning, p.Pos, 1, fmt.Sprintf("the mean of %s lies outside the histogram, whether its labels are upper or lower bounds", unit.Nanos(p.mean)))
	}
	if b == undecided {
		if b = r.bounds; b == undecided {
			b = upper
			if r.b.table.Tool.Version == "driver" {
				b = lower
			}
		}
	}
	r.bounds = b
	return b.bins(p.labels)
}

// note compares a row with its table, to see how the table was sorted and cut.
func (e *tableEvent) note(p *pendingRow, c *columns) {
	if e.rows++; c.rate || c.generated || !p.timed {
		e.byTime = false
		return
	}
	total := product(p.count, p.mean)
	if e.rows > 1 && total > e.last {
		e.byTime = false
	}
	e.last = sum(total, p.count)
	if n, ok := whole(bytes.TrimSuffix([]byte(p.Percent), []byte("%"))); ok && math.Abs(float64(n)-100*ratio(p.count, e.Count)) > 0.6 {
		e.offShare = true
	}
	if n, err := strconv.ParseInt(strings.TrimSuffix(p.Cumulative, "%"), 10, 64); err == nil {
		e.reached = n
	}
}

// endEvent closes a table: what its rows leave out, and the options that it shows.
func (r *lockstatReader) endEvent() {
	e := r.event
	if e == nil {
		return
	}
	if e.Act == Profile {
		r.b.option("-I")
	}
	if e.byTime && e.offShare {
		r.b.option("-P")
		e.ShownTime = float64(e.reached) / 100
	}
	r.missing(e)
	if e.Number >= 0 {
		r.b.table.Events = append(r.b.table.Events, e.Event)
	}
}

// missing enters what the rows of a table leave out of the events that its heading counts.
func (r *lockstatReader) missing(e *tableEvent) {
	if r.columns.generated || r.columns.rate || e.Number < 0 || e.rows == 0 {
		return
	}
	switch left := e.Count - e.Shown; {
	case left > 0 && !e.elided:
		r.b.option("-D " + strconv.Itoa(e.rows))
		r.b.lose("rows-cut", source.Note, e.Pos, left, fmt.Sprintf("%s: the %d rows hold %s of the %s events; the rest was not printed (-D, or the input was cut)", e.Name, e.rows, unit.Percent(ratio(e.Shown, e.Count)), unit.Count(e.Count)))
	case left < 0:
		r.b.lose("count-mismatch", source.Warning, e.Pos, -left, fmt.Sprintf("%s: the rows count %s events, the heading %s; one of them is wrong", e.Name, unit.Count(e.Shown), unit.Count(e.Count)))
	}
}
