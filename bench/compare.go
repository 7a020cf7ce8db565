package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nettrace/unit"
)

// CompareOptions are how sets are compared.
type CompareOptions struct {
	Ministat   Ministat // generation of ministat's formulas; the newer one
	Confidence float64  // in percent, one of Confidences; 95 where 0
}

// Comparisons are what was compared, what could not be and what has no counterpart.
type Comparisons struct {
	Comparisons []Comparison `json:"comparisons"`
	Refused     []Refusal    `json:"refused"`   // what is in several sets and cannot be compared
	Unmatched   []Unmatched  `json:"unmatched"` // what is in one set only
	Samples     []Sample     `json:"samples"`   // of a single set: what it holds
	Curves      []Curve      `json:"curves"`    // over sizes, streams and numbers of tables, where the sets vary them
	Trades      []Trade      `json:"trades"`    // what a set gains in one figure and pays in another
}

// Sample is one figure of one test in a single set.
type Sample struct {
	Name           string    `json:"name"`
	Unit           string    `json:"unit"`
	Summary        Summary   `json:"summary"`
	MedianInterval *Interval `json:"median_interval"` // null with too few values, or where only a summary is known
	OnCurve        bool      `json:"on_curve"`        // one of Curves has it as a point
	Notes          []string  `json:"notes"`           // why it may mislead

	Values []float64 `json:"-"` // in ascending order, nil where only the summary is known
}

// Refusal is a test whose sets cannot be compared.
type Refusal struct {
	Name string   `json:"name"`
	Sets []string `json:"sets"`
	Text string   `json:"text"`
}

// Unmatched is a test that only one set has.
type Unmatched struct {
	Set  string `json:"set"`
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Comparison is one figure of one test in two sets. Lists have an element for each set, in the order of the arguments.
type Comparison struct {
	Name   string    `json:"name"`  // "" for columns of numbers
	Unit   string    `json:"unit"`  // "" where none is known
	Test   string    `json:"test"`  // "Student's t", or "none" with fewer than three values in a set
	Pairs  int       `json:"pairs"` // of sets of this test; they follow each other
	Sets   []string  `json:"sets"`
	N      []int     `json:"n"`
	Min    []float64 `json:"min"`
	Max    []float64 `json:"max"`
	Mean   []float64 `json:"mean"`
	Median []float64 `json:"median"`
	StdDev []float64 `json:"stddev"`

	Difference        float64 `json:"difference"` // of the means, the second less the first
	Margin            float64 `json:"margin"`
	DifferencePercent float64 `json:"difference_percent"` // of the first mean
	MarginPercent     float64 `json:"margin_percent"`
	Confidence        float64 `json:"confidence"` // in percent
	PooledS           float64 `json:"pooled_s"`
	Significant       bool    `json:"significant"` // by Student's t, after Holm's correction where there are more than two sets
	P                 float64 `json:"p"`           // of Student's t; 1 where it cannot be had
	PHolm             float64 `json:"p_holm"`      // corrected for the number of pairs of sets

	MedianIntervals []*Interval        `json:"median_intervals"` // null with too few values, or where only a summary is known
	MannWhitney     *MannWhitneyResult `json:"mann_whitney"`     // null where only summaries are known
	MedianRatio     *Ratio             `json:"median_ratio"`     // the second over the first; null where it cannot be had, and behind 500 pairs
	RunsNeeded      int                `json:"runs_needed"`      // of each set, to show the observed difference in four of five attempts; 0: practically never
	OnCurve         bool               `json:"on_curve"`         // one of Curves has it as a point
	Notes           []string           `json:"notes"`            // why it may mislead

	Values [][]float64 `json:"-"` // of each set in ascending order, nil where only the summary is known
}

// MannWhitneyResult is the result of the test of ranks, as benchstat makes it.
type MannWhitneyResult struct {
	P           float64 `json:"p"`
	PHolm       float64 `json:"p_holm"`
	Significant bool    `json:"significant"`
	MedianShift float64 `json:"median_difference_percent"` // of the first median
}

// Ratio is a ratio with its bootstrap interval.
type Ratio struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// studentName is the test that decides, as the contract for scripts names it.
const studentName = "Student's t"

// Compare compares what is in two and more sets: all pairs of sets, in the order of the sets. A single set is compared
// within, if it holds outputs of ministat: the sets of each of them. Else its samples are summarised.
func Compare(sets []Set, o CompareOptions) Comparisons {
	if o.Confidence == 0 {
		o.Confidence = 95
	}
	var beyond []Set
	if len(sets) > maxSets {
		sets, beyond = sets[:maxSets], sets[maxSets:]
	}
	c := Comparisons{Comparisons: []Comparison{}, Refused: []Refusal{}, Unmatched: []Unmatched{}, Samples: []Sample{}, Curves: Curves(sets)}
	c.Trades = Trades(c.Curves)
	if len(beyond) > 0 {
		c.Refused = append(c.Refused, Refusal{Name: fmt.Sprintf("%d more sets", len(beyond)), Sets: []string{beyond[0].Label},
			Text: fmt.Sprintf("more than %d sets are not compared: all pairs of them would prove something by chance", maxSets)})
	}
	if len(sets) > 1 {
		c.compare(sets, o)
		c.markCurved()
		return c
	}
	for _, set := range sets {
		for _, within := range ministatOutputs(set) {
			c.compare(within, o)
		}
		if len(c.Comparisons) == 0 {
			c.Samples = describe(set, o)
		}
	}
	c.markCurved()
	return c
}

// markCurved marks what the curves show as well.
func (c *Comparisons) markCurved() {
	shown := map[string]bool{}
	for _, curve := range c.Curves {
		for _, s := range curve.Series {
			for _, p := range s.Points {
				shown[p.name] = true
			}
		}
	}
	for i := range c.Comparisons {
		c.Comparisons[i].OnCurve = onCurve(c.Comparisons[i].Name, shown)
	}
	for i := range c.Samples {
		c.Samples[i].OnCurve = onCurve(c.Samples[i].Name, shown)
	}
}

// onCurve reports whether a sample of that name is among the points; its figure and options may follow the point's name.
func onCurve(name string, shown map[string]bool) bool {
	for _, side := range costSides {
		name = strings.TrimSuffix(name, ", "+side.figure)
	}
	name = strings.TrimSuffix(name, ", operations")
	for point := range shown {
		if name == point || strings.HasPrefix(name, point+", ") {
			return true
		}
	}
	return false
}

// Bounds of a comparison: sets, pairs of sets over all tests, and pairs whose ratio gets an interval by bootstrap.
const (
	maxSets       = 20
	maxPairs      = 10_000
	maxBootstraps = 500
)

// describe summarises what one set holds.
func describe(set Set, o CompareOptions) []Sample {
	list := []Sample{}
	for _, group := range samples([]Set{set}) {
		for i := range group {
			s := &group[i]
			s.finish(o.Ministat)
			d := Sample{Name: s.name, Unit: s.unit, Summary: s.summary, Values: s.sorted, Notes: append([]string{}, s.suspicions()...)}
			if s.mixed {
				d.Notes = append(d.Notes, "values of several units: only those of the first are summarised")
			}
			if m, ok := MedianInterval(s.sorted, o.Confidence/100); ok {
				d.MedianInterval = &m
			}
			list = append(list, d)
		}
	}
	return list
}

// ministatOutputs returns the sets of each output of ministat with two and more sets.
func ministatOutputs(set Set) [][]Set {
	var outputs [][]Set
	for i := 0; i < len(set.Runs); {
		first := &set.Runs[i]
		var within []Set
		for ; i < len(set.Runs) && set.Runs[i].Group == first.Group && set.Runs[i].Pos.Source == first.Pos.Source; i++ {
			if r := set.Runs[i]; r.Summary != nil {
				within = append(within, Set{Label: r.Test, Runs: []Run{r}})
			}
		}
		if len(within) > 1 {
			outputs = append(outputs, within)
		}
	}
	return outputs
}

func (c *Comparisons) compare(sets []Set, o CompareOptions) {
	grouped := samples(sets)
	onlyOnes(grouped)
	names, byName := sampleNames(grouped)
	for _, name := range names {
		found := byName[name]
		for _, s := range found {
			s.finish(o.Ministat)
		}
		switch {
		case len(found) == 1:
			c.Unmatched = append(c.Unmatched, Unmatched{found[0].label, name, found[0].summary.N})
		case c.refused(name, found, o.Ministat):
		case len(c.Comparisons)+len(found)*(len(found)-1)/2 > maxPairs:
			c.Refused = append(c.Refused, Refusal{Name: name, Sets: []string{found[0].label}, Text: "more than 10,000 pairs: the rest is left out; name fewer sets or tests"})
			return
		default:
			c.Comparisons = append(c.Comparisons, pairs(found, o, maxBootstraps-len(c.Comparisons))...)
		}
	}
}

// onlyOnes gives samples one name if each set has just one and they are named differently: there is nothing else to
// compare.
func onlyOnes(grouped [][]sample) {
	var joined []string
	for _, g := range grouped {
		if len(g) != 1 {
			return
		}
		if !slices.Contains(joined, g[0].name) {
			joined = append(joined, g[0].name)
		}
	}
	for i := range grouped {
		grouped[i][0].name = strings.Join(joined, " against ")
	}
}

// sampleNames returns the names of all samples in the order in which they come first, and the samples of each.
func sampleNames(grouped [][]sample) (names []string, byName map[string][]*sample) {
	byName = map[string][]*sample{}
	for i := range grouped {
		for k := range grouped[i] {
			s := &grouped[i][k]
			if byName[s.name] == nil {
				names = append(names, s.name)
			}
			byName[s.name] = append(byName[s.name], s)
		}
	}
	return names, byName
}

// refused enters a refusal if units are mixed.
func (c *Comparisons) refused(name string, found []*sample, generation Ministat) bool {
	refusal := Refusal{Name: name}
	var units []string
	mixed := false
	for _, s := range found {
		refusal.Sets = append(refusal.Sets, s.label)
		if !slices.Contains(units, s.unit) {
			units = append(units, s.unit)
		}
		mixed = mixed || s.mixed
	}
	switch {
	case mixed:
		refusal.Text = "a set holds values of several units, or single values beside a summary; give them as sets of their own"
	case len(units) == 1 || oneScale(found, generation):
		return false
	default:
		refusal.Text = fmt.Sprintf("units %q do not compare", units)
		if slices.Contains(units, operationsUnit) && slices.Contains(units, transactions) {
			refusal.Text += ": uperf counts each write and each read as an operation, so that a transaction is two and more"
		}
	}
	c.Refused = append(c.Refused, refusal)
	return true
}

// oneScale brings samples of bits to the unit of the first, if they all are.
func oneScale(found []*sample, generation Ministat) bool {
	to, ok := bitScale(found[0].unit)
	for _, s := range found {
		_, bits := bitScale(s.unit)
		ok = ok && bits && s.values != nil
	}
	if !ok {
		return false
	}
	for _, s := range found[1:] {
		from, _ := bitScale(s.unit)
		if s.unit == found[0].unit {
			continue
		}
		for i := range s.values {
			s.values[i] *= from / to
		}
		s.scaled, s.unit = s.unit, found[0].unit
		s.finish(generation)
	}
	return true
}

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
