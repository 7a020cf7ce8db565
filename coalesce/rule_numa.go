package coalesce

import (
	"fmt"
	"slices"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// NUMA finds interrupts of a NIC that are taken on a node away from it.
func NUMA() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:   "host/numa",
			Title:  "a NIC's interrupts are taken on CPUs of another node than its own",
			Method: "Where the NIC is (numa_node in sysfs, or lspci) and which CPUs a node has (sysfs, lscpu, numactl -H) are set against the CPUs that took its interrupts: descriptors and packets then cross between the nodes, twice for each packet.",
			Params: []finding.Param{
				{Name: "far-share", Default: 0.5, Unit: "ratio", Doc: "of the interrupts that other nodes took"},
				{Name: "rate", Default: 1000, Unit: "interrupts/s", Doc: "below which it costs nothing; irqbalance spreads what is quiet"},
			},
			FalsePositives: "Steering puts the stack's work elsewhere than the interrupt (RPS). If the program runs on the far node, one crossing is needed anyway. Firmware that tells a wrong node.",
			References:     []string{"Linux Documentation/networking/scaling.rst", "Irqbalance/irqbalance issue 122", "Linux Documentation/ABI/testing/sysfs-class-net, device/numa_node"},
		},
		Judge: judgeNUMA,
	}
}

func judgeNUMA(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	if len(h.Machine.Nodes) < 2 {
		return nil
	}
	for _, s := range h.tables("proc-interrupts") {
		if !s.Timed() {
			continue
		}
		for _, d := range h.devices(s) {
			if node, pos := h.PlaceOf(d.name); node >= 0 {
				if f, ok := d.far(h, node, pos, p); ok {
					found = append(found, f)
				}
			}
		}
	}
	return found
}

func (d *device) far(h *Host, node int, pos source.Pos, p finding.Params) (f finding.Finding, ok bool) {
	far, all := uint64(0), uint64(0)
	var worst *CPURow
	most := uint64(0)
	for _, r := range d.rows {
		row := uint64(0)
		for _, c := range r.CPUs {
			n := h.Machine.NodeOf(c.CPU)
			if n < 0 {
				continue
			}
			if all += c.Delta; n != node {
				row += c.Delta
			}
		}
		if far += row; row > most {
			worst, most = r, row
		}
	}
	rate, share := float64(all)/d.series.Span().Seconds(), float64(far)/float64(max(1, all))
	if rate < p["rate"] || share < p["far-share"] {
		return f, false
	}
	f.Subject = h.subject("interface", d.name)
	f.Severity = finding.Notice
	f.Confidence, f.Reasons, f.Caveats = d.series.trust()
	f.Confidence = min(f.Confidence, finding.Medium)
	f.End = d.series.Span()
	f.Summary = fmt.Sprintf("%s of %s interrupts/s of %s are taken on other nodes than its own, node %d", unit.Percent(share), unit.Number(rate), d.name, node)
	f.Measures = []finding.Measure{{Name: "far_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(p["far-share"])}, {Name: "interrupts_per_second", Value: rate, Unit: "interrupts/s"}}
	f.Evidence = append([]finding.Evidence{finding.At(pos, "%s is at node %d", d.name, node)}, ends("interrupt "+worst.Key, worst.Change)...)
	f.Advice = []finding.Advice{{Text: nearCommand(h, worst.Key, node), Reference: "Linux Documentation/core-api/irq/irq-affinity.rst"},
		{Text: fmt.Sprintf("run the program there too: numactl -N %d -m %d COMMAND", node, node), Reference: "numactl(8)"}}
	f.Caveats = append(f.Caveats, "what it costs depends on the machine: a remote access takes about twice as long as a local one")
	return f, true
}

// nearCommand moves an interrupt to the CPUs of a node.
func nearCommand(h *Host, irq string, node int) string {
	k := slices.IndexFunc(h.Machine.Nodes, func(n Node) bool { return n.Number == node })
	if k < 0 {
		return "irqbalance keeps interrupts near their device; restart it with --hintpolicy=subset"
	}
	return fmt.Sprintf("echo %s > /proc/irq/%s/smp_affinity_list (and for its other interrupts alike; stop irqbalance first)", cpuRanges(h.Machine.Nodes[k].CPUs), irq)
}
