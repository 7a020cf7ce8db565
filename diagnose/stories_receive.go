package diagnose

import (
	"fmt"
	"slices"

	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/unit"
)

// Causes on the way from the wire to the receiving application.

// retransmissions are the parts by which a loss is felt in packets.
func retransmissions(need bool) part {
	return part{name: "felt", rules: []string{"tcp/retransmission", "tcp/timeout", "udp/loss"}, need: need, least: finding.Notice,
		says: "packets were lost", want: "a capture at the sender (tcpdump -s 128), which shows what was sent again"}
}

// resent says how much was sent again, "" if no capture tells.
func resent(t *told) string {
	if n := t.sum("felt", "retransmitted_packets"); n > 0 {
		return fmt.Sprintf("; %s packets were sent again", unit.Count(int64(n)))
	}
	if n := t.sum("felt", "lost_datagrams"); n > 0 {
		return fmt.Sprintf("; %s datagrams were lost", unit.Count(int64(n)))
	}
	return ""
}

// ringOverrun: the receive ring is too small or emptied too late, and TCP pays for it.
func ringOverrun() story {
	return story{
		Rule: finding.Rule{
			Name:  "cross/rx-ring-overrun",
			Title: "the NIC's receive ring overflows and the sender sends again",
			Method: "The NIC counts packets that found no free descriptor (nic/ring-overrun, nic/no-buffer, nic/missed), and a capture shows data that was sent again, or datagrams that did not arrive. " +
				"A ring below its largest size, receive work on one CPU or one queue, and moderation that lets it fill raise the confidence: they say why it was emptied too late.",
			FalsePositives: "Losses elsewhere on the path show the same retransmissions; the receiver's own counters tell how many of them were lost here.",
			References:     []string{"ethtool(8), -g and -S", "Linux Documentation/networking/scaling.rst"},
		},
		parts: []part{
			{name: "ring", rules: []string{"nic/ring-overrun", "nic/no-buffer", "nic/missed"}, need: true, least: finding.Notice, says: "the receive ring was full"},
			retransmissions(true),
			{name: "why", rules: []string{"nic/ring-small", "rss/one-queue", "irq/imbalance", "softnet/one-cpu", "stack/softirq-share"}, least: finding.Notice, says: "the ring is small, or its CPU late",
				want: "ethtool -g IF, /proc/interrupts and a profile (perf record -a -g), which say whether the ring is small or its CPU busy"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			ring := t.worst("ring")
			f := finding.Finding{Subject: ring.Subject, Severity: finding.Warning,
				Summary:  "the receive ring overflows and packets are sent again: " + brief(ring) + resent(t),
				Measures: ring.Measures, Advice: ring.Advice}
			if why := t.worst("why"); why != nil {
				f.Advice = append(append([]finding.Advice{}, f.Advice...), why.Advice...)
			}
			return f, true
		},
	}
}

// softnetDrop: the kernel's backlog of received packets overflows.
func softnetDrop() story {
	return story{
		Rule: finding.Rule{
			Name:           "cross/softnet-drop",
			Title:          "the backlog of a CPU overflows and packets are sent again",
			Method:         "softnet/drop counts packets that found the backlog of a CPU full (RPS, loopback, tunnels, virtual devices), and a capture shows data that was sent again, or datagrams that did not arrive.",
			FalsePositives: "Packets of devices with NAPI do not pass the backlog without RPS; what they lose is counted by the NIC.",
			References:     []string{"Linux net/core/dev.c, enqueue_to_backlog", "sysctl net.core.netdev_max_backlog"},
		},
		parts: []part{
			{name: "drop", rules: []string{"softnet/drop"}, need: true, least: finding.Notice, says: "the backlog was full"},
			retransmissions(true),
			{name: "why", rules: []string{"softnet/one-cpu", "softnet/squeeze", "irq/imbalance", "rss/one-queue", "stack/softirq-share"}, least: finding.Notice, says: "the CPU was busy",
				want: "/proc/interrupts and a profile (perf record -a -g), which say what the CPU did"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			drop := t.worst("drop")
			return finding.Finding{Subject: drop.Subject, Severity: finding.Warning, Summary: "packets are dropped between interrupt and protocol: " + brief(drop) + resent(t), Measures: drop.Measures,
				Advice: append([]finding.Advice{{Text: "spread the work before the backlog is made larger: RSS (ethtool -L IF combined N), or rps_cpus over more CPUs", Reference: "Linux Documentation/networking/scaling.rst"}}, drop.Advice...)}, true
		},
	}
}

// oneCPU: all packets are worked on by one CPU, which has no time left.
func oneCPU() story {
	return story{
		Rule: finding.Rule{
			Name:           "cross/one-cpu",
			Title:          "one CPU takes all interrupts and has no time left for them",
			Method:         "Interrupts or received packets are on one CPU (irq/imbalance, rss/one-queue, rss/imbalance, softnet/one-cpu), and that CPU is seen to be full: its softirq work fills its samples (stack/softirq-share), polls run out of budget (softnet/squeeze), or packets are dropped (softnet/drop, nic/ring-overrun).",
			FalsePositives: "A single flow is worked on by one CPU by design; RSS cannot spread it. The rules on counters hold back when there are too few flows to judge.",
			References:     []string{"Linux Documentation/networking/scaling.rst"},
		},
		parts: []part{
			{name: "where", rules: []string{"irq/imbalance", "rss/one-queue", "rss/imbalance", "softnet/one-cpu"}, need: true, least: finding.Notice, says: "packets are on one CPU"},
			{name: "full", rules: []string{"stack/softirq-share", "softnet/squeeze", "softnet/drop", "nic/ring-overrun"}, need: true, least: finding.Notice, says: "it has no time left"},
			{name: "felt", rules: []string{"tcp/retransmission", "udp/loss", "bench/scaling"}, least: finding.Notice, says: "what it costs", want: "a capture or benchmark results, which say what it costs"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			slices.SortStableFunc(t.found["full"], func(a, b *finding.Finding) int { return falseFirst(!showsTime(a), !showsTime(b)) })
			where, full := t.worst("where"), t.worst("full")
			return finding.Finding{Subject: where.Subject, Severity: finding.Warning, Summary: "one CPU takes the packets and has no time left: " + brief(where) + "; " + brief(full), Measures: where.Measures, Advice: append(t.advice("where", "irq/imbalance"), full.Advice...)}, true
		},
	}
}

// stretchACK: merged packets are acknowledged so seldom that the sender grows slowly.
func stretchACK() story {
	return story{
		Rule: finding.Rule{
			Name:  "cross/stretch-ack",
			Title: "GRO or LRO at the receiver makes ACKs so rare that the sender grows slowly",
			Method: "A capture shows ACKs for many segments at once (tcp/stretch-ack); the receiver merges packets: by its settings (ethtool -k), or a capture there shows merged packets; and it costs something: the window of a connection without loss takes many round trips to double from its beginning, " +
				"as with a sender that counts ACKs instead of the bytes that they acknowledge, or bursts are lost (tcp/stretch-ack as a notice). Without such a cost merging is how it should be, and there is no finding.",
			Params: []finding.Param{
				{Name: minRounds, Default: 4, Unit: "round trips", Doc: "until the window has doubled: it takes one where ACKs' bytes count, two where each ACK of two segments counts (RFC 5681); above that own choice"},
				{Name: minShare, Default: 0.05, Unit: "ratio", Doc: "of a connection's life that growing took longer than doubling in each round trip; own choice"},
			},
			FalsePositives: "A sender that paces itself, or that left slow start early by the delay of its packets (HyStart), grows slowly as well: with GRO off at the receiver it still does. Lost ACKs look alike in a capture at the sender; one at the receiver has none missing.",
			References:     []string{"RFC 5681 section 4.2", "RFC 3465", "RFC 6928", "Linux net/core/gro.c"},
		},
		parts: []part{
			{name: "acks", rules: []string{"tcp/stretch-ack"}, need: true, says: "ACKs are rare"},
			{name: "merge", facts: (*told).merging, need: true, says: "the receiver merges packets"},
			{name: "growth", facts: (*told).slowGrowth, says: "the sender's window grows slowly", want: "a capture at the sender from the beginning of a connection (tcpdump -s 128)"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			acks, growth := t.worst("acks"), t.worst("growth")
			f := finding.Finding{Subject: acks.Subject, Severity: acks.Severity, Summary: "merged packets are acknowledged seldom: " + brief(acks), Measures: acks.Measures,
				Advice: append([]finding.Advice{
					{Text: "on the receiver, for a test: ethtool -K IF lro off gro off (with LRO off alone GRO keeps more ACKs)", Reference: "RFC 3465"},
					{Text: "on the sender, for good: a kernel that counts the bytes that are acknowledged (Linux 3.18 and later)", Reference: "RFC 3465"},
				}, acks.Advice...)}
			if growth != nil {
				f.Severity, f.Effect = finding.Warning, growth.Effect
				f.Summary += "; " + brief(growth)
			}
			return f, growth != nil || acks.Severity >= finding.Notice
		},
	}
}

// lroForwarding: packets that LRO merged are too large to be forwarded.
func lroForwarding() story {
	return story{
		Rule: finding.Rule{
			Name:           "cross/lro-forwarding",
			Title:          "a forwarding host merges packets with LRO and cannot send them on",
			Method:         "A capture shows packets larger than the path takes that are answered by ICMP or vanish (tcp/pmtu), the settings of a host have LRO on (ethtool -k), and the host forwards: its counter of forwarded packets rises (IpForwDatagrams).",
			FalsePositives: "A real black hole (a tunnel with a smaller MTU, ICMP filtered) beside a host with LRO looks alike: there the packets stay too large with LRO off. Hosts that bridge do not count what they forward.",
			References:     []string{"Linux Documentation/networking/netdevices.rst", "Linux net/core/dev.c, dev_disable_lro", "ethtool(8), -K lro"},
		},
		parts: []part{
			{name: "pmtu", rules: []string{"tcp/pmtu"}, need: true, least: finding.Notice, says: "packets are too large for the path"},
			{name: "lro", facts: func(t *told) []clue { return t.feature("large-receive-offload") }, need: true, says: "a host on the path merges"},
			retransmissions(false),
			{name: "forward", facts: (*told).forwarding, says: "it forwards", want: "nstat -az or /proc/net/snmp of the host before and after (IpForwDatagrams)"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			pmtu, lro := t.worst("pmtu"), t.worst("lro")
			if t.worst("forward") == nil && t.endsOnly() {
				return finding.Finding{}, false
			}
			return finding.Finding{Subject: pmtu.Subject, Severity: finding.Warning, Summary: fmt.Sprintf("%s and merges packets that cannot be forwarded: %s", brief(lro), brief(pmtu)), Measures: pmtu.Measures,
				Advice: append([]finding.Advice{{Text: fmt.Sprintf("ethtool -K %s lro off, and so on every interface that forwards (Linux turns it off when net.ipv4.ip_forward is set, but not for all tunnels and bridges)", interfaceOr(lro.Subject.Key)), Reference: "Linux net/core/dev.c, dev_disable_lro"}}, pmtu.Advice...)}, true
		},
	}
}

// endsOnly reports whether counters of forwarding were recorded and none of them rose.
func (t *told) endsOnly() bool {
	return slices.ContainsFunc(t.result.Models.Hosts, func(h *coalesce.Host) bool {
		c := h.Protocol("IpInReceives")
		return c != nil && c.Delta > 0
	})
}

// reorderedSteering: packets of one flow pass by several queues.
func reorderedSteering() story {
	return story{
		Rule: finding.Rule{
			Name:           "cross/reordering",
			Title:          "packets of one flow pass by several queues and overtake each other",
			Method:         "A capture shows packets out of order that were not lost (tcp/reordering), and settings or counters show several queues that a flow's packets can change between: steering in software to several CPUs (rps_cpus, xps_cpus), or several queues of an interface that took interrupts.",
			FalsePositives: "Paths outside the hosts (link aggregation by packet, several routes, radio links) reorder as well: a capture on the wire behind the sender has the packets in order, if they overtake each other in the receiver.",
			References:     []string{"RFC 4737", "Linux Documentation/networking/scaling.rst, XPS and RFS"},
		},
		parts: []part{
			{name: "order", rules: []string{"tcp/reordering"}, need: true, least: finding.Notice, says: "packets overtake each other"},
			{name: "queues", facts: (*told).severalQueues, need: true, says: "several queues are in use"},
			{name: "needless", rules: []string{"tcp/spurious-retransmission"}, says: "it costs retransmissions", want: "a capture at the sender (tcpdump -s 128), which shows what was sent again for nothing"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			order, queues := t.worst("order"), t.worst("queues")
			return finding.Finding{Subject: order.Subject, Severity: order.Severity, Summary: fmt.Sprintf("packets of a flow change queues: %s; %s", brief(order), brief(queues)), Measures: order.Measures,
				Advice: append([]finding.Advice{{Text: fmt.Sprintf("keep a flow on one queue of %s: echo 0 > /sys/class/net/%s/queues/rx-*/rps_cpus where RSS works, XPS by CPU or by receive queue, a qdisc that keeps order (fq); then record again", interfaceName(queues.Subject.Key), interfaceOr(queues.Subject.Key)), Reference: "Linux Documentation/networking/scaling.rst"}}, order.Advice...)}, true
		},
	}
}
