package perf_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/perf"
	"nettrace/source"
	"nettrace/symbol"
)

// recordings are those of the shared folder, with how many of their samples may differ from the text of perf 6.1: it
// keeps the maps of the old program for kernel samples within execve, and prints no objects for tracepoints of a pipe.
var recordings = []struct {
	name    string
	text    string
	samples int
	lost    int64
	differ  int
}{
	{"01-system-cpu-clock", "01-system-cpu-clock", 1765, 0, 1},
	{"02-events-tracepoints", "02-events-tracepoints", 2481, 0, 0},
	{"03-pipe", "03-pipe", 793, 0, 5},
	{"04-compressed", "04-compressed", 5198, 0, 1},
	{"05-process-inline", "05-process-inline", 1376, 0, 0},
	{"05-big-endian.constructed", "05-process-inline", 1376, 0, 0},
	{"06-rounds-lost", "06-rounds-lost", 4776, 92, 2},
}

func TestRecordingsEqualPerfScript(t *testing.T) {
	for _, want := range recordings {
		t.Run(want.name, func(t *testing.T) {
			binary, lost, ledger := readRecording(t, want.name, want.text)
			text := readScript(t, shared.Path(t, "data", "perf-data", want.text+".script.txt.gz"))
			if len(binary) != want.samples || len(text) != want.samples {
				t.Fatalf("%d samples, perf script has %d, expected %d", len(binary), len(text), want.samples)
			}
			differ := 0
			for i := range binary {
				if binary[i] != text[i] {
					if differ++; differ > want.differ {
						t.Errorf("sample %d:\n%s\nperf script:\n%s", i, binary[i], text[i])
						if differ > want.differ+3 {
							break
						}
					}
				}
			}
			if lost != want.lost {
				t.Errorf("lost %d, expected %d", lost, want.lost)
			}
			t.Logf("%d samples differ; %v", differ, ledger)
		})
	}
}

// readRecording returns each sample as a text, with the symbols that lie beside the recording.
func readRecording(t *testing.T, name, text string) (samples []string, lost int64, ledger []source.Entry) {
	t.Helper()
	path := shared.Path(t, "data", "perf-data", name+".data")
	files, errs := symbol.Open([]string{shared.Path(t, "data", "perf-data", text+".kallsyms"), shared.Path(t, "data", "perf-data", "hot"),
		shared.Path(t, "data", "perf-data", "netload"), shared.Path(t, "data", "perf-data", "vdso.elf")})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	var l source.Ledger
	r, err := perf.NewDataReader(source.NewInput(name, f), &l, perf.DataOptions{At: f, Size: info.Size(), Symbols: files})
	if err != nil {
		t.Fatal(err)
	}
	samples = drain(t, r.Next)
	return samples, r.Lost().Events, l.Entries()
}

func readScript(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var l source.Ledger
	return drain(t, perf.NewScriptReader(source.NewLines(source.NewInput(path, bytes.NewReader(text)), &l), &l).Next)
}

// drain prints samples as far as both readers can know them: the text has whole microseconds, no process, no CPU where
// the command line chose none, and none of the names of libraries that were not given.
func drain(t *testing.T, next func() (*perf.Event, error)) (samples []string) {
	t.Helper()
	for {
		e, err := next()
		if err == io.EOF {
			return samples
		}
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s %d %d.%06d %d %s:%s %q", e.Comm, e.TID, e.Time/1e9, e.Time/1e3%1e6, e.Weight(), e.Name, e.Modifiers, e.Payload)
		for _, f := range e.Stack {
			name := f.Symbol
			if f.HasOffset {
				name += fmt.Sprintf("+0x%x", f.Offset)
			}
			if !named(f.DSO) {
				name = ""
			}
			fmt.Fprintf(&b, "\n\t%x %s (%s)", f.Address, name, f.DSO)
		}
		samples = append(samples, b.String())
	}
}

// named reports whether an object's symbols are in the shared folder.
func named(object string) bool {
	return strings.HasPrefix(object, "[") || strings.HasSuffix(object, "/hot") || strings.HasSuffix(object, "/netload") || strings.HasPrefix(object, "bpf_prog")
}
