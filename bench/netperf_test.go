package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"nettrace/fixtures/shared"
	"nettrace/source"
	"nettrace/unit"
)

// withoutPlaces compares runs by what they say, not by where it stood.
var withoutPlaces = cmp.Options{
	cmpopts.IgnoreFields(Run{}, "Pos", "Group"), cmpopts.IgnoreFields(Interim{}, "Pos"), cmpopts.EquateEmpty(),
}

const (
	recordedHost = "10.77.0.2"
	kb           = "KB"
)

func demo(more ...Setting) []Setting {
	return append([]Setting{{Name: "histogram"}, {Name: "demo"}}, more...)
}

func burst(n string) Setting { return Setting{"first burst", n} }

func cpu(util, demand float64, per string, cpus int) *CPU {
	return &CPU{UtilPercent: util, DemandMicros: demand, DemandPer: per, CPUs: cpus, Method: "S"}
}

// stream and rr are the parts that the recorded outputs share.
func stream(test string, message int64, seconds, rate float64) Run {
	return Run{Tool: "netperf", Test: test, Host: recordedHost, Unit: "10^6 bits/s", Rate: rate, Seconds: seconds,
		Sizes: Sizes{Message: message}, Sockets: Sockets{LocalSend: 16384, RemoteRecv: 131072}, Settings: demo()}
}

func rr(test string, request int64, seconds, rate float64, settings []Setting) Run {
	return Run{Tool: "netperf", Test: test, Host: recordedHost, Unit: transactions, Rate: rate, Seconds: seconds,
		Sizes: Sizes{Request: request, Response: 1}, Sockets: Sockets{LocalSend: 16384, LocalRecv: 131072, RemoteSend: 16384, RemoteRecv: 131072}, Settings: settings}
}

func with(run Run, change func(*Run)) Run {
	change(&run)
	return run
}

// TestRecorded holds every figure of the outputs that were recorded with netperf 2.7.1.
func TestRecorded(t *testing.T) {
	interimRR := []Interim{
		{Rate: 159802.72, Length: 250e6, EndSeconds: 1796056852, EndNanos: 219e6}, {Rate: 75859.86, Length: 527e6, EndSeconds: 1796056852, EndNanos: 746e6},
		{Rate: 87219.58, Length: 252e6, EndSeconds: 1796056852, EndNanos: 998e6}, {Rate: 87085.07, Length: 255e6, EndSeconds: 1796056853, EndNanos: 253e6},
		{Rate: 63815.01, Length: 341e6, EndSeconds: 1796056853, EndNanos: 594e6}, {Rate: 77031.25, Length: 251e6, EndSeconds: 1796056853, EndNanos: 845e6},
		{Rate: 93216.98, Length: 260e6, EndSeconds: 1796056854, EndNanos: 105e6}, {Rate: 82624.23, Length: 282e6, EndSeconds: 1796056854, EndNanos: 387e6},
		{Rate: 84225.17, Length: 251e6, EndSeconds: 1796056854, EndNanos: 638e6}, {Rate: 84767.66, Length: 250e6, EndSeconds: 1796056854, EndNanos: 888e6},
		{Rate: 80806.42, Length: 262e6, EndSeconds: 1796056855, EndNanos: 150e6}, {Rate: 86248.25, Length: 250e6, EndSeconds: 1796056855, EndNanos: 400e6},
		{Rate: 85932.10, Length: 252e6, EndSeconds: 1796056855, EndNanos: 652e6}, {Rate: 92983.80, Length: 253e6, EndSeconds: 1796056855, EndNanos: 905e6},
		{Rate: 84293.89, Length: 65e6, EndSeconds: 1796056855, EndNanos: 970e6},
	}
	interimStream := []Interim{
		{Rate: 6646.71, Length: 500e6, EndSeconds: 1796056856, EndNanos: 484e6}, {Rate: 4948.51, Length: 548e6, EndSeconds: 1796056857, EndNanos: 32e6},
		{Rate: 3940.31, Length: 501e6, EndSeconds: 1796056857, EndNanos: 534e6}, {Rate: 6254.74, Length: 500e6, EndSeconds: 1796056858, EndNanos: 34e6},
		{Rate: 5821.24, Length: 515e6, EndSeconds: 1796056858, EndNanos: 549e6}, {Rate: 4402.33, Length: 435e6, EndSeconds: 1796056858, EndNanos: 984e6},
	}
	for _, c := range []struct {
		file   string
		want   []Run
		ledger []string
	}{
		{"error.no-server", nil, []string{"netperf-error"}},
		{"omni.text-O", []Run{{Tool: "netperf", Test: "omni Send", Host: recordedHost, Unit: "10^6 bits/s", Rate: 5844.22, Sizes: Sizes{Message: 16384}, Settings: demo(),
			Local: omniCPU(100, 2.803, kb, 2), Details: []Detail{{"remote_demand_us_per_kb", 2.803}}}}, nil},
		{"tcp_stream.classic", []Run{stream("TCP_STREAM", 16384, 2.02, 2473.67)}, nil},
		{"tcp_sendfile.classic", []Run{stream("TCP_SENDFILE", 16384, 2.15, 4201.62)}, nil},
		{"tcp_maerts.classic", []Run{with(stream("TCP_MAERTS", 16384, 2, 3592.93), func(r *Run) {
			r.Sockets = Sockets{LocalRecv: 131072, RemoteSend: 16384}
		})}, nil},
		{"tcp_stream.cpu", []Run{with(stream("TCP_STREAM", 16384, 2, 6071.37), func(r *Run) {
			r.Local, r.Remote = cpu(100, 2.699, kb, 2), cpu(100, 2.699, kb, 2)
		})}, nil},
		{"tcp_stream.noheader", []Run{with(stream("", 65536, 2.04, 5530.09), func(r *Run) {
			r.Host, r.Settings = "", nil
			r.Local, r.Remote = cpu(99.76, 2.956, kb, 2), cpu(99.76, 2.956, kb, 2)
			r.Local.Method, r.Remote.Method = "", ""
		})}, []string{"test-not-named"}},
		{"tcp_stream.confidence-I", []Run{with(stream("TCP_STREAM", 16384, 1.03, 3367.29), func(r *Run) {
			r.Settings = append([]Setting{{"+/-2.500%", "95%"}}, demo()...)
			r.Local, r.Remote = cpu(100, 6.447, kb, 0), cpu(100, 6.447, kb, 0)
			r.Missed = &Missed{ThroughputPercent: 65.846}
		})}, []string{"service-demand-identity"}},
		{"tcp_stream.v2", []Run{with(stream("TCP_STREAM", 1448, 2, 3696.69), func(r *Run) {
			r.Details = []Detail{{"local_send_alignment", 8}, {"remote_recv_alignment", 8}, {"local_send_offset", 0}, {"remote_recv_offset", 0},
				{"bytes_transferred", 925298064}, {"bytes_per_send", 1448}, {"sends", 639018}, {"bytes_per_recv", 29053.57}, {"recvs", 31848}, {"mss_bytes", 1448}}
			r.Histogram = &Histogram{"time spent in send() call", bins(
				"285791 254671 65449 5231 20265 4519 937 504 258 180", "0 520 52 71 70 33 31 23 5 4", "0 27 13 8 6 3 5 4 4 6", "0 65 44 42 70 54 36 10 1 3", "0 1 0 0 2")}
		})}, nil},
		{"tcp_stream.interim-D-1", []Run{with(stream("TCP_STREAM", 16384, 3, 5350.62), func(r *Run) { r.Interim = interimStream })}, nil},
		{"tcp_rr.classic", []Run{rr("TCP_RR", 4344, 2, 89308.69, demo(burst("0")))}, nil},
		{"tcp_rr.cpu", []Run{with(rr("TCP_RR", 1, 2, 61359.03, demo(burst("0"))), func(r *Run) {
			r.Local, r.Remote = cpu(100, 32.595, "transaction", 2), cpu(100, 32.595, "transaction", 2)
		})}, nil},
		{"tcp_rr.burst", []Run{rr("TCP_RR", 1, 2, 131018.55, append([]Setting{{Name: "nodelay"}}, demo(burst("16"))...))}, nil},
		{"tcp_rr.hist-v2", []Run{with(rr("TCP_RR", 1, 2, 87864.80, demo(burst("0"))), func(r *Run) {
			r.Details = []Detail{{"local_send_alignment", 8}, {"remote_recv_alignment", 0}, {"local_send_offset", 0}, {"remote_recv_offset", 0},
				{"round_trip_us", 11.381}, {"transactions_per_s", 87864.798}, {"throughput_outbound", 0.703}, {"throughput_inbound", 0.703}}
			r.Histogram = &Histogram{"request/response times", bins(
				"0 0 0 0 15421 136150 11907 1902 1950 1399", "0 5539 269 231 144 69 56 159 46 22", "0 95 31 15 11 11 8 12 4 8", "0 112 89 46 24 15 3 7 3 2", "0 2 2 0 1")}
		})}, nil},
		{"tcp_rr.interim-D0.25", []Run{with(rr("TCP_RR", 4345, 4, 87092.57, demo(burst("0"))), func(r *Run) { r.Interim = interimRR })}, nil},
		{"tcp_crr.classic", []Run{rr("TCP_CRR", 1, 2, 15449.41, demo())}, nil},
		{"udp_rr.classic", []Run{with(rr("UDP_RR", 1, 2, 94905.89, demo(burst("0"))), func(r *Run) {
			r.Sockets = Sockets{212992, 212992, 212992, 212992}
		})}, nil},
		{"udp_stream.classic", []Run{with(stream("UDP_STREAM", 1472, 2.03, 750.19), func(r *Run) {
			r.Sockets = Sockets{LocalSend: 212992, RemoteRecv: 212992}
			r.Receipt = &Receipt{SentMessages: 129055, ReceivedMessages: 56869, Rate: 330.57, Seconds: 2.03}
		})}, nil},
		{"udp_stream.cpu-m1", []Run{with(stream("UDP_STREAM", 1, 2, 1.6), func(r *Run) {
			r.Sockets = Sockets{LocalSend: 212992, RemoteRecv: 212992}
			r.Local, r.Remote = cpu(100, 10255.594, kb, 2), cpu(100, 10255.594, kb, 0)
			r.Receipt = &Receipt{SentMessages: 399661, ReceivedMessages: 142523, Rate: 0.6, Seconds: 2}
		})}, []string{"service-demand-identity"}},
		{"omni.csv-j", []Run{{Tool: "netperf", Test: "omni Send|Recv", Host: recordedHost, Unit: transactions, Rate: 48847.55, Settings: demo(),
			Details: []Detail{{"p99_latency_us", 42}, {"max_latency_us", 113391}}}}, nil},
		{"omni.csv-o", []Run{{Tool: "netperf", Test: "omni Send|Recv", Host: recordedHost, Unit: transactions, Rate: 103496.88, Settings: demo(),
			Local: omniCPU(100, 19.324, "transaction", 2), Remote: omniCPU(100, 19.324, "transaction", 2),
			Details: []Detail{{"mean_latency_us", 9.63}, {"p50_latency_us", 5}, {"p90_latency_us", 5}, {"p99_latency_us", 18}, {"stddev_latency_us", 169.35},
				{"min_latency_us", 4}, {"max_latency_us", 41362}, {"mss_bytes", 1448}}}}, nil},
		{"omni.csv-all", []Run{{Tool: "netperf", Test: "omni Send|Recv", Host: recordedHost, Unit: transactions, Rate: 74138.35, Seconds: 2, Sizes: Sizes{Request: 1, Response: 1},
			Sockets: Sockets{2080512, 2041352, 69120, 2085188}, Settings: demo(Setting{"protocol", "TCP"}, Setting{"burst_size", "0"}),
			Details: []Detail{{"local_retransmissions", 0}, {"mss_bytes", 1448}, {"min_latency_us", 4}, {"max_latency_us", 34987}, {"p50_latency_us", 5}, {"p90_latency_us", 5},
				{"p99_latency_us", 14}, {"mean_latency_us", 13.46}, {"stddev_latency_us", 173.40}}}}, []string{"omni-field-unused"}},
		{"omni.keyval-k", []Run{{Tool: "netperf", Test: "omni Send", Host: recordedHost, Unit: "10^6 bits/s", Rate: 4976.01, Seconds: 2, Sizes: Sizes{Message: 16384}, Settings: demo(),
			Local: omniCPU(100, 3.293, kb, 2), Remote: omniCPU(100, 3.293, kb, 2), Details: []Detail{{"local_retransmissions", 6}}}}, nil},
		{"omni.keyval-all", []Run{{Tool: "netperf", Test: "omni Send", Host: recordedHost, Unit: "10^6 bits/s", Rate: 5152.16, Seconds: 2, Sizes: Sizes{Message: 16384},
			Sockets: Sockets{4194304, 131072, 69120, 33554432}, Settings: demo(Setting{"protocol", "TCP"}, Setting{"burst_size", "0"}),
			Details: []Detail{{"local_retransmissions", 5}, {"mss_bytes", 1448}, {"min_latency_us", 0}, {"max_latency_us", 27965}, {"p50_latency_us", 2}, {"p90_latency_us", 9},
				{"p99_latency_us", 51}, {"mean_latency_us", 25.38}, {"stddev_latency_us", 339.93}}}}, []string{"omni-field-unused"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			runs, ledger := read(t, c.file, fixture(t, "netperf-"+c.file+".txt"))
			if diff := cmp.Diff(c.want, runs, withoutPlaces); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.ledger, names(ledger), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("ledger (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOmniHuman reads blocks of the human form, without trailing blanks, with values wider than heads and with prose behind.
func TestOmniHuman(t *testing.T) {
	const banner = "OMNI Send|Recv TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.77.0.2 () port 0 AF_INET\n"
	const rate = "Throughput Throughput\n           Units\n\n\n48847.55   Trans/s\n"
	const machine = "Local          Command\nVersion        Line\n\n\n#1 SMP PREEMPT \"netperf -l 2\"\n"
	const latency = "99th         Local\nPercentile   Release\nLatency\nMicroseconds\n42           6.18\n"
	run := Run{Tool: "netperf", Test: "omni Send|Recv", Host: recordedHost, Unit: transactions, Rate: 48847.55}
	tail := with(run, func(r *Run) { r.Details = []Detail{{"p99_latency_us", 42}} })
	for name, c := range map[string]struct {
		text   string
		want   []Run
		ledger []string
	}{
		"one block":          {rate, []Run{run}, nil},
		"three blocks":       {rate + "\n" + machine + "\n" + latency, []Run{tail}, []string{"omni-field-unused"}},
		"prose behind":       {rate + "\nLocal time was 12:00\n\n\n\nThroughput 3\n", []Run{run}, nil},
		"heads alone":        {rate + "\nLocal\n other\n\n\nso\nThroughput 3\n", []Run{run}, []string{"incomplete-row"}},
		"cut in a head":      {rate + "\nLocal\nCPU\n", []Run{run}, []string{"cut-input"}},
		"one column":         {"Throughput\n\n\n\n48847.55\n", []Run{run}, nil},
		"twice":              {rate + banner + rate, []Run{run, run}, nil},
		"cut in the value":   {strings.TrimSuffix(rate, "\n"), []Run{run}, []string{"no-line-end"}},
		"cut in the rate":    {rate[:strings.Index(rate, "47.55")], nil, []string{"cut-input", "no-line-end"}},
		"values out of line": {"Throughput Throughput\n           Units\n\n\n  48847.55 Trans/s\n", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			runs, ledger := read(t, name, banner+c.text)
			if diff := cmp.Diff(c.want, runs, withoutPlaces); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.ledger, names(ledger), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("ledger (-want +got):\n%s", diff)
			}
		})
	}
}

func omniCPU(util, demand float64, per string, cpus int) *CPU {
	c := cpu(util, demand, per, cpus)
	c.Method = ""
	return c
}

// bins makes the bins of a histogram from its decades, as netperf prints them.
func bins(decades ...string) []Bin {
	var found []Bin
	width, _ := histogramUnit("UNIT_USEC")
	for _, decade := range decades {
		for i, text := range strings.Fields(decade) {
			if n := count([]byte(text)); n > 0 {
				found = append(found, Bin{From: width * unit.Nanos(i), Width: width, Count: n})
			}
		}
		width *= 10
	}
	return found
}

// TestRecordedFixturesAreWhole holds that the fixtures are the recordings.
func TestRecordedFixturesAreWhole(t *testing.T) {
	folder := shared.Path(t, "data/counters/netperf")
	recorded, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(recorded) != 24 {
		t.Fatalf("%d recordings (%v), want 24", len(recorded), err)
	}
	for _, path := range recorded {
		if got := fixture(t, "netperf-"+filepath.Base(path)); got != content(t, path) {
			t.Errorf("fixture of %s differs", filepath.Base(path))
		}
	}
}

func TestArchivedInterimLog(t *testing.T) {
	runs, ledger := read(t, "log", fixture(t, "netperf-interim.as-archived.txt"))
	if len(runs) != 2 || len(ledger) != 0 {
		t.Fatalf("%d runs, ledger %v; want 2 runs and nothing lost", len(runs), ledger)
	}
	for i, want := range []struct {
		request int64
		rate    float64
	}{{4344, 9907.27}, {4345, 3560.55}} {
		r := runs[i]
		if r.Test != "TCP_RR" || r.Host != "mumble.3.21" || r.Unit != transactions || r.Sizes != (Sizes{Request: want.request, Response: 1}) || r.Rate != want.rate || r.Seconds != 10 {
			t.Errorf("run %d is %+v", i, r)
		}
	}
	if e := runs[1].Interim[0]; e.EndSeconds != 1311209357 || e.EndNanos != 406e6 || e.Length != 370e6 || e.Pos.Line != 38 {
		t.Errorf("first interim result of 4345 bytes: %+v", e)
	}
	if got := []int{runs[0].Pos.Line, runs[1].Pos.Line}; !cmp.Equal(got, []int{35, 39}) {
		t.Errorf("results stand on lines %v, want 35 and 39", got)
	}
	if runs[0].Group != runs[1].Group {
		t.Error("prose between two results of a loop parts them")
	}
}

// TestPublishedSeries compares the interim results with the same figures as data.
func TestPublishedSeries(t *testing.T) {
	runs, _ := read(t, "log", fixture(t, "netperf-interim.as-archived.txt"))
	for i, size := range []string{"4344", "4345"} {
		var got strings.Builder
		for n, p := range runs[i].Interim {
			fmt.Fprintf(&got, "%d,%.2f,%.2f,%d.%03d\n", n+1, p.Rate, p.Length.Seconds(), p.EndSeconds, p.EndNanos/1e6)
		}
		text := content(t, shared.Path(t, "data/published/mlx4-adaptive-rx.interim-"+size+".csv"))
		_, want, _ := strings.Cut(text, "end_unix_s\n")
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("series of %s bytes (-published +read):\n%s", size, diff)
		}
	}
}

func TestThreadOneMoreByte(t *testing.T) {
	runs, ledger := read(t, "thread", content(t, shared.Path(t, "data/threads/001_2216560fc2655e92.txt")))
	type result struct {
		request int64
		rate    float64
		interim int
	}
	want := []result{{4344, 10030.37, 0}, {4345, 3406.62, 0}, {4344, 11167.48, 0}, {4345, 10460.02, 0}, {4344, 11143.07, 0}, {4345, 5790.48, 0},
		{4344, 14274.03, 0}, {4345, 13697.11, 0}, {4344, 9907.27, 30}, {4345, 3560.55, 37}, {4344, 14274.03, 0}, {4345, 13697.11, 0}}
	var got []result
	groups := map[int64]int{}
	for _, r := range runs {
		got = append(got, result{r.Sizes.Request, r.Rate, len(r.Interim)})
		groups[r.Group]++
		if r.Test != "TCP_RR" || r.Host != "mumble.3.21" || r.Seconds != 10 || r.Sockets != (Sockets{16384, 87380, 16384, 87380}) {
			t.Errorf("run at %v is %+v", r.Pos, r)
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if len(groups) != 6 {
		t.Errorf("the 12 results are in %d groups, want the 6 outputs of the thread", len(groups))
	}
	if len(ledger) != 0 {
		t.Errorf("ledger %v, want none: prose is no loss", ledger)
	}
}

func TestThreadZeroCopy(t *testing.T) {
	runs, ledger := read(t, "thread", content(t, shared.Path(t, "data/threads/002_e020891d04dfaba2.txt")))
	rows := strings.Split(strings.TrimSpace(content(t, shared.Path(t, "data/published/sdp-bzcopy.netperf-by-hand.csv"))), "\n")[2:]
	if len(runs) != len(rows) {
		t.Fatalf("%d results, want %d", len(runs), len(rows))
	}
	for i, r := range runs {
		option := "-- -r"
		if r.Sizes.Message != 16384 {
			option = "-- -m"
		}
		argument, _ := r.Setting(option)
		got := fmt.Sprintf(",%s,%s,%d,%d,%d,%.2f,%.2f,%.2f,%.2f,%.3f,%.3f", strings.TrimPrefix(option, "-- "), argument, r.Sockets.RemoteRecv, r.Sockets.LocalSend, r.Sizes.Message,
			r.Seconds, r.Rate, r.Local.UtilPercent, r.Remote.UtilPercent, r.Local.DemandMicros, r.Remote.DemandMicros)
		if want := rows[i][1:]; got != want { // the first column, the module's parameter, is not netperf's
			t.Errorf("result %d is %s, want %s", i, got, want)
		}
		if r.Test != "TCP_STREAM" || r.Host != "193.168.10.143" || r.Local.CPUs != 8 || r.Remote.CPUs != 8 {
			t.Errorf("result %d: %s to %s, %d and %d CPUs; want TCP_STREAM and 8 CPUs on both sides", i, r.Test, r.Host, r.Local.CPUs, r.Remote.CPUs)
		}
	}
	if len(ledger) != 1 || ledger[0].Name != "request-size-unused" || ledger[0].Count != 6 {
		t.Errorf("ledger %+v, want the six runs with -r noted", ledger)
	}
}

// TestOtherThreads holds that prose about netperf is no output of it.
func TestOtherThreads(t *testing.T) {
	for _, name := range []string{"000_abb7739147f567c0.txt", "003_d98e0baaaa1ad5b0.txt", "004_37f022e2a57e8313.txt"} {
		if runs, _ := read(t, name, content(t, shared.Path(t, "data/threads/"+name))); len(runs) > 0 {
			t.Errorf("%s: %d results at %v, want none", name, len(runs), runs[0].Pos)
		}
	}
}

func TestRowsByHand(t *testing.T) {
	runs, _ := read(t, "by-hand", content(t, shared.Path(t, "data/published/sdp-bzcopy.netperf-by-hand.txt")))
	if len(runs) != 12 || runs[11].Rate != 10254.89 || runs[11].Sizes.Message != 1048576 || runs[11].Remote.DemandMicros != 0.835 {
		t.Fatalf("%d results, last %+v", len(runs), runs[len(runs)-1])
	}
}

// TestOddities are outputs that no recording has, in their smallest form.
func TestOddities(t *testing.T) {
	const rrBanner = "TCP REQUEST/RESPONSE TEST to hostb : nodelay\n"
	for _, c := range []struct {
		name, text string
		want       string // test, host, unit, message or request, rate of each result
		ledger     []string
	}{
		{"banner before 2.4", "TCP STREAM TEST to hostb\n87380 16384 16384 10.00 941.50\n", "TCP_STREAM hostb 10^6 bits/s 16384 941.5", nil},
		{"other unit", "TCP STREAM TEST from a (1.2.3.4) port 0 AF_INET to ::1 (::1) port 0 AF_INET6\nSize bytes secs. KBytes/sec\n87380 16384 16384 10.00 941.50\n", "TCP_STREAM ::1 KBytes/s 16384 941.5", nil},
		{"unit of the command", "$ netperf -P 0 -f g -t TCP_STREAM -H hostb,4\n87380 16384 16384 10.00 9.41\n", "TCP_STREAM hostb 10^9 bits/s 16384 9.41", nil},
		{"letters together", "$ /usr/bin/netperf -cCP0 -tTCP_RR -Hhostb -- -r100,1\n16384 87380 100 1 10.00 9.41 1.00 1.00 8502.657 8502.657\n16384 87380\n", "TCP_RR hostb transactions/s 100 9.41", nil},
		{"peer's sockets left out", rrBanner + "16384 87380 1 1 10.00 100.50\n16384 87380 2 1 10.00 99.50\n", "TCP_RR hostb transactions/s 1 100.5; TCP_RR hostb transactions/s 2 99.5", nil},
		{"not measured CPU", rrBanner + "16384 87380 1 1 10.00 100.50 -1.00 -1.00 -1.000 -1.000\n16384 87380\n", "TCP_RR hostb transactions/s 1 100.5", nil},
		{"stopped", "TCP STREAM TEST to hostb\n", "", []string{"cut-input"}},
		{"stopped after interim results", "TCP STREAM TEST to hostb\nInterim result: 900.00 10^6bits/s over 1.00 seconds\nInterim result: 300.00 10^6bits/s over 2.00 seconds\n$ \n",
			"TCP_STREAM hostb 10^6 bits/s 0 500", []string{"result-missing"}},
		{"a banner without a result", rrBanner + rrBanner + "16384 87380 1 1 10.00 100.50\n16384 87380\n", "TCP_RR hostb transactions/s 1 100.5", []string{"result-missing"}},
		{"more in the shell's loop", "$ for i in 1; do netperf -H hostb -t TCP_RR; sleep 5; done\n" + rrBanner + "16384 87380 1 1 10.00 100.50\n16384 87380\n", "TCP_RR hostb transactions/s 1 100.5", nil},
		{"broken off by other text", rrBanner + "16384 87380\n$ ls\n", "", []string{"incomplete-row", "result-missing"}},
		{"cut in the rate", rrBanner + "16384 87380 1 1 10.00 100.5", "", []string{"cut-input", "no-line-end"}},
		{"cut in the peer's sockets", rrBanner + "16384 87380 1 1 10.00 100.50\n16384 8", "TCP_RR hostb transactions/s 1 100.5", []string{"no-line-end"}},
		{"cut in an interim result", rrBanner + "Interim result: 900.00 Trans/s over 1.00 seconds\nInterim result: 300.00 Tra", "TCP_RR hostb transactions/s 0 900", []string{"cut-input", "no-line-end"}},
		{"cut in the second row", rrBanner + "16384 87380 1 1 10.00 100.50\n16384 87380\n16384 87380 2 1 10.", "TCP_RR hostb transactions/s 1 100.5", []string{"cut-input", "no-line-end"}},
		{"histogram without its end", rrBanner + "16384 87380 1 1 10.00 100.50\n16384 87380\nHistogram of request/response times\nUNIT_USEC : 0: 1", "TCP_RR hostb transactions/s 1 100.5", []string{"cut-input", "no-line-end"}},
		{"histogram that does not add up", rrBanner + "16384 87380 1 1 10.00 100.50\n16384 87380\nHistogram of request/response times\nUNIT_USEC : 0: 1\n>100_SECS: 1\nHIST_TOTAL: 3\n",
			"TCP_RR hostb transactions/s 1 100.5", []string{"histogram-total"}},
		{"other numbers behind it", rrBanner + "16384 87380 1 1 10.00 100.50\n16384 87380\n12.5 13.5\n1 2 3\n", "TCP_RR hostb transactions/s 1 100.5", nil},
		{"prose", "Then I ran netperf -H hostb -t TCP_RR and it was slow.\nIt did 16384 87380 1 1 10.00 100.50 or so.\nThe TCP STREAM TEST from yesterday too.\n", "", nil},
		{"command without output", "$ netperf -H hostb\n$ ls\na b\n", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs, ledger := read(t, c.name, c.text)
			var got []string
			for _, r := range runs {
				got = append(got, fmt.Sprintf("%s %s %s %d %g", r.Test, r.Host, r.Unit, r.Sizes.Request+r.Sizes.Message, r.Rate))
			}
			if joined := strings.Join(got, "; "); joined != c.want {
				t.Errorf("results %q, want %q", joined, c.want)
			}
			if diff := cmp.Diff(c.ledger, names(ledger), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("ledger (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	var long strings.Builder
	long.WriteString("TCP REQUEST/RESPONSE TEST to hostb\n")
	for range 3 * maxInterim {
		long.WriteString("Interim result: 100.00 Trans/s over 1.00 seconds\nInterim result: 300.00 Trans/s over 1.00 seconds\n")
	}
	for range maxRuns + 5 {
		long.WriteString("16384 87380 1 1 10.00 100.50\n16384 87380\n")
	}
	runs, ledger := read(t, "long", long.String())
	if len(runs) != maxRuns || len(runs[0].Interim) > maxInterim {
		t.Fatalf("%d results, %d interim results", len(runs), len(runs[0].Interim))
	}
	s := series{points: runs[0].Interim}
	if rate, seconds := s.mean(); rate != 200 || seconds != 6*maxInterim {
		t.Errorf("the merged series has the mean %g over %g s, want 200 over %d s", rate, seconds, 6*maxInterim)
	}
	if diff := cmp.Diff([]string{"too-many-results", "interim-merged"}, names(ledger)); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
}

func TestSniffAllocatesNothing(t *testing.T) {
	lines := [][]byte{
		[]byte("rx-usecs: 16\nrx-frames: 44\n"), []byte("netserver 1234 [000] 1.0: cycles:\n"), []byte("and the netperf numbers look like:\n"),
		[]byte("  0:   12345   0  IO-APIC  timer\n"), []byte("\n\n"),
	}
	for _, head := range lines {
		if m := SniffNetperf(head); m != source.No {
			t.Errorf("%q is %v", head, m)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, head := range lines[:2] {
			SniffNetperf(head)
		}
	}); n != 0 {
		t.Errorf("%g allocations to reject a line", n)
	}
}

func FuzzReadNetperf(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("..", "fixtures", "bench", "netperf-*.txt"))
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
		runs, _ := read(t, "fuzz", text)
		roundTrip(t, &Results{Runs: runs})
	})
}

func BenchmarkReadNetperf(b *testing.B) {
	text := strings.Repeat(fixture(b, "netperf-interim.as-archived.txt")+"\n", 50)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if runs, _ := read(b, "log", text); len(runs) != 100 {
			b.Fatalf("%d results", len(runs))
		}
	}
}

func BenchmarkSniffNetperf(b *testing.B) {
	head := []byte(strings.Repeat("     rx_packets: 123456789\n", 150))
	b.SetBytes(27)
	b.ReportAllocs()
	for b.Loop() {
		SniffNetperf(head)
	}
}

// TestCutAnywhere cuts outputs at every byte: what is read is what stood there whole, and an unfinished result is told.
func TestCutAnywhere(t *testing.T) {
	for _, name := range append([]string{"rr-4344-4345", "interim.as-archived"}, outputs...) {
		text := fixture(t, "netperf-"+name+".txt")
		whole, _ := read(t, name, text)
		for cut := 1; cut < len(text); cut += 5 {
			runs, ledger := read(t, name, text[:cut])
			told := len(ledger) > 0
			if cut > 0 && text[cut-1] != '\n' && !told && SniffNetperf([]byte(text[:cut])) == source.Strong && len(runs) > 0 && runs[len(runs)-1].Pos.Line == strings.Count(text[:cut], "\n")+1 {
				t.Fatalf("%s cut at byte %d, in a line: no word in the ledger", name, cut)
			}
			for i, run := range runs {
				if run.Partial {
					continue
				}
				if i >= len(whole) || run.Rate != whole[i].Rate || run.Seconds != whole[i].Seconds || run.Sizes != whole[i].Sizes || len(run.Interim) != len(whole[i].Interim) {
					t.Fatalf("%s cut at byte %d: result %d is %+v", name, cut, i, run)
				}
			}
			if complete := len(runs) > 0 && !runs[len(runs)-1].Partial; !complete && !told && SniffNetperf([]byte(text[:cut])) == source.Strong {
				t.Fatalf("%s cut at byte %d, behind %q: no result and no word in the ledger", name, cut, text[max(0, cut-40):cut])
			}
		}
	}
}

// TestMigratedTestsWithOmniForms reads the forms of omni under the banners of the migrated tests, also indented.
func TestMigratedTestsWithOmniForms(t *testing.T) {
	const from = " TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.77.0.2 () port 0 AF_INET : +/-2.500% @ 99% conf.\n"
	settings := []Setting{{"+/-2.500%", "99%"}}
	latency := func(r *Run) { r.Details = []Detail{{"p99_latency_us", 42}} }
	rr := Run{Tool: "netperf", Test: "TCP_RR", Host: recordedHost, Unit: transactions, Rate: 48847.55, Settings: settings}
	stream := Run{Tool: "netperf", Test: "UDP_STREAM", Host: recordedHost, Unit: "10^6 bits/s", Rate: 941.5, Settings: settings}
	classic := Run{Tool: "netperf", Test: "TCP_RR", Host: recordedHost, Unit: transactions, Rate: 9000.5, Seconds: 10, Sizes: Sizes{Request: 1, Response: 1},
		Sockets: Sockets{LocalSend: 16384, LocalRecv: 87380}, Settings: settings}
	row := "Local /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\nbytes  Bytes  bytes    bytes   secs.    per sec\n\n16384  87380  1        1       10.00    9000.50\n"
	for name, c := range map[string]struct {
		text   string
		want   []Run
		ledger []string
	}{
		"csv":              {"MIGRATED TCP REQUEST/RESPONSE" + from + "Throughput,Throughput Units,99th Percentile Latency Microseconds\n48847.55,Trans/s,42\n", []Run{with(rr, latency)}, nil},
		"csv of a stream":  {"MIGRATED UDP STREAM" + from + "Throughput,Throughput Units\n941.50,10^6bits/s\n", []Run{stream}, nil},
		"keys":             {"MIGRATED TCP REQUEST/RESPONSE" + from + "THROUGHPUT=48847.55\nTHROUGHPUT_UNITS=Trans/s\nP99_LATENCY=42\n", []Run{with(rr, latency)}, nil},
		"keys, indented":   {"    MIGRATED TCP REQUEST/RESPONSE" + from + "    THROUGHPUT=48847.55\n    P99_LATENCY=42\n", []Run{with(rr, latency)}, nil},
		"human":            {"MIGRATED TCP REQUEST/RESPONSE" + from + "Throughput Throughput\n           Units\n\n\n48847.55   Trans/s\n", []Run{rr}, nil},
		"then a classic":   {"MIGRATED TCP REQUEST/RESPONSE" + from + "THROUGHPUT=48847.55\nrather than:\nMIGRATED TCP REQUEST/RESPONSE" + from + row, []Run{rr, classic}, nil},
		"no rate":          {"MIGRATED TCP REQUEST/RESPONSE" + from + "P99_LATENCY=42\n", nil, []string{"cut-input"}},
		"wrapped heads":    {"MIGRATED TCP REQUEST/RESPONSE" + from + "Local /Remote Socket Size Request Resp. Elapsed Trans. Send Recv Size Size Time\nRate\nbytes Bytes bytes bytes secs. per sec 16384 87380 1 1 10.00 9000.50\n", []Run{classic}, nil},
		"one column":       {"MIGRATED TCP REQUEST/RESPONSE" + from + "Throughput\n48847.55\n", []Run{rr}, nil},
		"heads of classic": {"MIGRATED TCP REQUEST/RESPONSE" + from + row, []Run{classic}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			runs, ledger := read(t, name, c.text)
			if diff := cmp.Diff(c.want, runs, withoutPlaces); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.ledger, names(ledger), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("ledger (-want +got):\n%s", diff)
			}
		})
	}
}
