package flame

import (
	"nettrace/finding"
	"nettrace/kernel"
)

// IRQShare finds CPU time that goes into interrupts themselves.
func IRQShare() finding.On[*Profile] {
	return finding.On[*Profile]{Judge: judgeIRQ, Rule: finding.Rule{
		Name:  "stack/irq-share",
		Title: "Interrupts themselves take CPU time",
		Method: "Samples within an interrupt that did not run a softirq, as a share of busy time: handlers, and the way in and out. What was interrupted is not charged, and neither are softirqs that run at an interrupt's end. " +
			"Samples whose leaf is the place where interrupts are turned on again are left out with a clock that is no NMI, since they stand for what was held off.",
		Params: []finding.Param{
			{Name: "share", Default: 0.05, Unit: "ratio", Doc: "share of busy time from which on it is told, at info; chosen. In transfers over veth 0 to 1 % are measured, with timers alone"},
			{Name: "notice", Default: 0.1, Unit: "ratio", Doc: "share from which on it is a notice; chosen: what moderating interrupts can win is then more than the spread of a benchmark's runs"},
			{Name: "warning", Default: 0.3, Unit: "ratio", Doc: "share from which on it is a warning; chosen: a third of the CPU handles no packets"},
			minSamples(),
		},
		FalsePositives: "Timers, calls between CPUs and disks interrupt too: the functions in the summary tell which it is. An event that is sampled with an NMI sees all of a handler, a soft clock only what runs after interrupts are on again, so that its share is a lower bound. " +
			"In a virtual machine an exit to the host is charged to the instruction that caused it, often within the handler.",
		References: []string{"Linux kernel/irq/handle.c, arch/x86/kernel/irq.c", "FreeBSD sys/kern/kern_intr.c"},
	}}
}

func judgeIRQ(p *Profile, t finding.Params) []finding.Finding {
	w := newWorkload(p)
	if w == nil || !w.enough(w.classes[kernel.InterruptEntry], t) {
		return nil
	}
	f := w.finding("stack/irq-share", w.classes[kernel.InterruptEntry], finding.Subject{Kind: "profile", Key: "irq", Name: "interrupts"}, t, "is spent in interrupts")
	f.Advice = []finding.Advice{
		{Text: "take /proc/interrupts twice, some seconds apart, during the same load: nettrace analyze tells which interrupt comes how often", Reference: "proc(5)"},
		{Text: "if it is the network's, hold interrupts back longer: ethtool -C eth0 adaptive-rx on, or rx-usecs 50", Reference: "ethtool(8)"},
	}
	return []finding.Finding{f}
}
