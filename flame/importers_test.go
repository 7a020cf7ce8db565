package flame

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// reader is one of the importers of text.
type reader = func(*source.Lines, *source.Ledger) (*Profile, error)

// readText reads a whole text, which has to be recognised, with one importer.
func readText(t testing.TB, read reader, text []byte) (*Profile, *source.Ledger) {
	t.Helper()
	ledger := &source.Ledger{}
	p, err := read(source.NewLines(source.NewInput("x.txt", bytes.NewReader(text)), ledger), ledger)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Pprof().CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p, ledger
}

// foldedOf reads a text and gives its stacks.
func foldedOf(t testing.TB, read reader, text string) (stacks, ledger string) {
	t.Helper()
	p, l := readText(t, read, []byte(text))
	if len(p.Events) == 0 {
		return "", strings.Join(entries(l), " ")
	}
	return folded(t, p, Column{}), strings.Join(entries(l), " ")
}

type importerCase struct{ name, text, want, ledger string }

func runImporter(t *testing.T, read reader, cases []importerCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ledger := foldedOf(t, read, c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("stacks (-want +got):\n%s", diff)
			}
			if ledger != c.ledger {
				t.Errorf("ledger %q, want %q", ledger, c.ledger)
			}
		})
	}
}

func TestReadPmcstat(t *testing.T) {
	runImporter(t, ReadPmcstat, []importerCase{
		{"own share", "@ CLOCK.HARD [10 samples]\n\n100.0%  [10]  leaf @ /boot/kernel/kernel\n 60.00%  [6]   a\n  50.00%  [3]    b\n 30.00%  [3]   c\n", "a;leaf 3\nb;a;leaf 3\nc;leaf 3\nleaf 1\n", ""},
		{"sections are joined", "@ x [1 samples]\n\n100.0%  [1]  f @ k\n\n@ x [2 samples]\r\n\r\n100.0%  [2]  f @ k\r\n", "f 3\n", ""},
		{"cut and filtered", "@ x [9 samples]\n\n55.55%  [5]  f @ k\n 100.0%  [5]   g", "g;f 5\n", "samples-not-listed x4 @1 cut-input x1 @5"},
		{"more callers than samples", "@ x [1 samples]\n\n100.0%  [1]  f @ k\n 100.0%  [2]   g\n", "g;f 2\n", "callers-exceed-count x1 @3"},
		{"a damaged line", "@ x [4 samples]\n\n100.0%  [4]  f @ k\n 1?0.0%  [4]   g\n  100.0%  [4]    h\n", "h;f 4\n", "missing-caller x1 @5 unrecognised-line x1 @4"},
		{"no samples", "@ x [0 samples]\n", "", ""},
	})
	p, _ := readText(t, ReadPmcstat, []byte("@ x [3 samples]\n\n100.0%  [3]  f @ /boot/kernel/kernel\n 100.0%  [3]   g @ /boot/kernel/zfs.ko\n  100.0%  [3]   h\n   100.0%  [3]   main @ /usr/bin/x\n"))
	var kinds []string
	for _, f := range newView(p.pprof, nil).frames {
		kinds = append(kinds, f.Name+" "+f.Kind.String())
	}
	if diff := cmp.Diff([]string{"f kernel", "g module", "h module", "main user"}, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestPmcstatTruth: own shares add up to the top level's counts, and to the header's where nothing is cut.
func TestPmcstatTruth(t *testing.T) {
	root := shared.Path(t, "data/public-stacks")
	for name, want := range map[string]int64{"inferno/collapse-pmc/iperf3.txt": 118, "inferno/collapse-pmc/shared.txt": 232, "inferno/collapse-pmc/simple.txt": 262077, "speedscope/pmcstat-simple.txt": 12603} {
		path := filepath.Join(root, name)
		text := shared.Read(t, path)
		if SniffPmcstat(text) != source.Strong {
			t.Errorf("%s is not recognised", name)
		}
		p, _ := readText(t, ReadPmcstat, text)
		var truth []struct {
			Sum int64 `json:"self_sum"`
		}
		if err := json.Unmarshal(shared.Read(t, filepath.Join(filepath.Dir(path), "truth", filepath.Base(path)+".json")), &truth); err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for _, e := range p.Events {
			total += e.Samples
		}
		for _, section := range truth {
			want -= section.Sum
			total -= section.Sum
		}
		if want != 0 || total != 0 {
			t.Errorf("%s: %d samples more than the truth, which is %d more than documented", name, total, -want)
		}
	}
}

func TestReadDTrace(t *testing.T) {
	stack := "\n              unix`a+0x1\n              unix`b+0xff\n"
	runImporter(t, ReadDTrace, []importerCase{
		{"quiet", stack + "                5\n\n              unix`a\n              unix`b+0x1\n                2\n\n", "unix`b;unix`a 7\n", ""},
		{"keys behind", stack + "  iperf3                                                        12\n", "iperf3;unix`b;unix`a 12\n", ""},
		{"keys before", "  iperf3                                   4711\n" + stack[1:] + "               12\n", "iperf3;unix`b;unix`a 12\n", "key-not-kept x1 @1"},
		{"kernel and user", stack + "\n              libc.so.1`read+0x7\n              app`main+0x1\n                3\n", "app`main;libc.so.1`read;unix`b;unix`a 3\n", ""},
		{"user and kernel", "\n              libc.so.1`read+0x7\n" + stack + "                3\n", "libc.so.1`read;unix`b;unix`a 3\n", ""},
		{"no user frames", stack + "\n                3\n", "unix`b;unix`a 3\n", ""},
		{"no frames at all", stack + "                3\n\n                8\n", "[unknown] 8\nunix`b;unix`a 3\n", ""},
		{"histogram", stack + "           value  ------------- Distribution ------------- count    \n               1 |                                         0        \n               2 |@@@@@@@@@@@@@@@@@@@@@                    3        \n               4 |@@@@@@@@@@@@@@@@@@@                      2        \n               8 |                                         0        \n\n", "unix`b;unix`a 5\n", ""},
		{"cut", stack + "                3\n" + stack, "unix`b;unix`a 3\n", "cut-input x1 @6"},
		{"drops", "dtrace: 12 drops on CPU 0\n" + stack + "                3\n", "unix`b;unix`a 3\n", "recorder-loss x12 @1"},
		{"what follows is not its own", stack + "                3\n$ ls\n  1\n", "unix`b;unix`a 3\n", ""},
		{"CR LF", strings.ReplaceAll(stack, "\n", "\r\n") + "                3\r\n", "unix`b;unix`a 3\n", ""},
		{"names with blanks", "\n              app`operator+(Vec const&, int)+0x1f\n              app`<T as U>::f (.llvm.12)\n                3\n", "app`<T as U>::f (.llvm.12);app`operator+(Vec const&, int) 3\n", ""},
	})
	want, err := os.ReadFile(filepath.Join(shared.Path(t, "cases/05-dtrace-leaf-without-offset"), "offsets.dtrace"))
	if err != nil {
		t.Fatal(err)
	}
	got, ledger := foldedOf(t, ReadDTrace, string(want))
	if diff := cmp.Diff("app`main;app`sum;app`Vec::operator+(Vec const&) 2\nip`ip_output_simple_v4;mac`mac_tx;ixgbe`ixgbe_ring_tx 9\nunix`0xfffffffffb8001d6;unix`trap;unix`pagefault;genunix`segvn_fault 5\n", got); diff != "" || ledger != "" {
		t.Errorf("case 05, ledger %q:\n%s", ledger, diff)
	}
}

func TestSniffDTrace(t *testing.T) {
	for text, want := range map[string]source.Match{
		"CPU     ID                    FUNCTION:NAME\n  0  64091                        :tick-60s \n\n\n              genunix`f\n                1\n": source.Strong,
		"              genunix`f+0x1\n                1\n":                            source.Strong,
		"  iperf3\n              genunix`f+0x1\n                1\n":                  source.Strong,
		"CPU     ID                    FUNCTION:NAME\n  0      1      :BEGIN hello\n": source.No,
		"              genunix`f+0x1\n----------------------\n":                       source.No,
		"    a text with a ` in it\n  12\n":                                           source.No,
		"":                                                                            source.No, "\n": source.No, "  \n": source.No, "x": source.No,
	} {
		if got := SniffDTrace([]byte(text)); got != want {
			t.Errorf("SniffDTrace(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestReadBpftrace(t *testing.T) {
	runImporter(t, ReadBpftrace, []importerCase{
		{"decimal offsets", "@[\n    a+5\n    main+24\n]: 3\n@[\n    a+4\n    main+24\n]: 5\n", "main;a 8\n", ""},
		{"operators", "@[\n    Vec::operator+12\n    f(int)+3\n]: 1\n", "f(int);Vec::operator+12 1\n", ""},
		{"two stacks and keys", "@[\n    k+1\n, \n    u+2\n, app 1, 7]: 2\n", "app 1;u;k 2\n", "key-not-kept x1 @1"},
		{"empty stacks", "@[, \n    u+2\n, app]: 2\n@[\n    k+2\n, \n, app]: 3\n@[, , idle]: 4\n", "app;k 3\napp;u 2\nidle 4\n", ""},
		{"addresses say which is the kernel's", "@cpu[app, 1, \n\t4b33f7 u+183 (/opt/a b/x)\n, \n\tffffffff82203249 k+25\n]: 6\n", "app;u;k 6\n", "key-not-kept x1 @1"},
		{"values", "@s[\n    a+1\n]: count 3, average 5, total 15\n@s[\n    b+1\n]: \n[1]                    2 |@@@ |\n[2, 4)                 1 |@@@ |\n\n@s[\n    c+1\n]: -4\n", "a 15\nb 3\n", "odd-value x1 @10"},
		{"other maps", "@n: 3\n@h[x]: \n[1]  2 |@@|\n\n@b[x]: 5\n@[\n    a+1\n]: 1\n", "a 1\n", "map-without-stack x3 @1"},
		{"cut", "@[\n    a+1\n]: 1\n@[\n    a+", "a 1\n", "cut-input x1 @4"},
		{"what follows is not its own", "@[\n    a+1\n]: 1\n$ ls\n@[\n    a+1\n]: 1\n", "a 1\n", ""},
		{"JSON", `{"type": "attached_probes", "data": {"probes": 2}}` + "\n" + `{"type": "map", "data": {"@": {"\n    k+8\n    e+33\n,\n    u+1\n,iperf3": 5}}}` + "\n" + `{"type": "lost_events", "data": {"events": 3}}` + "\n" + `{"type": "map", "data": {"@n": {"a": 5}}}` + "\n",
			"iperf3;u;e;k 5\n", "recorder-loss x3 @3 map-without-stack x1 @4"},
		{"JSON cut", `{"type": "map", "data": {"@": {"\n    k+8\n": 5, "\n    e`, "", "damaged-json x1 @1"},
	})
	text, err := os.ReadFile(filepath.Join(shared.Path(t, "cases/06-bpftrace-offsets-two-stacks"), "maps.bt.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := "0x5541f689495641d7 1\n__libc_start_main;main;moo 8\niperf3;main;std::rt::lang_start::_$u7b$$u7b$closure$u7d$$u7d$::h2fb226322c254680;__send;sock_sendmsg;tcp_sendmsg 7\nswapper/3;native_safe_halt 11\n"
	got, ledger := foldedOf(t, ReadBpftrace, string(text))
	if diff := cmp.Diff(want, got); diff != "" || ledger != "recorder-loss x12 @2 key-not-kept x2 @15 map-without-stack x1 @30" {
		t.Errorf("case 06, ledger %q:\n%s", ledger, diff)
	}
}

// TestBpftraceTruth compares keys and totals with those counted when the recordings were made.
func TestBpftraceTruth(t *testing.T) {
	root := shared.Path(t, "data/stacks/bpftrace")
	for name, want := range map[string]struct {
		event string
		total int64
	}{"kstack.txt": {"(none)", 178}, "kstack-ustack-comm.txt": {"(none)", 196}, "perf-mode.txt": {"cpu", 184}, "tracepoint-sum.txt": {"bytes", 1333399474}, "json.ndjson": {"(none)", 122}} {
		text := shared.Read(t, filepath.Join(root, name))
		if SniffBpftrace(text) != source.Strong {
			t.Errorf("%s is not recognised", name)
		}
		p, ledger := readText(t, ReadBpftrace, text)
		if len(p.Events) != 1 || p.Events[0].Name != want.event || p.Events[0].PeriodSum != want.total {
			t.Errorf("%s: %+v, want %+v; ledger %v", name, p.Events, want, entries(ledger))
		}
		for _, e := range ledger.Entries() {
			if e.Severity == source.Warning {
				t.Errorf("%s: %s", name, e.Text)
			}
		}
	}
}

func readBinary(t testing.TB, read func(*source.Input, *source.Ledger) (*Profile, error), data []byte) (*Profile, *source.Ledger) {
	t.Helper()
	ledger := &source.Ledger{}
	p, err := read(source.NewInput("x", bytes.NewReader(data)), ledger)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Pprof().CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p, ledger
}

// TestPprofTop compares the functions with the most of their own with go tool pprof -top.
func TestPprofTop(t *testing.T) {
	root := shared.Path(t, "data/stacks/go-pprof")
	for name, want := range map[string]struct {
		event string
		total int64
		unit  string
	}{"go-cpu": {"cpu", 0, "ns"}, "go-mutex": {"delay", 175785770, "ns"}, "go-block": {"delay", 0, "ns"}, "go-heap": {"inuse_space", 1448576, "B"}, "go-goroutine": {"goroutine", 0, "samples"}} {
		data := shared.Read(t, filepath.Join(root, name+".pb.gz"))
		if SniffPprof(data[:min(4096, len(data))]) != source.Strong {
			t.Errorf("%s is not recognised", name)
		}
		p, _ := readBinary(t, ReadPprof, data)
		table, err := Top(p, Column{Event: want.event}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if table.Unit != want.unit {
			t.Errorf("%s: unit %s", name, table.Unit)
		}
		self := map[string]Row{}
		for _, r := range table.Rows {
			row := self[r.Name]
			row.Self, row.Total, row.SelfShare = row.Self+r.Self, row.Total+r.Total, row.SelfShare+r.SelfShare
			self[r.Name] = row
		}
		compared := 0
		for _, line := range strings.Split(string(shared.Read(t, filepath.Join(root, name+".top.txt"))), "\n") {
			fields := strings.Fields(line)
			if len(fields) < 6 || !strings.HasSuffix(fields[1], "%") || !strings.HasSuffix(fields[2], "%") {
				continue
			}
			function := strings.Join(fields[5:], " ")
			function = strings.TrimSuffix(strings.TrimSuffix(function, " (inline)"), " (partial-inline)")
			if got := percent(self[function].SelfShare); strings.TrimRight(got, "0%.") != strings.TrimRight(fields[1], "0%.") && percentClose(got, fields[1]) > 0.011 {
				t.Errorf("%s: %s has %s of its own, go tool pprof says %s", name, function, got, fields[1])
			}
			compared++
		}
		if compared < 5 {
			t.Errorf("%s: only %d rows compared", name, compared)
		}
	}
}

func percentClose(a, b string) float64 {
	var x, y float64
	json.Unmarshal([]byte(strings.TrimSuffix(a, "%")), &x)
	json.Unmarshal([]byte(strings.TrimSuffix(b, "%")), &y)
	if x > y {
		return x - y
	}
	return y - x
}

func TestReadSpeedscope(t *testing.T) {
	root := shared.Path(t, "data/public-stacks/speedscope")
	simple := shared.Read(t, filepath.Join(root, "simple-sampled.speedscope.json"))
	p, ledger := readBinary(t, ReadSpeedscope, simple)
	if got, want := folded(t, p, Column{}), "a;b 5000000000\na;b;c 5000000000\na;b;d 4000000000\n"; got != want || len(entries(ledger)) > 0 || p.Events[0].Samples != 5 {
		t.Errorf("%s, ledger %v, %+v", got, entries(ledger), p.Events)
	}
	p, _ = readBinary(t, ReadSpeedscope, shared.Read(t, filepath.Join(root, "two-sampled.speedscope.json")))
	if got := folded(t, p, Column{}); !strings.HasPrefix(got, "one;a;b 5000000000\n") || !strings.Contains(got, "two;a;b;d 4000000000\n") {
		t.Error(got)
	}
	const events = `{"shared":{"frames":[{"name":"a"},{"name":"b"}]},"profiles":[{"type":"evented","name":"x","unit":"milliseconds","startValue":0,"endValue":4,"events":[
		{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":1.5},{"type":"C","frame":1,"at":2},{"type":"C","frame":1,"at":2.25},{"type":"C","frame":0,"at":4}]}]}`
	p, ledger = readBinary(t, ReadSpeedscope, []byte(events))
	if got, want := folded(t, p, Column{}), "a 3500000\na;b 500000\n"; got != want || strings.Join(entries(ledger), " ") != "odd-event x1 @0" {
		t.Errorf("%s, ledger %v", got, entries(ledger))
	}
	const none = `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","name":"x","unit":"none","samples":[[0],[0],[1],[0]],"weights":[1.5,2,3,-1]}]}`
	p, ledger = readBinary(t, ReadSpeedscope, []byte(none))
	if got, want := folded(t, p, Column{}), "[unknown] 3\na 3.5\n"; got != want || strings.Join(entries(ledger), " ") != "no-weight x1 @0 unknown-frame x1 @0" {
		t.Errorf("%s, ledger %v", got, entries(ledger))
	}
	p, ledger = readBinary(t, ReadSpeedscope, simple[:len(simple)-20])
	if len(p.Events) == 0 || strings.Join(entries(ledger), " ") != "cut-input x1 @0 unknown-frame x1 @0" {
		t.Errorf("cut: %v", entries(ledger))
	}
	if _, err := ReadSpeedscope(source.NewInput("x", strings.NewReader(events[:40])), ledger); err == nil {
		t.Error("a file without a profile is read")
	}
}

// TestSpeedscopeRoundTrip: what is written is read back with the same sums by stack and event.
func TestSpeedscopeRoundTrip(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("multi-event.perf.txt")))
	var b bytes.Buffer
	if err := WriteSpeedscope(&b, p); err != nil {
		t.Fatal(err)
	}
	if SniffSpeedscope(b.Bytes()[:200]) != source.Strong {
		t.Error("not recognised")
	}
	back, ledger := readBinary(t, ReadSpeedscope, b.Bytes())
	if len(entries(ledger)) > 0 || len(back.Events) != len(p.Events) || len(p.Events) != 3 {
		t.Fatalf("%+v, ledger %v", back.Events, entries(ledger))
	}
	for i, e := range p.Events {
		if got := back.Events[i]; got.Name != e.Name || got.PeriodSum != e.PeriodSum || got.Unit != e.Unit {
			t.Errorf("%+v, was %+v", got, e)
		}
		if diff := cmp.Diff(folded(t, p, Column{Event: e.Name}), folded(t, back, Column{Event: e.Name})); diff != "" {
			t.Errorf("%s: %s", e.Name, diff)
		}
	}
	f, _ := readFolded(t, []byte("a;b 1.5\na 2\n"))
	b.Reset()
	if err := WriteSpeedscope(&b, f); err != nil {
		t.Fatal(err)
	}
	if back, _ = readBinary(t, ReadSpeedscope, b.Bytes()); folded(t, back, Column{}) != "a 2\na;b 1.5\n" {
		t.Errorf("%s", folded(t, back, Column{}))
	}
}

// TestPublicPprof reads the profiles that speedscope and pprof publish.
func TestPublicPprof(t *testing.T) {
	root := shared.Path(t, "data/public-stacks")
	data := shared.Read(t, filepath.Join(root, "speedscope", "simple.prof"))
	if data[0] == 0x1f {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	if SniffPprof(data) != source.Strong {
		t.Error("simple.prof is not recognised")
	}
	p, _ := readBinary(t, ReadPprof, data)
	if len(p.Events) != 1 || p.Events[0].Name != "cpu" || p.Events[0].Samples == 0 {
		t.Errorf("simple.prof: %+v", p.Events)
	}
}

// TestPprofRoundTrip: what the package writes is read back as the same profile.
func TestPprofRoundTrip(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("multi-event.perf.txt")))
	var b bytes.Buffer
	if err := p.Pprof().WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	if SniffPprof(b.Bytes()[:min(4096, b.Len())]) != source.Strong {
		t.Error("not recognised")
	}
	back, ledger := readBinary(t, ReadPprof, b.Bytes())
	if len(entries(ledger)) > 0 || len(back.Events) != len(p.Events) {
		t.Fatalf("%+v, ledger %v", back.Events, entries(ledger))
	}
	for i, e := range p.Events {
		e.Modifiers = ""
		if diff := cmp.Diff(e, back.Events[i]); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(folded(t, p, Column{Event: e.Name}), folded(t, back, Column{Event: e.Name})); diff != "" {
			t.Error(diff)
		}
	}
}

// TestPprofScale: decimal fractions survive.
func TestPprofScale(t *testing.T) {
	p, _ := readFolded(t, []byte("a;b 1.25\na 2\n"))
	var b bytes.Buffer
	if err := p.Pprof().WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	back, _ := readBinary(t, ReadPprof, b.Bytes())
	if got := folded(t, back, Column{}); got != "a 2\na;b 1.25\n" || back.Events[0] != p.Events[0] {
		t.Errorf("%q, %+v", got, back.Events)
	}
}

// TestSniffOthers: text that is no output of the kind is not recognised by any of the new formats.
func TestSniffOthers(t *testing.T) {
	files, _ := filepath.Glob(fixture("*"))
	others, _ := filepath.Glob(filepath.Join("..", "fixtures", "*", "*"))
	for _, path := range append(files, others...) {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}
		text := shared.Read(t, path)
		for len(text) > 0 {
			head := text[:min(4096, len(text))]
			name := filepath.Base(path)
			for format, sniff := range map[string]func([]byte) source.Match{"pmcstat": SniffPmcstat, "dtrace": SniffDTrace, "bpftrace": SniffBpftrace, "bcc": SniffBCC, "pprof": SniffPprof, "speedscope": SniffSpeedscope} {
				if sniff(head) != source.No && !strings.Contains(name, format) {
					t.Errorf("%s: %q is taken for %s", name, head[:min(60, len(head))], format)
				}
			}
			i := bytes.IndexByte(text, '\n')
			if i < 0 {
				break
			}
			text = text[i+1:]
		}
	}
}

// TestFixtures: the fixtures of the formats are recognised, and their sums are those that can be counted in the texts.
func TestFixtures(t *testing.T) {
	type total struct {
		Event           string
		Samples, Period int64
	}
	for name, c := range map[string]struct {
		sniff func([]byte) source.Match
		read  reader
		want  []total
	}{
		"callers.pmcstat.txt":         {SniffPmcstat, ReadPmcstat, []total{{"CLOCK.HARD", 416, 416}}},
		"kernel-user.dtrace.txt":      {SniffDTrace, ReadDTrace, []total{{"(none)", 16, 16}}},
		"keys.dtrace.txt":             {SniffDTrace, ReadDTrace, []total{{"(none)", 43, 43}}},
		"tracepoint-sum.bpftrace.txt": {SniffBpftrace, ReadBpftrace, []total{{"bytes", 1333399474, 1333399474}}},
		"threads.bcc.txt":             {SniffBCC, ReadBCC, []total{{"(none)", 15, 15}}},
		"json.bpftrace.ndjson":        {SniffBpftrace, ReadBpftrace, []total{{"(none)", 122, 122}}},
	} {
		text := shared.Read(t, fixture(name))
		if c.sniff(bytes.TrimLeft(text, "\n")) != source.Strong {
			t.Errorf("%s is not recognised", name)
		}
		p, ledger := readText(t, c.read, text)
		var got []total
		for _, e := range p.Events {
			got = append(got, total{e.Name, e.Samples, e.PeriodSum})
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s, ledger %v:\n%s", name, entries(ledger), diff)
		}
	}
	p, _ := readText(t, ReadDTrace, shared.Read(t, fixture("kernel-user.dtrace.txt")))
	if got := folded(t, p, Column{}); got != "app`main;app`std::vector<int, std::allocator<int> >::operator[](unsigned long);libc.so.1`memcpy;unix`0xfffffffffb8001d6;unix`trap;unix`pagefault;genunix`segvn_fault 9\nunix`thread_start;ip`ip_output_simple_v4;mac`mac_tx 7\n" {
		t.Error(got)
	}
	p, _ = readBinary(t, ReadSpeedscope, shared.Read(t, fixture("evented.speedscope.json")))
	if got := folded(t, p, Column{}); got != "main;main 500000\nmain;main;copy 2500000\nworker;main 2750000\nworker;main;read 4625000\nworker;main;read;copy 2125000\n" {
		t.Error(got)
	}
}

func TestReadBCC(t *testing.T) {
	const start = "Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.\n^C\n"
	runImporter(t, ReadBCC, []importerCase{
		{"threads", start + "    a\n    main\n    -                my app (12)\n        1\n\n    a\n    main\n    -                my app (13)\n        4\n", "my app;main;a 5\n", ""},
		{"border", start + "    k\n    --\n    [unknown]\n    -                x (1)\n        2\n", "x;[unknown];k 2\n", ""},
		{"no frames", start + "    -                x (1)\n        2\n", "x 2\n", ""},
		{"time", "Tracing off-CPU time (us) of all threads by kernel stack... Hit Ctrl-C to end.\n    schedule+0x1f\n    -                x (1)\n        2\n", "x;schedule 2000\n", ""},
		{"stackcount", "Tracing 1 functions for \"f\"... Hit Ctrl-C to end.\n  a\n    --\n  b\n    tar [15187]\n    5\n\nDetaching...\n  a\n    1\n", "tar;b;a 5\n", ""},
		{"cut", start + "    a\n    main\n", "", "cut-input x1 @3"},
	})
	root := shared.Path(t, "data/public-stacks/bcc")
	for name, want := range map[string]int64{"profile-default.txt": 1 + 1 + 4 + 5, "stackcount-default.txt": 1 + 2 + 36 + 38 + 79, "stackcount-P-d.txt": 1 + 2 + 5 + 15 + 171} {
		_, text, _ := bytes.Cut(shared.Read(t, filepath.Join(root, name)), []byte("\n")) // the first line is the prompt
		if SniffBCC(text) != source.Strong {
			t.Errorf("%s is not recognised", name)
		}
		p, ledger := readText(t, ReadBCC, text)
		if len(p.Events) != 1 || p.Events[0].Samples != want || len(entries(ledger)) > 0 {
			t.Errorf("%s: %+v, want %d; ledger %v", name, p.Events, want, entries(ledger))
		}
	}
	if _, text, _ := bytes.Cut(shared.Read(t, filepath.Join(root, "klockstat.txt")), []byte("\n")); SniffBCC(text) != source.No {
		t.Error("klockstat is taken for stacks")
	}
	if SniffBCC([]byte("Tracing 1 functions for \"f\"... Hit Ctrl-C to end.\n\n     usecs               : count     distribution\n         0 -> 1          : 2        |****|\n")) != source.No {
		t.Error("a histogram of funclatency is taken for stacks")
	}
}
