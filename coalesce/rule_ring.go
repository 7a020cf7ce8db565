package coalesce

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// RingOverrun finds packets for which the receive ring had no descriptor.
func RingOverrun() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "nic/ring-overrun",
			Title: "the receive ring is full when packets come",
			Method: "The driver's counters of packets without a receive descriptor (rx_no_buffer_count, rx_no_dma_resources, rx_out_of_buffer, rx_discards and so on) are set against the packets received. Counters of several places that tell of the same packets are not added. " +
				"What one end of a veth pair drops in sending found no room in the ring of the other end, 256 packets, and is judged here too. A ring below half of its maximum is named as the cause, else the CPU that empties it.",
			Params: []finding.Param{
				{Name: "share", Default: 1e-5, Unit: "ratio", Doc: "lost of the packets that came, for a notice; real overruns were 0.1 % (bnxt_en) and 0.28 % (ixgbe)"},
				{Name: "warning-share", Default: 1e-3, Unit: "ratio", Doc: "for a warning: TCP feels it at any speed"},
				{Name: "ring-share", Default: 0.5, Unit: "ratio", Doc: "of the largest ring, below which the ring is small"},
			},
			FalsePositives: "Drivers differ: rx_missed_errors is the ring's on ixgbe and the packet buffer's on others, and rx_dropped of /proc/net/dev mixes both with what no protocol wanted; only counters whose meaning is known are taken. The overrun may be a burst at the start of the series.",
			References:     []string{"ethtool(8), -G, -S", "Linux drivers/net/veth.c, VETH_RING_SIZE"},
		},
		Judge: judgeRingOverrun,
	}
}

func judgeRingOverrun(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, i := range h.Interfaces {
		if f, ok := i.ringOverrun(h, p); ok {
			found = append(found, f)
		}
		if f, ok := i.peerRing(h, p); ok {
			found = append(found, f)
		}
	}
	return found
}

func (i *Interface) ringOverrun(h *Host, p finding.Params) (f finding.Finding, ok bool) {
	l, also, ok := i.lost(kernel.LossRing)
	severity, over := l.grade(p)
	if !ok || !over {
		return f, false
	}
	if missed, known := i.Loss(kernel.LossMissed); known {
		also = append(also, missed.Name)
	}
	f = l.finding(h.subject("interface", i.Name), p["share"])
	f.Severity = severity
	f.Summary = fmt.Sprintf("the receive ring of %s was full for %s: %s", i.Name, l.text(), l.counter)
	alsoText(&f, also)
	size, limit, known := i.ring()
	if known {
		f.Evidence = append(append(f.Evidence, i.settingEvidence("ethtool-g", "rx")...), i.settingEvidence("ethtool-g", "rx-max")...)
	}
	if strings.Contains(l.counter, "overflow") || strings.Contains(l.counter, "empty") || strings.HasSuffix(l.counter, "_irq") {
		f.Caveats = append(f.Caveats, l.counter+" counts events: one is taken as one packet, which is an estimate")
	}
	if h.outnumbered(i, &f) {
		return f, true
	}
	cpu := finding.Advice{Text: "find why the CPU does not empty it: softnet/one-cpu, softnet/squeeze and irq/imbalance tell whether one CPU is full; mpstat -P ALL 1 shows its time", Reference: "Linux Documentation/networking/scaling.rst"}
	if known && float64(size) < p["ring-share"]*float64(limit) {
		f.Reasons = append(f.Reasons, fmt.Sprintf("the ring has %d descriptors of at most %d", size, limit))
		f.Advice = []finding.Advice{{Text: fmt.Sprintf("ethtool -G %s rx %d", i.Name, limit), Reference: "ethtool(8), -G"}, cpu}
		return f, true
	}
	f.Advice = []finding.Advice{cpu}
	if !known {
		f.Advice = append(f.Advice, finding.Advice{Text: fmt.Sprintf("see whether the ring can be larger: ethtool -g %s, ethtool -G %s rx N", i.Name, i.Name), Reference: "ethtool(8), -G"})
	}
	return f, true
}

// outnumbered says in a finding of lost packets that their interface has more interrupts than packets, if it has.
func (h *Host) outnumbered(i *Interface, f *finding.Finding) bool {
	d := h.deviceOf(i)
	if d == nil {
		return false
	}
	w, counted := d.packets()
	if !counted || w.receivedPerInterrupt >= 1 {
		return false
	}
	f.Reasons = append(f.Reasons, fmt.Sprintf("%s on it, so that the CPU may be spent on interrupts", perInterruptText(w.receivedPerInterrupt)))
	f.Advice = []finding.Advice{{Text: "interrupts outnumber packets: handle irq/storm first; a larger ring is no remedy for it", Reference: "Linux Documentation/networking/napi.rst"}}
	return true
}

// ring returns the size of the receive ring and the largest there is; a maximum of 0 is not known (be2net).
func (i *Interface) ring() (size, limit uint64, ok bool) {
	now, _ := i.Setting("ethtool-g", "rx")
	most, _ := i.Setting("ethtool-g", "rx-max")
	size, known := now.Value.Number()
	limit, alsoKnown := most.Value.Number()
	return size, limit, known && alsoKnown && limit > 0
}

// peerRing judges what a veth end drops in sending.
func (i *Interface) peerRing(h *Host, p finding.Params) (f finding.Finding, ok bool) {
	dropped, sent := i.kernelCounter("tx_dropped"), i.kernelCounter("tx_packets")
	if !i.veth() || dropped == nil || sent == nil {
		return f, false
	}
	l := lost{what: "packets", delta: dropped.Delta, of: dropped.Delta + sent.Delta, counter: dropped.Name, change: dropped.Change, series: i.seriesOf(dropped)}
	severity, ok := l.grade(p)
	if !ok {
		return f, false
	}
	f = l.finding(h.subject("interface", i.Name), p["share"])
	f.Severity = severity
	f.Summary = fmt.Sprintf("the receive ring of the peer of %s (veth, 256 packets) was full for %s", i.Name, l.text())
	f.Reasons = append(f.Reasons, i.Name+" is one end of a veth pair: it drops only what does not fit into the other end's ring")
	f.Advice = []finding.Advice{
		{Text: fmt.Sprintf("the ring has a fixed size: spread the receiver over more CPUs (ethtool -L PEER rx 4 tx 4, RPS on the peer), or smooth the sender: tc qdisc replace dev %s root fq", i.Name), Reference: "Linux drivers/net/veth.c, VETH_RING_SIZE"},
		{Text: "a smaller window keeps fewer packets under way: sysctl -w net.ipv4.tcp_rmem='4096 131072 1048576' at the receiver", Reference: "tcp(7), tcp_rmem"}}
	f.Caveats = append(f.Caveats, "packets sent with segmentation offload are counted once and lose several segments")
	return f, true
}

// seriesOf returns the series that holds a counter.
func (i *Interface) seriesOf(c *Counter) *Series {
	for _, s := range i.Counters {
		for k := range s.Counters {
			if &s.Counters[k] == c {
				return &s.Series
			}
		}
	}
	return &Series{TimeFrom: TimeUnknown}
}

// RingSmall finds a receive ring far below its largest size under load.
func RingSmall() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:   "nic/ring-small",
			Title:  "the receive ring is much smaller than it could be",
			Method: "The ring of ethtool -g is set against its maximum. With packets lost for want of descriptors it is a notice, under a high rate without loss only an info: a small ring costs nothing as long as it does not overrun, and keeps data in the cache.",
			Params: []finding.Param{
				{Name: "ring-share", Default: 0.5, Unit: "ratio", Doc: "of the largest ring, below which the ring is small"},
				{Name: "rate", Default: 100000, Unit: "packets/s", Doc: "received, without loss, above which a small ring is worth an info: 256 descriptors then last 2.6 ms, about two receive rounds"},
			},
			FalsePositives: "A large ring adds delay when it fills, and cache misses when it wraps: without loss there is no reason to change it. Maximum 0 means that the driver does not tell (be2net).",
			References:     []string{"ethtool(8), -g, -G"},
		},
		Judge: judgeRingSmall,
	}
}

func judgeRingSmall(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, i := range h.Interfaces {
		size, limit, known := i.ring()
		if !known || size == 0 || float64(size) >= p["ring-share"]*float64(limit) {
			continue
		}
		loss, overrun := i.Loss(kernel.LossRing)
		t, busy := i.Traffic()
		if !overrun && (!busy || t.RXRate() < p["rate"]) {
			continue
		}
		f := finding.Finding{Subject: h.subject("interface", i.Name), Severity: finding.Info, Confidence: finding.High}
		f.Reasons = []string{"ethtool -g tells both sizes"}
		f.Measures = []finding.Measure{
			{Name: "ring", Value: float64(size), Unit: "descriptors"},
			{Name: "ring_share", Value: float64(size) / float64(limit), Unit: "ratio", Threshold: finding.Threshold(p["ring-share"])},
		}
		f.Evidence = append(i.settingEvidence("ethtool-g", "rx"), i.settingEvidence("ethtool-g", "rx-max")...)
		f.Summary = fmt.Sprintf("the receive ring of %s has %d descriptors of at most %d", i.Name, size, limit)
		if overrun {
			f.Severity = finding.Notice
			f.Summary += fmt.Sprintf(", and %s packets found none free", count(loss.Delta))
			f.Evidence = append(f.Evidence, ends(loss.Name, loss.change)...)
		} else {
			f.Summary += fmt.Sprintf("; at %s packets/s it lasts %v, and nothing was lost", unit.Number(t.RXRate()), unit.FromSeconds(float64(size)/t.RXRate()))
		}
		f.Advice = []finding.Advice{{Text: fmt.Sprintf("if packets are lost: ethtool -G %s rx %d (the link may go down for a moment)", i.Name, limit), Reference: "ethtool(8), -G"}}
		found = append(found, f)
	}
	return found
}
