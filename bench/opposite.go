package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// rank is how far one set is ahead of another under one load, over all its sizes and numbers of streams.
type rank struct {
	load   string
	unit   string
	ratio  float64 // geometric mean; above 1: the second set is better
	places int
	agree  int // places at which the second is better
	low    *Run
	high   *Run // one run of each set
}

// clear reports whether the rank is beyond what single runs differ by, at three of four places at least.
func (r *rank) clear(least float64) bool {
	same := r.agree
	if r.ratio < 1 {
		same = r.places - r.agree
	}
	return math.Abs(math.Log(r.ratio)) >= math.Log1p(least) && 4*same >= 3*r.places
}

// opposite finds sets that are ranked in opposite order under two loads: an average over both says nothing.
func opposite(runs []Run, p finding.Params) []finding.Finding {
	var findings []finding.Finding
	told := map[string]bool{} // sources
	varied := Varied(runs)
	for _, name := range varied[:min(len(varied), maxVaried)] {
		if namesLoad(name) {
			continue
		}
		sets := SplitBy(slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return told[r.Pos.Source] }), name)
		if len(sets) > maxStates {
			continue
		}
		for i := range sets {
			for k := i + 1; k < len(sets) && len(findings) < maxOpposite; k++ {
				if f, ok := opposed(name, &sets[i], &sets[k], p); ok {
					findings = append(findings, f)
					told[f.Evidence[0].Source] = true
				}
			}
		}
	}
	for _, pair := range beforeAndAfter(runs) {
		if f, ok := opposed(pair.group, &pair.sets[0], &pair.sets[1], p); ok && len(findings) < maxOpposite {
			findings = append(findings, f)
		}
	}
	return findings
}

// namesLoad reports whether a column says what was run, and not in which state of the system.
func namesLoad(setting string) bool {
	switch strings.ToLower(setting) {
	case "load", "test", "workload", "traffic", "benchmark", "case", "direction", "pattern", "protocol", "setup", "row":
		return true
	}
	return false
}

// Bounds: the settings that are looked at, and the values of one; more are an identifier or a measured number.
const (
	maxVaried = 16
	maxStates = 12
)

// maxOpposite bounds the findings.
const maxOpposite = 20

// loadOf names what a run was made under, without its sizes and number of streams.
func (r *Run) loadOf() string {
	return strings.Trim(strings.TrimSpace(r.Test+" "+r.Direction)+", "+r.options(), ", ")
}

// ranks compares two sets under each load that both have and whose unit says which way is better.
func ranks(a, b *Set) []rank {
	type place struct {
		sum  float64
		n    int
		load string
		run  *Run
	}
	collect := func(s *Set) (map[string]*place, []string) {
		at := map[string]*place{}
		var order []string
		for i := range s.Runs {
			r := &s.Runs[i]
			if r.Partial || r.Rate <= 0 || better(r.Unit) == 0 || r.Summary != nil {
				continue
			}
			key := r.sampleName() + "\x00" + r.Unit + "\x00" + r.options()
			if at[key] == nil {
				at[key] = &place{load: r.loadOf(), run: r}
				order = append(order, key)
			}
			at[key].sum += r.Rate
			at[key].n++
		}
		return at, order
	}
	left, order := collect(a)
	right, _ := collect(b)
	var list []rank
	for _, key := range order {
		x, y := left[key], right[key]
		if y == nil {
			continue
		}
		at := slices.IndexFunc(list, func(r rank) bool { return r.load == x.load && r.unit == x.run.Unit })
		if at < 0 {
			at = len(list)
			list = append(list, rank{load: x.load, unit: x.run.Unit, low: x.run, high: y.run})
		}
		gain := math.Log(y.sum/float64(y.n)) - math.Log(x.sum/float64(x.n))
		gain *= float64(better(x.run.Unit))
		r := &list[at]
		r.ratio += gain
		r.places++
		if gain > 0 {
			r.agree++
		}
	}
	for i := range list {
		list[i].ratio = math.Exp(list[i].ratio / float64(list[i].places))
	}
	return list
}

// opposed makes the finding about two sets whose order depends on the load.
func opposed(setting string, a, b *Set, p finding.Params) (finding.Finding, bool) {
	var ahead, behind *rank
	list := ranks(a, b)
	for i := range list {
		r := &list[i]
		if !finite(r.ratio) || !r.clear(p["min-order"]) {
			continue
		}
		switch {
		case r.ratio > 1 && (ahead == nil || r.ratio > ahead.ratio):
			ahead = r
		case r.ratio < 1 && (behind == nil || r.ratio < behind.ratio):
			behind = r
		}
	}
	if ahead == nil || behind == nil || ahead.unit != behind.unit {
		return finding.Finding{}, false
	}
	name := strings.TrimSpace(setting + " " + a.Label + " and " + b.Label)
	f := finding.Finding{
		Severity:   finding.Warning,
		Confidence: finding.Medium,
		Reasons:    []string{fmt.Sprintf("%d and %d places", ahead.places, behind.places)},
		Subject:    finding.Subject{Kind: "benchmark", Key: "not-comparable order " + name, Name: name},
		Source:     ahead.low.Pos.Source,
		Summary: fmt.Sprintf("%s is %s ahead of %s under %q and %s behind under %q: the two loads rank them in opposite order, so that no average over both means anything",
			b.Label, unit.Percent(ahead.ratio-1), a.Label, ahead.load, unit.Percent(1-behind.ratio), behind.load),
		Measures: []finding.Measure{
			{Name: "ratio_ahead", Value: ahead.ratio, Threshold: finding.Threshold(1 + p["min-order"])}, {Name: "ratio_behind", Value: behind.ratio, Threshold: finding.Threshold(1 / (1 + p["min-order"]))},
			{Name: "loads", Value: float64(len(list))},
		},
		Advice: []finding.Advice{{Text: "judge each load by itself, and choose by the load that matters: nettrace compare", Reference: "bench/not-comparable"}},
	}
	for _, r := range [...]*rank{ahead, behind} {
		f.Evidence = append(f.Evidence, finding.At(r.low.Pos, "%s, %s: %s", a.Label, r.load, unit.Format(r.low.Rate, r.unit)), finding.At(r.high.Pos, "%s, %s: %s", b.Label, r.load, unit.Format(r.high.Rate, r.unit)))
	}
	return f, true
}
