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

// Bounds of the predictions' cost, which together keep it to a second of one CPU: how many findings are predicted, and runs
// of 10 s over all of them (some 60 ms each, two for a seed).
const (
	maxPredictions = 5
	maxRuns        = 16
	maxSeeds       = 5
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
	var chosen []*finding.Finding
	simulated := 0
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Severity < finding.Notice || len(f.Advice) == 0 || len(chosen) == maxPredictions || !predictable(f.Rule) {
			continue
		}
		if f.Rule == adaptiveRule {
			simulated++
		}
		chosen = append(chosen, f)
	}
	seeds := min(maxSeeds, maxRuns/2/max(simulated, 1))
	for _, f := range chosen {
		if p := predict(ctx, r, f, seeds); p != nil {
			f.Advice[0].Predicted = p
		}
	}
}

func predict(ctx context.Context, r *analyze.Result, f *finding.Finding, seeds int) *finding.Prediction {
	switch {
	case f.Rule == adaptiveRule:
		return predictFixed(ctx, r, f, seeds)
	case recordedChange(f.Rule) != "":
		return predictRecorded(ctx, r, f)
	}
	return predictScenario(ctx, f)
}

const adaptiveRule = "cross/adaptive-rx"

// predictable reports whether what a rule advises first is something that the reference datapath can try.
func predictable(rule string) bool {
	_, scenario := scenarioOf(rule)
	return scenario || rule == adaptiveRule || recordedChange(rule) != ""
}

// predictFixed runs the larger size with the interface's settings and with the fixed value that is advised, and scales the
// measured rate by the gain.
func predictFixed(ctx context.Context, r *analyze.Result, f *finding.Finding, seeds int) *finding.Prediction {
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
		before, err := replay(ctx, moderation, w, seeds)
		if err != nil {
			return nil // settings or sizes that the model does not have: no prediction
		}
		after, err := replay(ctx, fixed, w, seeds)
		if err != nil {
			return nil
		}
		gain := after.Gain(before)
		return &finding.Prediction{
			Value: rate * gain.Mean, Low: rate * gain.Low * (1 - modelError), High: rate * gain.High * (1 + modelError), Unit: "transactions/s",
			Assumptions: append([]string{fmt.Sprintf("to see it: nettrace replay --workload rr:%d,%d --set %s --against adaptive-rx=off,rx-usecs=%d --seeds %d", w.Request, w.Response, settingsOf(moderation), fixed.RXUsecs, seeds)},
				append(after.Assumptions, fmt.Sprintf("the measured rate times the model's gain of %.2f; the interval allows for %s of error", gain.Mean, unit.Percent(modelError)))...),
		}
	}
	return nil
}

// settingsOf are the moderation's settings as nettrace replay takes them.
func settingsOf(m coalesce.Moderation) string {
	return fmt.Sprintf("adaptive-rx=on,rx-usecs=%d,rx-frames=%d,rx-usecs-low=%d,rx-usecs-high=%d,pkt-rate-low=%d,pkt-rate-high=%d", m.RXUsecs, m.RXFrames, m.RXUsecsLow, m.RXUsecsHigh, m.PktRateLow, m.PktRateHigh)
}

func replay(ctx context.Context, m coalesce.Moderation, w datapath.Workload, seeds int) (*datapath.Replay, error) {
	c := datapath.Config{Client: datapath.NIC{Moderation: m}, Server: datapath.NIC{Moderation: m}}
	return datapath.Seeds(ctx, c, w, seeds)
}

// response returns the bytes of a response: those of the observed exchange of that size, else one.
func response(h *coalesce.Host, request int64) int {
	if e := h.Exchange; e != nil && e.RequestBytes == request && e.ResponseBytes > 0 {
		return int(e.ResponseBytes)
	}
	return 1
}
