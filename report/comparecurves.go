package report

import (
	"fmt"
	"math"
	"strings"

	"nettrace/bench"
	"nettrace/unit"
)

// samples prints what a single set holds, each with its plot as ministat prints one; single values are lines of a table.
func (p *page) samples(list []bench.Sample) {
	var rows [][]string
	for _, s := range list {
		if s.Summary.N == 1 {
			if !s.OnCurve {
				rows = append(rows, []string{testTitle(s.Name), fourDigits(s.Summary.Mean), s.Unit})
			}
			continue
		}
		title := testTitle(s.Name)
		if s.Unit != "" {
			title += " in " + s.Unit
		}
		p.print(p.paint(bold, Clean(title)) + "\n")
		v := valuesOf{n: s.Summary.N, low: s.Summary.Min, high: s.Summary.Max, median: s.Summary.Median, mean: s.Summary.Mean, stdev: s.Summary.StdDev, sorted: s.Values}
		if v.n >= fewForPlot {
			p.plot([]valuesOf{v})
		}
		p.print("    N           Min           Max        Median           Avg        Stddev\n")
		p.print(fmt.Sprintf("%s %3d %13s %13s %13s %13s %13s\n", symbol(0), v.n, general(v.low), general(v.high), general(v.median), general(v.mean), general(v.stdev)))
		if i := s.MedianInterval; i != nil {
			p.print(fmt.Sprintf("\t(median between %s and %s at %s)\n", general(i.Low), general(i.High), unit.Percent(i.Confidence)))
		}
		if v.n >= fewForPlot { // single runs are told to be few by their number
			for _, note := range s.Notes {
				p.labelled(0, "note", yellow, 6, Clean(strings.TrimPrefix(note, ": ")))
			}
		}
		p.print("\n")
	}
	if len(rows) > 0 {
		p.table([]string{"single runs", "", "unit"}, rows, map[int]bool{1: true})
		p.print("\n")
	}
}

// trades prints what sets gain in one figure and pay in another.
func (p *page) trades(list []bench.Trade) {
	for i := range list {
		p.labelled(0, "trade", faint, 10, TradeText(&list[i]))
	}
	if len(list) > 0 {
		p.print("\n")
	}
}

// TradeText says what a set gains in one figure and pays in another.
func TradeText(t *bench.Trade) string {
	moved := func(i int, s *bench.Shift) string {
		return fmt.Sprintf("%s %+.3g (%+.2g %%, %s)", figureName(t.Names[i], t.Units[i]), s.Mean, 100*(s.Ratio-1), ways(s))
	}
	return Clean(fmt.Sprintf("%s against %s over %d places of %s: %s, %s: %+.3g for each 1", t.Set, t.Base, t.First.Places, t.Axis, moved(0, &t.First), moved(1, &t.Second), t.Each))
}

func figureName(name, u string) string {
	if u == "" {
		return testTitle(name)
	}
	return testTitle(name) + " in " + u
}

func ways(s *bench.Shift) string {
	switch s.Places {
	case s.Above:
		return "up at all"
	case s.Below:
		return "down at all"
	}
	return fmt.Sprintf("up at %d, down at %d", s.Above, s.Below)
}

// fewForPlot is how many values make a plot.
const fewForPlot = 3

// curve prints one curve: its points in all sets, and what is to be said of them.
func (p *page) curve(c *bench.Curve) {
	title := testTitle(c.Name)
	if c.Unit != "" {
		title += " in " + c.Unit
	}
	p.print(p.paint(bold, Clean(title+" by "+c.AxisName())) + "\n")
	p.curveTable(c)
	for _, line := range CurveText(c) {
		p.labelled(0, line.Label, faint, 10, line.Text)
	}
	p.print("\n")
}

// curveTable prints the means at all places.
func (p *page) curveTable(c *bench.Curve) {
	heads := []string{c.AxisName()}
	for _, s := range c.Series {
		heads = append(heads, s.Set)
	}
	right := map[int]bool{}
	for i := range heads {
		right[i] = true
	}
	var rows [][]string
	for _, at := range c.Places() {
		row := []string{unit.Number(at)}
		for i := range c.Series {
			row = append(row, pointCell(c.Series[i].Point(at)))
		}
		rows = append(rows, row)
	}
	p.table(heads, rows, right)
}

func pointCell(p *bench.CurvePoint) string {
	switch {
	case p == nil:
		return ""
	case p.N == 1:
		return fourDigits(p.Mean)
	case p.Mean == 0:
		return fmt.Sprintf("0 (n=%d)", p.N)
	}
	return fmt.Sprintf("%s ± %.2g%% (n=%d)", fourDigits(p.Mean), 100*math.Abs(p.StdDev/p.Mean), p.N)
}

// CurveLine is one statement about a curve.
type CurveLine struct{ Label, Text string }

// CurveText says what a curve shows: costs, cliffs and laws of its series, where they cross, and how far they are apart.
func CurveText(c *bench.Curve) []CurveLine {
	var lines []CurveLine
	say := func(label, format string, args ...any) {
		lines = append(lines, CurveLine{label, Clean(fmt.Sprintf(format, args...))})
	}
	for _, s := range c.Series {
		if s.Cost != nil {
			say("cost", "%s: %s", s.Set, costText(s.Cost, c.Unit))
		}
		for _, cliff := range s.Cliffs {
			say("cliff", "%s: %s", s.Set, cliffText(&cliff, c.Unit))
		}
		if s.USL != nil {
			say("scaling", "%s: %s", s.Set, scalingText(s.USL))
		}
	}
	for _, x := range c.Crossings {
		say("crossing", "%s", crossingText(&x, c))
	}
	for _, s := range c.Shifts {
		say("over all", "%s", shiftText(&s))
	}
	return lines
}

func costText(k *bench.SizeCost, u string) string {
	text := fmt.Sprintf("an operation takes %.3g us + %.3g ns a byte", k.FixedMicros, k.PerByteNanos)
	if strings.HasPrefix(u, "us/") {
		text = fmt.Sprintf("an operation costs %.3g us of CPU time + %.3g ns a byte", k.FixedMicros, k.PerByteNanos)
	}
	if k.MSS > 0 {
		text += fmt.Sprintf(" + %.3g us a segment of %s bytes", k.PerSegmentMicros, unit.Count(k.MSS))
	}
	return fmt.Sprintf("%s (fitted to %d sizes, off by %.2g %%)", text, k.Points, k.ErrorPercent)
}

func cliffText(k *bench.CurveCliff, u string) string {
	text := fmt.Sprintf("from %s to %s bytes it falls from %s to %s (-%s)", unit.Count(k.SizeBefore), unit.Count(k.SizeAfter), unit.Number(k.RateBefore), unit.Format(k.RateAfter, u), unit.Percent(k.Loss))
	if k.StepMicros > 0 {
		text += fmt.Sprintf(": a step of %.3g us", k.StepMicros)
	}
	if k.Where != "" {
		text += "; " + k.Where
	}
	return text + "; confidence " + k.Confidence
}

func scalingText(f *bench.USLFit) string {
	text := fmt.Sprintf("one alone %.3g; contention %s", f.Lambda, unit.Percent(f.Contention))
	if f.Contention > 0 {
		text += fmt.Sprintf(" of the work is done by one at a time (never more than %.3g times one alone)", 1/f.Contention)
	}
	text += "; coherency " + unit.Percent(f.Coherency)
	if f.Peak > 0 {
		text += fmt.Sprintf(" for each pair: highest with about %.0f, less beyond", f.Peak)
	}
	return fmt.Sprintf("%s (R2 %.3f)", text, f.Fit)
}

func crossingText(x *bench.Crossing, c *bench.Curve) string {
	fit := ""
	if x.FitAt > 0 {
		fit = fmt.Sprintf(", by the fits from %s on", unit.Number(x.FitAt))
	}
	sure := "both sides proven"
	if !x.Proven {
		sure = "not proven on both sides: repeat the runs"
	}
	return fmt.Sprintf("%s overtakes %s at about %s %s (interpolated%s): %s behind at %s, %s ahead at %s; %s", x.Second, x.First, unit.Number(math.Round(x.At)), c.AxisName(), fit,
		unit.Percent(x.Before), unit.Number(x.From), unit.Percent(x.After), unit.Number(x.To), sure)
}

func shiftText(s *bench.Shift) string {
	verdict := "the interval holds 1: no difference over all is shown"
	if s.Low > 1 || s.High < 1 {
		verdict = "proven over all"
	}
	return fmt.Sprintf("%s is %.4g times %s, %.4g to %.4g at 95%% (geometric mean of %d places: above at %d, below at %d; mean difference %.4g; %s)",
		s.Set, s.Ratio, s.Base, s.Low, s.High, s.Places, s.Above, s.Below, s.Mean, verdict)
}
