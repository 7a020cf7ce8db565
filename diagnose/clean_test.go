package diagnose

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/fixtures/shared"
)

// TestCleanBundles: an idle host, a healthy transfer and a busy host without trouble give nothing above info, and no cause.
func TestCleanBundles(t *testing.T) {
	for _, name := range []string{"clean-idle", "clean-transfer", "clean-busy"} {
		nothing(t, name, diagnosed(t, filepath.Join("..", "fixtures", "bundles", name)))
	}
}

// TestCleanCounters: the same of counters recorded around an idle time and around transfers.
func TestCleanCounters(t *testing.T) {
	for _, name := range []string{"a-idle", "b-tcp1", "h-series"} {
		nothing(t, name, diagnosed(t, shared.Path(t, "data", "counters", name)))
	}
}

func nothing(t *testing.T, name string, r *analyze.Result) {
	t.Helper()
	if len(r.Sources) == 0 {
		t.Errorf("%s: nothing was read", name)
	}
	for _, f := range r.Findings {
		if f.Severity > finding.Info || strings.HasPrefix(f.Rule, "cross/") {
			t.Errorf("%s: %s %s: %s", name, f.Severity, f.Rule, f.Summary)
		}
	}
}

// TestCleanTogether: bundles of other hosts and times in one folder make no cause of each other.
func TestCleanTogether(t *testing.T) {
	first := ""
	for range 2 { // and the same bytes each time
		var text bytes.Buffer
		r := diagnosed(t, filepath.Join("..", "fixtures", "bundles"))
		if err := r.Write(&text); err != nil {
			t.Fatal(err)
		}
		if first != "" && first != text.String() {
			t.Error("two runs differ")
		}
		first = text.String()
		causes := map[string]int{}
		for _, f := range r.Findings {
			if !strings.HasPrefix(f.Rule, "cross/") {
				continue
			}
			causes[f.Rule]++
			for _, e := range f.Evidence {
				if strings.Contains(e.Source, "clean-") {
					t.Errorf("%s cites %s", f.Rule, e.Source)
				}
			}
		}
		for rule, n := range causes {
			if n > 1 {
				t.Errorf("%s is told %d times", rule, n)
			}
		}
		for _, rule := range Rules() {
			if strings.HasPrefix(rule.Name, "cross/") && causes[rule.Name] != 1 {
				t.Errorf("%s is told %d times", rule.Name, causes[rule.Name])
			}
		}
	}
}
