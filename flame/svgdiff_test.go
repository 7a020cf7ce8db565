package flame

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
)

func difference(t testing.TB, base, other string, o DiffOptions) *Difference {
	t.Helper()
	b, _ := readFolded(t, []byte(base))
	p, _ := readFolded(t, []byte(other))
	d, err := Diff(b, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func diffSVG(t testing.TB, d *Difference, o SVGOptions) parsed {
	t.Helper()
	var b bytes.Buffer
	if err := WriteDiffSVG(&b, d, o); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.Bytes())
}

const (
	before = "a;b 400\na;old 200\na;c 400\na 1\n"
	after  = "a;b 800\na;new 100\na;c 1100\na 2\n"
)

func TestDiffSVG(t *testing.T) {
	d := difference(t, before, after, DiffOptions{})
	for width, want := range map[Width]map[string]string{
		"":    {"all": "100.0000%", "a": "100.0000%", "b": "33.3056%", "c": "45.7952%", "old": "16.6528%", "new": "4.1632%"},
		Base:  {"all": "100.0000%", "a": "100.0000%", "b": "39.9600%", "c": "39.9600%", "old": "19.9800%"},
		Other: {"all": "100.0000%", "a": "100.0000%", "b": "39.9600%", "c": "54.9451%", "new": "4.9950%"},
	} {
		got := map[string]string{}
		for _, b := range diffSVG(t, d, SVGOptions{Width: width}).Frames.Boxes {
			got[b.name()] = b.Width
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("widths %q (-want +got):\n%s", width, diff)
		}
	}
	picture := diffSVG(t, d, SVGOptions{})
	titles, classes := map[string]string{}, map[string]string{}
	for _, b := range picture.Frames.Boxes {
		titles[b.name()], classes[b.name()] = b.Title, strings.TrimPrefix(b.Class, "b ")
	}
	for name, want := range map[string]string{
		"old": "old (-19.98%)\nbase 200 samples (19.98%, 200 samples), self 200 samples\nother 0 samples (0.00%, 0 samples), self 0 samples\nchange -400 samples, vanished",
		"new": "new (+5.00%)\nbase 0 samples (0.00%, 0 samples), self 0 samples\nother 100 samples (5.00%, 100 samples), self 100 samples\nchange +100 samples, new",
		"b":   "b (0.00%)\nbase 400 samples (39.96%, 400 samples), self 400 samples\nother 800 samples (39.96%, 800 samples), self 800 samples\nchange 0 samples, may be chance",
	} {
		if titles[name] != want {
			t.Errorf("%s: %q, want %q", name, titles[name], want)
		}
	}
	for name, want := range map[string]verdict{"all": same, "a": same, "b": same, "c": more2, "old": onlyBase, "new": onlyOther} {
		if classes[name] != class(firstDiff+class(want)).String() {
			t.Errorf("%s has class %s, want %s", name, classes[name], firstDiff+class(want))
		}
	}
	notes := strings.Join(picture.Notes, "\n")
	for _, want := range []string{"base: x.folded, 1,001 samples in 1,001 samples, scaled by 2", "other: x.folded, 2,002 samples", "1 new, 1 of them beyond chance: new 100 samples", "1 vanished, 1 of them beyond chance: old 200 samples"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %s", want, notes)
		}
	}
	if _, err := NewDiffLayout(d, "both", LayoutOptions{}); err == nil {
		t.Error("a width that there is not")
	}
}

// TestSingleSamplesStay: scaling loses none, unlike scaling in integers.
func TestSingleSamplesStay(t *testing.T) {
	d := difference(t, "a 1\nb 999999\n", "b 10\n", DiffOptions{})
	l, err := NewDiffLayout(d, Larger, LayoutOptions{MinShare: -1})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Rows) < 2 || len(l.Rows[1]) != 2 || l.Rows[1][0].Value == 0 {
		t.Errorf("boxes %+v", l.Rows)
	}
}

func TestGoldenDiff(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"diff.svg": func(w io.Writer) error {
			return WriteDiffSVG(w, difference(t, before, after, DiffOptions{}), SVGOptions{})
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(shared.Read(t, path)), b.String()); diff != "" {
			t.Errorf("%s (-golden +got):\n%s", name, diff)
		}
	}
}

// TestDiffLayoutHolds: in every width, what is shown of a difference is a layout as any other is.
func TestDiffLayoutHolds(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e_[k]"})
	stacks := func(t *rapid.T, label string) string {
		var text strings.Builder
		for range rapid.IntRange(1, 40).Draw(t, label) {
			fmt.Fprintf(&text, "%s %d\n", strings.Join(rapid.SliceOfN(name, 1, 7).Draw(t, "stack"), ";"), rapid.Int64Range(1, 1000).Draw(t, "count"))
		}
		return text.String()
	}
	rapid.Check(t, func(t *rapid.T) {
		base, err := profileOf(stacks(t, "base"))
		if err != nil {
			t.Fatal(err)
		}
		other, err := profileOf(stacks(t, "other"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := Diff(base, other, DiffOptions{Raw: rapid.Bool().Draw(t, "raw")})
		if err != nil {
			t.Fatal(err)
		}
		width := rapid.SampledFrom([]Width{Larger, Base, Other}).Draw(t, "width")
		l, err := NewDiffLayout(d, width, LayoutOptions{MinShare: rapid.SampledFrom([]float64{-1, 0.05}).Draw(t, "share"), Hidden: 1000})
		if err != nil {
			t.Fatal(err)
		}
		holds(t, l)
		for _, row := range l.Rows {
			for _, b := range row {
				if n := &d.Nodes[b.Node]; b.Frame != Smaller && (n.Frame != b.Frame || width == Base && n.Base.Value == 0 || width == Other && n.Other.Value == 0) {
					t.Fatalf("box %+v stands for node %+v", b, n)
				}
			}
		}
	})
}

func TestDiffContrast(t *testing.T) {
	for v, p := range diffPaints() {
		for _, pair := range [][2]string{{p.light, p.onLight}, {p.dark, p.onDark}} {
			if r := contrast(pair[0], sixfold(pair[1])); r < 4.5 {
				t.Errorf("%d: %s on %s has a contrast of %.1f", v, pair[1], pair[0], r)
			}
		}
	}
}

// TestDiffColoursForAllEyes: what became less and what became more differ for eyes without red or without green
// receptors, by at least what two clearly different colours do (20 in CIE76).
func TestDiffColoursForAllEyes(t *testing.T) {
	paints := diffPaints()
	for _, dark := range []bool{false, true} {
		for _, less := range []verdict{less2, less3, onlyBase} {
			for _, more := range []verdict{more2, more3, onlyOther} {
				a, b := paints[less].light, paints[more].light
				if dark {
					a, b = paints[less].dark, paints[more].dark
				}
				for name, eye := range map[string][3][3]float64{"protan": protan, "deutan": deutan} {
					if d := labDistance(seen(a, eye), seen(b, eye)); d < 20 {
						t.Errorf("%s eyes: %s and %s are %.0f apart", name, a, b, d)
					}
				}
			}
		}
	}
}

// TestHostileDifference: names that hold markup stay text in both forms.
func TestHostileDifference(t *testing.T) {
	d := difference(t, hostileName+" 30\n"+hostileName+"a 9\n", hostileName+" 70\n"+hostileName+"b 90\n", DiffOptions{})
	d.Base.Source, d.Unit = hostileName, hostileName
	picture := diffSVG(t, d, SVGOptions{Title: hostileName}) // which fails if it is not well-formed
	if got := picture.Frames.Boxes[1].name(); got != Clean(hostileName) {
		t.Errorf("name %q", got)
	}
	page := func(d *Difference, title string) string {
		var b bytes.Buffer
		if err := WriteDiffHTML(&b, d, HTMLOptions{Title: title}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	plain := difference(t, "a 30\naa 9\n", "a 70\nab 90\n", DiffOptions{})
	if got, want := outline(page(d, hostileName)), outline(page(plain, "x")); got != want {
		t.Errorf("%d tags, %d with plain names", got, want)
	}
}
