package flame

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
)

func layout(t testing.TB, p *Profile, o LayoutOptions) *Layout {
	t.Helper()
	l, err := NewLayout(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// draw prints the boxes, indented by their level: name start value self.
func draw(l *Layout) string {
	var b strings.Builder
	for depth, row := range l.Rows {
		for _, box := range row {
			name := l.Name(box)
			if box.Frame == Smaller {
				name = fmt.Sprintf("(%d smaller)", box.Count)
			}
			fmt.Fprintf(&b, "%s%s %d+%d self %d\n", strings.Repeat(" ", depth), name, box.Start, box.Value, box.Self)
		}
	}
	return b.String()
}

func TestLayoutSmall(t *testing.T) {
	p, _ := readFolded(t, []byte("main 10\nmain;a 20\nmain;a;b 30\nmain;c;d 40\nidle 100\n"))
	want := `all 0+200 self 0
 idle 0+100 self 100
 main 100+100 self 10
  a 110+50 self 20
  c 160+40 self 0
   b 130+30 self 30
   d 160+40 self 40
`
	l := layout(t, p, LayoutOptions{})
	if diff := cmp.Diff(want, draw(l)); diff != "" {
		t.Errorf("boxes (-want +got):\n%s", diff)
	}
	if l.Total != 200 || l.Depth != 3 || l.Unit != "samples" || l.Small.Boxes != 0 || l.Deep.Boxes != 0 {
		t.Errorf("total %d, depth %d, unit %s, small %+v, deep %+v", l.Total, l.Depth, l.Unit, l.Small, l.Deep)
	}
	if hot := l.HotPath(); len(hot) != 1 { // neither half is more than half
		t.Errorf("hot path %v", hot)
	}
}

func TestLayoutLeavesOut(t *testing.T) {
	p, _ := readFolded(t, []byte("a;x 1\na;y;z 2\na;big 50\na;v 1\na;w 1\nb 45\n"))
	l := layout(t, p, LayoutOptions{MinShare: 0.03, Hidden: 10})
	want := `all 0+100 self 0
 a 0+55 self 0
 b 55+45 self 45
  big 0+50 self 50
  (5 smaller) 50+5 self 0
`
	if diff := cmp.Diff(want, draw(l)); diff != "" {
		t.Errorf("boxes (-want +got):\n%s", diff)
	}
	if l.Small != (Cut{5, 5}) || len(l.Hidden) != 5 {
		t.Errorf("small %+v, hidden %v", l.Small, l.Hidden)
	}
	l = layout(t, p, LayoutOptions{MaxDepth: 2, MinShare: -1, Hidden: 10})
	if l.Deep != (Cut{1, 2}) || len(l.Rows) != 3 || l.Depth != 3 || len(l.Hidden) != 1 || l.Name(l.Hidden[0]) != "z" {
		t.Errorf("deep %+v, %d rows, depth %d, hidden %v", l.Deep, len(l.Rows), l.Depth, l.Hidden)
	}
	l = layout(t, p, LayoutOptions{MaxBoxes: 3})
	if l.boxes() > 3 || l.MinShare <= defaultMinShare || l.Small.Boxes == 0 {
		t.Errorf("%d boxes from a share of %v on", l.boxes(), l.MinShare)
	}
}

func TestLayoutThreadsAndKinds(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("inlined-odd-comm.perf.txt")))
	l := layout(t, p, LayoutOptions{})
	var threads []string
	for _, b := range l.Rows[1] {
		if l.Kind(b) == Thread {
			threads = append(threads, l.Name(b))
		}
	}
	if want := []string{"7", "rx queue 0", "tx 12/3 [x]", "worker: a;b"}; !cmp.Equal(threads, want) {
		t.Errorf("threads %v, want %v", threads, want)
	}
	inlined := false
	for _, f := range l.Frames {
		inlined = inlined || f.Inlined && f.Object != ""
	}
	if !inlined {
		t.Error("no inlined function, or none with the object that it is in")
	}
	merged := layout(t, p, LayoutOptions{Merged: true})
	for _, b := range merged.Rows[1] {
		if merged.Kind(b) == Thread {
			t.Errorf("%s is a thread", merged.Name(b))
		}
	}
}

func TestHotPath(t *testing.T) {
	p, _ := readFolded(t, []byte("a;b;c 60\na;b;d 20\na;e 10\nf 10\n"))
	l := layout(t, p, LayoutOptions{})
	var names []string
	for _, b := range l.HotPath() {
		names = append(names, l.Name(b))
	}
	if want := []string{"all", "a", "b", "c"}; !cmp.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// TestLayoutHolds checks what every layout must hold: boxes in their parents, side by side, nothing lost, nothing twice.
func TestLayoutHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e_[k]"})
		var text strings.Builder
		total, deepest := int64(0), 0
		for range rapid.IntRange(1, 60).Draw(t, "lines") {
			stack := rapid.SliceOfN(name, 1, 9).Draw(t, "stack")
			count := rapid.Int64Range(1, 1000).Draw(t, "count")
			total, deepest = total+count, max(deepest, len(stack))
			fmt.Fprintf(&text, "%s %d\n", strings.Join(stack, ";"), count)
		}
		p, err := profileOf(text.String())
		if err != nil {
			t.Fatal(err)
		}
		o := LayoutOptions{MinShare: rapid.SampledFrom([]float64{-1, 0, 0.01, 0.1, 0.5}).Draw(t, "share"),
			MaxDepth: rapid.SampledFrom([]int{-1, 1, 3, 0}).Draw(t, "depth"), MaxBoxes: rapid.SampledFrom([]int{-1, 0, 1, 5, 20}).Draw(t, "boxes"), Hidden: 1000}
		l, err := NewLayout(p, o)
		if err != nil {
			t.Fatal(err)
		}
		if l.Total != total || len(l.Rows) == 0 || l.Rows[0][0].Value != total {
			t.Fatalf("total %d, want %d", l.Total, total)
		}
		if l.Depth != deepest {
			t.Fatalf("depth %d, want %d", l.Depth, deepest)
		}
		if o.MaxBoxes > 0 && l.boxes() > o.MaxBoxes {
			t.Fatalf("%d boxes, at most %d asked for", l.boxes(), o.MaxBoxes)
		}
		holds(t, l)
	})
}

func holds(t *rapid.T, l *Layout) {
	self := int64(0)
	for depth, row := range l.Rows {
		right := int64(-1)
		for i, b := range row {
			if b.Frame != Smaller {
				self += b.Self
			}
			if b.Value < l.min() && b.Frame != Root {
				t.Fatalf("a box of %d, below %d", b.Value, l.min())
			}
			if b.Start < right {
				t.Fatalf("row %d, box %d begins at %d, before the end of the one before at %d", depth, i, b.Start, right)
			}
			right = b.Start + b.Value
			if depth == 0 {
				continue
			}
			if parent := l.Rows[depth-1][b.Parent]; parent.Frame == Smaller || b.Start < parent.Start+parent.Self || right > parent.Start+parent.Value {
				t.Fatalf("row %d, box %d (%+v) is not within its parent %+v", depth, i, b, parent)
			}
			if i > 0 && row[i-1].Parent == b.Parent && row[i-1].Frame >= 0 && b.Frame >= 0 && l.Name(row[i-1]) > l.Name(b) {
				t.Fatalf("row %d: %s comes before %s", depth, l.Name(row[i-1]), l.Name(b))
			}
		}
	}
	if self += l.Small.Self + l.Deep.Self; self != l.Total {
		t.Fatalf("own values and those left out are %d of %d", self, l.Total)
	}
	if len(l.Hidden) != l.Small.Boxes+l.Deep.Boxes {
		t.Fatalf("%d hidden boxes, %d and %d left out", len(l.Hidden), l.Small.Boxes, l.Deep.Boxes)
	}
}

// min is the least value that a box may have.
func (l *Layout) min() int64 { return int64(l.MinShare * float64(l.Total)) }

func TestCaseGeometry(t *testing.T) {
	root := filepath.Join(shared.Path(t, "cases"), "04-flamegraph-self-width-deep")
	p, _ := readFolded(t, shared.Read(t, filepath.Join(root, "nested-self.folded")))
	l := layout(t, p, LayoutOptions{})
	shares, own := map[string]float64{}, map[string]int64{}
	for _, row := range l.Rows {
		for _, b := range row {
			shares[l.Name(b)], own[l.Name(b)] = l.Share(b.Value), b.Self
		}
	}
	if want := map[string]float64{"all": 1, "main": 0.5, "a": 0.25, "b": 0.15, "c": 0.2, "d": 0.2, "idle": 0.5}; !cmp.Equal(shares, want) {
		t.Errorf("shares %v, want %v", shares, want)
	}
	if want := map[string]int64{"all": 0, "main": 10, "a": 20, "b": 30, "c": 0, "d": 40, "idle": 100}; !cmp.Equal(own, want) {
		t.Errorf("own values %v, want %v", own, want)
	}

	p, _ = readFolded(t, shared.Read(t, filepath.Join(root, "deep.folded")))
	l = layout(t, p, LayoutOptions{})
	if l.Total != 1000 || l.Depth != 2502 || len(l.Rows) != defaultMaxDepth+1 || l.Deep.Boxes != 2502-defaultMaxDepth {
		t.Errorf("deep: total %d, depth %d, %d rows, deep %+v", l.Total, l.Depth, len(l.Rows), l.Deep)
	}
	if stacks := folded(t, p, Column{}); strings.Count(stacks, ";") != 2501+1 {
		t.Errorf("deep: the folded text has %d separators", strings.Count(stacks, ";"))
	}

	p, _ = readFolded(t, shared.Read(t, filepath.Join(root, "tiny.folded")))
	l = layout(t, p, LayoutOptions{Hidden: 1000})
	got := map[string]int64{}
	for _, row := range l.Rows {
		for _, b := range row {
			got[l.Name(b)] = b.Value
		}
	}
	if l.Total != 1000500 || got["hot"] != 1000000 || got["dispatch"] != 500 || got[""] != 500 || l.Small != (Cut{500, 500}) || len(l.Hidden) != 500 {
		t.Errorf("tiny: total %d, boxes %v, small %+v", l.Total, got, l.Small)
	}
}
