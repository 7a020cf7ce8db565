package bench

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// draws is how many resamples the bootstrap makes; the ends of a 95 % interval then stand on 250 each.
const draws = 10_000

// bootstrapSeed makes the same input give the same interval.
const bootstrapSeed = 0x6e657474

// MedianRatio returns the ratio of the medians, b over a, of two ascending sets with its percentile bootstrap interval
// (Efron 1979). A resample's median needs no resample: the uniform order statistic at its place is a beta variate, and
// tells which value it falls on; so that the cost does not grow with the sets. ok is false where a median of a is not
// positive.
func MedianRatio(a, b []float64, confidence float64) (ratio float64, i Interval, ok bool) {
	if len(a) < 2 || len(b) < 2 || a[0] <= 0 {
		return 0, Interval{}, false
	}
	source := rand.NewPCG(bootstrapSeed, uint64(len(a))<<32|uint64(len(b)))
	medianA, medianB := newMedianDraw(a, source), newMedianDraw(b, source)
	ratios := make([]float64, draws)
	for k := range ratios {
		ratios[k] = medianB.next() / medianA.next()
	}
	slices.Sort(ratios)
	tail := (1 - confidence) / 2
	at := func(share float64) float64 { return ratios[min(draws-1, int(math.Floor(share*draws)))] }
	return medianOf(b) / medianOf(a), Interval{at(tail), at(1 - tail), confidence}, true
}

// medianDraw draws medians of resamples of ascending values.
type medianDraw struct {
	sorted []float64
	middle distuv.Beta // place of the (lower) middle one of n uniform values
	next2  distuv.Beta // how far on the upper middle one is, of an even number
}

func newMedianDraw(sorted []float64, source rand.Source) *medianDraw {
	n := len(sorted)
	k := float64((n + 1) / 2)
	d := &medianDraw{sorted: sorted, middle: distuv.Beta{Alpha: k, Beta: float64(n) - k + 1, Src: source}}
	if n%2 == 0 {
		d.next2 = distuv.Beta{Alpha: 1, Beta: float64(n) - k, Src: source}
	}
	return d
}

func (d *medianDraw) next() float64 {
	place := d.middle.Rand()
	value := d.at(place)
	if d.next2.Alpha > 0 {
		value = (value + d.at(place+(1-place)*d.next2.Rand())) / 2
	}
	return value
}

// at returns the value at a place between 0 and 1.
func (d *medianDraw) at(place float64) float64 {
	n := len(d.sorted)
	return d.sorted[max(0, min(n-1, int(place*float64(n))))]
}
