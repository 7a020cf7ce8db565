package tui

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/pcap"
	"nettrace/source"
)

// outside opens the bundle from an empty folder, where files are written.
func outside(t *testing.T, width, height int) *driver {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", bundle))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	return start(t, width, height, path)
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// records returns the numbers of packets and the comments of a capture.
func records(t *testing.T, name string) (n int, comments []string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pcap.NewReader(source.NewInput(name, f), &source.Ledger{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		p, err := r.Next()
		if err == io.EOF {
			return n, comments
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
		comments = append(comments, p.Comments()...)
	}
}

func TestWritePackets(t *testing.T) {
	d := outside(t, 100, 30)
	d.press("2", "G", "w").shows("connection 1 of rr-4345-wire.pcap").press("1").shows("file: rr-4345-packets.pcapng").press("enter")
	d.shows("rr-4345-packets.pcapng written: connection 1 of rr-4345-wire.pcap")
	n, comments := records(t, "rr-4345-packets.pcapng")
	if n != 48 || !strings.Contains(strings.Join(comments, "\n"), "tcp/tso-split (notice): ") {
		t.Errorf("%d packets, want all 48 with what findings say of them: %q", n, comments)
	}
	// Marked packets, and the interval between the marks: the name is free.
	d.press("enter").press("3", "end", "enter", ":6", "enter", "m", "a", ":12", "enter", "m", "b", "w").shows("2 marked packets", "from the mark at #6 to the one at #12")
	d.press("3", "enter").shows("rr-4345-packets-2.pcapng written")
	if n, _ := records(t, "rr-4345-packets-2.pcapng"); n != 7 {
		t.Errorf("%d packets between the marks at 6 and 12", n)
	}
	d.press("/", "src port 5001", "enter", "w").shows("what /src port 5001 lets through").press("1", "enter")
	if n, _ := records(t, "rr-4345-packets-3.pcapng"); n == 0 || n >= 48 {
		t.Errorf("the filter lets through %d of 48", n)
	}
	if len(d.m.written) != 3 {
		t.Errorf("written: %q", d.m.written)
	}
	d.press("5", "w").shows("no packets are selected here")
}

func TestWriteLeavesFilesAlone(t *testing.T) {
	d := outside(t, 100, 30)
	if err := os.WriteFile("mine.txt", []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	d.press("2", "e", "1")
	for range len("rr-4345-flows.txt") {
		d.press("backspace")
	}
	d.press("mine.txt", "enter").shows("not written: mine.txt exists already")
	if read(t, "mine.txt") != "mine" {
		t.Error("the file is not as it was")
	}
}

func TestExports(t *testing.T) {
	d := outside(t, 100, 30)
	d.press("2", "e").shows("connections as text (.txt)", "connections as JSON (.json)").press("1", "enter").shows("rr-4345-flows.txt written")
	if text := read(t, "rr-4345-flows.txt"); strings.Count(text, "\n") != 6 || !strings.Contains(text, "192.0.2.1:47694") {
		t.Errorf("the list as text is\n%s", text)
	}
	d.press("e", "2", "enter").shows("rr-4345-flows.json written")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(read(t, "rr-4345-flows.json")), &rows); err != nil || len(rows) != 5 {
		t.Errorf("%d rows: %v", len(rows), err)
	}
	d.press("5", "e").shows("as a picture (.svg)", "as a page (.html)", "folded").press("1", "enter").shows("rr-4345-stacks.svg written")
	if !strings.Contains(read(t, "rr-4345-stacks.svg"), "<svg") {
		t.Error("the picture is no SVG")
	}
}

func TestReportAndWholeResult(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("..", bundle))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	page := Form{Name: "one page", Ending: ".html", Page: true, Write: func(_ context.Context, w io.Writer, r *analyze.Result) error {
		_, err := io.WriteString(w, r.Findings[0].Rule)
		return err
	}}
	d := newDriver(t, Options{Paths: []string{path}, Theme: "dark", Forms: []Form{page}, Env: []string{"TERM=xterm"}})
	d.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	d.press("o").shows("the report is made of the findings")
	d.send(d.m.analyse()())
	d.press("o").shows("file: rr-4345.html").press("enter").shows("rr-4345.html written: the report as one page")
	d.press(":", "report x.html", "enter").shows("x.html written")
	for _, name := range []string{"rr-4345.html", "x.html"} {
		if got := read(t, name); got != d.m.result.Findings[0].Rule {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

// TestCopyIntoAFile is for terminals that take no copies.
func TestCopyIntoAFile(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("..", bundle))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	d := newDriver(t, Options{Paths: []string{path}, Theme: "dark", Env: []string{"TERM=linux"}})
	d.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	d.send(d.m.analyse()())
	d.press("y").shows("this terminal takes no copies").press("c", "enter").shows("rr-4345-copy.txt written")
	if got := read(t, "rr-4345-copy.txt"); !strings.HasPrefix(got, "nettrace analyze /") {
		t.Errorf("copied %q", got)
	}
	d.m.options.Env = []string{"TERM=xterm"}
	d.press("y", "f").shows("file: rr-4345-copy-2.txt")
}
