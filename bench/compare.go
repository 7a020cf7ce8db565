package bench

import (
	"fmt"
	"slices"
	"strings"
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
			c.Samples = c.describe(set, o)
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

// describe summarises what one set holds; a test without a result that could be summarised is refused.
func (c *Comparisons) describe(set Set, o CompareOptions) []Sample {
	list := []Sample{}
	for _, group := range samples([]Set{set}) {
		for i := range group {
			s := &group[i]
			s.finish(o.Ministat)
			if len(c.whole([]*sample{s})) == 0 {
				continue
			}
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
		for _, s := range byName[name] {
			s.finish(o.Ministat)
		}
		found := c.whole(byName[name])
		switch {
		case len(found) == 0:
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

// whole returns the samples that have a result; those of whose runs all broke off are refused.
func (c *Comparisons) whole(found []*sample) (whole []*sample) {
	for _, s := range found {
		if s.summary.N == 0 && s.left > 0 {
			c.Refused = append(c.Refused, Refusal{Name: s.name, Sets: []string{s.label}, Text: "no run came to its end, so that there is no result"})
			continue
		}
		whole = append(whole, s)
	}
	return whole
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
