package bench

import "math"

// USL is the Universal Scalability Law (Gunther 1993) fitted to rates by number of senders:
//
//	rate(N) = Lambda N / (1 + Contention (N-1) + Coherency N (N-1))
type USL struct {
	Lambda     float64 // rate of one sender, as fitted
	Contention float64 // share of the work that only one can do at a time (a lock, one queue, one CPU, the link)
	Coherency  float64 // what each pair of senders costs each other (cache lines that move, retries): the rate falls beyond the peak
	Fit        float64 // coefficient of determination (R2) of the rates
}

// Point is the rate of a number of senders.
type Point struct{ Senders, Rate float64 }

// Rate returns the rate of n senders.
func (u USL) Rate(n float64) float64 {
	return u.Lambda * n / (1 + u.Contention*(n-1) + u.Coherency*n*(n-1))
}

// Peak returns the number of senders with the highest rate; ok is false if the rate never falls.
func (u USL) Peak() (senders float64, ok bool) {
	if u.Coherency <= 0 || u.Contention >= 1 {
		return 0, false
	}
	return math.Sqrt((1 - u.Contention) / u.Coherency), true
}

// Overtakes returns the least whole number of senders, up to most, from which u is above other after being below it with
// one sender less; ok is false if that never happens.
func (u USL) Overtakes(other USL, most int) (senders int, ok bool) {
	for n := 2; n <= most; n++ {
		if u.Rate(float64(n)) > other.Rate(float64(n)) && u.Rate(float64(n-1)) <= other.Rate(float64(n-1)) {
			return n, true
		}
	}
	return 0, false
}

// leastSenders is how many different numbers of senders a fit of three terms needs to be more than a drawing through points.
const leastSenders = 4

// FitUSL fits the law by least squares of N/rate, in which it is linear, weighted so that relative errors count; terms
// below 0 have no meaning and are 0. ok is false with fewer than four numbers of senders or a rate that is not positive.
func FitUSL(points []Point) (u USL, ok bool) {
	different := map[float64]bool{}
	for _, p := range points {
		if p.Senders < 1 || p.Rate <= 0 {
			return USL{}, false
		}
		different[p.Senders] = true
	}
	if len(different) < leastSenders {
		return USL{}, false
	}
	var rows []terms
	for _, p := range points { // N/rate = 1/Lambda (1 + Contention (N-1) + Coherency N (N-1)), divided by N/rate
		rows = append(rows, terms{p.Rate / p.Senders, (p.Senders - 1) * p.Rate / p.Senders, (p.Senders - 1) * p.Rate})
	}
	c, _, ok := fitTerms(rows)
	if !ok || c[0] <= 0 {
		return USL{}, false
	}
	u = USL{Lambda: 1 / c[0], Contention: c[1] / c[0], Coherency: c[2] / c[0]}
	u.Fit = determination(points, u)
	return u, true
}

// determination returns the share of the variance of the rates that the fit explains.
func determination(points []Point, u USL) float64 {
	all := 0.0
	for _, p := range points {
		all += p.Rate / float64(len(points))
	}
	left, total := 0.0, 0.0
	for _, p := range points {
		left += (p.Rate - u.Rate(p.Senders)) * (p.Rate - u.Rate(p.Senders))
		total += (p.Rate - all) * (p.Rate - all)
	}
	if total == 0 {
		return 1
	}
	return 1 - left/total
}
