package report

import (
	"fmt"
	"io"

	"nettrace/datapath"
	"nettrace/unit"
)

// PublishedJSON writes published figures beside what the model predicts.
func PublishedJSON(w io.Writer, tables []datapath.Table) error {
	return indented(w, map[string][]datapath.Table{"tables": tables})
}

// Published prints published figures beside what the model predicts.
func Published(w io.Writer, tables []datapath.Table, style Style) error {
	p := &page{w: w, style: style}
	for i, t := range tables {
		if i > 0 {
			p.print("\n")
		}
		p.publishedTable(t)
	}
	return p.err
}

func (p *page) publishedTable(t datapath.Table) {
	p.print(p.paint(bold, t.Name) + "\n")
	var rows [][]string
	for _, x := range t.Points {
		rows = append(rows, []string{x.Label, unit.Number(x.Published), unit.Number(x.Predicted), fmt.Sprintf("%+.1f %%", 100*x.Error()), unit.Number(x.Low), unit.Number(x.High), x.Unit, pointRole(x)})
	}
	p.table([]string{"point", "published", "model", "error", "low", "high", "unit", "role"}, rows, map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true})
}

func pointRole(p datapath.Point) string {
	switch {
	case p.Calibrated:
		return "set a constant: its agreement proves nothing"
	case p.Role == datapath.Report:
		return "predicted, no bar"
	case !p.Holds():
		return "predicted, bar " + p.Bar + ", missed"
	}
	return "predicted, bar " + p.Bar
}

// FitsJSON writes calibrations for scripts.
func FitsJSON(w io.Writer, fits []*datapath.Fit) error {
	return indented(w, map[string][]*datapath.Fit{"fits": fits})
}

// Fits prints what calibrating the machines' constants gives: how far they moved, what each point that calibrates is
// without itself, and the predictions of those that were held out.
func Fits(w io.Writer, fits []*datapath.Fit, style Style) error {
	p := &page{w: w, style: style}
	for i, f := range fits {
		if i > 0 {
			p.print("\n")
		}
		p.print(p.paint(bold, f.Machine) + "\n")
		var rows [][]string
		for _, c := range f.Constants {
			rows = append(rows, []string{c.Name, fmt.Sprintf("%.4g", c.From), fmt.Sprintf("%.4g", c.To), fmt.Sprintf("%.2g", c.Uncertainty), c.Unit})
		}
		p.table([]string{"constant", "frozen", "fitted", "+/-", "unit"}, rows, map[int]bool{1: true, 2: true, 3: true})
		rows = nil
		for _, c := range f.Calibrated {
			rows = append(rows, []string{c.Label, unit.Number(c.Published), unit.Number(c.Fitted), unit.Number(c.LeftOut), fmt.Sprintf("%+.1f %%", 100*c.LeftOutError()), c.Unit})
		}
		p.print("\n")
		p.table([]string{"calibrates", "published", "fitted", "left out", "error left out", "unit"}, rows, map[int]bool{1: true, 2: true, 3: true, 4: true})
		for _, t := range f.HeldOut {
			p.print("\n")
			p.publishedTable(t)
		}
	}
	return p.err
}
