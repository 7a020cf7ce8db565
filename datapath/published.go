package datapath

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nettrace/unit"
)

//go:embed published.tsv
var publishedPoints string

// Table is a set of published figures with the model's predictions.
type Table struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Point is one published figure. Low and High are the lowest and highest over seeds.
type Point struct {
	Label      string  `json:"label"`
	Unit       string  `json:"unit"`
	Published  float64 `json:"published"`
	Predicted  float64 `json:"predicted"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Calibrated bool    `json:"calibrated"` // the point set a constant: its agreement proves nothing
	Bar        string  `json:"bar"`        // what a held-out prediction may be off: "0.08" relative, "abs 0.10"; "" for none
	Workload   string  `json:"workload"`
	Settings   string  `json:"settings"` // changes to those of Thread
}

// Error is how far the prediction is off, relative to the published figure.
func (p Point) Error() float64 { return p.Predicted/p.Published - 1 }

// Holds reports whether the prediction is within its bar; without a bar it does.
func (p Point) Holds() bool {
	text, absolute := strings.CutPrefix(p.Bar, "abs ")
	bar, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return p.Bar == ""
	case absolute:
		return math.Abs(p.Predicted-p.Published) <= bar
	default:
		return math.Abs(p.Predicted-p.Published) <= bar*p.Published
	}
}

// measure reads a point's figure out of a replay.
type measure func(*Replay) Estimate

func parseMeasure(text string) (measure, error) {
	if text == "rate" {
		return func(r *Replay) Estimate { return r.Rate }, nil
	}
	if limit, ok := strings.CutPrefix(text, "interims-above "); ok {
		rate, err := strconv.ParseFloat(limit, 64)
		return func(r *Replay) Estimate { return r.InterimsAbove(rate) }, err
	}
	return nil, fmt.Errorf("measure %q is not known", text)
}

// Published predicts the published tables of the given names, or all, over DefaultSeeds seeds.
func Published(ctx context.Context, names ...string) ([]Table, error) {
	tables, err := publishedTables(names)
	if err != nil {
		return nil, err
	}
	replays := map[string]*Replay{} // several points may be of one set of runs
	for i := range tables {
		for j := range tables[i].points {
			if err := tables[i].points[j].predict(ctx, replays); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", tables[i].Name, tables[i].points[j].Label, err)
			}
		}
	}
	out := make([]Table, 0, len(tables))
	for _, t := range tables {
		for _, p := range t.points {
			t.Points = append(t.Points, p.Point)
		}
		out = append(out, t.Table)
	}
	return out, nil
}

// publishedPoint is a point with what it takes to predict it.
type publishedPoint struct {
	Point
	measure measure
}

type publishedTable struct {
	Table
	points []publishedPoint
}

func (p *publishedPoint) predict(ctx context.Context, replays map[string]*Replay) error {
	key := p.Workload + " " + p.Settings
	r, known := replays[key]
	if !known {
		c := Thread()
		if err := c.Apply(p.Settings); err != nil {
			return err
		}
		w, err := ParseWorkload(p.Workload)
		if err != nil {
			return err
		}
		if r, err = Seeds(ctx, c, w, DefaultSeeds); err != nil {
			return err
		}
		replays[key] = r
	}
	e := p.measure(r)
	p.Predicted, p.Low, p.High = e.Mean, e.Low, e.High
	return nil
}

// publishedTables reads the published figures.
func publishedTables(names []string) ([]publishedTable, error) {
	var all []publishedTable
	for i, line := range strings.Split(publishedPoints, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, p, err := parsePoint(line)
		if err != nil {
			return nil, fmt.Errorf("published.tsv:%d: %w", i+1, err)
		}
		if len(all) == 0 || all[len(all)-1].Name != name {
			all = append(all, publishedTable{Table: Table{Name: name}})
		}
		t := &all[len(all)-1]
		t.points = append(t.points, p)
	}
	return selectTables(all, names)
}

func selectTables(all []publishedTable, names []string) ([]publishedTable, error) {
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, t := range all {
		known = append(known, t.Name)
	}
	var selected []publishedTable
	for _, name := range names {
		at := slices.Index(known, name)
		if at < 0 {
			return nil, fmt.Errorf("no published table is called %q; the nearest is %q", name, unit.Nearest(name, known))
		}
		selected = append(selected, all[at])
	}
	return selected, nil
}

func parsePoint(line string) (table string, p publishedPoint, err error) {
	f := strings.Split(line, "\t")
	if len(f) != 9 {
		return "", p, fmt.Errorf("%d fields, expected 9", len(f))
	}
	p.Point = Point{Label: f[1], Unit: f[2], Calibrated: f[4] == "calibrated", Bar: f[5], Workload: f[6], Settings: f[7]}
	if p.Published, err = strconv.ParseFloat(f[3], 64); err != nil {
		return "", p, err
	}
	p.measure, err = parseMeasure(f[8])
	return f[0], p, err
}
