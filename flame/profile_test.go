package flame

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// TestTruth compares the totals by event with an independent counter's, on all recordings and ways of printing them.
func TestTruth(t *testing.T) {
	folder := shared.Path(t, "data/stacks")
	truths, _ := filepath.Glob(filepath.Join(folder, "truth", "*.json"))
	for _, path := range truths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			input := filepath.Join(folder, name+".perf.txt")
			if _, err := os.Stat(input); err != nil {
				input = filepath.Join(folder, "variants", name+".perf.txt")
			}
			type total struct {
				Samples   int64 `json:"samples"`
				PeriodSum int64 `json:"period_sum"`
				Empty     int64 `json:"empty_stacks"`
			}
			var want struct {
				Events map[string]total `json:"events"`
			}
			if err := json.Unmarshal(shared.Read(t, path), &want); err != nil {
				t.Fatal(err)
			}
			if name == "v8-ip-sym" { // no sample lines; the blocks of frames are as many as the other ways print samples
				want.Events["(none)"] = total{109, 109, 0}
			}
			p, _ := readPerf(t, shared.Read(t, input))
			got := map[string]total{}
			for i, e := range p.Events {
				got[e.Name] = total{e.Samples, e.PeriodSum, e.EmptyStacks}
				var samples, period int64
				for _, s := range p.Pprof().Sample {
					samples, period = samples+s.Value[2*i], period+s.Value[2*i+1]
				}
				if samples != e.Samples || period != e.PeriodSum {
					t.Errorf("%s: the pprof samples add up to %d and %d, not %d and %d", e.Name, samples, period, e.Samples, e.PeriodSum)
				}
			}
			if diff := cmp.Diff(want.Events, got); diff != "" {
				t.Errorf("totals (-truth +got):\n%s", diff)
			}
		})
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for _, name := range []string{"default.perf.txt", "multi-event.perf.txt", "header-pidtid.perf.txt", "inlined-odd-comm.perf.txt", "tracepoints.perf.txt", "ip-sym.perf.txt"} {
		p, _ := readPerf(t, shared.Read(t, fixture(name)))
		roundTrip(t, name, p)
	}
	for _, text := range []string{"a;b 1.25\n", "", "# nothing\n"} {
		p, _ := readFolded(t, []byte(text))
		roundTrip(t, text, p)
	}
	p, _ := readPerf(t, []byte("# captured on: x\n# cmdline : y\n"))
	roundTrip(t, "header only", p)
}

func roundTrip(t *testing.T, name string, p *Profile) {
	t.Helper()
	first, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Profile
	if err := json.Unmarshal(first, &back); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	second, err := json.Marshal(&back)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Errorf("%s: a profile that was written and read is written in another way", name)
	}
	if _, err := p.Event(""); err == nil {
		if a, b := folded(t, p, Column{}), folded(t, &back, Column{}); a != b {
			t.Errorf("%s: stacks (-before +after):\n%s", name, cmp.Diff(a, b))
		}
	}
	for i := range p.places {
		if p.at(i) != back.at(i) {
			t.Errorf("%s: sample %d at %v, then at %v", name, i, p.at(i), back.at(i))
		}
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("default.perf.txt")))
	whole, _ := json.Marshal(p)
	for name, damage := range map[string]func(map[string]any){
		"places are missing":   func(m map[string]any) { m["first_lines"] = []int{} },
		"events are missing":   func(m map[string]any) { m["events"] = []any{} },
		"pprof is missing":     func(m map[string]any) { m["pprof"] = "" },
		"pprof is no protobuf": func(m map[string]any) { m["pprof"] = "AAAA" },
		"line is text":         func(m map[string]any) { m["line"] = "x" },
	} {
		var m map[string]any
		if err := json.Unmarshal(whole, &m); err != nil {
			t.Fatal(err)
		}
		damage(m)
		bad, _ := json.Marshal(m)
		if err := json.Unmarshal(bad, &Profile{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPprof(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("inlined-odd-comm.perf.txt")))
	var b bytes.Buffer
	if err := p.WritePprof(&b); err != nil {
		t.Fatal(err)
	}
	got, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got.SampleType[0].Type != "cpu-clock/samples" || got.SampleType[1].Type != "cpu-clock/period" || got.SampleType[1].Unit != "nanoseconds" || got.DefaultSampleType != "cpu-clock/period" {
		t.Errorf("sample types %v %v, default %s", got.SampleType[0], got.SampleType[1], got.DefaultSampleType)
	}
	inlined := 0
	for _, l := range got.Location {
		if len(l.Line) > 1 {
			inlined++
			if l.Mapping == nil || l.Mapping.File == "" {
				t.Errorf("inlined functions of %s have no object", l.Line[len(l.Line)-1].Function.Name)
			}
		}
	}
	if inlined == 0 {
		t.Error("no location has inlined functions")
	}
	comms := map[string]bool{}
	for _, s := range got.Sample {
		comms[s.Label["comm"][0]] = true
		if len(s.Label["tid"]) != 1 {
			t.Errorf("labels %v", s.Label)
		}
	}
	if want := map[string]bool{"rx queue 0": true, "tx 12/3 [x]": true, "worker: a;b": true, "7": true}; !cmp.Equal(comms, want) {
		t.Errorf("threads %v, want %v", comms, want)
	}
}

func TestMainEvent(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("multi-event.perf.txt")))
	if got := p.Main(); got != "cpu-clock" {
		t.Errorf("main event %q, want the one that samples time", got)
	}
	if _, err := p.Event("cycles"); err == nil || !strings.Contains(err.Error(), "page-faults") {
		t.Errorf("an unknown event: %v, want an error that names those there are", err)
	}
	if _, _, err := p.index(Column{Value: "bytes"}); err == nil {
		t.Error("an unknown value: no error")
	}
}

func TestHeaderFacts(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("header-pidtid.perf.txt")))
	if p.Host != "vm" || p.Release != "6.18.44-fc-v669" || p.CPUs != 2 || !strings.HasPrefix(p.Command, "/usr/bin/perf record") {
		t.Errorf("host %q, release %q, %d CPUs, command %q", p.Host, p.Release, p.CPUs, p.Command)
	}
	if p.Start != 621000803000 || p.End <= p.Start {
		t.Errorf("from %d to %d", p.Start, p.End)
	}
}

// TestDropLabels: with too many distinct stacks for the labels, these are given up, and no sample is lost.
func TestDropLabels(t *testing.T) {
	ledger := &source.Ledger{}
	b := newBuilder("x", ledger)
	event := b.event("cycles", "", source.Pos{})
	stack := []byte{1, 0, 0, 0}
	b.location([]line{{symbol: "f"}}, "")
	const samples = maxEntries + 10
	for i := range samples {
		b.add(event, labels{comm: "c", tid: int32(i), hasTID: true, cpu: int32(i % 4), hasCPU: true}, stack, 1, 3, place{})
	}
	p := &Profile{}
	b.finish(p)
	if len(p.pprof.Sample) != 1 || p.Events[0].Samples != samples || p.pprof.Sample[0].Value[1] != 3*samples {
		t.Errorf("%d stacks, %+v, %v", len(p.pprof.Sample), p.Events[0], p.pprof.Sample[0].Value)
	}
	if e := ledger.Entries(); len(e) != 1 || e[0].Name != "labels-dropped" || e[0].Source != "x" {
		t.Errorf("ledger %+v", e)
	}
}

// TestManyEvents: events beyond the bound are counted as the last one.
func TestManyEvents(t *testing.T) {
	ledger := &source.Ledger{}
	b := newBuilder("x", ledger)
	for i := range maxEvents + 5 {
		b.add(b.event(strings.Repeat("e", i+1), "", source.Pos{Source: "x"}), labels{}, nil, 1, 1, place{})
	}
	p := &Profile{}
	b.finish(p)
	if len(p.Events) != maxEvents || p.Events[maxEvents-1].Samples != 6 {
		t.Errorf("%d events, the last with %d samples", len(p.Events), p.Events[len(p.Events)-1].Samples)
	}
	if e := ledger.Entries(); len(e) != 1 || e[0].Name != "too-many-events" || e[0].Count != 5 {
		t.Errorf("ledger %+v", e)
	}
}

func TestKindOf(t *testing.T) {
	for object, want := range map[string]Kind{
		"": User, "[unknown]": User, "/usr/lib/libc.so.6": User, "[vdso]": User, "[heap]": User, "//anon": User, "/opt/my tools/srv (deleted)": User,
		"[kernel.kallsyms]": Kernel, "[kernel.vmlinux]": Kernel, "[guest.kernel.kallsyms.12]": Kernel, "/lib/modules/4.1.0-virtual/build/vmlinux": Kernel, "/usr/lib/debug/boot/vmlinux-5.4.14": Kernel, "bpf_prog_2b956549c660136a_uni_l4lb": Kernel,
		"[mlx5_core]": Module, "/lib/modules/5.4/kernel/mlx5_core.ko": Module, "/lib/modules/5.4/kernel/x.ko.xz": Module,
		"/tmp/perf-7539.map": JIT, "[JIT app cache]": JIT, "/tmp/jitted-12-3.so": JIT,
	} {
		if got := kindOf(object); got != want {
			t.Errorf("kindOf(%q) = %v, want %v", object, got, want)
		}
	}
}
