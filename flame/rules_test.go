package flame

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/finding"
	"nettrace/fixtures/shared"
)

// stackRules are all rules over profiles.
func stackRules() []finding.On[*Profile] {
	return []finding.On[*Profile]{LockSpin(), SoftirqShare(), IRQShare(), CopyShare(), DMAMapShare(), Idle(), Unresolved(), Truncated()}
}

// ofRule judges perf text with one rule.
func ofRule(t *testing.T, rule finding.On[*Profile], text string) *finding.Finding {
	t.Helper()
	p, _ := readPerf(t, []byte(text))
	switch found := rule.Run(p, nil); len(found) {
	case 0:
		return nil
	case 1:
		return &found[0]
	default:
		t.Fatalf("%s: %d findings", rule.Name, len(found))
		return nil
	}
}

const (
	receives  = "asm_common_interrupt;common_interrupt;irq_exit_rcu;handle_softirqs;net_rx_action;__napi_poll;mlx5e_napi_poll"
	handles   = "asm_common_interrupt;common_interrupt;__handle_irq_event_percpu;mlx5_irq_handler"
	copies    = "entry_SYSCALL_64_after_hwframe;tcp_sendmsg_locked;_copy_from_iter;rep_movs_alternative"
	mapsIOMMU = "entry_SYSCALL_64_after_hwframe;mlx5e_xmit;dma_map_page_attrs;iommu_dma_map_page;alloc_iova_fast"
	bounces   = "entry_SYSCALL_64_after_hwframe;mlx5e_xmit;dma_map_page_attrs;swiotlb_map;swiotlb_bounce;memcpy"
	rests     = "secondary_startup_64;do_idle;default_idle_call;default_idle"
	works     = "entry_SYSCALL_64_after_hwframe;tcp_sendmsg_locked;tcp_write_xmit"
)

// TestShareRules: each rule at its thresholds, just below them, and on the traps that are no such work.
func TestShareRules(t *testing.T) {
	for _, c := range []struct {
		name     string
		rule     finding.On[*Profile]
		samples  map[string]int // of 1000
		measure  string
		share    float64 // 0: nothing is found
		severity finding.Severity
		says     string
	}{
		{"softirq", SoftirqShare(), map[string]int{receives: 400}, "softirq_share", 0.4, finding.Info, "40 % of busy CPU time (400 of 1,000 samples) is deferred interrupt work, mostly in __napi_poll"},
		{"softirq, near miss", SoftirqShare(), map[string]int{receives: 99}, "", 0, 0, ""},
		{"softirq at its end", SoftirqShare(), map[string]int{"asm_sysvec_apic_timer_interrupt;irq_exit_rcu;handle_softirqs": 400}, "softirq_share", 0.4, finding.Info, "handle_softirqs"},
		{"softirq, interrupted", SoftirqShare(), map[string]int{"net_rx_action;asm_common_interrupt;common_interrupt;f": 400}, "", 0, 0, ""},
		{"irq", IRQShare(), map[string]int{handles: 120}, "irq_share", 0.12, finding.Notice, "12 % of busy CPU time (120 of 1,000 samples) is spent in interrupts"},
		{"irq, heavy", IRQShare(), map[string]int{handles: 300}, "irq_share", 0.3, finding.Warning, ""},
		{"irq, light", IRQShare(), map[string]int{handles: 60}, "irq_share", 0.06, finding.Info, ""},
		{"irq, near miss", IRQShare(), map[string]int{handles: 49}, "", 0, 0, ""},
		{"irq that runs softirqs", IRQShare(), map[string]int{receives: 400}, "", 0, 0, ""},
		{"copy", CopyShare(), map[string]int{copies: 500}, "copy_share", 0.5, finding.Notice, "50 % of busy CPU time (500 of 1,000 samples) copies payload, mostly in rep_movs_alternative"},
		{"copy, usual", CopyShare(), map[string]int{copies: 390}, "copy_share", 0.39, finding.Info, ""},
		{"copy, heavy", CopyShare(), map[string]int{copies: 750}, "copy_share", 0.75, finding.Warning, ""},
		{"copy, near miss", CopyShare(), map[string]int{copies: 99}, "", 0, 0, ""},
		{"copy, interrupted", CopyShare(), map[string]int{"_copy_from_iter;asm_common_interrupt;common_interrupt;f": 500}, "", 0, 0, ""},
		{"copy of an idle CPU's interrupt", CopyShare(), map[string]int{rests + ";" + receives + ";_copy_to_iter": 200}, "copy_share", 0.2, finding.Info, ""},
		{"dma map", DMAMapShare(), map[string]int{mapsIOMMU: 50}, "dma_map_share", 0.05, finding.Notice, "maps and unmaps memory for devices, mostly in alloc_iova_fast"},
		{"dma map, main cost", DMAMapShare(), map[string]int{mapsIOMMU: 300}, "dma_map_share", 0.3, finding.Critical, ""},
		{"dma map, heavy", DMAMapShare(), map[string]int{bounces: 150}, "dma_map_share", 0.15, finding.Warning, "mostly in swiotlb_bounce"},
		{"dma map, near miss", DMAMapShare(), map[string]int{mapsIOMMU: 19}, "", 0, 0, ""},
		{"idle", Idle(), map[string]int{rests: 300}, "idle_share", 0.3, finding.Info, "30 % of the samples (300) are of idle CPUs, in default_idle"},
		{"idle, near miss", Idle(), map[string]int{rests: 99}, "", 0, 0, ""},
		{"idle, interrupted", Idle(), map[string]int{rests + ";" + receives: 300}, "", 0, 0, ""},
		{"unresolved", Unresolved(), map[string]int{works + ";[unknown]": 100}, "unresolved_share", 0.1, finding.Notice, "mostly in [kernel.kallsyms]"},
		{"unresolved, most", Unresolved(), map[string]int{works + ";[unknown]": 500}, "unresolved_share", 0.5, finding.Warning, ""},
		{"unresolved, few", Unresolved(), map[string]int{works + ";[unknown]": 20}, "unresolved_share", 0.02, finding.Info, ""},
		{"unresolved, near miss", Unresolved(), map[string]int{works + ";[unknown]": 19}, "", 0, 0, ""},
		{"unresolved callers", Unresolved(), map[string]int{"[unknown];" + works: 500}, "", 0, 0, ""},
		{"broken", Truncated(), map[string]int{"[unknown];" + works: 200}, "broken_share", 0.2, finding.Info, "break off in code without a name"},
		{"broken, near miss", Truncated(), map[string]int{"[unknown];" + works: 199}, "", 0, 0, ""},
		{"clean", Truncated(), map[string]int{copies: 300, receives: 300}, "", 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s stackText
			rest := 1000
			for stack, n := range c.samples {
				s.add(n, "cycles:P", stack)
				rest -= n
			}
			s.add(rest, "cycles:P", works)
			f := ofRule(t, c.rule, s.String())
			if c.share == 0 {
				if f != nil {
					t.Fatalf("%s: %s", f.Severity, f.Summary)
				}
				return
			}
			if f == nil {
				t.Fatal("nothing found")
			}
			if got := measure(t, *f, c.measure); math.Abs(got-c.share) > 1e-9 || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) {
				t.Errorf("%s %v, %s: %s", c.measure, got, f.Severity, f.Summary)
			}
			if len(f.Evidence) == 0 || f.Evidence[0].Line == 0 || f.Rule != c.rule.Name {
				t.Errorf("evidence %+v of %s", f.Evidence, f.Rule)
			}
			if f.Severity > finding.Info && len(f.Advice) == 0 {
				t.Error("no advice")
			}
		})
	}
}

func TestDMAAdvice(t *testing.T) {
	for stack, want := range map[string]string{mapsIOMMU: "iommu.passthrough=1", bounces: "swiotlb"} {
		var s stackText
		s.add(100, "cycles", stack)
		if f := ofRule(t, DMAMapShare(), s.String()); f == nil || !strings.Contains(f.Advice[0].Text, want) {
			t.Errorf("%s: %+v", stack, f)
		}
	}
}

// TestSoftirqSoftClock: with a clock that is no NMI, the end of a softirq stands for others' time.
func TestSoftirqSoftClock(t *testing.T) {
	var s stackText
	s.add(400, "cpu-clock", "asm_sysvec_apic_timer_interrupt;irq_exit_rcu;handle_softirqs")
	s.add(100, "cpu-clock", "asm_sysvec_apic_timer_interrupt")
	s.add(500, "cpu-clock", works)
	for _, rule := range []finding.On[*Profile]{SoftirqShare(), IRQShare()} {
		if f := ofRule(t, rule, s.String()); f != nil {
			t.Errorf("%s", f.Summary)
		}
	}
	s.add(500, "cpu-clock", receives)
	f := ofRule(t, SoftirqShare(), s.String())
	if f == nil || len(f.Caveats) != 1 || !strings.Contains(f.Caveats[0], "33 % of busy time") {
		t.Errorf("%+v", f)
	}
}

// softirqText writes samples on several CPUs: n on each, of which some are softirq work in a thread.
func softirqText(cpus int, n int, softirqs func(cpu int) int, thread string) string {
	var b strings.Builder
	for cpu := range cpus {
		for i := range n {
			comm, stack := "iperf3", works
			if i < softirqs(cpu) {
				comm, stack = thread, "ret_from_fork_asm;run_ksoftirqd;handle_softirqs;net_rx_action"
			}
			fmt.Fprintf(&b, "%s 7 [%03d] %d.%06d: 1000000 cycles: \n", comm, cpu, i/1000, i%1000*1000)
			for _, f := range reversed(strings.Split(stack, ";")) {
				fmt.Fprintf(&b, "\tffffffff81000000 %s+0x1 ([kernel.kallsyms])\n", f)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func reversed(list []string) (r []string) {
	for i := len(list) - 1; i >= 0; i-- {
		r = append(r, list[i])
	}
	return r
}

func TestSoftirqOneCPU(t *testing.T) {
	one := func(n int) func(int) int {
		return func(cpu int) int {
			if cpu == 2 {
				return n
			}
			return 1
		}
	}
	f := ofRule(t, SoftirqShare(), softirqText(4, 100, one(95), "iperf3"))
	if f == nil || f.Severity != finding.Warning || measure(t, *f, "cpu_softirq_share") != 0.95 || !strings.Contains(f.Summary, "CPU 2 spends 95 % of its time in it, the others 1") {
		t.Errorf("%+v", f)
	}
	for name, text := range map[string]string{
		"near miss":      softirqText(4, 100, one(89), "iperf3"),
		"all CPUs alike": softirqText(4, 100, func(int) int { return 95 }, "iperf3"),
		"one CPU":        softirqText(1, 100, func(int) int { return 95 }, "iperf3"),
		"few samples":    softirqText(4, 40, one(40), "iperf3"),
	} {
		if f := ofRule(t, SoftirqShare(), text); f == nil || f.Severity != finding.Info {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestKsoftirqd(t *testing.T) {
	f := ofRule(t, SoftirqShare(), softirqText(2, 100, func(int) int { return 10 }, "ksoftirqd/1"))
	if f == nil || f.Severity != finding.Notice || measure(t, *f, "ksoftirqd_share") != 0.1 || !strings.Contains(f.Summary, "ksoftirqd runs 10 % of busy time") {
		t.Errorf("%+v", f)
	}
	text := softirqText(2, 100, func(int) int { return 9 }, "ksoftirqd/1") + softirqText(2, 100, func(int) int { return 30 }, "iperf3")
	if f = ofRule(t, SoftirqShare(), text); f == nil || f.Severity != finding.Info {
		t.Errorf("near miss: %+v", f)
	}
}

// TestTruncatedPile: stacks cut at a depth fire, those that begin where stacks begin do not.
func TestTruncatedPile(t *testing.T) {
	deep := func(root string) string {
		return root + ";" + strings.Repeat("f;", 9) + "leaf"
	}
	var cut, rooted, same, gentle stackText
	for i := range 4 {
		cut.add(5, "cycles", deep(fmt.Sprintf("caller_%d", i)))
		rooted.add(5, "cycles", deep([]string{"main", "entry_SYSCALL_64_after_hwframe", "start_thread", "ret_from_fork_asm"}[i]))
		same.add(5, "cycles", deep("caller"))
		gentle.add(5, "cycles", deep(fmt.Sprintf("caller_%d", i)))
	}
	gentle.add(10, "cycles", "main;"+strings.Repeat("f;", 8)+"leaf") // one frame below the deepest
	for _, s := range []*stackText{&cut, &rooted, &same, &gentle} {
		s.add(180, "cycles", works)
	}
	f := ofRule(t, Truncated(), cut.String())
	if f == nil || f.Severity != finding.Notice || measure(t, *f, "truncated_share") != 0.1 || measure(t, *f, "depth") != 11 || !strings.Contains(f.Advice[0].Text, "perf_event_max_stack") {
		t.Errorf("%+v", f)
	}
	for name, s := range map[string]*stackText{"rooted": &rooted, "one root": &same, "no pile": &gentle} {
		if f := ofRule(t, Truncated(), s.String()); f != nil {
			t.Errorf("%s: %s", name, f.Summary)
		}
	}
	cut.add(1, "cycles", works) // 20 of 201 are below the threshold
	if f := ofRule(t, Truncated(), cut.String()); f != nil {
		t.Errorf("near miss: %s", f.Summary)
	}
	p, _ := readText(t, ReadBpftrace, shared.Read(t, fixture("json.bpftrace.ndjson")))
	if found := Truncated().Run(p, nil); len(found) != 1 || !strings.Contains(found[0].Summary, "exactly 6 frames") || !strings.Contains(found[0].Advice[0].Text, "kstack") {
		t.Errorf("kstack(6): %+v", found)
	}
}

// TestCleanRecordings: recordings of networks without a fault give nothing above info, whatever printed them.
func TestCleanRecordings(t *testing.T) {
	clean := func(name string, p *Profile) {
		for _, rule := range stackRules() {
			for _, f := range rule.Run(p, nil) {
				if f.Severity > finding.Info {
					t.Errorf("%s: %s %s: %s", name, f.Severity, rule.Name, f.Summary)
				}
			}
		}
	}
	for _, name := range []string{"default.perf.txt", "go-user.perf.txt", "header-pidtid.perf.txt", "multi-event.perf.txt", "no-callchain-odd-comm.perf.txt", "one-line.perf.txt"} {
		p, _ := readPerf(t, shared.Read(t, fixture(name)))
		clean(name, p)
	}
	for _, name := range []string{"cpu", "mutex", "block", "heap", "goroutine"} {
		p, _ := readBinary(t, ReadPprof, shared.Read(t, fixture("go-"+name+".pprof.pb.gz")))
		clean(name, p)
	}
	for _, name := range []string{"net-cpuclock", "lock-contention", "diff-before-tcp", "diff-after-udp", "iperf-client", "cpp-inlined-odd-comm", "irq-handlers-g", "sched-futex-odd-comm", "variants/v0-default", "variants/v5-srcline"} {
		p, _ := readPerf(t, shared.Read(t, shared.Path(t, "data/stacks/"+name+".perf.txt")))
		clean(name, p)
	}
	for _, name := range []string{"kstack.txt", "kstack-ustack-comm.txt"} {
		p, _ := readText(t, ReadBpftrace, shared.Read(t, filepath.Join(shared.Path(t, "data/stacks/bpftrace"), name)))
		clean(name, p)
	}
}

// TestRulesOfUnresolvedRecording: a kernel that hides its symbols is told, with how to see them.
func TestRulesOfUnresolvedRecording(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, shared.Path(t, "data/stacks/variants/v10-kernel-unresolved.perf.txt")))
	f := Unresolved().Run(p, nil)
	if len(f) != 1 || f[0].Severity != finding.Warning || !strings.Contains(f[0].Advice[0].Text, "kptr_restrict") {
		t.Errorf("%+v", f)
	}
	q, _ := readText(t, ReadPmcstat, []byte("@ x [20 samples]\n\n100.0%  [20]  0xb768a @ /lib/libc.so.7\n"))
	if f = Unresolved().Run(q, nil); len(f) != 1 || !strings.Contains(f[0].Summary, "/lib/libc.so.7") || !strings.Contains(f[0].Advice[0].Text, "debug symbols") {
		t.Errorf("%+v", f)
	}
}

// TestRulesOfOtherFormats: the event and the kind of code do not hang on perf.
func TestRulesOfOtherFormats(t *testing.T) {
	p, _ := readText(t, ReadPmcstat, shared.Read(t, fixture("callers.pmcstat.txt")))
	f := CopyShare().Run(p, nil)
	if len(f) != 1 || measure(t, f[0], "copy_share") != 0.75 || f[0].Severity != finding.Warning {
		t.Errorf("pmcstat: %+v", f)
	}
	if f = Idle().Run(p, nil); len(f) != 1 || measure(t, f[0], "idle_samples") != 256 {
		t.Errorf("pmcstat: %+v", f)
	}
	p, _ = readText(t, ReadDTrace, shared.Read(t, fixture("keys.dtrace.txt")))
	if f = LockSpin().Run(p, nil); len(f) != 1 || f[0].Subject.Key != "ixl_isc_txd_encap" || measure(t, f[0], "spin_samples") != 31 {
		t.Errorf("dtrace: %+v", f)
	}
	heap, _ := readBinary(t, ReadPprof, shared.Read(t, fixture("go-heap.pprof.pb.gz")))
	for _, rule := range []finding.On[*Profile]{SoftirqShare(), IRQShare(), CopyShare(), DMAMapShare(), Idle(), LockSpin()} {
		if f := rule.Run(heap, nil); len(f) > 0 {
			t.Errorf("heap: %+v", f)
		}
	}
}
