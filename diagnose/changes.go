package diagnose

import (
	"cmp"
	"math"
	"path"
	"slices"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/flame"
	"nettrace/lockstat"
)

// Changes is what differs between two results beside their benchmark runs: findings, matched by their rule and the key of
// their subject, profiles, lock tables, counters and settings.
type Changes struct {
	New      []finding.Finding `json:"new"`     // in other only
	Gone     []finding.Finding `json:"gone"`    // in base only
	Changed  []FindingChange   `json:"changed"` // in both, with another severity or cost
	Same     int               `json:"same"`    // findings that are in both and cost the same
	Profiles []ProfileChange   `json:"profiles"`
	Locks    []*lockstat.Diff  `json:"locks"`
	Counters *coalesce.Diff    `json:"counters"`  // null where not both have counters or settings
	Unpaired []string          `json:"unpaired"`  // kinds of recordings that one side has and the other has not
	Caveats  []string          `json:"caveats"`   // why the two may not be comparable
	NoEffect []string          `json:"no_effect"` // what says that the change cannot be seen, or that the sides look exchanged
}

// FindingChange is a finding of both sides.
type FindingChange struct {
	Before   finding.Finding `json:"before"`
	After    finding.Finding `json:"after"`
	Measures []MeasureChange `json:"measures"` // those that changed most, first
}

// MeasureChange is a measure of both.
type MeasureChange struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// ProfileChange is one profile of both sides.
type ProfileChange struct {
	Base       string            `json:"base"` // source
	Other      string            `json:"other"`
	Functions  []FunctionChange  `json:"functions"` // beyond chance, the largest change of their own share first
	Difference *flame.Difference `json:"-"`
}

// FunctionChange is the share of the samples in which a function itself ran.
type FunctionChange struct {
	Name  string  `json:"name"`
	Base  float64 `json:"base_share"`
	Other float64 `json:"other_share"`
}

// Compare tells what changed from one result to another.
func Compare(base, other *analyze.Result) *Changes {
	c := &Changes{New: []finding.Finding{}, Gone: []finding.Finding{}, Changed: []FindingChange{}, Profiles: []ProfileChange{}, Unpaired: []string{}, Caveats: []string{}, NoEffect: []string{}}
	c.findings(base.Findings, other.Findings)
	c.Profiles, c.Caveats = profileChanges(base.Models.Profiles, other.Models.Profiles)
	c.Locks = lockstat.CompareAll(base.Models.Locks, other.Models.Locks)
	if len(base.Models.Hosts) > 0 && len(other.Models.Hosts) > 0 {
		c.Counters = coalesce.Compare(base.Models.Hosts, other.Models.Hosts)
	}
	c.unpaired(base, other)
	c.NoEffect = noEffectOf(c, base, other)
	return c
}

// Empty reports whether there is nothing to tell.
func (c *Changes) Empty() bool {
	return len(c.New)+len(c.Gone)+len(c.Changed)+c.Same+len(c.Profiles)+len(c.Locks)+len(c.Unpaired)+len(c.NoEffect) == 0 && c.Counters == nil
}

// findingKey is what is the same in two results of one set-up.
func findingKey(f *finding.Finding) string {
	return f.Rule + "\x00" + f.Subject.Kind + "\x00" + f.Subject.Key
}

// findings matches findings; several of one key are matched in their order.
func (c *Changes) findings(base, other []finding.Finding) {
	waiting := map[string][]*finding.Finding{}
	for i := range base {
		key := findingKey(&base[i])
		waiting[key] = append(waiting[key], &base[i])
	}
	matched := map[*finding.Finding]bool{}
	for i := range other {
		f := &other[i]
		key := findingKey(f)
		if len(waiting[key]) == 0 {
			c.New = append(c.New, *f)
			continue
		}
		before := waiting[key][0]
		waiting[key] = waiting[key][1:]
		matched[before] = true
		if change := changeOf(before, f); costsOtherwise(before, f) {
			c.Changed = append(c.Changed, change)
		} else {
			c.Same++
		}
	}
	for i := range base {
		if !matched[&base[i]] {
			c.Gone = append(c.Gone, base[i])
		}
	}
}

// A finding costs otherwise if its share of the effect moved by a tenth, or its time by half.
const (
	shareMoved = 0.1
	timeMoved  = 1.5
)

func costsOtherwise(a, b *finding.Finding) bool {
	if a.Severity != b.Severity || math.Abs(a.Effect.Share-b.Effect.Share) >= shareMoved {
		return true
	}
	less, more := float64(min(a.Effect.Lost, b.Effect.Lost)), float64(max(a.Effect.Lost, b.Effect.Lost))
	return more > timeMoved*less
}

// maxMeasures is how many measures of a change are told.
const maxMeasures = 6

func changeOf(before, after *finding.Finding) FindingChange {
	change := FindingChange{Before: *before, After: *after, Measures: []MeasureChange{}}
	for _, m := range after.Measures {
		if v, ok := before.Measure(m.Name); ok && v != m.Value {
			change.Measures = append(change.Measures, MeasureChange{m.Name, m.Unit, v, m.Value})
		}
	}
	moved := func(m MeasureChange) float64 {
		return math.Abs(m.After-m.Before) / max(math.Abs(m.Before), math.Abs(m.After))
	}
	slices.SortStableFunc(change.Measures, func(a, b MeasureChange) int { return -cmp.Compare(moved(a), moved(b)) })
	change.Measures = change.Measures[:min(len(change.Measures), maxMeasures)]
	return change
}

// maxFunctions is how many functions of a profile are told.
const maxFunctions = 20

// profileChanges compares profiles of the same file name, or, if each side has one, these.
func profileChanges(base, other []*flame.Profile) (changes []ProfileChange, caveats []string) {
	changes, caveats = []ProfileChange{}, []string{}
	taken := make([]bool, len(base))
	for _, p := range other {
		i := slices.IndexFunc(base, func(b *flame.Profile) bool { return path.Base(b.Source) == path.Base(p.Source) })
		if len(base) == 1 && len(other) == 1 {
			i = 0
		}
		if i < 0 || taken[i] {
			continue
		}
		taken[i] = true
		change, err := profileChange(base[i], p)
		if err != nil {
			caveats = append(caveats, "profiles "+base[i].Source+" and "+p.Source+" are not compared: "+err.Error())
			continue
		}
		changes = append(changes, change)
	}
	return changes, caveats
}

func profileChange(base, other *flame.Profile) (ProfileChange, error) {
	d, err := flame.Diff(base, other, flame.DiffOptions{Merged: true})
	if err != nil {
		return ProfileChange{}, err
	}
	c := ProfileChange{Base: base.Source, Other: other.Source, Functions: []FunctionChange{}, Difference: d}
	for i := range d.Functions {
		f := &d.Functions[i]
		if len(c.Functions) < maxFunctions && !d.SelfNoise(&f.Pair) {
			c.Functions = append(c.Functions, FunctionChange{d.Frames[f.Frame].Name, share(f.Base.Self, d.Base.Value), share(f.Other.Self, d.Other.Value)})
		}
	}
	return c, nil
}

func share(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// unpaired names the kinds of recordings that only one side has.
func (c *Changes) unpaired(base, other *analyze.Result) {
	kinds := func(r *analyze.Result) map[analyze.Kind]bool {
		has := map[analyze.Kind]bool{}
		for _, s := range r.Sources {
			has[s.Kind] = has[s.Kind] || s.Format != ""
		}
		return has
	}
	a, b := kinds(base), kinds(other)
	for _, kind := range []analyze.Kind{analyze.Capture, analyze.Locks, analyze.Stacks, analyze.Settings, analyze.Counters, analyze.Interrupts, analyze.Benchmark} {
		switch {
		case a[kind] && !b[kind]:
			c.Unpaired = append(c.Unpaired, string(kind)+": only before; findings that are gone may only not have been looked for")
		case b[kind] && !a[kind]:
			c.Unpaired = append(c.Unpaired, string(kind)+": only after; new findings may only not have been looked for before")
		}
	}
}
