package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/bench"
	"nettrace/fixtures/shared"
)

// benchRuns returns the runs that nettrace records prints of a collected case.
func benchRuns(t *testing.T, path string) []bench.Run {
	t.Helper()
	code, stdout, stderr := command(t, nil, "records", path)
	if code != 0 {
		t.Fatalf("records %s: exit %d, %s", path, code, stderr)
	}
	var runs []bench.Run
	d := json.NewDecoder(strings.NewReader(stdout))
	for d.More() {
		var r bench.Run
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Rate != 0 || r.Seconds != 0 || r.Partial { // uperf's figures of interfaces are records of their own
			runs = append(runs, r)
		}
	}
	return runs
}

func caseFile(t *testing.T, parts ...string) string {
	return filepath.Join(append([]string{shared.Path(t, "cases")}, parts...)...)
}

// holds fails unless all of what a case's "Must" lines ask for is in a text.
func holds(t *testing.T, text string, must ...string) {
	t.Helper()
	for _, m := range must {
		if !strings.Contains(text, m) {
			t.Errorf("must: %q is not in\n%s", m, text)
		}
	}
}

// TestCaseDuplicateKeys: "bidir-duplicate-keys.json: both directions"; must not: "4100 Mbit/s (or 4102) as the result of
// the bidirectional run without the other direction".
func TestCaseDuplicateKeys(t *testing.T) {
	path := caseFile(t, "24-iperf3-json-defects", "bidir-duplicate-keys.json")
	runs := benchRuns(t, path)
	if len(runs) != 2 {
		t.Fatalf("%d directions", len(runs))
	}
	for i, want := range []string{
		"direction  sent 9400 (2350000000 bytes) received 9390 (2347500000 bytes) retransmits 120 intervals 9440 9360",
		"direction reverse sent 4102 (1025500000 bytes) received 4100 (1025000000 bytes) retransmits 7 intervals 4096 4104",
	} {
		r := &runs[i]
		detail := func(name string) string { v, _ := r.Detail(name); return fmt.Sprintf("%.0f", v) }
		got := fmt.Sprintf("direction %s sent %s (%s bytes) received %g (%s bytes) retransmits %s intervals %g %g", r.Direction, detail("sent_megabits_per_second"), detail("sent_bytes"),
			r.Rate, detail("received_bytes"), detail("retransmits"), r.Interim[0].Rate, r.Interim[1].Rate)
		if got != want || r.Unit != "10^6 bits/s" {
			t.Errorf("%s, want %s", got, want)
		}
	}
	_, summary, _ := command(t, nil, "compare", path)
	holds(t, summary, "9390", "reverse", "4100")
}

// TestCaseNotANumber: "read in spite of -nan: interval 2 has loss 'not defined' (0 of 0 packets), and its jitter of
// 611273 s is marked as implausible and left out of any mean or maximum. Total: 98 packets, 1 lost (1.02%), 65.33 kbit/s";
// must not: "A mean jitter of 203757 s".
func TestCaseNotANumber(t *testing.T) {
	path := caseFile(t, "24-iperf3-json-defects", "udp-nan.json")
	runs := benchRuns(t, path)
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	r := &runs[0]
	lost, _ := r.Detail("lost_packets")
	if r.Receipt.SentMessages != 98 || lost != 1 || fmt.Sprintf("%.2f kbit/s", r.Rate*1e3) != "65.33 kbit/s" {
		t.Errorf("total: %+v, lost %g, rate %g", r.Receipt, lost, r.Rate)
	}
	for _, i := range r.Interim {
		if i.Jitter.Seconds() > 1 {
			t.Errorf("a jitter of %s is kept", i.Jitter)
		}
	}
	if jitter, _ := r.Detail("jitter_ms"); jitter != 0.02 {
		t.Errorf("jitter %g ms", jitter)
	}
	_, text, _ := command(t, nil, "analyze", "-v", path)
	holds(t, text, "interval 2 has 0 of 0 packets: its loss is not defined", "a jitter of 611,273 s in interval 2", "not plausible")
	if strings.Contains(text, "203757") || strings.Contains(text, "203,757") || strings.Contains(text, "invalid character") {
		t.Errorf("must not: %s", text)
	}
}

// TestCaseNeverStarted: "the run is reported as failed, with the text 'unable to connect to server: No route to host'; no
// throughput of 0".
func TestCaseNeverStarted(t *testing.T) {
	path := caseFile(t, "24-iperf3-json-defects", "error-only.json")
	if runs := benchRuns(t, path); len(runs) != 0 {
		t.Errorf("a throughput: %+v", runs)
	}
	_, stdout, stderr := command(t, nil, "analyze", path)
	holds(t, stdout+stderr, "the run failed", "unable to connect to server: No route to host")
}

// TestCaseOperations: "Txn2: 318.81 MB (binary), 10.00 s, 267.43 Mbit/s (decimal), 32646 operations/s (326457 operations)";
// "if the profile is not known, only operations are reported, and the label says operations, not transactions"; "the result
// of the measurement is Txn2, not Total"; "Master and slave rows agree: no warning"; "One run gives no confidence interval:
// it is absent, not 0.0 - 0.0". Must not: "267.43 op/s; a rising throughput; 25986 against 32646 compared as equal units".
func TestCaseOperations(t *testing.T) {
	path := caseFile(t, "25-uperf-ops-not-mbps", "tcp_rr.txt")
	runs := benchRuns(t, path)
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	r := &runs[0]
	ops, _ := r.Detail("operations_per_second")
	all, _ := r.Detail("host_192.0.2.40_operations")
	moved, _ := r.Detail("bytes")
	const printed = 1 << 20 / 100 / 2 // half of the last digit of 318.81 MB
	if r.Test != "tcp_rr Txn2" || r.Rate != 267.43 || r.Unit != "10^6 bits/s" || r.Seconds != 10 || ops != 32646 || all != 326457 || moved < 334291968-printed || moved > 334291968+printed {
		t.Errorf("%s %g %s over %g s, %g operations/s, %g operations, %g bytes", r.Test, r.Rate, r.Unit, r.Seconds, ops, all, moved)
	}
	_, analysed, errs := command(t, nil, "analyze", "-v", path)
	if strings.Contains(analysed+errs, "uperf-hosts-differ") || strings.Contains(analysed+errs, "WARNING") {
		t.Errorf("a warning: %s%s", analysed, errs)
	}
	_, summary, _ := command(t, nil, "compare", path)
	holds(t, summary, "operations/s", "32646", "267.4")
	if strings.Contains(summary, "transactions") || strings.Contains(summary, "median between") {
		t.Errorf("must not:\n%s", summary)
	}
}

// TestCaseOperationsRaw: "values are cumulative. Per second: 32646, 32645, 32646 and so on, 33429504, 33428480 ... bytes;
// rates from differences; the first line covers the first second".
func TestCaseOperationsRaw(t *testing.T) {
	runs := benchRuns(t, caseFile(t, "25-uperf-ops-not-mbps", "tcp_rr.raw"))
	if len(runs) != 1 || len(runs[0].Interim) != 10 {
		t.Fatalf("%d runs", len(runs))
	}
	var got []string
	for _, i := range runs[0].Interim[:3] {
		got = append(got, fmt.Sprint(i.Operations, " ", i.Bytes, " ", i.Length))
	}
	if want := "32646 33429504 1.00 s, 32645 33428480 1.00 s, 32646 33429504 1.00 s"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if moved, _ := runs[0].Detail("bytes"); moved != 334291968 || fmt.Sprintf("%.0f", runs[0].Rate*1e6) != "267433574" {
		t.Errorf("%g bytes, %g", moved, runs[0].Rate)
	}
}

// TestCaseOperationsAgainstTransactions: must not: "25986 against 32646 compared as equal units with netperf's transactions".
func TestCaseOperationsAgainstTransactions(t *testing.T) {
	uperf := caseFile(t, "25-uperf-ops-not-mbps", "tcp_rr.txt")
	netperf := filepath.Join(root, "fixtures", "bench", "netperf-rr-4344-4345.txt")
	code, stdout, stderr := command(t, nil, "compare", "--label", "uperf", "--label", "netperf", uperf, netperf)
	if strings.Contains(stdout, "Difference at") || strings.Contains(stdout, "change") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}
