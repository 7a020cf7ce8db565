package diagnose

import (
	"context"
	"fmt"
	"math"
	"os"

	"nettrace/analyze"
	"nettrace/datapath"
	"nettrace/finding"
	"nettrace/unit"
)

// Bounds of a recording that is replayed for a prediction: what is larger would take too long to read again.
const maxPredictedBytes = 8 << 20

// replayedWithin is how near the model has to come to the recorded exchanges for a prediction to be made; the prediction's
// interval is wider (what-ifs of recordings that could be compared with another recording were off by up to 5 %).
const (
	replayedWithin = 0.10
	recordedError  = 0.15
)

// recordedChange is the setting that a rule's first advice comes to, "" if it comes to none.
func recordedChange(rule string) string {
	if rule == "tcp/delayed-ack-stall" || rule == "cross/nagle-delayed-ack" {
		return "nodelay=on"
	}
	return ""
}

// predictRecorded replays the connections of the finding's server with what is advised, and takes the one with the most
// exchanges. Without a capture that can be read again, or one that the model does not follow, there is no prediction.
func predictRecorded(ctx context.Context, r *analyze.Result, f *finding.Finding) *finding.Prediction {
	if n, ok := f.Measure("nagle_stalls"); !ok || n == 0 || len(f.Evidence) == 0 {
		return nil
	}
	path := f.Evidence[0].Pos.Source
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxPredictedBytes {
		return nil
	}
	recordings, _, err := analyze.Recordings(ctx, path, analyze.Options{})
	if err != nil {
		return nil
	}
	var most *datapath.Recording
	for _, c := range recordings {
		if c.Key() == f.Subject.Key && (most == nil || c.Exchanges.Count > most.Exchanges.Count) {
			most = c
		}
	}
	if most == nil {
		return nil
	}
	change := recordedChange(f.Rule)
	p, err := most.Play(nil, change)
	if err != nil || p.Recorded.Exchanges == 0 || math.Abs(float64(p.Baseline.ExchangeP50)/float64(p.Recorded.ExchangeP50)-1) > replayedWithin {
		return nil
	}
	median := float64(p.Changed.ExchangeP50) / float64(unit.Millisecond)
	return &finding.Prediction{
		Value: median, Low: median * (1 - recordedError), High: median * (1 + recordedError), Unit: "ms/exchange",
		Assumptions: append([]string{fmt.Sprintf("to see it: nettrace replay %s --connection %d --set %s", path, most.Number, change)}, append(p.Assumptions, fmt.Sprintf("the median of %d exchanges of %s with %s; recorded %v, and the model gives %v of the recording itself; the interval allows for %s of error",
			p.Recorded.Exchanges, most.Name(), change, p.Recorded.ExchangeP50, p.Baseline.ExchangeP50, unit.Percent(recordedError)))...),
	}
}
