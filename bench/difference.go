package bench

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// Difference says what repeated runs before and after a change show.
func Difference() finding.On[*Results] {
	return finding.On[*Results]{Rule: differenceRule(), Judge: judgeDifferences}
}

func differenceRule() finding.Rule {
	return finding.Rule{
		Name:  "bench/difference",
		Title: "repeated runs before and after a change differ, or are not shown to",
		Method: "Runs of sources whose names are alike but for before and after (tcp_rr-before.txt, before.netperf.txt) are two sets. What is in both, by test, sizes, streams and direction, is compared by Student's t as in ministat, at 95 % and with at least three runs each. " +
			"A proven difference of min-change and more is a finding: a warning where a rate falls, or a cost rises, by warning-loss and more; a notice where it is less, or better. What is not proven is an info that says how many runs would show it. " +
			"The test of ranks (Mann-Whitney) stands beside it; confidence is high only where both agree and nothing in the samples is odd.",
		Params: []finding.Param{
			{Name: "min-change", Default: 0.01, Unit: "ratio", Doc: "least change that is told: with enough runs also what matters to nobody is proven; runs of 10 s repeat within 4 to 6 % (model of the published set-up, 40 seeds)"},
			{Name: "warning-loss", Default: 0.05, Unit: "ratio", Doc: "loss from which the finding is a warning: more than single runs differ by"},
		},
		FalsePositives: "Runs taken one set after the other differ also by what else changed meanwhile; take the sets in turns. Columns of numbers have no unit, so that it is not known which direction is better. " +
			"Student's t takes the values for normal with equal spreads; where they are not, a caveat says so. ministat tells the same difference without its direction; benchstat decides by ranks, and with three runs each never sees any.",
		References: []string{
			"FreeBSD, usr.bin/ministat (margin of the relative difference: the newer formula)",
			"H. B. Mann, D. R. Whitney, On a test of whether one of two random variables is stochastically larger than the other, Ann. Math. Stat. 18 (1947)",
			"golang.org/x/perf/cmd/benchstat",
		},
	}
}

// beforeAfter are the sets of the sources that are alike but for before and after.
type beforeAfter struct {
	group string
	sets  [2]Set
}

// beforeAndAfter finds such sources, in the order of reading.
func beforeAndAfter(runs []Run) []beforeAfter {
	var pairs []beforeAfter
	index := map[string]int{}
	for _, r := range runs {
		name := source.ParseName(r.Pos.Source)
		phase := slices.Index([]string{"before", "after"}, name.Phase)
		if phase < 0 {
			continue
		}
		key := fmt.Sprintf("%s\x00%s\x00%v", path.Dir(r.Pos.Source), name.Group, name.Peer)
		at, known := index[key]
		if !known {
			at = len(pairs)
			index[key] = at
			pairs = append(pairs, beforeAfter{group: name.Group, sets: [2]Set{{Label: "before"}, {Label: "after"}}})
		}
		set := &pairs[at].sets[phase]
		set.Runs = append(set.Runs, r)
	}
	return slices.DeleteFunc(pairs, func(p beforeAfter) bool { return len(p.sets[0].Runs) == 0 || len(p.sets[1].Runs) == 0 })
}

func judgeDifferences(results *Results, p finding.Params) []finding.Finding {
	var findings []finding.Finding
	for _, pair := range beforeAndAfter(results.Runs) {
		for _, c := range Compare(pair.sets[:], CompareOptions{}).Comparisons {
			// Operations tell the same as the rate that they come with, and costs are bench/cpu-cost's.
			if c.Test == "none" || c.Mean[0] == 0 || c.Unit == operationsUnit || isCost(c) {
				continue
			}
			findings = append(findings, pair.finding(c, p))
		}
	}
	return findings
}

// better tells in which direction a unit is better: 1 where more is, -1 where less is, 0 where that is not known.
func better(u string) int {
	switch {
	case u == "":
		return 0
	case strings.HasPrefix(u, "us/"), strings.HasSuffix(u, "/op"):
		return -1
	case strings.HasSuffix(u, "/s"):
		return 1
	}
	return 0
}

func (b beforeAfter) finding(c Comparison, p finding.Params) finding.Finding {
	name := strings.Trim(b.group+" "+c.Name, " ")
	if name == "" {
		name = "the benchmark"
	}
	change := c.DifferencePercent / 100
	loss := min(-change*float64(better(c.Unit)), 1) // a rate below 0 is damage
	proven := c.Significant && math.Abs(change) >= p["min-change"]
	f := finding.Finding{
		Severity:   finding.Info,
		Confidence: finding.Medium,
		Subject:    finding.Subject{Kind: "benchmark", Key: "difference " + name, Name: name},
		Summary:    differenceSummary(name, c, proven),
		Measures: []finding.Measure{
			{Name: "mean_before", Value: c.Mean[0], Unit: c.Unit}, {Name: "mean_after", Value: c.Mean[1], Unit: c.Unit},
			{Name: "difference", Value: c.Difference, Unit: c.Unit, Threshold: finding.Threshold(c.Margin)}, {Name: "margin", Value: c.Margin, Unit: c.Unit},
			{Name: "difference_ratio", Value: change, Unit: "ratio", Threshold: finding.Threshold(p["min-change"])}, {Name: "margin_ratio", Value: c.MarginPercent / 100, Unit: "ratio"},
			{Name: "runs_before", Value: float64(c.N[0])}, {Name: "runs_after", Value: float64(c.N[1])},
		},
		Evidence: b.evidence(c),
		Caveats:  append(slices.Clone(c.Notes), "what else changed between the two sets changed the result as well"),
	}
	if m := c.MannWhitney; m != nil {
		f.Measures = append(f.Measures, finding.Measure{Name: "mann_whitney_p", Value: m.P})
	}
	switch {
	case proven && loss >= p["warning-loss"]:
		f.Severity = finding.Warning
	case proven:
		f.Severity = finding.Notice
	}
	if proven && loss > 0 {
		f.Effect.Share = min(1, loss)
	}
	f.Confidence, f.Reasons = confidenceIn(c)
	f.Advice = []finding.Advice{{
		Text:      "repeat both states in turns, six and more runs each, and compare them: nettrace compare BEFORE AFTER",
		Reference: "bench/difference",
	}}
	return f
}

// confidenceIn says how sure a comparison is, whether it proves a difference or not.
func confidenceIn(c Comparison) (finding.Level, []string) {
	reasons := []string{fmt.Sprintf("Student's t over %d and %d runs at %g %%: p=%.2g", c.N[0], c.N[1], c.Confidence, c.P)}
	agree := c.MannWhitney != nil && c.MannWhitney.Significant == c.Significant
	if c.MannWhitney != nil {
		reasons = append(reasons, fmt.Sprintf("Mann-Whitney's test of ranks: p=%.2g", c.MannWhitney.P))
	}
	odd := func(n string) bool {
		return strings.Contains(n, "bimodal") || strings.Contains(n, "Mann-Kendall") || strings.Contains(n, "unequal variances")
	}
	switch {
	case slices.ContainsFunc(c.Notes, odd):
		return finding.Low, append(reasons, "the samples are odd: see the caveats")
	case agree && c.Significant && min(c.N[0], c.N[1]) >= leastRuns(1-c.Confidence/100):
		return finding.High, append(reasons, "both tests agree")
	default:
		return finding.Medium, reasons
	}
}

func differenceSummary(name string, c Comparison, proven bool) string {
	runs := fmt.Sprintf("%d and %d runs, %g %% confidence", c.N[0], c.N[1], c.Confidence)
	if !proven {
		text := fmt.Sprintf("%s: no difference is shown between before and after (%s against %s; %s)", name, unit.Format(c.Mean[0], c.Unit), unit.Format(c.Mean[1], c.Unit), runs)
		switch {
		case c.Significant:
			text = fmt.Sprintf("%s: a difference of %.2g %% between before and after is proven and too small to matter (%s)", name, c.DifferencePercent, runs)
		case c.RunsNeeded > 0 && c.Difference != 0:
			text += fmt.Sprintf("; one of %.2g %% would show with %s runs each", math.Abs(c.DifferencePercent), unit.Count(int64(c.RunsNeeded)))
		}
		return text
	}
	verb := "rises"
	if c.Difference < 0 {
		verb = "falls"
	}
	verdict := [...]string{": worse", "", ": better"}[1+sign(c.Difference)*better(c.Unit)]
	return fmt.Sprintf("%s %s from %s to %s (%+.2f %% +/- %.2g %%) between before and after%s (%s)",
		name, verb, unit.Format(c.Mean[0], c.Unit), unit.Format(c.Mean[1], c.Unit), c.DifferencePercent, c.MarginPercent, verdict, runs)
}

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// evidence cites the lowest and the highest run of each set.
func (b beforeAfter) evidence(c Comparison) []finding.Evidence {
	var cited []finding.Evidence
	test := b.testOf(c.Name)
	for _, set := range b.sets {
		var low, high *Run
		for i := range set.Runs {
			r := &set.Runs[i]
			if r.sampleName() != test || r.Partial {
				continue
			}
			if low == nil || r.Rate < low.Rate {
				low = r
			}
			if high == nil || r.Rate > high.Rate {
				high = r
			}
		}
		if low == nil {
			continue
		}
		ends := []finding.Evidence{finding.At(low.Pos, "lowest %s: %s", set.Label, unit.Format(low.Rate, low.Unit))}
		if high != low {
			ends = append(ends, finding.At(high.Pos, "highest %s: %s", set.Label, unit.Format(high.Rate, high.Unit)))
		}
		cited = append(cited, inOrder(ends...)...)
	}
	return cited
}

// testOf returns the test that a comparison's name begins with; the figure and options may follow it.
func (b beforeAfter) testOf(name string) string {
	test := ""
	for _, set := range b.sets {
		for i := range set.Runs {
			if of := set.Runs[i].sampleName(); len(of) > len(test) && strings.HasPrefix(name, of) {
				test = of
			}
		}
	}
	return test
}
