package lockstat

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
	"nettrace/unit"
)

func TestKlockstat(t *testing.T) {
	t.Run("bcc", func(t *testing.T) {
		table := one(t, filepath.Join(fixtures, "klockstat.bcc-s3.txt"), SniffKlockstat, ReadKlockstat, "every-acquisition")
		l := table.Locks[0]
		if l.Name != "tx_path_send+0x4c" || l.Key != "at tx_path_send" || l.Kind != "mutex" || l.Contentions != 0 || l.Acquisitions != 91204+100 || l.Wait != 167085728+100000 || l.WaitMax != 220412 || l.Hold != 28364444+30000 || l.HoldMax != 90311 {
			t.Errorf("two intervals: %+v", l.Stats)
		}
		if diff := cmp.Diff([]string{"tx_path_send+0x4c", "dev_transmit+0x91"}, l.Sites[0].Stacks[0].Frames); diff != "" {
			t.Error(diff)
		}
		if table.Total.Acquisitions != 91204+100+402 || table.Keyed != ByCaller || len(table.Rows) != 6 {
			t.Errorf("%+v", table.Total)
		}
	})
	t.Run("libbpf", func(t *testing.T) {
		table := one(t, filepath.Join(fixtures, "klockstat.libbpf-s2.txt"), SniffKlockstat, ReadKlockstat, "every-acquisition")
		l := table.Locks[0]
		if len(table.Locks) != 1 || l.Acquisitions != 200 || l.Wait != 41*unit.Millisecond || l.Hold != 220*unit.Millisecond || l.Known != "rtnl" || l.WaitSlack != 50*unit.Microsecond {
			t.Errorf("the second interval holds the first: %+v", l)
		}
		if r := table.Rows[0]; r.Lock != "rtnl_mutex" || r.Address != "0xffffffff8300b740" || r.Thread != "ip monitor" {
			t.Errorf("%+v", r)
		}
	})
}

// TestPublicKlockstat reads what its own documentation shows.
func TestPublicKlockstat(t *testing.T) {
	for _, c := range []struct {
		file  string
		locks int
		first string
		want  Stats
		stack int
	}{
		{"klockstat.bcc-default.txt", 7, "psi_avgs_work+0x2e", Stats{Acquisitions: 5, Wait: 18379, WaitMax: 5468, WaitMaxExact: true, Hold: 74106, HoldMax: 20446}, 0},
		{"klockstat.bcc-pipe.txt", 3, "pipe_wait+0xa9", Stats{Acquisitions: 412686, Wait: 258277958, WaitMax: 16930, WaitMaxExact: true, Hold: 249598153, HoldMax: 16972}, 0},
		{"klockstat.bcc-stack3.txt", 2, "pipe_wait+0xa9", Stats{Acquisitions: 811947, Wait: 556542328, WaitMax: 17376, WaitMaxExact: true}, 2},
	} {
		table := one(t, shared.Path(t, "data", "public-locks", c.file), SniffKlockstat, ReadKlockstat, "every-acquisition")
		l := table.Locks[0]
		if len(table.Locks) != c.locks || l.Name != c.first || !cmp.Equal(l.Stats, c.want) {
			t.Errorf("%s: %d locks, first %s %+v", c.file, len(table.Locks), l.Name, l.Stats)
		}
		if s := l.Sites[0].Stacks; c.stack > 0 && (len(s) != 1 || len(s[0].Frames) != c.stack) {
			t.Errorf("%s: %+v", c.file, s)
		}
	}
}

func TestKlockstatForms(t *testing.T) {
	text := `
                Tid              Comm  Avg Wait    Count   Max Wait   Total Wait
               4711        ip monitor   12.0 us       10    40.0 us     120.0 us
               4712              a: b     90 ns        2    100 ns        180 ns

                Tid              Comm  Avg Hold    Count   Max Hold   Total Hold
               4711        ip monitor    1.0 ms       10     2.0 ms      10.0 ms
WARNING: 3 stack traces lost and could not be displayed.
$ uname -r
`
	tables, ledger := readText(t, "x", []byte(text), SniffKlockstat, ReadKlockstat)
	table := tables[0]
	if l := table.Locks[0]; table.Keyed != ByThread || l.Name != "4711 ip monitor" || l.Wait != 120*us || l.Hold != 10*unit.Millisecond || table.Locks[1].Name != "4712 a: b" || table.Locks[1].Acquisitions != 2 {
		t.Errorf("%+v", table.Locks)
	}
	if e := ledger.Entries(); len(e) != 2 || e[1].Name != "every-acquisition" || e[0].Name != "stacks-lost" || e[0].Count != 3 {
		t.Errorf("%+v", e)
	}
}

func TestPerfLockInfo(t *testing.T) {
	locks := one(t, filepath.Join(fixtures, "a.info-m.txt"), SniffPerfLockInfo, ReadPerfLockInfo)
	threads := one(t, filepath.Join(fixtures, "a.info-t.txt"), SniffPerfLockInfo, ReadPerfLockInfo)
	if len(locks.Locks) != 26 || len(threads.Rows) != 19 || threads.Rows[15].Thread != "703 :703" || len(judge(t, locks, nil)) != 0 {
		t.Errorf("%d locks, %d threads", len(locks.Locks), len(threads.Rows))
	}
	text, err := os.ReadFile(filepath.Join(fixtures, "a.script.head400.perf"))
	if err != nil {
		t.Fatal(err)
	}
	tables, _ := pair(t, text)
	tables[0].Source, locks.Source = "dir/a.perf", "dir/a.info"
	Name(append(tables, locks))
	if l := tables[0].Locks[0]; l.Name != "swake_up_one+0x35" || l.Address != "0xffff888627c2ba80" || l.Key != "at swake_up_one" {
		t.Errorf("%+v", l)
	}
	locks.Source = "other/a.info"
	tables, _ = pair(t, text)
	tables[0].Source = "dir/a.perf"
	Name(append(tables, locks))
	if l := tables[0].Locks[0]; l.Name != "0xffff888627c2ba80" {
		t.Errorf("named after another recording: %+v", l)
	}
}

func TestPerfRefusal(t *testing.T) {
	table := one(t, filepath.Join(fixtures, "a.bpf-refused.txt"), SniffPerfLockContention, ReadPerfLockContention, "bpf-refused")
	if len(table.Locks) != 0 || !strings.Contains(table.Losses[0].Text, "perf lock record") {
		t.Errorf("%+v", table)
	}
}

// dump reads one of the two dumps of fixtures/locks/dumps.
func dump(t *testing.T, name string) Dump {
	t.Helper()
	table := one(t, filepath.Join(fixtures, "dumps", name), SniffProcLockStat, ReadProcLockStat)
	return Dump{Table: table, Name: source.ParseName(name)}
}

func TestSubtract(t *testing.T) {
	before, after := dump(t, "before.lock_stat.20261130T170000.000Z.txt"), dump(t, "after.lock_stat.20261130T170010.000Z.txt")
	other := &Table{Source: "x", Tool: Tool{Program: "lockstat"}}
	ledger := &source.Ledger{}
	for _, order := range [][]Dump{{before, after}, {after, before}} {
		tables := Between([]*Table{before.Table, other, after.Table}, order, ledger)
		if len(tables) != 2 || tables[0] != other || tables[1].Seconds != 10 {
			t.Fatalf("%+v", tables)
		}
		l := tables[1].Locks[0]
		if len(tables[1].Locks) != 1 || l.Contentions != 500000 || l.Acquisitions != 900000 || l.Wait != 6*unit.Second || l.Hold != 8200*unit.Millisecond || l.Bounces != 485000 {
			t.Errorf("%+v", l.Stats)
		}
		if l.WaitMax != 980100 || !l.WaitMaxExact || l.HoldMax != 0 {
			t.Errorf("the longest wait grew, the longest hold did not: %+v", l.Stats)
		}
		if l.Sites[0].Contentions != 300000 || l.Sites[1].Contentions != 200000 || l.Holders[0].Contentions != 280000 {
			t.Errorf("%+v", l.Sites)
		}
	}
	if e := ledger.Entries(); len(e) != 1 || e[0].Name != "dumps-subtracted" || !strings.Contains(e[0].Text, "10.0 s by the times in the names") {
		t.Errorf("%+v", e)
	}
}

// TestSubtractDoubts: what is not sure to go on is left as it is; what fell was reset.
func TestSubtractDoubts(t *testing.T) {
	before, after := dump(t, "before.lock_stat.20261130T170000.000Z.txt"), dump(t, "after.lock_stat.20261130T170010.000Z.txt")
	reset := Subtract(after.Table, before.Table, 10, &source.Ledger{})
	if reset.Seconds != 0 || reset.Losses[0].Name != "counters-reset" || reset.Locks[0].Contentions != 52844 {
		t.Errorf("%+v", reset)
	}
	unnamed := func(d Dump, name string) Dump {
		table := *d.Table
		table.Source = name
		return Dump{Table: &table, Name: source.ParseName(name)}
	}
	a, b := unnamed(before, "1.txt"), unnamed(after, "2.txt")
	if got := Between([]*Table{a.Table, b.Table}, []Dump{a, b}, &source.Ledger{}); len(got) != 1 || got[0].Seconds != 0 {
		t.Errorf("two dumps in the order of their names: %+v", got)
	}
	a, b = unnamed(after, "1.txt"), unnamed(before, "2.txt")
	if got := Between([]*Table{a.Table, b.Table}, []Dump{a, b}, &source.Ledger{}); len(got) != 2 {
		t.Errorf("counters that fall are of another host: %d", len(got))
	}
	other := unnamed(before, "3.txt")
	other.Table.Locks = []Lock{{Name: "another"}}
	if got := Between([]*Table{other.Table, b.Table}, []Dump{b, other}, &source.Ledger{}); len(got) != 2 {
		t.Errorf("no class in common: %d", len(got))
	}
	text := bytes.Repeat([]byte("lock_stat version 0.4\n  x: 1 2 0.18 60.00 70.00 8.00 9 10 0.00 728.72 17606683.41 1.69\n"), 2)
	if tables, _ := readText(t, "x", text, SniffProcLockStat, ReadProcLockStat); len(tables) != 2 {
		t.Errorf("%d dumps in one text, want 2", len(tables))
	}
}
