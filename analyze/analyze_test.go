package analyze

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/bench"
	"nettrace/finding"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// outputs inspects a text and returns "format@line" for each output found in it.
func outputs(t *testing.T, text string) (list []string, r *Result) {
	t.Helper()
	r, errs := Inspect(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(text)})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, s := range r.Sources {
		list = append(list, fmt.Sprintf("%s@%d", s.Format, s.Line))
	}
	return list, r
}

const settings = `Coalesce parameters for eth2:
Adaptive RX: on  TX: off
stats-block-usecs: 0
sample-interval: 0
pkt-rate-low: 400000
pkt-rate-high: 450000

rx-usecs: 16
rx-frames: 44
rx-usecs-irq: 0
rx-frames-irq: 0

tx-usecs: 0
tx-frames: 0
tx-usecs-irq: 0
tx-frames-irq: 0

rx-usecs-low: 0
rx-frame-low: 0
tx-usecs-low: 0
tx-frame-low: 0

rx-usecs-high: 128
rx-frame-high: 0
tx-usecs-high: 0
tx-frame-high: 0
`

const driver = `driver: mlx4_en
version: 1.5.1.6
firmware-version: 2.7.9294
bus-info: 0000:05:00.0
`

func TestOutputsInATextAreFoundOneByOne(t *testing.T) {
	quote := func(text, prefix string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			b.WriteString(prefix + line)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"alone", settings, []string{"ethtool-c@1"}},
		{"two in a row", settings + driver, []string{"ethtool-c@1", "ethtool-i@27"}},
		{"prose around", "I ran ethtool -c: 5 rows.\n\n" + settings + "\nand then\n\n" + driver + "\nbye\n", []string{"ethtool-c@3", "ethtool-i@32"}},
		{"a shell log", "# ethtool -c eth2\n" + settings + "# ethtool -i eth2\n" + driver + "# exit\n", []string{"ethtool-c@2", "ethtool-i@28"}},
		{"quoted", "You wrote:\n" + quote(settings, "> ") + "thanks\n" + quote(driver, ">> ") + "x\n", []string{"ethtool-c@2", "ethtool-i@29"}},
		{"quoted, then not", quote(settings, "> ") + driver, []string{"ethtool-c@1", "ethtool-i@27"}},
		{"CR LF", strings.ReplaceAll(settings+driver, "\n", "\r\n"), []string{"ethtool-c@1", "ethtool-i@27"}},
		{"prose alone", "driver and version: the former is old.\n> quoted words\n", []string{"@0"}},
		{"nothing", "", []string{"@0"}},
		{"numbers inside of prose are no results", "these are the results:\n12.5\n13.5\n14.5\n", []string{"@0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, r := outputs(t, c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if len(r.Ledger) > 0 {
				t.Errorf("prose is in the ledger: %+v", r.Ledger)
			}
		})
	}
}

func TestWhatIsNotRecognisedSaysWhatWasTried(t *testing.T) {
	for _, c := range []struct {
		text, note string
		tried      []string
	}{
		{"some words\n", "text", []string{"ethtool-c", "netperf", "folded"}},
		{"\x00\x01\x02\x7fELF\x00\x00", "binary", []string{"pcap", "pcapng", "snoop"}},
	} {
		_, r := outputs(t, c.text)
		s := r.Sources[0]
		if s.Format != "" || !strings.HasPrefix(s.Note, c.note) {
			t.Errorf("%q: format %q, note %q", c.text, s.Format, s.Note)
		}
		for _, name := range c.tried {
			if !slices.Contains(s.Tried, name) {
				t.Errorf("%q: %s was not tried: %q", c.text, name, s.Tried)
			}
		}
	}
}

func TestFormatIsForced(t *testing.T) {
	r, errs := Inspect(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader("a;b 3\n"), Format: "folded"})
	if len(errs) > 0 || r.Sources[0].Format != "folded" {
		t.Errorf("%v, %+v", errs, r.Sources)
	}
	_, errs = Inspect(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(""), Format: "foldet"})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), `nearest is "folded"`) {
		t.Errorf("%v", errs)
	}
}

// Every format has a fixture, and names, docs and commands are complete.
func TestTableOfFormats(t *testing.T) {
	var files []string
	err := filepath.WalkDir("../fixtures", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r, errs := Inspect(context.Background(), files, Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	seen := map[string]bool{"nettrace-result": true, "nettrace-report": true, "nettrace-partial": true} // written by tests of their own
	for _, s := range r.Sources {
		seen[s.Format] = true
	}
	names := map[string]bool{}
	for _, f := range Formats() {
		if f.Doc == "" || f.Record == "" || f.Kind == "" || f.Sniff == nil || (f.bytes == nil) == (f.lines == nil) {
			t.Errorf("%s is not complete", f.Name)
		}
		if names[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		names[f.Name] = true
		if !seen[f.Name] {
			t.Errorf("%s has no fixture", f.Name)
		}
		if f.Sniff(nil) == source.Strong {
			t.Errorf("%s is sure of nothing", f.Name)
		}
	}
}

func TestTableOfRules(t *testing.T) {
	names := map[string]bool{}
	for _, r := range Rules() {
		if names[r.Name] {
			t.Errorf("%s is there twice", r.Name)
		}
		names[r.Name] = true
		if r.Title == "" || r.Method == "" || r.FalsePositives == "" || len(r.References) == 0 {
			t.Errorf("%s is not explained", r.Name)
		}
		for _, p := range r.Params {
			if p.Name == "" || p.Doc == "" {
				t.Errorf("%s: a threshold without name or source: %+v", r.Name, p)
			}
		}
	}
}

func TestFieldFilter(t *testing.T) {
	record := map[string]any{"comm": "iperf3", "period": 1500, "sizes": map[string]any{"request": 4345}, "big": uint64(1<<63 + 1)}
	for text, want := range map[string]bool{
		"":                         true,
		"comm=iperf":               true,
		"comm=IPERF3 period>1000":  true,
		"comm!=iperf3":             false,
		"period>=1500 period<1501": true,
		"period=1500.0":            true,
		"sizes.request=4345":       true,
		"sizes.request<4345":       false,
		"absent=1":                 false,
		"absent!=1":                true,
		"comm.x=1":                 false,
		"comm>a":                   true,
	} {
		f, err := parseFieldFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.match(record); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"comm", "=x", "comm iperf3"} {
		if _, err := parseFieldFilter(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestExchangeIsTheSlowestRunOrTheBusiestConnection(t *testing.T) {
	run := func(test string, rate float64, settings ...bench.Setting) bench.Run {
		return bench.Run{Tool: "netperf", Test: test, Rate: rate, Settings: settings}
	}
	e := slowestRun([]bench.Run{run("TCP_RR", 9000), run("TCP_STREAM", 10), run("TCP_RR", 3400, bench.Setting{Name: "first burst", Value: "3"}), run("TCP_RR", 0)})
	if e == nil || e.Rate != 3400 || e.Outstanding != 4 {
		t.Errorf("slowest run: %+v", e)
	}
	if slowestRun([]bench.Run{run("TCP_STREAM", 10)}) != nil {
		t.Error("a stream has no transactions")
	}
	connection := func(count, overlapping int64, p50 unit.Nanos) tcp.Connection {
		return tcp.Connection{Exchanges: tcp.Exchanges{Count: count, Overlapping: overlapping, Times: tcp.Durations{P50: p50}}}
	}
	e = busiestExchange([]*tcp.Capture{{Source: "a", Connections: []tcp.Connection{connection(5, 0, unit.Millisecond), connection(50, 1, unit.Millisecond), connection(9, 0, 2*unit.Millisecond)}}})
	if e == nil || e.Rate != 500 {
		t.Errorf("busiest connection: %+v", e)
	}
}

func TestUnknownParams(t *testing.T) {
	known := []finding.Rule{{Name: "a/b", Params: []finding.Param{{Name: "limit"}}}}
	if err := UnknownParams(map[string]float64{"a/b.limit": 1}, known); err != nil {
		t.Error(err)
	}
	if err := UnknownParams(map[string]float64{"a/b.limits": 1}, known); err == nil || !strings.Contains(err.Error(), `"a/b.limit"`) {
		t.Error(err)
	}
}

func TestInterruptedReadingIsPartial(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	r, errs := Run(ctx, []string{"../fixtures/bundles/rr-4345"}, Options{})
	if len(errs) > 0 || !r.Partial || len(r.Sources) == 0 {
		t.Errorf("%v, partial %v, %d sources", errs, r.Partial, len(r.Sources))
	}
}

// Binary noise and text noise behind a known head are read without a panic and end.
func FuzzAnalyze(f *testing.F) {
	for _, name := range []string{"before.ethtool-c.txt", "netperf-rr.txt", "netperf-interim.txt", "rr-4345-wire.pcap", "before.ethtool-i.txt"} {
		data, err := os.ReadFile("../fixtures/bundles/rr-4345/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("> " + settings))
	f.Add([]byte(settings + driver + "a;b 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, _ := Run(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(string(data))})
		if len(r.Sources) == 0 && len(data) == 0 {
			t.Error("no source")
		}
	})
}
