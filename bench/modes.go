package bench

import (
	"cmp"
	"math"
	"slices"
)

// kind is what the values of a series look like together.
type kind uint8

const (
	steady    kind = iota // one rate, or too few values to say anything else
	transient             // one rate after a different beginning
	bimodal               // two rates, back and forth
	shifted               // two rates, one after the other
	flapping              // neighbours far apart again and again, without two rates that stand out
)

// weighted is a value of a series with the time it holds for.
type weighted struct{ rate, weight float64 }

// mode is one of the rates of a series.
type mode struct {
	rate   float64 // where its values are densest
	share  float64 // of the time
	values int
}

// pattern is what is to be said of a series.
type pattern struct {
	kind      kind
	ordered   bool // the values came one after the other; those of a list may stand in any order
	values    int
	low, high mode    // of bimodal and shifted
	changes   int     // how often neighbours are in different modes, or far apart (flapping)
	mean      float64 // weighted, of all values
	lead      int     // values of the transient beginning
	leadMean  float64
	restMean  float64 // of the values behind it
	best      float64 // the rate that the series reaches when nothing disturbs it
}

// limits are the thresholds of the judgement; Noisy documents them.
type limits struct {
	points       int     // least number of values
	manyPoints   int     // from which the explained share counts
	ratio        float64 // between the modes
	share        float64 // of the time in each mode
	explained    float64 // share of the variance
	gap          float64 // share of the range
	flapRatio    float64 // between neighbours
	flapShare    float64 // of the steps
	steadySpread float64 // relative deviation of what is steady
}

// modeValues is the least number of values that make a mode: two could be chance (of 6 normal values, 10 % have a gap of
// half the range with two on a side, 3 % with three).
const modeValues = 3

// recognise judges a series in the order of time or, if it is not ordered, a list, of which only the values tell.
func recognise(series []weighted, ordered bool, l limits) pattern {
	p := pattern{ordered: ordered, values: len(series), mean: mean(series)}
	p.best = p.mean
	if len(series) < l.points || p.mean <= 0 {
		return p
	}
	looks := []func([]weighted, limits) bool{p.beginning, p.modes, p.flaps}
	if !ordered {
		looks = []func([]weighted, limits) bool{p.modes}
	}
	for _, found := range looks {
		if found(series, l) {
			break
		}
	}
	return p
}

// beginning finds a series that is steady but for its first values, at most a fifth of them.
func (p *pattern) beginning(series []weighted, l limits) bool {
	for lead := 0; lead <= len(series)/5; lead++ {
		rest := series[lead:]
		restMean := mean(rest)
		if deviation(rest, restMean) > l.steadySpread*restMean {
			continue
		}
		if lead == 0 {
			return true
		}
		p.leadMean = mean(series[:lead])
		if apart(p.leadMean, restMean) < l.ratio {
			return false
		}
		p.kind, p.lead, p.restMean, p.best = transient, lead, restMean, restMean
		return true
	}
	return false
}

// modes finds two rates: the split of the values into two groups that leaves the least variance within them, if a gap of
// half the range lies between the groups, or, with enough values, if they explain nearly all of the variance.
func (p *pattern) modes(series []weighted, l limits) bool {
	sorted := slices.SortedFunc(slices.Values(series), func(a, b weighted) int { return cmp.Compare(a.rate, b.rate) })
	cut, explained := bestCut(sorted)
	if wide := widestGap(sorted); spread(sorted)*l.gap < sorted[wide].rate-sorted[wide-1].rate {
		cut = wide
	} else if explained < l.explained || len(series) < l.manyPoints {
		return false
	}
	low, high := sorted[:cut], sorted[cut:]
	if min(len(low), len(high)) < modeValues || apart(mean(low), mean(high)) < l.ratio {
		return false
	}
	total := weight(sorted)
	p.low = mode{densest(low), weight(low) / total, len(low)}
	p.high = mode{densest(high), weight(high) / total, len(high)}
	if min(p.low.share, p.high.share) < l.share {
		return false
	}
	p.kind, p.best = bimodal, p.high.rate
	if !p.ordered {
		return true
	}
	border := sorted[cut].rate
	for i := 1; i < len(series); i++ {
		if (series[i].rate < border) != (series[i-1].rate < border) {
			p.changes++
		}
	}
	if p.changes == 1 {
		p.kind = shifted
	}
	return true
}

// flaps finds a series whose neighbours are far apart again and again.
func (p *pattern) flaps(series []weighted, l limits) bool {
	changes := 0
	for i := 1; i < len(series); i++ {
		if apart(series[i].rate, series[i-1].rate) > l.flapRatio {
			changes++
		}
	}
	if changes < modeValues || float64(changes) < l.flapShare*float64(len(series)-1) {
		return false
	}
	sorted := slices.SortedFunc(slices.Values(series), func(a, b weighted) int { return cmp.Compare(a.rate, b.rate) })
	p.kind, p.changes, p.best = flapping, changes, sorted[len(sorted)*9/10].rate
	return true
}

// apart returns by what factor two rates differ, at least 1.
func apart(a, b float64) float64 {
	if min(a, b) <= 0 {
		return math.Inf(1)
	}
	return max(a, b) / min(a, b)
}

func weight(series []weighted) float64 {
	sum := 0.0
	for _, v := range series {
		sum += v.weight
	}
	return sum
}

func mean(series []weighted) float64 {
	sum := 0.0
	for _, v := range series {
		sum += v.rate * v.weight
	}
	return sum / weight(series)
}

// deviation is the weighted standard deviation around m.
func deviation(series []weighted, m float64) float64 {
	sum := 0.0
	for _, v := range series {
		sum += v.weight * (v.rate - m) * (v.rate - m)
	}
	return math.Sqrt(sum / weight(series))
}

func spread(sorted []weighted) float64 { return sorted[len(sorted)-1].rate - sorted[0].rate }

// widestGap returns the index behind the widest gap between neighbours.
func widestGap(sorted []weighted) int {
	at := 1
	for i := 2; i < len(sorted); i++ {
		if sorted[i].rate-sorted[i-1].rate > sorted[at].rate-sorted[at-1].rate {
			at = i
		}
	}
	return at
}

// bestCut returns where to cut sorted values into two groups so that the means of the groups explain most of the
// variance, and the share that they explain (Otsu 1979; one-dimensional 2-means).
func bestCut(sorted []weighted) (cut int, explained float64) {
	total, sum := weight(sorted), 0.0
	all := mean(sorted)
	for _, v := range sorted {
		sum += v.weight * (v.rate - all) * (v.rate - all)
	}
	lowWeight, lowSum, best := 0.0, 0.0, -1.0
	for i, v := range sorted[:len(sorted)-1] {
		lowWeight += v.weight
		lowSum += v.weight * v.rate
		distance := lowSum/lowWeight - (all*total-lowSum)/(total-lowWeight)
		if between := lowWeight * (total - lowWeight) / total * distance * distance; between > best {
			best, cut = between, i+1
		}
	}
	if sum == 0 {
		return cut, 0
	}
	return cut, best / sum
}

// densest returns where sorted values are densest: the narrowest half, again and again, down to three values, whose mean
// it is (the half-sample mode; Bickel and Frühwirth 2006).
func densest(sorted []weighted) float64 {
	for len(sorted) > 3 {
		half := (len(sorted) + 1) / 2
		at := 0
		for i := 1; i+half <= len(sorted); i++ {
			if spread(sorted[i:i+half]) < spread(sorted[at:at+half]) {
				at = i
			}
		}
		sorted = sorted[at : at+half]
	}
	return mean(sorted)
}
