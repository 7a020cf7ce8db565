package flame

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// Profile holds the samples of one recording, equal stacks folded. It is bounded by the number of distinct stacks.
// It round-trips through encoding/json, the pprof part as its usual gzipped protobuf.
type Profile struct {
	Source  string `json:"source"`
	Line    int    `json:"line"`   // where it begins in the source
	Format  string `json:"format"` // "perf-script", "perf-data", "folded", "pmcstat", "dtrace", "bpftrace", "pprof", "speedscope"
	Host    string `json:"host"`
	Release string `json:"release"` // of the kernel
	Command string `json:"command"` // that recorded
	CPUs    int    `json:"cpus"`    // 0 where the recording does not tell

	Events []EventTotal `json:"events"` // in the order of their first samples
	Start  unit.Nanos   `json:"start_ns"`
	End    unit.Nanos   `json:"end_ns"` // of the last sample; both 0 where samples have no times
	Lost   Lost         `json:"lost"`

	Selected []string `json:"selected,omitempty"` // what part of the recording this is, see Select; empty for all of it

	// Scale is by how much the values of the pprof part are larger than what was recorded: 1, or a power of ten that
	// makes the decimal fractions of a folded text whole.
	Scale int64 `json:"scale"`

	pprof  *profile.Profile
	places []place // of the first sample of each pprof sample
	times  *times  // of the samples; nil if they were not asked for
	groups []Label // what views tell stacks apart by; nil stands for threads
}

// Groups returns the labels by which views tell stacks apart, outermost first: the threads' names, unless By chose others.
func (p *Profile) Groups() []Label {
	if p.groups == nil {
		return []Label{Comm}
	}
	return p.groups
}

// By returns the profile with its stacks grouped by other labels, outermost first; by none they are not told apart.
func (p *Profile) By(labels ...Label) *Profile {
	grouped := *p
	grouped.groups = append([]Label{}, labels...)
	return &grouped
}

// EventTotal is what was recorded of one event.
type EventTotal struct {
	Name        string `json:"name"`         // without modifiers, perf.NoEvent where the text names none
	Modifiers   string `json:"modifiers"`    // "ppp"
	Unit        string `json:"unit"`         // of the period: "nanoseconds" for clocks, "count", or what the profile says ("bytes")
	Samples     int64  `json:"samples"`      // for folded text, the sum of its counts
	PeriodSum   int64  `json:"period_sum"`   // a sample without a period counts 1
	EmptyStacks int64  `json:"empty_stacks"` // samples without a single frame
}

// Lost is what the recorder says that it lost.
type Lost struct {
	Events int64   `json:"events"`
	Chunks int64   `json:"chunks"`
	Share  float64 `json:"share"` // of all samples
}

// place is a position within the profile's source.
type place struct {
	line   int
	offset int64
}

// Pprof returns the samples: two sample types for each event (EVENT/samples, EVENT/period), the leaf first in each
// stack, one location for each function with those inlined into it, labels comm, pid, tid and cpu. It is not to be
// changed.
func (p *Profile) Pprof() *profile.Profile { return p.pprof }

// WritePprof writes the gzipped protobuf that go tool pprof, Pyroscope and Parca read.
func (p *Profile) WritePprof(w io.Writer) error { return p.pprof.Write(w) }

// Value is what of an event is added up.
type Value string

const (
	Period  Value = "period" // the default: time, cycles, or 1 a sample where no period is recorded
	Samples Value = "samples"
)

// Column selects one value of the samples. The zero value is the main event's period.
type Column struct {
	Event string
	Value Value
}

// Main returns the name of the event that views show if none is asked for: one that samples CPU time if there is one,
// and among those the one with the most samples.
func (p *Profile) Main() string {
	if len(p.Events) == 0 {
		return ""
	}
	return slices.MinFunc(p.Events, func(a, b EventTotal) int {
		return cmp.Or(-compareBool(samplesTime(a.Name), samplesTime(b.Name)), -cmp.Compare(a.Samples, b.Samples), cmp.Compare(a.Name, b.Name))
	}).Name
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Event returns the totals of an event; "" is the main one.
func (p *Profile) Event(name string) (*EventTotal, error) {
	if name == "" {
		name = p.Main()
	}
	names := make([]string, len(p.Events))
	for i := range p.Events {
		if p.Events[i].Name == name {
			return &p.Events[i], nil
		}
		names[i] = p.Events[i].Name
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: the profile holds no samples; check that the recording ran and that perf script printed more than its header", p.Source)
	}
	return nil, fmt.Errorf("%s: no event %q; it has %s", p.Source, name, strings.Join(names, ", "))
}

// index returns the place of a column's value in the samples.
func (p *Profile) index(c Column) (int, *EventTotal, error) {
	e, err := p.Event(c.Event)
	if err != nil {
		return 0, nil, err
	}
	switch c.Value {
	case "", Period, Samples:
	default:
		return 0, nil, fmt.Errorf("no value %q; it is one of %s, %s", c.Value, Samples, Period)
	}
	for i := range p.Events {
		if &p.Events[i] == e && c.Value != Samples {
			return 2*i + 1, e, nil
		} else if &p.Events[i] == e {
			return 2 * i, e, nil
		}
	}
	return 0, nil, fmt.Errorf("no event %q", c.Event)
}

// unitOf returns the unit in which a column's values are shown, as unit.Format takes it.
func (c Column) unitOf(e *EventTotal) string {
	switch {
	case c.Value == Samples, e.PeriodSum == e.Samples && e.Unit == "count":
		return "samples"
	case e.Unit == "nanoseconds":
		return "ns"
	case e.Unit == "bytes":
		return "B"
	default:
		return e.Name
	}
}

// at returns the place of the first sample that was folded into pprof sample i.
func (p *Profile) at(i int) source.Pos {
	return source.Pos{Source: p.Source, Line: p.places[i].line, Offset: p.places[i].offset}
}

// written is a profile as it is in JSON.
type written struct {
	plain
	Pprof   []byte  `json:"pprof"`
	Lines   []int   `json:"first_lines"`   // of the first sample of each pprof sample
	Offsets []int64 `json:"first_offsets"` // the same
}

type plain Profile

// MarshalJSON writes the profile with its pprof part in base64.
func (p *Profile) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := p.WritePprof(&b); err != nil {
		return nil, err
	}
	w := written{plain: plain(*p), Pprof: b.Bytes(), Lines: make([]int, len(p.places)), Offsets: make([]int64, len(p.places))}
	if w.Events == nil {
		w.Events = []EventTotal{}
	}
	for i, at := range p.places {
		w.Lines[i], w.Offsets[i] = at.line, at.offset
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Profile) UnmarshalJSON(data []byte) error {
	var w written
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	parsed, err := profile.ParseData(w.Pprof)
	if err != nil {
		return fmt.Errorf("%s: %w", w.Source, err)
	}
	if len(parsed.SampleType) != 2*len(w.Events) || len(w.Lines) != len(parsed.Sample) || len(w.Offsets) != len(parsed.Sample) {
		return fmt.Errorf("%s: the profile's samples do not fit its events and places; analyze the recording again", w.Source)
	}
	*p = Profile(w.plain)
	p.pprof, p.places = parsed, make([]place, len(w.Lines))
	p.Scale = max(p.Scale, 1)
	for i := range p.places {
		p.places[i] = place{w.Lines[i], w.Offsets[i]}
	}
	return nil
}

// samplesTime reports whether an event's samples are spread over CPU time, so that a share of them is a share of time.
// Cycles stand for time at a changing clock rate. Texts that name no event are taken for it.
func samplesTime(name string) bool {
	switch name {
	case perf.NoEvent, "cpu-clock", "task-clock", "cycles", "cpu-cycles", "ref-cycles", "bus-cycles", "cpu/cycles/", "cpu_core/cycles/", "cpu_atom/cycles/", "cpu/cpu-cycles/",
		"cpu",                              // of Go's profiles
		"unhalted-cycles", "unhalted_core": // of FreeBSD's hwpmc
		return true
	}
	lower := strings.ToLower(name)
	return isSoftClock(name) || strings.HasPrefix(lower, "cpu_clk_unhalted") || strings.HasPrefix(lower, "ls_not_halted_cyc")
}

// isClock reports whether an event's period is a time in nanoseconds.
func isClock(name string) bool {
	name, _, _ = strings.Cut(name, "/") // of "cpu-clock/period=20000/"
	return name == "cpu-clock" || name == "task-clock"
}

// isSoftClock reports whether an event is a timer interrupt and no NMI, so that code that runs with interrupts off is
// sampled only where they are turned on: Linux' software clocks, and FreeBSD's CLOCK.HARD, CLOCK.PROF and CLOCK.STAT.
func isSoftClock(name string) bool { return isClock(name) || strings.HasPrefix(name, "CLOCK.") }

// Rewrite replaces the texts of the stacks: names of functions and threads, files and objects, and what else is known of
// samples.
func (p *Profile) Rewrite(text func(string) string) {
	if p.pprof == nil {
		return
	}
	for _, f := range p.pprof.Function {
		f.Name, f.SystemName, f.Filename = text(f.Name), text(f.SystemName), text(f.Filename)
	}
	for _, m := range p.pprof.Mapping {
		m.File = text(m.File)
	}
	for _, s := range p.pprof.Sample {
		for _, values := range s.Label {
			for i := range values {
				values[i] = text(values[i])
			}
		}
	}
	for i := range p.pprof.Comments {
		p.pprof.Comments[i] = text(p.pprof.Comments[i])
	}
}
