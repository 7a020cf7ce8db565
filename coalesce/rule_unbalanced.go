package coalesce

import (
	"fmt"
	"math"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// AdaptiveUnbalanced evaluates mlx4_en's own rule for adaptive moderation on the traffic that was observed, and finds
// the case in which it takes request/response traffic for bulk traffic.
func AdaptiveUnbalanced() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "nic/adaptive-unbalanced",
			Title: "adaptive moderation takes unbalanced request/response traffic for bulk traffic and delays each packet",
			Method: "With adaptive-rx on, mlx4_en compares every 250 ms the packets received and sent: above 7,812 packets/s, and if one direction has more than 1.5 times the packets of the other, it sets rx-usecs-high, whatever the rate. " +
				"The rule evaluates this on each step of the counters with the settings of ethtool -c. Requests of four packets answered by a pure ACK and a one-packet response are 4:2 and get the high delay; 3:2 is exactly balanced. " +
				"Traffic that is bulk by its byte rate is left alone, unless an observed request/response exchange shows that it waits for each packet. The cost is one to two delayed arrivals for each transaction.",
			Params: []finding.Param{
				{Name: "variant", Default: 1, Unit: "", Doc: "1: the symmetric rule of mlx4_en to about 2.6.37 and of the vendor's 1.5 driver, which reproduces the published rates; 2: that of 2.6.38, in which a heavy sender is exempt, and which misses them by 54 %"},
				{Name: "bulk-bytes", Default: 125e6, Unit: "B/s", Doc: "in both directions together, from which on high moderation is right: 1 Gb/s, a tenth of a 10 Gb/s link"},
				{Name: "least-usecs", Default: 8, Unit: "us", Doc: "by which rx-usecs-high has to be above the value that balanced traffic gets"},
				{Name: "edge", Default: 0.03, Unit: "ratio", Doc: "distance of the packet ratio from 1.5 within which the driver flips from sample to sample, by where in a transaction it reads the counters"},
				{Name: "arrivals-low", Default: 0.8, Unit: "arrivals", Doc: "delayed arrivals for each transaction, at least: 0.86 where one host with one-packet requests was changed (Mellanox/sockperf issue 21)"},
				{Name: "arrivals-high", Default: 2, Unit: "arrivals", Doc: "and at most: one at each end; 1.4 to 1.8 in the adaptive-rx thread"},
			},
			FalsePositives: "Bulk traffic below bulk-bytes, for which high moderation costs nothing. Steps of seconds average over many of the driver's samples: traffic that changes within a step may have had other settings. " +
				"Newer mlx4_en (3.x) looks at received packets of each ring only; set variant accordingly or ignore the finding there. Other drivers have other rules and are not judged unless they show pkt-rate-low and -high.",
			References: []string{"Linux 2.6.38 drivers/net/mlx4/en_netdev.c, mlx4_en_auto_moderation", "netdev 2011-07, \"Just one more byte, it is wafer thin...\"", "ethtool(8), -C adaptive-rx"},
		},
		Judge: judgeUnbalanced,
	}
}

func judgeUnbalanced(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, i := range h.Interfaces {
		if f, ok := i.unbalanced(h, p); ok {
			found = append(found, f)
		}
	}
	return found
}

// Adaptive is what a driver's adaptive moderation does with the traffic of a series.
type Adaptive struct {
	Policy    string
	Decisions []Decision
	Traffic   Traffic
	High      float64 // share of the time in which unbalanced traffic gets rx-usecs-high
	Ratio     float64 // packets of the busier direction for one of the other
	Way       string  // "4.00 received for 2.00 sent" in the measure of Ratio: the busier direction
}

// Adaptive evaluates a policy on the interface's traffic, if adaptive-rx is on and both settings and traffic are known.
// It is for drivers with mlx4_en's scheme, which show pkt-rate-low and -high.
func (i *Interface) Adaptive(policy string) (a Adaptive, ok bool) {
	m, known := i.Moderation()
	if !known || !m.AdaptiveRX || m.PktRateHigh == 0 || !i.mlx4() {
		return a, false
	}
	if a.Traffic, ok = i.Traffic(); !ok {
		return a, false
	}
	machine, err := PolicyByName(policy, m)
	if err != nil {
		return a, false
	}
	a.Policy = policy
	time := unit.Nanos(0)
	high := unit.Nanos(0)
	for _, s := range a.Traffic.Samples() {
		d := machine.Step(s)
		a.Decisions = append(a.Decisions, d)
		time += s.Elapsed
		if (d.Reason == ReasonRXHeavy || d.Reason == ReasonTXHeavy) && d.Usecs == m.RXUsecsHigh {
			high += s.Elapsed
		}
	}
	if time == 0 {
		return a, false
	}
	a.High = float64(high) / float64(time)
	rx, tx := a.Traffic.RXRate(), a.Traffic.TXRate()
	a.Way = "received"
	if tx > rx {
		rx, tx, a.Way = tx, rx, "sent"
	}
	a.Ratio = rx / max(tx, 1e-9)
	return a, true
}

// mlx4 reports whether the driver has mlx4_en's scheme: it is that driver, or it is not known.
func (i *Interface) mlx4() bool { return i.Driver == nil || strings.HasPrefix(i.Driver.Name, "mlx4") }

func (i *Interface) unbalanced(h *Host, p finding.Params) (f finding.Finding, ok bool) {
	policy := "mlx4-v1"
	if p["variant"] == 2 {
		policy = "mlx4-v2"
	}
	a, ok := i.Adaptive(policy)
	if !ok {
		return f, false
	}
	m, _ := i.Moderation()
	quick := min(m.RXUsecsLow, m.RXUsecs)
	exchange := h.Exchange != nil && h.Exchange.Outstanding == 1 && i.carries(h.Exchange)
	edge := math.Abs(a.Ratio-1.5) <= p["edge"]
	bytes := a.Traffic.ByteRate()
	if float64(m.RXUsecsHigh)-float64(quick) < p["least-usecs"] || bytes > p["bulk-bytes"] && !exchange || a.High == 0 && !edge {
		return f, false
	}
	f.Subject = h.subject("interface", i.Name)
	f.Confidence, f.Reasons, f.Caveats = a.Traffic.Series.trust()
	f.End = a.Traffic.Series.Span()
	f.Measures = []finding.Measure{
		{Name: "packet_ratio", Value: a.Ratio, Unit: "", Threshold: finding.Threshold(1.5)},
		{Name: "rx_packets_per_second", Value: a.Traffic.RXRate(), Unit: "packets/s"},
		{Name: "tx_packets_per_second", Value: a.Traffic.TXRate(), Unit: "packets/s"},
		{Name: "high_share", Value: a.High, Unit: "ratio"},
		{Name: "rx_usecs_set", Value: float64(m.RXUsecsHigh), Unit: "us", Expected: finding.Threshold(float64(quick))},
	}
	f.Evidence = append(i.settingEvidence("ethtool-c", "adaptive-rx"), i.settingEvidence("ethtool-c", "rx-usecs-high")...)
	f.Evidence = append(f.Evidence, ends(a.Traffic.RX[0].Name, a.Traffic.RX[0].Change)...)
	f.Evidence = append(f.Evidence, ends(a.Traffic.TX[0].Name, a.Traffic.TX[0].Change)...)
	if i.Driver == nil {
		f.Confidence = min(f.Confidence, finding.Medium)
		f.Caveats = append(f.Caveats, "the driver is not known (ethtool -i "+i.Name+"); its settings look like those of mlx4_en")
	}
	if a.High == 0 {
		f.Severity = finding.Info
		f.Summary = fmt.Sprintf("%s has %.3f packets %s for one the other way, on the edge of adaptive moderation's 1.5: from sample to sample it may set %d or %d us", i.Name, a.Ratio, a.Way, quick, m.RXUsecsHigh)
		return f, true
	}
	f.Summary = fmt.Sprintf("adaptive-rx of %s takes %s packets/s received and %s sent for bulk traffic (%.2f:1, more than 1.5:1) and sets rx-usecs to %d us instead of %d",
		i.Name, unit.Number(a.Traffic.RXRate()), unit.Number(a.Traffic.TXRate()), a.Ratio, m.RXUsecsHigh, quick)
	if a.High < 0.999 {
		f.Summary += fmt.Sprintf(" for %s of the time", unit.Percent(a.High))
	}
	f.Severity = finding.Notice
	i.unbalancedCost(h, m, a, p, &f)
	return f, true
}

// unbalancedCost sets the delay against an observed exchange, and gives the advice.
func (i *Interface) unbalancedCost(h *Host, m Moderation, a Adaptive, p finding.Params, f *finding.Finding) {
	advice := finding.Advice{Text: fmt.Sprintf("ethtool -C %s adaptive-rx off rx-usecs %d", i.Name, m.RXUsecs), Reference: "ethtool(8), -C"}
	milder := finding.Advice{Text: fmt.Sprintf("or, if bulk transfers share the interface: ethtool -C %s rx-usecs-high %d", i.Name, max(m.RXUsecs, quarter(m.RXUsecsHigh))), Reference: "ethtool(8), -C"}
	if e := h.Exchange; e != nil && e.Outstanding == 1 && e.Rate > 0 && i.carries(e) {
		g := gainOf(e, float64(m.RXUsecsHigh)-float64(m.RXUsecs), p)
		f.Effect.Share, f.Effect.Lost = a.High*g.share, unit.Nanos(a.High*g.share*float64(f.End))
		f.Severity = finding.Warning
		f.Summary += fmt.Sprintf("; a transaction takes %v", e.Transaction())
		f.Measures = append(f.Measures, finding.Measure{Name: "transactions_per_second", Value: e.Rate, Unit: "transactions/s"})
		f.Evidence = append(f.Evidence, finding.At(e.Pos, "%s: %s transactions/s, %d bytes for %d", e.From, unit.Number(e.Rate), e.RequestBytes, e.ResponseBytes))
		advice.Predicted = g.prediction()
		if g.share < 0.05 {
			f.Severity = finding.Notice
		}
	} else {
		f.Confidence = min(f.Confidence, finding.Medium)
		f.Caveats = append(f.Caveats, "what the delay costs is not known without a request/response rate of the same time: bulk traffic of this rate loses nothing")
	}
	f.Advice = []finding.Advice{advice, milder, {Text: "watch whether the ratio of received to sent packets stays above 1.5: ethtool -S " + i.Name + " twice, a second apart", Reference: "ethtool(8), -S"}}
}

func quarter(n uint64) uint64 { return (n + 3) / 4 }
