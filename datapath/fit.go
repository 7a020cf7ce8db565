package datapath

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"nettrace/unit"
)

// Fit is a calibration of a machine's free constants on the points that may calibrate, and what follows for the others.
type Fit struct {
	Machine    string        `json:"machine"`
	Constants  []FitConstant `json:"constants"`
	Calibrated []FitPoint    `json:"calibrated"`
	HeldOut    []Table       `json:"held_out"` // predictions with the constants found, of points that the fit never read
}

// FitConstant is a free constant: where the search began, how far it may be trusted there, and where it ended.
type FitConstant struct {
	Name        string  `json:"name"`
	Unit        string  `json:"unit"`
	From        float64 `json:"from"`
	To          float64 `json:"to"`
	Uncertainty float64 `json:"uncertainty"`
}

// FitPoint is a point that calibrates. Its own agreement proves nothing; LeftOut is what the model gives of it when it is
// left out of the fit, which does.
type FitPoint struct {
	Table     string  `json:"table"`
	Label     string  `json:"label"`
	Unit      string  `json:"unit"`
	Published float64 `json:"published"`
	Fitted    float64 `json:"fitted"`
	LeftOut   float64 `json:"left_out"`
}

// LeftOutError is how far the prediction without the point is off, relative to the published figure.
func (p FitPoint) LeftOutError() float64 { return p.LeftOut/p.Published - 1 }

const (
	fitRounds = 3
	fitReach  = 3 // a constant moves at most so many of its uncertainties
)

// FitMachine calibrates the constants of the names, or all that are marked as fitted, from their frozen values. The search
// is Gauss and Newton's on the squares of the points' errors, by what is asked of the machine's figures, and of the constants' moves, by their
// uncertainties: what the points do not determine stays where it was. It is bounded, deterministic, and reads no other
// point.
func FitMachine(ctx context.Context, name string, free ...string) (*Fit, error) {
	c, err := FrozenConstants(name)
	if err != nil {
		return nil, err
	}
	tables, err := publishedTables(nil)
	if err != nil {
		return nil, err
	}
	f, err := newFitter(ctx, c, tables, free)
	if err != nil {
		return nil, err
	}
	for range fitRounds {
		if err := f.step(); err != nil {
			return nil, err
		}
	}
	return f.report(tables)
}

// fitter is a search in progress.
type fitter struct {
	ctx     context.Context
	start   *Constants
	current *Constants
	free    []string
	points  []FitPoint
	figures []figure

	slopes *mat.Dense // of the points' figures by the constants, relative to the published ones and per uncertainty
	errors []float64  // of the points, relative to the published figures
}

func newFitter(ctx context.Context, c *Constants, tables []Table, free []string) (*fitter, error) {
	f := &fitter{ctx: ctx, start: c, current: c, free: free}
	for _, name := range free {
		if i := c.at(name); i < 0 || c.list[i].Uncertainty == 0 {
			return nil, fmt.Errorf("%s has no constant %q that may move; the nearest is %q", c.Machine(), name, unit.Nearest(name, fittedNames(c)))
		}
	}
	if len(free) == 0 {
		f.free = fittedNames(c)
	}
	if len(f.free) == 0 {
		return nil, fmt.Errorf("%s has no constant that was fitted; those that have are %s", c.Machine(), strings.Join(FittedMachines(), ", "))
	}
	for _, t := range tables {
		for _, p := range t.Points {
			if p.Machine == c.Machine() && p.Calibrated {
				f.points = append(f.points, FitPoint{Table: t.Name, Label: p.Label, Unit: p.Unit, Published: p.Published})
				f.figures = append(f.figures, p.figure)
			}
		}
	}
	return f, nil
}

func fittedNames(c *Constants) []string {
	var names []string
	for _, k := range c.list {
		if k.Role == Fitted && k.Uncertainty > 0 {
			names = append(names, k.Name)
		}
	}
	return names
}

// draftEffort is enough for points that are no knife edges, as all that calibrate.
func draftEffort() effort { return effort{1, 2 * unit.Second} }

// figuresOf predicts the calibrating points.
func (f *fitter) figuresOf(c *Constants) ([]float64, error) {
	m := c.machine.model(c, draftEffort())
	values := make([]float64, len(f.figures))
	for i, figure := range f.figures {
		e, err := m.predict(f.ctx, figure)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.points[i].Label, err)
		}
		values[i] = e.Mean
	}
	return values, nil
}

func (f *fitter) uncertainty(name string) float64 { return f.start.list[f.start.at(name)].Uncertainty }

// step moves the constants once.
func (f *fitter) step() error {
	now, err := f.figuresOf(f.current)
	if err != nil {
		return err
	}
	f.errors = make([]float64, len(now))
	for i, v := range now {
		f.points[i].Fitted = v
		f.errors[i] = v/f.points[i].Published - 1
	}
	f.slopes = mat.NewDense(max(len(now), 1), max(len(f.free), 1), nil)
	for j, name := range f.free {
		moved, err := f.figuresOf(f.current.with(name, f.current.value(name)+f.uncertainty(name)))
		if err != nil {
			return err
		}
		for i := range now {
			f.slopes.Set(i, j, (moved[i]-now[i])/f.points[i].Published)
		}
	}
	f.current, err = f.solve(-1)
	return err
}

// solve returns the constants that the linear model of the last step asks for, without the point left, if that is none -1.
func (f *fitter) solve(left int) (*Constants, error) {
	n := len(f.free)
	if n == 0 || len(f.points) == 0 {
		return f.current, nil
	}
	normal, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for j, name := range f.free {
		normal.SetSym(j, j, 1)
		right.SetVec(j, (f.start.value(name)-f.current.value(name))/f.uncertainty(name))
	}
	weight := 1 / (f.start.machine.spread * f.start.machine.spread)
	for i, e := range f.errors {
		if i == left {
			continue
		}
		for j := range n {
			right.SetVec(j, right.AtVec(j)-weight*f.slopes.At(i, j)*e)
			for k := j; k < n; k++ {
				normal.SetSym(j, k, normal.At(j, k)+weight*f.slopes.At(i, j)*f.slopes.At(i, k))
			}
		}
	}
	var move mat.VecDense
	if err := move.SolveVec(normal, right); err != nil {
		return nil, fmt.Errorf("%s: the points do not determine a step: %w", f.start.Machine(), err)
	}
	next := f.current
	for j, name := range f.free {
		next = next.with(name, f.bounded(name, f.current.value(name)+move.AtVec(j)*f.uncertainty(name)))
	}
	return next, nil
}

// bounded holds a constant in its range and within reach of where it began.
func (f *fitter) bounded(name string, value float64) float64 {
	q := f.start.machine.quantities[slices.IndexFunc(f.start.machine.quantities, func(q quantity) bool { return q.name == name })]
	from, reach := f.start.value(name), fitReach*f.uncertainty(name)
	return math.Max(math.Max(q.least, from-reach), math.Min(math.Min(q.top, from+reach), value))
}

// report predicts the points that were held out with the constants found, and each that calibrated without itself.
func (f *fitter) report(tables []Table) (*Fit, error) {
	r := &Fit{Machine: f.start.Machine(), Calibrated: f.points, HeldOut: []Table{}}
	fitted := f.current
	last, err := f.figuresOf(fitted)
	if err != nil {
		return nil, err
	}
	for i := range f.points {
		f.points[i].Fitted = last[i]
		without, err := f.solve(i)
		if err != nil {
			return nil, err
		}
		e, err := without.machine.model(without, draftEffort()).predict(f.ctx, f.figures[i])
		if err != nil {
			return nil, err
		}
		f.points[i].LeftOut = e.Mean
	}
	for _, name := range f.free {
		k := f.start.list[f.start.at(name)]
		r.Constants = append(r.Constants, FitConstant{name, k.Unit, k.Value, fitted.value(name), k.Uncertainty})
	}
	m := fitted.machine.model(fitted, effort{})
	for _, t := range tables {
		held := Table{Name: t.Name}
		for _, p := range t.Points {
			if p.Machine != r.Machine || p.Role != HeldOut {
				continue
			}
			if err := p.predict(f.ctx, m); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", t.Name, p.Label, err)
			}
			held.Points = append(held.Points, p)
		}
		if len(held.Points) > 0 {
			r.HeldOut = append(r.HeldOut, held)
		}
	}
	return r, nil
}

// FittedMachines returns the names that FitMachine takes: of machines with constants that were fitted.
func FittedMachines() []string {
	return slices.DeleteFunc(Machines(), func(name string) bool {
		c, err := FrozenConstants(name)
		return err != nil || len(fittedNames(c)) == 0
	})
}

// Machines returns the names that FrozenConstants takes.
func Machines() []string {
	var names []string
	for _, m := range machines() {
		names = append(names, m.name)
	}
	return names
}
