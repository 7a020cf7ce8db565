package flame

import (
	"bufio"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nettrace/perf"
)

// WriteFolded writes one value as folded stacks, root first, in the order of their text. The root is the name of the
// thread. A semicolon within a name becomes a colon, as other tools write it, since the format has no way to quote one.
// Names have no marks behind them.
func WriteFolded(w io.Writer, p *Profile, c Column) error {
	index, _, err := p.index(c)
	if err != nil {
		return err
	}
	v := newView(p.pprof, p.Groups())
	names := make([]string, len(v.frames))
	for i, f := range v.frames {
		names[i] = strings.ReplaceAll(Clean(f.Name), ";", ":")
	}
	values := map[string]int64{}
	var stack []int32
	var key []byte
	for _, s := range p.pprof.Sample {
		if s.Value[index] == 0 {
			continue
		}
		stack, key = v.stack(stack[:0], s), key[:0]
		for i, frame := range stack {
			if i > 0 {
				key = append(key, ';')
			}
			key = append(key, names[frame]...)
		}
		if len(key) == 0 {
			key = append(key, perf.Unknown...)
		}
		values[string(key)] = sum(values[string(key)], s.Value[index])
	}
	return writeLines(w, values, p.Scale)
}

// writeLines writes stacks with their values in the order of their text.
func writeLines(w io.Writer, values map[string]int64, scale int64) error {
	b := bufio.NewWriter(w)
	for _, stack := range slices.Sorted(maps.Keys(values)) {
		b.WriteString(stack)
		b.WriteByte(' ')
		b.WriteString(decimal(values[stack], scale))
		b.WriteByte('\n')
	}
	return b.Flush()
}

// decimal prints value/scale exactly; scale is a power of ten.
func decimal(value, scale int64) string {
	whole := strconv.FormatInt(value/scale, 10)
	if value%scale == 0 {
		return whole
	}
	fraction := strconv.FormatInt(scale+value%scale, 10)[1:]
	return whole + "." + strings.TrimRight(fraction, "0")
}
