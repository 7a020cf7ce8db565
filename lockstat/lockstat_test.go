package lockstat

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
	"nettrace/unit"
)

// truth is the table from which the constructed outputs were rendered.
type truth struct {
	Seconds float64           `json:"seconds"`
	Events  map[string]string `json:"events"`
	Records []struct {
		Event  int              `json:"event"`
		Count  int64            `json:"count"`
		Lock   string           `json:"lock"`
		Caller string           `json:"caller"`
		Total  int64            `json:"total_ns"`
		Bins   map[string]int64 `json:"bins_by_lower_bound_ns"`
		Stack  []string         `json:"stack"`
	} `json:"records"`
}

func readTruth(t *testing.T) truth {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixtures, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tr truth
	if err := json.Unmarshal(text, &tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestLockstatRows(t *testing.T) {
	tr := readTruth(t)
	for _, c := range []struct {
		file               string
		timed, exact, bins bool
		stack              int
		options            []string
		ledger             []string
	}{
		{file: "freebsd.default.txt", timed: true},
		{file: "freebsd.P.txt", timed: true, options: []string{"-P"}},
		{file: "freebsd.h.txt", timed: true, bins: true, options: []string{"-h"}},
		{file: "freebsd.s8.txt", timed: true, bins: true, stack: 8, options: []string{"-h", "-s"}},
		{file: "freebsd.b.txt", options: []string{"-b"}},
		{file: "freebsd.p-basic.txt", options: []string{"-p"}},
		{file: "freebsd.p-time.txt", timed: true, exact: true, options: []string{"-p"}},
		{file: "freebsd.p-hist.txt", timed: true, exact: true, bins: true, options: []string{"-p"}},
		{file: "freebsd.p-stack.txt", timed: true, exact: true, bins: true, stack: 50, options: []string{"-p"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			table := one(t, filepath.Join(fixtures, c.file), SniffLockstat, ReadLockstat, c.ledger...)
			if got := strings.Join(table.Tool.Options, " "); got != strings.Join(c.options, " ") {
				t.Errorf("options %q, want %q", got, c.options)
			}
			if table.Tool.System != "FreeBSD" {
				t.Errorf("system %q, want FreeBSD", table.Tool.System)
			}
			if !strings.Contains(c.file, ".p-") && table.Seconds != tr.Seconds {
				t.Errorf("seconds %v, want %v", table.Seconds, tr.Seconds)
			}
			if len(table.Rows) != len(tr.Records) {
				t.Fatalf("%d rows, want %d", len(table.Rows), len(tr.Records))
			}
			rows := map[string]Row{}
			for _, r := range table.Rows {
				rows[r.Event+" "+r.Lock+" "+r.Caller] = r
			}
			for _, want := range tr.Records {
				name := tr.Events[fmt.Sprint(want.Event)]
				row, ok := rows[name+" "+want.Lock+" "+want.Caller]
				if !ok {
					t.Errorf("no row for %s of %s at %s", name, want.Lock, want.Caller)
					continue
				}
				m := row.Wait
				if m.Count != want.Count {
					t.Errorf("%s at %s: %d events, want %d", name, want.Caller, m.Count, want.Count)
				}
				switch {
				case !c.timed && m.Total != 0:
					t.Errorf("%s at %s: %d ns although no time was taken", name, want.Caller, m.Total)
				case c.exact && int64(m.Total) != want.Total:
					t.Errorf("%s at %s: %d ns, want %d", name, want.Caller, m.Total, want.Total)
				case c.timed && (int64(m.Total) > want.Total || int64(m.Total+m.Slack) < want.Total):
					t.Errorf("%s at %s: %d to %d ns, want %d", name, want.Caller, m.Total, m.Total+m.Slack, want.Total)
				}
				bins := map[string]int64{}
				for _, b := range m.Bins {
					bins[fmt.Sprint(b.Low)] = b.Count
					if b.High != 2*b.Low {
						t.Errorf("bin [%d, %d)", b.Low, b.High)
					}
				}
				if c.bins && !cmp.Equal(bins, want.Bins) {
					t.Errorf("%s at %s: bins %v, want %v", name, want.Caller, bins, want.Bins)
				}
				if diff := cmp.Diff(want.Stack[:min(len(want.Stack), c.stack)], row.Stack); diff != "" {
					t.Errorf("%s at %s: stack: %s", name, want.Caller, diff)
				}
			}
		})
	}
}

// TestLockstatJoin checks that spin and block of one lock are one lock with its callers told apart.
func TestLockstatJoin(t *testing.T) {
	table := one(t, filepath.Join(fixtures, "freebsd.p-stack.txt"), SniffLockstat, ReadLockstat)
	l := table.Locks[0]
	if l.Name != "0xfffff80003a4d018" || l.Key != "iflib-txq" || l.Known != "iflib-txq" || l.Kind != "mutex" {
		t.Errorf("first lock %q, key %q, known %q, kind %q", l.Name, l.Key, l.Known, l.Kind)
	}
	if l.Contentions != 71414+21104+30 || l.Wait != 13904311+3310220+611003 || l.Spin != 13904311+3310220 || l.Block != 611003 {
		t.Errorf("joined: %+v", l.Stats)
	}
	var sites []string
	for _, s := range l.Sites {
		sites = append(sites, fmt.Sprintf("%s %s %d %d", s.Caller, s.Role, s.Contentions, s.Wait))
	}
	want := []string{"iflib_if_transmit+0x1c2 transmit 71444 14515314", "_task_fn_tx+0x14f transmit reclaim 21104 3310220"}
	if diff := cmp.Diff(want, sites); diff != "" {
		t.Error(diff)
	}
	if l.WaitMax != 32768 || l.WaitMaxExact {
		t.Errorf("longest wait %d, exact %v; the highest bin begins at 32768", l.WaitMax, l.WaitMaxExact)
	}
	if s := l.Shares[0]; s.Event != "Adaptive mutex spin" || s.Count != 92518 || s.CountShare < 0.982 || s.CountShare > 0.983 {
		t.Errorf("share %+v", s)
	}
	for _, l := range table.Locks {
		if l.Name == "tcbinfo+0x58" && (l.Contentions != 3+1000+4112 || l.Known != "tcp-inpcbinfo" || len(l.Sites) != 3) {
			t.Errorf("tcbinfo: %+v", l)
		}
	}
}

// TestLockstatForms checks what the other forms tell, figure by figure.
func TestLockstatForms(t *testing.T) {
	tr := readTruth(t)
	counts := map[string]int64{}
	for _, r := range tr.Records {
		counts[tr.Events[fmt.Sprint(r.Event)]] += r.Count
	}
	events := func(t *testing.T, table *Table) {
		t.Helper()
		got := map[string]int64{}
		for _, e := range table.Events {
			got[e.Name] = e.Count
		}
		if diff := cmp.Diff(counts, got); diff != "" {
			t.Error(diff)
		}
	}
	read := func(t *testing.T, name string, ledger ...string) *Table {
		t.Helper()
		return one(t, filepath.Join(fixtures, name), SniffLockstat, ReadLockstat, ledger...)
	}
	t.Run("D0", func(t *testing.T) {
		table := read(t, "freebsd.D0.txt", "no-locks")
		events(t, table)
		if len(table.Locks) != 0 || table.Tool.Options[0] != "-D 0" {
			t.Errorf("locks %v, options %v", table.Locks, table.Tool.Options)
		}
	})
	t.Run("D3", func(t *testing.T) {
		table := read(t, "freebsd.D3.txt", "rows-cut")
		events(t, table)
		if e := table.Events[0]; e.Shown != 94142 || e.Count != 94178 {
			t.Errorf("%+v", e)
		}
		if l := table.Losses[0]; l.Count != 36 || !strings.Contains(strings.Join(table.Tool.Options, " "), "-D 3") {
			t.Errorf("%+v, options %v", l, table.Tool.Options)
		}
	})
	t.Run("R", func(t *testing.T) {
		table := read(t, "freebsd.R.txt")
		for i, r := range table.Rows {
			want := tr.Records[i]
			if d := want.Count - r.Wait.Count; d < 0 || float64(d) > tr.Seconds {
				t.Errorf("%s: %d events, want up to %.0f fewer than %d", r.Caller, r.Wait.Count, tr.Seconds, want.Count)
			}
			if got := int64(r.Wait.Total + r.Wait.Slack); got < want.Total {
				t.Errorf("%s: at most %d ns, want %d", r.Caller, got, want.Total)
			}
		}
	})
	t.Run("k", func(t *testing.T) {
		table := read(t, "freebsd.k.txt")
		events(t, table)
		if s := table.Locks[0].Sites[0]; s.Caller != "iflib_if_transmit" || s.Contentions != 71444 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("w", func(t *testing.T) {
		table := read(t, "freebsd.w.txt")
		events(t, table)
		if l := table.Locks[0]; l.Contentions != 92548 || len(l.Sites) != 1 || table.Tool.Options[0] != "-w" {
			t.Errorf("%+v, options %v", l, table.Tool.Options)
		}
	})
	t.Run("W", func(t *testing.T) {
		table := read(t, "freebsd.W.txt")
		events(t, table)
		if l := table.Locks[0]; l.Contentions != 71444 || len(l.Sites) != 1 || table.Tool.Options[0] != "-W" {
			t.Errorf("the rows of two callers with one hottest lock must stay apart: %+v, options %v", l, table.Tool.Options)
		}
	})
	t.Run("T", func(t *testing.T) {
		table := read(t, "freebsd.T.txt")
		if got := table.Locks[0]; got.Name != "tdq_cpu+0x900" || got.Wait != 1794 || !got.WaitMaxExact || table.Total.Wait != 311+97+1794 || table.Total.Contentions != 3 {
			t.Errorf("%+v", table)
		}
	})
	t.Run("I", func(t *testing.T) {
		for _, name := range []string{"freebsd.I.txt", "illumos.I.txt"} {
			table := read(t, name)
			if len(table.Locks) != 0 || len(table.Rows) != 5 || table.Events[0].Count != 970 || table.Rows[0].Caller != "iflib_rxeof+0x3a1" || table.Tool.Options[0] != "-I" {
				t.Errorf("%s: %+v", name, table)
			}
		}
	})
	t.Run("kgIW", func(t *testing.T) {
		table := read(t, "freebsd.kgIW.txt")
		if len(table.Rows) != 4 || table.Events[0].Count != 967 || strings.Join(table.Tool.Options, " ") != "-I -W -g" {
			t.Errorf("%+v", table)
		}
	})
	t.Run("spin unit", func(t *testing.T) {
		table := read(t, "illumos.spin-unit.txt")
		if table.Total.Wait != 0 || table.Total.Iterations != 2160*269+6*20 || table.Total.Contentions != 289 || table.Tool.System != "illumos" || table.Events[0].Unit != "iterations" {
			t.Errorf("iterations are not time: %+v", table)
		}
	})
	t.Run("warning", func(t *testing.T) {
		table := read(t, "freebsd.warning-truncated.txt", "records-lost")
		if len(table.Rows) != 5 || table.Losses[0].Name != "records-lost" || table.Losses[0].Pos.Line == 0 {
			t.Errorf("%+v", table)
		}
	})
}

// TestLockstatUnknownSystem checks that -p of an unknown system takes spins for iterations, since it prints no unit.
func TestLockstatUnknownSystem(t *testing.T) {
	text := "0 269 service_queue background+0xdc 0.000000 581040\n1 2 service_queue background+0xdc 0.000000 5000\n"
	tables, ledger := readText(t, "p.txt", []byte(text), SniffLockstat, ReadLockstat)
	if s := tables[0].Total; s.Wait != 5000 || s.Iterations != 581040 || s.Contentions != 271 || ledger.Entries()[0].Name != "unit-unknown" {
		t.Errorf("%+v, ledger %+v", s, ledger.Entries())
	}
}

// TestLockstatFlat reads a table whose line ends were lost, behind an echoed command.
func TestLockstatFlat(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtures, "freebsd.default.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := readText(t, "x", text, SniffLockstat, ReadLockstat)
	flat := "# lockstat -x aggsize=4m sleep 10 " + strings.Join(strings.Fields(string(text)), " ") + "\nThanks, all.\n"
	got, ledger := readText(t, "x", []byte(flat), SniffLockstat, ReadLockstat)
	if len(got) != 1 || len(ledger.Entries()) != 0 {
		t.Fatalf("%d tables, ledger %+v", len(got), ledger.Entries())
	}
	if diff := cmp.Diff(want[0].Entries(ByWait), got[0].Entries(ByWait)); diff != "" {
		t.Error(diff)
	}
}

func TestSniffLockstatRejects(t *testing.T) {
	for _, line := range []string{
		"", "Lockstat (had to reduce generator packet's rate to about 800Kpps to be able to use it):",
		"capture lockstat -s 5 sleep 10 output from this run? Add -x aggsize=4m as the first argument", "perf: 10 events in 5 seconds",
		"lockstat: see the manual page", "0 0 0 0 0.000000", "1 2 3.4 5.6 7.000000", "94178 packets received", "12 a b c 0.000000", "Event     Time", "Count of things",
		"   1 2 abc def 0.00", "99 1 lock caller 0.000000",
	} {
		if got := SniffLockstat([]byte(line + "\n")); got != source.No {
			t.Errorf("SniffLockstat(%q) = %v", line, got)
		}
	}
}

// TestPublicLockstat reads the samples of the manual pages; the sums are awk's.
func TestPublicLockstat(t *testing.T) {
	for _, c := range []struct {
		file        string
		rows        int
		contentions int64
		wait, hold  unit.Nanos
		ledger      []string
	}{
		{"lockstat.freebsd-man-ex1.txt", 23, 37908, 3061879, 0, []string{"cut-by-hand"}},
		{"lockstat.freebsd-man-ex2-hold.txt", 20, 0, 0, 96720104, []string{"cut-by-hand", "rows-cut"}},
		{"lockstat.freebsd-man-ex3-stack.txt", 2, 0, 0, 32*1631 + 29*4851, []string{"cut-by-hand"}},
		{"lockstat.illumos-man-ex1.txt", 33, 1478, 735933257, 0, []string{"cut-by-hand"}},
		{"lockstat.illumos-man-ex2-no-rate.txt", 10, 0, 0, 0, []string{"count-mismatch", "cut-by-hand"}},
		{"lockstat.illumos-man-ex3-stack-wrapped.txt", 2, 10, 9*2540 + 1036, 0, []string{"cut-by-hand"}},
		{"lockstat.illumos-man-ex5-generated-load.txt", 20, 0, 0, 0, []string{"cut-by-hand"}},
		{"lockstat.illumos-man-ex7-hottest-caller.txt", 6, 0, 0, 0, []string{"cut-by-hand"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			table := one(t, shared.Path(t, "data", "public-locks", c.file), SniffLockstat, ReadLockstat, c.ledger...)
			if len(table.Rows) != c.rows {
				t.Errorf("%d rows, want %d", len(table.Rows), c.rows)
			}
			if c.contentions != 0 && table.Total.Contentions != c.contentions {
				t.Errorf("%d contentions, want %d", table.Total.Contentions, c.contentions)
			}
			if c.wait != 0 && table.Total.Wait != c.wait || c.hold != 0 && table.Total.Hold != c.hold {
				t.Errorf("wait %d, want %d; hold %d, want %d", table.Total.Wait, c.wait, table.Total.Hold, c.hold)
			}
		})
	}
}

// TestBinBounds checks both readings of a histogram on the manual pages' samples, where the means prove them.
func TestBinBounds(t *testing.T) {
	table := one(t, shared.Path(t, "data", "public-locks", "lockstat.freebsd-man-ex3-stack.txt"), SniffLockstat, ReadLockstat, "cut-by-hand")
	if diff := cmp.Diff([]Bin{{512, 1024, 11}, {1024, 2048, 14}, {2048, 4096, 6}, {4096, 8192, 1}}, table.Rows[0].Hold.Bins); diff != "" {
		t.Error(diff)
	}
	if got := table.Rows[0].Stack; len(got) != 7 || got[0] != "tcp_input+0xf54" || got[6] != "0xffffffff808cf9ee" {
		t.Errorf("stack %q", got)
	}
	table = one(t, shared.Path(t, "data", "public-locks", "lockstat.illumos-man-ex3-stack-wrapped.txt"), SniffLockstat, ReadLockstat, "cut-by-hand")
	if diff := cmp.Diff([]Bin{{256, 512, 5}, {512, 1024, 2}, {1024, 2048, 1}, {16384, 32768, 1}}, table.Rows[0].Wait.Bins); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(table.Rows[0].Stack, " "); got != "putnext+0x78 ip_rput+0xec4 _c_putnext+0x148 hmeread+0x31c hmeintr+0x36c sbus_intr_wrapper+0x30" {
		t.Errorf("stack %q", got)
	}
}

// TestLongerThanTheRecording: what cannot have been measured is set apart.
func TestLongerThanTheRecording(t *testing.T) {
	text := "Adaptive mutex block: 3 events in 1.000 seconds (3 events/sec)\n\nCount indv cuml rcnt     nsec Lock                   Caller\n" +
		strings.Repeat("-", 79) + "\n    2  67%  67% 0.00 1005000000 a_mtx                  f+0x1\n    1  33% 100% 0.00 1200000000 b_mtx                  g+0x1\n" + strings.Repeat("-", 79) + "\n"
	tables, ledger := readText(t, "x", []byte(text), SniffLockstat, ReadLockstat)
	table := tables[0]
	if len(table.Locks) != 1 || table.Locks[0].Name != "a_mtx" || len(table.Quarantined) != 1 || table.Quarantined[0].Lock != "b_mtx" || table.Total.Contentions != 2 {
		t.Errorf("%+v", table)
	}
	if e := ledger.Entries(); len(e) != 1 || e[0].Name != "impossible-row" || e[0].First.Line != 6 {
		t.Errorf("%+v", e)
	}
}
