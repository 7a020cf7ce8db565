package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// TagRace finds interrupts that no packets explain: the device interrupts again although the poll has done the work.
func TagRace() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "irq/tag-race",
			Title: "more interrupts come than the packets explain: the device is told an old position when the interrupt is enabled",
			Method: "A driver that enables its interrupt tells the device how far it has come. If that position was read before the work, everything that came during the poll, done or not, makes the device interrupt again at once. " +
				"Two signs, each enough. In a recording of tracepoints many of a device's polls find nothing to do although its interrupts come at a rate. Or the interrupts exceed what the moderation in force allows: a timer can cause one in rx-usecs, frames one in rx-frames, and likewise in sending.",
			Params: []finding.Param{
				{Name: "empty-share", Default: 0.3, Unit: "ratio", Doc: "of the polls that find nothing; with the race 80 % of the polls of a tg3 were forced, with the cure a few in a thousand (netdev, May 2005)"},
				{Name: "polls", Default: 200, Unit: "polls", Doc: "least number in the recording"},
				{Name: "rate", Default: 1000, Unit: "interrupts/s", Doc: "below which it costs nothing"},
				{Name: "excess", Default: 1.2, Unit: "ratio", Doc: "of the interrupts that the settings allow"},
			},
			FalsePositives: "Polls by busy_poll or a timer (napi_defer_hard_irqs, gro_flush_timeout) find nothing by design. Settings that a driver prints and does not keep. Vectors for link events and administration have interrupts without packets, but few.",
			References:     []string{"netdev 2005-05, tg3 tagged status and \"tagged status update\"", "Linux drivers/net/ethernet/broadcom/tg3.c, tg3_poll", "Linux include/trace/events/napi.h"},
		},
		Judge: judgeTagRace,
	}
}

func judgeTagRace(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, w := range h.Work {
		found = append(found, h.emptyPolls(w, p)...)
	}
	for _, i := range h.Interfaces {
		if f, ok := i.excess(h, p); ok {
			found = append(found, f)
		}
	}
	return found
}

// emptyPolls judges the polls of each device in a recording.
func (h *Host) emptyPolls(w *Work, p finding.Params) []finding.Finding {
	var found []finding.Finding
	seen := map[string]bool{}
	for _, first := range w.Polls {
		if seen[first.Device] || first.Device == "(no_device)" {
			continue
		}
		seen[first.Device] = true
		var polls, empty, packets int64
		for _, x := range w.Polls {
			if x.Device == first.Device {
				polls, empty, packets = polls+x.Polls, empty+x.Empty, packets+x.Packets
			}
		}
		rate, share := float64(polls)/max(1e-9, w.Span.Seconds()), float64(empty)/float64(polls)
		if w.Span <= 0 || float64(polls) < p["polls"] || share < p["empty-share"] || rate < p["rate"] || h.softModeration(first.Device) {
			continue
		}
		f := finding.Finding{Subject: h.subject("interface", first.Device), Severity: finding.Notice, Confidence: finding.Medium, End: w.Span}
		f.Reasons = []string{fmt.Sprintf("%s of %s polls of the recording found nothing", count(uint64(empty)), count(uint64(polls)))}
		f.Summary = fmt.Sprintf("%s of the polls of %s (%s) find no packet: its interrupts come again after the work is done", unit.Percent(share), first.Device, rateText(rate))
		f.Measures = []finding.Measure{{Name: "empty_poll_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(p["empty-share"])}, {Name: "polls_per_second", Value: rate, Unit: "polls/s"},
			{Name: "packets_per_poll", Value: float64(packets) / float64(polls), Unit: "packets"}}
		f.Effect.Share = min(1, rate*share*interruptCost.Seconds())
		f.Evidence = []finding.Evidence{finding.At(first.Pos, "napi_poll of %s: %s polls on CPU %d, %s without a packet", first.Device, count(uint64(first.Polls)), first.CPU, count(uint64(first.Empty)))}
		f.Advice = tagAdvice(first.Device)
		if w.Lost > 0 {
			f.Confidence = finding.Low
			f.Caveats = append(f.Caveats, "perf lost events: the shares may be off")
		}
		found = append(found, f)
	}
	return found
}

// softModeration reports whether the interface polls by a timer before it enables its interrupt.
func (h *Host) softModeration(iface string) bool {
	for _, k := range h.Machine.Kernel {
		if (k.Name == iface+".gro_flush_timeout" || k.Name == iface+".napi_defer_hard_irqs" || k.Name == "net.core.busy_poll" || k.Name == "net.core.busy_read") && k.Value > 0 {
			return true
		}
	}
	return false
}

// excess sets an interface's interrupts against what its settings allow.
func (i *Interface) excess(h *Host, p finding.Params) (f finding.Finding, ok bool) {
	m, known := i.Moderation()
	d := h.deviceOf(i)
	if !known || d == nil || m.AdaptiveRX || m.AdaptiveTX || m.RXUsecs == 0 || m.TXUsecs == 0 && m.TXFrames == 0 {
		return f, false
	}
	t, counted := i.Traffic()
	if !counted {
		return f, false
	}
	queues := float64(len(d.rows))
	allowed := allowedRate(t.RXRate(), m.RXUsecs, m.RXFrames, queues) + allowedRate(t.TXRate(), m.TXUsecs, m.TXFrames, queues)
	rate := float64(d.delta()) / d.series.Span().Seconds()
	if allowed <= 0 || rate < p["rate"] || rate < p["excess"]*allowed {
		return f, false
	}
	f.Subject = h.subject("interface", i.Name)
	f.Severity = finding.Notice
	f.Confidence, f.Reasons, f.Caveats = d.series.trust()
	f.Confidence = min(f.Confidence, finding.Medium)
	f.End = d.series.Span()
	f.Effect.Share = min(1, (rate-allowed)*interruptCost.Seconds())
	f.Summary = fmt.Sprintf("%s interrupts/s of %s are %.1f times what its moderation allows (%s/s for %s packets/s received and %s sent): the device interrupts again after the work is done", unit.Number(rate), i.Name, rate/allowed, unit.Number(allowed), unit.Number(t.RXRate()), unit.Number(t.TXRate()))
	f.Measures = []finding.Measure{{Name: "interrupts_per_second", Value: rate, Unit: "interrupts/s", Threshold: finding.Threshold(p["excess"] * allowed)}, {Name: "allowed_per_second", Value: allowed, Unit: "interrupts/s"},
		{Name: "packets_per_interrupt", Value: t.RXRate() / rate, Unit: "packets"}}
	f.Evidence = append(i.settingEvidence("ethtool-c", "rx-usecs"), i.settingEvidence("ethtool-c", "rx-frames")...)
	f.Evidence = append(f.Evidence, ends("interrupt "+d.top().Key, d.top().Change)...)
	f.Advice = tagAdvice(i.Name)
	return f, true
}

// allowedRate returns the interrupts/s that a direction's moderation allows: those of the timer and those of the frames,
// and never more than packets.
func allowedRate(packets float64, usecs, frames uint64, queues float64) float64 {
	allowed := 0.0
	if usecs > 0 {
		allowed += queues * 1e6 / float64(usecs)
	}
	if frames > 0 {
		allowed += packets / float64(frames)
	}
	return min(packets, allowed)
}

func tagAdvice(iface string) []finding.Advice {
	return []finding.Advice{
		{Text: "let the driver read the position (status tag, consumer index) after the work, look once more, and only then enable the interrupt: a newer driver may", Reference: "Linux drivers/net/ethernet/broadcom/tg3.c, tg3_poll"},
		{Text: fmt.Sprintf("until then more moderation hides it: ethtool -C %s rx-frames 20; or poll by a timer: echo 20000 > /sys/class/net/%s/gro_flush_timeout; echo 2 > /sys/class/net/%s/napi_defer_hard_irqs", iface, iface, iface), Reference: "Linux Documentation/networking/napi.rst"},
		{Text: "see single polls: perf record -a -e napi:napi_poll -e irq:irq_handler_entry -- sleep 1; perf script", Reference: "Linux include/trace/events/napi.h"}}
}
