package flame

import (
	"nettrace/finding"
	"nettrace/kernel"
)

// CopyShare tells how much CPU time copying of payload takes.
func CopyShare() finding.On[*Profile] {
	return finding.On[*Profile]{Judge: judgeCopy, Rule: finding.Rule{
		Name:   "stack/copy-share",
		Title:  "Copying payload takes CPU time",
		Method: "Samples in or below the kernel's functions that copy payload between programs, packets and bounce buffers, as a share of busy time. Where bulk data is sent through sockets some copying is the price of the interface, and is told as a fact.",
		Params: []finding.Param{
			{Name: "share", Default: 0.1, Unit: "ratio", Doc: "share of busy time from which on it is told, at info; chosen"},
			{Name: "notice", Default: 0.5, Unit: "ratio", Doc: "share from which on it is a notice; chosen: nothing else costs as much. Bulk TCP over veth, which copies twice on one machine, is measured with 23 to 37 %"},
			{Name: "warning", Default: 0.75, Unit: "ratio", Doc: "share from which on it is a warning; chosen: the data path is little else"},
			minSamples(),
		},
		FalsePositives: "Functions such as memcpy copy more than payload. Page faults and cache misses on the data are charged to the copy that meets them first, so that without it a part of the time would move on to whoever reads the data next. " +
			"Copies in user space are not counted where the text tells the kernel's frames from others.",
		References: []string{"Linux lib/iov_iter.c, net/core/datagram.c", "Linux Documentation/networking/msg_zerocopy.rst", "FreeBSD sys/kern/uipc_mbuf.c"},
	}}
}

func judgeCopy(p *Profile, t finding.Params) []finding.Finding {
	w := newWorkload(p)
	if w == nil || !w.enough(w.classes[kernel.Copy], t) {
		return nil
	}
	f := w.finding("stack/copy-share", w.classes[kernel.Copy], finding.Subject{Kind: "profile", Key: "copy", Name: "copies of payload"}, t, "copies payload")
	if f.Severity == finding.Info {
		f.Effect = finding.Effect{}
		return []finding.Finding{f}
	}
	f.Advice = []finding.Advice{
		{Text: "send without copying: sendfile(2) or splice(2) for files, MSG_ZEROCOPY for writes of more than about 10 kB", Reference: "Linux Documentation/networking/msg_zerocopy.rst"},
		{Text: "run receiver and NIC queue on one NUMA node, so that copies read from its cache (cat /sys/class/net/eth0/device/numa_node)", Reference: "Linux Documentation/networking/scaling.rst"},
	}
	return []finding.Finding{f}
}
