package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/bench"
)

func columnSet(label string, values ...float64) bench.Set {
	s := bench.Set{Label: label}
	for _, v := range values {
		s.Runs = append(s.Runs, bench.Run{Tool: "iperf3", Test: "TCP", Unit: "10^6 bits/s", Rate: v})
	}
	return s
}

func compareText(t *testing.T, sets ...bench.Set) string {
	t.Helper()
	var b strings.Builder
	if err := Compare(&b, &Compared{Comparisons: bench.Compare(sets, bench.CompareOptions{})}, Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCompareText has the own recordings with segmentation offload on, off and on again.
func TestCompareText(t *testing.T) {
	on := columnSet("runs/on", 10641.62, 10003.89, 12349.49, 7166.21, 8742.12, 8992.73, 10003.43)
	off := columnSet("runs/off", 6934.06, 5596.21, 4034.94, 5066.85, 6168.65, 6547.89, 5326.28)
	again := columnSet("runs/again", 8789.69, 11791.98, 7562.04, 8354.22, 9184.04, 11030.40, 7245.66)
	want := `TCP in 10^6 bits/s
x runs/on
+ runs/off
* runs/again
+--------------------------------------------------------------------------+
|                                                    x                     |
|+        + +  +    +  +  + x*  *      *  x* x*      x     x  *      *    x|
|                                   |______________A_M___________|         |x
|      |_______A________|                                                  |+
|                              |___________M__A______________|             |*
+--------------------------------------------------------------------------+
    N           Min           Max        Median           Avg        Stddev
x   7       7166.21      12349.49      10003.43     9699.9271     1629.3517
+   7       4034.94       6934.06       5596.21       5667.84       981.322
Difference at 95.0% confidence
	-4032.09 +/- 1566.5
	-41.5682% +/- 11.6089%
	(Student's t, pooled s = 1344.95)
	(medians -44.06%, Mann-Whitney p=0.00058, ratio 0.5594 [0.4761, 0.7281] at 95% by bootstrap)
*   7       7245.66      11791.98       8789.69     9136.8614     1704.2657
No difference proven at 95.0% confidence
	(medians -12.13%, Mann-Whitney p=0.62, ratio 0.8787 [0.7437, 1.227] at 95% by bootstrap)
	(a difference of -563 would show in four of five attempts with 139 runs of each)
runs/again against runs/off:
Difference at 95.0% confidence
	3469.02 +/- 1619.66
	61.2054% +/- 33.7887%
	(Student's t, pooled s = 1390.6)
	(medians +57.07%, Mann-Whitney p=0.00058, ratio 1.571 [1.226, 2.071] at 95% by bootstrap)

medians  unit         on           off         against on                         again       against on
TCP      10^6 bits/s  10003 ± 28%  5596 ± 28%  -44.06% (p=0.001, Holm 0.002 n=7)  8790 ± 34%  ~ (p=0.620 n=7)

`
	if diff := cmp.Diff(want, compareText(t, on, off, again)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompareEdges(t *testing.T) {
	many := columnSet("many")
	for i := range 500 {
		many.Runs = append(many.Runs, columnSet("", 100+float64(i%7)).Runs...)
	}
	for name, c := range map[string]struct {
		sets []bench.Set
		want []string
	}{
		"few values":      {[]bench.Set{columnSet("a", 1, 2), columnSet("b", 3, 4)}, []string{"No difference can be proven with fewer than 3 values", "1.5 ± ∞"}},
		"equal values":    {[]bench.Set{columnSet("a", 5, 5, 5), columnSet("b", 5, 5, 5)}, []string{"No difference proven", "all samples are equal"}},
		"many values":     {[]bench.Set{many, many}, []string{"each mark of the plot stands for up to", "x 500 "}},
		"control signs":   {[]bench.Set{columnSet("a\x1b[2J", 1, 2, 3), columnSet("b", 1, 2, 3)}, []string{`a\x1b[2J`}},
		"another test":    {[]bench.Set{columnSet("a", 1, 2, 3), {Label: "b", Runs: append(columnSet("b", 1, 2, 3).Runs, bench.Run{Tool: "iperf3", Test: "UDP", Rate: 1})}}, []string{"only in", "b: UDP, 1 value"}},
		"units that mix":  {[]bench.Set{columnSet("a", 1, 2, 3), {Label: "b", Runs: []bench.Run{{Tool: "iperf3", Test: "TCP", Unit: "KBytes/s", Rate: 1}}}}, []string{"not compared", "do not compare"}},
		"odd summary":     {[]bench.Set{{Label: "a", Runs: []bench.Run{{Tool: "ministat", Summary: &bench.Summary{N: 3, Min: 1, Max: 2, Median: -1e9, Mean: 1.5, StdDev: 1}}}}, columnSet("b", 1, 2, 3)}, []string{}},
		"negative values": {[]bench.Set{columnSet("a", -3, -2, -1, 0), columnSet("b", -3, 4, 5, 9)}, []string{"N  "}},
	} {
		text := compareText(t, c.sets...)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, text)
			}
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "|") && len(strings.TrimRight(line, "x+*\n")) != plotWidth+2 {
				t.Errorf("%s: a line of the plot is %q", name, line)
			}
		}
	}
}

// TestCompareJSON holds the contract with scripts.
func TestCompareJSON(t *testing.T) {
	var b strings.Builder
	c := bench.Compare([]bench.Set{columnSet("a", 100, 101, 102), columnSet("b", 110, 111, 112)}, bench.CompareOptions{})
	if err := CompareJSON(&b, &Compared{Comparisons: c}); err != nil {
		t.Fatal(err)
	}
	var got struct{ Comparisons []map[string]any }
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, key := range strings.Fields("name unit test n mean median stddev difference margin difference_percent margin_percent confidence pooled_s significant") {
		keys = append(keys, fmt.Sprint(key, " ", got.Comparisons[0][key]))
	}
	want := []string{"name TCP", "unit 10^6 bits/s", "test Student's t", "n [3 3]", "mean [101 111]", "median [101 111]", "stddev [1 1]", "difference 10",
		"margin 2.266594508655367", "difference_percent 9.900990099009901", "margin_percent 2.3578684098919656", "confidence 95", "pooled_s 1", "significant true"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
