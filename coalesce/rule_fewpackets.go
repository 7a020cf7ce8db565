package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// FewPackets finds moderation that is too weak for the load.
func FewPackets() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "irq/few-packets-per-interrupt",
			Title: "interrupts bring few packets on a busy CPU",
			Method: "Received packets for each interrupt of a NIC, from the rates of both, are set against half of what the settings would let gather (rx-frames), or least where that is not known. It costs only where the CPU is busy: " +
				"its time in softirqs (/proc/stat) has to be high, or, where that is not recorded, the interrupts themselves have to take a good part of it. Below packets-per-interrupt 1.5 irq/storm speaks.",
			Params: []finding.Param{
				{Name: "frames-share", Default: 0.5, Unit: "ratio", Doc: "of rx-frames; a tg3 with a limit of 5 frames brought 2.4, after a fix 3.4, with 20 frames 19.6 and CPU 52 to 35 %"},
				{Name: "least", Default: 4, Unit: "packets", Doc: "for each interrupt, where rx-frames is 0, 1 or not known"},
				{Name: "softirq-share", Default: 0.5, Unit: "ratio", Doc: "of the busiest CPU's time, for a notice"},
				{Name: "interrupt-share", Default: 0.02, Unit: "ratio", Doc: "of its time in interrupts alone at 1.2 us each, where /proc/stat is not recorded"},
				{Name: "storm", Default: 1.5, Unit: "packets", Doc: "below this the rule leaves it to irq/storm"},
			},
			FalsePositives: "Request/response traffic has one packet for each interrupt by nature, and wants it so: moderation would delay it. GRO has no part in it, since NICs count before it. Interrupts and packets are read at different times.",
			References:     []string{"ethtool(8), -C rx-usecs, rx-frames", "Linux Documentation/networking/napi.rst"},
		},
		Judge: judgeFewPackets,
	}
}

func judgeFewPackets(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, s := range h.tables("proc-interrupts") {
		if !s.Timed() {
			continue
		}
		for _, d := range h.devices(s) {
			if f, ok := d.fewPackets(h, p); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

func (d *device) fewPackets(h *Host, p finding.Params) (f finding.Finding, ok bool) {
	w, known := d.packets()
	if !known {
		return f, false
	}
	threshold, setting := p["least"], ""
	m, settings := d.iface.Moderation()
	if settings && m.RXFrames > 1 {
		threshold, setting = p["frames-share"]*float64(m.RXFrames), "rx-frames"
	}
	cpu, share := d.busiest()
	rate := float64(d.delta()) / d.series.Span().Seconds() * share
	busy, stat, timed := h.busyShare(cpu)
	if w.receivedPerInterrupt >= threshold || w.receivedPerInterrupt < p["storm"] || timed && busy < p["softirq-share"] || !timed && rate*interruptCost.Seconds() < p["interrupt-share"] {
		return f, false
	}
	f.Subject = h.subject("interrupt", d.name)
	f.Severity = finding.Notice
	f.Confidence, f.Reasons, f.Caveats = d.series.trust()
	f.End = d.series.Span()
	f.Effect.Share = min(1, rate*interruptCost.Seconds())
	f.Summary = fmt.Sprintf("%s interrupts/s of %s on CPU %d bring %s packets each", unit.Number(rate), d.name, cpu, unit.Number(w.receivedPerInterrupt))
	f.Measures = []finding.Measure{
		{Name: "packets_per_interrupt", Value: w.receivedPerInterrupt, Unit: "packets", Threshold: finding.Threshold(threshold)},
		{Name: "interrupts_per_second", Value: rate, Unit: "interrupts/s"},
	}
	top := d.top()
	f.Evidence = append(ends("IRQ "+top.Key+" "+top.Name, top.Change), ends(w.what, w.change)...)
	if setting != "" {
		f.Summary += fmt.Sprintf(", though rx-frames lets %d gather", m.RXFrames)
		f.Evidence = append(f.Evidence, d.iface.settingEvidence("ethtool-c", setting)...)
	}
	if timed {
		f.Summary += fmt.Sprintf("; the CPU spends %s of its time in softirqs", unit.Percent(busy))
		f.Measures = append(f.Measures, finding.Measure{Name: "softirq_share", Value: busy, Unit: "ratio", Threshold: finding.Threshold(p["softirq-share"])})
		f.Evidence = append(f.Evidence, finding.At(stat.Last.Pos, "softirq time of CPU %d", cpu))
	} else {
		f.Severity, f.Confidence = finding.Info, finding.Low
		f.Reasons = append(f.Reasons, "the CPU's time is not recorded (/proc/stat): only the interrupts' own cost is known")
	}
	f.Advice = []finding.Advice{{Text: d.strongerModeration(m, settings), Reference: "ethtool(8), -C"}}
	f.Caveats = append(f.Caveats, "stronger moderation delays request/response traffic by up to rx-usecs: see nic/moderation-latency")
	return f, true
}

// strongerModeration is the command that lets more packets gather.
func (d *device) strongerModeration(m Moderation, known bool) string {
	if !known {
		return fmt.Sprintf("ethtool -c %s, then ethtool -C %s rx-usecs 50, or adaptive-rx on where the driver has it", d.iface.Name, d.iface.Name)
	}
	if m.RXFrames > 1 {
		return fmt.Sprintf("ethtool -C %s rx-usecs %d rx-frames %d", d.iface.Name, max(20, 2*m.RXUsecs), 4*m.RXFrames)
	}
	return fmt.Sprintf("ethtool -C %s rx-usecs %d", d.iface.Name, max(20, 2*m.RXUsecs))
}
