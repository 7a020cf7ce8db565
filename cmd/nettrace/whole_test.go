package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/fixtures/shared"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fixtureFiles lists the inputs among the fixtures.
func fixtureFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("fixtures", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) != ".md" && filepath.Ext(path) != ".go" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("%d fixtures; expected all of them", len(files))
	}
	return files
}

// result runs analyze -o json and reads what it prints.
func result(t *testing.T, stdin []byte, args ...string) *analyze.Result {
	t.Helper()
	var in *bytes.Reader
	code, stdout, stderr := 0, "", ""
	if stdin != nil {
		in = bytes.NewReader(stdin)
		code, stdout, stderr = command(t, in, append([]string{"analyze", "-o", "json"}, args...)...)
	} else {
		code, stdout, stderr = command(t, nil, append([]string{"analyze", "-o", "json"}, args...)...)
	}
	if code != exitDone && code != exitFailed {
		t.Fatalf("%v: exit %d: %s", args, code, stderr)
	}
	r, err := analyze.ReadResult(strings.NewReader(stdout))
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return r
}

// renamed returns the result as JSON with every occurrence of a source's name replaced.
func renamed(t *testing.T, r *analyze.Result, name string) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(b.Bytes(), &tree); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(rename(tree, name), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func rename(v any, name string) any {
	switch v := v.(type) {
	case string:
		if v == filepath.Base(name) {
			return "NAME"
		}
		if v == name || name != "-" && strings.Contains(v, name) {
			return strings.ReplaceAll(v, name, "NAME")
		}
		if name == "-" && strings.HasPrefix(v, "-:") {
			return "NAME" + v[1:]
		}
		return v
	case []any:
		for i := range v {
			v[i] = rename(v[i], name)
		}
	case map[string]any:
		delete(v, "predicted") // a prediction reads a recording again, which standard input cannot be
		delete(v, "not_predicted")
		for k := range v {
			v[k] = rename(v[k], name)
		}
	}
	return v
}

func TestStandardInputEqualsTheFile(t *testing.T) {
	t.Chdir(root)
	for _, file := range fixtureFiles(t) {
		if strings.HasSuffix(file, ".gmon") { // the path tells what was sampled: pmcstat -g writes EVENT/OBJECT.gmon
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// A file's folder and name tell host, phase and time; what its content tells has to be equal.
		plain := filepath.Join(t.TempDir(), "input")
		if err := os.WriteFile(plain, data, 0o644); err != nil {
			t.Fatal(err)
		}
		fromFile, fromStdin := result(t, nil, plain), result(t, data, "-")
		dir := filepath.ToSlash(filepath.Dir(plain))
		a := strings.ReplaceAll(renamed(t, fromFile, filepath.ToSlash(plain)), dir, ".")
		b := renamed(t, fromStdin, "-")
		if diff := cmp.Diff(hostless(a), hostless(b)); diff != "" {
			t.Errorf("%s: file and standard input differ:\n%s", file, diff)
		}
	}
}

// hostless leaves out what a host is called, since that is its folder, and times that come from the file's own.
func hostless(text string) string {
	var keep []string
	for line := range strings.Lines(text) {
		if s := strings.TrimSpace(line); !strings.HasPrefix(s, `"name": "."`) && !strings.HasPrefix(s, `"name": ""`) && !strings.HasPrefix(s, `"time"`) && !strings.HasPrefix(s, `"time_from"`) {
			keep = append(keep, strings.TrimRight(line, ",\n"))
		}
	}
	return strings.Join(keep, "\n")
}

func TestSameInputSameBytesAndReload(t *testing.T) {
	t.Chdir(root)
	for _, path := range append(fixtureFiles(t), "fixtures/bundles/rr-4345") {
		_, once, _ := command(t, nil, "analyze", path, "-o", "json")
		_, twice, _ := command(t, nil, "analyze", path, "-o", "json")
		if once != twice {
			t.Errorf("%s: two runs differ:\n%s", path, cmp.Diff(once, twice))
		}
		saved := filepath.Join(t.TempDir(), "result.json")
		if err := os.WriteFile(saved, []byte(once), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]string{{"-o", "text"}, {"-v"}, {"-o", "json"}, {"-o", "markdown"}} {
			_, direct, _ := command(t, nil, append([]string{"analyze", path}, form...)...)
			_, reloaded, stderr := command(t, nil, append([]string{"analyze", saved}, form...)...)
			if direct != reloaded {
				t.Errorf("%s %v: a reloaded result prints otherwise (%s):\n%s", path, form, stderr, cmp.Diff(direct, reloaded))
			}
		}
	}
}

// TestCutInputs cuts every fixture at each sixteenth of its length: what is intact gives its findings, and the ledger
// names the place of the cut.
func TestCutInputs(t *testing.T) {
	t.Chdir(root)
	for _, file := range fixtureFiles(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k < 16; k++ {
			cut := data[:len(data)*k/16]
			r := result(t, cut, "-")
			known := len(r.Sources) > 0 && r.Sources[0].Format != ""
			whole := len(cut) == 0 || cut[len(cut)-1] == '\n' // a text cut between two lines shows nothing, unless its format has an end
			if known && !whole && len(r.Ledger) == 0 {
				t.Errorf("%s cut at byte %d of %d: nothing in the ledger", file, len(cut), len(data))
			}
			intact := cut[:bytes.LastIndexByte(cut, '\n')+1]
			if isText(data) && len(intact) > 0 && !manyResultsOnALine(file) {
				if diff := cmp.Diff(subjects(result(t, intact, "-")), subjects(r)); diff != "" {
					t.Errorf("%s cut at byte %d: other findings than in the whole lines before:\n%s", file, len(cut), diff)
				}
			}
			for _, e := range r.Ledger {
				nowhere := e.First.Offset == 0 && e.First.Line == 0 && e.First.Record == 0
				if nowhere && !strings.Contains(e.Text, "byte") { // nothing could be decompressed: the text has the place
					t.Errorf("%s cut at byte %d: the ledger's %s names no place: %s", file, len(cut), e.Name, e.Text)
				}
			}
		}
	}
}

func isText(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 4096)], 0) < 0 }

// manyResultsOnALine reports whether a file has lost its line ends: what is intact of it is more than its whole lines.
func manyResultsOnALine(file string) bool { return strings.Contains(file, "netperf-interim") }

// subjects lists what findings are about, in their order by name.
func subjects(r *analyze.Result) []string {
	list := []string{}
	for _, f := range r.Findings {
		list = append(list, f.Rule+" "+f.Subject.Key)
	}
	slices.Sort(list)
	return list
}

// TestFormatsOfRecordings holds what every recording is recognised as.
func TestFormatsOfRecordings(t *testing.T) {
	t.Chdir(root)
	var got strings.Builder
	for _, folder := range []string{"pcap", "limits", "stacks", "counters", "locks", "published", "public-pcap", "public-stacks", "public-counters", "public-locks", "threads"} {
		dir := shared.Path(t, "data", folder)
		_, stdout, _ := command(t, nil, "inspect", dir, "-o", "json")
		r, err := analyze.ReadResult(strings.NewReader(stdout))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Sources {
			format := s.Format
			if format == "" {
				format = "-"
				if len(s.Tried) == 0 && !strings.HasPrefix(s.Note, "empty") {
					t.Errorf("%s is not recognised, and nothing was tried", s.Path)
				}
			}
			line := ""
			if s.Line > 1 {
				line = fmt.Sprintf(" line %d", s.Line)
			}
			fmt.Fprintf(&got, "%s/%s\t%s%s\n", folder, strings.TrimPrefix(s.Path, filepath.ToSlash(dir)+"/"), format, line)
		}
	}
	golden(t, "cmd/nettrace/testdata/recordings.golden", got.String())
}

// golden compares text with a file of the tree, or writes it with -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update writes it anew:\n%s", file, diff)
	}
}

func TestFirstScreenOfTheBundle(t *testing.T) {
	t.Chdir(root)
	_, stdout, _ := command(t, nil, "analyze", "fixtures/bundles/rr-4345")
	golden(t, "cmd/nettrace/testdata/rr-4345.golden", stdout)
	r := result(t, nil, "fixtures/bundles/rr-4345")
	first := r.Findings[0]
	if first.Rule != "cross/adaptive-rx" {
		t.Fatalf("first is %s", first.Rule)
	}
	for _, needed := range []string{"netperf-rr.txt", "before.ethtool-c.txt", ".pcap", "ethtool-S"} {
		if !slices.ContainsFunc(first.Evidence, func(e finding.Evidence) bool { return strings.Contains(e.Source, needed) }) {
			t.Errorf("no evidence from %s", needed)
		}
	}
}
