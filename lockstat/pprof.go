package lockstat

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"nettrace/unit"
)

// Pprof returns tables as a contention profile, which go tool pprof reads and flame graphs are made of:
// contentions/count and delay/nanoseconds as Go's mutex and block profiles have them, and, where holds were recorded,
// acquisitions/count and hold/nanoseconds. A stack leads from who waits (or holds) to the callers; where a lock has a
// name it is the leaf, so that the locks stand on top of a flame graph. Samples carry the labels lock, kind and role.
// Spinning that is counted in loop iterations is no time and is left out.
func Pprof(tables []*Table) *profile.Profile {
	b := pprofBuilder{p: &profile.Profile{PeriodType: &profile.ValueType{Type: "contentions", Unit: "count"}, Period: 1}, locations: map[string]*profile.Location{}}
	b.types(tables)
	for _, t := range tables {
		b.table(t)
	}
	return b.p
}

type pprofBuilder struct {
	p         *profile.Profile
	locations map[string]*profile.Location
	holds     bool
}

func (b *pprofBuilder) types(tables []*Table) {
	b.p.SampleType = []*profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
	b.p.DefaultSampleType = "delay"
	b.holds = slices.ContainsFunc(tables, func(t *Table) bool { return t.Total.Hold > 0 || t.Total.Acquisitions > 0 })
	if b.holds {
		b.p.SampleType = append(b.p.SampleType, &profile.ValueType{Type: "acquisitions", Unit: "count"}, &profile.ValueType{Type: "hold", Unit: "nanoseconds"})
	}
}

func (b *pprofBuilder) table(t *Table) {
	b.p.DurationNanos = max(b.p.DurationNanos, int64(unit.FromSeconds(t.Seconds)))
	for _, l := range t.Losses {
		b.p.Comments = append(b.p.Comments, t.Source+": "+l.Text)
	}
	for i := range t.Locks {
		l := &t.Locks[i]
		labels := map[string][]string{"lock": {l.Name}}
		if !l.timedBySite() { // the places were only counted, not timed
			b.sample(&l.Stats, labels, l.Kind, "", l.leaf(t))
			continue
		}
		for j := range l.Sites {
			b.site(t, l, &l.Sites[j])
		}
	}
}

// site writes a place: a sample for each stack that led there, and one for what has none.
func (b *pprofBuilder) site(t *Table, l *Lock, s *Site) {
	labels := map[string][]string{"lock": {l.Name}}
	kind := cmp.Or(s.Kind, l.Kind)
	rest := s.Stats
	for _, k := range s.Stacks {
		part := Stats{Contentions: k.Contentions, Acquisitions: k.Acquisitions, Wait: k.Wait, Hold: k.Hold}
		rest.Contentions, rest.Acquisitions = rest.Contentions-min(part.Contentions, rest.Contentions), rest.Acquisitions-min(part.Acquisitions, rest.Acquisitions)
		rest.Wait, rest.Hold = rest.Wait-min(part.Wait, rest.Wait), rest.Hold-min(part.Hold, rest.Hold)
		frames := k.Frames
		if s.Caller != "" && !slices.Contains(frames, s.Caller) { // lockstat begins the stack above the caller
			frames = append([]string{s.Caller}, frames...)
		}
		b.sample(&part, labels, kind, s.Role, l.leaf(t), frames...)
	}
	if rest.Contentions+rest.Acquisitions > 0 || rest.Wait+rest.Hold > 0 {
		b.sample(&rest, labels, kind, s.Role, l.leaf(t), s.Caller)
	}
}

// leaf is the frame of the lock itself: its name, or what is known of it; "" where only the caller is known.
func (l *Lock) leaf(t *Table) string {
	switch {
	case t.Keyed == ByCaller && len(l.Sites) > 0:
		return ""
	case isAddress(l.Name) && l.Known != "":
		return "[" + l.Known + "]"
	case isAddress(l.Name) && len(l.Sites) > 0 && l.Sites[0].Caller != "":
		return ""
	}
	return "[" + l.Name + "]"
}

func (b *pprofBuilder) sample(s *Stats, labels map[string][]string, kind, role, leaf string, frames ...string) {
	sample := &profile.Sample{Value: []int64{s.Contentions, int64(s.Wait)}, Label: map[string][]string{"lock": labels["lock"]}}
	if b.holds {
		sample.Value = append(sample.Value, s.Acquisitions, int64(s.Hold))
	}
	for name, v := range map[string]string{"kind": kind, "role": role} {
		if v != "" {
			sample.Label[name] = []string{v}
		}
	}
	for _, f := range append([]string{leaf}, frames...) {
		if f != "" {
			sample.Location = append(sample.Location, b.location(f))
		}
	}
	if len(sample.Location) > 0 {
		b.p.Sample = append(b.p.Sample, sample)
	}
}

// location makes one location for each function: offsets are of no use in a graph. All is the kernel's but what names a
// program or library, "f+0x1f (libc.so.6)".
func (b *pprofBuilder) location(frame string) *profile.Location {
	name, object, isProgram := strings.Cut(strings.TrimSuffix(frame, ")"), " (")
	if !isProgram {
		name, object = frame, "[kernel.kallsyms]"
	}
	name, _, _ = strings.Cut(name, "+0x")
	if have, known := b.locations[name+"\x00"+object]; known {
		return have
	}
	f := &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: name, SystemName: name}
	l := &profile.Location{ID: f.ID, Mapping: b.mapping(object), Line: []profile.Line{{Function: f}}}
	b.p.Function, b.p.Location = append(b.p.Function, f), append(b.p.Location, l)
	b.locations[name+"\x00"+object] = l
	return l
}

func (b *pprofBuilder) mapping(object string) *profile.Mapping {
	for _, m := range b.p.Mapping {
		if m.File == object {
			return m
		}
	}
	m := &profile.Mapping{ID: uint64(len(b.p.Mapping) + 1), File: object, HasFunctions: true}
	b.p.Mapping = append(b.p.Mapping, m)
	return m
}
