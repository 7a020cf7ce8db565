package perf

// The text of `perf script` (perf 3.x to 6.x; simpleperf's report-sample prints nearly the same, with tabs):
//
//	iperf3 10469 [000]   621.000803:    1001001 cpu-clock:
//		ffffffff81b6ccb0 _copy_to_iter+0x80 ([kernel.kallsyms])
//		           f82ad read+0xd (/usr/lib/x86_64-linux-gnu/libc.so.6)
//
// A blank line ends a sample. Without call chains a sample is one line, its thread name right-aligned, with a frame or a
// tracepoint's fields at the end. Columns come and go with -F and the version. Source: tools/perf/builtin-script.c and
// util/evsel_fprintf.c of Linux 6.1.
//
// Left out: source lines (-F +srcline), instructions and branches (-F +brstack, +brstackinsn), since a stack is told by
// its functions; the side records (PERF_RECORD_*) but for what they say of losses; event attributes in # lines.

import (
	"io"

	"nettrace/source"
)

// maxDepth bounds a stack; perf's own bound is the sysctl kernel.perf_event_max_stack, 127 by default.
const maxDepth = 1 << 16

// headSize is how far the reader looks ahead to tell a damaged line from the end of the output.
const headSize = 16 << 10

// ScriptReader reads samples from the text of `perf script`. It stops before the first line that is not of that text.
type ScriptReader struct {
	lines  *source.Lines
	ledger *source.Ledger

	functions functions
	event     Event
	header    Header
	lost      Lost
	lostAt    source.Pos // of the first line that told
	side      int64      // side records
	sideAt    source.Pos // of the first one

	kind   lineKind // of the current line
	again  bool     // the current line was looked at and is still to be taken
	done   bool
	closed bool
	cut    bool       // the ledger has it
	sample sampleLine // valid iff kind is sampleStart
	layout layout     // of the first sample line

	// What the text was seen to have, by which damage and cuts are told.
	samples bool // sample lines: frames without one are damage, not -F ip,sym
	events  bool // events in sample lines
	chains  bool // frames on lines of their own
	objects bool // objects behind the symbols

	address uint64 // valid iff kind is frameLine
	text    []byte
}

// NewScriptReader reads from the line that lines will give next. Damage, losses and what was left out go to the ledger.
func NewScriptReader(lines *source.Lines, ledger *source.Ledger) *ScriptReader {
	return &ScriptReader{lines: lines, ledger: ledger, functions: newFunctions()}
}

// Header returns what the # lines read so far told.
func (r *ScriptReader) Header() Header { return r.header }

// Lost returns what the recorder said so far that it lost.
func (r *ScriptReader) Lost() Lost { return r.lost }

// Next returns the next sample. The error is io.EOF at the end of the output; damage is in the ledger.
func (r *ScriptReader) Next() (*Event, error) {
	for r.advance() {
		switch r.kind {
		case sampleStart:
			if r.cutInSampleLine() {
				continue
			}
			r.begin()
			return &r.event, nil
		case frameLine:
			if !r.samples {
				r.beginWithoutLine()
				return &r.event, nil
			}
			r.ledger.Add("frame-without-sample", source.Warning, r.lines.Pos(), 1, "a frame that belongs to no readable sample line; skipped")
		case foreignLine, detailLine:
			r.skipDamage()
		}
	}
	r.close()
	return nil, io.EOF
}

// advance goes to the next line and finds out what it is.
func (r *ScriptReader) advance() bool {
	if r.again {
		r.again = false
		return true
	}
	if r.done || !r.lines.Next() {
		r.done = true
		return false
	}
	r.classify(r.lines.Bytes())
	return true
}

// begin takes the sample whose first line is the current one, up to its end.
func (r *ScriptReader) begin() {
	s, e := &r.sample, &r.event
	*e = Event{Comm: r.functions.intern(s.comm), PID: s.pid, TID: s.tid, CPU: s.cpu, Time: s.time, Period: s.period,
		HasPID: s.hasPID, HasTID: s.hasTID, HasCPU: s.hasCPU, HasTime: s.hasTime, HasPeriod: s.hasPeriod,
		Name: NoEvent, Payload: e.Payload[:0], Stack: e.Stack[:0], Pos: r.lines.Pos()}
	r.samples = true
	if s.event != nil {
		r.events = true
		name, modifiers := splitEvent(s.event)
		e.Name, e.Modifiers = r.functions.intern(name), r.functions.intern(modifiers)
	}
	onLine := r.takeRest(s)
	if !r.lines.Complete() {
		r.cutInSample()
	}
	r.takeFrames(onLine)
}

func (r *ScriptReader) beginWithoutLine() {
	e := &r.event
	*e = Event{Name: NoEvent, Payload: e.Payload[:0], Stack: e.Stack[:0], Pos: r.lines.Pos()}
	r.push(r.address, r.text)
	r.takeFrames(false)
}

// takeRest takes what follows the event on the first line and reports whether it was a frame.
func (r *ScriptReader) takeRest(s *sampleLine) bool {
	if len(s.rest) == 0 {
		return false
	}
	if r.event.Tracepoint() {
		r.event.Payload = append(r.event.Payload, s.rest...)
		return false
	}
	if address, text, ok := cutAddress(s.rest); ok {
		if second, behind, ok := cutAddress(text); ok && (isBlank(text[0]) || len(text) >= 8+len(behind)) {
			address, text = second, behind // -F +addr: the data's address comes before the instruction's, both padded
		}
		r.push(address, text)
		return true
	}
	r.event.Payload = append(r.event.Payload, s.rest...)
	return false
}

// takeFrames reads the frames of the current sample until it ends. onLine says that a frame stood on its first line.
func (r *ScriptReader) takeFrames(onLine bool) {
	for r.advance() {
		switch r.kind {
		case frameLine:
			if onLine { // it was an address that belongs to the event, such as a page fault's
				r.event.Stack, onLine = r.event.Stack[:0], false
			}
			r.chains = true
			r.push(r.address, r.text)
		case foreignLine:
			r.skipDamage()
			continue
		case blankLine:
			if r.lines.Complete() {
				return
			}
		case sampleStart:
			r.again = true
			return
		}
		if !r.lines.Complete() {
			r.cutInSample()
		}
	}
	r.endOfInput(onLine)
}

func (r *ScriptReader) push(address uint64, text []byte) {
	if len(r.event.Stack) >= maxDepth {
		r.ledger.Add("deep-stack", source.Warning, r.lines.Pos(), 1, "the stack is deeper than 65,536 frames; the callers beyond are left out")
		return
	}
	f := r.functions.frame(address, text)
	r.objects = r.objects || f.DSO != ""
	r.event.Stack = append(r.event.Stack, f)
	if f.damaged && r.lines.Complete() {
		r.ledger.Add("damaged-frame", source.Warning, r.lines.Pos(), 1, "the object in parentheses does not end as it should; the function is kept")
	}
}

// close enters what the whole output says into the ledger.
func (r *ScriptReader) close() {
	if r.closed {
		return
	}
	r.closed = true
	if r.side > 0 {
		r.ledger.Add("side-record", source.Note, r.sideAt, r.side, "records of tasks, mappings and switches (PERF_RECORD_*) hold no samples; left out")
	}
	if l := r.lost; l.Any() {
		r.ledger.Add("recorder-loss", source.Warning, r.lostAt, max(l.Events, l.Chunks, 1), "perf says that it lost samples while recording; shares may be off where it did")
	}
}
