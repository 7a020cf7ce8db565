package bench

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// The largest sets for which the distribution of U is computed, rather than taken as normal: those of benchstat
// (golang.org/x/perf/benchmath).
const (
	exactValues     = 50
	exactTiedValues = 25
)

var errAllEqual = errors.New("all samples are equal")

// MannWhitney returns the two-sided p-value of the Mann-Whitney U test of two ascending sets (Mann and Whitney 1947), as
// benchstat computes it: exactly for up to 50 values in each, 25 where values are equal (Klotz 1966), and else by the
// normal approximation with corrections for ties and continuity. It fails where all values are equal.
func MannWhitney(a, b []float64) (float64, error) {
	groups, tied := tieGroups(a, b)
	if len(groups) <= 1 {
		return 1, errAllEqual
	}
	n1, n2 := len(a), len(b)
	rank2 := 0 // twice the sum of ranks of a
	before := 0
	for _, g := range groups {
		rank2 += g.first * (2*before + g.first + g.second + 1)
		before += g.first + g.second
	}
	u2 := rank2 - n1*(n1+1) // twice U
	limit := exactValues
	if tied {
		limit = exactTiedValues
	}
	if max(n1, n2) > limit {
		return normalU(groups, float64(u2)/2, float64(n1), float64(n2)), nil
	}
	if u2 == n1*n2 {
		return 1, nil
	}
	return min(1, 2*exactU(groups, n1, min(u2, 2*n1*n2-u2))), nil
}

// tieGroup counts the equal values of both sets.
type tieGroup struct{ first, second int }

// tieGroups merges two ascending sets.
func tieGroups(a, b []float64) (groups []tieGroup, tied bool) {
	for i, j := 0, 0; i < len(a) || j < len(b); {
		v := math.Inf(1)
		if i < len(a) {
			v = a[i]
		}
		if j < len(b) {
			v = min(v, b[j])
		}
		var g tieGroup
		for ; i < len(a) && a[i] == v; i++ {
			g.first++
		}
		for ; j < len(b) && b[j] == v; j++ {
			g.second++
		}
		tied = tied || g.first+g.second > 1
		groups = append(groups, g)
	}
	return groups, tied
}

// exactU returns the probability that twice U is u2 or less if n1 of the values are drawn for the first set: it counts
// the draws by the sum of their ranks, group by group.
func exactU(groups []tieGroup, n1, u2 int) float64 {
	most := u2 + n1*(n1+1) // twice the sum of ranks
	ways := make([][]float64, n1+1)
	for k := range ways {
		ways[k] = make([]float64, most+1)
	}
	ways[0][0] = 1
	before := 0
	for _, g := range groups {
		size := g.first + g.second
		rank := 2*before + size + 1 // twice the mean rank of the group
		for k := min(n1, before+size); k >= 1; k-- {
			choose := 1.0
			for of := 1; of <= min(size, k); of++ {
				choose *= float64(size-of+1) / float64(of)
				addShifted(ways[k], ways[k-of], of*rank, choose)
			}
		}
		before += size
	}
	below, all := 0.0, 1.0
	for _, w := range ways[n1] {
		below += w
	}
	for i := 1; i <= n1; i++ {
		all *= float64(before-n1+i) / float64(i)
	}
	return below / all
}

// addShifted adds from, times factor, to the elements of to that are shift further.
func addShifted(to, from []float64, shift int, factor float64) {
	for i := 0; i+shift < len(to); i++ {
		if from[i] != 0 {
			to[i+shift] += factor * from[i]
		}
	}
}

// normalU returns the p-value of U by the normal approximation.
func normalU(groups []tieGroup, u, n1, n2 float64) float64 {
	ties := 0.0
	for _, g := range groups {
		t := float64(g.first + g.second)
		ties += t*t*t - t
	}
	n := n1 + n2
	deviation := math.Sqrt(n1 * n2 * (n + 1 - ties/(n*(n-1))) / 12)
	distance := max(0, math.Abs(u-n1*n2/2)-0.5)
	return 2 * distuv.UnitNormal.CDF(-distance/deviation)
}

// leastRuns returns how many runs of each set are needed for a p-value of alpha even if the sets are wholly apart.
func leastRuns(alpha float64) int {
	arrangements := 1.0 // of n values among 2n
	for n := 1; n < exactValues; n++ {
		arrangements *= float64(2*n) * float64(2*n-1) / float64(n*n)
		if 2/arrangements <= alpha {
			return n
		}
	}
	return exactValues
}

// ascending returns the values in ascending order.
func ascending(values []float64) []float64 { return slices.Sorted(slices.Values(values)) }
