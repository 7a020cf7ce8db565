package perf

import (
	"fmt"
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

// time returns a record's time, by which it waits for its turn; 0 if it has none.
func (r *DataReader) time(rec *record) uint64 {
	if rec.kind != recordSample {
		first := r.events.first()
		if first == nil || !first.has(fieldTime) {
			return 0
		}
		_, t := first.cutTrailer(r.order, rec.body)
		return t.time
	}
	a := r.events.ofSample(rec.body)
	if a == nil || !a.has(fieldTime) {
		return 0
	}
	place := 0
	if a.has(fieldIdentifier) {
		place += 8
	}
	if a.has(fieldIP) {
		place += 8
	}
	if a.has(fieldTID) {
		place += 8
	}
	if place+8 > len(rec.body) {
		return 0
	}
	return r.u64(rec.body[place:])
}

// take turns a record into a sample, if it is one; others change what is known of the processes.
func (r *DataReader) take(rec *record) *Event {
	if rec.kind != recordSample {
		if rec.kind > recordKernelLast && rec.kind < recordTool {
			r.unknown(rec)
		} else {
			r.apply(rec)
		}
		return nil
	}
	a := r.events.ofSample(rec.body)
	if a == nil {
		r.count(&r.counts.unknownID, &r.counts.firstID)
		return nil
	}
	r.raw.parse(r.order, a, rec.body)
	if r.raw.left != 0 || r.raw.short {
		r.count(&r.counts.left, &r.counts.firstLeft)
		if r.raw.short && len(r.raw.chain) == 0 && r.raw.ip == 0 && r.raw.raw == nil {
			return nil // nothing of use was read before it ended
		}
	}
	return r.sample(rec, a, &r.raw)
}

// sample makes the event of a sample; the members of a group have an event each.
func (r *DataReader) sample(rec *record, a *attr, s *rawSample) *Event {
	t := r.processes.thread(s.pid, s.tid)
	e := &r.event
	*e = Event{Comm: t.comm, PID: int(s.pid), TID: int(s.tid), HasPID: a.has(fieldTID), HasTID: a.has(fieldTID), CPU: int(s.cpu), HasCPU: a.has(fieldCPU),
		Time: nanos(s.time), HasTime: a.has(fieldTime), Name: a.name, Modifiers: a.modifiers, Payload: e.Payload[:0], Stack: e.Stack[:0], Pos: r.pos(rec)}
	switch {
	case a.has(fieldPeriod):
		e.Period, e.HasPeriod = int64(min(s.period, 1<<62)), true
	case a.flags&flagFreq == 0 && a.period > 0:
		e.Period, e.HasPeriod = int64(min(a.period, 1<<62)), true
	}
	if s.stackUser {
		r.count(&r.counts.unwound, &r.counts.firstUnwound)
	}
	if s.branches {
		r.count(&r.counts.branches, &r.counts.firstBranches)
	}
	r.stack(rec, a, s)
	if a.format != nil && s.raw != nil {
		e.Payload = a.format.appendTo(e.Payload, r.order, s.raw)
	}
	a.samples++
	r.counts.samples++
	if s.values != nil {
		return r.members(e, s)
	}
	return e
}

// members hands on one event for each member of a group that counted since it was read last: its period is the
// difference. The stack is the leader's.
func (r *DataReader) members(leader *Event, s *rawSample) *Event {
	size := 8 * s.valueWords
	for b := s.values; len(b) >= size; b = b[size:] {
		id := uint64(0)
		if s.valueWords > 1 {
			id = r.u64(b[8:])
		}
		a := r.events.of(id)
		value := int64(min(r.u64(b), 1<<62))
		difference := value - r.last[id]
		if r.last[id] = value; a == nil || difference <= 0 {
			continue
		}
		e := *leader
		e.Name, e.Modifiers, e.Period, e.HasPeriod = a.name, a.modifiers, difference, true
		r.group = append(r.group, &e)
	}
	if len(r.group) == 0 {
		return nil
	}
	e := r.group[0]
	r.group = r.group[1:]
	return e
}

// tool takes a record that perf wrote itself.
func (r *DataReader) tool(rec *record) {
	c := cursor{order: r.order, b: rec.body}
	switch rec.kind {
	case recordFinishedRound:
		r.queue.finishRound()
	case recordAttr:
		r.attrRecord(rec)
	case recordTracingData:
		r.tracing(r.stream.tail, rec.offset)
		r.stream.tail = nil
		r.events.nameRest()
	case recordBuildID:
		r.buildID(rec.misc, rec.body)
	case recordEventUpdate:
		kind, id := c.uint64(), c.uint64()
		if a := r.events.byID[id]; kind == eventUpdateName && a != nil {
			a.setName(cString(c.b))
		}
	case recordFeature:
		r.feature(int(min(c.uint64(), 255)), c.b, rec.offset)
	default:
		if rec.kind > recordToolLast {
			r.record = *rec
			r.unknown(rec)
		}
	}
}

const eventUpdateName = 2

// attrRecord takes an event of a pipe: its description, then its IDs.
func (r *DataReader) attrRecord(rec *record) {
	if len(rec.body) < 8 || len(r.events.attrs) >= attrsMax {
		return
	}
	size := uint64(r.u32(rec.body[4:]))
	a, err := parseAttr(r.order, rec.body)
	if err != nil {
		r.ledger.Add("damaged-record", source.Warning, r.pos(rec), 1, err.Error()+"; its samples cannot be read")
		return
	}
	r.events.add(a, rec.body[min(size, uint64(len(rec.body))):])
	r.events.nameRest()
}

func (r *DataReader) unknown(rec *record) {
	r.count(&r.counts.unknownRecords, &r.counts.firstRecord)
}

// loss is what the recorder lost. The kernel says it when its buffer has room again, and perf once more at the end, for
// each event; both mean the same loss.
type loss struct {
	ring    uint64
	samples uint64
	first   source.Pos
}

func (l *loss) total() uint64 {
	if l.samples > 0 {
		return l.samples
	}
	return l.ring
}

func (l *loss) at(pos source.Pos) {
	if l.first.Source == "" {
		l.first = pos
	}
}

// finish enters what the whole recording says into the ledger.
func (r *DataReader) finish() {
	if r.closed {
		return
	}
	r.closed = true
	r.Close()
	c := &r.counts
	add := func(name string, severity source.Loss, n int64, first source.Pos, text string) {
		if n > 0 {
			r.ledger.Add(name, severity, first, n, text)
		}
	}
	add("recorder-loss", source.Warning, int64(min(r.loss.total(), 1<<62)), r.loss.first, "perf says that it lost samples while recording; shares may be off where it did. A larger buffer (-m) or a lower -F helps")
	add("unknown-event", source.Warning, c.unknownID, c.firstID, "samples of an event that the recording does not describe; left out")
	add("damaged-sample", source.Warning, c.left, c.firstLeft, "samples that are not as their event's description says; what was read of them is used")
	add("out-of-order", source.Note, c.late, c.firstLate, "records that come later than one of a later time; they are taken where they stand")
	add("stack-not-unwound", source.Warning, c.unwound, c.firstUnwound, "samples with a copy of the user stack (--call-graph dwarf), which is not unwound: their user part is one frame. perf script unwinds it")
	add("branches-left-out", source.Note, c.branches, c.firstBranches, "samples with branch records (-b, --call-graph lbr), which are not read")
	add("unknown-record", source.Note, c.unknownRecords, c.firstRecord, "records of types that are not known here; skipped")
	if r.events.differs {
		r.ledger.Add("unknown-event", source.Warning, r.posAt(0), 1, "the events' samples have their IDs in different places, so that only those of the first can be told")
	}
	r.unresolved()
}

// unresolved says which share of the frames has no name, and what would name them.
func (r *DataReader) unresolved() {
	list, frames := missing(r.objects), int64(0)
	if n := r.kernel.unresolved; n > 0 {
		list = append(list, miss{"kallsyms of the recorded machine (cp /proc/kallsyms as root)", n})
		sortMisses(list)
	}
	for _, m := range list {
		frames += m.frames
	}
	if frames > 0 {
		r.ledger.Add("unresolved-frames", source.Note, r.counts.firstMiss, frames,
			fmt.Sprintf("of %s frames these have no function: give --symbols with %s", unit.Count(r.counts.frames), strings.Join(missNames(list), ", ")))
	}
}
