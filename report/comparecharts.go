package report

import (
	"fmt"
	"html"
	"math"
	"strings"

	"nettrace/bench"
	"nettrace/unit"
)

// Sizes of a plot of samples: a row for each set.
const (
	sampleRow  = 46
	sampleDots = 400 // dots of a set; of more values every n-th is drawn
)

// samplesChart draws the values of sets over one scale: a dot for each value, a line from the lowest to the highest, a bar
// for the interval of the median, and a mark at the median.
func samplesChart(title, u string, sets []valuesOf, medians []*bench.Interval) plotView {
	low, high := sets[0].low, sets[0].high
	for _, s := range sets {
		low, high = min(low, s.low), max(high, s.high)
	}
	height := chartTop + chartBottom + sampleRow*len(sets)
	x := countAxis(low, high, u)
	x.from, x.to = chartLeft+90, chartWidth-chartRight
	c := &chart{x: x}
	bottom := float64(height - chartBottom)
	c.printf(`<svg class="chart" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", chartWidth, height, chartWidth, height, html.EscapeString(title+"; the numbers are in the table below"))
	var grid strings.Builder
	for _, v := range c.x.ticks(ticksAcross) {
		fmt.Fprintf(&grid, "M%s %sV%d", px(c.x.at(v)), px(bottom), chartTop)
		c.text("tick middle", c.x.at(v), bottom+16, c.x.text(v))
	}
	c.path("grid", grid.String())
	c.text("label middle", (c.x.from+c.x.to)/2, float64(height-8), c.x.label)
	view := plotView{Caption: title}
	for i, s := range sets {
		middle := float64(chartTop + sampleRow*i + sampleRow/2)
		class := fmt.Sprintf("set set%d", i%maxCurves)
		c.text("label end", c.x.from-8, middle+4, shortLabel(s.label))
		c.printf(`<g class="%s">`+"\n", class)
		c.path("range", fmt.Sprintf("M%s %sH%s", px(c.x.at(s.low)), px(middle), px(c.x.at(s.high))))
		if m := medians[i]; m != nil {
			c.printf(`<rect class="interval" x="%s" y="%s" width="%s" height="14"/>`+"\n", px(c.x.at(m.Low)), px(middle-7), px(max(1, c.x.at(m.High)-c.x.at(m.Low))))
		}
		step := 1 + len(s.sorted)/sampleDots
		for k := 0; k < len(s.sorted); k += step {
			c.printf(`<circle class="dot" cx="%s" cy="%s" r="3"/>`+"\n", px(c.x.at(s.sorted[k])), px(middle))
		}
		c.path("median", fmt.Sprintf("M%s %sV%s", px(c.x.at(clamped(s.median, low, high))), px(middle-11), px(middle+11)))
		c.printf("</g>\n")
		if step > 1 {
			view.Notes = append(view.Notes, fmt.Sprintf("%s: every %d-th of %s values is drawn", s.label, step, unit.Count(int64(len(s.sorted)))))
		}
		view.Legend = append(view.Legend, legendItem{class, s.label, `<circle class="dot" cx="7" cy="7" r="3"/>`})
	}
	view.Notes = append(view.Notes, "dots are values, the tall mark is the median, the box its interval")
	view.SVG = c.done()
	return view
}

func clamped(v, low, high float64) float64 { return max(low, min(high, v)) }

// shortLabel is what fits beside a plot.
func shortLabel(label string) string {
	const most = 24
	r := []rune(label)
	if len(r) <= most {
		return label
	}
	return "…" + string(r[len(r)-most+1:])
}

// curveAxis returns the horizontal axis of a curve, and what puts a place on it: by powers of two where the places spread
// over more than three of them.
func curveAxis(places []float64, label string) (axis, func(float64) float64) {
	low, high := places[0], places[len(places)-1]
	if low <= 0 || high < 8*low {
		return countAxis(low, high, label), func(v float64) float64 { return v }
	}
	a := countAxis(math.Log2(low), math.Log2(high), label)
	a.text = func(v float64) string { return tick(math.Round(math.Exp2(v))) }
	return a, math.Log2
}

// curveChart draws a curve: a line for each set with the lowest and highest value at each place, and fitted laws of scaling.
func curveChart(title string, c *bench.Curve) plotView {
	places := c.Places()
	x, on := curveAxis(places, c.AxisName())
	high := 0.0
	for _, s := range c.Series {
		for _, p := range s.Points {
			high = max(high, p.Max)
		}
		if s.USL != nil {
			high = max(high, lawOf(s.USL).Rate(clamped(s.USL.Peak, places[0], places[len(places)-1])))
		}
	}
	chart := newChart(x, countAxis(0, high, c.Unit), title+"; the numbers are in the table below")
	view := plotView{Caption: title}
	for i := range c.Series {
		s := &c.Series[i]
		class := fmt.Sprintf("curve%d", i%maxCurves)
		var line, bars strings.Builder
		for k, p := range s.Points {
			command := "L"
			if k == 0 {
				command = "M"
			}
			at := px(chart.x.at(on(p.At)))
			fmt.Fprintf(&line, "%s%s %s", command, at, px(chart.y.at(p.Mean)))
			if p.Max > p.Min {
				fmt.Fprintf(&bars, "M%s %sV%s", at, px(chart.y.at(p.Min)), px(chart.y.at(p.Max)))
			}
		}
		chart.path("curve "+class, line.String())
		chart.path("curve solid "+class, bars.String())
		for _, p := range s.Points {
			chart.printf(`<circle class="dot %s" cx="%s" cy="%s" r="3"/>`+"\n", class, px(chart.x.at(on(p.At))), px(chart.y.at(p.Mean)))
		}
		if s.USL != nil {
			chart.path("fitted "+class, fittedPath(chart, s.USL, places, on, high))
		}
		view.Legend = append(view.Legend, legendItem{"curve " + class, s.Set, `<path d="M0 7H14"/>`})
	}
	for _, x := range c.Crossings {
		chart.path("crossing", fmt.Sprintf("M%s %sV%s", px(chart.x.at(on(max(x.At, places[0])))), px(chart.y.from), px(chart.y.to)))
	}
	if len(c.Crossings) > 0 {
		view.Notes = append(view.Notes, "upright lines: where one overtakes another")
	}
	view.SVG = chart.done()
	return view
}

func lawOf(f *bench.USLFit) bench.USL {
	return bench.USL{Lambda: f.Lambda, Contention: f.Contention, Coherency: f.Coherency}
}

// fittedPath draws a law of scaling from the first place to the last.
func fittedPath(c *chart, f *bench.USLFit, places []float64, on func(float64) float64, high float64) string {
	const pieces = 60
	var d strings.Builder
	law := lawOf(f)
	from, to := on(places[0]), on(places[len(places)-1])
	for i := range pieces + 1 {
		at := from + (to-from)*float64(i)/pieces
		n := at
		if on(2) == 1 && on(4) == 2 { // powers of two
			n = math.Exp2(at)
		}
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&d, "%s%s %s", command, px(c.x.at(at)), px(c.y.at(min(law.Rate(n), high))))
	}
	return d.String()
}

// comparePlot is a picture with the title that it has in the page.
type comparePlot struct {
	title  string
	view   plotView
	tables []*table
	lines  []CurveLine // what is to be said of it
}

// comparePlots draws what can be drawn of a comparison: tests with repeated values, then curves.
func comparePlots(c *Compared) []comparePlot {
	var plots []comparePlot
	for _, test := range byTest(repeatedTests(c.Comparisons.Comparisons)) {
		if len(plots) == maxComparePlots {
			return plots
		}
		sets := setsOf(test)
		medians := []*bench.Interval{test[0].MedianIntervals[0]}
		for _, pair := range test[:firstPairs(test)] {
			medians = append(medians, pair.MedianIntervals[1])
		}
		title := testTitle(test[0].Name)
		plots = append(plots, comparePlot{title, samplesChart(title, test[0].Unit, sets, medians), []*table{setTable(title, sets, medians)}, noteLines(notesOf(test))})
	}
	for _, s := range c.Samples {
		if s.Summary.N >= fewForPlot && len(plots) < maxComparePlots {
			v := valuesOf{label: "values", n: s.Summary.N, low: s.Summary.Min, high: s.Summary.Max, median: s.Summary.Median, mean: s.Summary.Mean, stdev: s.Summary.StdDev, sorted: s.Values}
			sets, medians := []valuesOf{v}, []*bench.Interval{s.MedianInterval}
			plots = append(plots, comparePlot{testTitle(s.Name), samplesChart(testTitle(s.Name), s.Unit, sets, medians), []*table{setTable(s.Name, sets, medians)}, noteLines(s.Notes)})
		}
	}
	for i := range c.Curves {
		if len(plots) == maxComparePlots {
			break
		}
		k := &c.Curves[i]
		title := testTitle(k.Name) + " by " + k.AxisName()
		plots = append(plots, comparePlot{title, curveChart(title, k), []*table{placesTable(title, k)}, CurveText(k)})
	}
	return plots
}

// maxComparePlots bounds the pictures of a page.
const maxComparePlots = 60

func noteLines(notes []string) []CurveLine {
	var lines []CurveLine
	for _, n := range notes {
		lines = append(lines, CurveLine{"note", n})
	}
	return lines
}

// setTable has the summaries of the sets of a plot.
func setTable(title string, sets []valuesOf, medians []*bench.Interval) *table {
	t := &table{Caption: title, Head: []column{{Text: "set"}}}
	for _, h := range [...]string{"N", "min", "max", "median", "its interval", "mean", "deviation"} {
		t.Head = append(t.Head, column{Text: h, Number: true})
	}
	for i, s := range sets {
		interval := "too few values"
		if m := medians[i]; m != nil {
			interval = general(m.Low) + " to " + general(m.High)
		}
		t.Rows = append(t.Rows, row{Cells: []cell{text(s.label), whole(int64(s.n)), number(s.low, general(s.low)), number(s.high, general(s.high)), number(s.median, general(s.median)),
			text(interval), number(s.mean, general(s.mean)), number(s.stdev, general(s.stdev))}})
	}
	return t
}

// placesTable has the means of a curve.
func placesTable(title string, c *bench.Curve) *table {
	t := &table{Caption: title, Head: []column{{Text: c.AxisName(), Number: true}}}
	for _, s := range c.Series {
		t.Head = append(t.Head, column{Text: s.Set, Number: true})
	}
	for _, at := range c.Places() {
		r := row{Cells: []cell{number(at, unit.Number(at))}}
		for i := range c.Series {
			r.Cells = append(r.Cells, text(pointCell(c.Series[i].Point(at))))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
