package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/kernel"
)

// NoBuffer finds receive buffers that could not be allocated.
func NoBuffer() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:   "nic/no-buffer",
			Title:  "the driver gets no memory for receive buffers",
			Method: "The driver's counters of failed allocations in refilling the ring (alloc_rx_page_failed, alloc_rx_buff_failed, rx_drops_no_skbs and so on) are set against the packets received. The ring then runs empty whatever its size.",
			Params: []finding.Param{
				{Name: "share", Default: 1e-5, Unit: "ratio", Doc: "failed of the packets received, for a notice; the same as for rings"},
				{Name: "warning-share", Default: 1e-3, Unit: "ratio", Doc: "for a warning"},
			},
			FalsePositives: "A failed allocation is tried again and does not lose a packet by itself. Counters of page caches that are empty (*_cache_empty) are no failures and are not taken.",
			References:     []string{"Linux Documentation/admin-guide/sysctl/vm.rst, min_free_kbytes"},
		},
		Judge: func(h *Host, p finding.Params) []finding.Finding {
			return eachLoss(h, p, kernel.LossMemory, func(i *Interface, l lost, f *finding.Finding) bool {
				came := ""
				if l.of > 0 {
					came = " while " + count(l.of-l.delta) + " packets came"
				}
				f.Summary = fmt.Sprintf("the driver of %s got no memory for receive buffers %s times%s: %s", i.Name, count(l.delta), came, l.counter)
				f.Advice = []finding.Advice{{Text: "keep more memory free for interrupts: sysctl -w vm.min_free_kbytes=262144; and look who takes it (dmesg | grep 'page allocation failure', /proc/buddyinfo): jumbo frames need several pages at once", Reference: "Linux Documentation/admin-guide/sysctl/vm.rst"}}
				return true
			})
		},
	}
}

// eachLoss judges the losses of all interfaces at one place. state adds summary and advice, or declines.
func eachLoss(h *Host, p finding.Params, place kernel.LossPlace, state func(i *Interface, l lost, f *finding.Finding) bool) []finding.Finding {
	var found []finding.Finding
	for _, i := range h.Interfaces {
		l, also, ok := i.lost(place)
		severity, over := l.grade(p)
		if !ok || !over {
			continue
		}
		f := l.finding(h.subject("interface", i.Name), p["share"])
		f.Severity = severity
		alsoText(&f, also)
		if state(i, l, &f) {
			found = append(found, f)
		}
	}
	return found
}
