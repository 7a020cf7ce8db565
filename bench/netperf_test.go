package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/source"
)

// shared returns the path of a file of the shared data folder, and skips the test where there is none.
func shared(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("NETTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s under %s: set NETTRACE_SHARED to the folder that has it", name, root)
	}
	return path
}

func content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readAll reads all outputs of a text as the driver does: what is Strong anywhere, what is Weak if the text begins so.
func readAll(t testing.TB, name, text string) ([]Run, []source.Entry) {
	t.Helper()
	ledger := &source.Ledger{}
	lines := source.NewLines(source.NewInput(name, strings.NewReader(text)), ledger)
	var runs []Run
	for {
		head := lines.Head(headBytes)
		if len(head) == 0 {
			return runs, ledger.Entries()
		}
		m := SniffNetperf(head)
		if m != source.Strong && (m != source.Weak || lines.Pos().Line > 1) {
			lines.Next()
			continue
		}
		before := lines.Pos().Offset
		found, err := ReadNetperf(lines, ledger)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, found...)
		if lines.Pos().Offset == before {
			t.Fatalf("%s: nothing was taken at %v, where the output was recognised", name, lines.Pos())
		}
	}
}

func TestArchivedInterimLog(t *testing.T) {
	runs, ledger := readAll(t, "log", content(t, shared(t, "data/published/mlx4-adaptive-rx.netperf-interim.as-archived.txt")))
	if len(runs) != 2 || len(ledger) != 0 {
		t.Fatalf("%d runs, ledger %v; want 2 runs and nothing lost", len(runs), ledger)
	}
	for i, want := range []struct {
		request int64
		rate    float64
		interim int
		first   float64
		last    float64
	}{{4344, 9907.27, 30, 5332.90, 14176.00}, {4345, 3560.55, 37, 8712.99, 3328.29}} {
		r := runs[i]
		if r.Test != "TCP_RR" || r.Host != "mumble.3.21" || r.Unit != "transactions/s" || r.Sizes != (Sizes{Request: want.request, Response: 1}) || r.Rate != want.rate || r.Seconds != 10 {
			t.Errorf("run %d is %+v", i, r)
		}
		if len(r.Interim) != want.interim || r.Interim[0].Rate != want.first || r.Interim[want.interim-1].Rate != want.last {
			t.Errorf("run %d has %d interim results from %v to %v", i, len(r.Interim), r.Interim[0], r.Interim[len(r.Interim)-1])
		}
	}
	if e := runs[1].Interim[0]; e.EndSeconds != 1311209357 || e.EndNanos != 406e6 || e.Length != 370e6 || e.Pos.Line != 38 {
		t.Errorf("first interim result of 4345 bytes: %+v", e)
	}
}
