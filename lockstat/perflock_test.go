package lockstat

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
	"nettrace/unit"
)

const us = unit.Microsecond

// near reports whether a sum of rounded figures can be what it should be.
func near(got, slack, want unit.Nanos) bool {
	return math.Abs(float64(got-want)) <= float64(slack)
}

// TestPerfLockContention checks the tables against the raw events of the same recordings: 3,656 waits of 319,821 us, the
// longest 262,987 us (a), and 660 waits of 12.16 ms (b). Tables of fewer rows (-E) say less.
func TestPerfLockContention(t *testing.T) {
	for _, c := range []struct {
		file    string
		rows    int
		count   int64
		wait    unit.Nanos
		max     unit.Nanos
		keyed   Keyed
		options string
		ledger  []string
	}{
		{file: "a.contention.txt", rows: 73, count: 3656, wait: 319821 * us, max: 262987 * us, keyed: ByCaller},
		{file: "a.contention-t.txt", rows: 19, count: 3656, wait: 319821 * us, max: 262987 * us, keyed: ByThread, options: "-t"},
		{file: "a.contention-max-stack.txt", rows: 1, count: 3656, wait: 319821 * us, max: 262987 * us, keyed: ByCaller, options: "-v"},
		{file: "a.contention-v.txt", rows: 12, keyed: ByCaller, options: "-v"},
		{file: "a.contention-vv.txt", rows: 3, count: 1079, keyed: ByCaller, options: "-v"},
		{file: "a.contention-k-contended.txt", rows: 15, keyed: ByCaller},
		{file: "a.contention-k-avg-F.txt", rows: 15, keyed: ByCaller},
		{file: "a.contention-F-two.txt", rows: 8, keyed: ByCaller},
		{file: "b.contention.txt", rows: 196, count: 660, wait: 12160 * us, max: 2200 * us, keyed: ByCaller},
		{file: "b.contention-t.txt", rows: 53, count: 660, wait: 12160 * us, max: 2200 * us, keyed: ByThread, options: "-t"},
		{file: "b.contention-v.txt", rows: 6, keyed: ByCaller, options: "-v"},
		{file: "c.contention.txt", rows: 187, keyed: ByCaller, ledger: []string{"events-lost", "impossible-row", "samples-lost"}},
		{file: "c.contention-k-max.txt", rows: 10, keyed: ByCaller, ledger: []string{"events-lost", "impossible-row", "samples-lost"}},
		{file: "d.contention-empty.txt", rows: 0, keyed: ByCaller, ledger: []string{"no-contention"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			table := one(t, filepath.Join(fixtures, c.file), SniffPerfLockContention, ReadPerfLockContention, c.ledger...)
			if len(table.Rows) != c.rows || table.Keyed != c.keyed || strings.Join(table.Tool.Options, " ") != c.options {
				t.Errorf("%d rows keyed by %s, options %q; want %d, %s, %q", len(table.Rows), table.Keyed, table.Tool.Options, c.rows, c.keyed, c.options)
			}
			s := table.Total
			if c.count != 0 && s.Contentions != c.count {
				t.Errorf("%d contentions, want %d", s.Contentions, c.count)
			}
			if c.wait != 0 && !near(s.Wait, s.WaitSlack+15*us, c.wait) {
				t.Errorf("wait %s within %s, want %s", s.Wait, s.WaitSlack, c.wait)
			}
			if c.max != 0 && !near(s.WaitMax, 5*us, c.max) {
				t.Errorf("longest %s, want %s", s.WaitMax, c.max)
			}
		})
	}
}

// TestPerfLockKinds compares the kinds of waits with the raw events: 3,642 spins, 10 of a mutex, 3 writers and one
// reader of a semaphore.
func TestPerfLockKinds(t *testing.T) {
	table := one(t, filepath.Join(fixtures, "a.contention.txt"), SniffPerfLockContention, ReadPerfLockContention)
	got := map[string]int64{}
	for _, l := range table.Locks {
		got[l.Kind] += l.Contentions
	}
	if diff := cmp.Diff(map[string]int64{"spinlock": 3642, "mutex": 10, "rwsem:W": 3, "rwsem:R": 1}, got); diff != "" {
		t.Error(diff)
	}
	if table.Total.Spin+table.Total.Block != table.Total.Wait {
		t.Errorf("spin %s and block %s are not all the wait, %s", table.Total.Spin, table.Total.Block, table.Total.Wait)
	}
	first := table.Locks[0]
	if first.Name != "__iterate_supers+0xdc" || first.Key != "at __iterate_supers" || float64(first.Wait)/float64(table.Total.Wait) < 0.89 {
		t.Errorf("first lock %+v", first)
	}
	if l := table.Sorted(ByCount)[0]; l.Name != "recently_deleted+0xaf" || l.Contentions != 1410 {
		t.Errorf("most frequent %+v", l)
	}
}

// TestPerfLockSumsCallers checks that rows of one caller are one lock.
func TestPerfLockSumsCallers(t *testing.T) {
	table := one(t, filepath.Join(fixtures, "a.contention.txt"), SniffPerfLockContention, ReadPerfLockContention)
	text, err := os.ReadFile(filepath.Join(fixtures, "a.contention.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(strings.Count(string(text), "spinlock   exit_to_user_mode_loop+0x51"))
	for _, l := range table.Locks {
		if l.Name == "exit_to_user_mode_loop+0x51" && l.Kind == "spinlock" {
			if l.Instances != rows || rows < 2 {
				t.Errorf("%d rows summed, the text has %d", l.Instances, rows)
			}
			return
		}
	}
	t.Error("no exit_to_user_mode_loop")
}

// TestPerfLockLostEnd checks that the wait that a lost event made up, 94 % of all in the table, is in no sum.
func TestPerfLockLostEnd(t *testing.T) {
	table := one(t, filepath.Join(fixtures, "c.contention.txt"), SniffPerfLockContention, ReadPerfLockContention, "events-lost", "impossible-row", "samples-lost")
	if len(table.Quarantined) != 1 || table.Quarantined[0].Caller != "rq_qos_wake_function+0x5f" || table.Quarantined[0].Wait.Total != 1270*unit.Millisecond {
		t.Errorf("%+v", table.Quarantined)
	}
	if table.Total.WaitMax >= unit.Second || table.Total.Contentions != 34403 {
		t.Errorf("longest %s in %d contentions", table.Total.WaitMax, table.Total.Contentions)
	}
	if l := table.Losses[0]; l.Name != "events-lost" || l.Count != 2 || l.Pos.Line != 2 {
		t.Errorf("%+v", l)
	}
	for _, f := range judge(t, table, nil) {
		if f.Severity != 0 || f.Confidence != 1 || !strings.Contains(strings.Join(f.Caveats, " "), "rq_qos_wake_function") {
			t.Errorf("%+v", f)
		}
	}
	// In the report the same wait hides in a row of 10,104 true ones: it fires, but doubtfully.
	report := one(t, filepath.Join(fixtures, "c.report-k-contended.txt"), SniffPerfLockReport, ReadPerfLockReport, "events-lost", "samples-lost", "acquisitions-unknown")
	if f := judge(t, report, nil); f[0].Severity != 1 || f[0].Confidence != 0 || !strings.Contains(f[0].Summary, "1.27 s") {
		t.Errorf("%+v", f[0])
	}
}

func TestPerfLockStacks(t *testing.T) {
	table := one(t, filepath.Join(fixtures, "a.contention-v.txt"), SniffPerfLockContention, ReadPerfLockContention)
	if got := table.Rows[0].Stack; len(got) != 8 || got[0] != "rwsem_down_write_slowpath+0x37f" || got[7] != "entry_SYSCALL_64_after_hwframe+0x76" {
		t.Errorf("%q", got)
	}
	if got := table.Locks[0].Sites[0].Stacks[0].Frames; len(got) != 8 {
		t.Errorf("%q", got)
	}
}

func TestPerfLockReport(t *testing.T) {
	for _, c := range []struct {
		file   string
		rows   int
		keyed  Keyed
		wait   unit.Nanos
		count  int64
		ledger []string
	}{
		{"a.report.txt", 26, ByCaller, 0, 0, []string{"acquisitions-unknown"}},
		{"a.report-c.txt", 19, ByCaller, 319821 * us, 3656, []string{"acquisitions-unknown"}},
		{"a.report-k-wait_total.txt", 26, ByCaller, 0, 0, []string{"acquisitions-unknown"}},
		{"a.report-F.txt", 10, ByCaller, 0, 0, []string{"acquisitions-unknown"}},
		{"a.report-t.txt", 19, ByThread, 319821 * us, 3656, []string{"acquisitions-unknown"}},
		{"a.report-v.txt", 10, ByCaller, 0, 0, []string{"acquisitions-unknown"}},
		{"b.report.txt", 68, ByCaller, 0, 0, []string{"acquisitions-unknown"}},
		{"d.report-empty.txt", 0, ByLock, 0, 0, []string{"no-contention"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			table := one(t, filepath.Join(fixtures, c.file), SniffPerfLockReport, ReadPerfLockReport, c.ledger...)
			if len(table.Rows) != c.rows || table.Keyed != c.keyed || table.Total.Acquisitions != 0 {
				t.Errorf("%d rows keyed by %s, %d acquisitions; want %d, %s, none", len(table.Rows), table.Keyed, table.Total.Acquisitions, c.rows, c.keyed)
			}
			if s := table.Total; c.count != 0 && (s.Contentions != c.count || !near(s.Wait, s.WaitSlack+5*us, c.wait)) {
				t.Errorf("%d contentions, %s of wait; want %d, %s", s.Contentions, s.Wait, c.count, c.wait)
			}
		})
	}
}

// TestPublicPerfLock reads what people posted.
func TestPublicPerfLock(t *testing.T) {
	read := func(t *testing.T, name string, ledger ...string) *Table {
		t.Helper()
		sniff, decode := SniffPerfLockContention, ReadPerfLockContention
		if strings.HasPrefix(name, "perf-report") {
			sniff, decode = SniffPerfLockReport, ReadPerfLockReport
		}
		return one(t, shared.Path(t, "data", "public-locks", name), sniff, decode, ledger...)
	}
	t.Run("slab names", func(t *testing.T) {
		table := read(t, "perf-contention.abl-slab.list-2024.txt")
		if l := table.Locks[1]; len(table.Locks) != 10 || l.Name != "&task_struct" || l.Address != "ffff98d7031fb498" || l.Kind != "mutex" || l.Wait != 2750 || l.Key != "&task_struct" || table.Keyed != ByLock {
			t.Errorf("%+v", l)
		}
	})
	t.Run("aarch64", func(t *testing.T) {
		table := read(t, "perf-contention.b-aarch64.list-2024.txt")
		if len(table.Rows) != 9 || len(table.Locks) != 7 || table.Locks[0].Known != "timer-base" || table.Locks[0].Wait != 6030*unit.Millisecond+39960 || table.Locks[0].Contentions != 8 {
			t.Errorf("%+v", table.Locks[0])
		}
		if f := judge(t, table, nil); f[0].Severity != 1 || f[0].Subject.Key != "at __tick_broadcast_oneshot_control" {
			t.Errorf("%+v", f[0])
		}
	})
	t.Run("indented", func(t *testing.T) {
		if table := read(t, "perf-contention.b.list-2022.txt"); len(table.Rows) != 9 || table.Total.Contentions != 42+23+6+3+1+1+2+1+2 || table.Total.Wait != 192670+85540+13920+11590+7520+7240+7080+6410+2500 {
			t.Errorf("%+v", table.Total)
		}
	})
	t.Run("CSV", func(t *testing.T) {
		table := read(t, "perf-contention.x-csv.list-2023.txt")
		if l := table.Locks[2]; len(table.Rows) != 9 || l.Kind != "rwlock:R" || l.Wait != 86740 || l.WaitMax != 23415 || l.Name != "ep_poll_callback+0x2d" || l.Known != "socket-wakeup" || l.WaitSlack != 0 {
			t.Errorf("%+v", l)
		}
	})
	t.Run("generations", func(t *testing.T) {
		before, after := read(t, "perf-report.ns-columns-contended.list-2022.txt"), read(t, "perf-report.unit-columns.list-2022.txt")
		if l := before.Locks[0]; l.Name != "jiffies_lock" || l.Acquisitions != 433 || l.Contentions != 32 || l.Wait != 88908 || l.WaitMax != 13570 || before.Keyed != ByLock {
			t.Errorf("%+v", l)
		}
		for i := range after.Locks {
			b, a := before.Locks[i], after.Locks[i]
			if b.Name != a.Name || b.Contentions != a.Contentions || b.Acquisitions != a.Acquisitions || !near(a.Wait, a.WaitSlack, b.Wait) {
				t.Errorf("%+v\n%+v", b, a)
			}
		}
		if len(after.Locks) != 2 || before.Locks[2].Key != "slock-AF_INET6" || before.Locks[2].Instances != 2 || before.Locks[2].Known != "socket" {
			t.Errorf("%+v", before.Locks[2])
		}
	})
	t.Run("zero rows", func(t *testing.T) {
		table := read(t, "perf-report.ns-columns.list-2022.txt")
		if table.Total.Contentions != 0 || table.Total.Acquisitions == 0 || len(judge(t, table, nil)) != 0 {
			t.Errorf("%+v", table.Total)
		}
	})
}

// TestPerfLockOwners reads the section of perf 6.15 that lists who held the locks: no waits of their own.
func TestPerfLockOwners(t *testing.T) {
	text := ` contended   total wait     max wait     avg wait         type   caller

         2      5.16 us      3.34 us      2.58 us        mutex   pipe_read+0x57

=== owner stack trace ===

         1      3.34 us      3.34 us      3.34 us        mutex   pipe_write+0x50
			0xffffffff81558dfd  pipe_write+0x50

=== output for debug ===

bad: 3, total: 11
bad rate: 27.27 %
histogram of failure reasons
       task: 0
      stack: 3
       time: 0
       data: 0
$ uname -r
`
	tables, ledger := readText(t, "o.txt", []byte(text), SniffPerfLockContention, ReadPerfLockContention)
	if table := tables[0]; len(tables) != 1 || table.Total.Contentions != 2 || len(table.Rows) != 2 || table.Losses[0].Name != "bad-pairs" || table.Losses[0].Count != 3 || len(ledger.Entries()) != 1 {
		t.Errorf("%+v\n%+v", tables, ledger.Entries())
	}
}

func TestSniffPerfLockRejects(t *testing.T) {
	for _, line := range []string{"", "Name", "contended", "Name acquired", "Warning:\nProcessed 5 events and lost 1 chunks!\n\nswapper 0 [000] 1.0: cycles:", "# output: a, b", "total wait", "max wait for the lock was long", "contended total wait max"} {
		for name, sniff := range map[string]func([]byte) source.Match{"contention": SniffPerfLockContention, "report": SniffPerfLockReport} {
			if got := sniff([]byte(line + "\n")); got != source.No && line != "Name acquired" {
				t.Errorf("%s: %q is %v", name, line, got)
			}
		}
	}
}
