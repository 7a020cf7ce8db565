package flame

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// SoftirqShare tells how much CPU time deferred interrupt work takes, and whether it is more than the CPUs that run it can
// bear.
func SoftirqShare() finding.On[*Profile] {
	return finding.On[*Profile]{Judge: judgeSoftirq, Rule: finding.Rule{
		Name:  "stack/softirq-share",
		Title: "Deferred interrupt work takes CPU time",
		Method: "Samples below the functions that run softirqs, NAPI polls, interrupt threads or squeues, up to the interrupt that began them, as a share of busy time. By itself that is what receiving and " +
			"transmitting costs, and is told as a fact. It is a problem where the work does not end within its limits, so that ksoftirqd has to go on with it, and where one CPU has nothing left for anything else while others have.",
		Params: []finding.Param{
			{Name: "share", Default: 0.1, Unit: "ratio", Doc: "share of busy time from which on it is told, at info; chosen. In TCP and UDP bulk transfer over veth 21 to 30 % are measured with nothing wrong"},
			{Name: "ksoftirqd", Default: 0.1, Unit: "ratio", Doc: "share of busy time in ksoftirqd from which on it is a notice: softirqs then last longer than 2 ms or 10 rounds (MAX_SOFTIRQ_TIME, MAX_SOFTIRQ_RESTART, kernel/softirq.c). 0 to 2 % are measured in unimpaired transfers"},
			{Name: "saturated", Default: 0.9, Unit: "ratio", Doc: "share of all samples of one CPU from which on it is a warning if others are below half of it; chosen: a tenth is left for the program that the packets are for"},
			{Name: "cpu-samples", Default: 50, Unit: "samples", Doc: "samples that a CPU needs to be judged: at a share of 0.9 the standard error is then 0.04"},
			minSamples(),
		},
		FalsePositives: "Over loopback and veth, receive processing runs in softirq below the sender's own system call, so that the share is that of the receiver too. Tools that show softirq time of CPUs (mpstat, /proc/stat) count by the clock tick and " +
			"include what is displaced to the end of an interrupt. FreeBSD and illumos do such work in threads, whose stacks count here.",
		References: []string{"Linux kernel/softirq.c", "Linux Documentation/networking/scaling.rst", "FreeBSD sys/kern/kern_intr.c", "illumos usr/src/uts/common/inet/squeue.c"},
	}}
}

func judgeSoftirq(p *Profile, t finding.Params) []finding.Finding {
	w := newWorkload(p)
	if w == nil {
		return nil
	}
	softirq := w.classes[kernel.Softirq]
	if !w.enough(softirq, t) {
		return nil
	}
	f := w.finding("stack/softirq-share", softirq, finding.Subject{Kind: "profile", Key: "softirq", Name: "softirq work"}, t, "is deferred interrupt work")
	threads := w.share(&w.ksoftirqd)
	f.Measures = append(f.Measures, finding.Measure{Name: "ksoftirqd_share", Value: threads, Unit: "ratio", Threshold: finding.Threshold(t["ksoftirqd"])})
	if threads >= t["ksoftirqd"] {
		f.Severity = finding.Notice
		f.Summary += fmt.Sprintf("; ksoftirqd runs %s of busy time", unit.Percent(threads))
		f.Advice = append(f.Advice, finding.Advice{Text: "look whether polls run out of their budget (third column of /proc/net/softnet_stat; nettrace analyze reads it), and raise net.core.netdev_budget and netdev_budget_usecs if they do",
			Reference: "Linux Documentation/admin-guide/sysctl/net.rst"})
	}
	if cpu, share, others := w.saturated(t); cpu != "" {
		f.Severity = finding.Warning
		f.Summary += fmt.Sprintf("; CPU %s spends %s of its time in it, the others %s", cpu, unit.Percent(share), unit.Percent(others))
		if n, err := strconv.Atoi(cpu); err == nil {
			f.Measures = append(f.Measures, finding.Measure{Name: "cpu", Value: float64(n)})
		}
		f.Measures = append(f.Measures, finding.Measure{Name: "cpu_softirq_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(t["saturated"])})
		f.Advice = append(f.Advice, finding.Advice{Text: "spread the work: more receive queues (ethtool -L eth0 combined N) with their interrupts on several CPUs (/proc/irq/*/smp_affinity_list), or echo a mask of CPUs to /sys/class/net/eth0/queues/rx-0/rps_cpus where there is one queue",
			Reference: "Linux Documentation/networking/scaling.rst"})
	}
	if f.Severity == finding.Info {
		f.Effect = finding.Effect{}
	}
	return []finding.Finding{f}
}

// saturated returns the CPU with the largest softirq share, if that is at the threshold and the others', together, is below
// half of it.
func (w *workload) saturated(t finding.Params) (cpu string, share, others float64) {
	var rest cpuLoad
	busiest := ""
	for _, name := range slices.SortedFunc(names(w.cpus), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) {
		c := w.cpus[name]
		if float64(c.samples)/float64(w.profile.Scale) >= t["cpu-samples"] && (busiest == "" || ratio(c.softirq, c.all) > ratio(w.cpus[busiest].softirq, w.cpus[busiest].all)) {
			busiest = name
		}
	}
	if busiest == "" || len(w.cpus) < 2 {
		return "", 0, 0
	}
	for name, c := range w.cpus {
		if name != busiest {
			rest.all, rest.softirq = sum(rest.all, c.all), sum(rest.softirq, c.softirq)
		}
	}
	share, others = ratio(w.cpus[busiest].softirq, w.cpus[busiest].all), ratio(rest.softirq, rest.all)
	if share < t["saturated"] || others >= share/2 {
		return "", 0, 0
	}
	return busiest, share, others
}
