package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/source"
)

// readCSV reads a text that is one table.
func readCSV(t testing.TB, name, text string) ([]Run, []source.Entry) {
	t.Helper()
	ledger := &source.Ledger{}
	runs, err := ReadCSV(source.NewLines(source.NewInput(name, strings.NewReader(text)), ledger), ledger)
	if err != nil {
		t.Fatal(err)
	}
	return runs, ledger.Entries()
}

func TestSniffCSV(t *testing.T) {
	for text, want := range map[string]source.Match{
		"a,b\n1,2\n":                         source.Weak,
		"# c\n\nthreads\trate\n1\t2.5\n":     source.Weak,
		"mode;us_per_KB\nSDP;1.2\n":          source.Weak,
		"\"a b\",c\n\"x, y\",3\n":            source.Weak,
		"time\trtt_us\n1\t2\n":               source.No, // a log of samples
		"a,b\nc,d\n":                         source.No, // no number
		"1,2\n3,4\n":                         source.No, // no head
		"a,b\n1,2,3\n":                       source.No,
		"a,b\n":                              source.No,
		"Slot:\t00\nRev:\t01\n":              source.No, // a list of keys
		"well, this is a sentence of mail\n": source.No,
		"Hi, Jim\n1, 2\n":                    source.Weak, // as good as a table
		"":                                   source.No,
	} {
		if got := SniffCSV([]byte(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestColumns(t *testing.T) {
	for name, want := range map[string]string{
		"throughput_Mbit_per_s": "figure 10^6 bits/s throughput", "Throughput (Mbit/s)": "figure 10^6 bits/s Throughput", "throughput_Gb_per_s": "figure 10^9 bits/s throughput",
		"trans_per_s": "figure transactions/s rate", "ops_per_s": "figure operations/s rate", "rate": "figure  rate", "pps": "figure packets/s pps", "latency_us": "figure us latency",
		"p99_ms": "figure ms p99", "MB/s": "figure MB/s rate", "packets_per_interrupt": "figure packets/interrupt ", "local_us_per_KB": "cost us/KB local", "remote_us_per_KB": "cost us/KB remote",
		"us_per_tran": "cost us/transaction ", "local_cpu_pct": "util", "request_bytes": "size request", "response_size": "size response", "message_bytes": "size message",
		"recv_socket_bytes": "condition", "threads": "streams", "num_netperf": "streams", "elapsed_s": "seconds", "n": "order", "end_unix_s": "order", "rx_usecs": "condition",
		"sdp_zcopy_thresh": "condition", "link_util_pct": "condition",
	} {
		c := columnOf(name)
		role := [...]string{"condition", "label", "size", "streams", "seconds", "order", "figure", "util", "cost", "variant"}[c.role]
		switch c.role {
		case figureColumn, costColumn:
			role = fmt.Sprintf("%s %s %s", role, c.unit, c.figure)
		case sizeColumn:
			role += " " + c.axis.String()
		}
		if role != want {
			t.Errorf("%s: %q, want %q", name, role, want)
		}
	}
}

func TestReadCSV(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		want   []string // test, rate, unit, streams, sizes, settings
		ledger []string
	}{
		"wide":     {"threads,lock,ring\n1,10,8\n2,18,\n", []string{"wide 10  1 {0 0 0} [{variant lock}]", "wide 8  1 {0 0 0} [{variant ring}]", "wide 18  2 {0 0 0} [{variant lock}]"}, []string{}},
		"titled":   {"# packets per interrupt; same runs\nload,a,b\n1,10,8\n", []string{"packets per interrupt 10  0 {0 0 0} [{load 1} {variant a}]", "packets per interrupt 8  0 {0 0 0} [{load 1} {variant b}]"}, []string{}},
		"one":      {"host,x\na,1\nb,2\n", []string{" 1  0 {0 0 0} [{host a}]", " 2  0 {0 0 0} [{host b}]"}, []string{}},
		"costs":    {"mode,message_bytes,local_us_per_KB\nSDP,65536,1.025\n", []string{"local CPU cost 1.025 us/KB 0 {0 0 65536} [{mode SDP}]"}, []string{}},
		"two":      {"trans_per_s,latency_us\n100,5\n", []string{"rate 100 transactions/s 0 {0 0 0} []", "latency 5 us 0 {0 0 0} []"}, []string{}},
		"unnamed":  {"a,b\n5,1\n4,7\n", []string{}, []string{"csv-column-unused"}},
		"damaged":  {"mode,rate\nx,1\nx\nx,2,3\nx,4\nx,5", []string{"rate 1  0 {0 0 0} [{mode x}]", "rate 4  0 {0 0 0} [{mode x}]"}, []string{"csv-row", "cut-input"}},
		"quotes":   {"mode,rate\n\"a, \"\"b\"\"\",1\n", []string{"rate 1  0 {0 0 0} [{mode a, \"b\"}]"}, []string{}},
		"identity": {"throughput_Mbit_per_s,local_cpu_pct,local_us_per_KB\n7106.72,100,1.3\n", []string{"throughput 7106.72 10^6 bits/s 0 {0 0 0} []"}, []string{"service-demand-identity"}},
	} {
		runs, ledger := readCSV(t, "dir/"+name+".csv", c.text)
		got := []string{}
		for _, r := range runs {
			got = append(got, fmt.Sprint(r.Test, " ", r.Rate, " ", r.Unit, " ", r.Streams, " ", r.Sizes, " ", r.Settings))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.ledger, names(ledger)); diff != "" {
			t.Errorf("%s, ledger (-want +got):\n%s", name, diff)
		}
	}
}

func TestManyRows(t *testing.T) {
	runs, ledger := readCSV(t, "many.csv", "mode,rate\n"+strings.Repeat("x,1\n", maxRuns+5))
	if len(runs) != maxRuns || len(ledger) != 1 || ledger[0].Name != "too-many-results" || ledger[0].Count != 5 {
		t.Errorf("%d runs, %v", len(runs), ledger)
	}
}

func FuzzReadCSV(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("..", "fixtures", "bench", "table*"))
	if err != nil || len(paths) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		runs, _ := readCSV(t, "before.csv", text)
		judgedAndCompared(t, runs)
		for _, by := range Varied(runs) {
			judgedAndCompared(t, runs)
			Compare(SplitBy(runs, by), CompareOptions{})
			break
		}
	})
}

func BenchmarkReadCSV(b *testing.B) {
	text := "threads,mode,trans_per_s,local_cpu_pct\n" + strings.Repeat("16,ring,10030.37,12.5\n", 5000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if runs, _ := readCSV(b, "x.csv", text); len(runs) != 5000 {
			b.Fatal(len(runs))
		}
	}
}

// TestLargeTables holds that what is made of a table does not grow with the square of its rows or columns.
func TestLargeTables(t *testing.T) {
	var wide, long strings.Builder
	wide.WriteString("n_threads")
	for i := range 60 {
		fmt.Fprintf(&wide, ",v%d", i)
	}
	for row := range 100 {
		fmt.Fprintf(&wide, "\n%d", row+1)
		for i := range 60 {
			fmt.Fprintf(&wide, ",%d", (row*i)%977)
		}
	}
	long.WriteString("host,a,b,c,d,trans_per_s\n")
	for row := range maxRuns {
		fmt.Fprintf(&long, "h%d,%d,%d,%d,%d,%d\n", row, row%7, row, row%977, row*row, row%100)
	}
	for name, text := range map[string]string{"wide": wide.String() + "\n", "long": long.String()} {
		runs, _ := readCSV(t, name+".csv", text)
		if len(runs) < 1000 {
			t.Errorf("%s: %d runs", name, len(runs))
		}
		NotComparable().Run(&Results{Runs: runs}, nil)
		for _, sets := range [][]Set{{{"a", runs}}, {{"a", runs}, {"b", runs}}, SplitBy(runs, variantSetting), SplitBy(runs, "host")} {
			if c := Compare(sets, CompareOptions{}); len(c.Comparisons) > maxPairs {
				t.Errorf("%s: %d comparisons", name, len(c.Comparisons))
			}
		}
	}
}
