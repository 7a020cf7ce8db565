package flame

import (
	"bufio"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// WriteFolded writes the difference as folded stacks with two counts, base's and other's, as difffolded.pl does: a line
// for each stack, root first, in the order of their text. With scaled base's counts are multiplied by Factor, and keep
// three digits behind the point.
func (d *Difference) WriteFolded(w io.Writer, scaled bool) error {
	paths := make([]string, len(d.Nodes))
	for i := 1; i < len(d.Nodes); i++ {
		n := &d.Nodes[i]
		paths[i] = strings.ReplaceAll(Clean(d.Frames[n.Frame].Name), ";", ":")
		if n.Parent > 0 {
			paths[i] = paths[n.Parent] + ";" + paths[i]
		}
	}
	pairs := map[string]Pair{} // functions of one name in two objects make the same text
	for i := 1; i < len(d.Nodes); i++ {
		n := &d.Nodes[i]
		p := pairs[paths[i]]
		p.Base.addSelf(n.Base.Self, 0)
		p.Other.addSelf(n.Other.Self, 0)
		pairs[paths[i]] = p
	}
	b := bufio.NewWriter(w)
	for _, path := range slices.Sorted(maps.Keys(pairs)) {
		p := pairs[path]
		if p.Base.Self == 0 && p.Other.Self == 0 {
			continue
		}
		before := decimal(p.Base.Self, d.Scale)
		if scaled {
			const digits = 1000
			v := d.Factor * float64(p.Base.Self) / float64(d.Scale)
			before = strconv.FormatFloat(math.Round(v*digits)/digits, 'f', -1, 64)
		}
		b.WriteString(path + " " + before + " " + decimal(p.Other.Self, d.Scale) + "\n")
	}
	return b.Flush()
}
