package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nettrace/coalesce"
	"nettrace/diagnose"
	"nettrace/finding"
	"nettrace/flame"
	"nettrace/lockstat"
	"nettrace/unit"
)

// ChangeSection is a part of what changed: a title, a table and lines of text.
type ChangeSection struct {
	Title string
	Head  []string
	Rows  [][]string
	Right map[int]bool // columns of numbers
	Lines []string
}

// maxChangeRows bounds each list that is shown.
const maxChangeRows = 20

// ChangeSections puts what changed into the order in which it is told.
func ChangeSections(c *diagnose.Changes) []ChangeSection {
	var list []ChangeSection
	add := func(s ChangeSection) {
		if len(s.Rows)+len(s.Lines) > 0 {
			list = append(list, s)
		}
	}
	add(ChangeSection{Title: "what speaks against a change", Lines: c.NoEffect})
	add(findingSection("findings that are new", c.New))
	add(findingSection("findings that are gone", c.Gone))
	add(changedSection(c.Changed))
	if c.Same > 0 {
		add(ChangeSection{Title: "findings on both sides that cost the same", Lines: []string{plural(c.Same, "finding", "findings")}})
	}
	for _, d := range c.Locks {
		add(lockSection(d))
	}
	if c.Counters != nil {
		add(settingSection(c.Counters))
		add(rateSection(c.Counters))
	}
	for i := range c.Profiles {
		add(profileSection(&c.Profiles[i]))
	}
	add(ChangeSection{Title: "recorded on one side only", Lines: c.Unpaired})
	add(ChangeSection{Title: "caveats", Lines: c.Caveats})
	return list
}

func findingSection(title string, findings []finding.Finding) ChangeSection {
	s := ChangeSection{Title: title, Head: []string{"severity", "rule", "finding"}}
	for _, f := range findings[:min(len(findings), maxChangeRows)] {
		s.Rows = append(s.Rows, []string{f.Severity.String(), f.Rule, f.Summary})
	}
	return s.more(len(findings))
}

// more says how many rows are not shown.
func (s ChangeSection) more(all int) ChangeSection {
	if all > maxChangeRows {
		s.Lines = append(s.Lines, fmt.Sprintf("and %s more: -o json has all", unit.Count(int64(all-maxChangeRows))))
	}
	return s
}

func changedSection(changes []diagnose.FindingChange) ChangeSection {
	s := ChangeSection{Title: "findings on both sides that cost otherwise", Head: []string{"severity", "rule", "subject", "what changed"}}
	for _, c := range changes[:min(len(changes), maxChangeRows)] {
		severity := c.After.Severity.String()
		if c.Before.Severity != c.After.Severity {
			severity = c.Before.Severity.String() + " -> " + severity
		}
		var words []string
		for _, m := range c.Measures[:min(len(c.Measures), 3)] {
			words = append(words, fmt.Sprintf("%s %s -> %s", m.Name, unit.Format(m.Before, m.Unit), unit.Format(m.After, m.Unit)))
		}
		s.Rows = append(s.Rows, []string{severity, c.After.Rule, c.After.Subject.Name, strings.Join(words, ", ")})
	}
	return s.more(len(changes))
}

func lockSection(d *lockstat.Diff) ChangeSection {
	s := ChangeSection{Title: "locks: " + d.Base.Source + " -> " + d.Other.Source, Head: []string{"lock", "contentions", "", "wait"}, Right: map[int]bool{1: true, 2: true}, Lines: d.Caveats}
	row := func(name string, c *lockstat.Change) {
		s.Rows = append(s.Rows, []string{name, unit.Count(c.Base.Contentions), unit.Count(c.Other.Contentions), c.Text(d.Rated)})
	}
	row("all locks", &d.Total)
	for i := range d.Locks[:min(len(d.Locks), maxChangeRows)] {
		row(d.Locks[i].Name, &d.Locks[i])
	}
	return s.more(len(d.Locks))
}

func settingSection(d *coalesce.Diff) ChangeSection {
	s := ChangeSection{Title: "settings", Head: []string{"interface", "of", "setting", "before", "after"}, Lines: d.Caveats}
	for _, c := range d.Settings[:min(len(d.Settings), maxChangeRows)] {
		name := c.Name
		if c.Queue >= 0 {
			name += fmt.Sprintf(" (queue %d)", c.Queue)
		}
		s.Rows = append(s.Rows, []string{c.Interface, c.Tool, name, settingText(c.Base), settingText(c.Other)})
	}
	return s.more(len(d.Settings))
}

func settingText(s coalesce.Setting) string {
	if text := s.Value.String(); text != "" {
		return text
	}
	return "-"
}

// leastRateChange is the least change of a counter or rate that is told, of its larger side.
const leastRateChange = 0.05

func rateSection(d *coalesce.Diff) ChangeSection {
	s := ChangeSection{Title: "counters", Head: []string{"of", "figure", "before", "after", "change"}, Right: map[int]bool{2: true, 3: true, 4: true}}
	told := 0
	for _, r := range d.Rates {
		if r.Base == nil || r.Other == nil || math.Abs(r.Difference) < leastRateChange*max(math.Abs(*r.Base), math.Abs(*r.Other)) || r.Difference == 0 {
			continue
		}
		if told++; told > 2*maxChangeRows {
			continue
		}
		change := "new"
		if r.Ratio != 0 {
			change = fmt.Sprintf("%+.3g %%", 100*(r.Ratio-1))
		} else if *r.Other == 0 {
			change = "gone"
		}
		s.Rows = append(s.Rows, []string{r.Of, r.Name, unit.Format(*r.Base, r.Unit), unit.Format(*r.Other, r.Unit), change})
	}
	if told > len(s.Rows) {
		s.Lines = append(s.Lines, fmt.Sprintf("and %s more that changed: -o json has them", unit.Count(int64(told-len(s.Rows)))))
	}
	return s
}

func profileSection(c *diagnose.ProfileChange) ChangeSection {
	s := ChangeSection{Title: "profile: " + c.Base + " -> " + c.Other, Head: []string{"before", "after", "change", "function (own share)"}, Right: map[int]bool{0: true, 1: true, 2: true}}
	for _, f := range c.Functions {
		s.Rows = append(s.Rows, []string{unit.Percent(f.Base), unit.Percent(f.Other), fmt.Sprintf("%+.2f points", 100*(f.Other-f.Base)), f.Name})
	}
	if len(s.Rows) == 0 {
		s.Lines = append(s.Lines, "no function's own share changed beyond chance (two standard deviations)")
	}
	if d := c.Difference; d != nil {
		for _, only := range []struct {
			what string
			list []flame.Changed
		}{{"new", d.New()}, {"gone", d.Vanished()}} {
			if names := functionNames(d, only.list); names != "" {
				s.Lines = append(s.Lines, only.what+": "+names)
			}
		}
	}
	return s
}

// functionNames names the largest functions that one side has not.
func functionNames(d *flame.Difference, list []flame.Changed) string {
	var names []string
	for _, c := range list {
		if len(names) == 8 {
			names = append(names, fmt.Sprintf("and %d more", len(list)-8))
			break
		}
		if !d.Noise(&c.Pair) {
			names = append(names, d.Frames[c.Frame].Name)
		}
	}
	return strings.Join(slices.Compact(names), ", ")
}

// changes prints what changed beside benchmark runs.
func (p *page) changes(c *diagnose.Changes) {
	for _, s := range ChangeSections(c) {
		p.print(p.paint(bold, Clean(s.Title)) + "\n")
		if len(s.Rows) > 0 {
			p.table(s.Head, s.Rows, s.Right)
		}
		for _, line := range s.Lines {
			p.labelled(0, "note", yellow, 6, line)
		}
		p.print("\n")
	}
}
