package datapath

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nettrace/unit"
)

func TestEstimate(t *testing.T) {
	// R: t.test(c(1, 2, 3, 4, 10)) gives 4 and 4 -+ 4.3900
	e := estimate([]float64{1, 2, 10, 3, 4})
	if math.Abs(e.Mean-4) > 1e-12 || e.Low != 1 || e.High != 10 || math.Abs(e.Margin-4.3900) > 1e-3 {
		t.Errorf("estimate is %+v", e)
	}
	if e := estimate([]float64{7}); e != (Estimate{7, 7, 7, 0}) {
		t.Errorf("of one value it is %+v", e)
	}
	if e := estimate(nil); e != (Estimate{}) {
		t.Errorf("of none it is %+v", e)
	}
}

// Property: a quantile of the table is within 0.8 % of the exact one.
func TestLatencyQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1e12), 1, 200).Draw(t, "values")
		var l latencies
		for _, v := range values {
			l.add(unit.Nanos(v))
		}
		slices.Sort(values)
		for _, q := range []float64{0, 0.5, 0.9, 0.99, 1} {
			exact := float64(values[min(int(q*float64(len(values))), len(values)-1)])
			if got := float64(l.quantile(q)); math.Abs(got-exact) > 0.008*exact {
				t.Fatalf("quantile %g is %g, exactly %g", q, got, exact)
			}
		}
	})
}

// Results come in the order of seeds, whatever finishes first, and are those of single runs.
func TestSeedsOrder(t *testing.T) {
	c, w := scenario(t, "", "rr:4344,1")
	w.Duration = unit.Second / 2
	r, err := Seeds(context.Background(), c, w, 9)
	if err != nil {
		t.Fatal(err)
	}
	for i, run := range r.Runs {
		alone, err := Run(c, w, uint64(i+1))
		if err != nil || run.Seed != uint64(i+1) || run.Hash != alone.Hash {
			t.Errorf("run %d has seed %d and hash %x, alone %x (%v)", i, run.Seed, run.Hash, alone.Hash, err)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Seeds(ended, c, w, 9); err == nil {
		t.Error("a context that has ended does not end the runs")
	}
	if _, err := Seeds(context.Background(), c, w, 0); err == nil {
		t.Error("no seeds are taken")
	}
	c.Server.HZ = -1
	if _, err := Seeds(context.Background(), c, w, 1); err == nil {
		t.Error("a wrong setting is taken")
	}
}

// netperf looks at its clock only after as many transactions as should fill the interval: a report is late when the rate
// falls, and never early.
func TestInterimReports(t *testing.T) {
	r := interims{wanted: interimUnits}
	now := unit.Nanos(0)
	feed := func(n int, each unit.Nanos) {
		for range n {
			now += each
			r.transaction(now)
		}
	}
	feed(25000, 100*unit.Microsecond) // 2.5 s at 10,000/s
	if len(r.reports) < 8 || math.Abs(r.reports[len(r.reports)-1].Rate-10000) > 1 {
		t.Fatalf("reports at a steady rate: %+v", r.reports)
	}
	for _, i := range r.reports[1:] {
		if i.Length < interimInterval || i.Length > interimInterval+2*unit.Millisecond {
			t.Errorf("a report at a steady rate is %v long", i.Length)
		}
	}
	before := len(r.reports)
	feed(3000, 300*unit.Microsecond) // the rate falls to a third: the 2,500 that are wanted take up to 750 ms
	if late := r.reports[before]; late.Length < 600*unit.Millisecond || late.Length > 751*unit.Millisecond {
		t.Errorf("the report at which the rate falls is %v long", late.Length)
	}
}
