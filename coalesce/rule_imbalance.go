package coalesce

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// Imbalance finds NICs whose queues all interrupt the same CPU.
func Imbalance() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "irq/imbalance",
			Title: "the interrupts of several queues all go to one CPU",
			Method: "Of the vectors of a NIC that serve a queue those count that were active. If at least two of them have the same CPU, and that CPU took most of the NIC's interrupts, the affinity is at fault, not the traffic. " +
				"If one vector alone has most of the interrupts, the traffic may be of few flows, which counters cannot tell: then the finding only says so.",
			Params: []finding.Param{
				{Name: "cpu-share", Default: 0.8, Unit: "ratio", Doc: "share of the NIC's interrupts on one CPU (Irqbalance issue 122: everything on CPU 0)"},
				{Name: "least-interrupts", Default: 1000, Unit: "interrupts", Doc: "of a vector, or packets of its queue, for it to count as active: fewer say nothing of how load is spread"},
				{Name: "least-rate", Default: 1000, Unit: "1/s", Doc: "packets/s (interrupts/s where packets are not known) below which one CPU is enough anyway"},
				{Name: "least-time", Default: 1, Unit: "s", Doc: "length of the series"},
				{Name: "warning-rate", Default: 100000, Unit: "packets/s", Doc: "above which one CPU spends a large part of its time on them (about 1 us a packet); below it is a notice"},
			},
			FalsePositives: "A process that is pinned to the same CPU may want its interrupts there. RPS can spread the work behind the interrupt. The NIC's NUMA node may have only that CPU. Interrupts that are not rates but totals since boot are not judged.",
			References:     []string{"Linux Documentation/networking/scaling.rst", "Linux Documentation/core-api/irq/irq-affinity.rst"},
		},
		Judge: judgeImbalance,
	}
}

func judgeImbalance(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, s := range h.tables("proc-interrupts") {
		if !s.Timed() || s.Span().Seconds() < p["least-time"] || len(s.CPUs) < 2 {
			continue
		}
		for _, d := range h.devices(s) {
			if f, ok := d.imbalance(h, p); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

// spread says how the interrupts of a device's active vectors lie over CPUs.
type spread struct {
	queues  int // vectors that serve a queue
	active  []*CPURow
	cpu     int     // with most interrupts of them
	share   float64 // of that CPU
	there   int     // active vectors whose interrupts went mostly there
	topRow  *CPURow
	topPart float64 // share of the vector with most
}

func (d *device) spread(least float64) spread {
	var s spread
	active := *d
	active.rows = nil
	for _, r := range d.rows {
		if r.Vector.Queue < 0 {
			continue
		}
		s.queues++
		if float64(r.Delta) >= least || r.Delta > 0 && d.queuePackets(r) >= least {
			active.rows = append(active.rows, r)
		}
	}
	s.active = active.rows
	if len(s.active) == 0 {
		return s
	}
	s.cpu, s.share = active.busiest()
	s.topRow = active.top()
	s.topPart = float64(s.topRow.Delta) / float64(active.delta())
	for _, r := range s.active {
		one := device{rows: []*CPURow{r}, series: d.series}
		if cpu, share := one.busiest(); cpu == s.cpu && share > 0.5 {
			s.there++
		}
	}
	return s
}

// queuePackets returns the packets of the queue that a vector serves, 0 if they are not counted.
func (d *device) queuePackets(r *CPURow) float64 {
	if d.iface == nil {
		return 0
	}
	n := uint64(0)
	for _, dir := range []kernel.Direction{kernel.RX, kernel.TX} {
		if r.Vector.Direction == dir || r.Vector.Direction == kernel.Both {
			delta, _ := sum(d.iface.QueuePackets(dir, r.Vector.Queue))
			n += delta
		}
	}
	return float64(n)
}

func (d *device) imbalance(h *Host, p finding.Params) (f finding.Finding, ok bool) {
	s := d.spread(p["least-interrupts"])
	if s.queues < 2 || len(s.active) == 0 {
		return f, false
	}
	rate, what := float64(d.delta())/d.series.Span().Seconds(), "interrupts"
	if w, known := d.packets(); known {
		rate, what = w.perInterrupt*rate, "packets"
	}
	if rate < p["least-rate"] || s.share <= p["cpu-share"] {
		return f, false
	}
	f.Subject = h.subject("interrupt", d.name)
	f.Confidence, f.Reasons, f.Caveats = d.series.trust()
	f.End = d.series.Span()
	f.Measures = []finding.Measure{
		{Name: "cpu", Value: float64(s.cpu)},
		{Name: "cpu_share", Value: s.share, Unit: "ratio", Threshold: finding.Threshold(p["cpu-share"])},
		{Name: "active_vectors", Value: float64(len(s.active)), Unit: "vectors"},
		{Name: "vectors_on_cpu", Value: float64(s.there), Unit: "vectors"},
		{Name: what + "_per_second", Value: rate, Unit: what + "/s"},
	}
	f.Evidence = ends("IRQ "+s.topRow.Key+" "+s.topRow.Name, s.topRow.Change)
	if s.topPart > p["cpu-share"] || s.there < 2 {
		f.Severity = finding.Info
		f.Confidence = min(f.Confidence, finding.Medium)
		f.Summary = fmt.Sprintf("%s of the interrupts of %s are of one of its %d queues, %s: too few flows to judge how load is spread", unit.Percent(s.topPart), d.name, s.queues, s.topRow.Name)
		f.Caveats = append(f.Caveats, "whether there were few flows, or the NIC does not spread them, cannot be seen from counters")
		f.Advice = []finding.Advice{{Text: "for a test with one connection this is right; else look at ethtool -x " + d.name + " and count the flows", Reference: "Linux Documentation/networking/scaling.rst"}}
		return f, true
	}
	f.Severity = finding.Notice
	if what == "packets" && rate >= p["warning-rate"] {
		f.Severity = finding.Warning
	}
	perSecond := float64(d.delta()) / d.series.Span().Seconds()
	f.Effect.Share = min(1, perSecond*s.share*interruptCost.Seconds())
	f.Summary = fmt.Sprintf("CPU %d takes %s of the interrupts of %s, though %d of its %d queues are active and there are %d CPUs", s.cpu, unit.Percent(s.share), d.name, len(s.active), s.queues, len(d.series.CPUs))
	for _, r := range s.active[:min(3, len(s.active))] {
		if r != s.topRow {
			f.Evidence = append(f.Evidence, finding.At(r.Last.Pos, "IRQ %s %s: +%s", r.Key, r.Name, unit.Count(int64(r.Delta))))
		}
	}
	f.Advice = []finding.Advice{{Text: s.affinity(d.series.CPUs), Reference: "Linux Documentation/core-api/irq/irq-affinity.rst"},
		{Text: "or start irqbalance, and see that it is not told to leave this NIC alone (IRQBALANCE_BANNED_CPULIST, --banirq)", Reference: "irqbalance(1)"}}
	return f, true
}

// affinity is the command that gives each active vector a CPU of its own.
func (s *spread) affinity(cpus []int) string {
	var commands []string
	for k, r := range s.active {
		if k == 4 {
			commands = append(commands, "...")
			break
		}
		commands = append(commands, fmt.Sprintf("echo %d > /proc/irq/%s/smp_affinity_list", cpus[k%len(cpus)], r.Key))
	}
	return "give the queues CPUs of the NIC's NUMA node: " + strings.Join(commands, "; ")
}
