package lockstat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/finding"
	"nettrace/fixtures/shared"
	"nettrace/source"
)

// formats are all readers of the package.
var formats = []struct {
	name  string
	sniff func([]byte) source.Match
	read  reader
}{
	{"lockstat", SniffLockstat, ReadLockstat},
	{"proc-lock_stat", SniffProcLockStat, ReadProcLockStat},
	{"perf-lock-contention", SniffPerfLockContention, ReadPerfLockContention},
	{"perf-lock-report", SniffPerfLockReport, ReadPerfLockReport},
	{"perf-lock-info", SniffPerfLockInfo, ReadPerfLockInfo},
	{"klockstat", SniffKlockstat, ReadKlockstat},
	{"ftrace", SniffFtrace, func(l *source.Lines, ledger *source.Ledger) (*Table, error) {
		tables, err := ReadFtrace(l, ledger)
		if len(tables) == 0 {
			return &Table{}, err
		}
		return tables[0], err
	}},
}

func fixtureTexts(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(fixtures, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	texts := map[string][]byte{}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(p)] = text
	}
	return texts
}

// TestNoFalseRecognition runs the sniffers over every line of what other tools printed and people wrote.
func TestNoFalseRecognition(t *testing.T) {
	root := filepath.Dir(shared.Path(t, "data"))
	lines := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txt" || strings.Contains(path, "locks/") || strings.Contains(path, "/lockstat/") || strings.Contains(path, "23-lock-stat") || strings.Contains(path, "klockstat") {
			return err
		}
		text, err := os.ReadFile(path)
		for len(text) > 0 && err == nil {
			lines++
			for _, f := range formats {
				if m := f.sniff(text[:min(len(text), 4096)]); m != source.No {
					t.Errorf("%s takes %s for its own (%s): %.80q", f.name, path, m, text)
				}
			}
			_, text, _ = bytes.Cut(text, []byte("\n"))
		}
		return err
	})
	if err != nil || lines < 10000 {
		t.Errorf("%d lines, %v", lines, err)
	}
}

// TestOneFormatEach checks that each fixture is recognised by one format only.
func TestOneFormatEach(t *testing.T) {
	for name, text := range fixtureTexts(t) {
		var own []string
		for _, f := range formats {
			if tables, _ := readText(t, name, text, f.sniff, f.read); len(tables) > 0 {
				own = append(own, fmt.Sprintf("%s %d", f.name, len(tables)))
			}
		}
		if len(own) != 1 || !strings.HasSuffix(own[0], " 1") {
			t.Errorf("%s: %v", name, own)
		}
	}
}

// TestCut cuts each fixture at every sixteenth of its length: the rows before the cut are read as in the whole, and
// where a row is lost the ledger says where.
func TestCut(t *testing.T) {
	for name, text := range fixtureTexts(t) {
		for _, f := range formats {
			whole, _ := readText(t, name, text, f.sniff, f.read)
			for i := 1; i < 16 && len(whole) > 0; i++ {
				part := text[:len(text)*i/16]
				tables, ledger := readText(t, name, part, f.sniff, f.read)
				if len(tables) == 0 {
					continue
				}
				rows, all := tables[0].Rows, whole[0].Rows
				for j := range rows[:max(len(rows)-1, 0)] { // the last one may lack its histogram
					if rows[j].Lock != all[j].Lock || rows[j].Caller != all[j].Caller || rows[j].Wait.Count != all[j].Wait.Count || rows[j].Wait.Total != all[j].Wait.Total {
						t.Fatalf("%s cut at %d/16: row %d is %+v, want %+v", name, i, j, rows[j], all[j])
					}
				}
				last := bytes.TrimSpace(part[bytes.LastIndexByte(part, '\n')+1:])
				if len(last) == 0 || bytes.IndexByte([]byte("0123456789"), last[0]) < 0 || bytes.HasPrefix(last, []byte("0x")) || bytes.Contains(last, []byte("|")) || strings.Contains(name, "D0") {
					continue // not in a row
				}
				if e := ledger.Entries(); !slices.ContainsFunc(e, func(e source.Entry) bool {
					return e.Name == "cut-input" && e.First.Line == 1+bytes.Count(part, []byte("\n"))
				}) {
					t.Errorf("%s cut at %d/16 inside %q: ledger %+v", name, i, last, e)
				}
			}
		}
	}
}

// TestOrderOfRows checks that the order of rows changes no total.
func TestOrderOfRows(t *testing.T) {
	texts := fixtureTexts(t)
	table := func(t *rapid.T, rows []Row) *Table {
		b := newBuilder(source.Pos{Source: "x"}, Tool{}, ByLock, &source.Ledger{})
		for i := range rows {
			b.add(rows[i].Lock+rows[i].Thread, rows[i].Lock, &rows[i])
		}
		return b.finish()
	}
	for _, name := range []string{"freebsd.p-stack.txt", "a.report.txt", "freebsd.default.txt"} {
		f := formats[0]
		if strings.HasPrefix(name, "a.") {
			f = formats[3]
		}
		tables, _ := readText(t, name, texts[name], f.sniff, f.read)
		rows := tables[0].Rows
		rapid.Check(t, func(t *rapid.T) {
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			shuffled := make([]Row, len(rows))
			for i, j := range rnd.Perm(len(rows)) {
				shuffled[i] = rows[j]
			}
			a, b := table(t, rows), table(t, shuffled)
			if diff := cmp.Diff(a.Total, b.Total); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(a.Entries(ByWait), b.Entries(ByWait)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

// TestEntriesAddUp checks that the flat list holds all that the table does, in every order.
func TestEntriesAddUp(t *testing.T) {
	for name, text := range fixtureTexts(t) {
		for _, f := range formats {
			tables, _ := readText(t, name, text, f.sniff, f.read)
			for _, table := range tables {
				for _, by := range []Order{ByWait, ByHold, ByCount, ByMax} {
					var s Stats
					for _, e := range table.Entries(by) {
						s.Contentions, s.Wait, s.Hold = s.Contentions+e.Contentions, s.Wait+e.Wait, s.Hold+e.Hold
					}
					if s.Contentions != table.Total.Contentions || s.Wait != table.Total.Wait || s.Hold != table.Total.Hold {
						t.Errorf("%s by %s: %+v, want %+v", name, by, s, table.Total)
					}
					for i, l := range table.Sorted(by) {
						if i == 0 {
							continue
						}
						before, this := table.Sorted(by)[i-1], l
						switch {
						case by == ByWait && before.Wait < this.Wait, by == ByHold && before.Hold < this.Hold, by == ByCount && before.Contentions < this.Contentions, by == ByMax && before.WaitMax < this.WaitMax:
							t.Errorf("%s by %s: %s is before %s", name, by, before.Name, this.Name)
						}
					}
				}
			}
		}
	}
	if _, err := ParseOrder("size"); err == nil {
		t.Error("size is no order")
	}
}

// TestBounded checks that a very long output makes a bounded table, whose totals hold everything.
func TestBounded(t *testing.T) {
	var text bytes.Buffer
	const n = 20000
	for i := range n {
		fmt.Fprintf(&text, "0 3 0xfffff800%08x caller_%d+0x10 0.000000 30\n", i*64, i)
	}
	tables, ledger := readText(t, "long", text.Bytes(), SniffLockstat, ReadLockstat)
	table := tables[0]
	if len(tables) != 1 || len(table.Locks) > maxLocks+1 || len(table.Rows) != maxRows || table.Total.Contentions != 3*n || table.Total.Wait != 30*n {
		t.Errorf("%d tables, %d locks, %d rows, %+v", len(tables), len(table.Locks), len(table.Rows), table.Total)
	}
	if table.Locks[0].Name != otherLocks || len(table.Locks[0].Sites) > maxSites+1 {
		t.Errorf("%+v", table.Locks[0].Stats)
	}
	if out, err := json.Marshal(table); err != nil || len(out) > 8<<20 {
		t.Errorf("%d bytes of JSON, %v", len(out), err)
	}
	if e := ledger.Entries(); len(e) != 2 || e[0].Name != "locks-summed" || e[1].Name != "rows-not-listed" {
		t.Errorf("%+v", e)
	}
}

// exercise does with a table what the program does.
func exercise(t *testing.T, table *Table) {
	t.Helper()
	for _, rule := range []finding.On[*Table]{Contention(), Spinning(), LongHold(), Convoy(), CrossCPU(), Recursion()} {
		for _, f := range rule.Run(table, nil) {
			if f.Summary == "" {
				t.Errorf("%s says nothing", rule.Name)
			}
		}
	}
	table.Entries(ByWait)
	Name([]*Table{table})
	Subtract(table, table, 1, &source.Ledger{})
	if err := Pprof([]*Table{table}).CheckValid(); err != nil {
		t.Error(err)
	}
	if d := Compare(table, table); d.Total.Difference != 0 {
		t.Errorf("%+v", d.Total)
	}
}

func fuzz(f *testing.F, i int) {
	for _, text := range fixtureTexts(f) {
		f.Add(text)
	}
	f.Add([]byte("lock_stat version 0.4\n  x: 1 2 0.18 60.00 70.00 8.00 9 10 0.00 728.72 17606683.41 1.69\n x 1 [<0>] f+0x1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tables, ledger := readText(t, "fuzz", text, formats[i].sniff, formats[i].read)
		for _, table := range tables {
			if _, err := json.Marshal(table); err != nil {
				t.Error(err)
			}
			exercise(t, table)
			for _, s := range []Stats{table.Total} {
				if s.Contentions < 0 || s.Acquisitions < 0 || s.Wait < 0 || s.Hold < 0 || s.WaitMax < 0 || s.WaitSlack < 0 || s.Iterations < 0 {
					t.Errorf("negative: %+v", s)
				}
			}
		}
		ledger.Entries()
		// What follows an output must not depend on it: reading is repeatable.
		again, _ := readText(t, "fuzz", text, formats[i].sniff, formats[i].read)
		if diff := cmp.Diff(tables, again); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzLockstat(f *testing.F)           { fuzz(f, 0) }
func FuzzProcLockStat(f *testing.F)       { fuzz(f, 1) }
func FuzzPerfLockContention(f *testing.F) { fuzz(f, 2) }
func FuzzPerfLockReport(f *testing.F)     { fuzz(f, 3) }
func FuzzPerfLockInfo(f *testing.F)       { fuzz(f, 4) }
func FuzzKlockstat(f *testing.F)          { fuzz(f, 5) }
func FuzzFtrace(f *testing.F)             { fuzz(f, 6) }

func benchmark(b *testing.B, i int, name string, times int) {
	text := bytes.Repeat(fixtureTexts(b)[name], times)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		readText(b, name, text, formats[i].sniff, formats[i].read)
	}
}

func BenchmarkLockstat(b *testing.B)           { benchmark(b, 0, "freebsd.s8.txt", 1) }
func BenchmarkLockstatParsable(b *testing.B)   { benchmark(b, 0, "freebsd.p-stack.txt", 100) }
func BenchmarkPerfLockContention(b *testing.B) { benchmark(b, 2, "c.contention.txt", 1) }
func BenchmarkPerfLockReport(b *testing.B)     { benchmark(b, 3, "c.report-k-contended.txt", 1) }

func BenchmarkPerfLockInfo(b *testing.B) { benchmark(b, 4, "a.info-m.txt", 1) }
func BenchmarkKlockstat(b *testing.B)    { benchmark(b, 5, "klockstat.bcc-s3.txt", 1) }
func BenchmarkFtrace(b *testing.B)       { benchmark(b, 6, "ftrace.head150.txt", 1) }

func BenchmarkProcLockStat(b *testing.B) {
	row := []byte("  &rq->lock: 135014 136909 0.18 606.09 842160.68 6.15 1540728 10436146 0.00 728.72 17606683.41 1.69\n  ---\n  &rq->lock 136909 [<ffffffff810>] f+0x1/0x2\n")
	text := append([]byte("lock_stat version 0.4\n"), bytes.Repeat(row, 1000)...)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		readText(b, "x", text, SniffProcLockStat, ReadProcLockStat)
	}
}

func BenchmarkSniff(b *testing.B) {
	line := []byte("netperf 3407.41 16384 87380 4345 1 10.00 of prose and numbers: 12 13 14 and so on, as mail has it\n")
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range formats {
			f.sniff(line)
		}
	}
}
