package lockstat

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// pair reads the text of perf script and pairs its lock events.
func pair(t testing.TB, text []byte) ([]*Table, *source.Ledger) {
	t.Helper()
	ledger := &source.Ledger{}
	lines := source.NewLines(source.NewInput("x", bytes.NewReader(text)), ledger)
	p := NewPairing(lines.Pos(), ledger)
	if err := perf.Each(perf.NewScriptReader(lines, ledger), p.Event); err != nil {
		t.Fatal(err)
	}
	return p.Tables(Recording{}), ledger
}

func unzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// rawWaits pairs the events by themselves, in a few lines: the sum and number of waits by address, and by thread.
func rawWaits(t *testing.T, text []byte) (locks, threads map[string][2]int64) {
	locks, threads = map[string][2]int64{}, map[string][2]int64{}
	begun := map[string]int64{}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		f := strings.Fields(s.Text()) // comm tid [cpu] time: event: address flags
		n := len(f)
		if n < 7 {
			t.Fatalf("%q", s.Text())
		}
		at, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSuffix(f[n-4], ":"), ".", ""), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		tid, address := f[n-6], f[n-2]
		key := tid + f[n-5] + address
		if tid != "0" {
			key = tid + address
		}
		if f[n-3] == "lock:contention_begin:" {
			begun[key] = at
			continue
		}
		add := func(m map[string][2]int64, k string) { m[k] = [2]int64{m[k][0] + 1, m[k][1] + (at-begun[key])*1000} }
		add(locks, address)
		add(threads, tid)
	}
	return locks, threads
}

// TestPairsAreTheRawWaits checks each lock's sum of recordings against a pairing of their text by other means.
func TestPairsAreTheRawWaits(t *testing.T) {
	for _, c := range []struct {
		file   string
		waits  int64
		total  unit.Nanos
		max    unit.Nanos
		ledger string
	}{
		{"a.raw-events.txt.gz", 3656, 319821 * us, 262987 * us, "cpus-of-events microseconds span-of-events"},
		{"c.raw-events.txt.gz", 34403, 0, 0, "begin-without-end cpus-of-events microseconds span-of-events"},
	} {
		text := unzip(t, shared.Path(t, "data", "locks", c.file))
		tables, ledger := pair(t, text)
		table := tables[0]
		want, _ := rawWaits(t, text)
		got := map[string][2]int64{}
		for _, l := range table.Locks {
			g := got[l.Name]
			got[l.Name] = [2]int64{g[0] + l.Contentions, g[1] + int64(l.Wait)}
		}
		if d := diff.Diff(want, got); d != "" {
			t.Errorf("%s: %s", c.file, d)
		}
		s := table.Total
		if s.Contentions != c.waits || c.total > 0 && (s.Wait != c.total || s.WaitMax != c.max) {
			t.Errorf("%s: %d waits of %s, the longest %s; want %d, %s, %s", c.file, s.Contentions, s.Wait, s.WaitMax, c.waits, c.total, c.max)
		}
		var names []string
		for _, e := range ledger.Entries() {
			names = append(names, e.Name)
		}
		if strings.Join(names, " ") != c.ledger {
			t.Errorf("%s: ledger %v", c.file, ledger.Entries())
		}
	}
}

// TestPairsAgreeWithPerf checks the pairs against what perf lock itself made of the same recording: one row of its report
// for each lock, one of its threads' table for each thread, one sum for each kind of lock.
func TestPairsAgreeWithPerf(t *testing.T) {
	tables, _ := pair(t, unzip(t, shared.Path(t, "data", "locks", "a.raw-events.txt.gz")))
	report := one(t, filepath.Join(fixtures, "a.report.txt"), SniffPerfLockReport, ReadPerfLockReport, "acquisitions-unknown")
	var ours, perfs []Measured
	for _, l := range tables[0].Locks {
		ours = append(ours, Measured{Count: l.Contentions, Total: l.Wait})
	}
	for _, r := range report.Rows {
		perfs = append(perfs, r.Wait)
	}
	byCount := func(a, b Measured) int { return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(a.Total, b.Total)) }
	slices.SortFunc(ours, byCount)
	slices.SortFunc(perfs, byCount)
	if len(ours) != len(perfs) {
		t.Fatalf("%d locks, perf has %d", len(ours), len(perfs))
	}
	for i, m := range ours { // the text has microseconds, perf's own clock nanoseconds
		if p := perfs[i]; m.Count != p.Count || !near(p.Total, p.Slack+unit.Nanos(m.Count)*us, m.Total) {
			t.Errorf("%d waits of %s, perf has %d of %s", m.Count, m.Total, p.Count, p.Total)
		}
	}
	kinds := func(t *Table) map[string]Stats {
		m := map[string]Stats{}
		for i := range t.Locks {
			kind, _, _ := strings.Cut(t.Locks[i].Kind, ":")
			s := m[kind]
			s.Contentions, s.Wait, s.WaitSlack = s.Contentions+t.Locks[i].Contentions, s.Wait+t.Locks[i].Wait, s.WaitSlack+t.Locks[i].WaitSlack
			m[kind] = s
		}
		return m
	}
	contention := one(t, filepath.Join(fixtures, "a.contention.txt"), SniffPerfLockContention, ReadPerfLockContention)
	want := kinds(tables[0])
	for kind, s := range kinds(contention) {
		if w := want[kind]; s.Contentions != w.Contentions || !near(s.Wait, s.WaitSlack+us, w.Wait) {
			t.Errorf("%s: perf has %d waits of %s, the pairs %d of %s", kind, s.Contentions, s.Wait, w.Contentions, w.Wait)
		}
	}
}

// TestFewLongWaits: four waits for semaphores are a thousandth of all waits and 96 % of the time, the three of writers
// alone 89 %; they are first by time, and others by count.
func TestFewLongWaits(t *testing.T) {
	tables, _ := pair(t, unzip(t, shared.Path(t, "data", "locks", "a.raw-events.txt.gz")))
	table := tables[0]
	first, second := table.Locks[0], table.Locks[1]
	if first.Kind != "rwsem:W" || first.Contentions != 3 || second.Kind != "rwsem:R" || second.Contentions != 1 {
		t.Errorf("%s %d, %s %d", first.Kind, first.Contentions, second.Kind, second.Contentions)
	}
	if share := ratio(first.Wait, table.Total.Wait); share < 0.885 || share > 0.895 {
		t.Errorf("writers wait %v of the time", share)
	}
	if share := ratio(first.Wait+second.Wait, table.Total.Wait); share < 0.955 || share > 0.965 {
		t.Errorf("semaphores wait %v of the time", share)
	}
	if l := table.Sorted(ByCount)[0]; l.Kind != "spinlock" || l.Contentions != 1410 {
		t.Errorf("most frequent is %s with %d", l.Name, l.Contentions)
	}
}

// TestPairingStates are the ways in which events of locks can follow each other.
func TestPairingStates(t *testing.T) {
	const begin, end = "lock:contention_begin: 0xffff888627c2ba80 (flags=%s)", "lock:contention_end: 0xffff888627c2ba80 (ret=%d)"
	for name, c := range map[string]struct {
		events []string // "thread cpu microsecond event"
		want   string
		ledger string
	}{
		"one wait":                         {[]string{"7 0 10 b SPIN", "7 0 25 e 0"}, "1 wait 15.0 us, spun 15.0 us, blocked 0 ns, at once 1, waited 15.0 us, bounces 0, spinlock", ""},
		"two threads at once":              {[]string{"7 0 10 b SPIN", "8 1 12 b SPIN", "7 0 25 e 0", "8 1 30 e 0"}, "2 wait 33.0 us, spun 33.0 us, blocked 0 ns, at once 2, waited 20.0 us, bounces 1, spinlock", ""},
		"a sleeper moves to another CPU":   {[]string{"7 0 10 b WRITE", "7 1 25 e 0"}, "1 wait 15.0 us, spun 0 ns, blocked 15.0 us, at once 1, waited 15.0 us, bounces 0, rwsem:W", ""},
		"a spinner cannot":                 {[]string{"7 0 10 b SPIN", "7 1 25 e 0"}, "none", "impossible-row"},
		"time steps back":                  {[]string{"7 0 10 b SPIN", "7 0 5 e 0"}, "none", "impossible-row"},
		"a mutex is spun on and slept for": {[]string{"7 0 10 b SPIN|MUTEX", "7 0 15 b MUTEX", "7 0 40 b SPIN|MUTEX", "7 1 42 e 0"}, "1 wait 32.0 us, spun 7.00 us, blocked 25.0 us, at once 1, waited 32.0 us, bounces 0, mutex", ""},
		"a mutex is spun on only":          {[]string{"7 0 10 b SPIN|MUTEX", "7 0 12 e 0"}, "1 wait 2.00 us, spun 2.00 us, blocked 0 ns, at once 1, waited 2.00 us, bounces 0, mutex", ""},
		"an end was lost":                  {[]string{"7 0 10 b SPIN", "7 0 50 b SPIN", "7 0 52 e 0"}, "1 wait 2.00 us, spun 2.00 us, blocked 0 ns, at once 0, waited 0 ns, bounces 0, spinlock", "begin-without-end"},
		"a begin was lost":                 {[]string{"7 0 10 e 0", "7 0 50 b SPIN", "7 0 52 e 0"}, "1 wait 2.00 us, spun 2.00 us, blocked 0 ns, at once 1, waited 2.00 us, bounces 0, spinlock", "end-without-begin"},
		"the recording ends in a wait":     {[]string{"7 0 10 b SPIN", "8 1 11 b SPIN", "7 0 12 e 0"}, "1 wait 2.00 us, spun 2.00 us, blocked 0 ns, at once 2, waited 2.00 us, bounces 0, spinlock", "wait-without-end"},
		"the idle threads of two CPUs":     {[]string{"0 0 10 b SPIN", "0 1 12 b SPIN", "0 0 14 e 0", "0 1 15 e 0"}, "2 wait 7.00 us, spun 7.00 us, blocked 0 ns, at once 2, waited 5.00 us, bounces 1, spinlock", ""},
		"a signal ends it":                 {[]string{"7 0 10 b MUTEX", "7 0 25 e -4"}, "1 wait 15.0 us, spun 0 ns, blocked 15.0 us, at once 1, waited 15.0 us, bounces 0, mutex", "waits-given-up"},
		"both sides of a semaphore":        {[]string{"7 0 10 b READ", "7 0 11 e 0", "7 0 20 b WRITE", "7 0 22 e 0"}, "2 wait 3.00 us, spun 0 ns, blocked 3.00 us, at once 1, waited 3.00 us, bounces 0, rwsem", ""},
		"a semaphore":                      {[]string{"7 0 10 b ", "7 0 11 e 0"}, "1 wait 1.00 us, spun 0 ns, blocked 1.00 us, at once 1, waited 1.00 us, bounces 0, semaphore", ""},
		"no flags":                         {[]string{"7 0 10 x", "7 0 11 e 0"}, "none", "damaged-event end-without-begin"},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for _, e := range c.events {
				f := strings.Split(e, " ")
				payload := "lock:contention_begin: 0xffff888627c2ba80"
				switch f[3] {
				case "b":
					payload = fmt.Sprintf(begin, f[4])
				case "e":
					ret, _ := strconv.Atoi(f[4])
					payload = fmt.Sprintf(end, ret)
				}
				at, _ := strconv.Atoi(f[2])
				fmt.Fprintf(&text, "tx %s [%03s] 1.%06d: %s\n", f[0], f[1], at, payload)
			}
			tables, ledger := pair(t, []byte(text.String()))
			got := "none"
			if len(tables) == 1 && len(tables[0].Locks) == 1 {
				l := tables[0].Locks[0]
				got = fmt.Sprintf("%d wait %s, spun %s, blocked %s, at once %d, waited %s, bounces %d, %s", l.Contentions, l.Wait, l.Spin, l.Block, l.WaitersMax, l.Waited, l.Bounces, l.Kind)
			}
			if got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			var names []string
			for _, e := range ledger.Entries() {
				if e.Name != "cpus-of-events" && e.Name != "span-of-events" && e.Name != "microseconds" {
					names = append(names, e.Name)
				}
			}
			if strings.Join(names, " ") != c.ledger {
				t.Errorf("ledger %+v, want %q", ledger.Entries(), c.ledger)
			}
		})
	}
}

// TestPairingLockdep pairs the events of kernels with lockdep: waits and holds, with names.
func TestPairingLockdep(t *testing.T) {
	text := ` tx 7 [000] 1.000010: lock:lock_acquire: 0xffffffff8b2a1c60 &q->lock
 tx 7 [000] 1.000011: lock:lock_contended: 0xffffffff8b2a1c60 &q->lock
 tx 7 [000] 1.000020: lock:lock_acquired: 0xffffffff8b2a1c60 &q->lock
 tx 8 [001] 1.000021: lock:lock_acquire: 0xffffffff8b2a1c60 &q->lock
 tx 8 [001] 1.000021: lock:lock_contended: 0xffffffff8b2a1c60 &q->lock
 tx 7 [000] 1.000030: lock:lock_release: 0xffffffff8b2a1c60 &q->lock
 tx 8 [001] 1.000031: lock:lock_acquired: 0xffffffff8b2a1c60 &q->lock
 tx 8 [001] 1.000033: lock:lock_acquire: 0xffffffff8b2a1c60 &q->lock
 tx 8 [001] 1.000034: lock:lock_release: 0xffffffff8b2a1c60 &q->lock
 tx 8 [001] 1.000035: lock:lock_release: 0xffffffff8b2a1c60 &q->lock
 tx 8 [001] 1.000036: lock:lock_acquire: 0xffffffff82c0f358 read rcu_read_lock
 tx 8 [001] 1.000037: lock:lock_acquire: 0xffffffff82c0f358 read rcu_read_lock
 tx 8 [001] 1.000038: lock:lock_release: 0xffffffff82c0f358 rcu_read_lock
 tx 8 [001] 1.000039: lock:lock_release: 0xffffffff82c0f358 rcu_read_lock
 tx 8 [001] 1.000040: lock:lock_acquire: 0xffff888100000001 try rtnl_mutex
 tx 8 [001] 1.000050: lock:lock_release: 0xffff888100000001 rtnl_mutex
 tx 8 [001] 1.000060: lock:lock_release: 0xffff888100000002 &x->lock
`
	tables, ledger := pair(t, []byte(text))
	if len(tables) != 1 || tables[0].Tool.Program != "lock:lock_acquire" || len(tables[0].Locks) != 2 {
		t.Fatalf("%+v", tables)
	}
	table := tables[0]
	if l := table.Locks[0]; l.Name != "&q->lock" || l.Key != "&q->lock" || l.Contentions != 2 || l.Wait != 19*us || l.Hold != 14*us || l.Acquisitions != 2 || l.Bounces != 1 || l.HoldMax != 10*us {
		t.Errorf("%+v", l)
	}
	if l := table.Locks[1]; l.Name != "rtnl_mutex" || l.Known != "rtnl" || l.Hold != 10*us || l.Acquisitions != 1 {
		t.Errorf("%+v", l)
	}
	if r := table.Recursions; len(r) != 1 || r[0].Lock != "&q->lock" || r[0].Wait.Count != 1 || r[0].Pos.Line != 8 {
		t.Errorf("%+v", r)
	}
	var names []string
	for _, e := range ledger.Entries() {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, " "); got != "cpus-of-events end-without-begin hold-without-begin microseconds span-of-events" {
		t.Errorf("ledger %s", got)
	}
}

// TestPairingCallers finds who took the lock behind the functions of locks themselves.
func TestPairingCallers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtures, "a.script.head400.perf"))
	if err != nil {
		t.Fatal(err)
	}
	tables, _ := pair(t, text)
	l := tables[0].Locks[0]
	if l.Name != "0xffff888627c2ba80" || l.Known != "run-queue" || l.Sites[0].Caller != "try_to_wake_up+0x206" || l.Sites[0].Stacks[0].Frames[2] != "try_to_wake_up+0x206" || l.WaitMax != 222*us {
		t.Errorf("%+v", l)
	}
	var stacks int64
	for _, s := range l.Sites {
		for _, k := range s.Stacks {
			stacks += k.Contentions
		}
	}
	if stacks != l.Contentions {
		t.Errorf("%d waits with a stack, want %d", stacks, l.Contentions)
	}
}

// TestPairingAddsUp makes random waits of threads for locks and checks the sums; one order of events is as good as
// another where they come at one time.
func TestPairingAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		type event struct {
			at   int
			text string
		}
		var events []event
		want := map[string][2]int64{}
		for thread := range 1 + rnd.IntN(5) {
			for lock := range 1 + rnd.IntN(3) {
				now, cpu := rnd.IntN(50), rnd.IntN(4)
				for range rnd.IntN(8) {
					begin := now + 1 + rnd.IntN(30)
					now = begin + rnd.IntN(40)
					name := fmt.Sprintf("0x%x", 0xffff0000+lock)
					who := fmt.Sprintf("t %d [%03d] 1.%06d: ", thread*3, cpu, begin)
					events = append(events, event{begin, who + "lock:contention_begin: " + name + " (flags=SPIN)\n"})
					events = append(events, event{now, fmt.Sprintf("t %d [%03d] 1.%06d: lock:contention_end: %s (ret=0)\n", thread*3, cpu, now, name)})
					want[name] = [2]int64{want[name][0] + 1, want[name][1] + int64(now-begin)*1000}
				}
			}
		}
		slices.SortStableFunc(events, func(a, b event) int { return a.at - b.at })
		var text strings.Builder
		for _, e := range events {
			text.WriteString(e.text)
		}
		ledger := &source.Ledger{}
		lines := source.NewLines(source.NewInput("x", strings.NewReader(text.String())), ledger)
		p := NewPairing(lines.Pos(), ledger)
		if err := perf.Each(perf.NewScriptReader(lines, ledger), p.Event); err != nil {
			t.Fatal(err)
		}
		got := map[string][2]int64{}
		for _, table := range p.Tables(Recording{}) {
			for _, l := range table.Locks {
				got[l.Name] = [2]int64{l.Contentions, int64(l.Wait)}
				if l.Waited > l.Wait || l.WaitersMax > l.Contentions || l.Waited*unit.Nanos(l.WaitersMax) < l.Wait {
					t.Fatalf("%d waits of %s at most %d at once cannot last %s in all", l.Contentions, l.Wait, l.WaitersMax, l.Waited)
				}
				var n int64
				for _, b := range l.Waits {
					n += b.Count
				}
				if n != l.Contentions {
					t.Fatalf("%d waits in the bins, want %d", n, l.Contentions)
				}
			}
		}
		if d := diff.Diff(want, got); d != "" {
			t.Fatalf("%s\n%s", d, text.String())
		}
	})
}

// TestFtrace reads the same events from the tracer's text.
func TestFtrace(t *testing.T) {
	text, err := os.ReadFile(shared.Path(t, "data", "locks", "ftrace-lock-events.head400.txt"))
	if err != nil {
		t.Fatal(err)
	}
	tables, ledger := readFtraceText(t, text)
	table := tables[0]
	if len(tables) != 1 || table.CPUs != 2 || table.Total.Contentions != 194 || len(table.Rows) != 194 || table.Locks[0].Name != "0xa565a478" || table.Locks[0].Contentions != 23 {
		t.Errorf("%d tables: %+v", len(tables), table.Total)
	}
	if begins := bytes.Count(text, []byte("contention_begin:")); table.Events[0].Count != int64(begins) {
		t.Errorf("%d begins, want %d", table.Events[0].Count, begins)
	}
	if e := ledger.Entries(); len(e) != 2 || e[0].Name != "microseconds" || e[1].Name != "span-of-events" {
		t.Errorf("%+v", e)
	}
}

func readFtraceText(t testing.TB, text []byte) ([]*Table, *source.Ledger) {
	t.Helper()
	if SniffFtrace(text) != source.Strong {
		t.Fatalf("not recognised: %.100q", text)
	}
	ledger := &source.Ledger{}
	tables, err := ReadFtrace(source.NewLines(source.NewInput("x", bytes.NewReader(text)), ledger), ledger)
	if err != nil {
		t.Fatal(err)
	}
	return tables, ledger
}

// TestFtraceForms reads lines with and without the columns that options add, and what tells of losses.
func TestFtraceForms(t *testing.T) {
	text := `# tracer: nop
# entries-in-buffer/entries-written: 4/1000   #P:8
           a-b c-77      [003] .....   100.000001: contention_begin: 00000000a565a478 (flags=SPIN)
           a-b c-77      (     70) [003]   100.000003: contention_end: 00000000a565a478 (ret=0)
           a-b c-77      (     70) [003]   100.000004: sched_switch: prev_comm=x ==> next_comm=y
CPU:3 [LOST 12 EVENTS]
          <idle>-0       [001] d.h1.   100.000009: contention_begin: 00000000a565a478 (flags=SPIN)
          <idle>-0       [001] d.h1.   100.000010: contention_end: 00000000a565a478 (ret=0)
          <idle>-0       [001] d.h1.   100.0000`
	tables, ledger := readFtraceText(t, []byte(text))
	table := tables[0]
	if s := table.Total; s.Contentions != 2 || s.Wait != 3*us || s.Bounces != 1 || table.CPUs != 8 {
		t.Errorf("%+v", table)
	}
	var names []string
	for _, e := range ledger.Entries() {
		names = append(names, fmt.Sprintf("%s %d", e.Name, e.Count))
	}
	if got := strings.Join(names, ", "); got != "cut-input 1, events-lost 1008, microseconds 1, other-events 1, span-of-events 1" {
		t.Errorf("ledger %s", got)
	}
}

// BenchmarkPairing is by event, without the reading of the text.
func BenchmarkPairing(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(fixtures, "a.script.head400.perf"))
	if err != nil {
		b.Fatal(err)
	}
	var events []perf.Event
	ledger := &source.Ledger{}
	err = perf.Each(perf.NewScriptReader(source.NewLines(source.NewInput("x", bytes.NewReader(text)), ledger), ledger), func(e *perf.Event) {
		kept := *e
		kept.Payload, kept.Stack = bytes.Clone(e.Payload), slices.Clone(e.Stack)
		events = append(events, kept)
	})
	if err != nil {
		b.Fatal(err)
	}
	p := NewPairing(source.Pos{}, ledger)
	b.SetBytes(int64(len(text)) / int64(len(events)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Event(&events[i%len(events)])
	}
}

func FuzzPairing(f *testing.F) {
	text, err := os.ReadFile(filepath.Join(fixtures, "a.script.head400.perf"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text[:4000])
	f.Add([]byte(" tx 7 [000] 1.000010: lock:lock_acquire: 0xffffffff8b2a1c60 &q->lock\n tx 7 [000] 1.000020: lock:lock_acquired: 0xffffffff8b2a1c60 &q->lock\n tx 7 [000] 1.000030: lock:lock_release: 0xffffffff8b2a1c60 &q->lock\n"))
	f.Add([]byte(" tx 7 [000] 1.000010: lock:contention_begin: 0xff (flags=SPIN|MUTEX)\n tx 7 [000] 1.000020: lock:contention_begin: 0xff (flags=MUTEX)\n tx 7 [001] 1.000030: lock:contention_end: 0xff (ret=-4)\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tables, ledger := pair(t, text)
		for _, table := range tables {
			if s := table.Total; s.Contentions < 0 || s.Wait < 0 || s.Hold < 0 || s.Spin < 0 || s.Block < 0 || s.Spin > s.Wait || s.Waited < 0 {
				t.Errorf("%+v", s)
			}
			exercise(t, table)
		}
		again, other := pair(t, text)
		if d := diff.Diff(tables, again); d != "" {
			t.Error(d)
		}
		if d := diff.Diff(ledger.Entries(), other.Entries()); d != "" {
			t.Error(d)
		}
	})
}
