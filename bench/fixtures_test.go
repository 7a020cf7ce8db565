package bench

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/source"
)

func fixture(t testing.TB, name string) string {
	t.Helper()
	return content(t, filepath.Join("..", "fixtures", "bench", name))
}

func content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// read reads all outputs of a text as the driver does: what is Strong anywhere, what is Weak if the text begins so.
func read(t testing.TB, name, text string) ([]Run, []source.Entry) {
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

// names returns the ledger's names, which tests compare.
func names(entries []source.Entry) []string {
	found := []string{}
	for _, e := range entries {
		found = append(found, e.Name)
	}
	return found
}

// csvRows returns the rows of a table without its comments and head.
func csvRows(t testing.TB, path string) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(content(t, path)))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}
