package flame

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestThin keeps the heaviest stacks and every sum.
func TestThin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		stacks := rapid.IntRange(1, 60).Draw(t, "stacks")
		heaviest := 0
		for i := range stacks {
			n := rapid.IntRange(1, 1000).Draw(t, "value")
			heaviest = max(heaviest, n)
			fmt.Fprintf(&text, "%s;f%d;g%d %d\n", rapid.SampledFrom([]string{"app", "idle"}).Draw(t, "root"), i%7, i, n)
		}
		p, err := profileOf(text.String())
		if err != nil {
			t.Fatal(err)
		}
		most := rapid.IntRange(1, 60).Draw(t, "most")
		thin, left := p.Thin(most)
		if want := max(stacks-most, 0); left != want {
			t.Fatalf("%d of %d stacks summed up, allowed are %d", left, stacks, most)
		}
		if n := len(thin.Pprof().Sample); n > most+2 {
			t.Fatalf("%d stacks left of %d", n, stacks)
		}
		whole, small := layoutOf(t, p), layoutOf(t, thin)
		if whole.Total != small.Total {
			t.Fatalf("the total is %d, was %d", small.Total, whole.Total)
		}
		roots := func(l *Layout) map[string]int64 {
			values := map[string]int64{}
			for _, b := range l.Rows[1] {
				values[l.Name(b)] = b.Value
			}
			return values
		}
		for name, v := range roots(whole) {
			if roots(small)[name] != v {
				t.Fatalf("%s has %d, had %d", name, roots(small)[name], v)
			}
		}
		if err := thin.Pprof().CheckValid(); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(thin)
		if err != nil {
			t.Fatal(err)
		}
		var back Profile
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if n := layoutOf(t, &back).Total; n != whole.Total {
			t.Fatalf("read back, the total is %d", n)
		}
	})
}

func layoutOf(t *rapid.T, p *Profile) *Layout {
	l, err := NewLayout(p, LayoutOptions{MinShare: -1})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
