package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// OverCoalesced finds moderation that is too strong whatever the traffic: packets wait longer than a network takes, or
// more of them gather than the ring holds.
func OverCoalesced() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "irq/over-coalesced",
			Title: "interrupts are held back so long that the ring fills, or packets wait longer than a network takes",
			Method: "Two signs. The receive delay in force (rx-usecs, or what mlx4_en's rule sets for the observed traffic) is far above what moderation is for. Or the packets that gather for one interrupt take a good part of the receive ring: " +
				"the settings (packets that come within the delay, or rx-frames if those are fewer) and the observed packets for each interrupt have to agree on it. If the ring overran too, that is what it costs. " +
				"What a delay costs request/response traffic is nic/moderation-latency's.",
			Params: []finding.Param{
				{Name: "delay", Default: 1000, Unit: "us", Doc: "longest rx-usecs that is of use: at 1 Gb/s it gathers 81 full packets, more than a poll's 64; a USB NIC came with 15,000 (netdev)"},
				{Name: "ring-share", Default: 0.5, Unit: "ratio", Doc: "of the ring that gathers for one interrupt; the other half is for what comes while the poll runs"},
				{Name: "agree", Default: 0.5, Unit: "ratio", Doc: "least part of the packets by the settings that each interrupt has to bring"},
			},
			FalsePositives: "Drivers for which rx-usecs is a least gap (igb, ixgbe, e1000e): the first packet after a pause does not wait. Codes in place of times (rx-usecs 1 and 3 of Intel's drivers). Packets for each interrupt are a mean over polls that took several rounds.",
			References:     []string{"ethtool(8), -C rx-usecs, rx-frames; -g", "Linux Documentation/networking/napi.rst"},
		},
		Judge: func(h *Host, p finding.Params) []finding.Finding {
			var found []finding.Finding
			for _, i := range h.Interfaces {
				if f, ok := i.overCoalesced(h, p); ok {
					found = append(found, f)
				}
			}
			return found
		},
	}
}

func (i *Interface) overCoalesced(h *Host, p finding.Params) (f finding.Finding, ok bool) {
	m, known := i.Moderation()
	if !known {
		return f, false
	}
	in := i.inForce(m)
	gathered, share, filling := i.gathers(h, m, in.usecs, p)
	long := float64(in.usecs) >= p["delay"]
	if !long && !filling {
		return f, false
	}
	f.Subject = h.subject("interface", i.Name)
	f.Severity = finding.Notice
	f.Confidence, f.Reasons = in.level, []string{in.how}
	f.Measures = []finding.Measure{{Name: "rx_usecs", Value: float64(in.usecs), Unit: "us", Threshold: finding.Threshold(p["delay"])}}
	f.Evidence = i.settingEvidence("ethtool-c", in.setting)
	f.Summary = fmt.Sprintf("rx-usecs of %d us on %s lets each packet wait up to %v for its interrupt", in.usecs, i.Name, unit.Nanos(min(in.usecs, 1<<32))*unit.Microsecond)
	target := uint64(64)
	if filling {
		size, _, _ := i.ring()
		f.Summary = fmt.Sprintf("each interrupt of %s brings %s packets, %s of the receive ring of %d: moderation of %d us gathers more than the ring can take beside it", i.Name, unit.Number(gathered), unit.Percent(share), size, in.usecs)
		f.Measures = append(f.Measures, finding.Measure{Name: "packets_per_interrupt", Value: gathered, Unit: "packets"}, finding.Measure{Name: "ring_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(p["ring-share"])})
		f.Evidence = append(f.Evidence, i.settingEvidence("ethtool-g", "rx")...)
		target = max(1, uint64(float64(in.usecs)*p["ring-share"]/2/share))
		if l, also, lost := i.lost(kernel.LossRing); lost && l.delta > 0 {
			f.Severity = finding.Warning
			f.Effect.Share = l.share()
			f.Summary += "; the ring overran for " + l.text()
			f.Measures = append(f.Measures, finding.Measure{Name: "lost_packets", Value: float64(l.delta), Unit: "packets"})
			f.Evidence = append(f.Evidence, ends(l.counter, l.change)...)
			alsoText(&f, also)
		}
	}
	if i.gapModeration() {
		f.Confidence = finding.Low
		f.Caveats = append(f.Caveats, i.Driver.Name+" takes rx-usecs for the least gap between interrupts, not for a delay: the first packet after a pause does not wait")
	}
	f.Advice = []finding.Advice{{Text: fmt.Sprintf("ethtool -C %s adaptive-rx off rx-usecs %d", i.Name, min(target, in.usecs)), Reference: "ethtool(8), -C"},
		{Text: fmt.Sprintf("or bound the number instead of the time: ethtool -C %s rx-frames 64", i.Name), Reference: "ethtool(8), -C"}}
	return f, true
}

// gathers returns the packets that each interrupt brings and their share of the ring, and whether settings and counters
// agree that it is too much.
func (i *Interface) gathers(h *Host, m Moderation, usecs uint64, p finding.Params) (packets, share float64, ok bool) {
	size, _, known := i.ring()
	d := h.deviceOf(i)
	if !known || size == 0 || d == nil {
		return 0, 0, false
	}
	w, counted := d.packets()
	queues := float64(max(1, len(d.rows)))
	expected := w.received / queues * float64(usecs) / 1e6
	if m.RXFrames > 0 {
		expected = min(expected, float64(m.RXFrames))
	}
	share = w.receivedPerInterrupt / float64(size)
	return w.receivedPerInterrupt, share, counted && share >= p["ring-share"] && expected > 0 && w.receivedPerInterrupt >= p["agree"]*expected && expected >= p["agree"]*w.receivedPerInterrupt
}
