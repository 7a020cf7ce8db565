package bench

import (
	"fmt"
	"math"

	"nettrace/unit"
)

// studentName is the test that decides, as the contract for scripts names it.
const studentName = "Student's t"

// pairs compares all pairs and corrects for their number; the first ones have their ratio drawn.
func pairs(found []*sample, o CompareOptions, bootstraps int) []Comparison {
	var list []Comparison
	for i := range found {
		for k := i + 1; k < len(found); k++ {
			list = append(list, pair(found[i], found[k], o, len(list) < bootstraps))
		}
	}
	alpha := 1 - o.Confidence/100
	var student, ranks []float64
	for _, c := range list {
		p := math.NaN()
		if c.MannWhitney != nil {
			p = c.MannWhitney.P
		}
		student, ranks = append(student, c.P), append(ranks, p)
	}
	student, ranks = Holm(student), Holm(ranks)
	for i := range list {
		c := &list[i]
		c.PHolm, c.Pairs = student[i], len(list)
		if len(list) > 1 && c.Significant && c.PHolm >= alpha {
			c.Significant = false
			c.Notes = append(c.Notes, fmt.Sprintf("the difference is proven for this pair alone, and not among %d pairs (Holm, p=%.3f)", len(list), c.PHolm))
		}
		if m := c.MannWhitney; m != nil {
			m.PHolm = ranks[i]
			m.Significant = m.PHolm <= alpha
		}
	}
	return list
}

// pair compares two samples.
func pair(a, b *sample, o CompareOptions, bootstrap bool) Comparison {
	c := Comparison{Name: a.name, Unit: a.unit, Test: "none", Confidence: o.Confidence, P: 1, PHolm: 1, Notes: []string{}}
	for _, s := range [...]*sample{a, b} {
		c.Sets, c.N = append(c.Sets, s.label), append(c.N, s.summary.N)
		c.Min, c.Max = append(c.Min, s.summary.Min), append(c.Max, s.summary.Max)
		c.Mean, c.Median, c.StdDev = append(c.Mean, s.summary.Mean), append(c.Median, s.summary.Median), append(c.StdDev, s.summary.StdDev)
		c.Values = append(c.Values, s.sorted)
		var bounds *Interval
		if i, ok := MedianInterval(s.sorted, o.Confidence/100); ok {
			bounds = &i
		}
		c.MedianIntervals = append(c.MedianIntervals, bounds)
		c.Notes = append(c.Notes, s.suspicions()...)
	}
	c.student(a, b, o)
	c.ranks(a, b, o, bootstrap)
	if note := unequalSpread(a, b); note != "" {
		c.Notes = append(c.Notes, note)
	}
	if c.Unit == operationsUnit {
		c.Notes = append(c.Notes, "uperf counts each write and each read as an operation, in both directions: a transaction is two operations and more")
	}
	return c
}

// student fills in what ministat tells.
func (c *Comparison) student(a, b *sample, o CompareOptions) {
	c.Difference = b.summary.Mean - a.summary.Mean
	if min(a.summary.N, b.summary.N) < leastNumbers {
		c.Notes = append(c.Notes, fmt.Sprintf("fewer than %d values in a set: nothing can be proven", leastNumbers))
		return
	}
	r := Student(a.summary, b.summary, o.Confidence, o.Ministat)
	c.Test, c.Difference, c.Margin, c.PooledS, c.Significant = studentName, r.Difference, r.Margin, r.PooledS, r.Significant
	if finite(r.DifferencePercent) && finite(r.MarginPercent) {
		c.DifferencePercent, c.MarginPercent = r.DifferencePercent, r.MarginPercent
	} else {
		c.Notes = append(c.Notes, "the first mean is 0, or as good as that: there is no relative difference")
	}
	if !math.IsNaN(r.P) {
		c.P = r.P
	}
	c.RunsNeeded = RunsNeeded(r.Difference, r.PooledS, o.Confidence)
}

// ranks fills in what benchstat tells, and the ratio of the medians.
func (c *Comparison) ranks(a, b *sample, o CompareOptions, bootstrap bool) {
	if a.sorted == nil || b.sorted == nil {
		return
	}
	alpha := 1 - o.Confidence/100
	p, err := MannWhitney(a.sorted, b.sorted)
	c.MannWhitney = &MannWhitneyResult{P: p}
	if shift := 100 * (medianOf(b.sorted)/medianOf(a.sorted) - 1); finite(shift) {
		c.MannWhitney.MedianShift = shift
	}
	switch need := leastRuns(alpha); {
	case err != nil:
		c.Notes = append(c.Notes, err.Error()+": the test of ranks says nothing")
	case p > alpha && max(a.summary.N, b.summary.N) < need:
		c.Notes = append(c.Notes, fmt.Sprintf("the test of ranks needs %d values in each set to show any difference at %s", need, unit.Percent(alpha)))
	}
	if !bootstrap {
		return
	}
	if ratio, i, ok := MedianRatio(a.sorted, b.sorted, o.Confidence/100); ok && finite(ratio) && finite(i.Low) && finite(i.High) {
		c.MedianRatio = &Ratio{ratio, i.Low, i.High}
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
