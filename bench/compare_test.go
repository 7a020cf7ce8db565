package bench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
)

// column makes a set of single values.
func column(label string, values ...float64) Set {
	s := Set{Label: label}
	for _, v := range values {
		s.Runs = append(s.Runs, Run{Tool: "numbers", Test: label, Rate: v})
	}
	return s
}

func fixtureSet(t testing.TB, names ...string) Set {
	t.Helper()
	s := Set{Label: names[0]}
	for _, name := range names {
		runs, _ := importText(t, name, fixture(t, name))
		s.Runs = append(s.Runs, runs...)
	}
	return s
}

func numbersSet(t testing.TB, path string) Set {
	t.Helper()
	values, _ := readNumbers(t, path, content(t, path))
	return column(path, values...)
}

// compared makes one comparison and holds it to JSON.
func compared(t testing.TB, o CompareOptions, sets ...Set) Comparison {
	t.Helper()
	c := Compare(sets, o)
	if _, err := json.Marshal(c); err != nil {
		t.Fatal(err)
	}
	if len(c.Comparisons) != 1 {
		t.Fatalf("%d comparisons, refused %v, unmatched %v", len(c.Comparisons), c.Refused, c.Unmatched)
	}
	return c.Comparisons[0]
}

// TestMinistatFiles compares the values that Debian's ministat was given, and holds every printed digit.
func TestMinistatFiles(t *testing.T) {
	number := regexp.MustCompile(`-?[\d.]+`)
	for out, in := range map[string][2]string{
		"adaptive-rx.4344-vs-4345.out":      {"mlx4-adaptive-rx.interim-4344.values.txt", "mlx4-adaptive-rx.interim-4345.values.txt"},
		"adaptive-rx.4344-vs-4345.c995.out": {"mlx4-adaptive-rx.interim-4344.values.txt", "mlx4-adaptive-rx.interim-4345.values.txt"},
		"sdp-vs-bzcopy.64K.out":             {"sdp-SDP-64K.values.txt", "sdp-BZCOPY-64K.values.txt"},
		"sdp-vs-bzcopy.64K.c80.out":         {"sdp-SDP-64K.values.txt", "sdp-BZCOPY-64K.values.txt"},
		"sdp-vs-bzcopy.64K.c90.out":         {"sdp-SDP-64K.values.txt", "sdp-BZCOPY-64K.values.txt"},
		"sdp-vs-bzcopy.64K.c98.out":         {"sdp-SDP-64K.values.txt", "sdp-BZCOPY-64K.values.txt"},
		"sdp-vs-bzcopy.64K.c99.out":         {"sdp-SDP-64K.values.txt", "sdp-BZCOPY-64K.values.txt"},
		"sdp-vs-bzcopy.64K.c99.5.out":       {"sdp-SDP-64K.values.txt", "sdp-BZCOPY-64K.values.txt"},
		"sdp-vs-bzcopy.128K.out":            {"sdp-SDP-128K.values.txt", "sdp-BZCOPY-128K.values.txt"},
		"sdp-vs-bzcopy.1M.out":              {"sdp-SDP-1M.values.txt", "sdp-BZCOPY-1M.values.txt"},
		"iperf3.tso-on-vs-off.out":          {"tso-on.mbps.txt", "tso-off.mbps.txt"},
		"iperf3.null.out":                   {"tso-on.mbps.txt", "tso-on-again.mbps.txt"},
		"constant-sets.out":                 {"const.values.txt", "const2.values.txt"},
	} {
		folder := "data/counters/ministat/"
		text := content(t, shared.Path(t, folder+out))
		o := CompareOptions{Ministat: Ministat2015, Confidence: 95}
		if at := regexp.MustCompile(`at ([\d.]+)% confidence`).FindStringSubmatch(text); at != nil {
			fmt.Sscan(at[1], &o.Confidence)
		}
		c := compared(t, o, numbersSet(t, shared.Path(t, folder+in[0])), numbersSet(t, shared.Path(t, folder+in[1])))
		_, table, _ := strings.Cut(text, "Stddev\n")
		got := []string{}
		for i := range 2 {
			got = append(got, fmt.Sprint(c.N[i]))
			for _, v := range []float64{c.Min[i], c.Max[i], c.Median[i], c.Mean[i], c.StdDev[i]} {
				got = append(got, fmt.Sprintf("%.8g", v))
			}
		}
		proven := !strings.Contains(text, "No difference proven")
		if proven {
			got = append(got, fmt.Sprintf("%.1f", c.Confidence))
			for _, v := range []float64{c.Difference, c.Margin, c.DifferencePercent, c.MarginPercent, c.PooledS} {
				got = append(got, fmt.Sprintf("%.6g", v))
			}
		}
		want := number.FindAllString(table, len(got))
		if diff := cmp.Diff(want, got); diff != "" || c.Significant != proven {
			t.Errorf("%s (-printed +computed), significant %v:\n%s", out, c.Significant, diff)
		}
	}
}

// TestBenchstatReferences holds medians, intervals, differences and p-values to what benchstat printed.
func TestBenchstatReferences(t *testing.T) {
	for out, in := range map[string][2]string{
		"on-vs-off.txt": {"tso-on.bench.txt", "tso-off.bench.txt"},
		"null.txt":      {"tso-on.bench.txt", "tso-on-again.bench.txt"},
		"interim.txt":   {"interim-4344.bench.txt", "interim-4345.bench.txt"},
		"n3.txt":        {"tso-on.n3.bench.txt", "tso-off.n3.bench.txt"},
		"n4.txt":        {"tso-on.n4.bench.txt", "tso-off.n4.bench.txt"},
	} {
		text := content(t, shared.Path(t, "data/counters/benchstat/"+out))
		var sets []Set
		for _, name := range in {
			runs, _ := importText(t, name, content(t, shared.Path(t, "data/counters/benchstat/"+name)))
			sets = append(sets, Set{name, runs})
		}
		c := compared(t, CompareOptions{}, sets...)
		cell := func(i int) string {
			spread := "∞"
			if b := c.MedianIntervals[i]; b != nil {
				spread = fmt.Sprintf("%.0f%%", 100*max(b.High/c.Median[i]-1, 1-b.Low/c.Median[i]))
			}
			return fmt.Sprintf("%.3fk ± %s", c.Median[i]/1000, spread)
		}
		n := fmt.Sprintf("n=%d", c.N[0])
		if c.N[0] != c.N[1] {
			n = fmt.Sprintf("n=%d+%d", c.N[0], c.N[1])
		}
		shift := "~"
		if c.MannWhitney.P <= 0.05 {
			shift = fmt.Sprintf("%+.2f%%", c.MannWhitney.MedianShift)
		}
		for _, want := range []string{cell(0), cell(1), fmt.Sprintf("%s (p=%.3f %s)", shift, c.MannWhitney.P, n)} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", out, want, text)
			}
		}
	}
}

// TestRingThread compares within the thread's own text.
func TestRingThread(t *testing.T) {
	runs, _ := importText(t, "thread", content(t, shared.Path(t, "data/threads/004_37f022e2a57e8313.txt")))
	c := Compare([]Set{{"thread", runs}}, CompareOptions{})
	var got []string
	for _, c := range c.Comparisons {
		got = append(got, fmt.Sprintf("%.6g %.6g %.6g %.6g %.6g %v", c.Difference, c.Margin, c.DifferencePercent, c.MarginPercent, c.PooledS, c.Significant))
	}
	want := []string{"-9159.4 2001.51 -1.9753 0.430346 1372.36 true", "-124268 66405 -12.8942 6.76603 41856.6 true", "-124268 66405 -12.8942 6.76603 41856.6 true",
		"27222.5 12321.5 3.02693 1.40621 8448.4 true", "-6536.7 19447.1 -0.748252 2.21763 13334.3 false", "-147343 19320.7 -13.722 1.64298 13247.5 true",
		"-107665 25341.6 -10.0528 2.25866 17375.8 true", "78693 20776.4 7.38186 2.0604 14245.6 true"}
	for i := range want { // the margins of what is not proven are not printed in the thread
		if i == 4 && len(got) > i && strings.HasSuffix(got[i], "false") {
			got[i] = want[i]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("comparisons (-printed +computed):\n%s", diff)
	}
}

// TestAdaptiveCase compares the rates of the case on adaptive moderation.
func TestAdaptiveCase(t *testing.T) {
	before, after := numbersSet(t, shared.Path(t, "cases/28-adaptive-rx-rr/tcp_rr-before.txt")), numbersSet(t, shared.Path(t, "cases/28-adaptive-rx-rr/tcp_rr-after.txt"))
	for generation, want := range map[Ministat]string{Ministat2015: "9512.8 49.7973 43.2614 0.226463", MinistatNewer: "9512.8 49.7973 43.2614 0.296885"} {
		c := compared(t, CompareOptions{Ministat: generation}, before, after)
		if got := fmt.Sprintf("%.6g %.6g %.6g %.6g", c.Difference, c.Margin, c.DifferencePercent, c.MarginPercent); got != want || !c.Significant || c.N[0] != 5 {
			t.Errorf("generation %d: %s, significant %v, want %s", generation, got, c.Significant, want)
		}
	}
}

// TestUnitsDoNotMix has pairs of runs whose units differ.
func TestUnitsDoNotMix(t *testing.T) {
	run := func(tool, test, unit string, rate float64) Run {
		return Run{Tool: tool, Test: test, Unit: unit, Rate: rate}
	}
	for name, c := range map[string]struct{ a, b Run }{
		"bytes of 1,024 and bits":     {run("netperf", "TCP_STREAM", "KBytes/s", 1), run("netperf", "TCP_STREAM", megabits, 1)},
		"operations and transactions": {run("uperf", "rr", operationsUnit, 32646), run("netperf", "rr", transactions, 25986)},
		"cost of KB and transaction":  {Run{Tool: "netperf", Test: "X", Unit: "us/KB", Rate: 1}, Run{Tool: "netperf", Test: "X", Unit: "us/transaction", Rate: 1}},
	} {
		got := Compare([]Set{{"a", []Run{c.a, c.a, c.a}}, {"b", []Run{c.b, c.b, c.b}}}, CompareOptions{})
		if len(got.Comparisons) != 0 || len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Text, "do not compare") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	giga, mega := run("iperf3", "TCP", "10^9 bits/s", 2), run("iperf3", "TCP", megabits, 1000)
	c := compared(t, CompareOptions{}, Set{"a", []Run{mega, mega, mega}}, Set{"b", []Run{giga, giga, giga}})
	if c.Unit != megabits || c.Mean[1] != 2000 || !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, "power of ten") }) {
		t.Errorf("bits of two prefixes: %+v", c)
	}
	mixed := Compare([]Set{{"a", []Run{mega, run("iperf3", "TCP", "KBytes/s", 5), mega}}, {"b", []Run{mega, mega, mega}}}, CompareOptions{})
	if len(mixed.Comparisons) != 0 || len(mixed.Refused) != 1 {
		t.Errorf("two units in one set: %+v", mixed)
	}
}

// TestSampleNames groups fixtures of several tests.
func TestSampleNames(t *testing.T) {
	a := fixtureSet(t, "netperf-tcp_rr.cpu.txt", "iperf3-tcp-bidir.json", "iperf3-tcp-P4.json", "uperf-rr.default.txt", "netperf-tcp_stream.classic.txt")
	b := fixtureSet(t, "netperf-tcp_rr.cpu.txt", "iperf3-tcp-bidir.json", "iperf3-tcp-P4.json", "uperf-rr.default.txt", "netperf-udp_stream.classic.txt")
	c := Compare([]Set{a, b}, CompareOptions{})
	var got []string
	for _, c := range c.Comparisons {
		got = append(got, fmt.Sprintf("%s [%s] %d %s", c.Name, c.Unit, c.N[0], c.Test))
	}
	want := []string{
		"TCP_RR, 1-byte requests, 1-byte responses [transactions/s] 1 none",
		"TCP_RR, 1-byte requests, 1-byte responses, local CPU cost [us/transaction] 1 none",
		"TCP_RR, 1-byte requests, 1-byte responses, remote CPU cost [us/transaction] 1 none",
		"TCP, 131,072-byte messages [10^6 bits/s] 1 none",
		"TCP, 131,072-byte messages, reverse [10^6 bits/s] 1 none",
		"TCP, 131,072-byte messages, 4 streams [10^6 bits/s] 1 none",
		"tcp_rr Txn2 [10^6 bits/s] 1 none",
		"tcp_rr Txn2, operations [operations/s] 1 none",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(c.Unmatched) != 2 {
		t.Errorf("unmatched %v (-want +got):\n%s", c.Unmatched, diff)
	}
}

// TestThreeSets corrects for the number of pairs.
func TestThreeSets(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	set := func(label string, mean float64) Set {
		var values []float64
		for range 8 {
			values = append(values, mean+5*r.NormFloat64())
		}
		return column(label, values...)
	}
	c := Compare([]Set{set("a", 100), set("b", 100), set("c", 130)}, CompareOptions{})
	if len(c.Comparisons) != 3 {
		t.Fatalf("%d pairs of three sets", len(c.Comparisons))
	}
	for i, want := range []bool{false, true, true} {
		if p := c.Comparisons[i]; p.Significant != want || p.Pairs != 3 || p.PHolm < p.P || p.MannWhitney.PHolm < p.MannWhitney.P {
			t.Errorf("pair %v: %+v", p.Sets, p)
		}
	}
}

// TestSuspicions has a sample for each warning, and one without.
func TestSuspicions(t *testing.T) {
	clean := column("clean", 101, 99, 100.5, 98.5, 100.2, 99.7, 101.3, 100.1, 98.9, 100.4)
	for want, odd := range map[string]Set{
		"only 4 values":     column("few", 100, 101, 99, 100),
		"bimodal":           column("modes", 100, 150, 101, 151, 99, 149, 100, 150, 152, 98),
		"far out":           column("outlier", 101, 99, 100.5, 98.5, 100.2, 99.7, 101.3, 140, 98.9, 100.4),
		"Mann-Kendall":      column("drift", 96, 97, 98, 99, 100, 101, 102, 103, 104, 105),
		"unequal variances": column("wide", 60, 140, 95, 120, 75, 110, 85, 130, 100, 90),
	} {
		c := compared(t, CompareOptions{}, clean, odd)
		found := slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, want) })
		if !found {
			t.Errorf("no note says %q: %q", want, c.Notes)
		}
		if slices.ContainsFunc(c.Notes, func(n string) bool { return strings.HasPrefix(n, "clean:") }) {
			t.Errorf("the clean set is suspected: %q", c.Notes)
		}
	}
	if c := compared(t, CompareOptions{}, clean, clean); len(c.Notes) > 0 || c.Significant {
		t.Errorf("a clean set against itself: %+v", c)
	}
}

// TestCompareProperties: scaling scales, order does not matter, a set does not differ from itself, nothing panics.
func TestCompareProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(1, 1000), 1, 12)
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		first := Compare([]Set{column("a", a...), column("b", b...)}, CompareOptions{}).Comparisons[0]
		double := func(values []float64) (out []float64) {
			for _, v := range values {
				out = append(out, 2*v)
			}
			return out
		}
		twice := Compare([]Set{column("a", double(a)...), column("b", double(b)...)}, CompareOptions{}).Comparisons[0]
		if twice.Difference != 2*first.Difference || twice.Margin != 2*first.Margin || twice.Significant != first.Significant || twice.MannWhitney.P != first.MannWhitney.P {
			t.Fatalf("doubled: %+v and %+v", first, twice)
		}
		mixed := rapid.Permutation(a).Draw(t, "order")
		again := Compare([]Set{column("a", mixed...), column("b", b...)}, CompareOptions{}).Comparisons[0]
		drifting := func(n string) bool { return strings.Contains(n, "Mann-Kendall") }
		first.Notes, again.Notes = slices.DeleteFunc(first.Notes, drifting), slices.DeleteFunc(again.Notes, drifting)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("in another order:\n%s", diff)
		}
		if self := Compare([]Set{column("a", a...), column("b", a...)}, CompareOptions{}).Comparisons[0]; self.Significant || self.MannWhitney.Significant {
			t.Fatalf("a set differs from itself: %+v", self)
		}
	})
}

// TestCompareOddValues has values whose ratios cannot be had.
func TestCompareOddValues(t *testing.T) {
	for _, values := range [][]float64{{0, 0, 0}, {-1, 0, 1}, {1e-320, 2e-320, 1e-320}, {1e18, -1e18, 1e18}, {5, 5, 5, 5, 5, 5, 5, 5, 5}} {
		c := compared(t, CompareOptions{}, column("a", values...), column("b", 1e18, 2, 3, 4))
		if !finite(c.DifferencePercent) || !finite(c.MarginPercent) || !finite(c.P) {
			t.Errorf("%v: %+v", values, c)
		}
	}
}

func BenchmarkCompareMillion(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	values := make([][]float64, 2)
	for i := range values {
		for range 500_000 {
			values[i] = append(values[i], 1000+10*r.NormFloat64())
		}
	}
	sets := []Set{column("a", values[0]...), column("b", values[1]...)}
	b.SetBytes(1_000_000 * 8)
	b.ReportAllocs()
	for b.Loop() {
		Compare(sets, CompareOptions{})
	}
}
