package flame

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
)

func diff(t testing.TB, base, other *Profile, o DiffOptions) *Difference {
	t.Helper()
	d, err := Diff(base, other, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDiffReference compares with what difffolded.pl makes of the same two recordings, without and with -n, which cuts
// the scaled count to an integer.
func TestDiffReference(t *testing.T) {
	root := shared.Path(t, "data/stacks")
	base, _ := readFolded(t, shared.Read(t, filepath.Join(root, "diff-before-tcp.folded")))
	other, _ := readFolded(t, shared.Read(t, filepath.Join(root, "diff-after-udp.folded")))
	d := diff(t, base, other, DiffOptions{})
	for name, scaled := range map[string]bool{"diff.two-column.folded": false, "diff.two-column.normalized.folded": true} {
		var b strings.Builder
		if err := d.WriteFolded(&b, scaled); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for line := range strings.Lines(b.String()) {
			f := strings.Fields(line)
			before, err := strconv.ParseFloat(f[len(f)-2], 64)
			if err != nil {
				t.Fatal(err)
			}
			got[strings.Join(f[:len(f)-2], " ")] = fmt.Sprintf("%d %s", int64(before), f[len(f)-1])
		}
		want := map[string]string{}
		for line := range strings.Lines(string(shared.Read(t, filepath.Join(root, name)))) {
			f := strings.Fields(line)
			want[strings.Join(f[:len(f)-2], " ")] = f[len(f)-2] + " " + f[len(f)-1]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-difffolded.pl +got):\n%s", name, diff)
		}
	}
	if d.Base.Samples != 614 || d.Other.Samples != 221 {
		t.Errorf("%d and %d samples by the common period, want 614 and 221", d.Base.Samples, d.Other.Samples)
	}
}

// TestDiffPerf: the samples and the numbers are those of the recordings, and folded text gives the same as the recordings.
func TestDiffPerf(t *testing.T) {
	root := shared.Path(t, "data/stacks")
	base, _ := readPerf(t, shared.Read(t, filepath.Join(root, "diff-before-tcp.perf.txt")))
	other, _ := readPerf(t, shared.Read(t, filepath.Join(root, "diff-after-udp.perf.txt")))
	d := diff(t, base, other, DiffOptions{})
	if d.Base.Samples != 614 || d.Other.Samples != 221 || d.Unit != "ns" {
		t.Errorf("%d and %d samples in %s", d.Base.Samples, d.Other.Samples, d.Unit)
	}
	onlyTCP := func(c Changed) bool { return d.Frames[c.Frame].Name == "tcp_sendmsg_locked" }
	if !slices.ContainsFunc(d.Vanished(), onlyTCP) || slices.ContainsFunc(d.New(), onlyTCP) {
		t.Error("tcp_sendmsg_locked is not among what vanished")
	}
	if !slices.ContainsFunc(d.New(), func(c Changed) bool { return d.Frames[c.Frame].Name == "udp_sendmsg" }) {
		t.Error("udp_sendmsg is not among what is new")
	}
	raw := diff(t, base, other, DiffOptions{Raw: true})
	if raw.Factor != 1 {
		t.Errorf("factor %v of values taken as they are", raw.Factor)
	}
}

func TestDiffSmall(t *testing.T) {
	base, _ := readFolded(t, []byte("a;b 6\na;c 2\nd 2\n"))
	other, _ := readFolded(t, []byte("a;b 3\na;e 1.5\nd 0.5\n"))
	d := diff(t, base, other, DiffOptions{})
	var lines []string
	for i := range d.Nodes {
		n := &d.Nodes[i]
		name := "all"
		if n.Frame >= 0 {
			name = d.Frames[n.Frame].Name
		}
		lines = append(lines, fmt.Sprintf("%s under %d: %d(%d) %d(%d) delta %g self %g noise %v new %v vanished %v",
			name, n.Parent, n.Base.Value, n.Base.Self, n.Other.Value, n.Other.Self, d.Delta(&n.Pair), d.SelfDelta(&n.Pair), d.Noise(&n.Pair), n.New(), n.Vanished()))
	}
	want := []string{ // in tenths
		"all under -1: 100(0) 50(0) delta 0 self 0 noise true new false vanished false",
		"a under 0: 80(0) 45(0) delta 5 self 0 noise true new false vanished false",
		"b under 1: 60(60) 30(30) delta 0 self 0 noise true new false vanished false",
		"c under 1: 20(20) 0(0) delta -10 self -10 noise true new false vanished true",
		"e under 1: 0(0) 15(15) delta 15 self 15 noise true new true vanished false",
		"d under 0: 20(20) 5(5) delta -5 self -5 noise true new false vanished false",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestNoise(t *testing.T) {
	for _, c := range []struct {
		base, other int64
		factor      float64
		want        bool
	}{
		{0, 0, 1, true}, {0, 1, 1, true}, {1, 0, 1, true}, {0, 3, 1, true}, {0, 4, 1, false}, // 4 = 2 sqrt(4): no longer below
		{100, 128, 1, true}, {100, 131, 1, false}, // 2 sqrt(228) = 30.2
		{200, 126, 0.5, true}, {200, 127, 0.5, false}, // 2 sqrt(127 + 50) = 26.6
		{10, 100, 10, true}, {10, 180, 10, false}, // the base's chance is scaled as well: 2 sqrt(100 + 1000) = 66
	} {
		if got := noise(c.base, c.other, c.factor); got != c.want {
			t.Errorf("noise(%d, %d, %g) = %v", c.base, c.other, c.factor, got)
		}
	}
}

func TestDiffTwoEventsOfOneText(t *testing.T) {
	p, _ := readFolded(t, []byte("a;b 1 2\na;c 3 0\n"))
	d := diff(t, p, p, DiffOptions{Base: Column{Event: "before"}, Other: Column{Event: "after"}, Raw: true})
	if d.Base.Value != 4 || d.Other.Value != 2 {
		t.Errorf("totals %d and %d, want 4 and 2", d.Base.Value, d.Other.Value)
	}
	if _, err := Diff(p, p, DiffOptions{Base: Column{Event: "x"}}); err == nil {
		t.Error("an event that is not there is no error")
	}
}

// TestDiffHolds: nodes add up, a profile does not differ from itself, exchanging the sides turns the sign of each node's
// difference, and JSON keeps everything.
func TestDiffHolds(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		draw := func(name string) *Profile {
			stacks := rapid.SliceOfN(rapid.StringMatching(`[a-c](;[a-c]){0,4} [1-9][0-9]{0,2}`), 1, 12).Draw(t, name)
			p, _ := readFolded(outer, []byte(strings.Join(stacks, "\n")+"\n"))
			return p
		}
		base, other := draw("base"), draw("other")
		d := diff(outer, base, other, DiffOptions{Raw: true})
		swapped := diff(outer, other, base, DiffOptions{Raw: true})
		self := make([]int64, len(d.Nodes))
		for i := range d.Nodes {
			n := &d.Nodes[i]
			self[i] += n.Base.Self
			for at := n.Parent; at >= 0; at = d.Nodes[at].Parent {
				self[at] += n.Base.Self
			}
			if n.Parent >= int32(i) {
				t.Fatalf("node %d is before its parent %d", i, n.Parent)
			}
			if s := &swapped.Nodes[i]; s.Base != n.Other || s.Other != n.Base || swapped.Delta(&s.Pair) != -d.Delta(&n.Pair) || swapped.Noise(&s.Pair) != d.Noise(&n.Pair) {
				t.Fatalf("node %d exchanged: %+v, %+v", i, *s, *n)
			}
		}
		for i := range d.Nodes {
			if self[i] != d.Nodes[i].Base.Value {
				t.Fatalf("node %d has %d, those below it %d", i, d.Nodes[i].Base.Value, self[i])
			}
		}
		same := diff(outer, base, base, DiffOptions{})
		for i := range same.Nodes {
			if p := &same.Nodes[i].Pair; same.Delta(p) != 0 || p.New() || p.Vanished() {
				t.Fatalf("node %d differs from itself", i)
			}
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again Difference
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, &again); diff != "" {
			t.Fatalf("JSON (-before +after):\n%s", diff)
		}
	})
}
