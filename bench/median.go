package bench

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a range with the confidence, 0 to 1, that the median of what was drawn from lies in it. An infinite end
// says that there are too few values; Bounded tells.
type Interval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

// normalValues is how many values make the normal approximation of the binomial distribution good enough (benchstat's).
const normalValues = 30

// MedianInterval returns the confidence interval of the median of ascending values by order statistics, as benchstat
// does: the number of values below the median is binomial. ok is false if there are too few values.
func MedianInterval(sorted []float64, confidence float64) (i Interval, ok bool) {
	low, high, reached := medianOrders(len(sorted), confidence)
	if low < 1 || high > len(sorted) {
		return Interval{}, false
	}
	return Interval{sorted[low-1], sorted[high-1], reached}, true
}

// medianOrders returns the order statistics, from 1, that bound the median of n values.
func medianOrders(n int, confidence float64) (low, high int, reached float64) {
	if n > normalValues {
		return normalOrders(n, confidence)
	}
	binomial := distuv.Binomial{N: float64(n), P: 0.5}
	share := func(k int) float64 {
		if k < 0 || k > n {
			return 0
		}
		return binomial.Prob(float64(k))
	}
	// Grow from the middle to the likelier side, to the left if both are the same.
	low = n / 2
	if n%2 == 1 {
		low = (n+1)/2 - 1
	}
	high = low + 1
	reached = share(low)
	for reached < confidence && (low > 0 || high <= n) {
		const alike = 1e-12
		if left, right := share(low-1), share(high); left >= right*(1-alike) {
			low--
			reached += left
		} else {
			high++
			reached += right
		}
	}
	return low, high, reached
}

// normalOrders does the same for many values, with the correction for continuity.
func normalOrders(n int, confidence float64) (low, high int, reached float64) {
	mean := float64(n) / 2
	normal := distuv.Normal{Mu: mean, Sigma: math.Sqrt(float64(n)) / 2}
	from := normal.Quantile((1 - confidence) / 2)
	to := 2*mean - from
	low = int(math.Floor(from-0.5)) + 1
	high = int(math.Ceil(to-0.5)) + 1
	within := func(high int) float64 { return normal.CDF(float64(high)-0.5) - normal.CDF(float64(low)-0.5) }
	reached = within(high)
	if less := within(high - 1); less >= confidence && less < reached {
		high, reached = high-1, less
	}
	return max(0, low), min(n+1, high), reached
}

// medianRuns returns how many values a bounded interval needs.
func medianRuns(confidence float64) int {
	for n := 2; n < exactValues; n++ {
		if low, high, _ := medianOrders(n, confidence); low >= 1 && high <= n {
			return n
		}
	}
	return exactValues
}

// medianOf returns the median of ascending values: the mean of the two middle ones if their number is even.
func medianOf(sorted []float64) float64 {
	n := len(sorted)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return sorted[n/2]
	default:
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
}
