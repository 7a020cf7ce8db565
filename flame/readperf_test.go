package flame

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/perf"
	"nettrace/source"
)

// TestWatchers: every watcher sees every tracepoint event in the order of the text and no other event, and what the
// profile counts of them is the same.
func TestWatchers(t *testing.T) {
	for _, name := range []string{"tracepoints.perf.txt", "tracepoints-g.perf.txt", "sched-futex-odd-comm.perf.txt", "default.perf.txt"} {
		text := string(shared.Read(t, filepath.Join("..", "fixtures", "stacks", name)))
		ledger := &source.Ledger{}
		seen := map[string]int64{}
		last, second := int64(-1), 0
		p, err := ReadPerf(source.NewLines(source.NewInput(name, strings.NewReader(text)), ledger), ledger, PerfOptions{Watchers: []perf.Watcher{func(e *perf.Event) {
			if e.Pos.Offset <= last {
				t.Errorf("%s: event at byte %d after one at %d", name, e.Pos.Offset, last)
			}
			if len(e.Payload) > 0 && !strings.Contains(text[e.Pos.Offset:], string(e.Payload)) {
				t.Errorf("%s: payload %q is not at byte %d", name, e.Payload, e.Pos.Offset)
			}
			last = e.Pos.Offset
			seen[e.Name]++
		},
			func(*perf.Event) { second++ }}})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, e := range p.Events {
			want := e.Samples
			if !strings.Contains(e.Name, ":") {
				want = 0
			}
			if seen[e.Name] != want {
				t.Errorf("%s: watcher saw %d of %s, want %d", name, seen[e.Name], e.Name, want)
			}
			sum += int(want)
		}
		if second != sum || name != "default.perf.txt" && sum == 0 {
			t.Errorf("%s: the second watcher saw %d of %d events", name, second, sum)
		}
	}
}

// TestWindow: windows that touch have each sample once.
func TestWindow(t *testing.T) {
	text := shared.Read(t, fixture("default.perf.txt"))
	read := func(w perf.Window) (int64, *source.Ledger) {
		ledger := &source.Ledger{}
		p, err := ReadPerf(source.NewLines(source.NewInput("x", bytes.NewReader(text)), ledger), ledger, PerfOptions{Window: w})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Events) == 0 {
			return 0, ledger
		}
		if p.Start < w.From || w.To > 0 && p.End >= w.To {
			t.Errorf("window %v has samples from %v to %v", w, p.Start, p.End)
		}
		return p.Events[0].Samples, ledger
	}
	whole, _ := readPerf(t, text)
	middle := (whole.Start + whole.End) / 2
	first, ledger := read(perf.Window{To: middle})
	second, _ := read(perf.Window{From: middle})
	if first == 0 || second == 0 || first+second != whole.Events[0].Samples {
		t.Errorf("%d and %d samples of %d", first, second, whole.Events[0].Samples)
	}
	if got := entries(ledger); len(got) != 1 || got[0] != fmt.Sprintf("outside-window x%d @1", second) {
		t.Errorf("ledger %q", got)
	}
	if n, _ := read(perf.Window{From: whole.End + 1}); n != 0 {
		t.Errorf("%d samples after the last one", n)
	}
}

// TestWorkers: a text long enough to be decoded in blocks gives the same profile, byte by byte, with one and with more
// workers, and watchers see the same events in the same order.
func TestWorkers(t *testing.T) {
	text := bytes.Repeat(append(shared.Read(t, fixture("tracepoints-g.perf.txt")), shared.Read(t, fixture("default.perf.txt"))...), 40)
	if len(text) < 1<<20 {
		t.Fatalf("%d bytes are read in one block", len(text))
	}
	var want, seen []byte
	for _, workers := range []int{1, 2, 5} {
		ledger := &source.Ledger{}
		var events bytes.Buffer
		watch := func(e *perf.Event) { fmt.Fprintln(&events, e.Pos, e.Name, string(e.Payload), len(e.Stack)) }
		p, err := ReadPerf(source.NewLines(source.NewInput("x", bytes.NewReader(text)), ledger), ledger, PerfOptions{Workers: workers, Watchers: []perf.Watcher{watch}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want, seen = got, events.Bytes()
		}
		if !bytes.Equal(got, want) || !bytes.Equal(events.Bytes(), seen) || len(seen) == 0 || len(ledger.Entries()) != 0 {
			t.Errorf("%d workers: another profile, other events, or losses %q", workers, entries(ledger))
		}
	}
}
