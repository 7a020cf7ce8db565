package bench

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/finding"
	"nettrace/fixtures/shared"
)

// numbersResults reads columns of numbers as the runs of a bundle.
func numbersResults(t testing.TB, paths ...string) *Results {
	t.Helper()
	results := &Results{}
	for _, path := range paths {
		for _, r := range numbersSet(t, path).Runs {
			r.Pos.Source = filepath.Base(path)
			results.Runs = append(results.Runs, r)
		}
	}
	return results
}

func bundle(t testing.TB, names ...string) *Results {
	t.Helper()
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join("..", "fixtures", "bench", name))
	}
	return numbersResults(t, paths...)
}

func TestDifference(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  []string
	}{
		"fires":     {[]string{"rates-before.txt", "rates-after.txt"}, []string{"notice high rates rises from 21,985 to 31,500 (+43.28 % +/- 0.36 %) between before and after (5 and 5 runs, 95 % confidence)"}},
		"near miss": {[]string{"rates-near-before.txt", "rates-near-after.txt"}, []string{"info medium rates-near: no difference is shown between before and after (21,982 against 22,118; 6 and 6 runs, 95 % confidence); one of 0.62 % would show with 37 runs each"}},
		"clean":     {[]string{"rates-same-before.txt", "rates-same-after.txt"}, []string{"info high rates-same: a difference of 0.079 % between before and after is proven and too small to matter (6 and 6 runs, 95 % confidence)"}},
		"one state": {[]string{"rates-before.txt"}, nil},
	} {
		var got []string
		for _, f := range Difference().Run(bundle(t, c.files...), nil) {
			got = append(got, fmt.Sprint(f.Severity, " ", f.Confidence, " ", f.Summary))
			if len(f.Evidence) != 4 || len(f.Advice) == 0 {
				t.Errorf("%s: %d pieces of evidence, %d of advice", name, len(f.Evidence), len(f.Advice))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDifferenceDirections has rates and costs that rise and fall.
func TestDifferenceDirections(t *testing.T) {
	runs := func(source, u string, values ...float64) (list []Run) {
		for _, v := range values {
			r := Run{Tool: "x", Test: "T", Unit: u, Rate: v}
			r.Pos.Source = source
			list = append(list, r)
		}
		return list
	}
	for _, c := range []struct {
		unit  string
		up    bool
		want  finding.Severity
		about string
	}{{transactions, true, finding.Notice, ": better"}, {transactions, false, finding.Warning, ": worse"}, {"us/KB", true, finding.Warning, ": worse"}, {"us/KB", false, finding.Notice, ": better"}, {"", false, finding.Notice, " between before and after ("}} {
		before, after := []float64{100, 101, 99, 100}, []float64{130, 131, 129, 130}
		if !c.up {
			before, after = after, before
		}
		results := &Results{Runs: append(runs("before.txt", c.unit, before...), runs("after.txt", c.unit, after...)...)}
		found := Difference().Run(results, nil)
		if len(found) != 1 || found[0].Severity != c.want || !strings.Contains(found[0].Summary, c.about) {
			t.Errorf("%s, up %v: %+v", c.unit, c.up, found)
		}
		if worse := c.want == finding.Warning; len(found) == 1 && (found[0].Effect.Share > 0) != worse {
			t.Errorf("%s, up %v: share %g", c.unit, c.up, found[0].Effect.Share)
		}
	}
}

func TestDifferenceOfAdaptiveCase(t *testing.T) {
	found := Difference().Run(numbersResults(t, shared.Path(t, "cases/28-adaptive-rx-rr/tcp_rr-before.txt"), shared.Path(t, "cases/28-adaptive-rx-rr/tcp_rr-after.txt")), nil)
	if len(found) != 1 || found[0].Severity != finding.Notice || !strings.Contains(found[0].Summary, "5 and 5 runs") {
		t.Fatalf("%+v", found)
	}
	for name, want := range map[string]string{"difference": "9512.8", "margin": "49.7973", "mean_before": "21989.1", "mean_after": "31501.9", "difference_ratio": "0.432614"} {
		if got := fmt.Sprintf("%.6g", measure(t, found[0], name)); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestNotComparable(t *testing.T) {
	for name, want := range map[string][]string{
		"netperf-stream-r.txt":          {"warning 3 runs of TCP_STREAM to hostb with -r 64K, 128K, 1M all send messages of 16,384 bytes: they compare no sizes, and their 6,906 to 7,107 10^6 bits/s is one size's noise or another setting's effect"},
		"netperf-stream-m.txt":          nil, // a near miss: the same runs with -m
		"netperf-rr-4344-4345.txt":      nil, // clean: -r in request/response tests
		"netperf-tcp_stream.cpu.txt":    nil,
		"netperf-tcp_rr.classic.txt":    nil,
		"netperf-udp_stream.cpu-m1.txt": nil,
	} {
		runs, _ := read(t, name, fixture(t, name))
		var got []string
		for _, f := range NotComparable().Run(&Results{Runs: runs}, nil) {
			got = append(got, fmt.Sprint(f.Severity, " ", f.Summary))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestNotComparableThread names the runs with -r of the thread, and not those with -m.
func TestNotComparableThread(t *testing.T) {
	runs, _ := importText(t, "thread", content(t, shared.Path(t, "data/threads/002_e020891d04dfaba2.txt")))
	found := NotComparable().Run(&Results{Runs: runs}, nil)
	if len(found) != 1 || measure(t, found[0], "runs") != 6 || measure(t, found[0], "sizes_asked") != 3 || measure(t, found[0], "message_size") != 16384 {
		t.Fatalf("%+v", found)
	}
	for _, e := range found[0].Evidence {
		if e.Line < 86 || e.Line > 97 {
			t.Errorf("evidence at line %d", e.Line)
		}
	}
}

func TestNotComparableUnits(t *testing.T) {
	run := func(source, tool, u string) Run {
		r := Run{Tool: tool, Test: "rr", Unit: u, Rate: 1}
		r.Pos.Source = source
		return r
	}
	found := NotComparable().Run(&Results{Runs: []Run{run("before.txt", "uperf", operationsUnit), run("after.txt", "netperf", transactions)}}, nil)
	if len(found) != 1 || found[0].Severity != finding.Warning || !strings.Contains(found[0].Summary, "uperf counts each write") || len(found[0].Evidence) != 2 {
		t.Errorf("%+v", found)
	}
}

func TestSizeOf(t *testing.T) {
	for text, want := range map[string]int64{"64K": 65536, "1M": 1 << 20, "64k": 64000, "4344,1": 4344, "16384": 16384, "": 0, "K": 0, "x": 0, "9999999999999G": 0} {
		if got := sizeOf(text); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}
