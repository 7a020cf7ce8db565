package perf_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// readRecording returns each sample as a text.
func readRecording(t *testing.T, name, text string) (samples []string, lost int64, ledger []source.Entry) {
	t.Helper()
	r, l := openRecording(t, name, text)
	samples = drain(t, r.Next)
	return samples, r.Lost().Events, l.Entries()
}

// openRecording opens a recording with the symbols that lie beside it.
func openRecording(t *testing.T, name, text string) (*perf.DataReader, *source.Ledger) {
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
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var l source.Ledger
	r, err := perf.NewDataReader(source.NewInput(name, f), &l, perf.DataOptions{At: f, Size: info.Size(), Symbols: files})
	if err != nil {
		t.Fatal(err)
	}
	return r, &l
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

// TestRecordingsEqualPerfReport compares the share of every function, by thread name and object, with perf report's, which
// has two decimals.
func TestRecordingsEqualPerfReport(t *testing.T) {
	for _, recording := range recordings {
		if recording.name != recording.text || recording.name == "03-pipe" { // of a pipe perf report prints several tables
			continue
		}
		t.Run(recording.name, func(t *testing.T) {
			shares, total := map[string]int64{}, int64(0)
			r, ledger := openRecording(t, recording.name, recording.text)
			main := ""
			if err := perf.Each(r, func(e *perf.Event) {
				if main == "" {
					main = e.Name
				}
				if e.Name != main || len(e.Stack) == 0 {
					return
				}
				total += e.Weight()
				shares[e.Comm+"|"+filepath.Base(e.Stack[0].DSO)+"|"+e.Stack[0].Symbol] += e.Weight()
			}); err != nil {
				t.Fatal(err, ledger)
			}
			compared := 0
			for line := range strings.Lines(string(shared.Read(t, shared.Path(t, "data", "perf-data", recording.text+".report.txt")))) {
				m := reportLine.FindStringSubmatch(line)
				if strings.HasPrefix(line, "# Samples:") && compared > 0 {
					break // the next event
				}
				if m == nil || !named(m[3]) && !named("/"+m[3]) || m[4] == "[unknown]" || strings.HasPrefix(m[4], "0x") {
					continue
				}
				compared++
				want, _ := strconv.ParseFloat(m[1], 64)
				got := 100 * float64(shares[m[2]+"|"+m[3]+"|"+m[4]]) / float64(total)
				if math.Abs(got-want) > 0.0051 && !strings.Contains(m[4], "@plt") {
					t.Errorf("%s in %s of %s has %.3f %%, perf report says %.2f %%", m[4], m[3], m[2], got, want)
				}
			}
			if compared < 3 {
				t.Errorf("only %d lines were compared", compared)
			}
		})
	}
}

var reportLine = regexp.MustCompile(`^ +([\d.]+)% +(\S.*?) {2,}(\S+) +\[[.k]\] (\S+)`)
