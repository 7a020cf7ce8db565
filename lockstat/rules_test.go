package lockstat

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/finding"
)

// rules are those of the package beside lock/contention, each with what fires it, what just does not, and what is clean.
var rules = []struct {
	rule              finding.On[*Table]
	fires, near, none func(*testing.T) *Table
	severity          finding.Severity
	measures          map[string]float64
	summary           []string
	sensitive         map[string]float64 // thresholds with which the near miss fires
}{
	{Spinning(), lockstatFile("iflib-contended.txt"), lockstatFile("iflib-near.txt"), lockstatFile("freebsd.default.txt"), finding.Warning,
		map[string]float64{"spin_share": (3188112*1214 + 1050331*1655 + 20107*80 + 13254*412) / 10.006e9},
		[]string{"5.62 s were spun for locks, 56 % of one CPU", "0xfffff80003a4d018) 99.9 %"}, map[string]float64{"notice": 0.0098}},
	{LongHold(), lockstatFile("hold-long.txt"), lockstatFile("hold-near.txt"), lockstatFile("freebsd.default.txt"), finding.Warning,
		map[string]float64{"hold_share": (400000*14000 + 90000*4666) / 10e9, "speedup_bound": 10e9 / (400000*14000 + 90000*4666), "hold_max": 14000},
		[]string{"nic_tx_mtx: held 6.02 s in 490,000 acquisitions", "more CPUs can bring at most 1.66 times the work", "nic_transmit+0x1c2 98 % of the wait"}, map[string]float64{"share": 0.48}},
	{Convoy(), perfFile("convoy.perf"), perfFile("convoy-near.perf"), perfFile("a.script.head400.perf"), finding.Warning,
		map[string]float64{"waiters_max": 7}, []string{"while anybody waited, 6.", "threads did on average, at most 7"}, map[string]float64{"queue": 1.5, "most": 2}},
	{CrossCPU(), dumps(485000), dumps(399999), lockstatFile("freebsd.default.txt"), finding.Notice,
		map[string]float64{"bounce_share": 0.97, "bounces": 485000}, []string{"IOMMU or DMA mapping table", "97 % of 500,000 contentions came from another CPU"}, map[string]float64{"share": 0.79}},
	{Recursion(), lockstatFile("recursion.txt"), lockstatFile("hold-near.txt"), lockstatFile("freebsd.default.txt"), finding.Notice,
		map[string]float64{"entries": 12}, []string{"nic_core_sx was taken 12 times by a thread that had it, at nic_ioctl+0x88"}, nil},
}

func lockstatFile(name string) func(*testing.T) *Table {
	return func(t *testing.T) *Table {
		return one(t, filepath.Join(fixtures, name), SniffLockstat, ReadLockstat)
	}
}

func perfFile(name string) func(*testing.T) *Table {
	return func(t *testing.T) *Table {
		text, err := os.ReadFile(filepath.Join(fixtures, name))
		if err != nil {
			t.Fatal(err)
		}
		tables, _ := pair(t, text)
		return tables[0]
	}
}

// dumps is what happened between the two dumps, with so many contentions across CPUs.
func dumps(bounces int64) func(*testing.T) *Table {
	return func(t *testing.T) *Table {
		before, after := dump(t, "before.lock_stat.20261130T170000.000Z.txt"), dump(t, "after.lock_stat.20261130T170010.000Z.txt")
		table := Between([]*Table{after.Table, before.Table}, []Dump{after, before}, ledger())[0]
		table.Locks[0].Bounces = bounces
		return table
	}
}

func TestRules(t *testing.T) {
	for _, c := range rules {
		t.Run(strings.TrimPrefix(c.rule.Name, "lock/"), func(t *testing.T) {
			findings := finding.Rank(c.rule.Run(c.fires(t), nil))
			if len(findings) == 0 {
				t.Fatal("does not fire")
			}
			f := findings[0]
			for _, other := range findings {
				if strings.Contains(other.Summary, c.summary[0]) {
					f = other
				}
			}
			if f.Severity != c.severity || len(f.Evidence) == 0 || f.Evidence[0].Line == 0 || len(f.Reasons) == 0 || len(f.Advice) == 0 {
				t.Errorf("%v, %+v", f.Severity, f)
			}
			for _, name := range []string{"contentions", "wait_total", "wait_max", "wait_share"} {
				if _, ok := f.Measure(name); !ok {
					t.Errorf("no measure %s", name)
				}
			}
			for name, want := range c.measures {
				if got, _ := f.Measure(name); math.Abs(got-want) > 1e-6*math.Abs(want) {
					t.Errorf("%s is %v, want %v", name, got, want)
				}
			}
			for _, want := range c.summary {
				if !strings.Contains(f.Summary, want) {
					t.Errorf("summary %q lacks %q", f.Summary, want)
				}
			}
			if f := c.rule.Run(c.near(t), nil); len(f) != 0 {
				t.Errorf("near miss: %+v", f)
			}
			set := map[string]float64{}
			for name, v := range c.sensitive {
				set[c.rule.Name+"."+name] = v
			}
			if f := c.rule.Run(c.near(t), set); len(f) == 0 && len(set) > 0 {
				t.Errorf("%v does not make the near miss fire", set)
			}
			if f := c.rule.Run(c.none(t), nil); len(f) != 0 {
				t.Errorf("clean: %+v", f)
			}
		})
	}
}

// TestHoldsOfReaders: holds that overlap bound nothing, and a class of locks is no lock.
func TestHoldsOfReaders(t *testing.T) {
	table := lockstatFile("hold-long.txt")(t)
	for _, f := range LongHold().Run(table, nil) {
		if strings.Contains(f.Summary, "in_ifaddr_lock") { // held 7.2 s in 10 s, by readers
			t.Errorf("%s", f.Summary)
		}
	}
	classes := dumps(1)(t)
	if f := LongHold().Run(classes, nil); len(f) != 1 || !strings.Contains(f[0].Summary, "82 % of the time, if it is one lock, which bounds what more CPUs can bring at 1.22 times") {
		t.Errorf("%+v", f)
	} else if _, ok := f[0].Measure("speedup_bound"); ok {
		t.Error("a class has no bound")
	}
}

// TestConvoyOfTables: where waiters are not counted, waits are compared with holds.
func TestConvoyOfTables(t *testing.T) {
	table := dumps(1)(t)
	l := &table.Locks[0]
	l.Hold = l.Wait / 9 * 5 // a mean wait of 12 us; 3.24 holds of 3.7 us
	if f := Convoy().Run(table, nil); len(f) != 1 || !strings.Contains(f[0].Summary, "a wait of 12.0 us lasts 3.24 holds of 3.70 us on average, and 56 % of the acquisitions wait") {
		t.Errorf("%+v", f)
	}
	l.Acquisitions = 2*l.Contentions + 2 // less than half of them wait
	l.Hold *= 2
	if f := Convoy().Run(table, nil); len(f) != 0 {
		t.Errorf("%+v", f)
	}
}

// TestKnownRecursion: the clean-up of iflib that drains the ring comes back to the lock that it has.
func TestKnownRecursion(t *testing.T) {
	for _, f := range Recursion().Run(lockstatFile("recursion.txt")(t), nil) {
		if strings.Contains(f.Summary, "iflib_txq_drain") {
			if !strings.Contains(f.Summary, "transmit queue lock of iflib (0xfffff80003a4d018) was taken once by a thread that had it") {
				t.Error(f.Summary)
			}
			return
		}
	}
	t.Error("not found")
}

// TestRolesOnOneLock: senders and the clean-up wait for the same lock, which is what the iflib case is about.
func TestRolesOnOneLock(t *testing.T) {
	f := judge(t, lockstatFile("iflib-contended.txt")(t), nil)[0]
	if !strings.Contains(f.Summary, "transmit 73 % of the wait (iflib_if_transmit+0x1c2), transmit reclaim 27 % (_task_fn_tx+0x14f)") {
		t.Error(f.Summary)
	}
}
