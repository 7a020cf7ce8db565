package bench

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"nettrace/unit"
)

// Why a sample may mislead; each with the threshold that the text prints.
const (
	fewValues      = 6      // below, not even a median has a 95 % interval (benchstat)
	farOut         = 3.0    // interquartile ranges beyond the quartiles (Tukey 1977)
	farOutShare    = 1e-5   // of so many values some are far out by chance: 2.3 of a million normal ones
	driftValues    = 8      // least number for the normal approximation of Kendall's S
	driftLevel     = 0.01   // p of Mann-Kendall
	varianceLevel  = 0.01   // p of the F test
	modesLookedFor = 20_000 // values among which modes are looked for
)

// suspicions says what of a sample deserves a second look before its mean is believed.
func (s *sample) suspicions() []string {
	var notes []string
	say := func(format string, args ...any) {
		notes = append(notes, s.label+": "+fmt.Sprintf(format, args...))
	}
	if s.left > 0 {
		runs := "1 run"
		if s.left > 1 {
			runs = fmt.Sprintf("%d runs", s.left)
		}
		say("%s broke off, left out here", runs)
	}
	if s.scaled != "" {
		say("%s converted to %s by a power of ten", s.scaled, s.unit)
	}
	if s.stride > 1 {
		say("of %s values every %d-th is kept: medians and ranks are of those, mean and spread of all", unit.Count(int64(s.summary.N)), s.stride)
	}
	if n := s.summary.N; n < fewValues {
		say("only %d values: below %d the median has no 95 %% interval, and one odd value decides", n, fewValues)
	}
	if len(s.values) < fewValues {
		return notes
	}
	if p, ok := modesOf(s.values); ok {
		say("bimodal: about %s in %s of the values and about %s in %s; neither mean nor median is a rate that occurs",
			about3(p.high.rate), unit.Percent(p.high.share), about3(p.low.rate), unit.Percent(p.low.share))
	}
	if n := outliers(s.sorted); float64(n) > farOutShare*float64(len(s.sorted)) {
		say("%s far out, more than %g interquartile ranges beyond the quartiles", valuesText(n), farOut)
	}
	if p, rising, ok := drift(s.values, s.sorted); ok && p < driftLevel {
		direction := "fall"
		if rising {
			direction = "rise"
		}
		say("the values %s with their order (Mann-Kendall, p=%.2g): the system changed while it was measured; take the sets in turns", direction, p)
	}
	return notes
}

// modesOf looks for two modes, whatever the order of the values.
func modesOf(values []float64) (pattern, bool) {
	step := 1 + len(values)/modesLookedFor
	var series []weighted
	for i := 0; i < len(values); i += step {
		series = append(series, weighted{values[i], 1})
	}
	l := limitsOf(noisyRule().Resolve(nil))
	p := pattern{values: len(series)}
	found := len(series) >= l.points && mean(series) > 0 && p.modes(series, l)
	return p, found
}

// outliers counts ascending values that are far out.
func outliers(sorted []float64) int {
	n := len(sorted)
	low, high := medianOf(sorted[:(n+1)/2]), medianOf(sorted[n/2:])
	reach := farOut * (high - low)
	if reach <= 0 {
		return 0
	}
	count := 0
	for _, v := range sorted {
		if v < low-reach || v > high+reach {
			count++
		}
	}
	return count
}

// drift tests whether values rise or fall with their order (Mann 1945, Kendall 1975; with ties).
func drift(values, sorted []float64) (p float64, rising, ok bool) {
	n := float64(len(values))
	if len(values) < driftValues {
		return 1, false, false
	}
	ties, correction := 0.0, 0.0
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		t := float64(j - i)
		ties += t * (t - 1) / 2
		correction += t * (t - 1) * (2*t + 5)
		i = j
	}
	s := n*(n-1)/2 - ties - 2*inversions(slices.Clone(values), make([]float64, len(values)))
	variance := (n*(n-1)*(2*n+5) - correction) / 18
	if variance <= 0 {
		return 1, false, false
	}
	return 2 * distuv.UnitNormal.CDF(-max(0, math.Abs(s)-1)/math.Sqrt(variance)), s > 0, true
}

// inversions counts the pairs whose first is larger than their second, and sorts the values.
func inversions(values, spare []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	half := len(values) / 2
	a, b := values[:half], values[half:]
	count := inversions(a, spare[:half]) + inversions(b, spare[half:])
	for i, j, k := 0, 0, 0; k < len(values); k++ {
		if i < len(a) && (j == len(b) || a[i] <= b[j]) {
			spare[k] = a[i]
			i++
		} else {
			spare[k] = b[j]
			j++
			count += float64(len(a) - i)
		}
	}
	copy(values, spare)
	return count
}

// unequalSpread says that the spreads of two sets differ too much to be pooled, as Student's t does.
func unequalSpread(a, b *sample) string {
	wide, narrow := a, b
	if a.summary.StdDev < b.summary.StdDev {
		wide, narrow = b, a
	}
	if narrow.summary.StdDev == 0 || narrow.summary.N < leastNumbers {
		return ""
	}
	ratio := wide.summary.StdDev / narrow.summary.StdDev
	f := distuv.F{D1: float64(wide.summary.N - 1), D2: float64(narrow.summary.N - 1)}
	if p := 2 * f.Survival(ratio*ratio); p >= varianceLevel {
		return ""
	}
	return fmt.Sprintf("unequal variances: %s spreads %.2g times as wide as %s (F test, p < %g), so that the pooled s misleads; Welch's test, which pools nothing, gives p=%.2g",
		wide.label, ratio, narrow.label, varianceLevel, welchP(a.summary, b.summary))
}
