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

// PointRole says what a published figure is to the model.
type PointRole string

const (
	Calibrated PointRole = "calibrated" // it set a constant: its agreement proves nothing
	HeldOut    PointRole = "held-out"   // a prediction: it never sets a constant
	Report     PointRole = "report"     // shown, with nothing asked of it
)

// Point is one published figure. Low and High are the lowest and highest over seeds, or the ends of what the model leaves
// open; where it leaves nothing open they are the prediction.
type Point struct {
	Label      string    `json:"label"`
	Unit       string    `json:"unit"`
	Published  float64   `json:"published"`
	Predicted  float64   `json:"predicted"`
	Low        float64   `json:"low"`
	High       float64   `json:"high"`
	Calibrated bool      `json:"calibrated"`
	Role       PointRole `json:"role"`
	Bar        string    `json:"bar"`     // what a held-out prediction may be off: "0.08" relative, "abs 0.10"; "" for none
	Machine    string    `json:"machine"` // whose constants it is predicted with
	Case       string    `json:"case"`    // what is predicted with them

	figure figure
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

// Published predicts the published tables of the given names, or all, with the frozen constants.
func Published(ctx context.Context, names ...string) ([]Table, error) {
	tables, err := publishedTables(names)
	if err != nil {
		return nil, err
	}
	models := map[string]predictor{}
	for i := range tables {
		for j := range tables[i].Points {
			p := &tables[i].Points[j]
			if models[p.Machine] == nil {
				c, err := FrozenConstants(p.Machine)
				if err != nil {
					return nil, err
				}
				models[p.Machine] = c.machine.model(c, effort{})
			}
			if err := p.predict(ctx, models[p.Machine]); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", tables[i].Name, p.Label, err)
			}
		}
	}
	return tables, nil
}

func (p *Point) predict(ctx context.Context, m predictor) error {
	e, err := m.predict(ctx, p.figure)
	p.Predicted, p.Low, p.High = e.Mean, e.Low, e.High
	return err
}

// publishedTables reads the published figures.
func publishedTables(names []string) ([]Table, error) {
	var all []Table
	for i, line := range strings.Split(publishedPoints, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, p, err := parsePoint(line)
		if err != nil {
			return nil, fmt.Errorf("published.tsv:%d: %w", i+1, err)
		}
		at := slices.IndexFunc(all, func(t Table) bool { return t.Name == name })
		if at < 0 {
			at = len(all)
			all = append(all, Table{Name: name})
		}
		all[at].Points = append(all[at].Points, p)
	}
	return selectTables(all, names)
}

// PublishedTables returns the names of the tables.
func PublishedTables() ([]string, error) {
	all, err := publishedTables(nil)
	return tableNames(all), err
}

func tableNames(all []Table) []string {
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return names
}

func selectTables(all []Table, names []string) ([]Table, error) {
	if len(names) == 0 {
		return all, nil
	}
	known := tableNames(all)
	var selected []Table
	for _, name := range names {
		at := slices.Index(known, name)
		if at < 0 {
			return nil, fmt.Errorf("no published table is called %q; the nearest is %q", name, unit.Nearest(name, known))
		}
		selected = append(selected, all[at])
	}
	return selected, nil
}

func parsePoint(line string) (table string, p Point, err error) {
	f := strings.Split(line, "\t")
	if len(f) != 8 {
		return "", p, fmt.Errorf("%d fields, expected 8", len(f))
	}
	p = Point{Label: f[1], Unit: f[2], Role: PointRole(f[4]), Bar: f[5], Machine: f[6], Case: f[7]}
	p.Calibrated = p.Role == Calibrated
	if p.Role != Calibrated && p.Role != HeldOut && p.Role != Report {
		return "", p, fmt.Errorf("role %q, expected calibrated, held-out or report", f[4])
	}
	if p.Published, err = strconv.ParseFloat(f[3], 64); err != nil {
		return "", p, err
	}
	p.figure, err = parseFigure(p.Case)
	return f[0], p, err
}
