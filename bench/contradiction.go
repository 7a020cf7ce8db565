package bench

import (
	"path"
	"slices"
	"strings"

	"nettrace/source"
)

// Contradiction is one setting whose change is proven to raise and to lower a result.
type Contradiction struct {
	Setting, From, To string
	Others            string // the other settings that the labels name, "tx_abdicate=1"
	SameLoad          bool   // the labels agree in all other words
	Outputs           []LabelledDifference
}

// LabelledDifference is a proven difference of two sets whose labels differ in one setting.
type LabelledDifference struct {
	Pos                    source.Pos // of the second set
	Label                  string     // of the second set
	Percent, MarginPercent float64
	load                   string
}

// Contradictions finds outputs of ministat whose labels differ in the same setting and whose proven differences have
// opposite signs. Outputs that quote each other count once.
func Contradictions(runs []Run) []Contradiction {
	var groups []Contradiction
	for i := 0; i < len(runs); {
		from := i
		for i < len(runs) && runs[i].Group == runs[from].Group && runs[i].Pos.Source == runs[from].Pos.Source {
			i++
		}
		if first := &runs[from]; first.Tool == "ministat" && first.Summary != nil {
			for k := from + 1; k < i; k++ {
				groups = labelledPair(groups, first, &runs[k])
			}
		}
	}
	return slices.DeleteFunc(groups, func(c Contradiction) bool {
		rises := func(d LabelledDifference) bool { return d.Percent > 0 }
		return !slices.ContainsFunc(c.Outputs, rises) || !slices.ContainsFunc(c.Outputs, func(d LabelledDifference) bool { return !rises(d) })
	})
}

// labelledPair enters a proven difference into the group of its setting.
func labelledPair(groups []Contradiction, a, b *Run) []Contradiction {
	if b.Summary == nil {
		return groups
	}
	left, load := labelSettings(a.Test)
	right, otherLoad := labelSettings(b.Test)
	c, ok := oneSetting(left, right)
	r := Student(*a.Summary, *b.Summary, 95, MinistatNewer)
	if !ok || load != otherLoad || !r.Significant || !finite(r.DifferencePercent) || !finite(r.MarginPercent) {
		return groups
	}
	d := LabelledDifference{Pos: b.Pos, Label: b.Test, Percent: r.DifferencePercent, MarginPercent: r.MarginPercent, load: load}
	at := slices.IndexFunc(groups, func(g Contradiction) bool {
		return g.Setting == c.Setting && g.From == c.From && g.To == c.To && g.Others == c.Others
	})
	if at < 0 {
		c.SameLoad = true
		groups = append(groups, c)
		at = len(groups) - 1
	}
	g := &groups[at]
	same := func(o LabelledDifference) bool { return o.Label == d.Label && o.Percent == d.Percent }
	const most = 50
	if slices.ContainsFunc(g.Outputs, same) || len(g.Outputs) == most {
		return groups
	}
	g.SameLoad = g.SameLoad && (len(g.Outputs) == 0 || g.Outputs[0].load == load)
	g.Outputs = append(g.Outputs, d)
	return groups
}

// labelSettings splits a label into its settings ("bypass_mpring=0") and the other words, without joining ones and what
// stands in parentheses.
func labelSettings(label string) (settings []Setting, load string) {
	var words []string
	for _, w := range strings.Fields(path.Base(label)) {
		w = strings.Trim(w, ":,;")
		name, value, ok := strings.Cut(w, "=")
		switch {
		case ok && name != "" && value != "":
			settings = append(settings, Setting{name, value})
		case w == "and", w == "with", strings.HasPrefix(w, "(") && strings.HasSuffix(w, ")"), w == "":
		default:
			words = append(words, strings.ToLower(w))
		}
	}
	return settings, strings.Join(words, " ")
}

// oneSetting reports in which one setting two lists differ.
func oneSetting(a, b []Setting) (c Contradiction, ok bool) {
	if len(a) != len(b) {
		return c, false
	}
	var others []string
	for i := range a {
		switch {
		case a[i].Name != b[i].Name:
			return c, false
		case a[i].Value == b[i].Value:
			others = append(others, a[i].Name+"="+a[i].Value)
		case ok:
			return c, false
		default:
			c, ok = Contradiction{Setting: a[i].Name, From: a[i].Value, To: b[i].Value}, true
		}
	}
	c.Others = strings.Join(others, " ")
	return c, ok
}
