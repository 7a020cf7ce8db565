package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/kernel"
)

// Missed finds packets that overflowed the NIC's own buffer.
func Missed() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "nic/missed",
			Title: "the NIC's own packet buffer overflows",
			Method: "Counters of packets that the NIC dropped before it wrote them to memory (rx_missed_errors, rx_fifo_errors, rx_discards_phy, port.rx_dropped and so on) rose, and those of missing descriptors did not: the ring had room, and the way into memory was too slow. " +
				"If both rose, the full ring is the cause and nic/ring-overrun speaks.",
			Params: []finding.Param{
				{Name: "share", Default: 1e-5, Unit: "ratio", Doc: "lost of the packets that came, for a notice; the same as for rings"},
				{Name: "warning-share", Default: 1e-3, Unit: "ratio", Doc: "for a warning"},
			},
			FalsePositives: "Drivers that do not count missing descriptors apart (r8169, e1000) put them here: then it may be the ring after all. mlx5_core counts in rx_discards_phy what pause frames would have held back.",
			References:     []string{"Linux include/uapi/linux/if_link.h, rx_missed_errors", "ethtool(8), -S"},
		},
		Judge: func(h *Host, p finding.Params) []finding.Finding {
			return eachLoss(h, p, kernel.LossMissed, func(i *Interface, l lost, f *finding.Finding) bool {
				if _, ring := i.Loss(kernel.LossRing); ring {
					return false
				}
				f.Confidence = min(f.Confidence, finding.Medium)
				f.Reasons = append(f.Reasons, "no counter of missing descriptors rose")
				f.Summary = fmt.Sprintf("the packet buffer of %s overflowed for %s: %s", i.Name, l.text(), l.counter)
				if h.outnumbered(i, f) {
					return true
				}
				f.Advice = []finding.Advice{
					{Text: "see whether the slot gives the NIC its full speed and width: lspci -vv -s BUS | grep -E 'LnkCap|LnkSta|MaxPayload|MaxReadReq'", Reference: "lspci(8)"},
					{Text: "keep the CPUs out of deep sleep, which delays writes to memory: cpupower idle-set -D 10; and put interrupts and program on the NIC's NUMA node (/sys/class/net/" + i.Name + "/device/numa_node)", Reference: "cpupower-idle-set(1)"}}
				if size, limit, known := i.ring(); known && size < limit {
					f.Advice = append(f.Advice, finding.Advice{Text: fmt.Sprintf("if the driver does not count full rings apart: ethtool -G %s rx %d", i.Name, limit), Reference: "ethtool(8), -G"})
				}
				return true
			})
		},
	}
}
