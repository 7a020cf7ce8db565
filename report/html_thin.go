package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/coalesce"
	"nettrace/flame"
	"nettrace/lockstat"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// thinning leaves something out of a result so that its page becomes smaller. do returns how much it left out.
type thinning struct {
	what   string // with a place for the number
	do     func(*analyze.Result) int
	weight source.Loss
}

// thinnings returns what is done to a page that is too large, one after the other: what views need least comes first.
func thinnings() []thinning {
	return []thinning{
		{"the ends of %s long texts", longTexts, source.Note},
		{"%s counters and rows that did not change", unchangedCounters, source.Note},
		{"%s rare stacks, summed up by thread", rareStacks(4000), source.Note},
		{"%s connections beyond the first 200 of a capture", connectionsBeyond(200), source.Note},
		{"%s packets of the sequence plots", pointsBeyond(500), source.Note},
		{"%s sequence plots beyond the first 50", plotsBeyond(50), source.Note},
		{"%s hosts that no finding cites", uncitedHosts, source.Note},
		{"%s sources beyond the first 500, which the page does not list", sourcesBeyond(maxSourceRows), source.Note},
		{"%s more rare stacks, summed up by thread", rareStacks(500), source.Note},
		{"%s more connections beyond the first 20 of a capture", connectionsBeyond(20), source.Note},
		{"%s more packets of the sequence plots", pointsBeyond(100), source.Note},
		{"%s summaries of captures, hosts, locks, profiles and runs", everything, source.Note},
		{"%s losses beyond the first 200", lossesBeyond(200), source.Warning},
		{"%s findings beyond the first 100", findingsBeyond(100), source.Warning},
	}
}

// leftOut is the name of these losses in the ledger.
const leftOut = "left-out-of-page"

// apply leaves something out of a result and tells it in the ledger. It reports whether there was anything.
func (t *thinning) apply(r *analyze.Result) bool {
	n := t.do(r)
	if n == 0 {
		return false
	}
	r.Ledger = append(r.Ledger, source.Entry{Name: leftOut, Severity: t.weight, Count: int64(n),
		Text: "the page is kept small: it lacks " + fmt.Sprintf(t.what, unit.Count(int64(n))) + "; analyze -o json has all"})
	return true
}

// mostOfText is how much of a text is kept where texts are cut: several screens of it.
const mostOfText = 4000

// longTexts cuts what no reader reads to its end, such as a line of megabytes that a finding cites.
func longTexts(r *analyze.Result) (n int) {
	rewriteStrings(reflect.ValueOf(r), func(s string) string {
		if len(s) <= mostOfText {
			return s
		}
		n++
		return strings.ToValidUTF8(s[:mostOfText], "") + "…"
	})
	return n
}

func unchangedCounters(r *analyze.Result) (n int) {
	for _, h := range r.Models.Hosts {
		for _, s := range counterSeries(h) {
			before := len(s.Counters)
			s.Counters = slices.DeleteFunc(s.Counters, func(c coalesce.Counter) bool { return !c.Changed() })
			s.Omitted += before - len(s.Counters)
			n += before - len(s.Counters)
		}
		for _, s := range h.Tables {
			before := len(s.Rows)
			s.Rows = slices.DeleteFunc(s.Rows, func(c coalesce.CPURow) bool { return !c.Changed() })
			s.Omitted += before - len(s.Rows)
			n += before - len(s.Rows)
		}
	}
	return n
}

// counterSeries returns the counters of a host's interfaces and protocols.
func counterSeries(h *coalesce.Host) []*coalesce.CounterSeries {
	list := slices.Clone(h.Protocols)
	for _, i := range h.Interfaces {
		list = append(list, i.Counters...)
	}
	return list
}

// uncitedHosts leaves out hosts none of whose sources a finding cites.
func uncitedHosts(r *analyze.Result) int {
	cited := map[string]bool{}
	for i := range r.Findings {
		for _, e := range r.Findings[i].Evidence {
			cited[e.Source] = true
		}
	}
	before := len(r.Models.Hosts)
	r.Models.Hosts = slices.DeleteFunc(r.Models.Hosts, func(h *coalesce.Host) bool {
		return !slices.ContainsFunc(sourcesOf(h), func(s string) bool { return cited[s] })
	})
	return before - len(r.Models.Hosts)
}

// sourcesOf returns where the readings of a host come from.
func sourcesOf(h *coalesce.Host) []string {
	var list []string
	series := func(s *coalesce.Series) {
		for _, x := range s.Snapshots {
			list = append(list, x.Pos.Source)
		}
	}
	for _, i := range h.Interfaces {
		for _, d := range i.Dumps {
			list = append(list, d.Pos.Source)
		}
	}
	for _, s := range counterSeries(h) {
		series(&s.Series)
	}
	for _, t := range h.Tables {
		series(&t.Series)
	}
	return list
}

func rareStacks(most int) func(*analyze.Result) int {
	return func(r *analyze.Result) (n int) {
		for i, p := range r.Models.Profiles {
			thin, left := p.Thin(most)
			r.Models.Profiles[i] = thin
			n += left
		}
		return n
	}
}

func connectionsBeyond(most int) func(*analyze.Result) int {
	return func(r *analyze.Result) (n int) {
		for _, c := range r.Models.Captures {
			if left := len(c.Connections) - most; left > 0 {
				c.Connections = slices.Clone(c.Connections[:most])
				c.Totals.NotKept += int64(left)
				n += left
			}
			if left := len(c.Servers) - most; left > 0 {
				c.Servers = slices.Clone(c.Servers[:most])
			}
		}
		return n
	}
}

// pointsBeyond keeps of each course every so many-th packet, and all near cited ones.
func pointsBeyond(most int) func(*analyze.Result) int {
	return func(r *analyze.Result) (n int) {
		for i := range r.Models.Series {
			s := &r.Models.Series[i]
			near := nearCited(s)
			for dir := range s.Directions {
				n += every(&s.Directions[dir], most, near)
			}
		}
		return n
	}
}

func every(c *analyze.Course, most int, near map[int64]bool) int {
	step := (len(c.Points) + most - 1) / most
	if step < 2 {
		return 0
	}
	before, last := len(c.Points), c.Points[len(c.Points)-1].Record
	k := -1
	c.Points = slices.DeleteFunc(c.Points, func(p analyze.Point) bool {
		k++
		return k%step > 0 && p.Record != last && !near[p.Record]
	})
	if len(c.Thinned) == 0 {
		c.Thinned = []analyze.Thinned{{Packets: c.Packets, Every: 1}}
	}
	for i := range c.Thinned {
		c.Thinned[i].Every *= int64(step)
	}
	return before - len(c.Points)
}

// nearCited returns the records that detail plots show.
func nearCited(s *analyze.Series) map[int64]bool {
	all := merged(s)
	near := map[int64]bool{}
	for i, p := range all {
		if slices.Contains(s.Cited, p.Record) {
			for _, q := range all[max(i-detailBefore, 0):min(i+detailBehind+1, len(all))] {
				near[q.Record] = true
			}
		}
	}
	return near
}

func plotsBeyond(most int) func(*analyze.Result) int {
	return func(r *analyze.Result) int {
		left := max(len(r.Models.Series)-most, 0)
		r.Models.Series = r.Models.Series[:len(r.Models.Series)-left]
		return left
	}
}

func sourcesBeyond(most int) func(*analyze.Result) int {
	return func(r *analyze.Result) int {
		left := max(len(r.Sources)-most, 0)
		r.Sources = r.Sources[:len(r.Sources)-left]
		return left
	}
}

// lossesBeyond keeps all that say what the page lacks.
func lossesBeyond(most int) func(*analyze.Result) int {
	return func(r *analyze.Result) int {
		kept := 0
		r.Ledger = slices.DeleteFunc(r.Ledger, func(e source.Entry) bool {
			if e.Name == leftOut {
				return false
			}
			kept++
			return kept > most
		})
		return max(kept-most, 0)
	}
}

func everything(r *analyze.Result) int {
	m := &r.Models
	n := len(m.Captures) + len(m.Hosts) + len(m.Locks) + len(m.Profiles) + len(m.Runs)
	*m = analyze.Models{Captures: []*tcp.Capture{}, Locks: []*lockstat.Table{}, Profiles: []*flame.Profile{}, Hosts: []*coalesce.Host{}, Runs: []bench.Run{}, Series: m.Series}
	return n
}

func findingsBeyond(most int) func(*analyze.Result) int {
	return func(r *analyze.Result) int {
		left := max(len(r.Findings)-most, 0)
		r.Findings = r.Findings[:len(r.Findings)-left]
		return left
	}
}
