package bench

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Crossing is where one set overtakes another on a curve: First is ahead up to From, Second from To on.
type Crossing struct {
	First  string  `json:"first"`
	Second string  `json:"second"`
	From   float64 `json:"from"`
	To     float64 `json:"to"`
	At     float64 `json:"at"`     // between them, interpolated
	FitAt  float64 `json:"fit_at"` // of scaling curves: the first number of senders from which the fitted laws say so; 0 where they do not
	Proven bool    `json:"proven"` // by Student's t at 95 % on both sides; false also where single runs cannot tell
	Before float64 `json:"before"` // how far ahead First is at From, as a ratio of Second
	After  float64 `json:"after"`  // how far ahead Second is at To, as a ratio of First
}

// Shift is how far a set is from the first one over all places that both curves have: the geometric mean of the ratios.
type Shift struct {
	Set    string  `json:"set"`
	Base   string  `json:"base"`
	Ratio  float64 `json:"ratio"`
	Low    float64 `json:"low"` // 95 % interval by Student's t of the logarithms; equal to Ratio with one place
	High   float64 `json:"high"`
	Mean   float64 `json:"mean_difference"` // of the means, in the unit of the curve
	Places int     `json:"places"`
	Above  int     `json:"above"` // places at which the set is above the first
	Below  int     `json:"below"`
}

// pairOfPoints is one place of two curves.
type pairOfPoints struct{ a, b CurvePoint }

// together returns the places that both series have.
func together(a, b *CurveSeries) []pairOfPoints {
	var pairs []pairOfPoints
	for _, p := range a.Points {
		if i, ok := slices.BinarySearchFunc(b.Points, p.At, func(q CurvePoint, at float64) int { return cmp.Compare(q.At, at) }); ok {
			pairs = append(pairs, pairOfPoints{p, b.Points[i]})
		}
	}
	return pairs
}

// leastShiftPlaces is how many places a mean of ratios needs.
const leastShiftPlaces = 2

func shiftOf(base, other *CurveSeries) (Shift, bool) {
	s := Shift{Set: other.Set, Base: base.Set}
	var logs []float64
	for _, p := range together(base, other) {
		if p.a.Mean <= 0 || p.b.Mean <= 0 {
			continue
		}
		logs = append(logs, math.Log(p.b.Mean/p.a.Mean))
		s.Mean += p.b.Mean - p.a.Mean
		switch {
		case p.b.Mean > p.a.Mean:
			s.Above++
		case p.b.Mean < p.a.Mean:
			s.Below++
		}
	}
	s.Places = len(logs)
	if s.Places < leastShiftPlaces {
		return Shift{}, false
	}
	s.Mean /= float64(s.Places)
	m := Summarise(logs, MinistatNewer)
	reach := distuv.StudentsT{Sigma: 1, Nu: float64(m.N - 1)}.Quantile(0.975) * m.StdDev / math.Sqrt(float64(m.N))
	s.Ratio, s.Low, s.High = math.Exp(m.Mean), math.Exp(m.Mean-reach), math.Exp(m.Mean+reach)
	return s, finite(s.Ratio) && finite(s.Low) && finite(s.High)
}

// crossings finds where one of two series overtakes the other.
func (c *Curve) crossings(a, b *CurveSeries) []Crossing {
	ahead := better(c.Unit)
	if ahead == 0 {
		ahead = 1
	}
	lead := func(p pairOfPoints) float64 { return float64(ahead) * (p.b.Mean - p.a.Mean) } // above 0: b is ahead
	pairs := slices.DeleteFunc(together(a, b), func(p pairOfPoints) bool { return lead(p) == 0 || p.a.Mean <= 0 || p.b.Mean <= 0 })
	var found []Crossing
	for i := 1; i < len(pairs); i++ {
		from, to := pairs[i-1], pairs[i]
		if lead(from) > 0 == (lead(to) > 0) {
			continue
		}
		first, second := a, b
		if lead(from) > 0 {
			first, second = b, a
		}
		x := Crossing{First: first.Set, Second: second.Set, From: from.a.At, To: to.a.At, Proven: apartAt(from) && apartAt(to)}
		x.Before, x.After = apart(from.a.Mean, from.b.Mean)-1, apart(to.a.Mean, to.b.Mean)-1
		x.At, x.FitAt = c.crossesAt(from, to), fitCrossesAt(first, second, 4*to.a.At)
		found = append(found, x)
	}
	return found
}

// apartAt reports whether the two sets differ at one place, by Student's t.
func apartAt(p pairOfPoints) bool {
	if min(p.a.N, p.b.N) < leastNumbers {
		return false
	}
	return Student(Summary{N: p.a.N, Mean: p.a.Mean, StdDev: p.a.StdDev}, Summary{N: p.b.N, Mean: p.b.Mean, StdDev: p.b.StdDev}, 95, MinistatNewer).Significant
}

// crossesAt places a crossing by a straight line between the differences in time of one operation, or of the values
// where the unit tells no time.
func (c *Curve) crossesAt(from, to pairOfPoints) float64 {
	difference := func(p pairOfPoints) float64 {
		if c.Axis != streamsAxis {
			x, y := operationMicros(c.Unit, p.a.Mean, p.a.At), operationMicros(c.Unit, p.b.Mean, p.b.At)
			if x > 0 && y > 0 {
				return x - y
			}
		}
		return p.b.Mean - p.a.Mean
	}
	d0, d1 := difference(from), difference(to)
	if d0 == d1 {
		return from.a.At
	}
	return from.a.At + (to.a.At-from.a.At)*d0/(d0-d1)
}

// maxFitSenders is how far laws are followed to where they cross.
const maxFitSenders = 4096

// fitCrossesAt returns from which number of senders on the fitted law of the second is above that of the first.
func fitCrossesAt(first, second *CurveSeries, most float64) float64 {
	if first.USL == nil || second.USL == nil {
		return 0
	}
	n, ok := second.USL.law().Overtakes(first.USL.law(), int(min(most, maxFitSenders)))
	if !ok {
		return 0
	}
	return float64(n)
}
