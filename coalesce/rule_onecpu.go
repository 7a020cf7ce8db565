package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// OneCPU finds receive work that one CPU does for all.
func OneCPU() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "softnet/one-cpu",
			Title: "one CPU does nearly all receive processing",
			Method: "The packets that each CPU processed, from two snapshots of /proc/net/softnet_stat, are compared. If one CPU has nearly all of a high rate, or spends most of its time in softirqs (/proc/stat), the others cannot help. " +
				"/proc/interrupts shows whether the NIC has one active vector only.",
			Params: []finding.Param{
				{Name: "share", Default: 0.9, Unit: "ratio", Doc: "of all packets processed, on one CPU of at least two; 0.998 in the recorded case"},
				{Name: "rate", Default: 100000, Unit: "packets/s", Doc: "of that CPU, where its time is not known: about a tenth to a third of what one CPU takes"},
				{Name: "softirq-share", Default: 0.3, Unit: "ratio", Doc: "of the CPU's time in softirqs, for a notice (the usual mark for a note on softirq load)"},
				{Name: "warning-share", Default: 0.8, Unit: "ratio", Doc: "of the CPU's time in softirqs, for a warning: the CPU is full. Where time is not known, squeezes or drops there stand for it"},
			},
			FalsePositives: "One flow stays on one CPU by design, and how many flows there are cannot be seen from counters. processed counts after GRO, on the CPU that runs the stack (the RPS target), not on the one that took the interrupt. Loopback and containers count too.",
			References:     []string{"Linux Documentation/networking/scaling.rst"},
		},
		Judge: judgeOneCPU,
	}
}

func judgeOneCPU(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, s := range h.tables("proc-softnet_stat") {
		row := s.row("processed")
		if row == nil || !s.Timed() || len(s.CPUs) < 2 {
			continue
		}
		if f, ok := h.oneCPU(s, row, p); ok {
			found = append(found, f)
		}
	}
	return found
}

func (h *Host) oneCPU(s *CPUSeries, row *CPURow, p finding.Params) (f finding.Finding, ok bool) {
	cpu, delta, share := row.top()
	rate := float64(delta) / s.Span().Seconds()
	busy, stat, timed := h.busyShare(cpu)
	if share < p["share"] || timed && busy < p["softirq-share"] || !timed && rate < p["rate"] {
		return f, false
	}
	squeezed, dropped := s.of("time_squeeze", cpu), s.of("dropped", cpu)
	f.Subject = h.subject("cpu", fmt.Sprintf("CPU %d", cpu))
	f.Severity = finding.Notice
	if timed && busy >= p["warning-share"] || !timed && (float64(squeezed)/s.Span().Seconds() >= 1 || dropped > 0) {
		f.Severity = finding.Warning
	}
	f.Confidence, f.Reasons, f.Caveats = s.trust()
	f.End = s.Span()
	f.Effect.Share = busy
	others := "CPU"
	if n := len(s.CPUs) - 1; n > 1 {
		others = fmt.Sprintf("%d CPUs", n)
	}
	f.Summary = fmt.Sprintf("CPU %d does %s of all receive processing, %s packets/s, and the other %s nearly none", cpu, unit.Percent(share), unit.Number(rate), others)
	f.Measures = []finding.Measure{
		{Name: "cpu_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(p["share"])},
		{Name: "packets_per_second", Value: rate, Unit: "packets/s", Threshold: finding.Threshold(p["rate"])},
	}
	for _, c := range row.CPUs {
		if c.CPU == cpu {
			f.Evidence = append(f.Evidence, finding.At(evidencePos(row, c), "processed of CPU %d: +%s of +%s", cpu, count(delta), count(row.Delta)))
		}
	}
	if timed {
		f.Measures = append(f.Measures, finding.Measure{Name: "softirq_share", Value: busy, Unit: "ratio", Threshold: finding.Threshold(p["softirq-share"])})
		f.Evidence = append(f.Evidence, finding.At(stat.Last.Pos, "CPU %d spent %s of its time in softirqs", cpu, unit.Percent(busy)))
	} else {
		f.Reasons = append(f.Reasons, "the CPU's time is not recorded (/proc/stat): judged by the rate")
	}
	if squeezed > 0 || dropped > 0 {
		text := fmt.Sprintf("time_squeeze +%s and dropped +%s on it", count(squeezed), count(dropped))
		if dropped == 0 {
			text += ": the backlog (netdev_max_backlog) is not what is short"
		}
		f.Reasons = append(f.Reasons, text)
	}
	if s.CPUsAssumed {
		f.Caveats = append(f.Caveats, "softnet_stat does not name CPUs here: they are taken as 0, 1, 2... in order")
	}
	h.oneCPUCause(&f, cpu, delta)
	return f, true
}

// oneCPUCause looks in the interrupts for why the CPU has all the packets.
func (h *Host) oneCPUCause(f *finding.Finding, cpu int, packets uint64) {
	rss := finding.Advice{Text: "give the NIC more queues (ethtool -l IFACE, ethtool -L IFACE combined N) and their interrupts CPUs of their own", Reference: "Linux Documentation/networking/scaling.rst, RSS"}
	rps := finding.Advice{Text: "with one hardware queue spread in software: echo MASK > /sys/class/net/IFACE/queues/rx-0/rps_cpus, and RFS: sysctl -w net.core.rps_sock_flow_entries=32768", Reference: "Linux Documentation/networking/scaling.rst, RPS and RFS"}
	f.Advice = []finding.Advice{rss, rps}
	for _, s := range h.tables("proc-interrupts") {
		for _, d := range h.devices(s) {
			top, share := d.busiest()
			if top != cpu || share < 0.8 || d.delta() == 0 {
				continue
			}
			row := d.top()
			f.Evidence = append(f.Evidence, finding.At(row.Last.Pos, "IRQ %s %s: +%s, %s of them on CPU %d", row.Key, row.Name, count(row.Delta), unit.Percent(share), cpu))
			if len(d.rows) == 1 {
				f.Reasons = append(f.Reasons, fmt.Sprintf("%s has one active interrupt only, with %s packets each: one queue", d.name, unit.Number(float64(packets)/float64(row.Delta))))
				f.Advice = []finding.Advice{rps, rss}
			}
			return
		}
	}
	f.Caveats = append(f.Caveats, "if the traffic is one flow this is as it has to be; counters do not tell")
}
