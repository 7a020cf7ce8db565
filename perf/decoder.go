package perf

import "nettrace/source"

// maxDepth bounds a stack; perf's own bound is the sysctl kernel.perf_event_max_stack, 127 by default.
const maxDepth = 1 << 16

// headSize is how far the reader looks ahead to tell a damaged line from the end of the output.
const headSize = 16 << 10

// decoder takes the lines of a text, or of a block of one, apart.
type decoder struct {
	block  bool // lines are a part of a text that others have the rest of
	spoilt bool // the block has what only a look at the rest of the text can judge
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

func newDecoder(lines *source.Lines, ledger *source.Ledger, names *nameTable) *decoder {
	return &decoder{lines: lines, ledger: ledger, functions: newFunctions(names)}
}

// spoil ends the decoding of a block at a line that has to be seen together with the rest of the text: it is damaged, or
// tells something of the whole recording. It reports whether lines are a block.
func (d *decoder) spoil() bool {
	if d.block {
		d.spoilt, d.done = true, true
	}
	return d.block
}

// next returns the next sample, nil at the end.
func (d *decoder) next() *Event {
	for d.advance() {
		switch d.kind {
		case sampleStart:
			if d.cutInSampleLine() {
				continue
			}
			d.begin()
			return &d.event
		case frameLine:
			if !d.samples {
				d.beginWithoutLine()
				return &d.event
			}
			d.ledger.Add("frame-without-sample", source.Warning, d.lines.Pos(), 1, "a frame that belongs to no readable sample line; skipped")
		case foreignLine, detailLine:
			d.skipDamage()
		}
	}
	return nil
}

// advance goes to the next line and finds out what it is.
func (d *decoder) advance() bool {
	if d.again {
		d.again = false
		return true
	}
	if d.done || !d.lines.Next() {
		d.done = true
		return false
	}
	d.classify(d.lines.Bytes())
	return true
}

// begin takes the sample whose first line is the current one, up to its end.
func (d *decoder) begin() {
	s, e := &d.sample, &d.event
	*e = Event{Comm: d.functions.intern(s.comm), PID: s.pid, TID: s.tid, CPU: s.cpu, Time: s.time, Period: s.period,
		HasPID: s.hasPID, HasTID: s.hasTID, HasCPU: s.hasCPU, HasTime: s.hasTime, HasPeriod: s.hasPeriod,
		Name: NoEvent, Payload: e.Payload[:0], Stack: e.Stack[:0], Pos: d.lines.Pos()}
	d.samples = true
	if s.event != nil {
		d.events = true
		name, modifiers := splitEvent(s.event)
		e.Name, e.Modifiers = d.functions.intern(name), d.functions.intern(modifiers)
	}
	onLine := d.takeRest(s)
	if !d.lines.Complete() {
		d.cutInSample()
	}
	d.takeFrames(onLine)
}

func (d *decoder) beginWithoutLine() {
	e := &d.event
	*e = Event{Name: NoEvent, Payload: e.Payload[:0], Stack: e.Stack[:0], Pos: d.lines.Pos()}
	d.push(d.address, d.text)
	d.takeFrames(false)
}

// takeRest takes what follows the event on the first line and reports whether it was a frame.
func (d *decoder) takeRest(s *sampleLine) bool {
	if len(s.rest) == 0 {
		return false
	}
	if d.event.Tracepoint() {
		d.event.Payload = append(d.event.Payload, s.rest...)
		return false
	}
	if address, text, ok := cutAddress(cutBranch(s.rest)); ok {
		if second, behind, ok := cutAddress(text); ok && (isBlank(text[0]) || len(text) >= 8+len(behind)) {
			address, text = second, behind // -F +addr: the data's address comes before the instruction's, both padded
		}
		d.push(address, text)
		return true
	}
	d.event.Payload = append(d.event.Payload, s.rest...)
	return false
}

// takeFrames reads the frames of the current sample until it ends. onLine says that a frame stood on its first line.
func (d *decoder) takeFrames(onLine bool) {
	for d.advance() {
		switch d.kind {
		case frameLine:
			if onLine { // it was an address that belongs to the event, such as a page fault's
				d.event.Stack, onLine = d.event.Stack[:0], false
			}
			d.chains = true
			d.push(d.address, d.text)
		case foreignLine:
			d.skipDamage()
			continue
		case blankLine:
			if d.lines.Complete() {
				return
			}
		case sampleStart:
			d.again = true
			return
		}
		if !d.lines.Complete() {
			d.cutInSample()
		}
	}
	d.endOfInput(onLine)
}

func (d *decoder) push(address uint64, text []byte) {
	if len(d.event.Stack) >= maxDepth {
		d.ledger.Add("deep-stack", source.Warning, d.lines.Pos(), 1, "the stack is deeper than 65,536 frames; the callers beyond are left out")
		return
	}
	f := d.functions.frame(address, text)
	d.objects = d.objects || f.DSO != ""
	d.event.Stack = append(d.event.Stack, f)
	if f.damaged && d.lines.Complete() {
		d.ledger.Add("damaged-frame", source.Warning, d.lines.Pos(), 1, "the object in parentheses does not end as it should; the function is kept")
	}
}

// close enters what the whole output says into the ledger.
func (d *decoder) close() {
	if d.closed {
		return
	}
	d.closed = true
	if d.side > 0 {
		d.ledger.Add("side-record", source.Note, d.sideAt, d.side, "records of tasks, mappings and switches (PERF_RECORD_*) hold no samples; left out")
	}
	if l := d.lost; l.Any() {
		d.ledger.Add("recorder-loss", source.Warning, d.lostAt, max(l.Events, l.Chunks, 1), "perf says that it lost samples while recording; shares may be off where it did")
	}
}
