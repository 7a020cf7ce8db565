package bench

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Ministat is a generation of ministat(1), which differ in the median of an even number of values and in the margin of
// the relative difference.
type Ministat uint8

const (
	MinistatNewer Ministat = iota // FreeBSD since 2016: mean of the two middle values; the margin counts the spread of both means
	Ministat2015                  // Debian's package: upper middle value; the margin is that of the difference over the first mean
)

// StudentResult is what ministat prints of two sets: the second less the first.
type StudentResult struct {
	Difference, Margin               float64
	DifferencePercent, MarginPercent float64 // of the first mean
	PooledS                          float64
	Significant                      bool    // the difference exceeds its margin
	P                                float64 // two-sided, of Student's t itself, not of ministat's table; NaN where nothing varies
}

// ministatConfidences are the levels that ministat offers with -c, in percent, with the quantiles of its table. That of
// 99.5 is in fact the one for 99.8, as printed in the handbook the table was taken from.
var ministatConfidences = [...]struct{ percent, quantile float64 }{{80, 0.9}, {90, 0.95}, {95, 0.975}, {98, 0.99}, {99, 0.995}, {99.5, 0.999}}

// Confidences returns the levels of confidence that can be asked for, in percent.
func Confidences() []float64 {
	var levels []float64
	for _, c := range ministatConfidences {
		levels = append(levels, c.percent)
	}
	return levels
}

// tabled are the entries of ministat's table (column 0.999, 7 to 12 degrees of freedom) that differ from the rounded
// quantile; all others of 4 to 100 degrees equal it (measured with Debian's ministat).
var tabled = map[int]float64{7: 4.782, 8: 4.499, 9: 4.296, 10: 4.143, 11: 4.024, 12: 3.929}

// tableRows is how many degrees of freedom ministat's table has; beyond, it takes the normal distribution.
const tableRows = 100

// studentT returns Student's t for a confidence in percent as ministat's table has it, with three decimals.
func studentT(degrees int, percent float64) float64 {
	quantile := 0.5 + percent/200
	for _, c := range ministatConfidences {
		if c.percent == percent {
			quantile = c.quantile
		}
	}
	if v, ok := tabled[degrees]; ok && quantile == 0.999 {
		return v
	}
	t := distuv.UnitNormal.Quantile(quantile)
	if degrees <= tableRows {
		t = distuv.StudentsT{Sigma: 1, Nu: float64(degrees)}.Quantile(quantile)
	}
	return math.Round(t*1000) / 1000
}

// Student compares two sets, of three and more values each, as ministat does.
func Student(a, b Summary, percent float64, generation Ministat) StudentResult {
	degrees := a.N + b.N - 2
	n1, n2 := float64(a.N), float64(b.N)
	squares1, squares2 := (n1-1)*a.StdDev*a.StdDev, (n2-1)*b.StdDev*b.StdDev
	t := studentT(degrees, percent)
	r := StudentResult{Difference: b.Mean - a.Mean, PooledS: math.Sqrt((squares1 + squares2) / float64(degrees))}
	r.Margin = t * r.PooledS * math.Sqrt(1/n1+1/n2)
	r.DifferencePercent = 100 * r.Difference / a.Mean
	r.MarginPercent = 100 * r.Margin / a.Mean
	if generation == MinistatNewer {
		ratio := b.Mean / a.Mean
		r.MarginPercent = 100 * t * math.Sqrt((squares2+squares1*ratio*ratio)*(n1+n2)/(n1*n2*float64(degrees))) / a.Mean
	}
	r.Significant = math.Abs(r.Difference) > r.Margin
	r.P = studentP(r.Difference, r.PooledS*math.Sqrt(1/n1+1/n2), float64(degrees))
	return r
}

// studentP returns the two-sided p-value of a difference with its standard error.
func studentP(difference, deviation, degrees float64) float64 {
	switch {
	case deviation > 0:
		return 2 * distuv.StudentsT{Sigma: 1, Nu: degrees}.CDF(-math.Abs(difference)/deviation)
	case difference != 0:
		return 0
	default:
		return math.NaN()
	}
}

// welchP returns the two-sided p-value of Welch's test, which does not take the spreads for equal.
func welchP(a, b Summary) float64 {
	v1, v2 := a.StdDev*a.StdDev/float64(a.N), b.StdDev*b.StdDev/float64(b.N)
	degrees := (v1 + v2) * (v1 + v2) / (v1*v1/float64(a.N-1) + v2*v2/float64(b.N-1))
	return studentP(b.Mean-a.Mean, math.Sqrt(v1+v2), degrees)
}

// Summarise returns the summary of values, with the median of the generation.
func Summarise(values []float64, generation Ministat) Summary {
	return summarise(values, ascending(values), generation)
}

// summarise summarises values, given in their own order and in ascending order.
func summarise(values, sorted []float64, generation Ministat) Summary {
	if len(sorted) == 0 {
		return Summary{}
	}
	s := Summary{N: len(sorted), Min: sorted[0], Max: sorted[len(sorted)-1], Mean: average(sorted)}
	if generation == Ministat2015 { // adds in doubles in the order of reading, which decides digits that lie halfway
		s.Mean = sum(values) / float64(len(values))
	}
	s.Median = sorted[len(sorted)/2]
	if generation == MinistatNewer && len(sorted)%2 == 0 {
		s.Median = (sorted[len(sorted)/2-1] + s.Median) / 2
	}
	if s.N > 1 {
		squares := 0.0
		for _, v := range sorted {
			squares += (v - s.Mean) * (v - s.Mean)
		}
		s.StdDev = math.Sqrt(squares / float64(s.N-1))
	}
	return s
}

// average returns the mean, scaled by its largest value so that sums do not overflow, and corrected for rounding.
func average(values []float64) float64 {
	n := float64(len(values))
	mean := 0.0
	for _, v := range values {
		mean += v / n
	}
	rest := 0.0
	for _, v := range values {
		rest += v - mean
	}
	return mean + rest/n
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}
