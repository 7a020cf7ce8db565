package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"nettrace/bench"
	"nettrace/diagnose"
	"nettrace/unit"
)

// Compared is what compare shows: benchmark runs, and, of two results, what else changed.
type Compared struct {
	bench.Comparisons
	Changes *diagnose.Changes `json:"changes,omitempty"`
}

// Empty reports whether there is nothing to show.
func (c *Compared) Empty() bool {
	return len(c.Comparisons.Comparisons)+len(c.Samples)+len(c.Curves) == 0 && (c.Changes == nil || c.Changes.Empty())
}

// Compare prints comparisons: of each test what ministat prints of it, with its plot, then all of them in a table like
// benchstat's, then curves, and what changed beside benchmark runs.
func Compare(w io.Writer, c *Compared, style Style) error {
	p := &page{w: w, style: style}
	several := repeatedTests(c.Comparisons.Comparisons)
	for _, test := range byTest(several) {
		p.comparison(test)
	}
	p.samples(c.Samples)
	p.medians(several)
	p.singles(c.Comparisons.Comparisons)
	for i := range c.Curves {
		p.curve(&c.Curves[i])
	}
	p.trades(c.Trades)
	for _, r := range c.Refused {
		p.labelled(0, "not compared", yellow, 14, Clean(testTitle(r.Name)+" in "+strings.Join(r.Sets, ", ")+": "+r.Text))
	}
	for _, u := range c.Unmatched {
		p.labelled(0, "only in", faint, 14, Clean(fmt.Sprintf("%s: %s, %s", u.Set, testTitle(u.Name), plural(u.N, "value", "values"))))
	}
	if c.Changes != nil {
		p.changes(c.Changes)
	}
	return p.err
}

// CompareJSON writes comparisons for scripts.
func CompareJSON(w io.Writer, c *Compared) error {
	e := json.NewEncoder(Plain(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(c)
}

// byTest groups the pairs of each test.
func byTest(list []bench.Comparison) [][]bench.Comparison {
	var tests [][]bench.Comparison
	for len(list) > 0 {
		n := max(1, min(len(list), list[0].Pairs))
		tests = append(tests, list[:n])
		list = list[n:]
	}
	return tests
}

// repeatedTests leaves out the tests of which all sets have a single value: there is nothing to plot or to prove.
func repeatedTests(list []bench.Comparison) []bench.Comparison {
	var kept []bench.Comparison
	for _, test := range byTest(list) {
		if !single(test) {
			kept = append(kept, test...)
		}
	}
	return kept
}

func single(test []bench.Comparison) bool {
	return !slices.ContainsFunc(test, func(c bench.Comparison) bool { return max(c.N[0], c.N[1]) > 1 })
}

// singles prints the tests with a single value in each set that no curve shows.
func (p *page) singles(list []bench.Comparison) {
	var rows [][]string
	for _, test := range byTest(list) {
		if !single(test) || test[0].OnCurve {
			continue
		}
		for _, c := range test[:firstPairs(test)] {
			change := "n/a"
			if c.Mean[0] != 0 {
				change = fmt.Sprintf("%+.2f%%", 100*c.Difference/c.Mean[0])
			}
			rows = append(rows, []string{testTitle(c.Name), c.Unit, c.Sets[0], fourDigits(c.Mean[0]), c.Sets[1], fourDigits(c.Mean[1]), change})
		}
	}
	if len(rows) > 0 {
		p.table([]string{"single runs", "unit", "", "", "", "", "change"}, rows, map[int]bool{3: true, 5: true, 6: true})
		p.labelled(0, "note", yellow, 6, "one value in a set proves nothing: repeat the runs, six and more of each, in turns")
		p.print("\n")
	}
}

// symbols mark the sets in plots, as ministat does.
const symbols = "x+*%#@O"

func symbol(i int) string { return string(symbols[min(i, len(symbols)-1)]) }

func testTitle(name string) string {
	if name == "" {
		return "values"
	}
	return name
}

// valuesOf is one set of a test, as it is printed.
type valuesOf struct {
	label                          string
	n                              int
	low, high, median, mean, stdev float64
	sorted                         []float64
}

// setsOf returns the sets of a test's pairs: those of the first pair, and the second ones of the pairs with its first.
func setsOf(test []bench.Comparison) []valuesOf {
	at := func(c bench.Comparison, i int) valuesOf {
		return valuesOf{c.Sets[i], c.N[i], c.Min[i], c.Max[i], c.Median[i], c.Mean[i], c.StdDev[i], c.Values[i]}
	}
	sets := []valuesOf{at(test[0], 0)}
	for i, c := range test {
		if i < firstPairs(test) {
			sets = append(sets, at(c, 1))
		}
	}
	return sets
}

// firstPairs is how many pairs begin with the first set: m-1 of m(m-1)/2.
func firstPairs(test []bench.Comparison) int {
	m := 2
	for m*(m-1)/2 < len(test) {
		m++
	}
	return m - 1
}

// comparison prints one test: names, plot, table, and what each set differs in from the first.
func (p *page) comparison(test []bench.Comparison) {
	sets := setsOf(test)
	title := testTitle(test[0].Name)
	if test[0].Unit != "" {
		title += " in " + test[0].Unit
	}
	p.print(p.paint(bold, Clean(title)) + "\n")
	for i, s := range sets {
		p.print(symbol(i) + " " + Clean(s.label) + "\n")
	}
	p.plot(sets)
	p.print("    N           Min           Max        Median           Avg        Stddev\n")
	for i, s := range sets {
		p.print(fmt.Sprintf("%s %3d %13s %13s %13s %13s %13s\n", symbol(i), s.n, general(s.low), general(s.high), general(s.median), general(s.mean), general(s.stdev)))
		if i > 0 {
			p.difference(test[i-1])
		}
	}
	for i := firstPairs(test); i < len(test); i++ {
		p.print(Clean(test[i].Sets[1]+" against "+test[i].Sets[0]) + ":\n")
		p.difference(test[i])
	}
	for _, note := range notesOf(test) {
		p.labelled(0, "note", yellow, 6, Clean(note))
	}
	p.print("\n")
}

// general prints a number with eight digits, as ministat does.
func general(v float64) string { return strconv.FormatFloat(round8(v), 'g', 8, 64) }

// round8 keeps eight digits, so that trailing zeros are not printed.
func round8(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 8, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// difference prints what is proven of a pair.
func (p *page) difference(c bench.Comparison) {
	at := strconv.FormatFloat(c.Confidence, 'f', 1, 64) + "% confidence"
	switch {
	case c.Test == "none":
		p.print("No difference can be proven with fewer than 3 values\n")
		return
	case math.Abs(c.Difference) <= c.Margin:
		p.print("No difference proven at " + at + "\n")
	default:
		p.print("Difference at " + at + "\n")
		p.print(fmt.Sprintf("\t%.6g +/- %.6g\n\t%.6g%% +/- %.6g%%\n\t(Student's t, pooled s = %.6g)\n", c.Difference, c.Margin, c.DifferencePercent, c.MarginPercent, c.PooledS))
	}
	if m := c.MannWhitney; m != nil {
		p.print(fmt.Sprintf("\t(medians %+.2f%%, Mann-Whitney p=%.2g%s)\n", m.MedianShift, m.P, ratioText(c.MedianRatio, c.Confidence)))
	}
	if math.Abs(c.Difference) <= c.Margin && c.Difference != 0 {
		need := "more than 100,000 runs"
		if c.RunsNeeded > 0 {
			need = unit.Count(int64(c.RunsNeeded)) + " runs"
		}
		p.print(fmt.Sprintf("\t(a difference of %.3g would show in four of five attempts with %s of each)\n", c.Difference, need))
	}
}

func ratioText(r *bench.Ratio, confidence float64) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(", ratio %.4g [%.4g, %.4g] at %g%% by bootstrap", r.Value, r.Low, r.High, confidence)
}

// notesOf returns the notes of all pairs once.
func notesOf(test []bench.Comparison) []string {
	var notes []string
	seen := map[string]bool{}
	for _, c := range test {
		for _, n := range c.Notes {
			if !seen[n] {
				seen[n] = true
				notes = append(notes, n)
			}
		}
	}
	return notes
}
