package coalesce

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/finding"
	"nettrace/fixtures/shared"
)

// recorded joins outputs of a host, each at the beginning and at the end of ten seconds, or once.
func recorded(t *testing.T, files map[string][]string) *Host {
	t.Helper()
	var outputs []Output
	for name, texts := range files {
		for k, text := range texts {
			file := fmt.Sprintf("%s.%s.20240305T1015%02d.000Z.txt", []string{"before", "after"}[k], name, 10*k)
			outs, ledger := readText(t, file, text)
			if len(outs) != 1 || len(ledger.Entries()) > 0 {
				t.Fatalf("%s: %d outputs, ledger %+v", file, len(outs), ledger.Entries())
			}
			outputs = append(outputs, outs...)
		}
	}
	slices.SortFunc(outputs, func(a, b Output) int { return strings.Compare(a.Pos.Source, b.Pos.Source) })
	hosts := Join(outputs, Options{})
	if len(hosts) != 1 {
		t.Fatalf("%d hosts", len(hosts))
	}
	return hosts[0]
}

func statistics(pairs ...any) string {
	var b strings.Builder
	b.WriteString("NIC statistics:\n")
	for k := 0; k+1 < len(pairs); k += 2 {
		fmt.Fprintf(&b, "     %v: %v\n", pairs[k], pairs[k+1])
	}
	return b.String()
}

// nic are counters of an interface at zero and after, of names and values.
func nic(pairs ...any) []string {
	zero := slices.Clone(pairs)
	for k := 1; k < len(zero); k += 2 {
		zero[k] = 0
	}
	return []string{statistics(zero...), statistics(pairs...)}
}

func softnet(rows ...[3]int) string { // processed, dropped, squeezed of each CPU
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%08x %08x %08x%s\n", r[0], r[1], r[2], strings.Repeat(" 00000000", 8))
	}
	return b.String()
}

func cpuTime(idle, softirq int) string { // of CPU 0, in ticks; CPU 1 is idle
	return fmt.Sprintf("cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 %d 0 0 %d 0 0 0\ncpu1 0 0 0 %d 0 0 0 0 0 0\nctxt 1\n", idle, softirq, idle+softirq)
}

func udp(in, lost int) string {
	return fmt.Sprintf("#kernel\nTcpInSegs                       5                  0.0\nUdpInDatagrams                  %d                  0.0\nUdpInErrors                     %d                  0.0\nUdpRcvbufErrors                 %d                  0.0\n", in, lost, lost)
}

func interrupts(n int) string {
	return fmt.Sprintf("           CPU0       CPU1\n 60: %10d          0   PCI-MSI-edge      eth0-TxRx-0\nLOC:       1000       1000   Local timer interrupts\n", n)
}

func rings(rx, most int) []string {
	return []string{fmt.Sprintf("Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t%d\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t4096\nCurrent hardware settings:\nRX:\t\t%d\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t512\n\n", most, rx)}
}

func speed(mbps int) []string {
	return []string{fmt.Sprintf("Settings for eth0:\n\tSpeed: %dMb/s\n\tDuplex: Full\n\tAuto-negotiation: on\n\tLink detected: yes\n", mbps)}
}

func features(gro string) []string {
	return []string{"Features for eth0:\nrx-checksumming: on\ntx-checksumming: on\nscatter-gather: on\ntcp-segmentation-offload: off [fixed]\ngeneric-segmentation-offload: on\ngeneric-receive-offload: " + gro + "\n"}
}

// Each rule fires, just does not, and stays silent on a clean host.
func TestHostRules(t *testing.T) {
	type files = map[string][]string
	const none = finding.Severity(99)
	for _, c := range []struct {
		name     string
		rule     finding.On[*Host]
		files    files
		severity finding.Severity
		text     string // in the summary
		advice   string // in one of the advices
	}{
		{"socket fires", SocketBuffer(), files{"nstat": {udp(0, 0), udp(1000000, 5000)}}, finding.Warning, "5,000 of 1,005,000 datagrams", "rmem_max"},
		{"socket notice", SocketBuffer(), files{"nstat": {udp(0, 0), udp(1000000, 50)}}, finding.Notice, "UDP", "ss -uampn"},
		{"socket near miss", SocketBuffer(), files{"nstat": {udp(0, 0), udp(1000000, 9)}}, none, "", ""},
		{"socket clean", SocketBuffer(), files{"nstat": {udp(0, 5000), udp(1000000, 5000)}}, none, "", ""},

		{"squeeze fires", Squeeze(), files{"softnet": {softnet([3]int{}, [3]int{}), softnet([3]int{3000000, 0, 600}, [3]int{2900000, 0, 0})}}, finding.Notice, "CPU 0 ends 60/s receive rounds", "netdev_budget"},
		{"squeeze with drops", Squeeze(), files{"softnet": {softnet([3]int{}, [3]int{}), softnet([3]int{3000000, 7, 600}, [3]int{2900000, 0, 0})}}, finding.Warning, "dropped 7 packets", "netdev_budget"},
		{"squeeze near miss", Squeeze(), files{"softnet": {softnet([3]int{}, [3]int{}), softnet([3]int{3000000, 0, 99}, [3]int{2900000, 0, 0})}}, none, "", ""},
		{"squeeze clean", Squeeze(), files{"softnet": {softnet([3]int{1, 0, 600}, [3]int{}), softnet([3]int{3000000, 0, 600}, [3]int{})}}, none, "", ""},

		{"backlog fires", BacklogDrop(), files{"softnet": {softnet([3]int{}, [3]int{}), softnet([3]int{1000000, 2000, 0}, [3]int{1000000, 0, 0})}}, finding.Notice, "2,000 of 2,002,000 packets", "netdev_max_backlog"},
		{"backlog warns", BacklogDrop(), files{"softnet": {softnet([3]int{}, [3]int{}), softnet([3]int{1000000, 3000, 0}, [3]int{1000000, 0, 0})}}, finding.Warning, "on CPU 0", "rps_cpus"},
		{"backlog near miss", BacklogDrop(), files{"softnet": {softnet([3]int{}, [3]int{}), softnet([3]int{1000000, 19, 0}, [3]int{1000000, 0, 0})}}, none, "", ""},
		{"backlog clean", BacklogDrop(), files{"softnet": {softnet([3]int{0, 50, 0}), softnet([3]int{1000000, 50, 0})}}, none, "", ""},

		{"one CPU fires", OneCPU(), files{"softnet": {softnet([3]int{}, [3]int{}), softnet([3]int{1900000, 0, 0}, [3]int{100000, 0, 0})}}, finding.Notice, "CPU 0 does 95 %", "rps_cpus"},
		{"one CPU is full", OneCPU(), files{"softnet": {softnet([3]int{}, [3]int{}), softnet([3]int{1900000, 0, 0}, [3]int{100000, 0, 0})}, "stat": {cpuTime(0, 0), cpuTime(150, 850)}}, finding.Warning, "CPU 0", "combined N"},
		{"one CPU near miss", OneCPU(), files{"softnet": {softnet([3]int{}, [3]int{}), softnet([3]int{1790000, 0, 0}, [3]int{210000, 0, 0})}}, none, "", ""},
		{"one CPU has time", OneCPU(), files{"softnet": {softnet([3]int{}, [3]int{}), softnet([3]int{1900000, 0, 0}, [3]int{100000, 0, 0})}, "stat": {cpuTime(0, 0), cpuTime(750, 250)}}, none, "", ""},

		{"RSS fires", RSSImbalance(), files{"ethtool-S-eth0": nic("rx_queue_0_packets", 3000000, "rx_queue_1_packets", 300000, "rx_queue_2_packets", 200000, "rx_queue_3_packets", 100000)}, finding.Warning, "receive queue 0 of eth0 takes 83 %", "ethtool -X eth0 equal 4"},
		{"RSS near miss", RSSImbalance(), files{"ethtool-S-eth0": nic("rx_queue_0_packets", 3000000, "rx_queue_1_packets", 1000000, "rx_queue_2_packets", 1000000, "rx_queue_3_packets", 1000000)}, none, "", ""},
		{"RSS too few flows", RSSImbalance(), files{"ethtool-S-eth0": nic("rx_queue_0_packets", 3000000, "rx_queue_1_packets", 100000, "rx_queue_2_packets", 999, "rx_queue_3_packets", 0)}, finding.Info, "too few flows to judge", "ethtool -x eth0"},
		{"RSS table covers two", RSSImbalance(), files{"ethtool-S-eth0": nic("rx_queue_0_packets", 3000000, "rx_queue_1_packets", 3000000, "rx_queue_2_packets", 0, "rx_queue_3_packets", 0),
			"ethtool-x": {"RX flow hash indirection table for eth0 with 4 RX ring(s):\n    0:      0     1     0     1\n"}}, finding.Notice, "covers only 2 of its 4", "equal 4"},
		{"RSS slow", RSSImbalance(), files{"ethtool-S-eth0": nic("rx_queue_0_packets", 8000, "rx_queue_1_packets", 1000)}, none, "", ""},

		{"one queue fires", OneQueue(), files{"ethtool-S-eth0": {statistics("rx_queue_0_packets", 90000000, "rx_queue_1_packets", 10), statistics("rx_queue_0_packets", 95000000, "rx_queue_1_packets", 12)}}, finding.Warning, "has no effect", "rps_cpus"},
		{"one queue with ports not hashed", OneQueue(), files{"ethtool-S-eth0": {statistics("rx_queue_0_packets", 90000000, "rx_queue_1_packets", 10), statistics("rx_queue_0_packets", 95000000, "rx_queue_1_packets", 12)},
			"ethtool-n-eth0": {"UDP over IPV4 flows use these fields for computing Hash flow key:\nIP SA\nIP DA\n\n"}}, finding.Warning, "has no effect", "ethtool -N eth0 rx-flow-hash udp4 sdfn"},
		{"one queue, perhaps one flow", OneQueue(), files{"ethtool-S-eth0": nic("rx_queue_0_packets", 5000000, "rx_queue_1_packets", 12)}, finding.Info, "too few flows to judge", "ethtool -x eth0"},
		{"one queue near miss", OneQueue(), files{"ethtool-S-eth0": {statistics("rx_queue_0_packets", 90000000, "rx_queue_1_packets", 10), statistics("rx_queue_0_packets", 94000000, "rx_queue_1_packets", 50010)}}, none, "", ""},
		{"one channel of eight", OneQueue(), files{"ethtool-S-eth0": nic("rx_queue_0_packets", 5000000), "ethtool-l": {"Channel parameters for eth0:\nPre-set maximums:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\tn/a\nCombined:\t8\nCurrent hardware settings:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\tn/a\nCombined:\t1\n\n"}}, finding.Notice, "could have 8", "ethtool -L eth0 combined 8"},

		{"ring fires", RingOverrun(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_no_dma_resources", 2800), "ethtool-g": rings(512, 4096)}, finding.Warning, "2,800 of 1,002,800", "ethtool -G eth0 rx 4096"},
		{"ring is large", RingOverrun(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_no_dma_resources", 28), "ethtool-g": rings(4096, 4096)}, finding.Notice, "rx_no_dma_resources", "softnet/one-cpu"},
		{"ring of queues", RingOverrun(), files{"ethtool-S-eth0": nic("[0]: rx_ucast_packets", 500000, "[1]: rx_ucast_packets", 500000, "[0]: rx_discards", 500, "[1]: rx_discards", 501)}, finding.Notice, "1,001 of 1,001,001", "ethtool -g eth0"},
		{"ring near miss", RingOverrun(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_no_dma_resources", 9)}, none, "", ""},
		{"ring clean", RingOverrun(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_no_dma_resources", 0, "rx_missed_errors", 5000)}, none, "", ""},

		{"small ring with loss", RingSmall(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_no_buffer_count", 100), "ethtool-g": rings(512, 4096)}, finding.Notice, "512 descriptors of at most 4096, and 100 packets", "ethtool -G eth0 rx 4096"},
		{"small ring without loss", RingSmall(), files{"ethtool-S-eth0": nic("rx_packets", 2000000, "tx_packets", 10), "ethtool-g": rings(512, 4096)}, finding.Info, "nothing was lost", "if packets are lost"},
		{"ring of half", RingSmall(), files{"ethtool-S-eth0": nic("rx_packets", 2000000, "tx_packets", 10, "rx_no_buffer_count", 100), "ethtool-g": rings(2048, 4096)}, none, "", ""},
		{"small ring, slow", RingSmall(), files{"ethtool-S-eth0": nic("rx_packets", 20000, "tx_packets", 10), "ethtool-g": rings(512, 4096)}, none, "", ""},

		{"no buffer fires", NoBuffer(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "alloc_rx_page_failed", 1100)}, finding.Warning, "1,100 times", "min_free_kbytes"},
		{"no buffer near miss", NoBuffer(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "alloc_rx_page_failed", 9, "rx_cache_empty", 5000)}, none, "", ""},
		{"missed fires", Missed(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_missed_errors", 500)}, finding.Notice, "packet buffer of eth0", "lspci"},
		{"missed because of the ring", Missed(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_missed_errors", 500, "rx_no_buffer_count", 500)}, none, "", ""},
		{"missed near miss", Missed(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_missed_errors", 9)}, none, "", ""},
		{"errors fire", LinkErrors(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_crc_errors", 20)}, finding.Notice, "20 of 1,000,020", "ethtool -m eth0"},
		{"errors warn", LinkErrors(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_crc_errors", 200)}, finding.Warning, "rx_crc_errors", "--show-fec"},
		{"errors near miss", LinkErrors(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_crc_errors", 9)}, none, "", ""},
		{"pause fires", Pause(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "rx_flow_control_xoff", 400), "ethtool": speed(10000)}, finding.Warning, "40 pause frames/s, which can have stopped the link for up to 13 %", "ethtool -A eth0 rx off"},
		{"pause sent", Pause(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_flow_control_xoff", 40)}, finding.Notice, "this host cannot keep up", "tx off"},
		{"pause near miss", Pause(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "rx_flow_control_xoff", 9), "ethtool": speed(10000)}, none, "", ""},

		{"offload fires", OffloadOff(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 3000000, "rx_bytes", 1500000000, "tx_bytes", 198000000), "ethtool-k": features("off")}, finding.Notice, "eth0 receives 100,000 packets/s and generic-receive-offload is off", "ethtool -K eth0 gro on"},
		{"offload on, another fixed", OffloadOff(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 3000000, "rx_bytes", 1500000000, "tx_bytes", 4500000000), "ethtool-k": features("on")}, none, "", ""},
		{"offload near miss", OffloadOff(), files{"ethtool-S-eth0": nic("rx_packets", 499999, "tx_packets", 10, "rx_bytes", 750000000, "tx_bytes", 660), "ethtool-k": features("off")}, none, "", ""},
		{"offload of small packets", OffloadOff(), files{"ethtool-S-eth0": nic("rx_packets", 1000000, "tx_packets", 10, "rx_bytes", 66000000, "tx_bytes", 660), "ethtool-k": features("off")}, none, "", ""},

		{"few packets fires", FewPackets(), files{"ethtool-S-eth0": nic("rx_packets", 480000, "tx_packets", 10), "interrupts": {interrupts(0), interrupts(200000)}, "stat": {cpuTime(0, 0), cpuTime(400, 600)},
			"ethtool-c": {"Coalesce parameters for eth0:\nAdaptive RX: off  TX: off\nrx-usecs: 20\nrx-frames: 5\n\ntx-frame-high: 0\n"}}, finding.Notice, "20,000 interrupts/s of eth0 on CPU 0 bring 2.40 packets each, though rx-frames lets 5", "ethtool -C eth0 rx-usecs 40 rx-frames 20"},
		{"few packets near miss", FewPackets(), files{"ethtool-S-eth0": nic("rx_packets", 500000, "tx_packets", 10), "interrupts": {interrupts(0), interrupts(200000)}, "stat": {cpuTime(0, 0), cpuTime(400, 600)},
			"ethtool-c": {"Coalesce parameters for eth0:\nAdaptive RX: off  TX: off\nrx-usecs: 20\nrx-frames: 5\n\ntx-frame-high: 0\n"}}, none, "", ""},
		{"few packets, idle CPU", FewPackets(), files{"ethtool-S-eth0": nic("rx_packets", 480000, "tx_packets", 10), "interrupts": {interrupts(0), interrupts(200000)}, "stat": {cpuTime(0, 0), cpuTime(510, 490)}}, none, "", ""},
		{"few packets, CPU not known", FewPackets(), files{"ethtool-S-eth0": nic("rx_packets", 480000, "tx_packets", 10), "interrupts": {interrupts(0), interrupts(200000)}}, finding.Info, "bring 2.40 packets each", "rx-usecs 50"},
	} {
		h := recorded(t, c.files)
		if c.severity == none {
			if found := c.rule.Run(h, nil); len(found) > 0 {
				t.Errorf("%s: found %s", c.name, found[0].Summary)
			}
			continue
		}
		f := only(t, h, c.rule, nil)
		if f.Severity != c.severity || !strings.Contains(f.Summary, c.text) {
			t.Errorf("%s: %v: %s; want %v with %q", c.name, f.Severity, f.Summary, c.severity, c.text)
		}
		if !slices.ContainsFunc(f.Advice, func(a finding.Advice) bool { return strings.Contains(a.Text, c.advice) && a.Reference != "" }) {
			t.Errorf("%s: no advice with %q: %+v", c.name, c.advice, f.Advice)
		}
	}
}

// Scenario d: the socket, with its rate; scenario f: the ring of the peer, and nothing at the receiver.
func TestRecordedLosses(t *testing.T) {
	outputs, _ := readDir(t, filepath.Join("..", "fixtures", "counters", "f-napi-16flow"))
	for _, h := range Join(outputs, Options{}) {
		found := RingOverrun().Run(h, nil)
		if !h.Peer {
			if len(found) > 0 {
				t.Errorf("%+v", found)
			}
			continue
		}
		f := only(t, h, RingOverrun(), nil)
		measure(t, f, "lost_packets", 5336, 0)
		measure(t, f, "lost_share", 5336.0/3179593, 1e-9)
	}
	outputs, _ = readDir(t, shared.Path(t, "data", "counters", "d-udp-flood"))
	f := only(t, Join(outputs, Options{})[0], SocketBuffer(), nil)
	measure(t, f, "lost_datagrams", 2002334, 0)
	measure(t, f, "lost_share", 2002334.0/3052592, 1e-9)
}

// Case 18: one CPU first, the squeeze second, and neither for the small server.
func TestCaseOneCPU(t *testing.T) {
	outputs, _ := readDir(t, shared.Path(t, "cases", "18-softnet-cpu0-only"))
	h := Join(outputs, Options{})[0]
	f := only(t, h, OneCPU(), nil)
	measure(t, f, "cpu_share", 30000000.0/30052000, 1e-9)
	measure(t, f, "packets_per_second", 500000, 1e-9)
	if f.Severity != finding.Warning || !slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool {
		return strings.HasPrefix(e.Text, "IRQ 77 ") && strings.Contains(e.Text, "+600,000")
	}) || !strings.Contains(f.Advice[0].Text, "rps_cpus") {
		t.Errorf("%v: %s: %+v, %+v", f.Severity, f.Summary, f.Evidence, f.Advice)
	}
	f = only(t, h, Squeeze(), nil)
	measure(t, f, "squeezes_per_second", 90, 1e-9)
	if f.Severity != finding.Notice || len(f.Advice) != 1 || !strings.Contains(f.Advice[0].Text, "spread it first") {
		t.Errorf("%v: %+v", f.Severity, f.Advice)
	}
	if found := BacklogDrop().Run(h, nil); len(found) > 0 {
		t.Errorf("nothing was dropped: %+v", found)
	}
}

// Case 19: scaling without effect although channels, table and fields are right; one loss seen twice.
func TestCaseScaling(t *testing.T) {
	outputs, _ := readDir(t, shared.Path(t, "cases", "19-rss-one-queue"))
	h := Join(outputs, Options{})[0]
	f := only(t, h, OneQueue(), nil)
	measure(t, f, "queue_share", 1, 1e-9)
	measure(t, f, "packets_per_second", 600000, 1e-9)
	reasons := strings.Join(f.Reasons, "\n")
	for _, part := range []string{"2 channels are set", "the indirection table holds 2 queues", "addresses and ports of tcp-ipv4 are hashed"} {
		if !strings.Contains(reasons, "excluded: "+part) {
			t.Errorf("%q is not excluded: %s", part, reasons)
		}
	}
	for _, a := range f.Advice {
		if strings.Contains(a.Text, "ethtool -L") || strings.Contains(a.Text, "ethtool -X") || strings.Contains(a.Text, "ethtool -N") {
			t.Errorf("advice to set what is set: %s", a.Text)
		}
	}
	if f.Severity != finding.Warning || !strings.Contains(strings.Join(f.Caveats, "\n"), "cannot be excluded by counters") {
		t.Errorf("%v, caveats %q", f.Severity, f.Caveats)
	}
	f = only(t, h, RingOverrun(), nil)
	measure(t, f, "lost_packets", 30000, 0)
	measure(t, f, "lost_per_second", 1000, 1e-9)
	if !strings.Contains(strings.Join(f.Reasons, "\n"), "rx_missed_errors rose too: the same packets") {
		t.Errorf("reasons %q", f.Reasons)
	}
	for _, r := range []finding.On[*Host]{Missed(), LinkErrors(), RSSImbalance()} {
		if found := r.Run(h, nil); len(found) > 0 {
			t.Errorf("%s: %+v", r.Name, found)
		}
	}
}

// Case 20: the ring is empty because interrupts outnumber packets; a larger one is not the advice, and the share is an estimate.
func TestCaseOverflow(t *testing.T) {
	outputs, _ := readDir(t, shared.Path(t, "cases", "20-irq-overflow-storm"))
	f := only(t, Join(outputs, Options{})[0], RingOverrun(), nil)
	measure(t, f, "lost_packets", 214300, 0)
	measure(t, f, "lost_share", 214300.0/226300, 1e-9)
	if len(f.Advice) != 1 || strings.Contains(f.Advice[0].Text, "ethtool -G") || !strings.Contains(strings.Join(f.Caveats, " "), "estimate") {
		t.Errorf("advice %+v, caveats %q", f.Advice, f.Caveats)
	}
}
