package lockstat

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/source"
)

const fixtures = "../fixtures/locks"

type reader func(*source.Lines, *source.Ledger) (*Table, error)

// readText reads the outputs of one format in a text, one after the other, as analyze does.
func readText(t testing.TB, name string, text []byte, sniff func([]byte) source.Match, read reader) ([]*Table, *source.Ledger) {
	t.Helper()
	ledger := &source.Ledger{}
	lines := source.NewLines(source.NewInput(name, bytes.NewReader(text)), ledger)
	var tables []*Table
	for {
		head := lines.Head(4096)
		if len(head) == 0 {
			return tables, ledger
		}
		if sniff(head) != source.Strong {
			lines.Next()
			continue
		}
		before := lines.Pos()
		table, err := read(lines, ledger)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
		if lines.Pos() == before {
			t.Fatalf("%s: sniffed as Strong, but nothing was read", before)
		}
	}
}

// one reads a file that holds one output and nothing else to report of but the ledger names.
func one(t testing.TB, path string, sniff func([]byte) source.Match, read reader, ledgerNames ...string) *Table {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tables, ledger := readText(t, filepath.Base(path), text, sniff, read)
	if len(tables) != 1 {
		t.Fatalf("%s: %d outputs, want 1", path, len(tables))
	}
	var names []string
	for _, e := range ledger.Entries() {
		names = append(names, e.Name)
	}
	if got, want := strings.Join(names, " "), strings.Join(ledgerNames, " "); got != want {
		t.Errorf("%s: ledger %q, want %q: %+v", filepath.Base(path), got, want, ledger.Entries())
	}
	return tables[0]
}

func ledger() *source.Ledger { return &source.Ledger{} }
