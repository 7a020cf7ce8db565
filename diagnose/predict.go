package diagnose

import (
	"context"
	"fmt"
	"math"

	"nettrace/analyze"
	"nettrace/finding"
)

// Bounds of the predictions' cost, which together keep it to a second of one CPU: how many findings are predicted, and runs
// of 10 s over all of them (some 60 ms each, two for a seed).
const (
	maxPredictions = 5
	maxRuns        = 16
	maxSeeds       = 5
)

// modelError is by how much the model misses published rates that it was not calibrated on (docs/datapath.md has the
// largest, below 3 %); predictions of other machines are given twice the bar that is asked of it.
const modelError = 0.16

// Predict tries what the causes advise in the reference datapath and adds to their advice what to expect, or why that is not
// known. A result that was written by an earlier run has its predictions already.
func Predict(ctx context.Context, r *analyze.Result) {
	if r.Reloaded {
		return
	}
	var chosen []*finding.Finding
	simulated := 0
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Severity < finding.Notice || len(f.Advice) == 0 || f.CausedBy != "" || predictors()[f.Rule] == nil {
			continue
		}
		if len(chosen) == maxPredictions {
			f.Advice[0].NotPredicted = fmt.Sprintf("only the first %d causes are tried in the model", maxPredictions)
			continue
		}
		if f.Rule == adaptiveRule {
			simulated++
		}
		chosen = append(chosen, f)
	}
	seeds := min(maxSeeds, maxRuns/2/max(simulated, 1))
	for _, f := range chosen {
		list, why := predictors()[f.Rule](ctx, trial{r, f, seeds})
		for i, p := range list {
			f.Advice[i].Predicted = p
		}
		if f.Advice[0].Predicted == nil {
			f.Advice[0].NotPredicted = why
		}
	}
}

// trial is what a prediction is made of.
type trial struct {
	result *analyze.Result
	cause  *finding.Finding
	seeds  int // of the simulations that need them
}

// predictor predicts what the first advices of a cause bring, in their order, or says why that cannot be told.
type predictor func(context.Context, trial) (list []*finding.Prediction, why string)

// predictors is the table of what can be tried, by rule.
func predictors() map[string]predictor {
	return map[string]predictor{
		adaptiveRule:                predictFixed,
		"cross/map-lock":            predictScenario,
		"cross/tag-race":            predictScenario,
		"tcp/delayed-ack-stall":     predictRecorded,
		"cross/nagle-delayed-ack":   predictRecorded,
		"cross/stretch-ack":         predictRecorded,
		"cross/socket-buffer":       predictRecorded,
		"cross/one-cpu":             predictSpread,
		"cross/rx-ring-overrun":     predictRing,
		"cross/offload-off":         boundsOfOffload,
		"cross/softnet-drop":        notModelled("a longer backlog holds longer bursts, and how long they are is not recorded; a CPU that is full fills any"),
		"cross/tx-ring":             notModelled("which of ring and lock is faster depends on the number of senders and on their CPUs; nettrace replay --workload senders:16 --set discipline=ring --against discipline=lock shows it for the machine of the published figures"),
		"cross/zero-copy-threshold": notModelled("the measured curves tell the gain at each size; between sizes nothing was measured"),
		"cross/lro-forwarding":      notModelled("the model has no router; without merging the packets fit, and what that makes of the rate depends on the loss that it ends"),
		"cross/reordering":          notModelled("the model keeps the order of packets; with a flow on one queue the needless retransmissions end, and what they cost is not known"),
	}
}

// notModelled predicts nothing and says why; a prediction that the advice has from its rule stays.
func notModelled(why string) predictor {
	return func(context.Context, trial) ([]*finding.Prediction, string) { return nil, why }
}

// around gives a value room for a share of error on both sides.
func around(value, room float64, unit string, assumptions ...string) *finding.Prediction {
	return &finding.Prediction{Value: value, Low: value * (1 - room), High: value * (1 + room), Unit: unit, Assumptions: assumptions}
}

// near reports whether a is b within a share.
func near(a, b, share float64) bool { return b != 0 && math.Abs(a/b-1) <= share }
