package flame

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/google/pprof/profile"

	"nettrace/source"
)

// maxEntries is from how many distinct stacks on, with their labels, labels are left out: fields of tracepoints first, then cpu, then pid and tid.
// Labels multiply the stacks of a long recording; without a bound, memory would grow with its length.
const maxEntries = 1 << 16

// maxEvents bounds the events of one profile, since each adds two values to each sample.
const maxEvents = 256

// builder folds equal stacks into a profile.
type builder struct {
	source string
	ledger *source.Ledger
	pprof  *profile.Profile

	functions map[string]*profile.Function
	mappings  map[string]*profile.Mapping
	locations map[string]uint32 // by the lines' functions and the mapping

	events  map[string]uint32
	totals  []EventTotal
	stacks  map[string]uint32 // by the locations' numbers, four bytes each
	keys    []string          // of stacks
	labels  map[labels]uint32
	named   []labels
	entries map[entryKey]uint32
	list    []entry
	coarse  int // how many labels were given up
	times   *times
	scale   int64
}

// labels are what is kept of a sample beside its stack.
type labels struct {
	comm                   string
	fields                 string // of a tracepoint, see appendFields
	event                  string // of which a sample was, where a profile joins several, see ByEvent
	pid, tid, cpu          int32
	hasPID, hasTID, hasCPU bool
}

type entryKey struct{ stack, labels, event uint32 }

type entry struct {
	entryKey
	samples, period int64
	place           place
}

func newBuilder(source string, ledger *source.Ledger) *builder {
	return &builder{source: source, ledger: ledger, pprof: &profile.Profile{}, scale: 1,
		functions: map[string]*profile.Function{}, mappings: map[string]*profile.Mapping{}, locations: map[string]uint32{},
		events: map[string]uint32{}, stacks: map[string]uint32{}, labels: map[labels]uint32{}, entries: map[entryKey]uint32{}}
}

// line is one function of a location; those inlined come before the one that they are inlined into.
type line struct{ symbol, file string }

// location returns the number of the location of these functions in an object ("" for none), from 1.
func (b *builder) location(lines []line, object string) uint32 {
	key := binary.AppendUvarint(nil, uint64(len(object)))
	key = append(key, object...)
	functions := make([]profile.Line, len(lines))
	for i, l := range lines {
		f := b.function(l)
		functions[i] = profile.Line{Function: f}
		key = binary.AppendUvarint(key, f.ID)
	}
	id, known := b.locations[string(key)]
	if !known {
		id = uint32(len(b.pprof.Location) + 1)
		b.locations[string(key)] = id
		b.pprof.Location = append(b.pprof.Location, &profile.Location{ID: uint64(id), Mapping: b.mapping(object), Line: functions})
	}
	return id
}

func (b *builder) function(l line) *profile.Function {
	key := l.symbol + "\x00" + l.file
	f, known := b.functions[key]
	if !known {
		f = &profile.Function{ID: uint64(len(b.pprof.Function) + 1), Name: l.symbol, SystemName: l.symbol, Filename: l.file}
		b.functions[key] = f
		b.pprof.Function = append(b.pprof.Function, f)
	}
	return f
}

func (b *builder) mapping(object string) *profile.Mapping {
	if object == "" {
		return nil
	}
	m, known := b.mappings[object]
	if !known {
		m = &profile.Mapping{ID: uint64(len(b.pprof.Mapping) + 1), File: object, HasFunctions: true}
		b.mappings[object] = m
		b.pprof.Mapping = append(b.pprof.Mapping, m)
	}
	return m
}

// event returns the number of an event, whose period is a time if it is a clock.
func (b *builder) event(name, modifiers string, pos source.Pos) uint32 {
	unit := "count"
	if isClock(name) {
		unit = "nanoseconds"
	}
	id := b.eventIn(name, unit, pos)
	if t := &b.totals[id]; t.Samples == 0 && t.Name == name {
		t.Modifiers = modifiers
	}
	return id
}

// eventIn returns the number of an event whose period has a unit.
func (b *builder) eventIn(name, unit string, pos source.Pos) uint32 {
	id, known := b.events[name]
	switch {
	case known:
	case len(b.totals) == maxEvents:
		b.ledger.Add("too-many-events", source.Warning, pos, 1, "more than 256 events; the samples of the others are counted as those of the last one")
		id = maxEvents - 1
	default:
		id = uint32(len(b.totals))
		b.totals = append(b.totals, EventTotal{Name: name, Unit: unit})
		b.events[name] = id
	}
	return id
}

// add folds one sample in. stack holds the numbers of its locations, leaf first, four bytes each.
func (b *builder) add(event uint32, l labels, stack []byte, samples, period int64, at place) {
	t := &b.totals[event]
	t.Samples, t.PeriodSum = sum(t.Samples, samples), sum(t.PeriodSum, period)
	if len(stack) == 0 {
		t.EmptyStacks = sum(t.EmptyStacks, samples)
	}
	id, known := b.stacks[string(stack)]
	if !known {
		id = uint32(len(b.keys))
		key := string(stack)
		b.stacks[key] = id
		b.keys = append(b.keys, key)
	}
	n := b.fold(entry{entryKey{id, b.label(b.coarsen(l)), event}, samples, period, at})
	if b.times != nil {
		b.times.add(n, cell{samples, period})
	}
	if len(b.list) > maxEntries && b.coarse < 3 && len(b.named) > 1 {
		b.dropLabels(at)
	}
}

func (b *builder) label(l labels) uint32 {
	id, known := b.labels[l]
	if !known {
		id = uint32(len(b.named))
		b.labels[l] = id
		b.named = append(b.named, l)
	}
	return id
}

// fold returns the place of the entry in the list.
func (b *builder) fold(e entry) uint32 {
	i, known := b.entries[e.entryKey]
	if !known {
		i = uint32(len(b.list))
		b.entries[e.entryKey] = i
		b.list = append(b.list, e)
		return i
	}
	have := &b.list[i]
	have.samples, have.period = sum(have.samples, e.samples), sum(have.period, e.period)
	return i
}

func (b *builder) coarsen(l labels) labels {
	if b.coarse >= 1 {
		l.fields = ""
	}
	if b.coarse >= 2 {
		l.cpu, l.hasCPU = 0, false
	}
	if b.coarse >= 3 {
		l.pid, l.tid, l.hasPID, l.hasTID = 0, 0, false, false
	}
	return l
}

// dropLabels gives up one more label and folds what has become equal.
func (b *builder) dropLabels(at place) {
	b.coarse++
	fields := slices.ContainsFunc(b.named, func(l labels) bool { return l.fields != "" })
	if b.coarse == 1 && !fields {
		b.coarse++
	}
	what := [...]string{"", "the fields of tracepoints", "the CPU", "the process and thread"}[b.coarse]
	b.ledger.Add("labels-dropped", source.Note, source.Pos{Source: b.source, Line: at.line, Offset: at.offset}, 1, "more than 65,536 distinct stacks: "+what+" of the samples is no longer kept")
	list, named := b.list, b.named
	b.list, b.named = nil, nil
	clear(b.entries)
	clear(b.labels)
	renamed := make([]uint32, len(list))
	for i, e := range list {
		e.labels = b.label(b.coarsen(named[e.labels]))
		renamed[i] = b.fold(e)
	}
	if b.times != nil {
		b.times.rename(func(k cellKey) cellKey { return cellKey{renamed[k.sample], k.slice} })
	}
}

// rescale makes all values larger by a factor.
func (b *builder) rescale(factor int64) {
	b.scale *= factor
	for i := range b.list {
		b.list[i].samples, b.list[i].period = product(b.list[i].samples, factor), product(b.list[i].period, factor)
	}
	for i := range b.totals {
		t := &b.totals[i]
		t.Samples, t.PeriodSum, t.EmptyStacks = product(t.Samples, factor), product(t.PeriodSum, factor), product(t.EmptyStacks, factor)
	}
}

// finish hands everything over to p.
func (b *builder) finish(p *Profile) {
	p.Scale, p.pprof, p.Events = b.scale, b.pprof, b.totals
	for i := range p.Events {
		e := &p.Events[i]
		unit, samples := e.Unit, "count"
		if b.scale > 1 {
			unit, samples = fmt.Sprintf("1/%d %s", b.scale, unit), fmt.Sprintf("1/%d %s", b.scale, samples)
		}
		b.pprof.SampleType = append(b.pprof.SampleType, &profile.ValueType{Type: e.Name + "/" + string(Samples), Unit: samples},
			&profile.ValueType{Type: e.Name + "/" + string(Period), Unit: unit})
		e.Samples, e.PeriodSum, e.EmptyStacks = rounded(e.Samples, b.scale), rounded(e.PeriodSum, b.scale), rounded(e.EmptyStacks, b.scale)
	}
	b.samples(p)
	if b.times != nil && b.scale == 1 {
		b.times.profile, p.times = b.pprof, b.times
	}
	b.pprof.DurationNanos = int64(p.End - p.Start)
	b.pprof.PeriodType = &profile.ValueType{}
	if main, err := p.Event(""); err == nil {
		b.pprof.DefaultSampleType = main.Name + "/" + string(Period)
		*b.pprof.PeriodType = profile.ValueType{Type: main.Name, Unit: main.Unit}
	}
	for _, c := range []string{p.Host, p.Release, p.Command} {
		if c != "" {
			b.pprof.Comments = append(b.pprof.Comments, c)
		}
	}
}

// samples makes the pprof samples, in the order in which their stacks were met first. Samples with the same labels
// share one map of them.
func (b *builder) samples(p *Profile) {
	maps := make([]map[string][]string, len(b.named))
	for i, l := range b.named {
		maps[i] = l.pprof()
	}
	values := make([]int64, 2*len(b.totals)*len(b.list))
	b.pprof.Sample, p.places = make([]*profile.Sample, len(b.list)), make([]place, len(b.list))
	for i, e := range b.list {
		key := b.keys[e.stack]
		s := &profile.Sample{Location: make([]*profile.Location, len(key)/4), Label: maps[e.labels]}
		for n := range s.Location {
			s.Location[n] = b.pprof.Location[binary.LittleEndian.Uint32([]byte(key[4*n:]))-1]
		}
		s.Value, values = values[:2*len(b.totals):2*len(b.totals)], values[2*len(b.totals):]
		s.Value[2*e.event], s.Value[2*e.event+1] = e.samples, e.period
		b.pprof.Sample[i], p.places[i] = s, e.place
	}
}

// pprof returns the labels as pprof has them. Numbers are text there: its numeric labels lose a 0, such as CPU 0's.
func (l labels) pprof() map[string][]string {
	m := map[string][]string{}
	if l.comm != "" {
		m["comm"] = []string{l.comm}
	}
	l.fieldLabels(m)
	if l.event != "" {
		m[string(ofEvent)] = []string{l.event}
	}
	if l.hasPID {
		m["pid"] = []string{strconv.Itoa(int(l.pid))}
	}
	if l.hasTID {
		m["tid"] = []string{strconv.Itoa(int(l.tid))}
	}
	if l.hasCPU {
		m["cpu"] = []string{strconv.Itoa(int(l.cpu))}
	}
	return m
}

// sum adds without overflow.
func sum(a, b int64) int64 {
	if s := a + b; s >= a == (b >= 0) {
		return s
	}
	return math.MaxInt64
}

func product(a, factor int64) int64 {
	if a > math.MaxInt64/factor {
		return math.MaxInt64
	}
	return a * factor
}

func rounded(v, scale int64) int64 { return sum(v, scale/2) / scale }
