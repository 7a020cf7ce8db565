package diagnose

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/fixtures/shared"
)

const bundle = "../fixtures/bundles/rr-4345"

// incident copies the files of the bundle whose names pass keep, edits them, and analyses the copy.
func incident(t *testing.T, keep func(name string) bool, edit func(name, text string) string) *analyze.Result {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(bundle + "/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bundle: %v", err)
	}
	for _, f := range files {
		name := filepath.Base(f)
		if keep != nil && !keep(name) {
			continue
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if edit != nil && !strings.HasSuffix(name, ".pcap") {
			data = []byte(edit(name, string(data)))
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return diagnosed(t, dir)
}

func diagnosed(t *testing.T, path string) *analyze.Result {
	t.Helper()
	r, errs := analyze.Run(context.Background(), []string{path}, analyze.Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	Apply(r, nil)
	return r
}

func causes(r *analyze.Result) (list []finding.Finding) {
	for _, f := range r.Findings {
		if f.Rule == "cross/adaptive-rx" {
			list = append(list, f)
		}
	}
	return list
}

func TestAdaptiveRXOnTheBundle(t *testing.T) {
	r := incident(t, nil, nil)
	found := causes(r)
	if len(found) != 1 || r.Findings[0].Rule != "cross/adaptive-rx" {
		t.Fatalf("%d causes, first finding %s", len(found), r.Findings[0].Rule)
	}
	f := found[0]
	if f.Severity != finding.Critical || f.Confidence != finding.High {
		t.Errorf("%s, confidence %s", f.Severity, f.Confidence)
	}
	for name, want := range map[string]float64{"rate_before": 10030.37, "rate_after": 3406.62, "size_after": 4345, "mss": 1448, "packets_in_per_transaction": 4, "rx_usecs_high": 128e3} {
		if got, _ := f.Measure(name); got != want {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	for _, source := range []string{"netperf-rr", "netperf-interim", "ethtool-c", "gso3", "before.ethtool-S", "after.ethtool-S"} {
		if !slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool { return strings.Contains(e.Source, source) }) {
			t.Errorf("no evidence from %s", source)
		}
	}
	explained := map[string]int{}
	for _, s := range r.Findings {
		if s.CausedBy == f.ID {
			explained[s.Rule]++
		} else if s.Severity >= finding.Warning && s.Rule != f.Rule {
			t.Errorf("%s is not explained: %s", s.Rule, s.Summary)
		}
	}
	for _, rule := range []string{"bench/cliff", "bench/noisy", "nic/adaptive-unbalanced", "nic/adaptive-flapping", "tcp/tso-split"} {
		if explained[rule] == 0 {
			t.Errorf("%s is not explained", rule)
		}
	}
}

func TestAdaptiveRXNeedsItsPieces(t *testing.T) {
	replace := func(old, new string) func(string, string) string {
		return func(name, text string) string {
			if !strings.Contains(name, "ethtool-c") && !strings.Contains(name, "netperf-rr") {
				return text
			}
			return strings.ReplaceAll(text, old, new)
		}
	}
	without := func(words ...string) func(string) bool {
		return func(name string) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
		}
	}
	for _, c := range []struct {
		name       string
		keep       func(string) bool
		edit       func(string, string) string
		fires      bool
		confidence finding.Level
	}{
		{name: "no captures", keep: without(".pcap"), fires: true, confidence: finding.Medium},
		{name: "no counters", keep: without("ethtool-S", "interrupts"), fires: true, confidence: finding.Medium},
		{name: "settings and benchmark alone", keep: without(".pcap", "ethtool-S", "interrupts", "perf.txt", "lockstat"), fires: true, confidence: finding.Medium},
		{name: "adaptive-rx off", edit: replace("Adaptive RX: on", "Adaptive RX: off")},
		{name: "no high setting", edit: replace("rx-usecs-high: 128", "rx-usecs-high: 0")},
		{name: "a high setting too short for the loss", edit: replace("rx-usecs-high: 128", "rx-usecs-high: 16")},
		{name: "no settings", keep: without("ethtool-c")},
		{name: "no benchmark", keep: without("netperf")},
		{name: "sizes that are no multiple of the MSS", keep: without("interim"), edit: replace(" 434", " 400")},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := causes(incident(t, c.keep, c.edit))
			if c.fires != (len(found) == 1) {
				t.Fatalf("%d causes", len(found))
			}
			if c.fires && found[0].Confidence != c.confidence {
				t.Errorf("confidence %s, want %s: %q", found[0].Confidence, c.confidence, found[0].Reasons)
			}
		})
	}
}

// The thread itself, as a mail archive has it, tells its own cause.
func TestAdaptiveRXInTheThread(t *testing.T) {
	threads, err := filepath.Glob(filepath.Join(shared.Path(t, "data", "threads"), "001*"))
	if err != nil || len(threads) != 1 {
		t.Fatalf("%q, %v", threads, err)
	}
	r := diagnosed(t, threads[0])
	if r.Findings[0].Rule != "cross/adaptive-rx" {
		t.Errorf("first is %s: %s", r.Findings[0].Rule, r.Findings[0].Summary)
	}
}

func TestApplyTwiceIsApplyOnce(t *testing.T) {
	r := incident(t, nil, nil)
	before := len(r.Findings)
	id := r.Findings[0].ID
	Apply(r, nil)
	if len(r.Findings) != before || r.Findings[0].ID != id {
		t.Errorf("%d findings and %s first, then %d and %s", before, id, len(r.Findings), r.Findings[0].ID)
	}
}

// The thread measured 10,460 transactions/s with adaptive-rx off: the prediction has to hold it.
func TestPredictionHoldsWhatWasMeasured(t *testing.T) {
	r := incident(t, nil, nil)
	Predict(context.Background(), r)
	p := causes(r)[0].Advice[0].Predicted
	if p == nil || p.Low > 10460 || p.High < 10460 || p.Value < 9400 || p.Value > 11500 || len(p.Assumptions) == 0 {
		t.Errorf("predicted %+v", p)
	}
}

// The thread of the mapping lock went from 3.02 to 9.23 Gb/s, that of the tag race to four packets for an interrupt. What is
// predicted says how to see it.
func TestPredictionsOfScenarios(t *testing.T) {
	for bundle, want := range map[string][2]float64{"map-lock": {9.23 / 3.02, 0.1}, "tag-race": {80000 / 4.0, 0.4}} {
		r := changed(t, bundle)
		Predict(context.Background(), r)
		p := r.Findings[0].Advice[0].Predicted
		if p == nil || p.Value < want[0]*(1-want[1]) || p.Value > want[0]*(1+want[1]) || !strings.HasPrefix(p.Assumptions[0], "to see it: nettrace replay --workload ") {
			t.Errorf("%s: predicted %+v, published %.3g", bundle, p, want[0])
		}
	}
}
