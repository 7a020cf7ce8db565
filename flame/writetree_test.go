package flame

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
)

// TestTree: the tree has the boxes of the picture, none left out.
func TestTree(t *testing.T) {
	for _, name := range []string{"default.perf.txt", "inlined-odd-comm.perf.txt", "multi-event.perf.txt"} {
		p, _ := readPerf(t, shared.Read(t, fixture(name)))
		var b bytes.Buffer
		if err := WriteJSON(&b, p, Column{}); err != nil {
			t.Fatal(err)
		}
		var tree Tree
		if err := json.Unmarshal(b.Bytes(), &tree); err != nil {
			t.Fatal(err)
		}
		l := layout(t, p, LayoutOptions{MinShare: -1, MaxBoxes: -1})
		type node struct {
			name        string
			depth       int
			value, self int64
		}
		count := func(add func(map[node]int)) map[node]int { m := map[node]int{}; add(m); return m }
		want := count(func(m map[node]int) {
			for depth, row := range l.Rows {
				for _, b := range row {
					m[node{l.Name(b), depth, b.Value, b.Self}]++
				}
			}
		})
		got := count(func(m map[node]int) {
			depths := make([]int, len(tree.Nodes))
			for i, n := range tree.Nodes {
				name := "all"
				if n.Parent >= 0 {
					depths[i], name = depths[n.Parent]+1, tree.Frames[n.Frame].Name
				}
				m[node{name, depths[i], n.Value, n.Self}]++
			}
		})
		if len(got) != len(want) || tree.Total != l.Total {
			t.Errorf("%s: %d nodes of %d, want %d of %d", name, len(got), tree.Total, len(want), l.Total)
		}
		for n, k := range want {
			if got[n] != k {
				t.Errorf("%s: %v: %d, want %d", name, n, got[n], k)
			}
		}
		again, err := NewTree(p, Column{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(again, &tree); diff != "" {
			t.Errorf("%s: JSON (-before +after):\n%s", name, diff)
		}
	}
}
