package coalesce

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

type report struct {
	subject, name, unit string
	reports             int
	mean                float64
}

func checkReports(t *testing.T, file string, out Output, tool string, want []report) {
	t.Helper()
	if out.Tool != tool {
		t.Errorf("%s is read as %s, want %s", file, out.Tool, tool)
	}
	h := Join([]Output{out}, Options{})[0]
	for _, w := range want {
		r, ok := h.Report(tool, w.subject, w.name)
		if w.reports == 0 {
			if ok {
				t.Errorf("%s: %s %s is there: %+v", file, w.subject, w.name, r)
			}
			continue
		}
		if !ok || r.Unit != w.unit || r.Reports != w.reports || math.Abs(r.Mean-w.mean) > 1e-3*math.Abs(w.mean) || r.Pos.Line == 0 || len(r.Course) != r.Reports || r.Least > r.Mean || r.Most < r.Mean {
			t.Errorf("%s: %s %s is %+v (%v), want %+v", file, w.subject, w.name, r, ok, w)
		}
	}
}

// What tools report: sums checked by awk over the columns.
func TestReported(t *testing.T) {
	for _, c := range []struct {
		file, tool string
		want       []report
	}{
		{"mpstat-P-ALL.txt", "sysstat", []report{{"CPU 0", "%soft", "%", 4, 17.9725}, {"CPU 1", "%soft", "%", 4, 24.8325}, {"", "%usr", "%", 4, 50.24}}},
		{"mpstat-I-SUM-SCPU.txt", "sysstat", []report{{"", "intr/s", "/s", 4, 0}, {"CPU 0", "intr/s", "", 0, 0}, {"CPU 1", "NET_RX/s", "/s", 4, 0}}},
		{"mpstat-I-ALL.json", "sysstat", []report{{"", "intr/s", "/s", 3, 0}, {"CPU 0", "NET_RX/s", "/s", 3, 0}, {"CPU 0", "LOC/s", "/s", 3, 0}, {"interrupt 36 CPU 1", "intr/s", "/s", 3, 0}}},
		{"sar-n-DEV.txt", "sysstat", []report{{"eth0", "rxpck/s", "/s", 4, 0}, {"", "total/s", "/s", 4, 0}, {"eth0", "rxdrop/s", "/s", 4, 0}, {"", "intr/s", "/s", 4, 0}}},
		{"vmstat.txt", "vmstat", []report{{"", "in", "", 5, 14369}, {"", "cs", "", 5, 6518.6}, {"", "us", "%", 5, 49.4}}},
		{"vmstat-w-t.txt", "vmstat", []report{{"", "in", "", 3, 14151.3333}, {"", "sy", "%", 3, 52}, {"", "gu", "%", 3, 0}, {"", "UTC", "", 0, 0}}},
		{"vmstat.freebsd.txt", "vmstat", []report{{"", "in", "", 2, 4612}, {"", "sy calls", "", 2, 605.5}, {"", "sy", "%", 2, 21.5}, {"", "id", "%", 2, 76.5}}},
		{"netstat-w.txt", "netstat-w", []report{{"ix0", "input packets", "", 3, 148866.6667}, {"ix0", "input errs", "", 3, 4}, {"ix0", "output drops", "", 3, 0.33333}}},
		{"perf-stat.txt", "perf-stat", []report{{"", "cpu-clock", "msec", 1, 2003.53}, {"", "context-switches", "/s", 1, 507 / 1.001758670}, {"", "cycles", "", 0, 0}}},
		{"perf-stat-x.txt", "perf-stat", []report{{"", "context-switches", "", 1, 7132}, {"", "irq:irq_handler_entry", "", 1, 219}, {"", "cycles", "", 0, 0}}},
		{"perf-stat-I.txt", "perf-stat", []report{{"", "context-switches", "/s", 5, 591.08}, {"", "irq:irq_handler_entry", "/s", 5, 3.992}}},
		{"perf-stat-I-x.txt", "perf-stat", []report{{"CPU 0", "context-switches", "/s", 4, 169.12}, {"CPU 1", "irq:irq_handler_entry", "/s", 4, 0.8324}}},
		{"turbostat.txt", "turbostat", []report{{"", "CPU%c6", "%", 2, 80.035}, {"CPU 1", "CPU%c6", "%", 2, 85.09}, {"CPU 0", "Bzy_MHz", "", 2, 2825.5}, {"", "PkgWatt", "", 2, 41.05}, {"CPU 1", "PkgWatt", "", 0, 0}}},
	} {
		out := read(t, c.file)
		for k := range c.want { // figures that are only compared with themselves: there, and so often
			if w := &c.want[k]; w.mean == 0 && w.reports > 0 {
				for _, r := range out.Reported {
					if r.Subject == w.subject && r.Name == w.name {
						w.mean = r.Mean
					}
				}
			}
		}
		checkReports(t, c.file, out, c.tool, c.want)
	}
}

// The two forms of mpstat -I say the same of the same seconds, and JSON has what text has.
func TestSysstatAgrees(t *testing.T) {
	text, _ := readDir(t, shared.Path(t, "data", "counters", "tools"))
	byName := map[string]Output{}
	for _, o := range text {
		byName[strings.SplitN(filepath.Base(o.Pos.Source), ".", 2)[0]+filepath.Ext(o.Pos.Source)] = o
	}
	ofText, ofJSON := Join([]Output{byName["mpstat-I-ALL.txt"]}, Options{})[0], Join([]Output{byName["mpstat-I-ALL.json"]}, Options{})[0]
	names := map[[2]string]bool{}
	for _, r := range ofText.Reported {
		names[[2]string{r.Subject, r.Name}] = true
	}
	for _, r := range ofJSON.Reported {
		if !names[[2]string{r.Subject, r.Name}] {
			t.Errorf("%s %s is in the JSON and not in the text", r.Subject, r.Name)
		}
	}
	if len(names) < 80 {
		t.Errorf("only %d figures", len(names))
	}
	sar := Join([]Output{byName["sar-I-ALL.txt"]}, Options{})[0]
	if r, ok := sar.Report("sysstat", "interrupt 36", "intr/s"); !ok || r.Reports != 2 {
		t.Errorf("sar -I ALL: interrupt 36 is %+v (%v)", r, ok)
	}
}

// Tables without a subject, the places of CPUs, colours and restarts stand between the figures of mpstat and sar.
func TestSysstatAmongOtherTables(t *testing.T) {
	const text = "Linux 6.1 (host) \t06/01/20 \t_x86_64_\t(2 CPU)\n\n" +
		"12:53:20     CPU CORE SOCK NODE    %usr   %idle\n" +
		"12:53:21     all                   2.15   82.88\n" +
		"12:53:21       1    1    0    1    2.85   91.99\n\n" +
		"12:53:20      runq-sz  plist-sz   ldavg-1   blocked\n" +
		"12:53:21            3       956      3.16         0\n\n" +
		"12:53:22       LINUX RESTART\t(2 CPU)\n\n" +
		"12:53:30        CPU     %usr    %idle\n" +
		"12:53:31   \x1b[32;22m     all\x1b[0m\x1b[34;1m      4.15\x1b[0m\x1b[34;1m     70.50\x1b[0m\n"
	ledger := &source.Ledger{}
	out, err := ReadSysstat(source.NewLines(source.NewInput("t", strings.NewReader(text)), ledger), ledger)
	if told := ledger.Entries(); err != nil || len(told) != 1 || told[0].Name != "terminal-escapes" {
		t.Fatalf("%v, ledger %+v", err, told)
	}
	got := map[string][]float64{}
	for _, r := range out.Reported {
		got[r.Subject+" "+r.Name] = []float64{float64(r.Reports), r.Mean}
	}
	want := map[string][]float64{" %usr": {2, 3.15}, " %idle": {2, 76.69}, "CPU 1 %usr": {1, 2.85}, "CPU 1 %idle": {1, 91.99}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A series that is longer than the bound keeps its mean, ends and a course of joined reports.
func TestReportedIsBounded(t *testing.T) {
	r := newReports("x")
	for k := range 100_000 {
		r.add("", "n", "", float64(k), testPos(k+1))
	}
	x := r.list[0]
	if x.Reports != 100_000 || x.Mean < 49999.4 || x.Mean > 49999.6 || x.Least != 0 || x.Most != 99999 || len(x.Course) > maxSteps || len(x.Course) < maxSteps/2-1 {
		t.Errorf("%+v", x)
	}
	for k := 1; k < len(x.Course); k++ {
		if x.Course[k] <= x.Course[k-1] {
			t.Fatalf("the course does not rise at %d", k)
		}
	}
	h := &Host{}
	h.addReported([]Reported{x})
	h.addReported([]Reported{x})
	if got := h.Reported[0]; got.Reports != 200_000 || math.Abs(got.Mean-x.Mean) > 1e-6 || len(got.Course) > maxSteps {
		t.Errorf("joined: %+v", got)
	}
}

// The public recording of a forwarder: 983k errors for 387k packets.
func TestNetstatOfForwarder(t *testing.T) {
	outputs, ledger := readFile(t, shared.Path(t, "data", "public-counters", "netstat-ihw1.freebsd.bsdrp.txt"))
	if len(outputs) != 1 || len(ledger.Entries()) > 0 {
		t.Fatalf("%d outputs, ledger %v", len(outputs), ledger.Entries())
	}
	h := Join(outputs, Options{})[0]
	packets, _ := h.Report("netstat-w", "", "input packets")
	errs, _ := h.Report("netstat-w", "", "input errs")
	if lost := errs.Mean / (errs.Mean + packets.Mean); lost < 0.71 || lost > 0.73 {
		t.Errorf("%.3f of the packets are lost, want 0.72", lost)
	}
}

// The thread's packets for each interrupt and CPU times, against the figures as they were published.
func TestInterruptsOfThread(t *testing.T) {
	outputs, _ := readFile(t, shared.Path(t, "data", "threads", "003_d98e0baaaa1ad5b0.txt"))
	h := Join(outputs, Options{})[0]
	for title, file := range map[string]string{"Packets/Intr": "tg3-coalescing.packets-per-interrupt.csv", "CPU Util[%]": "tg3-coalescing.cpu-util.csv"} {
		text, err := os.ReadFile(shared.Path(t, "data", "published", file))
		if err != nil {
			t.Fatal(err)
		}
		var heads []string
		figures := 0
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSpace(line), ",")
			if strings.HasPrefix(line, "#") {
				continue
			}
			if heads == nil {
				heads = fields
				continue
			}
			for k := 1; k < len(heads); k++ {
				name := title + ": " + strings.ReplaceAll(heads[k], "+", "+ ")
				r, ok := h.Report("mail-table", "Link Util[%] "+fields[0], name)
				want, measured := parseFloat([]byte(fields[k]))
				if ok != measured || r.Mean != want {
					t.Errorf("%s at %s: %g (%v), published %q", name, fields[0], r.Mean, ok, fields[k])
				}
				figures++
			}
		}
		if figures != 20 {
			t.Errorf("%s: %d figures", title, figures)
		}
	}
}

func TestParseFloat(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "12": 12, "12.50": 12.5, "3,25": 3.25, "-1.5": -1.5, "0.001": 0.001} {
		if v, ok := parseFloat([]byte(text)); !ok || math.Abs(v-want) > 1e-12 {
			t.Errorf("%q is %g (%v)", text, v, ok)
		}
	}
	for _, text := range []string{"", "-", ".", "1.2.3", "1e5", "12k", "n/a", "1234567890123456789012345"} {
		if v, ok := parseFloat([]byte(text)); ok {
			t.Errorf("%q is read as %g", text, v)
		}
	}
}
