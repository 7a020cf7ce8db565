package datapath

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a quantity over seeds. Low and High are the lowest and highest of the runs: one more run falls between them
// with probability (n-1)/(n+1), whatever the distribution. They say how far a single measurement may be from the mean;
// Margin says how sure the mean itself is.
type Estimate struct {
	Mean   float64 `json:"mean"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Margin float64 `json:"margin"` // half of the mean's 95 % confidence interval (Student's t); 0 for one run
}

// estimate returns the estimate of at least one value.
func estimate(values []float64) Estimate {
	if len(values) == 0 {
		return Estimate{}
	}
	e := Estimate{Low: slices.Min(values), High: slices.Max(values)}
	n := float64(len(values))
	for _, v := range values {
		e.Mean += v / n
	}
	if len(values) == 1 {
		return e
	}
	squares := 0.0
	for _, v := range values {
		squares += float64((v - e.Mean) * (v - e.Mean)) // rounded here, so that no machine fuses it with the sum
	}
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975)
	e.Margin = t * math.Sqrt(squares/(n-1)/n)
	return e
}

// exactly is the estimate of a quantity that the model leaves no room in.
func exactly(v float64) Estimate { return Estimate{Mean: v, Low: v, High: v} }
