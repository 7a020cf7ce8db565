package datapath

import (
	"context"
	"math"
	"strings"
	"testing"
)

// receiverFigures are the measures of a workload: the busiest CPU's share of time, the rate at which it is full, and the pause
// that its ring bridges.
func receiverFigures(t *testing.T, workload string, settings ...string) [3]Estimate {
	t.Helper()
	s, err := PredictScenario(context.Background(), workload, settings)
	if err != nil {
		t.Fatal(err)
	}
	return [3]Estimate{s.Measures[0].Estimate, s.Measures[1].Estimate, s.Measures[2].Estimate}
}

// The figures by hand: 500,000 packets/s of 1 us are half of a CPU's time; 1024 descriptors last 2,048 us.
func TestReceiverByHand(t *testing.T) {
	got := receiverFigures(t, "receive:500000", "packet=1,ring=1024")
	if want := [3]Estimate{exactly(0.5), exactly(1e6), exactly(2048)}; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	got = receiverFigures(t, "receive:500000", "packet=1,ring=1024,queues=4,busiest=0.4")
	for i, want := range []float64{0.2, 2.5e6, 5120} {
		if math.Abs(got[i].Mean/want-1) > 1e-9 {
			t.Errorf("measured shares: %+v, want %g", got[i], want)
		}
	}
	if full := receiverFigures(t, "receive:5000000", "packet=1"); full[0].Mean != 1 {
		t.Errorf("a CPU is busy for %g of the time", full[0].Mean)
	}
}

// Few flows lie unevenly over queues, many evenly; one is on one queue; no share is below an even one.
func TestReceiverFlows(t *testing.T) {
	at := func(flows string) Estimate {
		return receiverFigures(t, "receive:500000", "packet=1,queues=8,flows="+flows)[1]
	}
	one, few, many := at("1"), at("16"), at("60000")
	if one.Mean != 1e6 || !(one.Mean < few.Mean && few.Mean < many.Mean) || few.Low == few.High || many.High > 8e6 || many.Mean < 7.5e6 {
		t.Errorf("1, 16 and 60000 flows: %+v, %+v, %+v", one, few, many)
	}
}

func TestReceiverRefused(t *testing.T) {
	for settings, problem := range map[string]string{"queues=0": "1 to 1024", "queues=two": "1 to 1024", "busiest=2": "0 to 1", "ring=0": "1 to 65536", "rings=2": `the nearest is "ring"`} {
		if _, err := PredictScenario(context.Background(), "receive:1000", []string{settings}); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", settings, err)
		}
	}
	if _, err := FitMachine(context.Background(), receiving); err == nil || !strings.Contains(err.Error(), "no constant that was fitted") {
		t.Errorf("%v", err)
	}
}
