package diagnose

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/fixtures/shared"
)

func benchFixtures(t testing.TB, names ...string) *analyze.Result {
	t.Helper()
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join("..", "fixtures", "bench", name))
	}
	return analysed(t, paths...)
}

func analysed(t testing.TB, paths ...string) *analyze.Result {
	t.Helper()
	r, errs := analyze.Run(context.Background(), paths, analyze.Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	Apply(r, nil)
	return r
}

func noEffects(r *analyze.Result) (found []finding.Finding) {
	for _, f := range r.Findings {
		if f.Rule == "bench/no-effect" {
			found = append(found, f)
		}
	}
	return found
}

// TestNoEffectProfiles has a bypass that never ran, one whose names are exchanged, and one that does what it says.
func TestNoEffectProfiles(t *testing.T) {
	for prefix, want := range map[string]string{
		"":       "notice medium bypass: the profiles of both sides are alike",
		"ring-":  "warning high ring_bypass: iflib_if_transmit_bypass runs on the side that is named as the one without it (1,020 samples), and not on the other: the two look exchanged",
		"clean-": "",
	} {
		got := ""
		for _, f := range noEffects(benchFixtures(t, prefix+"bypass-disabled.folded", prefix+"bypass-enabled.folded")) {
			got += f.Severity.String() + " " + f.Confidence.String() + " " + f.Summary
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
}

// TestNoEffectOrder holds that the order of reading does not matter.
func TestNoEffectOrder(t *testing.T) {
	a := noEffects(benchFixtures(t, "ring-bypass-disabled.folded", "ring-bypass-enabled.folded"))
	b := noEffects(benchFixtures(t, "ring-bypass-enabled.folded", "ring-bypass-disabled.folded"))
	if len(a) != 1 || len(b) != 1 || a[0].Summary != b[0].Summary {
		t.Errorf("%v and %v", a, b)
	}
}

// TestNoEffectThread has the ring review: the first two comparisons under exchanged labels, the third under right ones; and
// a bypass that loses until a call is removed from the other path.
func TestNoEffectThread(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(shared.Path(t, "data/threads"), "004_*.txt"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	var got []string
	for _, f := range noEffects(analysed(t, paths...)) {
		got = append(got, f.Confidence.String()+" "+f.Summary[:strings.Index(f.Summary, ";")])
	}
	want := []string{
		"medium bypass_mpring with tx_abdicate=1: 1 against 0 is proven to raise and to lower the result: -13.7 %, -10.1 %, +7.38 %",
		"low bypass_mpring: 1 against 0 is proven to raise and to lower the result: -1.98 %, -12.9 %, +3.03 %",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOppositesIn(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		setting string
		swapped bool
		ok      bool
	}{
		{"x/bypass_mpring_disabled.inet4.folded", "y/bypass_mpring_enabled.inet4.folded", "bypass_mpring", false, true},
		{"tx_abdicate=1.perf.txt", "tx_abdicate=0.perf.txt", "tx_abdicate", true, true},
		{"before.perf.txt", "after.perf.txt", "", false, true},
		{"a.perf.txt", "b.perf.txt", "", false, false},
		{"on.perf.txt", "on.perf.txt", "", false, false},
		{"gro-on.perf", "tso-off.perf", "", false, false},
		{"off.perf", "off.on.perf", "", false, false},
	} {
		got, ok := oppositesIn(c.a, c.b)
		if ok != c.ok || got.setting != c.setting || got.swapped != c.swapped {
			t.Errorf("%s and %s: %+v %v", c.a, c.b, got, ok)
		}
	}
}
