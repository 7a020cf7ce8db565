package flame

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// WriteSpeedscope writes the profile for speedscope: a sampled profile for each event, whose weights are the periods. The
// root of each stack is the name of the thread, as in folded text. Stacks are in the order of their frames' names, so that
// "time order" shows the same as "left heavy" sorted by name: a profile that is folded has no order of time.
func WriteSpeedscope(w io.Writer, p *Profile) error {
	if _, err := p.Event(""); err != nil {
		return err
	}
	v := newView(p.pprof, p.Groups())
	out := scopeWriter{Writer: bufio.NewWriter(w), profile: p, view: v}
	out.printf(`{"$schema":%s,"exporter":%s,"name":%s,"activeProfileIndex":%d,"shared":{"frames":[`, quoted(speedscopeSchema), quoted(speedscopeExporter), quoted(Clean(p.Source)), out.main())
	for i, f := range v.frames {
		out.comma(i)
		out.printf("\n{\"name\":%s", quoted(Clean(f.Name)))
		if f.Object != "" {
			out.printf(`,"file":%s`, quoted(Clean(f.Object)))
		}
		out.printf("}")
	}
	out.printf(`]},"profiles":[`)
	for i := range p.Events {
		out.comma(i)
		out.event(i)
	}
	out.printf("]}\n")
	return out.Flush()
}

type scopeWriter struct {
	*bufio.Writer
	profile *Profile
	view    *view
}

func (w *scopeWriter) printf(format string, args ...any) { fmt.Fprintf(w.Writer, format, args...) }

func (w *scopeWriter) comma(i int) {
	if i > 0 {
		w.WriteByte(',')
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // of a string there is no error
	return string(b)
}

func (w *scopeWriter) main() int {
	main := w.profile.Main()
	return slices.IndexFunc(w.profile.Events, func(e EventTotal) bool { return e.Name == main })
}

// event writes the stacks of one event.
func (w *scopeWriter) event(i int) {
	e := w.profile.Events[i]
	var stacks [][]int32
	sums := map[string]int64{}
	total := int64(0)
	for _, s := range w.profile.pprof.Sample {
		value := s.Value[2*i+1]
		if value == 0 {
			continue
		}
		total = sum(total, value)
		stack := w.view.stack(nil, s)
		key := stackKey(stack)
		if _, known := sums[key]; !known {
			stacks = append(stacks, stack)
		}
		sums[key] = sum(sums[key], value)
	}
	slices.SortFunc(stacks, slices.Compare)
	w.printf("\n{\"type\":\"sampled\",\"name\":%s,\"unit\":%s,\"startValue\":0,\"endValue\":%s,\"samples\":[", quoted(Clean(e.Name)), quoted(scopeUnit(e.Unit)), decimal(total, w.profile.Scale))
	for i, stack := range stacks {
		w.comma(i)
		w.stack(stack)
	}
	w.printf(`],"weights":[`)
	for i, stack := range stacks {
		w.comma(i)
		w.printf("%s", decimal(sums[stackKey(stack)], w.profile.Scale))
	}
	w.printf("]}")
}

func (w *scopeWriter) stack(stack []int32) {
	w.WriteByte('[')
	for i, frame := range stack {
		w.comma(i)
		w.printf("%d", frame)
	}
	w.WriteByte(']')
}

func stackKey(stack []int32) string {
	var key []byte
	for _, frame := range stack {
		key = append(key, byte(frame), byte(frame>>8), byte(frame>>16), byte(frame>>24))
	}
	return string(key)
}

// scopeUnit is a unit that speedscope knows.
func scopeUnit(unit string) string {
	switch unit {
	case "nanoseconds", "bytes":
		return unit
	}
	return "none"
}
