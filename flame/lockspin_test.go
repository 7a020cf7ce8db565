package flame

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"nettrace/finding"
	"nettrace/fixtures/shared"
)

// stackText writes samples of one event as perf prints them, n of each stack (root first, kernel).
type stackText struct {
	strings.Builder
	clock int
}

func (s *stackText) add(n int, event, stack string) {
	for range n {
		s.clock++
		fmt.Fprintf(&s.Builder, "load 1 [000] %d.%06d: 1000000 %s: \n", s.clock/1000, s.clock%1000*1000, event)
		frames := strings.Split(stack, ";")
		for i := len(frames) - 1; i >= 0; i-- {
			fmt.Fprintf(&s.Builder, "\tffffffff81000000 %s+0x1 ([kernel.kallsyms])\n", frames[i])
		}
		s.WriteString("\n")
	}
}

func spin(t *testing.T, text string) []finding.Finding {
	t.Helper()
	p, _ := readPerf(t, []byte(text))
	return LockSpin().Run(p, nil)
}

func measure(t *testing.T, f finding.Finding, name string) float64 {
	t.Helper()
	v, ok := f.Measure(name)
	if !ok {
		t.Fatalf("no measure %s in %+v", name, f.Measures)
	}
	return v
}

// TestLockSpinRecording: the recording of one hot spin lock fires and names the function that takes it.
func TestLockSpinRecording(t *testing.T) {
	findings := spin(t, string(shared.Read(t, fixture("lock-spin.perf.txt.gz"))))
	if len(findings) != 1 {
		t.Fatalf("%d findings: %+v", len(findings), findings)
	}
	f := findings[0]
	if f.Subject.Key != "posix_test_lock" || f.Severity != finding.Notice || measure(t, f, "spin_samples") != 16 || f.Confidence != finding.Medium {
		t.Errorf("%s, %v, %v samples, %v", f.Subject.Key, f.Severity, measure(t, f, "spin_samples"), f.Confidence)
	}
	if share := measure(t, f, "spin_share"); math.Abs(share-16.0/496) > 1e-9 || f.Effect.Share != share {
		t.Errorf("share %v, effect %v", share, f.Effect.Share)
	}
	if len(f.Evidence) == 0 || f.Evidence[0].Line == 0 || !strings.Contains(f.Evidence[0].Text, "posix_test_lock") || !strings.HasSuffix(f.Evidence[0].Text, "__pv_queued_spin_lock_slowpath") {
		t.Errorf("evidence %+v", f.Evidence)
	}
	if len(f.Advice) == 0 || !strings.Contains(f.Advice[len(f.Advice)-1].Text, "perf lock") {
		t.Errorf("advice %+v", f.Advice)
	}
	if caveats := strings.Join(f.Caveats, "\n"); !strings.Contains(caveats, "without NMI") || !strings.Contains(caveats, "virtual machine") {
		t.Errorf("caveats %q", caveats)
	}
}

// TestLockSpinClean: recordings without contention, with interrupts enabled as their hottest leaf, give nothing.
func TestLockSpinClean(t *testing.T) {
	for _, name := range []string{"default.perf.txt", "go-user.perf.txt", "kernel-unresolved.perf.txt", "tracepoints-g.perf.txt", "sched-futex-odd-comm.perf.txt"} {
		if f := spin(t, string(shared.Read(t, fixture(name)))); len(f) > 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, name := range []string{"net-cpuclock", "lock-contention", "diff-before-tcp", "irq-handlers-g", "iperf-client"} {
		if f := spin(t, string(shared.Read(t, shared.Path(t, "data/stacks/"+name+".perf.txt")))); len(f) > 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

const (
	spinning8 = "do_syscall_64;alloc_iova;_raw_spin_lock_irqsave;native_queued_spin_lock_slowpath"
	work      = "do_syscall_64;tcp_sendmsg"
	idling    = "do_idle;cpuidle_enter_state;default_idle;pv_native_safe_halt"
)

func TestLockSpinThresholds(t *testing.T) {
	for _, c := range []struct {
		name             string
		spin, work, idle int
		severity         finding.Severity
		fires            bool
	}{
		{"near miss: nine samples", 9, 91, 0, 0, false},
		{"near miss: below one percent", 10, 991, 0, 0, false},
		{"one percent", 10, 990, 0, finding.Notice, true},
		{"one percent of busy time", 10, 990, 9000, finding.Notice, true},
		{"five percent", 50, 950, 0, finding.Warning, true},
		{"a third", 320, 680, 0, finding.Critical, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s stackText
			s.add(c.spin, "cpu-clock", spinning8)
			s.add(c.work, "cpu-clock", work)
			s.add(c.idle, "cpu-clock", idling)
			findings := spin(t, s.String())
			if (len(findings) == 1) != c.fires {
				t.Fatalf("%d findings", len(findings))
			}
			if !c.fires {
				return
			}
			f := findings[0]
			if f.Severity != c.severity || f.Subject.Key != "alloc_iova" {
				t.Errorf("%v on %s", f.Severity, f.Subject.Key)
			}
			if want := float64(c.spin) / float64(c.spin+c.work); math.Abs(f.Effect.Share-want) > 1e-9 {
				t.Errorf("share %v, want %v", f.Effect.Share, want)
			}
			if want := float64(c.spin) * 1e6; float64(f.Effect.Lost) != want {
				t.Errorf("%v lost, want %v", f.Effect.Lost, want)
			}
			if want := float64(c.idle) / float64(c.spin+c.work+c.idle); measure(t, f, "idle_share") != want {
				t.Errorf("idle share %v, want %v", measure(t, f, "idle_share"), want)
			}
		})
	}
}

// TestLockSpinCounts tells what counts as spinning and what does not, by the stacks that kernels show.
func TestLockSpinCounts(t *testing.T) {
	for stack, caller := range map[string]string{
		"a;_raw_spin_lock_bh;__pv_queued_spin_lock_slowpath":                                "a",
		"a;mutex_lock;__mutex_lock.constprop.0;mutex_spin_on_owner":                         "a",
		"a;down_write;rwsem_down_write_slowpath;rwsem_spin_on_owner":                        "a",
		"a;raw_spin_rq_lock_nested;_raw_spin_lock;queued_spin_lock_slowpath":                "a",
		"a;.queued_spin_lock_slowpath":                                                      "a",
		"a;_raw_write_lock_irq;queued_write_lock_slowpath":                                  "a",
		"iflib_if_transmit;__mtx_lock_flags;__mtx_lock_sleep;lock_delay":                    "iflib_if_transmit",
		"tcp_output;_rw_wlock_cookie;__rw_wlock_hard":                                       "tcp_output",
		"mac_tx;mutex_enter;mutex_vector_enter;mutex_delay_default":                         "mac_tx",
		"asm_sysvec_apic_timer_interrupt;a;_raw_spin_lock;native_queued_spin_lock_slowpath": "a", // in the interrupt
		"a;_raw_spin_lock":              "",
		"a;_raw_spin_unlock_irqrestore": "",
		"a;spinlock_exit":               "",
		"a;_raw_spin_lock;native_queued_spin_lock_slowpath;asm_sysvec_apic_timer_interrupt;hrtimer_run": "", // interrupted while it spun
		"a;mutex_lock;__mutex_lock.constprop.0;schedule_preempt_disabled;__schedule":                    "", // asleep, not spinning
		"a;__mtx_lock_sleep;turnstile_wait;mi_switch":                                                   "",
		"a;lock_sock_nested;__lock_sock;schedule":                                                       "",
		"a;handle_softirqs": "",
	} {
		var s stackText
		s.add(100, "cycles", stack)
		findings := spin(t, s.String())
		got := ""
		if len(findings) == 1 {
			got = findings[0].Subject.Key
		}
		if got != caller {
			t.Errorf("%s: charged to %q, want %q", stack, got, caller)
		}
	}
}

func TestLockSpinOthers(t *testing.T) {
	var s stackText
	for i := range 10 { // each below the threshold, together above
		s.add(4, "cycles", fmt.Sprintf("caller_%d;_raw_spin_lock;native_queued_spin_lock_slowpath", i))
	}
	s.add(10, "cycles", spinning8)
	s.add(600, "cycles", work)
	findings := spin(t, s.String())
	if len(findings) != 2 || findings[0].Subject.Key != "alloc_iova" || findings[1].Subject.Key != "other callers" {
		t.Fatalf("%+v", findings)
	}
	if got := measure(t, findings[1], "spin_samples"); got != 40 {
		t.Errorf("%v samples of other callers", got)
	}
	if findings[0].Effect.Lost != 0 {
		t.Errorf("cycles are no time, but %v is lost", findings[0].Effect.Lost)
	}
}

// TestLockSpinEvents: stacks of tracepoints and of events that do not sample time are not shares of time.
func TestLockSpinEvents(t *testing.T) {
	for event, fires := range map[string]bool{"cpu-clock": true, "cycles:P": true, "lock:contention_begin": false, "page-faults": false, "context-switches": false, "cache-misses": false} {
		var s stackText
		s.add(100, event, spinning8)
		if got := len(spin(t, s.String())) > 0; got != fires {
			t.Errorf("%s: fires %v", event, got)
		}
	}
	p, _ := readFolded(t, []byte("app;a_[k];_raw_spin_lock_[k];native_queued_spin_lock_slowpath_[k] 50\napp;queued_spin_lock_slowpath 50\n"))
	f := LockSpin().Run(p, nil)
	if len(f) != 1 || f[0].Confidence != finding.Low || measure(t, f[0], "spin_samples") != 50 {
		t.Errorf("folded: %+v", f)
	}
}

func TestLockSpinParameters(t *testing.T) {
	var s stackText
	s.add(10, "cycles", spinning8)
	s.add(990, "cycles", work)
	p, _ := readPerf(t, []byte(s.String()))
	if f := LockSpin().Run(p, map[string]float64{"stack/lock-spin.share": 0.02}); len(f) != 0 {
		t.Errorf("%+v", f)
	}
	if f := LockSpin().Run(p, map[string]float64{"stack/lock-spin.warning": 0.01}); len(f) != 1 || f[0].Severity != finding.Warning {
		t.Errorf("%+v", f)
	}
}
