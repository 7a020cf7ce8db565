package lockstat

import (
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
	"nettrace/unit"
)

func lockNamed(t *testing.T, table *Table, name, kind string) *Lock {
	t.Helper()
	for i := range table.Locks {
		if l := &table.Locks[i]; l.Name == name && l.Kind == kind {
			return l
		}
	}
	t.Fatalf("no lock %s %s in %+v", name, kind, table.Locks)
	return nil
}

// TestCase23 reads version 0.3, which has no averages, with the figures that the case gives.
func TestCase23(t *testing.T) {
	table := one(t, shared.Path(t, "cases", "23-lock-stat-v03", "lock_stat.txt"), SniffProcLockStat, ReadProcLockStat)
	if table.Tool.Version != "0.3" || len(table.Locks) != 4 {
		t.Fatalf("version %q, %d locks", table.Tool.Version, len(table.Locks))
	}
	for _, c := range []struct {
		name, kind         string
		contentions, taken int64
		wait, hold         unit.Nanos // averages
		total              unit.Nanos
	}{
		{"&list->lock#3", "", 24600000, 44904000, 2297, 697, 56516392400},
		{"&rxq->lock", "", 181000, 2100400, 1330, 900, 240730000},
		{"tasklist_lock", "write", 2, 1200, 1500, 1200, 3000},
		{"tasklist_lock", "read", 1, 800, 900, 800, 900},
	} {
		l := lockNamed(t, table, c.name, c.kind)
		if l.Contentions != c.contentions || l.Acquisitions != c.taken || l.Wait != c.total || l.Wait/unit.Nanos(l.Contentions) != c.wait || l.Hold/unit.Nanos(l.Acquisitions) != c.hold {
			t.Errorf("%s: %+v", c.name, l.Stats)
		}
	}
	l := lockNamed(t, table, "&list->lock#3", "")
	if l.Bounces != 24517000 || l.WaitMax != 1286620 || !l.WaitMaxExact || l.HoldMax != 164790 || l.Known != "qdisc-root" {
		t.Errorf("%+v", l)
	}
	if s, h := l.Sites, l.Holders; len(s) != 2 || s[0].Caller != "dev_queue_xmit+0x2ea/0x468" || s[0].Contentions != 15570000 || s[1].Contentions != 9030000 || len(h) != 2 || h[1].Contentions != 17920000 || h[0].Role != "transmit" {
		t.Errorf("waiters %+v, holders %+v", s, h)
	}
	if s := lockNamed(t, table, "&rxq->lock", "").Sites[0]; s.Caller != "netxen_process_rcv_ring+0x90/0x5f0 [netxen_nic]" {
		t.Errorf("%+v", s)
	}
	f := judge(t, table, nil)
	if len(f) != 1 || f[0].Severity.String() != "warning" || f[0].Subject.Key != "&list->lock" {
		t.Fatalf("%+v", f)
	}
	for name, want := range map[string]float64{"contentions": 24600000, "wait_total": 56516392400, "wait_max": 1286620, "wait_share": 0.9958, "contended_share": 0.5478, "waiters_per_holder": 1.805} {
		if got := measure(t, &f[0], name); got < want*0.9995 || got > want*1.0005 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	for _, want := range []string{"queueing discipline", "dev_queue_xmit+0x2ea/0x468 63 %", "__qdisc_run+0x11b/0x1ef 37 %"} {
		if !strings.Contains(f[0].Summary, want) {
			t.Errorf("summary %q lacks %q", f[0].Summary, want)
		}
	}
}

func TestPublicProcLockStat(t *testing.T) {
	table := one(t, shared.Path(t, "data", "public-locks", "lock_stat-0.4.kernel-doc.txt"), SniffProcLockStat, ReadProcLockStat)
	w, r := lockNamed(t, table, "&mm->mmap_sem", "write"), lockNamed(t, table, "&mm->mmap_sem", "read")
	if w.Hold != 17464026916320 || w.Contentions != 84 || r.Wait != 325629520 || r.Contentions != 100 || len(w.Sites) != 4 || len(w.Holders) != 4 || len(r.Sites) != 0 {
		t.Errorf("%+v\n%+v", w, r)
	}
	table = one(t, shared.Path(t, "data", "public-locks", "lock_stat-0.4.kernel-doc-grep-head.txt"), SniffProcLockStat, ReadProcLockStat)
	if l := lockNamed(t, table, "&mapping->i_mmap_mutex", ""); len(table.Locks) != 10 || l.Wait != 31767507988390 || l.Acquisitions != 8893984 || table.Tool.Version != "0.4" {
		t.Errorf("%+v", l)
	}
	if l := lockNamed(t, table, "clockevents_lock", ""); l.Key != "clockevents_lock" || l.Known != "timer-base" {
		t.Errorf("%+v", l)
	}
	if f := judge(t, table, nil); len(f) != 2 || f[0].Subject.Key != "&mapping->i_mmap_mutex" || f[1].Subject.Key != "clockevents_lock" || f[1].Severity.String() != "warning" {
		t.Errorf("%+v", f)
	}
	table = one(t, shared.Path(t, "data", "public-locks", "lock_stat-0.3.linux-mm-2009.txt"), SniffProcLockStat, ReadProcLockStat)
	if l := table.Locks[0]; l.Contentions != 3086077 || l.Known != "memory-counter" || l.Sites[0].Caller != "res_counter_charge+0x4d" || len(l.Sites) != 3 || len(l.Holders) != 3 {
		t.Errorf("%+v", l)
	}
}

func TestProcLockStatShapes(t *testing.T) {
	const row = "  &rq->lock: 135014 136909 0.18 606.09 842160.68 6.15 1540728 10436146 0.00 728.7217606683.41 1.69\n"
	for name, text := range map[string]string{
		"touching": row,
		"wrapped":  "lock_stat version 0.4\n &rq->lock: 135014 136909 0.18\n 606.09 842160.68 6.15 1540728\n 10436146 0.00 728.72 17606683.41 1.69\n",
	} {
		tables, ledger := readText(t, name, []byte(text), SniffProcLockStat, ReadProcLockStat)
		if len(tables) != 1 || len(ledger.Entries()) != 0 {
			t.Fatalf("%s: %d tables, ledger %+v", name, len(tables), ledger.Entries())
		}
		if l := tables[0].Locks[0]; l.Hold != 17606683410 || l.HoldMax != 728720 || l.Wait != 842160680 || l.Contentions != 136909 || l.Bounces != 135014 {
			t.Errorf("%s: %+v", name, l)
		}
	}
	tables, ledger := readText(t, "two", []byte("lock_stat version 0.4\n"+row+"lock_stat version 0.4\n*WARNING* lock debugging disabled!! - possibly due to a lockdep warning\n"+row+"# uname\n"), SniffProcLockStat, ReadProcLockStat)
	if len(tables) != 2 || tables[1].Losses[0].Name != "lock-debugging-disabled" || ledger.Entries()[0].Name != "lock-debugging-disabled" {
		t.Errorf("%d tables, %+v", len(tables), ledger.Entries())
	}
	_, ledger = readText(t, "cut", []byte("lock_stat version 0.4\n"+row+"  x_lock: 1 2 0.18 60"), SniffProcLockStat, ReadProcLockStat)
	if e := ledger.Entries(); len(e) != 1 || e[0].Name != "cut-input" || e[0].First.Line != 3 {
		t.Errorf("%+v", e)
	}
}

func TestSniffProcLockStatRejects(t *testing.T) {
	for _, line := range []string{"", "RX bytes: 1 2 3 4 5 6", "time: 12 13.00", "class name of the lock is 0.00", "eth0: 1 2 3 4.00 5 6 7 8 9.00", "rate: 1.00 2.00 3.00 4 5.00 6.00 7.00", "average load now: 0.00 0.01 0.05"} {
		if got := SniffProcLockStat([]byte(line + "\n")); got != source.No {
			t.Errorf("SniffProcLockStat(%q) = %v", line, got)
		}
	}
}
