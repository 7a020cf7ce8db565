package flame

import (
	"cmp"
	"slices"

	"github.com/google/pprof/profile"
)

// Rarer is the frame that stands for what Thin left out.
const Rarer = "[rarer stacks]"

// Thin returns a profile with the heaviest stacks of p, at most so many, and the sum of the others by thread and outermost
// function below the frame Rarer, so that totals and what is shown of the threads stay as they are. It also returns how
// many stacks were summed up.
func (p *Profile) Thin(most int) (*Profile, int) {
	if len(p.pprof.Sample) <= most {
		return p, 0
	}
	order := make([]int, len(p.pprof.Sample))
	for i := range order {
		order[i] = i
	}
	column := 1
	if index, _, err := p.index(Column{}); err == nil {
		column = index
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return -cmp.Compare(p.pprof.Sample[a].Value[column], p.pprof.Sample[b].Value[column])
	})
	kept := slices.Clone(order[:most])
	slices.Sort(kept)
	slices.Sort(order[most:])

	t := thinner{out: &profile.Profile{SampleType: p.pprof.SampleType, DefaultSampleType: p.pprof.DefaultSampleType, PeriodType: p.pprof.PeriodType,
		Period: p.pprof.Period, TimeNanos: p.pprof.TimeNanos, DurationNanos: p.pprof.DurationNanos, Comments: p.pprof.Comments},
		locations: map[*profile.Location]*profile.Location{}, functions: map[*profile.Function]*profile.Function{}, mappings: map[*profile.Mapping]*profile.Mapping{}, sums: map[rarerKey]*profile.Sample{}}
	thin := *p
	thin.pprof, thin.places = t.out, nil
	for _, i := range kept {
		t.keep(p.pprof.Sample[i])
		thin.places = append(thin.places, p.places[i])
	}
	for _, i := range order[most:] {
		if t.sum(p.pprof.Sample[i]) {
			thin.places = append(thin.places, p.places[i])
		}
	}
	return &thin, len(order) - most
}

// thinner copies a part of a profile, since the parts that it is made of have their places in it as identifiers.
type thinner struct {
	out       *profile.Profile
	locations map[*profile.Location]*profile.Location
	functions map[*profile.Function]*profile.Function
	mappings  map[*profile.Mapping]*profile.Mapping
	rarer     *profile.Location
	sums      map[rarerKey]*profile.Sample
}

type rarerKey struct {
	thread string
	root   *profile.Location
}

func (t *thinner) keep(s *profile.Sample) {
	n := *s
	n.Location = make([]*profile.Location, len(s.Location))
	for i, l := range s.Location {
		n.Location[i] = t.location(l)
	}
	t.out.Sample = append(t.out.Sample, &n)
}

// sum adds a sample to those that are summed up. It reports whether it is the first of its kind.
func (t *thinner) sum(s *profile.Sample) bool {
	key := rarerKey{thread: thread(s)}
	if len(s.Location) > 0 {
		key.root = s.Location[len(s.Location)-1]
	}
	to, known := t.sums[key]
	if !known {
		if t.rarer == nil {
			t.rarer = t.location(&profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: Rarer, SystemName: Rarer}}}})
		}
		to = &profile.Sample{Location: []*profile.Location{t.rarer}, Value: make([]int64, len(s.Value))}
		if key.root != nil {
			to.Location = append(to.Location, t.location(key.root))
		}
		if names := s.Label["comm"]; len(names) > 0 {
			to.Label = map[string][]string{"comm": names}
		}
		t.sums[key] = to
		t.out.Sample = append(t.out.Sample, to)
	}
	for i, v := range s.Value {
		to.Value[i] = sum(to.Value[i], v)
	}
	return !known
}

func (t *thinner) location(l *profile.Location) *profile.Location {
	if n := t.locations[l]; n != nil {
		return n
	}
	n := *l
	n.ID = uint64(len(t.out.Location) + 1)
	n.Line = slices.Clone(l.Line)
	for i := range n.Line {
		n.Line[i].Function = t.function(n.Line[i].Function)
	}
	if l.Mapping != nil {
		n.Mapping = t.mapping(l.Mapping)
	}
	t.locations[l] = &n
	t.out.Location = append(t.out.Location, &n)
	return &n
}

func (t *thinner) function(f *profile.Function) *profile.Function {
	return copied(t.functions, &t.out.Function, f, func(n *profile.Function, id uint64) { n.ID = id })
}

func (t *thinner) mapping(m *profile.Mapping) *profile.Mapping {
	return copied(t.mappings, &t.out.Mapping, m, func(n *profile.Mapping, id uint64) { n.ID = id })
}

// copied returns the copy of x, which is made and listed when it is asked for first.
func copied[T any](known map[*T]*T, list *[]*T, x *T, number func(*T, uint64)) *T {
	if n := known[x]; n != nil {
		return n
	}
	n := *x
	*list = append(*list, &n)
	number(&n, uint64(len(*list)))
	known[x] = &n
	return &n
}
