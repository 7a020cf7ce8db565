package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"nettrace/datapath"
	"nettrace/unit"
)

// SweepJSON writes a sweep for scripts.
func SweepJSON(w io.Writer, s *datapath.Sweep) error { return indented(w, s) }

// Sweep prints the points of a sweep, one to a line.
func Sweep(w io.Writer, s *datapath.Sweep, style Style) error {
	p := &page{w: w, style: style}
	var head []string
	right := map[int]bool{}
	for i, a := range s.Axes {
		head = append(head, a.Key)
		right[i] = true
	}
	for i := range 4 {
		right[len(s.Axes)+i] = true
	}
	head = append(head, "transactions/s", "p50", "p99", "server packets/interrupt", "")
	var rows [][]string
	for _, x := range s.Points {
		var row []string
		for _, v := range x.Values {
			row = append(row, strconv.FormatFloat(v, 'f', -1, 64))
		}
		note := ""
		if x.KnifeEdge {
			note = "on a knife edge"
		}
		rate := unit.Number(x.Rate.Mean)
		if s.Seeds > 1 {
			rate = interval(x.Rate)
		}
		rows = append(rows, append(row, rate, micros(x.P50), micros(x.P99), hundredths(x.Server.PacketsPerInterrupt), note))
	}
	p.table(head, rows, right)
	p.print("\n")
	p.labelled(0, "workload", faint, 9, fmt.Sprintf("%s, %d of 10 s each", s.Workload, s.Seeds))
	p.labelled(0, "settings", faint, 9, strings.ReplaceAll(s.Settings, ",", " "))
	return p.err
}

// sweepStyle makes a chart of the page stand by itself.
const sweepStyle = `<style>text{font:12px system-ui,sans-serif;fill:#333}.middle{text-anchor:middle}.end{text-anchor:end}.grid{stroke:#ddd;fill:none}.line{fill:none;stroke-width:1.5}.edge{fill:#d33}` +
	`.s0{stroke:#1f5fa8}.s1{stroke:#c2571a}.s2{stroke:#2a7f3f}.s3{stroke:#7a3fa0}.s4{stroke:#9a7b00}.s5{stroke:#777}</style>`

// lineStyles is the number of line colours in sweepStyle.
const lineStyles = 6

// SweepSVG draws transactions/s over the first axis, a line for each combination of the others. Points on a knife edge are
// marked.
func SweepSVG(w io.Writer, s *datapath.Sweep) error {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		low, high = min(low, p.Rate.Low), max(high, p.Rate.High)
	}
	first := s.Axes[0]
	x, y := axis{label: first.Key, text: unit.Number}, axis{label: "transactions/s", text: unit.Number}
	x.low, x.high = widened(slices.Min(first.Values), slices.Max(first.Values))
	y.low, y.high = widened(min(low, high), high)
	c := newChart(x, y, "transactions/s of "+s.Workload+" over "+first.Key)
	lines := len(s.Points) / len(first.Values)
	for line := range lines {
		c.sweepLine(s, line, lines)
	}
	svg := strings.Replace(string(c.done()), `<svg class="chart"`, fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" class="chart"`, chartWidth, chartHeight), 1)
	svg = strings.Replace(svg, ">\n", ">"+sweepStyle+"\n", 1)
	_, err := io.WriteString(Plain(w), svg)
	return err
}

func (c *chart) sweepLine(s *datapath.Sweep, line, lines int) {
	var d strings.Builder
	for i, v := range s.Axes[0].Values {
		p := s.Points[i*lines+line]
		at, up := c.x.at(v), c.y.at(p.Rate.Mean)
		op := "L"
		if i == 0 {
			op = "M"
		}
		fmt.Fprintf(&d, "%s%s %s", op, px(at), px(up))
		if p.KnifeEdge {
			c.printf(`<circle class="edge" cx="%s" cy="%s" r="2.5"/>`+"\n", px(at), px(up))
		}
	}
	c.path(fmt.Sprintf("line s%d", line%lineStyles), d.String())
	if len(s.Axes) > 1 {
		var name []string
		for k, a := range s.Axes[1:] {
			name = append(name, a.Key+"="+strconv.FormatFloat(s.Points[line].Values[k+1], 'f', -1, 64))
		}
		c.printf(`<text class="end s%d" x="%d" y="%d" stroke-width="0.3">%s</text>`+"\n", line%lineStyles, chartWidth-chartRight-8, chartTop+14+14*line, strings.Join(name, " "))
	}
}

// ScenariosJSON writes predictions of other workloads for scripts.
func ScenariosJSON(w io.Writer, list []*datapath.Scenario) error {
	return indented(w, map[string][]*datapath.Scenario{"scenarios": list})
}

// Scenarios prints predictions of other workloads.
func Scenarios(w io.Writer, list []*datapath.Scenario, style Style) error {
	p := &page{w: w, style: style}
	var rows [][]string
	for _, s := range list {
		for _, m := range s.Measures {
			span := ""
			if m.Estimate.High > m.Estimate.Low {
				span = unit.Number(m.Estimate.Low) + " to " + unit.Number(m.Estimate.High)
			}
			rows = append(rows, []string{s.Workload, strings.ReplaceAll(s.Settings, ",", " "), m.Name, unit.Number(m.Estimate.Mean), span, m.Unit})
		}
	}
	p.table([]string{"workload", "settings", "", "predicted", "interval", "unit"}, rows, map[int]bool{3: true, 4: true})
	p.print("\n")
	var seen []string
	for _, s := range list {
		for _, text := range s.Assumptions {
			if !slices.Contains(seen, text) {
				seen = append(seen, text)
				p.labelled(0, "assumes", faint, 9, text)
			}
		}
	}
	return p.err
}
