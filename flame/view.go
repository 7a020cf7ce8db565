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
	Name    string // "[libc.so.6]" for a function of it that has no symbol
	Object  string // where the function is: "[kernel.kallsyms]", a path; "" where it is not known
	Kind    Kind
	Inlined bool
}

func compareFrames(a, b Frame) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Object, b.Object), compareBool(a.Inlined, b.Inlined))
}

// view gives the stacks of a profile as numbers of frames, root first. Frames are numbered in the order of their names.
type view struct {
	frames    []Frame
	locations [][]int32        // frames of each location, outermost first, by its ID - 1
	threads   map[string]int32 // by name; nil if threads are not told apart
}

func newView(p *profile.Profile, threads bool) *view {
	v := &view{locations: make([][]int32, len(p.Location))}
	number := map[Frame]int32{}
	intern := func(f Frame) int32 {
		n, known := number[f]
		if !known {
			n = int32(len(v.frames))
			number[f] = n
			v.frames = append(v.frames, f)
		}
		return n
	}
	for i, l := range p.Location {
		for _, f := range framesOf(l) {
			v.locations[i] = append(v.locations[i], intern(f))
		}
	}
	if threads {
		v.threads = map[string]int32{}
		for _, s := range p.Sample {
			if name := thread(s); name != "" {
				v.threads[name] = intern(Frame{Name: name, Kind: Thread})
			}
		}
	}
	v.sort()
	return v
}

// sort renumbers the frames in their order.
func (v *view) sort() {
	order := make([]int32, len(v.frames))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return compareFrames(v.frames[a], v.frames[b]) })
	rank, frames := make([]int32, len(order)), make([]Frame, len(order))
	for to, from := range order {
		rank[from], frames[to] = int32(to), v.frames[from]
	}
	v.frames = frames
	for _, l := range v.locations {
		for i := range l {
			l[i] = rank[l[i]]
		}
	}
	for name, n := range v.threads {
		v.threads[name] = rank[n]
	}
}

// stack appends the frames of a sample, root first.
func (v *view) stack(to []int32, s *profile.Sample) []int32 {
	if n, ok := v.threads[thread(s)]; ok {
		to = append(to, n)
	}
	for i := len(s.Location) - 1; i >= 0; i-- {
		to = append(to, v.locations[s.Location[i].ID-1]...)
	}
	return to
}

func thread(s *profile.Sample) string {
	if names := s.Label["comm"]; len(names) > 0 {
		return names[0]
	}
	return ""
}

// framesOf returns the functions of a location, the one that others are inlined into first.
func framesOf(l *profile.Location) []Frame {
	object := ""
	if l.Mapping != nil {
		object = l.Mapping.File
	}
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
