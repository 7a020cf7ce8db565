package flame

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"nettrace/source"
	"nettrace/unit"
)

// Selection chooses samples of a profile, and frames of their stacks; the options mean what those of go tool pprof with the
// same names mean. Patterns are looked for in the names of functions, as they are shown, and in those of their objects.
// The zero value is the profile as it is.
type Selection struct {
	Focus          *regexp.Regexp           // only stacks with a frame that matches
	Ignore         *regexp.Regexp           // no stacks with a frame that matches
	Hide           *regexp.Regexp           // without the frames that match; what they called stays
	Where          map[Label]*regexp.Regexp // only samples whose labels match
	Kinds          []Kind                   // only frames of these kinds of code; stacks without any are left out
	MergeRecursion bool                     // a function that calls itself is one frame
	Demangle       bool                     // names of C++ and Rust as they are in the source, without the hashes of Rust
}

// Select returns the selected part of a profile. Its totals are those of the part; Selected tells what it is.
func (p *Profile) Select(s Selection) *Profile {
	s.Demangle = s.Demangle && slices.ContainsFunc(p.pprof.Function, func(f *profile.Function) bool { return Demangle(f.Name) != f.Name })
	if s.isZero() {
		return p
	}
	part := *p
	t := selector{builder: newBuilder(p.Source, &source.Ledger{}), selection: &s, fields: FieldLabels()}
	t.builder.scale = p.Scale
	for _, e := range p.Events {
		id := t.eventIn(e.Name, e.Unit, source.Pos{})
		t.totals[id].Modifiers = e.Modifiers
	}
	for _, l := range p.pprof.Location {
		t.frames = append(t.frames, t.choose(l))
	}
	var cells map[uint32][]slicedCell
	if timed := p.timed(); timed != nil {
		t.times, cells = copyOf(timed)
	}
	for i, sample := range p.pprof.Sample {
		if t.times != nil {
			t.times.from = cells[uint32(i)]
		}
		t.sample(sample, p.places[i])
	}
	t.finish(&part)
	part.pprof.TimeNanos, part.pprof.DurationNanos, part.pprof.Period = p.pprof.TimeNanos, p.pprof.DurationNanos, p.pprof.Period
	part.Selected = append(slices.Clone(p.Selected), s.describe(p, &part)...)
	return &part
}

func (s *Selection) isZero() bool {
	return s.Focus == nil && s.Ignore == nil && s.Hide == nil && len(s.Where) == 0 && len(s.Kinds) == 0 && !s.MergeRecursion && !s.Demangle
}

// describe says what was selected, and what share of the main event that is.
func (s *Selection) describe(whole, part *Profile) []string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if s.Focus != nil {
		add("stacks with %s", s.Focus)
	}
	if s.Ignore != nil {
		add("no stacks with %s", s.Ignore)
	}
	for _, label := range []Label{Comm, PID, TID, CPU} {
		if re := s.Where[label]; re != nil {
			add("%s %s", label, re)
		}
	}
	if len(s.Kinds) > 0 {
		names := make([]string, len(s.Kinds))
		for i, k := range s.Kinds {
			names[i] = k.String()
		}
		add("only %s frames", strings.Join(names, " and "))
	}
	if s.Hide != nil {
		add("without frames %s", s.Hide)
	}
	if s.MergeRecursion {
		add("recursion merged")
	}
	if e, err := whole.Event(""); err == nil && len(parts) > 0 {
		if left, err := part.Event(e.Name); err == nil && left.Samples != e.Samples {
			add("%s of %s samples", unit.Count(left.Samples), unit.Count(e.Samples))
		}
	}
	return parts
}

// selector hands the selected part to a builder.
type selector struct {
	*builder
	selection *Selection
	frames    []chosen // by location
	fields    []Label  // that are fields of tracepoints
	stack     []byte
}

// chosen is what becomes of a location.
type chosen struct {
	id              uint32 // of the builder; 0 if all of its frames are left out
	focused, ignore bool
}

func (t *selector) choose(l *profile.Location) chosen {
	var c chosen
	var lines []line
	frames := framesOf(l)
	for i := range l.Line { // innermost first, unlike frames
		f, function := frames[len(frames)-1-i], l.Line[i].Function
		name := function.Name
		if t.selection.Demangle {
			if name = Demangle(name); f.Name == function.Name {
				f.Name = name
			}
		}
		matches := func(re *regexp.Regexp) bool {
			return re != nil && (re.MatchString(f.Name) || f.Object != "" && re.MatchString(f.Object))
		}
		c.focused = c.focused || matches(t.selection.Focus)
		c.ignore = c.ignore || matches(t.selection.Ignore)
		if matches(t.selection.Hide) || len(t.selection.Kinds) > 0 && !slices.Contains(t.selection.Kinds, f.Kind) {
			continue
		}
		x := line{symbol: name, file: function.Filename}
		if t.selection.MergeRecursion && len(lines) > 0 && lines[len(lines)-1] == x {
			continue
		}
		lines = append(lines, x)
	}
	if len(lines) > 0 {
		c.id = t.location(lines, objectOf(l))
	}
	return c
}

func (t *selector) sample(s *profile.Sample, at place) {
	for label, re := range t.selection.Where {
		if !re.MatchString(label.value(s)) {
			return
		}
	}
	t.stack = t.stack[:0]
	focused, last := t.selection.Focus == nil, uint32(0)
	for _, l := range s.Location {
		c := t.frames[l.ID-1]
		if c.ignore {
			return
		}
		focused = focused || c.focused
		if c.id == 0 || t.selection.MergeRecursion && c.id == last {
			continue
		}
		t.stack, last = appendLocation(t.stack, c.id), c.id
	}
	if !focused || len(t.stack) == 0 && (len(t.selection.Kinds) > 0 || t.selection.Hide != nil && len(s.Location) > 0) {
		return
	}
	labels, _ := pprofLabels(s, t.fields)
	for event := range t.totals {
		if samples, period := s.Value[2*event], s.Value[2*event+1]; samples != 0 || period != 0 {
			t.add(uint32(event), labels, t.stack, samples, period, at)
		}
	}
}

// ByEvent returns a profile with one event, whose samples are those of all events, each labelled with its event. Periods
// of different events have no common unit, so each sample counts as one.
func (p *Profile) ByEvent() *Profile {
	one := *p
	b := newBuilder(p.Source, &source.Ledger{})
	b.scale = p.Scale
	all := b.eventIn("all events", "count", source.Pos{})
	locations := make([]uint32, len(p.pprof.Location))
	for i, l := range p.pprof.Location {
		locations[i] = b.location(linesOf(l), objectOf(l))
	}
	var stack []byte
	fields := FieldLabels()
	for i, s := range p.pprof.Sample {
		stack = stack[:0]
		for _, at := range s.Location {
			stack = appendLocation(stack, locations[at.ID-1])
		}
		l, _ := pprofLabels(s, fields)
		for e := range p.Events {
			if n := s.Value[2*e]; n != 0 {
				l.event = p.Events[e].Name
				b.add(all, l, stack, n, n, p.places[i])
			}
		}
	}
	b.finish(&one)
	return &one
}

func objectOf(l *profile.Location) string {
	if l.Mapping == nil {
		return ""
	}
	return l.Mapping.File
}

func linesOf(l *profile.Location) []line {
	lines := make([]line, len(l.Line))
	for i, at := range l.Line {
		lines[i] = line{symbol: at.Function.Name, file: at.Function.Filename}
	}
	return lines
}
