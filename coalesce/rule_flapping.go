package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// AdaptiveFlapping finds adaptive moderation that changes its mind all the time, and takes the rate with it.
func AdaptiveFlapping() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "nic/adaptive-flapping",
			Title: "adaptive moderation flips between short and long delays, and the transaction rate with it",
			Method: "Adaptive moderation is on, and the course of a request/response run with one transaction outstanding (interim results of netperf) jumps by more than a factor from one interval to the next, again and again: traffic of that kind is even, so what changes is the delay. " +
				"Where packets were counted in short steps instead, mlx4_en's rule is run over them: it has to flip, and the packet rate to jump with it. A start or end of the run alone is no flapping.",
			Params: []finding.Param{
				{Name: "jump", Default: 1.5, Unit: "ratio", Doc: "of the rates of two neighbouring intervals; 4344-byte requests of the adaptive-rx thread went from 14,500 to 4,100 and back"},
				{Name: "jumps", Default: 4, Unit: "", Doc: "least number of them"},
				{Name: "jump-share", Default: 0.1, Unit: "ratio", Doc: "of the intervals, at least"},
			},
			FalsePositives: "Other traffic that comes and goes, CPUs that change their speed, a busy peer: the same run with adaptive-rx off tells.",
			References:     []string{"netdev 2011-07, \"Just one more byte, it is wafer thin...\"", "ethtool(8), -C adaptive-rx", "Linux lib/dim/net_dim.c"},
		},
		Judge: judgeFlapping,
	}
}

func judgeFlapping(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, i := range h.Interfaces {
		m, known := i.Moderation()
		if !known || !m.AdaptiveRX {
			continue
		}
		f, ok := i.flappingCourse(h, p)
		if !ok {
			f, ok = i.flappingSteps(h, p)
		}
		if ok {
			f.Subject = h.subject("interface", i.Name)
			f.Evidence = append(i.settingEvidence("ethtool-c", "adaptive-rx"), f.Evidence...)
			f.Advice = []finding.Advice{{Text: fmt.Sprintf("ethtool -C %s adaptive-rx off rx-usecs %d", i.Name, m.RXUsecs), Reference: "ethtool(8), -C"},
				{Text: "run it once more with that, and see whether the rate is even: netperf -D 0.25 -t TCP_RR", Reference: "netperf manual, -D"}}
			found = append(found, f)
		}
	}
	return found
}

// jumps counts the neighbours whose rates differ by more than a factor, the first and the last interval aside.
func jumps(rates []float64, factor float64) (n int, low, high float64) {
	if len(rates) < 4 {
		return 0, 0, 0
	}
	rates = rates[1 : len(rates)-1]
	low, high = rates[0], rates[0]
	for k := 1; k < len(rates); k++ {
		a, b := rates[k-1], rates[k]
		low, high = min(low, b), max(high, b)
		if max(a, b) > factor*min(a, b) {
			n++
		}
	}
	return n, low, high
}

func (i *Interface) flappingCourse(h *Host, p finding.Params) (f finding.Finding, ok bool) {
	for _, e := range h.Courses {
		n, low, high := jumps(e.Interim, p["jump"])
		if e.Outstanding != 1 || !i.carriesCourse(h, e) || float64(n) < p["jumps"] || float64(n) < p["jump-share"]*float64(len(e.Interim)) {
			continue
		}
		f.Severity, f.Confidence = finding.Warning, finding.Medium
		f.Reasons = []string{"adaptive-rx is on, and one transaction at a time is even traffic"}
		f.Source = e.Pos.Source
		f.Effect.Share = max(0, 1-e.Rate/high)
		f.Summary = fmt.Sprintf("adaptive-rx of %s flips: in %d of %d intervals the rate of %s jumps by more than %.1f times, between %s and %s transactions/s", i.Name, n, len(e.Interim), e.From, p["jump"], unit.Number(low), unit.Number(high))
		f.Measures = append(flapMeasures(n, len(e.Interim), low, high, p), finding.Measure{Name: "size", Value: float64(e.RequestBytes), Unit: "B"})
		f.Evidence = []finding.Evidence{finding.At(e.Pos, "%s: %s transactions/s as a mean, %d bytes for %d", e.From, unit.Number(e.Rate), e.RequestBytes, e.ResponseBytes)}
		if i.Name != "" && len(h.Interfaces) > 1 {
			f.Caveats = append(f.Caveats, "the run does not tell over which interface it went")
		}
		return f, true
	}
	return f, false
}

// carriesCourse reports whether a run can have gone over the interface: that is not known of runs without counters, so
// that with several interfaces only one with traffic will do.
func (i *Interface) carriesCourse(h *Host, e *Exchange) bool { return i.carries(e) && i.Name != "lo" }

func flapMeasures(n, of int, low, high float64, p finding.Params) []finding.Measure {
	return []finding.Measure{{Name: "jumps", Value: float64(n), Unit: "", Threshold: finding.Threshold(p["jumps"])}, {Name: "intervals", Value: float64(of), Unit: ""},
		{Name: "rate_low", Value: low, Unit: "/s"}, {Name: "rate_high", Value: high, Unit: "/s"}}
}

// flappingSteps runs the driver's rule over a series of short steps.
func (i *Interface) flappingSteps(h *Host, p finding.Params) (f finding.Finding, ok bool) {
	a, ok := i.Adaptive("mlx4-v1")
	if !ok || len(a.Decisions) < 4 {
		return f, false
	}
	var rates []float64
	flips := 0
	for k, s := range a.Traffic.Samples() {
		rates = append(rates, float64(s.RXPackets)/s.Elapsed.Seconds())
		if k > 0 && a.Decisions[k].Usecs != a.Decisions[k-1].Usecs {
			flips++
		}
	}
	n, low, high := jumps(rates, p["jump"])
	if float64(n) < p["jumps"] || float64(flips) < p["jumps"] || float64(n) < p["jump-share"]*float64(len(rates)) {
		return f, false
	}
	f.Severity = finding.Notice
	f.Confidence, f.Reasons, f.Caveats = a.Traffic.Series.trust()
	f.Confidence = min(f.Confidence, finding.Medium)
	f.Reasons = append(f.Reasons, fmt.Sprintf("mlx4_en's rule sets another delay in %d of %d steps", flips, len(rates)))
	f.End = a.Traffic.Series.Span()
	f.Summary = fmt.Sprintf("adaptive-rx of %s flips: its rule changes the delay in %d of %d steps, and the packet rate jumps between %s/s and %s/s", i.Name, flips, len(rates), unit.Number(low), unit.Number(high))
	f.Measures = append(flapMeasures(n, len(rates), low, high, p), finding.Measure{Name: "flips", Value: float64(flips), Unit: ""})
	f.Evidence = ends(a.Traffic.RX[0].Name, a.Traffic.RX[0].Change)
	return f, true
}
