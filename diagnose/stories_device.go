package diagnose

import (
	"nettrace/finding"
)

// Causes between driver, device and memory.

// mapLock: buffers are mapped one by one under a lock that all queues share.
func mapLock() story {
	return story{
		Rule: finding.Rule{
			Name:  "cross/map-lock",
			Title: "buffers are mapped for the device one by one, under a lock that all queues share",
			Method: "Lock statistics show waits for the lock of a mapping table (IOMMU, IO virtual addresses, bounce buffers), and profiles, settings or benchmark results show why or what it costs: mapping functions or their spinning in the samples (stack/dma-map-share, stack/lock-spin), throughput that stops growing with streams, CPU cost for each byte. " +
				"Maps and unmaps both on that lock mean that every packet passes it twice for each of its fragments.",
			FalsePositives: "Devices that map seldom but block for long (a slow invalidation of the IOMMU) wait at the queue of invalidations, not at the allocator; the advice differs.",
			References:     []string{"netdev 2012, mlx4_en: map entire pages to increase throughput", "Linux drivers/iommu/iova.c", "Linux Documentation/core-api/dma-api.rst"},
		},
		parts: []part{
			{name: "lock", rules: []string{"lock/contention", "lock/convoy", "lock/long-hold", "lock/cross-cpu"}, locks: []string{"dma-map"}, least: finding.Notice, says: "the lock of the mapping table is contended",
				want: "lock statistics (/proc/lock_stat, perf lock contention, lockstat)"},
			{name: "map", rules: []string{"stack/dma-map-share", "stack/lock-spin"}, when: maps, least: finding.Notice, says: "CPU time goes to mapping", want: "a profile (perf record -a -g)"},
			{name: "felt", rules: []string{"bench/scaling", "bench/difference", "bench/cpu-cost", "bench/cliff", "irq/few-packets-per-interrupt", "softnet/squeeze", "nic/ring-overrun"}, least: finding.Notice, says: "what it costs",
				want: "throughput with 1, 2, 4 and 8 streams"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			lock, spin := t.worst("lock"), t.worst("map")
			if lock == nil && spin == nil || lock == nil && t.worst("felt") == nil {
				return finding.Finding{}, false
			}
			worst := lock
			if worst == nil {
				worst = spin
			}
			return finding.Finding{Subject: worst.Subject, Severity: finding.Warning, Summary: "buffers are mapped one by one under a shared lock: " + brief(worst), Measures: worst.Measures,
				Advice: append([]finding.Advice{
					{Text: "a driver that maps whole pages once and gives out their fragments (mlx4_en since Linux 3.7), or one with page_pool: one map for a page in place of two for each packet", Reference: "netdev 2012, mlx4_en: map entire pages to increase throughput"},
				}, worst.Advice...)}, true
		},
	}
}

// maps takes findings of stacks that are about mapping.
func maps(f *finding.Finding) bool {
	return f.Rule == "stack/dma-map-share" || says("iommu", "iova", "dma_map", "dma_unmap", "swiotlb", "bus_dma", "dmar")(f)
}

// tagRace: interrupts come for work that a poll has done already.
func tagRace() story {
	return story{
		Rule: finding.Rule{
			Name:  "cross/tag-race",
			Title: "interrupts come for work that was done already: the driver writes back an old status tag",
			Method: "Counters or tracepoints show more interrupts than there is work for (irq/tag-race), and packets, profiles or results show what they cost: few packets for an interrupt, interrupt time in samples, CPU for each packet, waits for the driver's lock. " +
				"A device with tagged status interrupts again if the tag that the driver writes when it enables the interrupt is not the newest; a driver that takes the tag before it does the work writes an old one whenever packets come in between. " +
				"Tables of packets for an interrupt by patch set and load (in a mail, or as CSV) tell of it alone, where a set that adds a patch about the tag has at least a twentieth fewer of them at three loads and more.",
			FalsePositives: "Moderation that the driver prints and the device does not keep gives too many interrupts as well: then they find work (perf record -e napi:napi_poll shows how many packets each poll took). Light load has about one packet for an interrupt anyway; the rule looks at rates where polls should find several.",
			References:     []string{"netdev 2005, Perf data with recent tg3 patches", "Linux drivers/net/ethernet/broadcom/tg3.c, tg3_poll and tg3_interrupt_tagged"},
		},
		parts: []part{
			{name: "race", rules: []string{"irq/tag-race"}, need: true, least: finding.Notice, says: "interrupts find no work"},
			{name: "cost", rules: []string{"irq/few-packets-per-interrupt", "stack/irq-share", "stack/softirq-share", "bench/cpu-cost", "bench/difference"}, need: true, says: "what they cost"},
			{name: "lock", rules: []string{"lock/contention", "lock/cross-cpu"}, locks: []string{"driver-tx"}, least: finding.Notice, says: "the driver's lock is contended"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			race := t.worst("race")
			return finding.Finding{Subject: race.Subject, Severity: race.Severity, Summary: brief(race) + "; " + brief(t.worst("cost")), Measures: race.Measures, Advice: race.Advice}, true
		},
		also: tagRaceInTables,
	}
}

// cState: request/response traffic waits for CPUs to wake up.
func cState() story {
	return story{
		Rule: finding.Rule{
			Name:           "cross/c-state",
			Title:          "requests wait for CPUs that wake from deep sleep",
			Method:         "Residency shows CPUs in deep idle states between packets (host/c-state), and request/response traffic shows latency: a rate of transactions, one after the other, of a benchmark or a capture of the same time.",
			FalsePositives: "Deep states cost nothing to bulk traffic. Interrupt moderation delays requests as well, by the value of rx-usecs (nic/moderation-latency): with cpupower idle-set the delay goes away, if it was the sleep.",
			References:     []string{"Linux Documentation/admin-guide/pm/cpuidle.rst", "turbostat(8)"},
		},
		parts: []part{
			{name: "sleep", rules: []string{"host/c-state"}, need: true, least: finding.Notice, says: "CPUs sleep deeply between packets"},
			{name: "felt", facts: (*told).exchanges, need: true, says: "transactions wait"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			sleep := t.worst("sleep")
			return finding.Finding{Subject: sleep.Subject, Severity: sleep.Severity, Summary: "requests wait for CPUs to wake up: " + brief(sleep), Measures: sleep.Measures, Advice: sleep.Advice}, true
		},
	}
}
