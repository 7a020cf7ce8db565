package flame

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

func TestReadFolded(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		events           []EventTotal
		ledger           string
	}{
		{"counts", "a;b 1\na;b 2\na 3\n", "a 3\na;b 3\n", []EventTotal{{Name: "(none)", Unit: "count", Samples: 6, PeriodSum: 6}}, ""},
		{"CR LF, blanks, comments", "# x\r\na;b 1  \r\n\r\n  a;c\t2\r\n", "a;b 1\na;c 2\n", []EventTotal{{Name: "(none)", Unit: "count", Samples: 3, PeriodSum: 3}}, ""},
		{"names with blanks and numbers", "rx queue 0;f 12\nrx queue 0;memcpy@GLIBC_2.2.5 3\n", "rx queue 0;f 12\nrx queue 0;memcpy@GLIBC_2.2.5 3\n", []EventTotal{{Name: "(none)", Unit: "count", Samples: 15, PeriodSum: 15}}, ""},
		{"decimal fractions", "a;b 31.23\na 6.1\na;b 0.007\na 2.\n", "a 8.1\na;b 31.237\n", []EventTotal{{Name: "(none)", Unit: "count", Samples: 39, PeriodSum: 39}}, ""},
		{"marks", "a;b_[k];c_[k] 1\na;d_[i];e_[i] 2\na;f_[j] 3\n", "a;b;c 1\na;d;e 2\na;f 3\n", []EventTotal{{Name: "(none)", Unit: "count", Samples: 6, PeriodSum: 6}}, ""},
		{"separators and empty frames", "a;--;b 1\na;;b 2\n;a 1\n", "a 1\na;--;b 1\na;b 2\n", []EventTotal{{Name: "(none)", Unit: "count", Samples: 4, PeriodSum: 4}}, ""},
		{"bad lines", "a;b 1\nno count here\na;b 12V.43\na;b 2\n", "a;b 3\n", []EventTotal{{Name: "(none)", Unit: "count", Samples: 3, PeriodSum: 3}}, "unrecognised-line x2 @2"},
		{"cut in a name", "a;b 1\na;lon", "a;b 1\n", []EventTotal{{Name: "(none)", Unit: "count", Samples: 1, PeriodSum: 1}}, "cut-input x1 @2"},
		{"no final newline", "a;b 1\na;c 2", "a;b 1\na;c 2\n", []EventTotal{{Name: "(none)", Unit: "count", Samples: 3, PeriodSum: 3}}, "cut-input x1 @2"},
		{"beyond an int64", "a;b 99999999999999999999\na;c 1\n", "a;b 9223372036854775807\na;c 1\n", []EventTotal{{Name: "(none)", Unit: "count", Samples: 1<<63 - 1, PeriodSum: 1<<63 - 1}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ledger := readFolded(t, []byte(c.text))
			if diff := cmp.Diff(c.want, folded(t, p, Column{})); diff != "" {
				t.Errorf("stacks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.events, p.Events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if got := strings.Join(entries(ledger), " "); got != c.ledger {
				t.Errorf("ledger %q, want %q", got, c.ledger)
			}
		})
	}
}

func entries(l *source.Ledger) []string {
	var found []string
	for _, e := range l.Entries() {
		found = append(found, e.Name+" x"+decimal(e.Count, 1)+" @"+decimal(int64(e.First.Line), 1))
	}
	return found
}

func TestTwoColumns(t *testing.T) {
	p, _ := readFolded(t, shared.Read(t, fixture("two-column.folded")))
	if len(p.Events) != 2 || p.Events[0].Name != "before" || p.Events[1].Name != "after" {
		t.Fatalf("events %+v", p.Events)
	}
	if p.Events[0].Samples == 0 || p.Events[1].Samples == 0 {
		t.Errorf("totals %d and %d", p.Events[0].Samples, p.Events[1].Samples)
	}
	// One line with a single number, and names that end in numbers are names.
	p, _ = readFolded(t, []byte("a;queue 1 5\na;queue 2 6\nb 3\n"))
	if got, want := folded(t, p, Column{}), "a;queue 1 5\na;queue 2 6\nb 3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p, ledger := readFolded(t, []byte("a;b 1 2\na;c 3 4\n"+strings.Repeat("a;d 5 6\n", 3000)+"a;e 7\n"))
	if p.Events[1].Samples != 2+4+3000*6 || strings.Join(entries(ledger), " ") != "unrecognised-line x1 @3003" {
		t.Errorf("events %+v, ledger %v", p.Events, entries(ledger))
	}
}

func TestSniffFolded(t *testing.T) {
	for text, want := range map[string]source.Match{
		"a;b 1\na;c 2\n": source.Weak, "main 10\nmain;a 20\n": source.Weak, "a;b 1": source.Weak, "a;b 1\r\na 2\r\n": source.Weak, "a;b 1.5\n": source.Weak,
		"a;b 1\nBAD LINE\na;b 2\na;c 3\n": source.Weak,
		"a 1\nb 2\n":                      source.No, "text without counts; really\n": source.No, "": source.No, "\x00;b 1\n": source.No, "# comment\n": source.No,
		"title;of;table\na;b 1\n": source.No,
	} {
		if got := SniffFolded([]byte(text)); got != want {
			t.Errorf("SniffFolded(%q) = %v, want %v", text, got, want)
		}
	}
	for _, pattern := range []string{"data/stacks/*.folded", "data/stacks/variants/*.folded", "cases/*/*.folded"} {
		files, _ := filepath.Glob(filepath.Join(shared.Path(t, "data/stacks"), "..", "..", pattern))
		for _, path := range files {
			if text := shared.Read(t, path); len(text) > 100 && !strings.Contains(path, "v3-") && SniffFolded(text[:min(4096, len(text))]) != source.Weak {
				t.Errorf("%s is not recognised", path)
			}
		}
	}
}

// TestFoldedRoundTrip: what is written is read back as the same stacks.
func TestFoldedRoundTrip(t *testing.T) {
	name := rapid.StringMatching(`[a-z(][a-z0-9 :<>()]{0,8}[a-z>]`)
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 20).Draw(t, "lines") {
			text.WriteString(strings.Join(rapid.SliceOfN(name, 1, 6).Draw(t, "stack"), ";") + " " + decimal(rapid.Int64Range(1, 1e12).Draw(t, "count"), 100) + "\n")
		}
		ledger := &source.Ledger{}
		read := func(s string) string {
			p, err := ReadFolded(source.NewLines(source.NewInput("x", strings.NewReader(s)), ledger), ledger)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := WriteFolded(&b, p, Column{}); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		once := read(text.String())
		if twice := read(once); once != twice {
			t.Fatalf("once %q, twice %q", once, twice)
		}
		if n := len(ledger.Entries()); n > 0 {
			t.Fatalf("ledger: %+v", ledger.Entries())
		}
	})
}

func TestCasesFolded(t *testing.T) {
	root := shared.Path(t, "cases")
	p, _ := readFolded(t, shared.Read(t, filepath.Join(root, "03-perf-last-event-crlf", "crlf.folded")))
	if got, want := folded(t, p, Column{}), "app;main;cold 1\napp;main;hot 3\n"; got != want {
		t.Errorf("crlf.folded: %q, want %q", got, want)
	}
	a, _ := readPerf(t, shared.Read(t, filepath.Join(root, "03-perf-last-event-crlf", "no-newline-at-end.script")))
	b, _ := readPerf(t, shared.Read(t, filepath.Join(root, "03-perf-last-event-crlf", "crlf.script")))
	if got, want := folded(t, a, Column{}), folded(t, b, Column{}); got != want || got != "app;main;cold 250000\napp;main;hot 250000\n" {
		t.Errorf("no-newline-at-end: %q, crlf: %q", got, want)
	}
	p, ledger := readPerf(t, shared.Read(t, filepath.Join(root, "03-perf-last-event-crlf", "header-only.script")))
	if len(p.Events) != 0 || strings.Join(entries(ledger), " ") != "no-samples x1 @1" {
		t.Errorf("header-only: %+v, ledger %v", p.Events, entries(ledger))
	}
	if err := WriteSVG(&strings.Builder{}, p, SVGOptions{}); err == nil || !strings.Contains(err.Error(), "no samples") {
		t.Errorf("header-only: an empty flame graph, or the error %v", err)
	}
}
