package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// Squeeze finds CPUs whose receive rounds often end before the work does.
func Squeeze() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "softnet/squeeze",
			Title: "receive rounds end with work left over",
			Method: "time_squeeze of /proc/net/softnet_stat counts the rounds of the receive softirq that ended because the budget (300 packets) or the time (2 ms) was spent. It is set against the NET_RX softirqs of the same CPU; " +
				"where these are not recorded, against the packets that so many full rounds bring (budget). Squeezes alone are normal under load: it is a notice, and a warning only if the backlog of that CPU dropped packets too.",
			Params: []finding.Param{
				{Name: "share", Default: 0.01, Unit: "ratio", Doc: "squeezed rounds of all; below 1 % alarms were silenced elsewhere as noise (netdata)"},
				{Name: "rate", Default: 1, Unit: "1/s", Doc: "least squeezes/s of the CPU"},
				{Name: "budget", Default: 300, Unit: "packets", Doc: "of a full round: net.core.netdev_budget"},
			},
			FalsePositives: "processed counts after GRO, so rounds of merged packets look smaller than they are. softnet_stat counts for the whole machine, other namespaces included. Threaded NAPI and busy polling do not count here. One snapshot has totals since boot, which are not judged.",
			References:     []string{"Linux net/core/dev.c, net_rx_action", "Linux Documentation/admin-guide/sysctl/net.rst, netdev_budget"},
		},
		Judge: judgeSqueeze,
	}
}

func judgeSqueeze(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, s := range h.tables("proc-softnet_stat") {
		squeezes := s.row("time_squeeze")
		if !s.Timed() || squeezes == nil {
			continue
		}
		for _, c := range squeezes.CPUs {
			if f, ok := h.squeeze(s, squeezes, c, p); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

func (h *Host) squeeze(s *CPUSeries, row *CPURow, c CPUChange, p finding.Params) (f finding.Finding, ok bool) {
	rate := float64(c.Delta) / s.Span().Seconds()
	share, how := h.squeezeShare(s, c, p)
	if share <= p["share"] || rate < p["rate"] {
		return f, false
	}
	f.Subject = h.subject("cpu", fmt.Sprintf("CPU %d", c.CPU))
	f.Severity = finding.Notice
	f.Confidence, f.Reasons, f.Caveats = s.trust()
	f.Reasons = append(f.Reasons, how)
	f.End = s.Span()
	f.Summary = fmt.Sprintf("CPU %d ends %s receive rounds with work left over, about %s of them", c.CPU, rateText(rate), unit.Percent(share))
	f.Measures = []finding.Measure{
		{Name: "squeezes_per_second", Value: rate, Unit: "1/s", Threshold: finding.Threshold(p["rate"])},
		{Name: "squeeze_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(p["share"])},
	}
	f.Evidence = []finding.Evidence{finding.At(evidencePos(row, c), "time_squeeze of CPU %d: +%s to %s", c.CPU, count(c.Delta), count(c.Last))}
	dropped := s.of("dropped", c.CPU)
	if dropped > 0 {
		f.Severity = finding.Warning
		f.Summary += fmt.Sprintf("; its backlog dropped %s packets", count(dropped))
	}
	if first, ok := s.spreadFirst(c.CPU, "budget"); ok {
		f.Advice = append(f.Advice, first)
		return f, true
	}
	f.Advice = append(f.Advice, finding.Advice{Text: "if latency or drops suffer: sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=4000, and compare the squeezes again", Reference: "Linux Documentation/admin-guide/sysctl/net.rst"})
	return f, true
}

// spreadFirst is the advice where one CPU does most of the work, to which no larger budget or backlog helps.
func (s *CPUSeries) spreadFirst(cpu int, size string) (a finding.Advice, ok bool) {
	processed := s.row("processed")
	if processed == nil || len(s.CPUs) < 2 {
		return a, false
	}
	most, _, part := processed.top()
	a = finding.Advice{Text: fmt.Sprintf("CPU %d does %s of all receive work: spread it first (RSS, RPS); a larger %s does not help one CPU that is full", cpu, unit.Percent(part), size), Reference: "Linux Documentation/networking/scaling.rst"}
	return a, most == cpu && part > 0.8
}

// squeezeShare returns the share of the CPU's receive rounds that were squeezed, and how that is known.
func (h *Host) squeezeShare(s *CPUSeries, c CPUChange, p finding.Params) (share float64, how string) {
	for _, t := range h.tables("proc-softirqs") {
		if rounds := t.of("NET_RX", c.CPU); rounds > 0 && t.Timed() {
			perSecond := float64(rounds) / t.Span().Seconds()
			return min(1, float64(c.Delta)/s.Span().Seconds()/perSecond), "set against the NET_RX softirqs of the CPU in /proc/softirqs"
		}
	}
	if processed := s.of("processed", c.CPU); processed > 0 {
		return min(1, float64(c.Delta)*p["budget"]/float64(processed)), fmt.Sprintf("NET_RX softirqs are not recorded; taken is that a squeezed round brings %g packets", p["budget"])
	}
	return 0, ""
}

// of returns how much a CPU counted in a row.
func (s *CPUSeries) of(key string, cpu int) uint64 {
	if row := s.row(key); row != nil {
		for _, c := range row.CPUs {
			if c.CPU == cpu {
				return c.Delta
			}
		}
	}
	return 0
}
