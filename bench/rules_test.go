package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"nettrace/finding"
)

// roundTrip holds that results and what the rules say of them survive JSON.
func roundTrip(t testing.TB, results *Results) []finding.Finding {
	t.Helper()
	text, err := json.Marshal(results)
	if err != nil {
		t.Fatal(err)
	}
	var again Results
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(results, &again, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("results change on their way through JSON:\n%s", diff)
	}
	findings := finding.Rank(slices.Concat(Cliff().Run(results, nil), Noisy().Run(results, nil), Difference().Run(results, nil), NotComparable().Run(results, nil), CPUCost().Run(results, nil), Scaling().Run(results, nil)))
	if _, err := json.Marshal(findings); err != nil {
		t.Fatalf("findings: %v", err)
	}
	for _, f := range findings {
		if f.Effect.Share < 0 || f.Effect.Share > 1 || len(f.Evidence) == 0 || len(f.Advice) == 0 {
			t.Fatalf("%s: share %g, %d pieces of evidence, %d of advice", f.Rule, f.Effect.Share, len(f.Evidence), len(f.Advice))
		}
	}
	return findings
}

func judge(t testing.TB, on finding.On[*Results], name string) []finding.Finding {
	t.Helper()
	runs, _ := read(t, name, fixture(t, name))
	results := &Results{Runs: runs}
	roundTrip(t, results)
	return on.Run(results, nil)
}

// TestCliff has for each fixture what is found: severity, rates and sizes.
func TestCliff(t *testing.T) {
	for name, want := range map[string][]string{
		"netperf-rr-4344-4345.txt": {
			"critical 10030.37 3406.62 4344 4345", // adaptive, rx-usecs-high 128
			"warning 11143.07 5790.48 4344 4345",  // adaptive, rx-usecs-high 64
		}, // adaptive off, and with rx-usecs-high 0, are near misses: 6.3 % and 4.0 %
		"netperf-interim.as-archived.txt": {"critical 9907.27 3560.55 4344 4345"},
		"netperf-sweep-cliff.txt":         {"critical 10030.37 3406.62 4344 4345"},
		"netperf-sweep-near-miss.txt":     nil,
		"netperf-tcp_rr.classic.txt":      nil,
		"netperf-tcp_stream.classic.txt":  nil,
		"netperf-tcp_stream.noheader.txt": nil,
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range judge(t, Cliff(), name) {
				got = append(got, strings.TrimSpace(fmt.Sprintln(f.Severity, measure(t, f, "rate_before"), measure(t, f, "rate_after"), measure(t, f, "size_before"), measure(t, f, "size_after"))))
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func measure(t testing.TB, f finding.Finding, name string) float64 {
	t.Helper()
	v, ok := f.Measure(name)
	if !ok {
		t.Fatalf("%s has no measure %s", f.Rule, name)
	}
	return v
}

func TestCliffSays(t *testing.T) {
	f := judge(t, Cliff(), "netperf-interim.as-archived.txt")[0]
	const summary = "TCP_RR to mumble.3.21 falls from 9,907 to 3,561 transactions/s (-64 %) from a request of 4,344 to 4,345 bytes: 4,345 = 3 x 1,448 + 1 (MTU 1500, TCP timestamps)"
	if f.Summary != summary {
		t.Errorf("summary %q, want %q", f.Summary, summary)
	}
	if f.Confidence != finding.High || len(f.Evidence) != 2 || f.Evidence[0].Line != 35 || f.Evidence[1].Line != 39 {
		t.Errorf("confidence %v, evidence %v", f.Confidence, f.Evidence)
	}
	caveats := strings.Join(f.Caveats, "\n")
	for _, part := range []string{"series of 4,344 bytes is bimodal: about 14,500", "series of 4,345 bytes is steady at 3,363", "after a transient of one value at 8,713", "repeat it"} {
		if !strings.Contains(caveats, part) {
			t.Errorf("no %q in the caveats:\n%s", part, caveats)
		}
	}
}

func TestCliffOfASweep(t *testing.T) {
	f := judge(t, Cliff(), "netperf-sweep-cliff.txt")[0]
	if !strings.Contains(strings.Join(f.Reasons, "\n"), "the 2 larger sizes stay below it") {
		t.Errorf("reasons %q do not say that larger sizes stay slow", f.Reasons)
	}
}

// TestCliffJudgesAPairOnce holds that a quoted output is not a second finding.
func TestCliffJudgesAPairOnce(t *testing.T) {
	text := fixture(t, "netperf-interim.as-archived.txt")
	runs, _ := read(t, "twice", text+"\nQuoted 40 lines\n"+text)
	if len(runs) != 4 {
		t.Fatalf("%d results, want 4", len(runs))
	}
	if got := Cliff().Run(&Results{Runs: runs}, nil); len(got) != 1 {
		t.Errorf("%d findings, want 1", len(got))
	}
}

func TestMultiple(t *testing.T) {
	for _, c := range []struct {
		test          string
		before, after int64
		want          string
	}{
		{"TCP_RR", 4344, 4345, "4,345 = 3 x 1,448 + 1 (MTU 1500, TCP timestamps)"},
		{"TCP_RR", 1460, 1461, "1,461 = 1 x 1,460 + 1 (MTU 1500, no timestamps)"},
		{"TCP_RR", 4000, 4345, "4,345 = 3 x 1,448 + 1 (MTU 1500, TCP timestamps)"},
		{"TCP_RR", 2856, 2900, "2,900 = 2 x 1,428 + 44 (MTU 1500, IPv6, TCP timestamps)"},
		{"UDP_RR", 1472, 1473, "1,473 = 1 x 1,472 + 1 (MTU 1500)"},
		{"TCP_RR", 4000, 4100, ""},
	} {
		st := step{after: []*Run{{Test: c.test}}, sizes: [2]int64{c.before, c.after}}
		got := ""
		if m, ok := st.multiple(); ok {
			got = m.text(st.sizes)
		}
		if got != c.want {
			t.Errorf("%s %d to %d: %q, want %q", c.test, c.before, c.after, got, c.want)
		}
	}
	st := step{after: []*Run{{Test: "TCP_RR", Details: []Detail{{"mss_bytes", 1000}}}}, sizes: [2]int64{2896, 3001}}
	if m, ok := st.multiple(); !ok || m.mss != 1000 || m.full != 3 {
		t.Errorf("with a printed MSS of 1000: %+v, %v", m, ok)
	}
}

// TestNoisy has for each fixture what is found.
func TestNoisy(t *testing.T) {
	for name, want := range map[string][]string{
		"netperf-interim.as-archived.txt": {
			"warning TCP_RR of 4,344-byte requests to mumble.3.21 is bimodal: about 14,500 transactions/s in 45 % of the time and about 8,270 in 55 %, changing 17 times; the printed 9,907 is their mean",
			"info TCP_RR of 4,345-byte requests to mumble.3.21 is steady at 3,363 transactions/s after a transient of one value at 8,713: the mean of all, 3,564, is 6.0 % off the steady rate",
		},
		"netperf-interim-steady.txt":         nil, // clean
		"netperf-tcp_stream.interim-D-1.txt": nil, // near miss: wide, but six values without a gap
		"netperf-rr-4344-4345.txt":           nil, // no series at all
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range judge(t, Noisy(), name) {
				got = append(got, f.Severity.String()+" "+f.Summary)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRecognise draws series of known kinds.
func TestRecognise(t *testing.T) {
	limits := limitsOf(noisyRule().Resolve(nil))
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, rate func(i int) float64) []weighted {
		var s []weighted
		for i := range n {
			s = append(s, weighted{rate(i), 0.25})
		}
		return s
	}
	noise := func() float64 { return 1 + 0.03*random.NormFloat64() }
	for _, c := range []struct {
		name   string
		series []weighted
		want   kind
	}{
		{"constant", draw(30, func(int) float64 { return 100 }), steady},
		{"normal", draw(30, func(int) float64 { return 100 * noise() }), steady},
		{"wide normal", draw(40, func(int) float64 { return 100 * (1 + 0.2*random.NormFloat64()) }), steady},
		{"slow start", draw(30, func(i int) float64 { return 100*noise() - 60*math.Exp(-float64(i)) }), transient},
		{"two modes in turn", draw(30, func(i int) float64 { return (100 + 50*float64(i%2)) * noise() }), bimodal},
		{"two modes, few values", draw(8, func(i int) float64 { return (100 + 100*float64(i%2)) * noise() }), bimodal},
		{"two modes too close", draw(30, func(i int) float64 { return (100 + 15*float64(i%2)) * noise() }), steady},
		{"a lone outlier", draw(30, func(i int) float64 { return 100*noise() + 100*float64(i/20%2*(i%20/9)*((i+1)/30)) }), steady},
		{"one shift", draw(30, func(i int) float64 { return (100 + 80*float64(i/15)) * noise() }), shifted},
		{"drift", draw(30, func(i int) float64 { return 100 + 3*float64(i) }), steady},
		{"flapping", draw(30, func(i int) float64 { return []float64{100, 160, 90, 150, 210, 120, 75, 180}[i%8] * noise() }), flapping},
		{"too short", draw(5, func(i int) float64 { return 100 + 100*float64(i%2) }), steady},
	} {
		if got := recognise(c.series, true, limits); got.kind != c.want {
			t.Errorf("%s: kind %d, want %d (%+v)", c.name, got.kind, c.want, got)
		}
	}
}

// TestNullSeries holds how often one normal mode with a spread of 30 % is called two: hardly ever.
func TestNullSeries(t *testing.T) {
	limits := limitsOf(noisyRule().Resolve(nil))
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{6, 10, 20, 30, 60} {
		called := 0
		for range 1000 {
			var s []weighted
			for range n {
				s = append(s, weighted{math.Max(1, 100+30*random.NormFloat64()), 1})
			}
			if k := recognise(s, true, limits).kind; k == bimodal || k == shifted {
				called++
			}
		}
		if called > 50 {
			t.Errorf("%d of 1,000 normal series of %d values are called bimodal", called, n)
		}
	}
}

func TestRepeatedRuns(t *testing.T) {
	log := "TCP REQUEST/RESPONSE TEST to hostb\n"
	for _, rate := range []string{"14500.10", "8000.20", "14400.30", "8100.40", "14300.50", "8200.60"} {
		log += "16384 87380 1 1 10.00 " + rate + "\n16384 87380\n"
	}
	runs, _ := read(t, "repeated", log)
	found := Noisy().Run(&Results{Runs: runs}, nil)
	if len(found) != 1 || !strings.Contains(found[0].Summary, "the mean of the 6 runs, 11,250, is none of them") {
		t.Errorf("findings %v", found)
	}
}
