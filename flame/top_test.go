package flame

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

func TestTop(t *testing.T) {
	p, _ := readFolded(t, []byte("main;a;a 30\nmain;a;b 20\nmain 10\nmain;c;a 40\n"))
	got, err := Top(p, Column{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		name        string
		self, total int64
	}
	var rows []row
	for _, r := range got.Rows {
		rows = append(rows, row{r.Name, r.Self, r.Total})
	}
	// A function that calls itself counts once in its total.
	want := []row{{"a", 70, 90}, {"b", 20, 20}, {"main", 10, 100}, {"c", 0, 40}}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if got.Total != 100 || got.Rows[0].SelfShare != 0.7 || got.Rows[0].TotalShare != 0.9 {
		t.Errorf("total %d, first row %+v", got.Total, got.Rows[0])
	}
	if got, _ = Top(p, Column{}, 2); len(got.Rows) != 2 {
		t.Errorf("%d rows, 2 asked for", len(got.Rows))
	}
	if _, err = Top(p, Column{Event: "cycles"}, 2); err == nil {
		t.Error("an unknown event: no error")
	}
}

// TestTopLeaves compares own samples with the independent counter's five largest leaves, on all recordings.
func TestTopLeaves(t *testing.T) {
	folder := shared.Path(t, "data/stacks")
	truths, _ := filepath.Glob(filepath.Join(folder, "truth", "*.json"))
	for _, path := range truths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if strings.HasPrefix(name, "v") {
			continue // the same samples in other layouts
		}
		p, _ := readPerf(t, shared.Read(t, filepath.Join(folder, name+".perf.txt")))
		for event, leaves := range topLeaves(t, path) {
			table, err := Top(p, Column{Event: event, Value: Samples}, 0)
			if err != nil {
				t.Fatal(err)
			}
			self := map[string]int64{}
			for _, r := range table.Rows {
				self[r.Name] += r.Self
			}
			for leaf, want := range leaves {
				if self[leaf] != want {
					t.Errorf("%s %s: %d samples in %s, want %d", name, event, self[leaf], leaf, want)
				}
			}
		}
	}
}

func topLeaves(t *testing.T, path string) map[string]map[string]int64 {
	t.Helper()
	var truth struct {
		Events map[string]struct {
			TopLeaf map[string]int64 `json:"top_leaf"`
		} `json:"events"`
	}
	if err := json.Unmarshal(shared.Read(t, path), &truth); err != nil {
		t.Fatal(err)
	}
	leaves := map[string]map[string]int64{}
	for event, e := range truth.Events {
		leaves[event] = e.TopLeaf
	}
	return leaves
}

// TestFixturesCut cuts each fixture at each sixteenth of its length: what is whole before the cut is read, and a cut
// within a line is in the ledger.
func TestFixturesCut(t *testing.T) {
	files, _ := filepath.Glob(fixture("*"))
	for _, path := range files {
		read := readPerf
		switch {
		case strings.HasSuffix(path, ".folded"):
			read = readFolded
		case !strings.Contains(path, ".perf.txt"):
			continue
		}
		text := shared.Read(t, path)
		whole, _ := read(t, text)
		for n := 1; n < 16; n++ {
			cut := text[:len(text)*n/16]
			p, ledger := read(t, cut)
			for _, e := range p.Events {
				all, err := whole.Event(e.Name)
				if err != nil || e.Samples > all.Samples || e.PeriodSum > all.PeriodSum {
					t.Errorf("%s cut at %d/16: event %s with %d samples: %v", path, n, e.Name, e.Samples, err)
				}
			}
			if cut[len(cut)-1] != '\n' && len(ledger.Entries()) == 0 {
				t.Errorf("%s cut at %d/16, within a line: nothing in the ledger", path, n)
			}
			for _, e := range ledger.Entries() {
				if e.Name == "cut-input" && (e.First.Line == 0 || e.First.Offset > int64(len(cut)) || e.Source == "") {
					t.Errorf("%s cut at %d/16: %+v", path, n, e)
				}
				if e.Severity == source.Warning && e.Name != "cut-input" && e.Name != "no-samples" {
					t.Errorf("%s cut at %d/16: %s: %s", path, n, e.Name, e.Text)
				}
			}
		}
	}
}
