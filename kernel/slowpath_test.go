package kernel

import (
	"strings"
	"testing"
)

func TestFindCode(t *testing.T) {
	x := NewCodeIndex()
	for symbol, want := range map[string]Class{
		"native_queued_spin_lock_slowpath":         LockSpin,
		"__pv_queued_spin_lock_slowpath+0x10e":     LockSpin,
		".queued_spin_lock_slowpath":               LockSpin,
		"__mutex_lock.constprop.0":                 LockSpin,
		"rwsem_down_write_slowpath.isra.1":         LockSpin,
		"lock_delay":                               LockSpin,
		"__mtx_lock_sleep":                         LockSpin,
		"genunix`mutex_vector_enter+0x2a":          LockSpin,
		"_raw_spin_lock_irqsave":                   LockEntry,
		"_raw_spin_lock":                           LockEntry,
		"mutex_lock":                               LockEntry,
		"__mtx_lock_flags":                         LockEntry,
		"__lock_sock":                              LockSleep,
		"turnstile_wait":                           LockSleep,
		"_raw_spin_unlock_irqrestore":              InterruptEnable,
		"spinlock_exit":                            InterruptEnable,
		"asm_sysvec_apic_timer_interrupt":          InterruptEntry,
		"finish_task_switch.isra.0":                ContextSwitch,
		"pv_native_safe_halt":                      Idle,
		"acpi_cpu_idle_mwait":                      Idle,
		"handle_softirqs":                          Softirq,
		"do_softirq.part.0":                        Softirq,
		"_copy_from_iter":                          Copy,
		"skb_copy_datagram_iter":                   Copy,
		"iommu_dma_map_page":                       DMAMap,
		"swiotlb_tbl_map_single":                   DMAMap,
		"native_queued_spin_lock_slowpath.llvm.12": LockSpin,
	} {
		code := x.Find(symbol)
		if code == nil || code.Class != want {
			t.Errorf("%s: %+v, want class %d", symbol, code, want)
		}
	}
	for _, symbol := range []string{"", "tcp_sendmsg", "queued_spin_lock", "[unknown]", "main", "_raw_spin_unlock", "mutex_unlock"} {
		if code := x.Find(symbol); code != nil {
			t.Errorf("%s: %+v", symbol, code)
		}
	}
	if code := x.Find("handle_softirqs"); !code.Skid {
		t.Error("handle_softirqs: interrupts are turned on in it")
	}
}

// TestCodesAreTold: every entry says what it means and where that is from, and no name is listed twice for one system.
func TestCodesAreTold(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Codes() {
		if c.Meaning == "" || !strings.HasPrefix(c.Reference, c.System+" ") || len(c.Functions) == 0 {
			t.Errorf("%v: meaning %q, reference %q", c.Functions, c.Meaning, c.Reference)
		}
		if locks := c.Class <= LockEntry; locks != (c.Lock != "") {
			t.Errorf("%v: class %d, lock %q", c.Functions, c.Class, c.Lock)
		}
		for _, f := range c.Functions {
			if seen[c.System+f] {
				t.Errorf("%s is listed twice", f)
			}
			seen[c.System+f] = true
			if base := strings.TrimSuffix(f, "*"); Function(base) != base || base == "" {
				t.Errorf("%s can never be found", f)
			}
		}
	}
}
