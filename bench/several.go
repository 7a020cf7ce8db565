package bench

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Holm corrects p-values for their number (Holm 1979): the k-th smallest of m is multiplied by m-k+1, and none is
// smaller than one before it. NaN stays and does not count.
func Holm(p []float64) []float64 {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	corrected := slices.Clone(p)
	least := 0.0
	for k, i := range order {
		least = max(least, min(1, p[i]*float64(len(order)-k)))
		corrected[i] = least
	}
	return corrected
}

// power is the chance with which the runs that are asked for show a difference that is there (Cohen 1988).
const power = 0.8

// maxRunsNeeded is where the search ends: a difference that needs more runs is none for practice.
const maxRunsNeeded = 100_000

// RunsNeeded returns how many runs of each set show the observed difference in four of five attempts, if the means and
// the pooled deviation are as observed; 0 if even 100,000 do not.
func RunsNeeded(difference, pooled, confidencePercent float64) int {
	if difference == 0 {
		return 0
	}
	shows := func(n int) bool {
		t := distuv.StudentsT{Sigma: 1, Nu: float64(2*n - 2)}
		need := t.Quantile(0.5+confidencePercent/200) + t.Quantile(power)
		return need*pooled*math.Sqrt(2/float64(n)) <= math.Abs(difference)
	}
	if !shows(maxRunsNeeded) {
		return 0
	}
	low, high := 2, maxRunsNeeded // shows(high)
	for low < high {
		if middle := (low + high) / 2; shows(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return max(low, leastNumbers)
}
