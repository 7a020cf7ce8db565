package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/source"
)

// BacklogDrop finds packets that the kernel's backlog had no room for.
func BacklogDrop() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "softnet/drop",
			Title: "the kernel's receive backlog drops packets",
			Method: "The second column of /proc/net/softnet_stat counts packets for which the backlog of a CPU (net.core.netdev_max_backlog, 1,000 packets) had no room, the eleventh those that flow limits dropped. " +
				"The backlog is used by RPS and by devices without NAPI (veth without GRO, loopback, tunnels), not by a NIC whose interrupt's CPU also does the rest.",
			Params: []finding.Param{
				{Name: "share", Default: 1e-5, Unit: "ratio", Doc: "dropped of those processed and dropped, for a notice; the same as for rings"},
				{Name: "warning-share", Default: 1e-3, Unit: "ratio", Doc: "for a warning"},
			},
			FalsePositives: "softnet_stat counts for the whole machine, other namespaces and loopback included. processed counts after GRO, so that the share is too large where packets are merged. One snapshot has totals since boot, which are not judged.",
			References:     []string{"Linux net/core/dev.c, enqueue_to_backlog", "Linux Documentation/networking/scaling.rst, RPS flow limit"},
		},
		Judge: judgeBacklogDrop,
	}
}

func judgeBacklogDrop(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, s := range h.tables("proc-softnet_stat") {
		processed := s.row("processed")
		for _, key := range []string{"dropped", "flow_limit_count"} {
			row := s.row(key)
			if row == nil || processed == nil || len(s.Snapshots) < 2 {
				continue
			}
			l := lost{what: "packets", delta: row.Delta, of: processed.Delta + row.Delta, counter: key, change: row.Change, series: &s.Series}
			severity, ok := l.grade(p)
			if !ok {
				continue
			}
			cpu, most, _ := row.top()
			f := l.finding(h.subject("cpu", fmt.Sprintf("CPU %d", cpu)), p["share"])
			f.Severity = severity
			f.Summary = fmt.Sprintf("the receive backlog dropped %s, %s of them on CPU %d", l.text(), count(most), cpu)
			f.Advice = []finding.Advice{{Text: "sysctl -w net.core.netdev_max_backlog=5000 holds longer bursts; if the CPU is full, give RPS more CPUs: echo MASK > /sys/class/net/IFACE/queues/rx-0/rps_cpus", Reference: "Linux Documentation/networking/scaling.rst"}}
			if first, ok := s.spreadFirst(cpu, "backlog"); ok {
				f.Advice[0] = first
			}
			if key == "flow_limit_count" {
				f.Summary = fmt.Sprintf("flow limits dropped %s of flows that were too large a part of a backlog, %s of them on CPU %d", l.text(), count(most), cpu)
				f.Advice[0].Text = "one flow is more than its CPU takes: let it go to a queue of its own, or make the table of flows larger: sysctl -w net.core.flow_limit_table_len=8192"
			}
			for _, c := range row.CPUs[:min(3, len(row.CPUs))] {
				f.Evidence = append(f.Evidence, finding.At(evidencePos(row, c), "%s of CPU %d: +%s", key, c.CPU, count(c.Delta)))
			}
			found = append(found, f)
		}
	}
	return found
}

// evidencePos is the CPU's own line, or that of the row.
func evidencePos(row *CPURow, c CPUChange) source.Pos {
	if c.Pos != (source.Pos{}) {
		return c.Pos
	}
	return row.Last.Pos
}
