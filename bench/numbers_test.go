package bench

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

func readNumbers(t testing.TB, name, text string) ([]float64, []string) {
	t.Helper()
	ledger := &source.Ledger{}
	lines := source.NewLines(source.NewInput(name, strings.NewReader(text)), ledger)
	runs, err := ReadNumbers(lines, ledger)
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, &Results{Runs: runs})
	judgedAndCompared(t, runs)
	var values []float64
	for _, r := range runs {
		values = append(values, r.Rate)
	}
	return values, names(ledger.Entries())
}

func TestNumbers(t *testing.T) {
	for name, want := range map[string][]float64{
		"rates-before.txt": {21910.2, 22004.9, 21970.0, 22051.3, 21988.7},
		"rates-after.txt":  {31495.6, 31470.1, 31533.9, 31490.0, 31508.8},
	} {
		text := fixture(t, name)
		if m := SniffNumbers([]byte(text)); m != source.Weak {
			t.Errorf("%s is recognised as %v", name, m)
		}
		got, ledger := readNumbers(t, name, text)
		if diff := cmp.Diff(want, got); diff != "" || len(ledger) > 0 {
			t.Errorf("%s, ledger %v (-want +got):\n%s", name, ledger, diff)
		}
	}
	if got, ledger := readNumbers(t, "cut", "21910.2\n22004.9\n21970"); len(got) != 2 || !cmp.Equal(ledger, []string{"cut-input"}) {
		t.Errorf("cut in the third value: %v, ledger %v", got, ledger)
	}
	if got, _ := readNumbers(t, "mixed", "1\n2\n3\nnow the others\n4\n"); len(got) != 3 {
		t.Errorf("numbers before a line of words: %v", got)
	}
}

func TestSniffNumbers(t *testing.T) {
	for text, want := range map[string]source.Match{
		"1\n2\n3\n": source.Weak, "# a\n\n1.5\n-2\n3e+06": source.Weak,
		"1\n2\n": source.No, "1 2\n3 4\n5 6\n": source.No, "a\n1\n2\n3\n": source.No, "": source.No, "1\n2\n3x\n4\n": source.No, "# only words\n": source.No,
	} {
		if got := SniffNumbers([]byte(text)); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

// TestNumbersOfOthers reads the columns of the published series and of the case on adaptive moderation.
func TestNumbersOfOthers(t *testing.T) {
	for _, name := range []string{"tcp_rr-before.txt", "tcp_rr-after.txt"} {
		text := content(t, shared.Path(t, "cases/28-adaptive-rx-rr/"+name))
		if got, _ := readNumbers(t, name, text); len(got) != 5 || SniffNumbers([]byte(text)) != source.Weak {
			t.Errorf("%s: %v", name, got)
		}
	}
	runs, _ := read(t, "log", fixture(t, "netperf-interim.as-archived.txt"))
	for i, size := range []string{"4344", "4345"} {
		got, _ := readNumbers(t, size, content(t, shared.Path(t, filepath.Join("data/published", "mlx4-adaptive-rx.interim-"+size+".values.txt"))))
		var want []float64
		for _, p := range runs[i].Interim {
			want = append(want, p.Rate)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("values of %s bytes (-log +column):\n%s", size, diff)
		}
	}
}

func FuzzReadNumbers(f *testing.F) {
	f.Add(fixture(f, "rates-before.txt"))
	f.Add(fixture(f, "rates-after.txt"))
	f.Fuzz(func(t *testing.T, text string) { readNumbers(t, "fuzz", text) })
}

func BenchmarkReadNumbers(b *testing.B) {
	text := strings.Repeat("21910.2\n", 5000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ledger := &source.Ledger{}
		if runs, _ := ReadNumbers(source.NewLines(source.NewInput("n", strings.NewReader(text)), ledger), ledger); len(runs) != 5000 {
			b.Fatal(len(runs))
		}
	}
}

// TestLongColumn holds that a column of any length has the summary of all its values, and that its values are kept, or
// thinned evenly where they are too many.
func TestLongColumn(t *testing.T) {
	var text strings.Builder
	var all []float64
	for i := range maxRuns + 5000 {
		v := float64(1000 + (i*7919)%997)
		all = append(all, v)
		fmt.Fprintf(&text, "%g\n", v)
	}
	ledger := &source.Ledger{}
	runs, err := ReadNumbers(source.NewLines(source.NewInput("long.txt", strings.NewReader(text.String())), ledger), ledger)
	if err != nil || len(runs) != 1 || len(ledger.Entries()) != 0 {
		t.Fatal(len(runs), err, ledger.Entries())
	}
	if want := Summarise(all, MinistatNewer); *runs[0].Summary != want || len(runs[0].Values) != len(all) {
		t.Errorf("%+v, want %+v", *runs[0].Summary, want)
	}
	one := Compare([]Set{{"a", runs}, {"b", runs}}, CompareOptions{}).Comparisons[0]
	if one.MannWhitney == nil || one.Significant || one.N[0] != len(all) {
		t.Errorf("%+v", one)
	}

	c := newLongColumn()
	for i := range 3*maxColumnValues + 17 {
		c.add(float64(i % 1000))
	}
	r := c.into(Run{Tool: "numbers"})
	if s := r.Summary; s.N != 3*maxColumnValues+17 || s.Min != 0 || s.Max != 999 || math.Abs(s.Mean-499.48) > 0.01 || math.Abs(s.StdDev-288.675) > 0.01 || r.Stride != 2 && r.Stride != 4 {
		t.Errorf("%+v, every %d-th", s, r.Stride)
	}
	if n := len(r.Values); n > maxColumnValues || n*r.Stride < r.Summary.N {
		t.Errorf("%d values kept, every %d-th", n, r.Stride)
	}
	thin := Compare([]Set{{"a", []Run{r}}, {"b", runs}}, CompareOptions{}).Comparisons[0]
	if thin.MannWhitney == nil || !strings.Contains(strings.Join(thin.Notes, "\n"), "-th is kept") {
		t.Errorf("%v", thin.Notes)
	}
}

func BenchmarkMillion(b *testing.B) {
	var text strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "%.3f\n", 1000+float64((i*7919)%9973)/100)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		ledger := &source.Ledger{}
		runs, _ := ReadNumbers(source.NewLines(source.NewInput("long.txt", strings.NewReader(text.String())), ledger), ledger)
		Compare([]Set{{"a", runs}, {"b", runs}}, CompareOptions{})
	}
}
