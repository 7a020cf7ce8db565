package diagnose

import (
	"context"
	"fmt"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/datapath"
	"nettrace/finding"
	"nettrace/unit"
)

// Bounds of a prediction's cost: how many findings are predicted, over how many runs of what length.
const (
	maxPredictions = 5
	predictSeeds   = 5
	predictLength  = datapath.DefaultDuration // the automatic rule's first samples are a transient
)

// modelError is by how much the model misses published rates that it was not calibrated on (docs/datapath.md has the
// largest, below 3 %); predictions of other machines are given twice the bar that is asked of it.
const modelError = 0.16

// Predict tries what the causes advise in the reference datapath and adds what to expect. A result that was written by an
// earlier run has its predictions already.
func Predict(ctx context.Context, r *analyze.Result) {
	if r.Reloaded {
		return
	}
	predicted := 0
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Rule != "cross/adaptive-rx" || f.Severity < finding.Warning || len(f.Advice) == 0 || predicted == maxPredictions {
			continue
		}
		predicted++
		if p := predictFixed(ctx, r, f); p != nil {
			f.Advice[0].Predicted = p
		}
	}
}

// predictFixed runs the larger size with the interface's settings and with the fixed value that is advised, and scales the
// measured rate by the gain.
func predictFixed(ctx context.Context, r *analyze.Result, f *finding.Finding) *finding.Prediction {
	for _, a := range adaptives(r) {
		if a.key() != f.Subject.Key {
			continue
		}
		moderation, _ := a.nic.Moderation()
		rate, _ := f.Measure("rate_after")
		size, _ := f.Measure("size_after")
		w := datapath.Workload{Request: int(size), Response: response(a.host, int64(size)), Depth: 1, Duration: predictLength}
		fixed := moderation
		fixed.AdaptiveRX, fixed.RXUsecs = false, a.fixedUsecs()
		before, err := replay(ctx, moderation, w)
		if err != nil {
			return nil // settings or sizes that the model does not have: no prediction
		}
		after, err := replay(ctx, fixed, w)
		if err != nil {
			return nil
		}
		gain := after.Gain(before)
		return &finding.Prediction{
			Value: rate * gain.Mean, Low: rate * gain.Low * (1 - modelError), High: rate * gain.High * (1 + modelError), Unit: "transactions/s",
			Assumptions: append(after.Assumptions, fmt.Sprintf("the measured rate times the model's gain of %.2f; the interval allows for %s of error", gain.Mean, unit.Percent(modelError))),
		}
	}
	return nil
}

func replay(ctx context.Context, m coalesce.Moderation, w datapath.Workload) (*datapath.Replay, error) {
	c := datapath.Config{Client: datapath.NIC{Moderation: m}, Server: datapath.NIC{Moderation: m}}
	return datapath.Seeds(ctx, c, w, predictSeeds)
}

// response returns the bytes of a response: those of the observed exchange of that size, else one.
func response(h *coalesce.Host, request int64) int {
	if e := h.Exchange; e != nil && e.RequestBytes == request && e.ResponseBytes > 0 {
		return int(e.ResponseBytes)
	}
	return 1
}
