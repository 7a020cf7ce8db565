package diagnose

import (
	"context"
	"fmt"

	"nettrace/coalesce"
	"nettrace/datapath"
	"nettrace/finding"
	"nettrace/unit"
)

const adaptiveRule = "cross/adaptive-rx"

// predictLength is that of a run: the automatic rule's first samples are a transient.
const predictLength = datapath.DefaultDuration

// predictFixed runs the larger size with the interface's settings and with the fixed value that is advised, and scales the
// measured rate by the gain.
func predictFixed(ctx context.Context, t trial) ([]*finding.Prediction, string) {
	for _, a := range adaptives(t.result) {
		if a.key() != t.cause.Subject.Key {
			continue
		}
		moderation, _ := a.nic.Moderation()
		rate, _ := t.cause.Measure("rate_after")
		size, _ := t.cause.Measure("size_after")
		w := datapath.Workload{Request: int(size), Response: response(a.host, int64(size)), Depth: 1, Duration: predictLength}
		fixed := moderation
		fixed.AdaptiveRX, fixed.RXUsecs = false, a.fixedUsecs()
		before, err := replay(ctx, moderation, w, t.seeds)
		if err != nil {
			return nil, err.Error()
		}
		after, err := replay(ctx, fixed, w, t.seeds)
		if err != nil {
			return nil, err.Error()
		}
		gain := after.Gain(before)
		return []*finding.Prediction{{
			Value: rate * gain.Mean, Low: rate * gain.Low * (1 - modelError), High: rate * gain.High * (1 + modelError), Unit: "transactions/s",
			Assumptions: append([]string{fmt.Sprintf("to see it: nettrace replay --workload rr:%d,%d --set %s --against adaptive-rx=off,rx-usecs=%d --seeds %d", w.Request, w.Response, settingsOf(moderation), fixed.RXUsecs, t.seeds)},
				append(after.Assumptions, fmt.Sprintf("the measured rate times the model's gain of %.2f; the interval allows for %s of error", gain.Mean, unit.Percent(modelError)))...),
		}}, ""
	}
	return nil, "the interface's settings are not in this result"
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
