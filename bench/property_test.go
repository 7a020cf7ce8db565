package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/finding"
)

// outputs are fixtures of a single output without a command line or prose.
var outputs = []string{"tcp_crr.classic", "tcp_maerts.classic", "tcp_rr.burst", "tcp_rr.classic", "tcp_rr.cpu", "tcp_rr.hist-v2", "tcp_rr.interim-D0.25",
	"tcp_sendfile.classic", "tcp_stream.classic", "tcp_stream.confidence-I", "tcp_stream.cpu", "tcp_stream.interim-D-1", "tcp_stream.v2", "udp_rr.classic", "udp_stream.classic", "udp_stream.cpu-m1"}

func outputText(t testing.TB, name string) string { return fixture(t, "netperf-"+name+".txt") }

// joinLines makes one line of a text, as archives do.
func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") + "\n" }

func TestJoinedLines(t *testing.T) {
	texts := map[string]string{}
	for _, name := range outputs {
		texts[name] = outputText(t, name)
	}
	for _, name := range []string{"netperf-rr-4344-4345.txt", "netperf-interim.as-archived.txt", "netperf-sweep-cliff.txt"} {
		texts[name] = fixture(t, name)
	}
	for name, text := range texts {
		want, _ := read(t, name, text)
		for i := range want { // a line of the shell is one no more
			want[i].Settings = slices.DeleteFunc(slices.Clone(want[i].Settings), func(s Setting) bool { return strings.HasPrefix(s.Name, "ethtool -C") })
		}
		got, _ := read(t, name, joinLines(text))
		if diff := cmp.Diff(want, got, withoutPlaces); diff != "" || len(want) == 0 {
			t.Errorf("%s in one line (-as printed +joined):\n%s", name, diff)
		}
	}
}

func TestBrokenLines(t *testing.T) {
	wants := map[string][]Run{}
	words := map[string][]string{}
	for _, name := range outputs {
		wants[name], _ = read(t, name, outputText(t, name))
		words[name] = strings.Fields(outputText(t, name))
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(outputs).Draw(t, "output")
		var text strings.Builder
		for i, w := range words[name] {
			if i > 0 {
				text.WriteString(rapid.SampledFrom([]string{" ", " ", " ", "\n", "   ", "\n\n", " \n"}).Draw(t, "gap"))
			}
			text.WriteString(w)
		}
		text.WriteString("\n")
		got, ledger := read(&testing.T{}, name, text.String())
		if diff := cmp.Diff(wants[name], got, withoutPlaces); diff != "" {
			t.Fatalf("%s (-as printed +broken):\n%s\nledger %v\n%s", name, diff, ledger, text.String())
		}
	})
}

// TestScaledRates holds that the verdicts are about ratios: all rates times a factor scale the measures and change none.
func TestScaledRates(t *testing.T) {
	var runs []Run
	for _, name := range []string{"netperf-rr-4344-4345.txt", "netperf-interim.as-archived.txt", "netperf-sweep-cliff.txt", "netperf-sweep-near-miss.txt", "netperf-interim-steady.txt"} {
		found, _ := read(t, name, fixture(t, name))
		runs = append(runs, found...)
	}
	judge := func(runs []Run) []finding.Finding {
		return append(Cliff().Run(&Results{Runs: runs}, nil), Noisy().Run(&Results{Runs: runs}, nil)...)
	}
	want := judge(runs)
	if len(want) < 5 {
		t.Fatalf("only %d findings to scale", len(want))
	}
	rapid.Check(t, func(t *rapid.T) {
		factor := rapid.Float64Range(0.01, 100).Draw(t, "factor")
		got := judge(scaled(runs, factor))
		if len(got) != len(want) {
			t.Fatalf("%d findings at %g times the rates, want %d", len(got), factor, len(want))
		}
		for i := range got {
			sameVerdict(t, want[i], got[i], factor)
		}
	})
}

func sameVerdict(t *rapid.T, want, got finding.Finding, factor float64) {
	if got.Subject != want.Subject || got.Severity != want.Severity || got.Confidence != want.Confidence {
		t.Fatalf("%s %s %s %s, want %s %s", got.Rule, got.Subject.Key, got.Severity, got.Confidence, want.Severity, want.Confidence)
	}
	for j, m := range got.Measures {
		expected := want.Measures[j].Value
		if m.Unit == transactions || m.Unit == "10^6 bits/s" {
			expected *= factor
		}
		if d := m.Value - expected; d > 1e-9*expected || d < -1e-9*expected {
			t.Fatalf("%s: %s is %g, want %g", got.Rule, m.Name, m.Value, expected)
		}
	}
}

func scaled(runs []Run, factor float64) []Run {
	var out []Run
	for _, r := range runs {
		r.Rate *= factor
		r.Interim = append([]Interim(nil), r.Interim...)
		for i := range r.Interim {
			r.Interim[i].Rate *= factor
		}
		out = append(out, r)
	}
	return out
}
