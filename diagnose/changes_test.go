package diagnose

import (
	"encoding/json"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/fixtures/shared"
)

func resultOf(findings ...finding.Finding) *analyze.Result {
	return &analyze.Result{Findings: finding.Rank(findings)}
}

func findingAbout(rule, key string, severity finding.Severity, cost float64) finding.Finding {
	return finding.Finding{Rule: rule, Severity: severity, Effect: finding.Effect{Share: cost}, Subject: finding.Subject{Kind: "k", Key: key},
		Measures: []finding.Measure{{Name: "cost", Value: cost, Unit: "ratio"}}}
}

func TestFindingChanges(t *testing.T) {
	base := resultOf(findingAbout("a/x", "1", finding.Warning, 0.5), findingAbout("a/x", "2", finding.Notice, 0.1), findingAbout("a/y", "1", finding.Info, 0), findingAbout("a/y", "1", finding.Info, 0))
	other := resultOf(findingAbout("a/x", "1", finding.Notice, 0.2), findingAbout("a/x", "3", finding.Notice, 0.1), findingAbout("a/y", "1", finding.Info, 0.05))
	c := Compare(base, other)
	var got []string
	for _, f := range c.New {
		got = append(got, "new "+f.Rule+" "+f.Subject.Key)
	}
	for _, f := range c.Gone {
		got = append(got, "gone "+f.Rule+" "+f.Subject.Key)
	}
	for _, f := range c.Changed {
		got = append(got, "changed "+f.After.Rule+" "+f.After.Subject.Key+" "+f.Before.Severity.String()+" "+f.After.Severity.String()+" "+f.Measures[0].Name)
	}
	want := []string{"new a/x 3", "gone a/x 2", "gone a/y 1", "changed a/x 1 warning notice cost"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || c.Same != 1 {
		t.Errorf("%q, want %q; %d the same", got, want, c.Same)
	}
	if self := Compare(base, base); len(self.New)+len(self.Gone)+len(self.Changed) != 0 || self.Same != 4 {
		t.Errorf("a result against itself: %+v", self)
	}
}

// TestBundleChanges compares own recordings: one flow against sixteen overruns the receive ring, and two states of locks.
func TestBundleChanges(t *testing.T) {
	c := Compare(analysed(t, shared.Path(t, "data/counters/e-napi-1flow")), analysed(t, shared.Path(t, "data/counters/f-napi-16flow")))
	if len(c.New) == 0 || c.New[0].Rule != "nic/ring-overrun" || c.Counters == nil || len(c.Counters.Rates) == 0 {
		t.Errorf("new %v", c.New)
	}
	c = Compare(analysed(t, shared.Path(t, "data/locks/a.contention.txt")), analysed(t, shared.Path(t, "data/locks/b.contention.txt")))
	if len(c.Locks) != 1 || c.Locks[0].Locks[0].Name == "" || len(c.Gone) == 0 {
		t.Errorf("locks %+v", c.Locks)
	}
	c = Compare(benchFixtures(t, "clean-bypass-disabled.folded"), benchFixtures(t, "clean-bypass-enabled.folded"))
	if len(c.Profiles) != 1 || len(c.Profiles[0].Functions) == 0 || len(c.NoEffect) != 0 {
		t.Errorf("profiles %+v, %v", c.Profiles, c.NoEffect)
	}
	c = Compare(benchFixtures(t, "bypass-disabled.folded"), benchFixtures(t, "bypass-enabled.folded"))
	if len(c.NoEffect) != 1 || !strings.Contains(c.NoEffect[0], "are alike") {
		t.Errorf("%q", c.NoEffect)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}
