package analyze

import (
	"context"
	"testing"
)

// TestUperfInterfaces: what uperf counted of the interfaces stands among the counters, each figure once.
func TestUperfInterfaces(t *testing.T) {
	r, errs := Inspect(context.Background(), []string{"../fixtures/bench/uperf-tcp.all-a.txt"}, Options{})
	if len(errs) > 0 || len(r.Models.Hosts) != 1 || len(r.Models.Runs) == 0 {
		t.Fatalf("%d hosts, %d runs, %v", len(r.Models.Hosts), len(r.Models.Runs), errs)
	}
	got := map[string]float64{}
	for _, f := range r.Models.Hosts[0].Reported {
		if f.Tool != "uperf" || f.Subject != "lcv0" || f.Reports != 1 || f.Pos.Line == 0 {
			t.Errorf("%+v", f)
		}
		got[f.Name] = f.Mean
	}
	want := map[string]float64{"opkts/s": 11498, "ipkts/s": 1946, "obits/s": 5.77e9, "ibits/s": 1.03e6}
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s is %g, expected %g", name, got[name], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("figures %v", got)
	}
	if r, _ := Inspect(context.Background(), []string{"../fixtures/bench/uperf-rr.default.txt"}, Options{}); len(r.Models.Hosts) > 1 {
		t.Errorf("%d hosts of one output", len(r.Models.Hosts))
	}
}
