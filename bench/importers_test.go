package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// importer is one format as the driver knows it.
type importer struct {
	sniff func([]byte) source.Match
	read  func(*source.Lines, *source.Ledger) ([]Run, error)
}

func importers() []importer {
	return []importer{{SniffNetperf, ReadNetperf}, {SniffIperf3JSON, ReadIperf3JSON}, {SniffIperf3, ReadIperf3}, {SniffUperf, ReadUperf},
		{SniffMinistat, ReadMinistat}, {SniffGoBench, ReadGoBench}}
}

// importText reads all outputs of a text that are strongly recognised.
func importText(t testing.TB, name, text string) ([]Run, []source.Entry) {
	t.Helper()
	ledger := &source.Ledger{}
	lines := source.NewLines(source.NewInput(name, strings.NewReader(text)), ledger)
	var runs []Run
	for {
		head := lines.Head(headBytes)
		if len(head) == 0 {
			break
		}
		taken := false
		for _, f := range importers() {
			if f.sniff(head) != source.Strong {
				continue
			}
			before := lines.Pos().Offset
			found, err := f.read(lines, ledger)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			runs = append(runs, found...)
			taken = lines.Pos().Offset > before
			break
		}
		if !taken {
			lines.Next()
		}
	}
	text2, err := json.Marshal(runs)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var again []Run
	if err := json.Unmarshal(text2, &again); err != nil || cmp.Diff(runs, again, cmpopts.EquateEmpty()) != "" {
		t.Fatalf("%s: runs change on their way through JSON: %v", name, err)
	}
	return runs, ledger.Entries()
}

// brief is a run in one line.
func brief(r Run) string {
	text := fmt.Sprintf("%s %s %s %.6g %s %.4gs n=%d", r.Tool, r.Test, r.Direction, r.Rate, r.Unit, r.Seconds, len(r.Interim))
	if r.Partial {
		text += " partial"
	}
	return text
}

func briefs(runs []Run) []string {
	list := []string{}
	for _, r := range runs {
		list = append(list, brief(r))
	}
	return list
}

func TestImporters(t *testing.T) {
	for name, want := range map[string]struct{ runs, ledger []string }{
		"iperf3-tcp-P4.json":        {[]string{"iperf3 TCP  8560.16 10^6 bits/s 2.005s n=2"}, nil},
		"iperf3-tcp-bidir.json":     {[]string{"iperf3 TCP  6893.74 10^6 bits/s 2.003s n=2", "iperf3 TCP reverse 6323.71 10^6 bits/s 2.003s n=2"}, nil},
		"iperf3-bidir-3.7.json":     {[]string{"iperf3 TCP  992 10^6 bits/s 1s n=1", "iperf3 TCP reverse 392 10^6 bits/s 1s n=1"}, nil},
		"iperf3-tcp-reverse.json":   {[]string{"iperf3 TCP reverse 11347.6 10^6 bits/s 2s n=2"}, nil},
		"iperf3-udp.json":           {[]string{"iperf3 UDP  198.627 10^6 bits/s 2.007s n=2"}, nil},
		"iperf3-error-refused.json": {[]string{}, []string{"iperf3-error"}},
		"iperf3-partial-error.json": {[]string{"iperf3 UDP  150 10^6 bits/s 2s n=2 partial"}, []string{"iperf3-error", "implausible-jitter", "not-a-number"}},
		"iperf3-tcp.txt":            {[]string{"iperf3 TCP  5840 10^6 bits/s 2s n=4"}, nil},
		"iperf3-udp.txt":            {[]string{"iperf3 UDP  91.4 10^6 bits/s 2s n=2"}, nil},
		"uperf-rr.default.txt":      {[]string{"uperf tcp_rr Txn2  82.05 10^6 bits/s 3.2s n=3"}, []string{"transaction-without-data"}},
		"uperf-rr.raw-R.txt":        {[]string{"uperf tcp_rr Txn2  435.443 10^6 bits/s 3.204s n=3"}, []string{"transaction-without-data"}},
		"uperf-tcp.all-a.txt":       {[]string{"uperf tcp_stream Txn2  8440 10^6 bits/s 4.24s n=4"}, []string{"transaction-without-data"}},
		"ministat-three-sets.txt": {[]string{"ministat tso-on.mbps.txt  9699.93  0s n=0", "ministat tso-off.mbps.txt  5667.84  0s n=0",
			"ministat tso-on-again.mbps.txt  9136.86  0s n=0"}, nil},
		"gobench-tso-off.txt": {[]string{"go TCP  6934.06 Mb/s 0s n=0", "go TCP  5596.21 Mb/s 0s n=0", "go TCP  4034.94 Mb/s 0s n=0", "go TCP  5066.85 Mb/s 0s n=0",
			"go TCP  6168.65 Mb/s 0s n=0", "go TCP  6547.89 Mb/s 0s n=0", "go TCP  5326.28 Mb/s 0s n=0"}, nil},
	} {
		runs, entries := importText(t, name, fixture(t, name))
		if diff := cmp.Diff(want.runs, briefs(runs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(want.ledger, names(entries), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, ledger (-want +got):\n%s", name, diff)
		}
	}
}

func TestDetailsOfImporters(t *testing.T) {
	for name, want := range map[string]map[string]float64{
		"iperf3-tcp-bidir.json": {"retransmits": 2042, "received_bytes": 1726218240},
		"iperf3-udp.json":       {"lost_packets": 103, "jitter_ms": 0.004066948154660802},
		"iperf3-udp.txt":        {"lost_packets": 1419},
		"uperf-rr.default.txt":  {"operations_per_second": 113960, "nic_lcv0_output_packets_per_second": 34398, "nic_lcv0_input_bits_per_second": 42.93e6, "total_seconds": 5.31, "host_master_operations": 364969},
		"uperf-rr.raw-R.txt":    {"operations": 1937758, "total_operations": 1937762},
		"uperf-tcp.all-a.txt":   {"bytes": 4.17 * (1 << 30), "nic_lcv0_input_packets_per_second": 1946},
	} {
		runs, _ := importText(t, name, fixture(t, name))
		for key, value := range want {
			if got, ok := runs[0].Detail(key); !ok || got != value {
				t.Errorf("%s: %s is %v, %v, want %v", name, key, got, ok, value)
			}
		}
	}
	runs, _ := importText(t, "a", fixture(t, "uperf-tcp.all-a.txt"))
	if first := runs[0].Interim[0]; math.Abs(float64(first.Bytes)-1005.86*(1<<20)) > 1 {
		t.Errorf("1005.86 without its unit is read as %d bytes", first.Bytes)
	}
}

// TestMinistatOutputs holds the printed digits of all published comparisons to the newer formula, and those of Debian's
// package to the older one.
func TestMinistatOutputs(t *testing.T) {
	for n := 1; n <= 7; n++ {
		name := fmt.Sprintf("data/published/iflib-mpring.ministat-%d.txt", n)
		text := content(t, shared.Path(t, name))
		for _, text := range []string{text, strings.ReplaceAll(text, "\t", "        "), "> " + strings.ReplaceAll(text, "\n", "\n> ")} {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "\n> ", "\n"), "> x", "x")
			runs, entries := importText(t, name, text)
			if len(runs) != 2 || len(entries) > 0 {
				t.Fatalf("%s: %d sets, ledger %v", name, len(runs), entries)
			}
			generation, told := runs[1].Setting("generation")
			if told != (n != 4) || told && generation != "newer" {
				t.Errorf("%s: generation %q", name, generation)
			}
		}
	}
	runs, _ := importText(t, "thread", content(t, shared.Path(t, "data/threads/004_37f022e2a57e8313.txt")))
	if len(runs) != 16 { // seven comparisons, of which the second is quoted once more
		t.Errorf("%d sets in the thread, want 16: %v", len(runs), briefs(runs))
	}
	outs, err := filepath.Glob(filepath.Join(filepath.Dir(shared.Path(t, "data/counters/ministat/commands.log")), "*.out"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, path := range outs {
		runs, entries := importText(t, path, content(t, path))
		for _, e := range entries {
			t.Errorf("%s: %s: %s", path, e.Name, e.Text)
		}
		for _, r := range runs {
			if generation, ok := r.Setting("generation"); ok {
				checked++
				if generation != "2015" && !strings.HasSuffix(path, "constant-sets.out") { // without spread both say 0
					t.Errorf("%s: generation %q", path, generation)
				}
			}
		}
	}
	if checked < 14 {
		t.Errorf("only %d differences were checked", checked)
	}
}

// TestCasesOfOthers reads the inputs of public reports.
func TestCasesOfOthers(t *testing.T) {
	at := func(name string) ([]Run, []string) {
		runs, entries := importText(t, name, content(t, shared.Path(t, "cases/"+name)))
		return runs, names(entries)
	}
	runs, ledger := at("24-iperf3-json-defects/bidir-duplicate-keys.json")
	if diff := cmp.Diff([]string{"iperf3 TCP  9390 10^6 bits/s 2s n=2", "iperf3 TCP reverse 4100 10^6 bits/s 2s n=2"}, briefs(runs)); diff != "" || len(ledger) > 0 {
		t.Errorf("both directions, ledger %v:\n%s", ledger, diff)
	}
	for i, want := range [][3]float64{{9400, 120, 9440}, {4102, 7, 4096}} {
		sent, _ := runs[i].Detail("sent_megabits_per_second")
		again, _ := runs[i].Detail("retransmits")
		if got := [3]float64{sent, again, runs[i].Interim[0].Rate}; got != want {
			t.Errorf("direction %d: sent, retransmits, first interval %v, want %v", i, got, want)
		}
	}
	runs, ledger = at("24-iperf3-json-defects/udp-nan.json")
	if len(runs) != 1 || brief(runs[0]) != "iperf3 UDP  0.0653333 10^6 bits/s 3s n=3" || !cmp.Equal(ledger, []string{"implausible-jitter", "loss-not-defined", "not-a-number"}) {
		t.Errorf("nan: %v, ledger %v", briefs(runs), ledger)
	} else if r := runs[0].Receipt; r == nil || r.SentMessages != 98 || r.ReceivedMessages != 97 {
		t.Errorf("nan: %+v", r)
	}
	runs, ledger = at("24-iperf3-json-defects/error-only.json")
	if len(runs) != 0 || !cmp.Equal(ledger, []string{"iperf3-error"}) {
		t.Errorf("error: %v, ledger %v", briefs(runs), ledger)
	}
	runs, ledger = at("25-uperf-ops-not-mbps/tcp_rr.txt")
	if len(runs) != 1 || brief(runs[0]) != "uperf tcp_rr Txn2  267.43 10^6 bits/s 10s n=1" || !cmp.Equal(ledger, []string{"transaction-without-data"}) {
		t.Errorf("uperf: %v, ledger %v", briefs(runs), ledger)
	} else if ops, _ := runs[0].Detail("operations_per_second"); ops != 32646 {
		t.Errorf("uperf: %g operations/s", ops)
	}
	runs, _ = at("25-uperf-ops-not-mbps/tcp_rr.raw")
	if len(runs) != 1 || brief(runs[0]) != "uperf Txn2  267.434 10^6 bits/s 10s n=10" {
		t.Fatalf("uperf -R: %v", briefs(runs))
	}
	for i, want := range []int64{32646, 32645, 32646, 32646} {
		if p := runs[0].Interim[i]; p.Operations != want || p.Length.Seconds() != 1 {
			t.Errorf("second %d: %d operations in %v, want %d", i, p.Operations, p.Length, want)
		}
	}
	if p := runs[0].Interim; p[0].Bytes != 33429504 || p[1].Bytes != 33428480 {
		t.Errorf("bytes of the first seconds: %d and %d", p[0].Bytes, p[1].Bytes)
	}
}

// TestUperfThread reads the two outputs of uperf 1.0.3 in the thread, wrapped by mail.
func TestUperfThread(t *testing.T) {
	runs, entries := importText(t, "thread", content(t, shared.Path(t, "data/threads/000_abb7739147f567c0.txt")))
	want := []string{"uperf tcp_stream Txn2  3020 10^6 bits/s 59.26s n=1", "uperf tcp_stream Txn2  9190 10^6 bits/s 60.27s n=1"}
	if diff := cmp.Diff(want, briefs(runs)); diff != "" || !cmp.Equal(names(entries), []string{"transaction-without-data"}) {
		t.Errorf("ledger %v (-want +got):\n%s", entries, diff)
	}
	for i, want := range []map[string]float64{
		{"operations_per_second": 5914, "bytes": 20.81 * (1 << 30), "nic_eth6_input_packets_per_second": 31694, "host_master_operations": 350528, "total_megabits_per_second": 2910},
		{"operations_per_second": 17975, "bytes": 64.50 * (1 << 30), "nic_eth6_output_bits_per_second": 9.31e9, "host_10.0.0.2_operations": 1081096},
	} {
		for name, value := range want {
			if got, _ := runs[i].Detail(name); got != value {
				t.Errorf("output %d: %s is %v, want %v", i, name, got, value)
			}
		}
	}
}

// TestRecordingsOfIperf3 reads the repeated runs whose rates stand beside them in a column.
func TestRecordingsOfIperf3(t *testing.T) {
	for _, set := range []string{"tso-on", "tso-off", "tso-on-again"} {
		values, _ := readNumbers(t, set, content(t, shared.Path(t, "data/counters/iperf3-compare/"+set+".mbps.txt")))
		for i, want := range values {
			name := fmt.Sprintf("data/counters/iperf3-compare/%s.%d.json", set, i+1)
			runs, entries := importText(t, name, content(t, shared.Path(t, name)))
			if len(runs) != 1 || len(entries) > 0 || math.Round(runs[0].Rate*100)/100 != want {
				t.Errorf("%s: %v, ledger %v, want %g", name, briefs(runs), entries, want)
			}
		}
	}
}

// TestSeveralOutputs reads the fixtures of all formats out of one text, with prose between.
func TestSeveralOutputs(t *testing.T) {
	var text strings.Builder
	var want []string
	for _, name := range []string{"iperf3-tcp.txt", "uperf-rr.default.txt", "ministat-iflib-5.txt", "iperf3-tcp-bidir.json", "gobench-tso-on.txt", "netperf-tcp_rr.classic.txt", "uperf-rr.raw-R.txt", "ministat-sdp-64K.txt"} {
		runs, _ := importText(t, name, fixture(t, name))
		want = append(want, briefs(runs)...)
		text.WriteString("and this is what I saw:\n\n" + fixture(t, name) + "\n")
	}
	runs, _ := importText(t, "mixed", text.String())
	if diff := cmp.Diff(want, briefs(runs)); diff != "" {
		t.Errorf("of one text (-each +all):\n%s", diff)
	}
}

// judgedAndCompared holds what is said of runs to JSON: as one result, as two sets, as one, and before and after.
func judgedAndCompared(t testing.TB, runs []Run) {
	t.Helper()
	twice := slices.Clone(runs)
	for _, r := range runs {
		r.Pos.Source = "after.txt"
		r.Rate *= 1.5
		twice = append(twice, r)
	}
	roundTrip(t, &Results{Runs: twice})
	for _, sets := range [][]Set{{{"a", runs}, {"b", twice[len(runs):]}}, {{"a", runs}}, {{"a", runs}, {"b", nil}, {"c", twice}}} {
		if _, err := json.Marshal(Compare(sets, CompareOptions{})); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzImporters(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "fixtures", "bench", "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		if text, err := os.ReadFile(path); err == nil && len(text) < 16<<10 {
			f.Add(string(text))
		}
	}
	f.Add("timestamp_ms:0 nr_bytes:1 nr_ops:0") // a rate over no time
	f.Fuzz(func(t *testing.T, text string) {
		runs, _ := importText(t, "before.txt", text)
		judgedAndCompared(t, runs)
	})
}

func BenchmarkImporters(b *testing.B) {
	for name, read := range map[string]func(*source.Lines, *source.Ledger) ([]Run, error){
		"iperf3-tcp-P4.json": ReadIperf3JSON, "iperf3-tcp.txt": ReadIperf3, "uperf-rr.default.txt": ReadUperf, "ministat-three-sets.txt": ReadMinistat, "gobench-tso-on.txt": ReadGoBench,
	} {
		text := fixture(b, name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				ledger := &source.Ledger{}
				if runs, err := read(source.NewLines(source.NewInput(name, strings.NewReader(text)), ledger), ledger); err != nil || len(runs) == 0 {
					b.Fatal(len(runs), err)
				}
			}
		})
	}
}
