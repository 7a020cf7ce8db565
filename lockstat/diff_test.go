package lockstat

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lockTable makes a table of n locks for comparisons.
func lockTable(seconds float64, waits map[string]Stats) *Table {
	t := &Table{Source: "x", Tool: Tool{Program: "lock_stat"}, Keyed: ByLock, Seconds: seconds}
	for _, key := range []string{"a", "b", "c"} {
		if s, ok := waits[key]; ok {
			t.Locks = append(t.Locks, Lock{Name: key + "#2", Key: key, Stats: s})
			t.Total.merge(&s)
		}
	}
	return t
}

func TestCompare(t *testing.T) {
	base := lockTable(10, map[string]Stats{"a": {Contentions: 508799, Wait: 1e9}, "b": {Contentions: 3, Wait: 50}})
	other := lockTable(5, map[string]Stats{"a": {Contentions: 43085, Wait: 1e8}, "c": {Contentions: 7, Wait: 2e8}})
	d := Compare(base, other)
	var got []string
	for i := range d.Locks {
		got = append(got, d.Locks[i].Key+" "+d.Locks[i].Text(d.Rated))
	}
	want := []string{"a 100 ms/s -> 20.0 ms/s (-80 %)", "c 0 ns/s -> 40.0 ms/s (new)", "b 5 ns/s -> 0 ns/s (-100 %)"}
	if diff := cmp.Diff(want, got); diff != "" || !d.Rated || len(d.Caveats) != 0 {
		t.Errorf("%s\n%v", diff, d.Caveats)
	}
	if got := d.Total.Difference; got != 3e8/5-(1e9+50)/10 {
		t.Errorf("total changed by %v", got)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back Diff
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, &back); diff != "" {
		t.Error(diff)
	}
}

// TestCompareDoubts checks that what makes two tables unlike is said.
func TestCompareDoubts(t *testing.T) {
	base := lockTable(0, map[string]Stats{"a": {Contentions: 1}})
	other := lockTable(5, map[string]Stats{"a": {Contentions: 4, Iterations: 9}})
	other.Tool.Program, other.Losses, base.CPUs, other.CPUs = "lockstat", []Loss{{Name: "events-lost"}}, 2, 4
	d := Compare(base, other)
	for _, want := range []string{"do not count alike", "only one of the two", "on 2 and on 4 CPUs", "loop iterations", "events were lost"} {
		if !strings.Contains(strings.Join(d.Caveats, "; "), want) {
			t.Errorf("no %q in %q", want, d.Caveats)
		}
	}
	if d.Rated || d.Locks[0].Text(false) != "1 -> 4 contentions" {
		t.Errorf("%+v", d.Locks)
	}
	other.Locks[0].Key = "0xffff888103a4d018"
	if d := Compare(base, other); !strings.Contains(strings.Join(d.Caveats, "; "), "within one boot only") {
		t.Errorf("%q", d.Caveats)
	}
	other.Keyed = ByCaller
	if d := Compare(base, other); len(d.Locks) != 0 || d.Total.Other.Contentions != 4 || !strings.Contains(d.Caveats[0], "only the totals") {
		t.Errorf("%+v", d)
	}
	if d := CompareAll([]*Table{base, base}, []*Table{base, other, base, base}); len(d) != 2 {
		t.Errorf("%d pairs, want 2: the table of another tool and the third have no partner", len(d))
	}
}

// TestCompareItself checks that nothing changes from a table to itself, in any tool's form.
func TestCompareItself(t *testing.T) {
	for name, text := range fixtureTexts(t) {
		for _, f := range formats {
			tables, _ := readText(t, name, text, f.sniff, f.read)
			for _, table := range tables {
				d := Compare(table, table)
				var all Stats
				for _, c := range d.Locks {
					if c.Difference != 0 || c.BaseWait > 0 && c.Ratio != 1 || !cmp.Equal(c.Base, c.Other) {
						t.Errorf("%s: %+v", filepath.Base(name), c)
					}
					all.merge(&c.Other)
				}
				if len(d.Locks) > 0 && (all.Wait != table.Total.Wait || all.Contentions != table.Total.Contentions) {
					t.Errorf("%s: the classes hold %s in %d, the table %s in %d", name, all.Wait, all.Contentions, table.Total.Wait, table.Total.Contentions)
				}
			}
		}
	}
}
