package flame

import (
	"encoding/binary"
	"runtime"
	"strings"

	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// PerfOptions choose what is made of a recording of perf. The zero value folds all of its samples.
type PerfOptions struct {
	Watchers []perf.Watcher // shown the tracepoint events
	Window   perf.Window    // samples outside are left out, and not shown to watchers
	Workers  int            // goroutines that decode parts of a long text; 0 is as many as there are CPUs. The profile is the same
	Times    bool           // keep when stacks were sampled, for views that show parts of the time
	Pace     *source.Pace   // counts the samples that have times; nil if nobody asks
}

// ReadPerf reads the text of `perf script` (what perf.SniffScript recognises) into a profile.
func ReadPerf(l *source.Lines, ledger *source.Ledger, o PerfOptions) (*Profile, error) {
	start := l.Pos()
	workers := o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return FoldPerf(perf.NewScriptReader(l, ledger).Ahead(workers), start, "perf-script", ledger, o)
}

// FoldPerf folds a stream of samples that begins at start into a profile of a format. A stack is told by its functions and
// their objects, not by addresses.
func FoldPerf(events perf.Events, start source.Pos, format string, ledger *source.Ledger, o PerfOptions) (*Profile, error) {
	f := perfFolder{builder: newBuilder(start.Source, ledger), pace: o.Pace}
	if o.Times {
		f.times = newTimes()
	}
	p := &Profile{Source: start.Source, Line: start.Line, Format: format}
	err := perf.Each(events, func(e *perf.Event) {
		if !o.Window.Has(e) {
			f.outside++
			return
		}
		f.sample(e)
		perf.Show(e, o.Watchers)
	})
	if err != nil {
		return nil, err
	}
	p.Start, p.End = f.first, f.last
	h := events.Header()
	p.Host, p.Release, p.Command, p.CPUs, p.Lost = h.Host, h.Release, h.Command, h.CPUs, Lost(events.Lost())
	f.builder.finish(p)
	f.account(p, start)
	return p, nil
}

// account enters into the ledger what the samples as a whole tell.
func (f *perfFolder) account(p *Profile, start source.Pos) {
	switch {
	case f.outside > 0:
		f.ledger.Add("outside-window", source.Note, start, f.outside, "samples that are outside the time asked for, or have no time; left out")
	case len(p.Events) == 0:
		f.ledger.Add("no-samples", source.Warning, start, 1, "perf's recording holds a header and no samples; was anything recorded (perf report --header-only -I tells)?")
	}
}

// perfFolder hands samples of perf to a builder. What it knows of perf's functions by their number spares most look-ups.
type perfFolder struct {
	*builder
	outside     int64
	first, last unit.Nanos // of the samples folded; valid iff timed
	timed       bool
	pace        *source.Pace

	event     string
	eventID   uint32
	locations []uint32          // of perf's function ID, twice: in user space, in the kernel; 0 is not known yet
	stack     []byte            // of the sample at hand
	keys      []string          // of the event's fields that become labels
	fields    []byte            // of the sample at hand
	texts     map[string]string // of fields, each once
	inlined   []line            // functions inlined into the frame to come
}

func (f *perfFolder) sample(e *perf.Event) {
	if e.HasTime {
		if !f.timed || e.Time < f.first {
			f.first = e.Time
		}
		f.last, f.timed = max(f.last, e.Time), true
		if f.pace != nil {
			f.pace.Add(e.Time)
		}
	}
	if f.times != nil {
		f.times.now, f.times.known = e.Time, e.HasTime
	}
	if e.Name != f.event || f.event == "" {
		f.event, f.eventID = e.Name, f.builder.event(e.Name, e.Modifiers, e.Pos)
		f.keys = fieldsOf(e.Name)
	}
	f.stack, f.inlined = f.stack[:0], f.inlined[:0]
	for i := range e.Stack {
		f.frame(&e.Stack[i])
	}
	if len(f.inlined) > 0 { // cut off above the function that they were inlined into
		f.push(f.builder.location(f.inlined, ""))
	}
	l := labels{comm: e.Comm, pid: int32(e.PID), tid: int32(e.TID), cpu: int32(e.CPU), hasPID: e.HasPID, hasTID: e.HasTID, hasCPU: e.HasCPU}
	if len(f.keys) > 0 && f.coarse == 0 {
		f.fields = appendFields(f.fields[:0], e.Payload, f.keys)
		l.fields = f.text(f.fields)
	}
	f.add(f.eventID, l, f.stack, 1, e.Weight(), place{e.Pos.Line, e.Pos.Offset})
}

// text returns b as a string that is allocated once, as long as fields are kept.
func (f *perfFolder) text(b []byte) string {
	s, known := f.texts[string(b)]
	if !known {
		if f.texts == nil || len(f.texts) > maxEntries {
			f.texts = map[string]string{}
		}
		s = string(b)
		f.texts[s] = s
	}
	return s
}

func (f *perfFolder) frame(frame *perf.Frame) {
	if frame.Inlined {
		f.inlined = append(f.inlined, line{symbol: frame.Symbol})
		return
	}
	object, slot := frame.DSO, 2*frame.ID
	if object == "" && frame.Address>>47 == 1<<17-1 { // the upper half: a text without objects still tells the kernel
		object, slot = kernelObject, slot+1
	}
	if len(f.inlined) > 0 {
		f.push(f.builder.location(append(f.inlined, javaChain(frame.Symbol, object)...), object))
		f.inlined = f.inlined[:0]
		return
	}
	for slot >= len(f.locations) {
		f.locations = append(f.locations, 0)
	}
	if f.locations[slot] == 0 {
		f.locations[slot] = f.builder.location(javaChain(frame.Symbol, object), object)
	}
	f.push(f.locations[slot])
}

func (f *perfFolder) push(location uint32) {
	f.stack = binary.LittleEndian.AppendUint32(f.stack, location)
}

// javaChain takes a symbol apart that stands for several functions: perf-map-agent writes inlined Java methods into
// perf's symbol map as "outer->inner->innermost".
func javaChain(symbol, object string) []line {
	if !isPerfMap(object) || !strings.Contains(symbol, "->") {
		return []line{{symbol: symbol}}
	}
	parts := strings.Split(symbol, "->")
	lines := make([]line, 0, len(parts))
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] != "" {
			lines = append(lines, line{symbol: parts[i]})
		}
	}
	return lines
}
