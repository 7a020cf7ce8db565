package finding

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/source"
)

func TestRank(t *testing.T) {
	subject := func(key string) Subject { return Subject{Kind: "server", Key: key, Name: key} }
	in := []Finding{
		{Rule: "b/explained", Severity: Critical, Effect: Effect{Share: 0.9}, Subject: subject("x"), CausedBy: "1"},
		{Rule: "a/info", Severity: Info, Subject: subject("x")},
		{Rule: "a/small", Severity: Critical, Effect: Effect{Share: 0.1}, Subject: subject("x")},
		{Rule: "a/same", Severity: Critical, Effect: Effect{Share: 0.5}, Subject: subject("y")},
		{Rule: "a/same", Severity: Critical, Effect: Effect{Share: 0.5}, Subject: subject("x"), Confidence: High},
		{Rule: "a/same", Severity: Critical, Effect: Effect{Share: 0.5}, Subject: subject("x"), Confidence: High},
	}
	got := Rank(append([]Finding(nil), in...))
	var order []string
	ids := map[string]bool{}
	for _, f := range got {
		order = append(order, f.Rule+" "+f.Subject.Key)
		ids[f.ID] = true
	}
	want := []string{"a/same x", "a/same x", "a/same y", "a/small x", "b/explained x", "a/info x"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	if len(ids) != len(in) {
		t.Errorf("%d different identifiers for %d findings", len(ids), len(in))
	}
	if again := Rank(in); cmp.Diff(got, again) != "" {
		t.Error("another order of the same findings ranks otherwise: " + cmp.Diff(got, again))
	}
}

func TestFindingRoundTrip(t *testing.T) {
	f := Rank([]Finding{{
		Rule: "tcp/stretch-ack", Severity: Notice, Confidence: Medium, Subject: Subject{"server", "tcp/x:1", "x"}, Source: "a.pcap", Start: 5, End: 9,
		Summary: "s", Measures: []Measure{{Name: "n", Value: 1.5, Unit: "ns", Threshold: Threshold(2)}},
		Evidence: []Evidence{At(source.Pos{Source: "a.pcap", Offset: 3, Record: 2}, "%d bytes", 7)},
		Advice:   []Advice{{Text: "t", Predicted: &Prediction{Value: 1, Unit: "x"}}},
	}})[0]
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back Finding
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, back); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{"severity":"awful"}`, `{"confidence":"some"}`} {
		if json.Unmarshal([]byte(bad), &back) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestRuleParameters(t *testing.T) {
	r := On[int]{Rule: Rule{Name: "a/b", Params: []Param{{Name: "limit", Default: 8}}}, Judge: func(n int, p Params) []Finding {
		if float64(n) < p["limit"] {
			return nil
		}
		return []Finding{{Summary: "over"}}
	}}
	if got := r.Run(8, nil); len(got) != 1 || got[0].Rule != "a/b" {
		t.Errorf("at the default limit: %+v", got)
	}
	if got := r.Run(8, map[string]float64{"a/b.limit": 9}); got != nil {
		t.Errorf("below the limit that was set: %+v", got)
	}
}
