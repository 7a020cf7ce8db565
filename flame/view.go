package flame

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"nettrace/perf"
)

// Frame is what a box of a flame graph or a row of a table stands for: a function, or the name of a thread.
type Frame struct {
	Name    string `json:"name"`   // "[libc.so.6]" for a function of it that has no symbol
	Object  string `json:"object"` // where the function is: "[kernel.kallsyms]", a path; "" where it is not known
	Kind    Kind   `json:"kind"`
	Inlined bool   `json:"inlined"`
}

func compareFrames(a, b Frame) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Object, b.Object), compareBool(a.Inlined, b.Inlined))
}

// Label is something that is known of a sample beside its stack, by which stacks can be grouped.
type Label string

const (
	Comm Label = "comm" // name of the thread
	PID  Label = "pid"
	TID  Label = "tid"
	CPU  Label = "cpu"

	ofEvent Label = "event" // in profiles that ByEvent made
)

// frame is the outermost frame of the stacks that have a value of the label.
func (l Label) frame(value string) Frame {
	if l == Comm || l == ofEvent {
		return Frame{Name: value, Kind: Thread}
	}
	return Frame{Name: string(l) + " " + value, Kind: Thread}
}

// value returns what a sample has of the label, "" if it is not known.
func (l Label) value(s *profile.Sample) string {
	if values := s.Label[string(l)]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func thread(s *profile.Sample) string { return Comm.value(s) }

// frameTable numbers frames; when all are known, in the order of their names.
type frameTable struct {
	frames []Frame
	number map[Frame]int32
}

func (t *frameTable) intern(f Frame) int32 {
	n, known := t.number[f]
	if !known {
		n = int32(len(t.frames))
		t.number[f] = n
		t.frames = append(t.frames, f)
	}
	return n
}

// sort orders the frames and returns the new number of each old one.
func (t *frameTable) sort() (rank []int32) {
	order := make([]int32, len(t.frames))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return compareFrames(t.frames[a], t.frames[b]) })
	rank = make([]int32, len(order))
	sorted := make([]Frame, len(order))
	for to, from := range order {
		rank[from], sorted[to] = int32(to), t.frames[from]
	}
	t.frames = sorted
	return rank
}

// view gives the stacks of a profile as numbers of frames, root first.
type view struct {
	frames    []Frame   // in the order of their names
	locations [][]int32 // frames of each location, outermost first, by its ID - 1
	groups    []Label   // by which stacks are told apart, outermost first
	roots     map[root]int32
}

// root is the frame that stands for a value of a label.
type root struct {
	label Label
	value string
}

func newView(p *profile.Profile, groups []Label) *view { return newViews(groups, p)[0] }

// newViews gives profiles whose frames are compared the same numbers of frames.
func newViews(groups []Label, profiles ...*profile.Profile) []*view {
	t := frameTable{number: map[Frame]int32{}}
	views := make([]*view, len(profiles))
	for i, p := range profiles {
		views[i] = t.view(p, groups)
	}
	rank := t.sort()
	for _, v := range views {
		v.frames = t.frames
		for _, l := range v.locations {
			for i := range l {
				l[i] = rank[l[i]]
			}
		}
		for r, n := range v.roots {
			v.roots[r] = rank[n]
		}
	}
	return views
}

func (t *frameTable) view(p *profile.Profile, groups []Label) *view {
	v := &view{locations: make([][]int32, len(p.Location)), groups: groups, roots: map[root]int32{}}
	for i, l := range p.Location {
		for _, f := range framesOf(l) {
			v.locations[i] = append(v.locations[i], t.intern(f))
		}
	}
	for _, s := range p.Sample {
		for _, label := range groups {
			if value := label.value(s); value != "" {
				v.roots[root{label, value}] = t.intern(label.frame(value))
			}
		}
	}
	return v
}

// stack appends the frames of a sample, root first.
func (v *view) stack(to []int32, s *profile.Sample) []int32 {
	for _, label := range v.groups {
		if n, ok := v.roots[root{label, label.value(s)}]; ok {
			to = append(to, n)
		}
	}
	for i := len(s.Location) - 1; i >= 0; i-- {
		to = append(to, v.locations[s.Location[i].ID-1]...)
	}
	return to
}

// framesOf returns the functions of a location, the one that others are inlined into first.
func framesOf(l *profile.Location) []Frame {
	object := objectOf(l)
	kind := kindOf(object)
	frames := make([]Frame, 0, len(l.Line))
	for i := len(l.Line) - 1; i >= 0; i-- {
		f := Frame{Name: l.Line[i].Function.Name, Object: object, Kind: kind, Inlined: i < len(l.Line)-1}
		switch f.Name {
		case perf.Unknown:
			f.Name = unnamed(object)
		case "-", "--":
			f.Kind = Marker
		}
		frames = append(frames, f)
	}
	return frames
}

// unnamed names a function without a symbol by its object.
func unnamed(object string) string {
	object = strings.TrimSuffix(object, " (deleted)")
	switch {
	case object == "":
		return perf.Unknown
	case object[0] == '[':
		return object
	}
	return "[" + path.Base(object) + "]"
}
