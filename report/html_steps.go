package report

import (
	"fmt"
	"strings"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// curve is a line of a step chart: a value for each part of the time.
type curve struct {
	label string
	parts []part
}

type part struct {
	length unit.Nanos
	value  float64
	known  bool
}

// maxCurves is how many lines of one chart can be told apart by their dashes.
const maxCurves = 4

// stepChart draws curves that begin together, with the legend that names them.
func stepChart(caption, label string, curves []curve) plotView {
	highest, longest := 0.0, unit.Nanos(0)
	for _, c := range curves {
		at := unit.Nanos(0)
		for _, p := range c.parts {
			at += p.length
			highest = max(highest, p.value)
		}
		longest = max(longest, at)
	}
	c := newChart(timeAxis(0, longest), countAxis(0, highest, label), caption+"; the numbers are in the table below")
	view := plotView{Caption: caption, Numbers: curveTable(caption, label, curves)}
	for i, curve := range curves {
		var d strings.Builder
		var line steps
		at := unit.Nanos(0)
		for _, p := range curve.parts {
			if p.known {
				line.to(c.x.at(float64(at)), c.y.at(p.value))
				line.to(c.x.at(float64(at+p.length)), c.y.at(p.value))
			} else {
				d.WriteString(line.b.String())
				line = steps{}
			}
			at += p.length
		}
		d.WriteString(line.b.String())
		class := fmt.Sprintf("curve curve%d", i)
		c.path(class, d.String())
		view.Legend = append(view.Legend, legendItem{class, curve.label, `<path d="M0 7H14"/>`})
	}
	view.SVG = c.done()
	return view
}

// benchmarks draws the interim results of the runs that a finding cites, those with one unit in one chart.
func benchmarks(f *finding.Finding, runs []bench.Run) []plotView {
	var views []plotView
	curves := map[string][]curve{}
	var units []string
	for i := range runs {
		r := &runs[i]
		if len(r.Interim) < 3 || !citesRun(f, r) || len(curves[r.Unit]) == maxCurves {
			continue
		}
		if curves[r.Unit] == nil {
			units = append(units, r.Unit)
		}
		c := curve{label: runName(r)}
		for _, x := range r.Interim {
			c.parts = append(c.parts, part{x.Length, x.Rate, true})
		}
		curves[r.Unit] = append(curves[r.Unit], c)
	}
	for _, u := range units {
		views = append(views, stepChart("Interim results of the benchmark over time", u, curves[u]))
	}
	return views
}

func runName(r *bench.Run) string {
	name := r.Tool + " " + r.Test
	switch {
	case r.Sizes.Request > 0:
		name += fmt.Sprintf(", %s bytes for %s", unit.Count(r.Sizes.Request), unit.Count(r.Sizes.Response))
	case r.Sizes.Message > 0:
		name += fmt.Sprintf(", messages of %s bytes", unit.Count(r.Sizes.Message))
	}
	return name + ": " + unit.Format(r.Rate, r.Unit)
}

func citesRun(f *finding.Finding, r *bench.Run) bool {
	return cites(f, r.Pos, func(at source.Pos) bool {
		for _, x := range r.Interim {
			if x.Pos.Line == at.Line && x.Pos.Offset == at.Offset {
				return true
			}
		}
		return false
	})
}

// cites reports whether a finding's evidence is at pos, or at another place of the same source that more accepts.
func cites(f *finding.Finding, pos source.Pos, more func(source.Pos) bool) bool {
	for _, e := range f.Evidence {
		if e.Source == pos.Source && (e.Offset == pos.Offset && e.Line == pos.Line || more != nil && more(e.Pos)) {
			return true
		}
	}
	return false
}

// curveTable has the numbers of a step chart.
func curveTable(caption, label string, curves []curve) *table {
	t := &table{Caption: caption, Head: []column{{"line", false}, {"from", true}, {"to", true}, {label, true}}}
	for _, c := range curves {
		at := unit.Nanos(0)
		for _, p := range c.parts {
			value := text("not known")
			if p.known {
				value = number(p.value, unit.Number(p.value))
			}
			t.Rows = append(t.Rows, row{Cells: []cell{text(c.label), nanos(at), nanos(at + p.length), value}})
			at += p.length
		}
	}
	return t
}

// counterLine is the rate of a counter between the snapshots of its series.
type counterLine struct {
	series *coalesce.Series
	line   curve
}

// citedCounters lists the counters that a finding cites, and gives the rates of those with enough snapshots.
func citedCounters(f *finding.Finding, hosts []*coalesce.Host) (*table, []counterLine) {
	t := &table{Caption: "Counters", Head: []column{{"counter", false}, {"tool", false}, {"first", true}, {"last", true}, {"change", true}, {"per second", true}}}
	var lines []counterLine
	add := func(name string, s *coalesce.Series, c *coalesce.Change) {
		if len(t.Rows) < maxCounters && (cites(f, c.First.Pos, nil) || cites(f, c.Last.Pos, nil)) {
			t.Rows = append(t.Rows, counterRow(name, s, c))
			if line, ok := counterRate(name, s, c); ok && len(lines) < maxCurves {
				lines = append(lines, counterLine{s, line})
			}
		}
	}
	for _, h := range hosts {
		for _, i := range h.Interfaces {
			for _, s := range i.Counters {
				for k := range s.Counters {
					add(i.Name+" "+s.Counters[k].Name, &s.Series, &s.Counters[k].Change)
				}
			}
		}
		for _, s := range h.Protocols {
			for k := range s.Counters {
				add(s.Counters[k].Name, &s.Series, &s.Counters[k].Change)
			}
		}
		for _, s := range h.Tables {
			for k := range s.Rows {
				add(strings.TrimSpace(s.Rows[k].Key+" "+s.Rows[k].Name), &s.Series, &s.Rows[k].Change)
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	return t, lines
}

const maxCounters = 12

func counterRow(name string, s *coalesce.Series, c *coalesce.Change) row {
	rate := text("")
	if perSecond, ok := c.Rate(); ok {
		rate = number(perSecond, unit.Number(perSecond))
	}
	return row{Cells: []cell{text(name), text(s.Tool), count64(c.First.Value), count64(c.Last.Value), count64(c.Delta), rate}}
}

func count64(n uint64) cell {
	return number(float64(n), unit.Count(int64(min(n, 1<<63-1))))
}

func counterRate(name string, s *coalesce.Series, c *coalesce.Change) (curve, bool) {
	lengths := s.Steps()
	if len(lengths) < 3 || !s.Timed() || len(c.Steps) != len(lengths) {
		return curve{}, false
	}
	line := curve{label: name}
	for i, step := range c.Steps {
		n, known := step.Number()
		p := part{length: lengths[i], known: known && lengths[i] > 0}
		if p.known {
			p.value = float64(n) / lengths[i].Seconds()
		}
		line.parts = append(line.parts, p)
	}
	return line, true
}

// charts are the pictures of a finding beside its sequence plots.
func charts(f *finding.Finding, m *analyze.Models) (*table, []plotView) {
	cited, lines := citedCounters(f, m.Hosts)
	views := benchmarks(f, m.Runs)
	for _, l := range lines {
		views = append(views, stepChart("Rate of "+l.line.label+" between snapshots", "per second", []curve{l.line}))
	}
	return cited, views
}
