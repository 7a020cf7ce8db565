package diagnose

import (
	"slices"

	"nettrace/finding"
)

// Causes on the way from the sending application to the wire, and between the ends.

// nagleDelayedACK: each side waits for the other.
func nagleDelayedACK() story {
	return story{
		Rule: finding.Rule{
			Name:           "cross/nagle-delayed-ack",
			Title:          "the sender's Nagle algorithm waits for an ACK that the receiver delays",
			Method:         "A capture shows a write held back until a delayed ACK arrives (tcp/delayed-ack-stall), and benchmark results or the host's counters show what it costs: a rate of transactions near one in a delayed ACK's time, a cliff over sizes, or counted delayed ACKs.",
			FalsePositives: "An application that sleeps 40 ms looks alike in rates alone; the capture shows the held segment leave right behind the ACK.",
			References:     []string{"RFC 896", "RFC 1122 section 4.2.3.2", "Minshall, A Proposed Modification to Nagle's Algorithm, 1998"},
		},
		parts: []part{
			{name: "stall", rules: []string{"tcp/delayed-ack-stall"}, need: true, least: finding.Notice, says: "writes wait for delayed ACKs"},
			{name: "felt", rules: []string{"bench/cliff", "bench/noisy", "bench/difference"}, facts: delayedACKs, need: true, least: finding.Notice, says: "what it costs"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			stall := t.worst("stall")
			return finding.Finding{Subject: stall.Subject, Severity: finding.Warning, Summary: "Nagle and delayed ACKs wait for each other: " + brief(stall), Measures: stall.Measures,
				Advice: append([]finding.Advice{{Text: "write a request in one call (writev), or set TCP_NODELAY on the sender", Reference: "tcp(7)"}}, stall.Advice...)}, true
		},
	}
}

// delayedACKs returns hosts that counted at least as many delayed ACKs as a capture shows stalls.
func delayedACKs(t *told) []clue {
	stalls := t.sum("stall", "nagle_stalls")
	return slices.DeleteFunc(t.counted("TcpExtDelayedACKs", "ACKs were sent late"), func(c clue) bool {
		n, _ := c.Measure("counted")
		return n < stalls
	})
}

// txRing: senders and the clean-up of sent packets stand in each other's way.
func txRing() story {
	return story{
		Rule: finding.Rule{
			Name:  "cross/tx-ring",
			Title: "senders contend for the transmit ring with each other and with the clean-up of sent packets",
			Method: "Lock statistics show waits for a lock of the transmit path (iflib's ring or queue, a driver's transmit lock, the root of a queueing discipline), and profiles or benchmark results show what they cost: time spun, senders that stop adding throughput, or a difference between variants. " +
				"Callers of unlike parts on the same lock, transmit and reclaim, say that the clean-up after interrupts takes the lock that senders hold.",
			FalsePositives: "Senders alone on a lock wait for each other without any clean-up: the callers tell. Which of ring and lock is better depends on the number of senders, and forwarding and sending can rank them in opposite order (bench/not-comparable): measure the load that matters.",
			References:     []string{"FreeBSD review D21122, iflib: bypass mp_ring", "FreeBSD sys/net/mp_ring.c", "Linux net/core/dev.c, __dev_xmit_skb"},
		},
		parts: []part{
			{name: "lock", rules: []string{"lock/contention", "lock/convoy", "lock/long-hold", "lock/cross-cpu"}, locks: []string{"iflib-ring", "iflib-txq", "driver-tx", "qdisc-root"}, need: true, least: finding.Notice, says: "a lock of the transmit path is contended"},
			{name: "cost", rules: []string{"stack/lock-spin", "bench/scaling", "bench/difference", "bench/cpu-cost", "bench/not-comparable"}, need: true, least: finding.Info, says: "what it costs",
				want: "a profile (pmcstat, perf record -a -g), or results with 1, 2, 4 and 8 senders for both variants"},
			{name: "spin", rules: []string{"lock/spin"}, least: finding.Notice, says: "CPU time is spun away", want: "lockstat -s 5, which tells senders from the clean-up by their callers"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			lock := t.worst("lock")
			return finding.Finding{Subject: lock.Subject, Severity: finding.Warning, Summary: "the transmit path waits for itself: " + brief(lock), Measures: lock.Measures, Advice: lock.Advice}, true
		},
	}
}

// offloadOff: the sender cuts packets itself and has no CPU left.
func offloadOff() story {
	return story{
		Rule: finding.Rule{
			Name:           "cross/offload-off",
			Title:          "segmentation is done by the CPU, which is what limits the sender",
			Method:         "An offload that the interface has is off (nic/offload-off), and the CPU is seen to pay: one that has no idle time left (/proc/stat), copying or softirq time in profiles, a rising cost per byte in benchmark results, or receive rounds that end with work left over.",
			FalsePositives: "A CPU that is full for another reason beside an offload that is off looks alike: a profile (perf record -a -g) tells what it does. Offloads are turned off on purpose where they are broken, or where latency counts more than throughput.",
			References:     []string{"ethtool(8), -K tso gso gro"},
		},
		parts: []part{
			{name: "off", rules: []string{"nic/offload-off"}, need: true, least: finding.Notice, says: "an offload is off"},
			{name: "cpu", rules: []string{"stack/copy-share", "stack/softirq-share", "stack/dma-map-share", "bench/cpu-cost", "softnet/squeeze"}, facts: (*told).fullCPUs, need: true, least: finding.Notice, says: "the CPU pays for it"},
			{name: "difference", rules: []string{"bench/difference"}, least: finding.Notice, says: "what the offload changes", want: "results with the offload on and off, then nettrace compare OFF ON"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			off := t.worst("off")
			return finding.Finding{Subject: off.Subject, Severity: finding.Warning, Summary: "packets are cut and merged by the CPU: " + brief(off) + "; " + brief(t.worst("cpu")), Measures: off.Measures, Advice: off.Advice}, true
		},
	}
}

// socketBuffer: a buffer, and not the network, bounds the rate.
func socketBuffer() story {
	return story{
		Rule: finding.Rule{
			Name:  "cross/socket-buffer",
			Title: "a socket's buffer bounds what is in flight",
			Method: "A capture shows a sender that waits for the receiver's window, or sends no more than a window of its own (tcp/limited-by, tcp/zero-window, tcp/window-full, tcp/no-window-scale), and the host says the same of that connection: the kernel's time limited by the receiver's window or by the send buffer (ss -ti), " +
				"or packets dropped or pruned for lack of receive buffer (socket/receive-buffer).",
			Params: []finding.Param{
				{Name: minShare, Default: 0.2, Unit: "ratio", Doc: "of a socket's busy time that the kernel charges to a buffer; own choice: below it another limit comes first"},
			},
			FalsePositives: "An application that does not read fast enough fills any buffer: then the window closes to zero (tcp/zero-window), Recv-Q of ss is not empty at the receiver, and a larger buffer only delays that.",
			References:     []string{"tcp(7), tcp_rmem and tcp_wmem", "Linux include/uapi/linux/tcp.h, struct tcp_info"},
		},
		parts: []part{
			{name: "window", rules: []string{"tcp/limited-by", "tcp/zero-window", "tcp/window-full", "tcp/no-window-scale"}, when: byWindow, need: true, says: "the window is full"},
			{name: "buffer", rules: []string{"socket/receive-buffer"}, facts: (*told).limitedSockets, need: true, least: finding.Notice, says: "the host says the same"},
		},
		tell: func(t *told) (finding.Finding, bool) {
			window, buffer := t.worst("window"), t.worst("buffer")
			own, _ := window.Measure("share_sending_host")
			if _, ownBuffer := buffer.Measure(shareSendBuffer); own >= limitedMostly && !ownBuffer {
				return finding.Finding{}, false
			}
			return finding.Finding{Subject: window.Subject, Severity: finding.Warning, Effect: buffer.Effect, Summary: "a socket's buffer bounds the rate: " + brief(window) + "; " + brief(buffer), Measures: window.Measures,
				Advice: append(append([]finding.Advice{}, buffer.Advice...), window.Advice...)}, true
		},
	}
}

// limitedMostly is the share of a transfer's time from which on tcp/limited-by names a limit.
const limitedMostly = 0.5

// byWindow takes findings about a window that is full: the receiver's, or the sender's own.
func byWindow(f *finding.Finding) bool {
	if f.Rule != "tcp/limited-by" {
		return f.Severity >= finding.Notice
	}
	receiver, _ := f.Measure("share_receiver_window")
	own, _ := f.Measure("time_host_window")
	sender, _ := f.Measure("share_sending_host")
	return receiver >= limitedMostly || own > 0 && sender >= limitedMostly
}
