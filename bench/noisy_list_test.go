package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nettrace/finding"
	"nettrace/source"
)

// listOf reads a column of numbers and judges its noise.
func listOf(t testing.TB, values []float64) []finding.Finding {
	t.Helper()
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintln(&b, v)
	}
	runs, err := ReadNumbers(source.NewLines(source.NewInput("rates.txt", strings.NewReader(b.String())), &source.Ledger{}), &source.Ledger{})
	if err != nil || len(runs) == 0 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	return Noisy().Run(&Results{Runs: runs}, nil)
}

// The lines of a list may stand in any order: what is found in it does not depend on theirs.
func TestOrderOfAListSaysNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(1, 1000), 6, 60).Draw(rt, "values")
		said := func(list []float64) (said []string) {
			for _, f := range listOf(t, list) {
				said = append(said, f.Summary)
			}
			return said
		}
		sorted := slices.Sorted(slices.Values(values))
		if a, b := said(values), said(sorted); !slices.Equal(a, b) {
			rt.Fatalf("%q, sorted %q", a, b)
		}
	})
}

// Two modes of a list are told, short or long, and no changes between them.
func TestModesOfALongList(t *testing.T) {
	for _, n := range []int{30, 3 * modesLookedFor} {
		var values []float64
		for i := range n {
			values = append(values, float64(100+100*(i%2)+i%3))
		}
		found := listOf(t, values)
		if len(found) != 1 || !strings.Contains(found[0].Summary, "is bimodal: 50 % of the values are about 20") || len(found[0].Evidence) == 0 {
			t.Fatalf("%d values: %+v", n, found)
		}
		if _, told := found[0].Measure("changes"); told {
			t.Errorf("%d values: changes in a list", n)
		}
	}
}
