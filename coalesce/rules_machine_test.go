package coalesce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/finding"
	"nettrace/fixtures/shared"
	"nettrace/source"
	"nettrace/unit"
)

// silent checks that rules find nothing above info on a host.
func silent(t *testing.T, h *Host, rules ...finding.On[*Host]) {
	t.Helper()
	for _, r := range rules {
		for _, f := range r.Run(h, nil) {
			if f.Severity > finding.Info {
				t.Errorf("%s: %s finds %s", h.Name, r.Name, f.Summary)
			}
		}
	}
}

func TestOverCoalesced(t *testing.T) {
	f := only(t, local(t, "counters", "over-coalesced"), OverCoalesced(), nil)
	if f.Severity != finding.Warning || f.Subject.Key != "eth0" {
		t.Errorf("%v, %+v", f.Severity, f.Subject)
	}
	measure(t, f, "packets_per_interrupt", 3000000.0/6670, 1e-9)
	measure(t, f, "lost_packets", 21000, 0)
	measure(t, f, "rx_usecs", 1500, 0)
	silent(t, local(t, "counters", "over-coalesced-near"), OverCoalesced())
	silent(t, local(t, "counters", "a-idle"), OverCoalesced())

	// The USB NIC of the mailing list: 15 ms, whatever the traffic.
	outputs, _ := readFile(t, shared.Path(t, "data", "public-counters", "ethtool-c.usb-net-json.netdev-list.json"))
	f = only(t, Join(outputs, Options{})[0], OverCoalesced(), nil)
	if measure(t, f, "rx_usecs", 15000, 0); f.Severity != finding.Notice || !strings.Contains(f.Summary, "15.0 ms") {
		t.Errorf("%v: %s", f.Severity, f.Summary)
	}
}

func TestTagRace(t *testing.T) {
	f := only(t, local(t, "counters", "tag-race"), TagRace(), nil)
	measure(t, f, "interrupts_per_second", 33000, 1e-9)
	measure(t, f, "allowed_per_second", 1e6/72+80000/20+1e6/150+40000/53.0, 1e-9)
	silent(t, local(t, "counters", "tag-race-near"), TagRace())

	of := func(dir string) *Host {
		name := "before.perf-script.20240305T101500.000Z.txt"
		text := fixture(t, dir, name)
		w, ledger := watch(t, name, text)
		if len(ledger) > 0 {
			t.Errorf("%s: ledger %v", dir, ledger)
		}
		w.Span = 60 * unit.Millisecond
		return &Host{Work: []*Work{w}}
	}
	f = only(t, of("tag-race-polls"), TagRace(), nil)
	if measure(t, f, "empty_poll_share", 0.5, 1e-9); f.Subject.Key != "eth0" {
		t.Errorf("%+v", f.Subject)
	}
	silent(t, of("tag-race-polls-near"), TagRace())
	h := of("tag-race-polls") // polls by a timer find nothing by design
	h.Machine.Kernel = []KernelSize{{Name: "eth0.gro_flush_timeout", Value: 20000}}
	silent(t, h, TagRace())
	silent(t, local(t, "counters", "a-idle"), TagRace())
}

// interims reads the interim results of a series of the thread.
func interims(t *testing.T, name string) (rates []float64) {
	t.Helper()
	text, err := os.ReadFile(shared.Path(t, "data", "published", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := parseFloat([]byte(strings.TrimSpace(line))); ok {
			rates = append(rates, v)
		}
	}
	return rates
}

func TestAdaptiveFlapping(t *testing.T) {
	f := only(t, local(t, "counters", "flapping"), AdaptiveFlapping(), nil)
	if f.Severity != finding.Notice {
		t.Errorf("%v", f.Severity)
	}
	measure(t, f, "flips", 11, 0)
	silent(t, local(t, "counters", "flapping-near"), AdaptiveFlapping())

	// The thread's own series: 4344 bytes flap, 4345 are slow for good after the first interval.
	for _, c := range []struct {
		file  string
		rate  float64
		fires bool
	}{{"mlx4-adaptive-rx.interim-4344.values.txt", 10030.37, true}, {"mlx4-adaptive-rx.interim-4345.values.txt", 3406.62, false}} {
		h := machineOf(t, "mlx4-adaptive-rx.ethtool-c.txt", "mlx4-adaptive-rx.ethtool-i.txt")
		h.Courses = []*Exchange{{Rate: c.rate, Outstanding: 1, RequestBytes: 4344, ResponseBytes: 1, From: "netperf TCP_RR", Interim: interims(t, c.file), Pos: testPos(1)}}
		if !c.fires {
			silent(t, h, AdaptiveFlapping())
			continue
		}
		f := only(t, h, AdaptiveFlapping(), nil)
		if f.Severity != finding.Warning || f.Effect.Share < 0.2 {
			t.Errorf("%v, %g: %s", f.Severity, f.Effect.Share, f.Summary)
		}
		h.Interface("eth2").Dumps[0].Settings[0].Value = Switch(false) // adaptive-rx off
		silent(t, h, AdaptiveFlapping())
	}
}

func TestPCIeLimit(t *testing.T) {
	f := only(t, local(t, "counters", "pcie-limit"), PCIeLimit(), nil)
	if f.Severity != finding.Warning || f.Subject.Key != "eth2" {
		t.Errorf("%v, %+v", f.Severity, f.Subject)
	}
	bound := 8e9 / 8 * 2 * 128 / 130 * 256 / 280
	measure(t, f, "bound_bytes_per_second", bound, 1e-9)
	if !strings.Contains(f.Advice[0].Text, "8 GT/s x8") || !strings.Contains(f.Summary, "rx_discards_phy") {
		t.Errorf("%s / %s", f.Advice[0].Text, f.Summary)
	}
	silent(t, local(t, "counters", "pcie-limit-near"), PCIeLimit())
	// The thread's slot: 2.5 GT/s x8 carries 13.5 Gb/s, which the 10.5 measured over it respect.
	d := PCIDevice{Speed: 2.5, Width: 8, Payload: 128}
	if b := 8 * d.bound(24) / 1e9; b < 13.4 || b > 13.6 {
		t.Errorf("the thread's slot carries %.2f Gb/s", b)
	}
}

func TestCState(t *testing.T) {
	h := local(t, "counters", "c-state")
	f := only(t, h, CState(), nil)
	if f.Severity != finding.Info {
		t.Errorf("without a transaction: %v", f.Severity)
	}
	measure(t, f, "residency", 0.6, 1e-9)
	measure(t, f, "exit_latency", 133, 0)
	h.Exchange = &Exchange{Rate: 4000, Outstanding: 1, From: "netperf TCP_RR", Pos: source.Pos{Source: "netperf.txt", Line: 1}}
	if f = only(t, h, CState(), nil); f.Severity != finding.Warning || f.Advice[0].Predicted == nil {
		t.Errorf("133 of 250 us: %v", f.Severity)
	}
	h.Exchange.Rate = 100 // 10 ms each
	silent(t, h, CState())
	silent(t, local(t, "counters", "c-state-near"), CState())

	h = machineOf(t, "turbostat.txt")
	silent(t, h, CState())
	h.Exchange = &Exchange{Rate: 5000, Outstanding: 1, From: "netperf TCP_RR", Pos: source.Pos{Source: "netperf.txt", Line: 1}}
	if f = only(t, h, CState(), nil); f.Confidence != finding.Low {
		t.Errorf("with the usual latency the confidence is %v", f.Confidence)
	}
	measure(t, f, "residency", 0.8509, 1e-9)
}

func TestNUMA(t *testing.T) {
	f := only(t, local(t, "counters", "numa"), NUMA(), nil)
	measure(t, f, "far_share", 200000.0/260000, 1e-9)
	if !strings.Contains(f.Advice[0].Text, "echo 2-3 > /proc/irq/45/smp_affinity_list") {
		t.Errorf("%s", f.Advice[0].Text)
	}
	silent(t, local(t, "counters", "numa-near"), NUMA())
}

// An idle host gives nothing above info, whatever is recorded of it.
func TestIdleHost(t *testing.T) {
	outputs, _ := readDir(t, shared.Path(t, "data", "counters", "a-idle"))
	hosts := Join(outputs, Options{})
	if len(hosts) < 2 {
		t.Fatalf("%d hosts", len(hosts))
	}
	for _, h := range hosts {
		silent(t, h, rules()...)
	}
	silent(t, machineOf(t, "turbostat.txt", "lspci-vv.txt", "kernel-files.txt", "ss.txt", "mpstat-P-ALL.txt"), rules()...)
}

// Each firing fixture fires only what it is for, and rules whose cause is the same.
func TestFixturesOfMachineRules(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join("..", "fixtures", "counters", "*-near"))
	if err != nil || len(dirs) < 7 {
		t.Fatalf("%d near misses (%v)", len(dirs), err)
	}
	for _, d := range dirs {
		if strings.Contains(d, "polls") {
			continue
		}
		silent(t, local(t, "counters", filepath.Base(d)), OverCoalesced(), TagRace(), AdaptiveFlapping(), PCIeLimit(), CState(), NUMA())
	}
}
