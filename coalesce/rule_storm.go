package coalesce

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// interruptCost is what one interrupt costs its CPU at least: entry 0.7 us and the beginning of a poll 0.5 us, the
// assumed constants of the reference datapath.
const interruptCost = 1200 * unit.Nanos(1)

// Storm finds interrupts that come too often for what they bring.
func Storm() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "irq/storm",
			Title: "an interrupt fires far more often than there is work for it",
			Method: "Interrupts/s of each network device on its busiest CPU, from two or more snapshots of /proc/interrupts, are set against the packets/s that the device's counters show. " +
				"Many interrupts with few packets each are a storm; many with many packets each are a busy device. Received and sent packets both count as work. " +
				"Other devices are a storm if one source has most of all device interrupts at a high rate; timers, disks and the CPUs' own interrupts are left out. " +
				"With three or more snapshots two steps have to be above the threshold, with two their distance has to be a second.",
			Params: []finding.Param{
				{Name: "cpu-rate", Default: 20000, Unit: "interrupts/s", Doc: "on one CPU, with fewer packets each than packets-per-interrupt: a NIC at rx-usecs 3 reached it with softirq time squeezes (netdata issue 4624)"},
				{Name: "packets-per-interrupt", Default: 1.5, Unit: "packets", Doc: "below this an interrupt brings about one packet: nothing is coalesced"},
				{Name: "any-rate", Default: 50000, Unit: "interrupts/s", Doc: "on one CPU, whatever they bring: 10^6/20 us, the rate at the usual rx-usecs 20"},
				{Name: "other-rate", Default: 10000, Unit: "interrupts/s", Doc: "for a device that is no NIC, timer or disk; real cases were above 100,000/s (an SMBus controller)"},
				{Name: "other-share", Default: 0.6, Unit: "ratio", Doc: "share of all device interrupts that such a source has to have"},
				{Name: "least-time", Default: 1, Unit: "s", Doc: "distance that two snapshots need to have"},
			},
			FalsePositives: "Packets are known only if the device's counters were recorded over the same time and its interface is known; without them only any-rate can fire. Interrupts of a device that shares its line count for all that share it. " +
				"FreeBSD's hw.intr_storm_threshold counts runs of an interrupt thread without sleep, not interrupts/s; the two do not agree.",
			References: []string{"Linux Documentation/networking/napi.rst", "ethtool(8), -C rx-usecs", "FreeBSD sys/kern/kern_intr.c, hw.intr_storm_threshold", "openwrt/openwrt pull request 19365 (a storm of ring overflow interrupts)"},
		},
		Judge: judgeStorm,
	}
}

func judgeStorm(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, s := range h.tables("proc-interrupts") {
		if !s.Timed() {
			continue
		}
		for _, d := range h.devices(s) {
			if f, ok := nicStorm(h, d, p); ok {
				found = append(found, f)
			}
		}
		if f, ok := otherStorm(h, s, p); ok {
			found = append(found, f)
		}
	}
	return found
}

// sustained returns the mean of the rates that reach the threshold, if that lasts: two steps, or one of the least time.
func sustained(rates []float64, s *Series, threshold, leastTime float64) (mean float64, ok bool) {
	above, time, events := 0, 0.0, 0.0
	for k, length := range s.Steps() {
		if k < len(rates) && rates[k] > threshold {
			above++
			time += length.Seconds()
			events += rates[k] * length.Seconds()
		}
	}
	if above == 0 || above < 2 && (len(s.Snapshots) > 2 || time < leastTime) {
		return 0, false
	}
	return events / time, true
}

func nicStorm(h *Host, d *device, p finding.Params) (f finding.Finding, ok bool) {
	cpu, share := d.busiest()
	rates := d.rates()
	for k := range rates {
		rates[k] *= share
	}
	packets, known := d.packets()
	rate, ok := sustained(rates, &d.series.Series, p["any-rate"], p["least-time"])
	storm := false
	if known && packets.perInterrupt < p["packets-per-interrupt"] {
		if r, often := sustained(rates, &d.series.Series, p["cpu-rate"], p["least-time"]); often {
			rate, ok, storm = r, true, true
		}
	}
	if !ok {
		return f, false
	}
	f.Subject = h.subject("interrupt", d.name)
	f.Severity = finding.Notice
	if storm {
		f.Severity = finding.Warning
		if packets.perInterrupt < 0.5 && rate > p["any-rate"] {
			f.Severity = finding.Critical
		}
	}
	level, why, caveats := d.series.trust()
	f.Confidence, f.Reasons, f.Caveats = level, why, caveats
	f.Effect.Share = min(1, rate*interruptCost.Seconds())
	f.End = d.series.Span()
	f.Effect.Lost = unit.Nanos(f.Effect.Share * float64(d.series.Span()))
	f.Measures = []finding.Measure{{Name: "interrupts_per_second", Value: rate, Unit: "interrupts/s", Threshold: finding.Threshold(p["any-rate"])}}
	top := d.top()
	f.Summary = fmt.Sprintf("%s interrupts/s of %s on CPU %d", unit.Number(rate), d.name, cpu)
	f.Evidence = ends("IRQ "+top.Key+" "+top.Name, top.Change)
	switch {
	case known:
		f.Measures[0].Threshold = finding.Threshold(p["cpu-rate"])
		f.Measures = append(f.Measures,
			finding.Measure{Name: "packets_per_interrupt", Value: packets.receivedPerInterrupt, Unit: "packets", Threshold: finding.Threshold(p["packets-per-interrupt"])},
			finding.Measure{Name: "packets_both_ways_per_interrupt", Value: packets.perInterrupt, Unit: "packets", Threshold: finding.Threshold(p["packets-per-interrupt"])})
		f.Summary += fmt.Sprintf(" bring %s received packets/s: %s", unit.Number(packets.received), perInterruptText(packets.receivedPerInterrupt))
		f.Evidence = append(f.Evidence, ends(packets.what, packets.change)...)
	default:
		f.Confidence = min(f.Confidence, finding.Medium)
		f.Reasons = append(f.Reasons, "the device's packets are not known, so that work per interrupt is not")
	}
	losses := d.overflows()
	for _, l := range losses {
		f.Evidence = append(f.Evidence, finding.At(l.Pos, "%s +%s, %s", l.Name, count(l.Delta), rateText(l.Rate)))
	}
	if len(losses) > 0 && storm {
		f.Summary += fmt.Sprintf(", while %s rises by %s: the overflow interrupts seem not to be masked while the driver polls", losses[0].Name, rateText(losses[0].Rate))
	}
	f.Advice = d.stormAdvice(storm, len(losses) > 0)
	f.Caveats = append(f.Caveats, fmt.Sprintf("the share of CPU time assumes %v an interrupt; on slow processors it is several times that", interruptCost))
	return f, true
}

// perInterruptText says it the way round that is easier to read.
func perInterruptText(perInterrupt float64) string {
	if perInterrupt > 0 && perInterrupt < 1 {
		return unit.Number(1/perInterrupt) + " interrupts per packet"
	}
	return unit.Number(perInterrupt) + " packets per interrupt"
}

// work is what the interrupts of a device bring.
type work struct {
	received             float64 // packets/s
	receivedPerInterrupt float64
	perInterrupt         float64 // both ways
	what                 string
	change               Change // of a counter to cite
}

// packets sets the device's packets against its interrupts, as rates, since the two were not read at one time.
func (d *device) packets() (w work, ok bool) {
	span := d.series.Span().Seconds()
	if d.iface == nil || span <= 0 {
		return w, false
	}
	t, ok := d.iface.Traffic()
	if !ok {
		return w, false
	}
	interrupts := float64(d.delta()) / span
	if interrupts == 0 {
		return w, false
	}
	w.received = t.RXRate()
	w.receivedPerInterrupt = w.received / interrupts
	w.perInterrupt = (w.received + t.TXRate()) / interrupts
	w.what, w.change = t.RX[0].Name, t.RX[0].Change
	return w, true
}

// overflows returns what found no room at the device, in its receive ring or in front of it.
func (d *device) overflows() (found []InterfaceLoss) {
	if d.iface == nil {
		return nil
	}
	for _, l := range d.iface.Losses() {
		if l.Place == kernel.LossRing || l.Place == kernel.LossMissed {
			found = append(found, l)
		}
	}
	return found
}

func (d *device) stormAdvice(storm, overflow bool) []finding.Advice {
	name := "IFACE"
	if d.iface != nil && d.iface.Name != "" {
		name = d.iface.Name
	}
	var advice []finding.Advice
	if overflow && storm {
		advice = append(advice, finding.Advice{Text: "look in the driver whether all receive interrupts, ring overflow included, are masked from the first interrupt to the end of the poll; a larger ring is no remedy while interrupts outnumber packets",
			Reference: "Linux Documentation/networking/napi.rst"})
	}
	text := fmt.Sprintf("moderate the interrupts: ethtool -C %s rx-usecs 20, or adaptive-rx on where the driver has it; then compare packets per interrupt again", name)
	if d.iface != nil {
		if m, known := d.iface.Moderation(); known {
			text = fmt.Sprintf("rx-usecs is %d and adaptive-rx %s: ethtool -C %s rx-usecs %d", m.RXUsecs, Switch(m.AdaptiveRX), name, max(20, 2*m.RXUsecs))
		}
	}
	advice = append(advice, finding.Advice{Text: text, Reference: "ethtool(8), -C"})
	if storm {
		return append(advice, finding.Advice{Text: "see how often NAPI polls and what each finds: perf trace -e napi:napi_poll -a sleep 5", Reference: "Linux include/trace/events/napi.h"})
	}
	return advice
}

// otherStorm looks for one source, no NIC, timer or disk, that has most of all device interrupts.
func otherStorm(h *Host, s *CPUSeries, p finding.Params) (f finding.Finding, ok bool) {
	total, top := uint64(0), (*CPURow)(nil)
	for k := range s.Rows {
		row := &s.Rows[k]
		if row.Vector.Kind == kernel.VectorCPU || row.Vector.Kind == kernel.VectorTimer {
			continue
		}
		total += row.Delta
		if row.Vector.Kind == kernel.VectorOther && (top == nil || row.Delta > top.Delta) {
			top = row
		}
	}
	if top == nil || total == 0 {
		return f, false
	}
	d := &device{name: top.Name, rows: []*CPURow{top}, series: s}
	rate, ok := sustained(d.rates(), &s.Series, p["other-rate"], p["least-time"])
	share := float64(top.Delta) / float64(total)
	if !ok || share <= p["other-share"] {
		return f, false
	}
	cpu, _ := d.busiest()
	name := strings.TrimSpace("IRQ " + top.Key + " " + top.Name)
	f.Subject = h.subject("interrupt", name)
	f.Severity = finding.Warning
	f.Confidence, f.Reasons, f.Caveats = s.trust()
	f.Effect.Share = min(1, rate*interruptCost.Seconds())
	f.End = s.Span()
	f.Summary = fmt.Sprintf("%s on CPU %d fires %s, %s of all device interrupts, and is no NIC, timer or disk", name, cpu, rateText(rate), unit.Percent(share))
	f.Measures = []finding.Measure{
		{Name: "interrupts_per_second", Value: rate, Unit: "interrupts/s", Threshold: finding.Threshold(p["other-rate"])},
		{Name: "share_of_interrupts", Value: share, Unit: "ratio", Threshold: finding.Threshold(p["other-share"])},
	}
	f.Evidence = ends(name, top.Change)
	f.Advice = []finding.Advice{{Text: fmt.Sprintf("find the driver in /proc/interrupts and /sys/kernel/irq/%s/actions; if nothing uses the device, unbind it, else look whether its handler clears the cause (cat /proc/irq/%s/spurious)", top.Key, top.Key),
		Reference: "Linux Documentation/core-api/irq/"}}
	return f, true
}
