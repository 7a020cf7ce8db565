package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/fixtures/shared"
)

// Collected cases of counters and interrupts, through the program. What must come out is quoted.

// found runs nettrace analyze and returns its findings by rule; a rule may speak of several subjects.
func found(t *testing.T, paths ...string) map[string][]finding.Finding {
	t.Helper()
	_, out, errs := command(t, nil, append([]string{"analyze", "-o", "json"}, paths...)...)
	var r struct{ Findings []finding.Finding }
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	by := map[string][]finding.Finding{}
	for _, f := range r.Findings {
		by[f.Rule] = append(by[f.Rule], f)
	}
	return by
}

// figures runs nettrace counters and returns what it says of each host.
func figures(t *testing.T, paths ...string) []coalesce.Figures {
	t.Helper()
	code, out, errs := command(t, nil, append([]string{"counters", "-o", "json"}, paths...)...)
	var list struct{ Hosts []coalesce.Figures }
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	return list.Hosts
}

// record is a line of nettrace records about counters and settings.
type counterRecord struct {
	Interface, Name string
	CPU             *int
	Value           any
}

func counterRecords(t *testing.T, path string) (list []counterRecord, errs string) {
	t.Helper()
	_, out, errs := command(t, nil, "records", path)
	for line := range strings.Lines(out) {
		var r counterRecord
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, r)
	}
	return list, errs
}

// text is all that a finding says.
func text(f finding.Finding) string {
	parts := append([]string{f.Summary}, f.Reasons...)
	for _, a := range f.Advice {
		parts = append(parts, a.Text)
	}
	for _, e := range f.Evidence {
		parts = append(parts, e.Text)
	}
	return strings.Join(append(parts, f.Caveats...), "\n")
}

func says(t *testing.T, f finding.Finding, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text(f), p) {
			t.Errorf("%s does not say %q:\n%s", f.Rule, p, text(f))
		}
	}
}

func measured(t *testing.T, f finding.Finding, name string, want float64) {
	t.Helper()
	if got, ok := f.Measure(name); !ok || math.Abs(got-want) > 5e-4*math.Abs(want) {
		t.Errorf("%s: %s is %g (%v), want %g", f.Rule, name, got, ok, want)
	}
}

// the only finding of a rule, at or above a severity.
func single(t *testing.T, by map[string][]finding.Finding, rule string, least finding.Severity) finding.Finding {
	t.Helper()
	if len(by[rule]) != 1 || by[rule][0].Severity < least {
		t.Fatalf("%s: %+v", rule, by[rule])
	}
	return by[rule][0]
}

func TestCaseAllWorkOnOneCPU(t *testing.T) {
	dir := shared.Path(t, "cases", "18-softnet-cpu0-only")
	// "CPU 0 processed 30000000 (500000 per second), squeezed 5400 (90 per second), dropped 0. All other CPUs together 52000 processed, 1 squeezed, 0 dropped."
	var others, squeezed float64
	for _, c := range figures(t, dir)[0].CPUs {
		switch {
		case c.CPU == 0 && (*c.Processed != 500000 || c.Squeezed != 5400 || c.Dropped != 0):
			t.Errorf("CPU 0: %+v", c)
		case c.CPU > 0:
			others, squeezed = others+*c.Processed*60, squeezed+float64(c.Squeezed)
		}
	}
	if math.Round(others) != 52000 || squeezed != 1 {
		t.Errorf("the other CPUs processed %g, squeezed %g", others, squeezed)
	}
	by := found(t, dir)
	// "receive processing is concentrated on CPU 0: 99.83% of 30052000 packets. Cause shown by the interrupts: one queue"
	f := single(t, by, "softnet/one-cpu", finding.Warning)
	measured(t, f, "cpu_share", 30000000.0/30052000)
	says(t, f, "CPU 0", "one queue", "dropped +0")
	// "more queues (RSS) or, with one hardware queue, RPS/RFS"
	says(t, f, "rps_cpus", "ethtool -L")
	// "time squeeze on CPU 0, 90 per second ... Second to the first: more budget does not help when one CPU does all the work."
	squeeze := single(t, by, "softnet/squeeze", finding.Notice)
	if squeeze.Severity >= f.Severity {
		t.Errorf("the squeeze is %v, the concentration %v", squeeze.Severity, f.Severity)
	}
	says(t, squeeze, "90")
	// "Not an interrupt storm"; "Must not: advise only a larger budget or backlog; alarm on the small server"
	if len(by["irq/storm"]) > 0 || strings.Contains(text(f), "netdev_max_backlog") {
		t.Errorf("%+v", by["irq/storm"])
	}
	for rule, list := range found(t, filepath.Join(dir, "small-server.txt")) {
		for _, x := range list {
			if x.Severity > finding.Info {
				t.Errorf("the small server: %s %s", rule, x.Summary)
			}
		}
	}
	// "Must not read the columns as decimal numbers (0x3124 = 12580; 0x463c = 17980)"
	records, _ := counterRecords(t, filepath.Join(dir, "softnet-t60.txt"))
	if !slices.ContainsFunc(records, func(r counterRecord) bool {
		return r.Name == "time_squeeze" && *r.CPU == 0 && (r.Value == 17980.0 || r.Value == 12580.0)
	}) {
		t.Errorf("time_squeeze of CPU 0 is not read as hexadecimal")
	}
}

func TestCaseOneOfTwoQueues(t *testing.T) {
	dir := shared.Path(t, "cases", "19-rss-one-queue")
	by := found(t, dir)
	// "receive side scaling has no effect: 100% of packets on queue 0 of 2."
	f := single(t, by, "rss/one-queue", finding.Warning)
	says(t, f, "100 %", "queue 0 of 2", "16,648,368,449")
	// "Excluded as causes, with the evidence: channel count, indirection table, hash fields"; "a test is named"; "use RPS meanwhile"
	says(t, f, "2 channels", "indirection table holds 2", "addresses and ports", "tcpdump", "rps_cpus")
	// "Must not: call queue 1 idle for lack of flows without saying that this cannot be seen from counters"
	says(t, f, "cannot be excluded by counters")
	// "Must not: 'Enable RSS' or 'increase the number of queues'"
	for _, a := range f.Advice {
		if strings.Contains(a.Text, "ethtool -L") || strings.Contains(strings.ToLower(a.Text), "enable rss") {
			t.Errorf("advice %q", a.Text)
		}
	}
	// "30000 in 30 s, 1000 per second, 0.17% of the packets. They are the same loss seen twice, not 60000."
	loss := single(t, by, "nic/ring-overrun", finding.Warning)
	measured(t, loss, "lost_packets", 30000)
	measured(t, loss, "lost_per_second", 1000)
	measured(t, loss, "lost_share", 30000.0/18030000)
	says(t, loss, "the same packets counted in another place")
	// "rx_queue_0_csum_err 3618641 did not change in the 30 s: no present problem."
	for rule, list := range by {
		for _, x := range list {
			if strings.Contains(text(x), "csum_err") {
				t.Errorf("%s speaks of csum_err", rule)
			}
		}
	}
}

func TestCaseOverflowStorm(t *testing.T) {
	dir := shared.Path(t, "cases", "20-irq-overflow-storm")
	by := found(t, dir)
	// "eth0: 182000 per second for 4000 per second: 45.5 interrupts per packet. Ring overflows 71433 per second"
	f := single(t, by, "irq/storm", finding.Critical)
	measured(t, f, "interrupts_per_second", 182000)
	measured(t, f, "packets_per_interrupt", 1/45.5)
	// "interrupt storm on IRQ 20 (eth0), CPU 0, with receive ring overflow; the link between the two is named"
	says(t, f, "eth0", "CPU 0", "rx_ring_overflow rises by 71,433/s", "not to be masked")
	// "eth1: 30000 per second for 600000 per second: 20 packets per interrupt. No storm": it is the only finding of the rule
	for _, i := range figures(t, dir)[0].Interfaces {
		if i.Name == "eth1" && (*i.PacketsPerInterrupt != 20 || *i.InterruptsPerSecond != 30000) {
			t.Errorf("eth1: %+v", i)
		}
	}
	// "at least 214300 against 12000 delivered: 94.7% of what arrived (say that it is an estimate)"
	loss := single(t, by, "nic/ring-overrun", finding.Warning)
	measured(t, loss, "lost_packets", 214300)
	measured(t, loss, "lost_share", 214300.0/226300)
	says(t, loss, "an estimate")
	// "Must not advise a larger ring as the first remedy"
	for _, x := range []finding.Finding{f, loss} {
		if strings.Contains(x.Advice[0].Text, "ethtool -G") {
			t.Errorf("%s advises %q first", x.Rule, x.Advice[0].Text)
		}
	}
}

func TestCaseRingsNotAvailable(t *testing.T) {
	dir := shared.Path(t, "cases", "21-ethtool-ring-na")
	for file, want := range map[string]map[string]any{
		"ring-old.txt": {"rx": 512.0, "rx-max": 4096.0, "tx": 512.0, "tx-max": 4096.0, "rx-mini": 0.0, "rx-jumbo": 0.0, "rx-buf-len": nil, "tx-push": nil},
		// "not available (null, not 0)"; "tx push, rx push: off"; "Must not take the two TX push buff len lines for one"
		"ring-new.txt": {"rx": 512.0, "rx-max": 4096.0, "tx": 512.0, "tx-max": 4096.0, "rx-mini": "n/a", "rx-jumbo-max": "n/a", "rx-buf-len": "n/a", "cqe-size": "n/a", "tcp-data-split": "n/a", "tx-push": false, "rx-push": false,
			"tx-push-buf-len": "n/a", "tx-push-buf-len-max": "n/a"},
	} {
		records, _ := counterRecords(t, filepath.Join(dir, file))
		got := map[string]any{}
		for _, r := range records {
			if r.Interface != "ens3" {
				t.Errorf("%s: interface %q", file, r.Interface)
			}
			got[r.Name] = r.Value
		}
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %s is %v, want %v", file, name, got[name], value)
			}
		}
	}
	// "no values, and the message 'not supported by wlan0' instead of a parse error"
	if records, errs := counterRecords(t, filepath.Join(dir, "ring-unsupported.txt")); len(records) > 0 || errs != "" {
		t.Errorf("%d records, %q", len(records), errs)
	}
	if _, out, _ := command(t, nil, "inspect", filepath.Join(dir, "ring-unsupported.txt")); !strings.Contains(out, "not supported") {
		t.Errorf("inspect: %s", out)
	}
}

func TestCaseSoftnetColumns(t *testing.T) {
	dir := shared.Path(t, "cases", "22-softnet-columns-offline")
	for file, cpus := range map[string][4]int{"kernel-2.6.32.txt": {0, 1, 2, 3}, "kernel-3.13.txt": {0, 1, 2, 3}, "kernel-5.10.txt": {0, 1, 4, 16}, "kernel-6.4.txt": {0, 1, 4, 16}} {
		records, _ := counterRecords(t, filepath.Join(dir, file))
		get := func(name string, cpu int) any {
			for _, r := range records {
				if r.Name == name && *r.CPU == cpu {
					return r.Value
				}
			}
			return nil
		}
		// "processed 4096, 8192, 12288, 16384; dropped 0, 7, 0, 0; time squeeze 2, 0, 0, 16", of "CPUs 0, 1, 4 and 16 (hexadecimal 10)"
		for k, want := range [4]float64{4096, 8192, 12288, 16384} {
			if get("processed", cpus[k]) != want {
				t.Errorf("%s: processed of CPU %d is %v, want %g", file, cpus[k], get("processed", cpus[k]), want)
			}
		}
		if get("dropped", cpus[1]) != 7.0 || get("time_squeeze", cpus[0]) != 2.0 || get("time_squeeze", cpus[3]) != 16.0 || get("processed", 10) != nil {
			t.Errorf("%s: dropped %v, squeezed %v, %v", file, get("dropped", cpus[1]), get("time_squeeze", cpus[0]), get("time_squeeze", cpus[3]))
		}
		// "A missing value is absent, not 0 (for instance backlog length of 3.13)"; "12 on the second line"; "9 and 3 on the second line"
		late := strings.HasPrefix(file, "kernel-5") || strings.HasPrefix(file, "kernel-6")
		if got := get("backlog_len", cpus[1]); late != (got == 12.0) || !late && got != nil {
			t.Errorf("%s: backlog length %v", file, got)
		}
		if got := get("input_queue_len", cpus[1]); (file == "kernel-6.4.txt") != (got == 9.0) {
			t.Errorf("%s: input queue length %v", file, got)
		}
	}
}

func TestCaseAdaptiveAndRequests(t *testing.T) {
	dir := shared.Path(t, "cases", "28-adaptive-rx-rr")
	// "adaptive RX on, adaptive TX off (two values in one line), rx-usecs 16, rx-frames 88, pkt-rate-low 400000, pkt-rate-high 450000, rx-usecs-high 128"
	records, _ := counterRecords(t, filepath.Join(dir, "coalesce-before.txt"))
	got := map[string]any{}
	for _, r := range records {
		got[r.Name] = r.Value
	}
	for name, want := range map[string]any{"adaptive-rx": true, "adaptive-tx": false, "rx-usecs": 16.0, "rx-frames": 88.0, "pkt-rate-low": 400000.0, "pkt-rate-high": 450000.0, "rx-usecs-high": 128.0} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	by := found(t, dir)
	// "difference 9512.8 +/- 49.8 at 95% (+43.26%); proven"; "Must not present 43.26% without the number of runs"
	d := single(t, by, "bench/difference", finding.Notice)
	measured(t, d, "difference", 9512.8)
	measured(t, d, "margin", 49.8)
	says(t, d, "43.26 %", "5 and 5 runs")
	// "receive moderation latency: the saving is of the size of one rx-usecs delay (16 us)"; "mean time per transaction 45.48"
	f := single(t, by, "nic/moderation-latency", finding.Notice)
	measured(t, f, "rx_usecs", 16)
	measured(t, f, "transaction_time", 45477)
	if p := f.Advice[0].Predicted; p == nil || p.Low > 31501.92 || p.High < 31501.92 {
		t.Errorf("predicted %+v does not hold the measured 31,502", p)
	}
	// "far below pkt-rate-low (400000) ...: the high value of 128 us played no part here"; "for bulk traffic moderation should stay on"
	says(t, f, "far below pkt-rate-low (400,000)", "128 us) plays no part", "for bulk traffic leave it on")
}
