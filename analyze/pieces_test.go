package analyze

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nettrace/pcap"
	"nettrace/source"
)

// recording is a capture file by its records: what stands before the first packet, and where each packet begins.
type recording struct {
	path    string
	data    []byte
	offsets []int
}

// recordings returns the fixtures that can be cut between any two packets: those that describe nothing behind the first.
func recordings(t *testing.T) []recording {
	t.Helper()
	paths, err := filepath.Glob("../fixtures/pcap/*.pcap*")
	if err != nil {
		t.Fatal(err)
	}
	var list []recording
	for _, path := range paths {
		if ext := filepath.Ext(path); ext != ".pcap" && ext != ".pcapng" { // compressed
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := recording{path: path, data: data}
		packets, err := pcap.NewReader(source.NewInput(path, bytes.NewReader(data)), new(source.Ledger))
		if err != nil {
			t.Fatal(err)
		}
		described := -1
		for {
			p, err := packets.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			r.offsets = append(r.offsets, int(p.Offset))
			if described < 0 {
				described = len(packets.Info().Interfaces)
			}
		}
		if info := packets.Info(); len(r.offsets) > 1 && len(info.Interfaces) == described && info.Sections <= 1 {
			list = append(list, r)
		}
	}
	if len(list) < 20 {
		t.Fatalf("only %d fixtures can be cut", len(list))
	}
	return list
}

// cut writes the packets before number n to one file of a folder and the rest to another.
func (r *recording) cut(t testing.TB, n int, names [2]string) []string {
	t.Helper()
	at := len(r.data)
	if n < len(r.offsets) {
		at = r.offsets[n]
	}
	dir := t.TempDir()
	var paths []string
	for i, part := range [][]byte{r.data[:at], append(bytes.Clone(r.data[:r.offsets[0]]), r.data[at:]...)} {
		paths = append(paths, filepath.ToSlash(filepath.Join(dir, names[i]+filepath.Ext(r.path))))
		if err := os.WriteFile(paths[i], part, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// learnt is what a result says of its one capture, without the names and places of files.
func learnt(t failer, r *Result) string {
	t.Helper()
	if len(r.Models.Captures) != 1 {
		t.Fatalf("%d captures of %v", len(r.Models.Captures), r.Sources)
	}
	capture := *r.Models.Captures[0]
	pieces := map[string]int64{}
	for _, p := range capture.Pieces {
		pieces[p.Source] = p.Record
	}
	capture.Pieces = nil
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	if err := e.Encode(capture); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		for _, at := range f.Evidence {
			fmt.Fprintf(&b, "evidence of %s: #%d\n", f.Rule, at.Record+pieces[at.Source])
		}
		f.Evidence, f.ID = nil, ""
		if f.Subject.Kind == "capture" {
			f.Subject.Name = ""
		}
		if err := e.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	return places.ReplaceAllString(b.String(), "")
}

var places = regexp.MustCompile(`(?m)^ *"(source|offset|reset_offset)": .*\n`)

func run(t failer, paths ...string) *Result {
	t.Helper()
	r, errs := Run(context.Background(), paths, Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return r
}

// A capture that was cut between any two of its packets is analysed as if it were whole.
func TestCutCapturesAreOne(t *testing.T) {
	all := recordings(t)
	whole := map[string]string{}
	rapid.Check(t, func(rt *rapid.T) {
		r := rapid.SampledFrom(all).Draw(rt, "recording")
		n := rapid.IntRange(0, len(r.offsets)).Draw(rt, "cut")
		names := rapid.SampledFrom([][2]string{{"x_00001_20261130163603", "x_00002_20261130163604"}, {"x_00009_20261130163603", "x_00010_20261130163604"}}).Draw(rt, "names")
		if whole[r.path] == "" {
			whole[r.path] = learnt(rt, run(rt, r.path))
		}
		got := run(t, r.cut(t, n, names)...)
		if len(got.Sources) != 2 {
			rt.Fatalf("%d sources", len(got.Sources))
		}
		if text := learnt(rt, got); text != whole[r.path] {
			rt.Fatalf("%s cut before packet %d:\n%s", r.path, n+1, firstDifference(text, whole[r.path]))
		}
	})
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d: %s, want %s", i+1, strings.Join(a[max(0, i-3):min(i+2, len(a))], "\n"), strings.Join(b[max(0, i-3):min(i+2, len(b))], "\n"))
		}
	}
	return "the end is missing"
}

// Names decide nothing where a connection goes on at its sequence number; where none does, they do.
func TestWhatMakesFilesOneCapture(t *testing.T) {
	fixture := func(name string) string { return "../fixtures/pcap/" + name }
	bulk := recordingOf(t, fixture("bulk-gro-receiver.pcap"))
	half := len(bulk.offsets) / 2
	for _, c := range []struct {
		what     string
		paths    []string
		captures int
	}{
		{"any names, a connection that goes on", bulk.cut(t, half, [2]string{"noon", "evening"}), 1},
		{"any names, in the wrong order", bulk.cut(t, half, [2]string{"z", "a"}), 1},
		{"tcpdump's names", bulk.cut(t, half, [2]string{"x.pcap", "x.pcap1"}), 1},
		{"both ends of one run", []string{fixture("rr-4345-sender.pcap"), fixture("rr-4345-wire.pcap")}, 2},
		{"runs one after the other", []string{fixture("rr-4345-wire.pcap"), fixture("bulk-gro-receiver.pcap"), fixture("nagle-head-3mss1.pcap")}, 3},
		{"the same file twice", []string{fixture("rr-4345-wire.pcap"), fixture("rr-4345-wire.pcap")}, 2},
	} {
		r := run(t, c.paths...)
		if len(r.Models.Captures) != c.captures || len(r.Sources) != len(c.paths) {
			t.Errorf("%s: %d captures of %d sources, want %d", c.what, len(r.Models.Captures), len(r.Sources), c.captures)
		}
		for i := range r.Sources {
			if r.Sources[i].Path != c.paths[i] {
				t.Errorf("%s: source %d is %s", c.what, i, r.Sources[i].Path)
			}
		}
	}
}

func recordingOf(t *testing.T, path string) recording {
	t.Helper()
	for _, r := range recordings(t) {
		if r.path == path {
			return r
		}
	}
	t.Fatalf("no fixture %s", path)
	return recording{}
}

// Evidence points into the file that holds the packet.
func TestEvidenceIsInItsOwnFile(t *testing.T) {
	loss := recordingOf(t, "../fixtures/pcap/loss-queue-sender.pcap")
	paths := loss.cut(t, len(loss.offsets)/2, [2]string{"x_00001_20261130163603", "x_00002_20261130163604"})
	seen := map[string]int{}
	for _, f := range run(t, paths...).Findings {
		for _, e := range f.Evidence {
			if e.Record == 0 {
				continue
			}
			seen[e.Source]++
			data, err := os.ReadFile(e.Source)
			if err != nil {
				t.Fatal(err)
			}
			packets, err := pcap.NewReader(source.NewInput(e.Source, bytes.NewReader(data)), new(source.Ledger))
			if err != nil {
				t.Fatal(err)
			}
			for {
				p, err := packets.Next()
				if err != nil {
					t.Fatalf("%s: %s has no record %d", f.Rule, e.Source, e.Record)
				}
				if p.Record == e.Record {
					if p.Offset != e.Offset {
						t.Errorf("%s: record %d is at %d, evidence says %d", f.Rule, e.Record, p.Offset, e.Offset)
					}
					break
				}
			}
		}
	}
	if seen[paths[0]] == 0 || seen[paths[1]] == 0 {
		t.Errorf("evidence in %v", seen)
	}
}

// failer is a test, or a check of a property.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}
