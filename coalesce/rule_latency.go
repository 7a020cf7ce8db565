package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// ModerationLatency finds receive moderation that makes up a large part of a transaction.
func ModerationLatency() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "nic/moderation-latency",
			Title: "receive interrupt moderation delays each transaction of a request/response load",
			Method: "With one transaction outstanding, the packet that the other side waits for is delayed by up to rx-usecs before the interrupt. The rule needs an observed transaction rate, and compares the time of a transaction with the rx-usecs in force: " +
				"the fixed value, or with adaptive-rx what the driver's rule sets for the observed packet rates (mlx4_en), or its resting value rx-usecs where that cannot be evaluated. The gain of turning it off is one to two times the delay for each transaction; where files named before and after hold the settings and results of both, what was gained is told and set against that.",
			Params: []finding.Param{
				{Name: "share", Default: 0.3, Unit: "ratio", Doc: "rx-usecs for one transaction's time; in the adaptive-rx thread 128 us of 293 and 16 us of 90 cost 66 % and 22 %"},
				{Name: "arrivals-low", Default: 0.8, Unit: "arrivals", Doc: "delayed arrivals for each transaction, at least: 0.86 where one host with one-packet requests was changed (Mellanox/sockperf issue 21)"},
				{Name: "arrivals-high", Default: 2, Unit: "arrivals", Doc: "and at most: one at each end; 1.4 to 1.8 in the adaptive-rx thread"},
				{Name: "warning-share", Default: 0.15, Unit: "ratio", Doc: "of the transaction's time lost at least, for a warning; below it is a notice"},
			},
			FalsePositives: "Where rx-frames lets the interrupt through earlier the delay is shorter. igb, ixgbe and e1000e set a least gap between interrupts, not a delay: an exchange slower than the gap does not wait, and they are not judged. In their settings 1 and 3 are codes, not microseconds. " +
				"More than one transaction outstanding hides the delay, and is not judged.",
			References: []string{"ethtool(8), -C rx-usecs", "netdev 2011-07, \"Just one more byte, it is wafer thin...\"", "Mellanox/sockperf issue 21"},
		},
		Judge: judgeLatency,
	}
}

func judgeLatency(h *Host, p finding.Params) []finding.Finding {
	e := h.Exchange
	if e == nil || e.Outstanding != 1 || e.Rate <= 0 {
		return nil
	}
	var found []finding.Finding
	for _, i := range h.Interfaces {
		if f, ok := i.latency(h, e, p); ok && i.carries(e) {
			found = append(found, f)
		}
	}
	for k := range found {
		if len(found) > 1 {
			found[k].Confidence = finding.Low
			found[k].Caveats = append(found[k].Caveats, "which interface carried the exchange is not known")
		}
	}
	return found
}

// carries reports whether the exchange can have gone over the interface: it had as many packets, or its packets are not known.
func (i *Interface) carries(e *Exchange) bool {
	t, known := i.Traffic()
	return !known || t.RXRate() >= e.Rate/2 && t.TXRate() >= e.Rate/2
}

// inForce is the receive delay that was in force, and how that is known.
type inForce struct {
	usecs   uint64
	setting string // name of the setting that holds it
	how     string
	level   finding.Level
}

func (i *Interface) inForce(m Moderation) inForce {
	if !m.AdaptiveRX {
		return inForce{m.RXUsecs, "rx-usecs", "adaptive-rx is off: rx-usecs holds", finding.High}
	}
	if a, ok := i.Adaptive("mlx4-v1"); ok {
		longest := unit.Nanos(0)
		var chosen Decision
		byUsecs := map[uint64]unit.Nanos{}
		for k, s := range a.Traffic.Samples() {
			d := a.Decisions[k]
			byUsecs[d.Usecs] += s.Elapsed
			if byUsecs[d.Usecs] > longest {
				longest, chosen = byUsecs[d.Usecs], d
			}
		}
		setting := map[Reason]string{ReasonRXHeavy: "rx-usecs-high", ReasonTXHeavy: "rx-usecs-high", ReasonRateHigh: "rx-usecs-high", ReasonRateLow: "rx-usecs-low"}[chosen.Reason]
		if setting == "" {
			setting = "rx-usecs"
		}
		return inForce{chosen.Usecs, setting, fmt.Sprintf("adaptive-rx is on, and mlx4_en's rule sets %d us for the observed packet rates (%s)", chosen.Usecs, chosen.Reason), finding.Medium}
	}
	return inForce{m.RXUsecs, "rx-usecs", "adaptive-rx is on and what it sets is not known without counters: its resting value rx-usecs is taken", finding.Medium}
}

func (i *Interface) latency(h *Host, e *Exchange, p finding.Params) (f finding.Finding, ok bool) {
	m, known := i.Moderation()
	if !known || i.gapModeration() {
		return f, false
	}
	in := i.inForce(m)
	t := e.Transaction()
	delay := unit.Nanos(min(in.usecs, 1<<32)) * unit.Microsecond
	if t <= 0 || m.RXFrames == 1 || float64(delay) < p["share"]*float64(t) {
		return f, false
	}
	g := gainOf(e, float64(in.usecs), p)
	f.Subject = h.subject("interface", i.Name)
	f.Severity = finding.Notice
	if g.least >= p["warning-share"] {
		f.Severity = finding.Warning
	}
	f.Confidence, f.Reasons = in.level, []string{in.how}
	f.Effect.Share = g.share
	f.Source = e.Pos.Source
	f.Summary = fmt.Sprintf("rx-usecs of %d us on %s is %s of a transaction's %v: turned off, %s to %s transactions/s instead of %s",
		in.usecs, i.Name, unit.Percent(float64(delay)/float64(t)), t, unit.Number(g.low), unit.Number(g.high), unit.Number(e.Rate))
	f.Measures = []finding.Measure{
		{Name: "rx_usecs", Value: float64(in.usecs), Unit: "us"},
		{Name: "delay_share", Value: float64(delay) / float64(t), Unit: "ratio", Threshold: finding.Threshold(p["share"])},
		{Name: "transaction_time", Value: float64(t), Unit: "ns"},
		{Name: "transactions_per_second", Value: e.Rate, Unit: "transactions/s"},
	}
	f.Evidence = append(i.settingEvidence("ethtool-c", "adaptive-rx"), i.settingEvidence("ethtool-c", in.setting)...)
	f.Evidence = append(f.Evidence, finding.At(e.Pos, "%s: %s transactions/s, one outstanding", e.From, unit.Number(e.Rate)))
	f.Advice = []finding.Advice{{Text: fmt.Sprintf("ethtool -C %s adaptive-rx off rx-usecs 0 rx-frames 1", i.Name), Reference: "ethtool(8), -C", Predicted: g.prediction()}}
	f.Caveats = []string{"without moderation the interrupt rate follows the packet rate: for bulk traffic leave it on, or give the request/response traffic an interface or a queue of its own"}
	if m.AdaptiveRX && in.usecs != m.RXUsecsHigh && m.RXUsecsHigh > 0 && float64(e.Rate) < float64(m.PktRateLow) {
		f.Caveats = append(f.Caveats, fmt.Sprintf("%s transactions/s are far below pkt-rate-low (%s): if traffic is balanced, rx-usecs-high (%d us) plays no part", unit.Number(e.Rate), unit.Count(int64(m.PktRateLow&(1<<62-1))), m.RXUsecsHigh))
	}
	i.proven(&f, e, in, p)
	return f, true
}

// proven says what a change of the delay brought, where the same exchange was measured after it.
func (i *Interface) proven(f *finding.Finding, e *Exchange, in inForce, p finding.Params) {
	usecs, known := i.SettingAfter("ethtool-c", "rx-usecs")
	adaptive, _ := i.SettingAfter("ethtool-c", "adaptive-rx")
	left, isNumber := usecs.Value.Number()
	if e.After == nil || e.After.Rate <= 0 || !known || !isNumber || adaptive.Value.On() || left >= in.usecs {
		return
	}
	saved := e.Transaction() - e.After.Transaction()
	arrivals := saved.Seconds() * 1e6 / float64(in.usecs-left)
	f.Measures = append(f.Measures, finding.Measure{Name: "transaction_time_after", Value: float64(e.After.Transaction()), Unit: "ns"}, finding.Measure{Name: "time_saved", Value: float64(saved), Unit: "ns"})
	f.Evidence = append(f.Evidence, finding.At(usecs.Pos, "after: rx-usecs %d", left), finding.At(e.After.Pos, "after: %s transactions/s", unit.Number(e.After.Rate)))
	text := fmt.Sprintf("measured after it, with rx-usecs %d: a transaction takes %v, %v less, which is %s of the %d us that were taken away", left, e.After.Transaction(), saved, unit.Number(arrivals), in.usecs-left)
	if arrivals < p["arrivals-low"] || arrivals > p["arrivals-high"] {
		f.Caveats = append(f.Caveats, text+": something else changed too")
		return
	}
	f.Confidence = finding.High
	if arrivals < 1.5 {
		text += ": each waits for one receive interrupt of this host"
	}
	f.Reasons = append(f.Reasons, text)
	f.Effect.Share = float64(saved) / float64(e.Transaction())
}

// gapModeration reports whether the driver sets a least gap between interrupts instead of a delay.
func (i *Interface) gapModeration() bool {
	if i.Driver == nil {
		return false
	}
	switch i.Driver.Name {
	case "igb", "igbvf", "igc", "ixgbe", "ixgbevf", "e1000e", "e1000":
		return true
	}
	return false
}

// gain is what taking away a delay brings to an exchange: a rough interval, from the delay times the arrivals that are
// delayed in each transaction.
type gain struct {
	rate        float64
	low, high   float64 // transactions/s after
	likely      float64
	share       float64 // of the transaction's time that is lost, as likely
	least       float64 // and at least
	assumptions []string
}

func gainOf(e *Exchange, usecs float64, p finding.Params) gain {
	const (
		segment   = 1448 // payload of a full segment with timestamps at MTU 1500
		onePacket = 1.0  // request and response of one packet each: one arrival at this host
		several   = 1.5  // middle of the 1.4 to 1.8 of the adaptive-rx thread, both hosts changed
		most      = 0.9  // of a transaction's time cannot be only delay
	)
	t := 1e6 / e.Rate // us
	share := func(arrivals float64) float64 { return min(most, max(0, arrivals*usecs/t)) }
	arrivals := several
	if e.RequestBytes <= segment && e.ResponseBytes <= segment {
		arrivals = onePacket
	}
	g := gain{rate: e.Rate, least: share(p["arrivals-low"]), share: share(arrivals)}
	g.low, g.likely, g.high = e.Rate/(1-g.least), e.Rate/(1-g.share), e.Rate/(1-share(p["arrivals-high"]))
	g.assumptions = []string{
		fmt.Sprintf("%g to %g arrivals of a transaction wait %g us less each, likely %g; two if the peer is set alike and changed too", p["arrivals-low"], p["arrivals-high"], usecs, arrivals),
		"nothing else of the transaction changes",
	}
	return g
}

func (g gain) prediction() *finding.Prediction {
	return &finding.Prediction{Value: g.likely, Low: g.low, High: g.high, Unit: "transactions/s", Assumptions: g.assumptions}
}
