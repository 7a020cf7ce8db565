package diagnose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/finding"
)

// bundleOf copies the files of a bundle whose names pass keep, and diagnoses the copy.
func bundleOf(t *testing.T, name string, keep func(string) bool) *analyze.Result {
	t.Helper()
	files, err := filepath.Glob("../fixtures/bundles/" + name + "/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bundle %s: %v", name, err)
	}
	dir := t.TempDir()
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if keep(filepath.Base(f)) {
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return diagnosed(t, dir)
}

// TestStories: the bundle of each thread gives its cause first, with what it explains; without one of the recordings that
// tell it together there is no cause.
func TestStories(t *testing.T) {
	for _, test := range []struct {
		bundle, cause string
		explains      []string
		without       []string // parts of names of files without which the story cannot be told
	}{
		{"rr-4345", "cross/adaptive-rx", []string{"bench/cliff"}, []string{"netperf", "ethtool-c"}},
		{"map-lock", "cross/map-lock", []string{"lock/contention", "stack/dma-map-share", "stack/lock-spin"}, []string{"lock_stat", "folded"}},
		{"tx-ring", "cross/tx-ring", []string{"lock/contention", "stack/lock-spin"}, []string{"lockstat", "pmcstat"}},
		{"tag-race", "cross/tag-race", []string{"irq/tag-race"}, []string{"interrupts"}},
		{"zero-copy", "cross/zero-copy-threshold", nil, []string{"netperf"}},
	} {
		t.Run(test.bundle, func(t *testing.T) {
			r := bundleOf(t, test.bundle, func(string) bool { return true })
			if len(r.Findings) == 0 || r.Findings[0].Rule != test.cause {
				t.Fatalf("first is %v", rulesOf(r.Findings))
			}
			cause := r.Findings[0]
			if len(cause.Evidence) == 0 || len(cause.Reasons) == 0 || len(cause.Advice) == 0 {
				t.Errorf("the cause lacks evidence, reasons or advice: %+v", cause)
			}
			for _, rule := range test.explains {
				if !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule && f.CausedBy == cause.ID }) {
					t.Errorf("%s is not explained by the cause", rule)
				}
			}
			for _, f := range r.Findings {
				if f.CausedBy == cause.ID && f.Severity > cause.Severity {
					t.Errorf("%s is worse than its cause", f.Rule)
				}
			}
			for _, gone := range test.without {
				r := bundleOf(t, test.bundle, func(name string) bool { return !strings.Contains(name, gone) })
				if slices.Contains(rulesOf(r.Findings), test.cause) {
					t.Errorf("without %s there is still %s", gone, test.cause)
				}
			}
		})
	}
}

func rulesOf(findings []finding.Finding) (names []string) {
	for _, f := range findings {
		names = append(names, f.Rule)
	}
	return names
}

// TestStoryOfParts tells each story of made-up findings of its parts: with all of them, without one that is needed, and
// from a single kind of source.
func TestStoryOfParts(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.Name, func(t *testing.T) {
			base := resultOfParts(s.parts, "")
			found := causesOf(base, s.Name)
			if len(found) != 1 || found[0].Severity < finding.Info || found[0].Summary == "" || len(found[0].Evidence) == 0 {
				t.Fatalf("all parts give %+v", found)
			}
			for _, p := range s.parts {
				r := resultOfParts(s.parts, p.name)
				if found := causesOf(r, s.Name); p.need && len(found) > 0 {
					t.Errorf("told without %s", p.name)
				} else if !p.need && len(found) == 1 && found[0].Confidence == finding.High {
					t.Errorf("without %s the confidence is still high", p.name)
				}
			}
			for i := range base.Sources {
				base.Sources[i].Kind = analyze.Counters
			}
			if found := causesOf(base, s.Name); len(found) > 0 {
				t.Error("told by one kind of source alone")
			}
		})
	}
}

// resultOfParts makes a result with a finding for each part but one, each of a source of its own kind.
func resultOfParts(parts []part, without string) *analyze.Result {
	r := &analyze.Result{}
	kinds := []analyze.Kind{analyze.Counters, analyze.Capture, analyze.Stacks, analyze.Benchmark}
	for i, p := range parts {
		if p.name == without {
			continue
		}
		path := p.name + ".txt"
		r.Sources = append(r.Sources, analyze.Source{Path: path, Kind: kinds[i%len(kinds)]})
		f := finding.Finding{Rule: p.rules[0], Severity: max(p.least, finding.Notice), Summary: "the window and buffer of slow start with iommu", Subject: finding.Subject{Kind: "x", Key: "x", Name: "x"},
			Evidence: []finding.Evidence{{Text: "proof"}}, Effect: finding.Effect{Share: 0.1}}
		f.Evidence[0].Source = path
		if len(p.locks) > 0 {
			f.Subject.Key = p.locks[0]
		}
		r.Findings = append(r.Findings, f)
	}
	r.Models.Hosts = lroHost()
	r.Findings = finding.Rank(r.Findings)
	return r
}

func causesOf(r *analyze.Result, rule string) (list []finding.Finding) {
	Apply(r, nil)
	for _, f := range r.Findings {
		if f.Rule == rule {
			list = append(list, f)
		}
	}
	return list
}

// lroHost is a host whose interface merges packets.
func lroHost() []*coalesce.Host {
	nic := &coalesce.Interface{Name: "eth0", Dumps: []coalesce.Dump{{Tool: "ethtool-k", Settings: []coalesce.Setting{{Name: "large-receive-offload", Queue: -1, Value: coalesce.Switch(true)}}}}}
	return []*coalesce.Host{{Name: "router", Interfaces: []*coalesce.Interface{nic}}}
}
