package report

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"nettrace/bench"
)

// medians prints all tests in a table like benchstat's: the median of each set with its interval, and against the first
// set the difference of the medians, or ~ where the test of ranks does not show one.
func (p *page) medians(list []bench.Comparison) {
	var rows [][]string
	var heads []string
	for _, test := range byTest(list) {
		if test[0].MannWhitney == nil {
			continue
		}
		names := shortNames(test)
		head := []string{"medians", "unit", names[0]}
		row := []string{testTitle(test[0].Name), test[0].Unit, medianCell(test[0], 0)}
		for i, c := range test[:firstPairs(test)] {
			head = append(head, names[i+1], "against "+names[0])
			row = append(row, medianCell(c, 1), shiftCell(c))
		}
		if strings.Join(head, "\x00") != strings.Join(heads, "\x00") {
			p.medianTable(heads, rows)
			rows, heads = nil, head
		}
		rows = append(rows, row)
	}
	p.medianTable(heads, rows)
}

// shortNames returns the names of a test's sets without their folders, if they still differ then.
func shortNames(test []bench.Comparison) []string {
	var full, short []string
	for _, s := range setsOf(test) {
		full = append(full, s.label)
		if base := path.Base(s.label); !slices.Contains(short, base) {
			short = append(short, base)
		}
	}
	if len(short) < len(full) {
		return full
	}
	return short
}

func (p *page) medianTable(heads []string, rows [][]string) {
	if len(rows) > 0 {
		p.table(heads, rows, nil)
		p.print("\n")
	}
}

// medianCell prints a median with half of its interval: "10,003 ± 28 %".
func medianCell(c bench.Comparison, i int) string {
	median := c.Median[i]
	return fmt.Sprintf("%s ± %s", fourDigits(median), spreadText(c.MedianIntervals[i], median))
}

// spreadText is the larger of the distances of the ends from the median in percent; ∞ with too few values.
func spreadText(i *bench.Interval, median float64) string {
	switch {
	case i == nil:
		return "∞"
	case median == 0 || (i.Low < 0) != (i.High < 0):
		return "?"
	}
	return fmt.Sprintf("%.0f%%", 100*max(i.High/median-1, 1-i.Low/median))
}

// shiftCell prints "-44.06% (p=0.001 n=7)", as benchstat does.
func shiftCell(c bench.Comparison) string {
	m := c.MannWhitney
	n := fmt.Sprintf("n=%d", c.N[0])
	if c.N[0] != c.N[1] {
		n = fmt.Sprintf("n=%d+%d", c.N[0], c.N[1])
	}
	shift := "~"
	if m.P <= 1-c.Confidence/100 {
		shift = fmt.Sprintf("%+.2f%%", m.MedianShift)
	}
	p := fmt.Sprintf("p=%.3f", m.P)
	if m.PHolm > m.P {
		p += fmt.Sprintf(", Holm %.3f", m.PHolm)
	}
	return shift + " (" + p + " " + n + ")"
}

// fourDigits prints a number with four significant digits behind which nothing is rounded away that is whole.
func fourDigits(v float64) string {
	if math.Abs(v) >= 1000 && math.Abs(v) < 1e9 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
