package coalesce

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/finding"
	"nettrace/fixtures/shared"
	"nettrace/source"
)

// local joins a folder of fixtures/counters, or of the bundles.
func local(t *testing.T, dir ...string) *Host {
	t.Helper()
	outputs, ledger := readDir(t, filepath.Join(append([]string{"..", "fixtures"}, dir...)...))
	for _, e := range ledger {
		if e.Source == "" || strings.Contains(e.Source, "ethtool") || strings.Contains(e.Source, "proc-") {
			t.Errorf("%v: unexpected ledger entry %+v", dir, e)
		}
	}
	hosts := Join(outputs, Options{})
	if len(hosts) != 1 {
		t.Fatalf("%v: %d hosts, want 1", dir, len(hosts))
	}
	return hosts[0]
}

func rules() []finding.On[*Host] {
	return []finding.On[*Host]{Storm(), Imbalance(), FewPackets(), AdaptiveUnbalanced(), ModerationLatency(), SocketBuffer(), Squeeze(), BacklogDrop(), OneCPU(), RSSImbalance(), OneQueue(),
		RingOverrun(), RingSmall(), NoBuffer(), Missed(), Pause(), LinkErrors(), OffloadOff(),
		OverCoalesced(), TagRace(), AdaptiveFlapping(), PCIeLimit(), CState(), NUMA()}
}

// the finding of a rule, which must be the only one.
func only(t *testing.T, h *Host, r finding.On[*Host], set map[string]float64) finding.Finding {
	t.Helper()
	found := finding.Rank(r.Run(h, set))
	if len(found) != 1 {
		t.Fatalf("%s: %s gives %d findings, want 1: %+v", h.Name, r.Name, len(found), found)
	}
	f := found[0]
	if f.Summary == "" || len(f.Evidence) == 0 || len(f.Measures) == 0 || len(f.Reasons) == 0 {
		t.Errorf("%s: %s: a finding without summary, evidence, measures or reasons: %+v", h.Name, r.Name, f)
	}
	for _, e := range f.Evidence {
		if e.Source == "" || e.Line == 0 {
			t.Errorf("%s: %s: evidence without a place: %+v", h.Name, r.Name, e)
		}
	}
	return f
}

func measure(t *testing.T, f finding.Finding, name string, want, tolerance float64) {
	t.Helper()
	got, ok := f.Measure(name)
	if !ok || math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s: %s is %g, want %g", f.Rule, name, got, want)
	}
}

func TestStorm(t *testing.T) {
	f := only(t, local(t, "counters", "storm"), Storm(), nil)
	if f.Severity != finding.Critical || f.Subject.Key != "eth0" {
		t.Errorf("severity %v, subject %+v; want critical, eth0", f.Severity, f.Subject)
	}
	measure(t, f, "interrupts_per_second", 80000, 1e-9)
	measure(t, f, "packets_per_interrupt", 0.375, 1e-9)
	if !strings.Contains(f.Summary, "rx_no_dma_resources rises by 20,500/s") {
		t.Errorf("the ring overflow is not named: %s", f.Summary)
	}
	if !strings.Contains(f.Advice[1].Text, "ethtool -C eth0 rx-usecs 20") {
		t.Errorf("no command that moderates: %+v", f.Advice)
	}
	f = only(t, local(t, "counters", "storm-other"), Storm(), nil)
	measure(t, f, "interrupts_per_second", 120000, 1e-9)
	if !strings.Contains(f.Subject.Name, "i801_smbus") || f.Severity != finding.Warning {
		t.Errorf("subject %+v, severity %v", f.Subject, f.Severity)
	}
	f = only(t, local(t, "counters", "storm-busy"), Storm(), map[string]float64{"irq/storm.any-rate": 29000})
	if f.Severity != finding.Notice {
		t.Errorf("a busy device above any-rate is a %v, want notice", f.Severity)
	}
	if found := Storm().Run(local(t, "counters", "storm-busy"), nil); len(found) > 0 {
		t.Errorf("a busy NIC and a busy disk are found: %+v", found)
	}
}

// The case of the switch whose overflow interrupt was not masked, beside a busy and healthy NIC.
func TestStormOfOverflow(t *testing.T) {
	outputs, _ := readDir(t, shared.Path(t, "cases", "20-irq-overflow-storm"))
	h := Join(outputs, Options{})[0]
	f := only(t, h, Storm(), nil)
	if f.Subject.Key != "eth0" || f.Severity != finding.Critical {
		t.Errorf("subject %+v, severity %v", f.Subject, f.Severity)
	}
	measure(t, f, "interrupts_per_second", 182000, 1e-9)
	measure(t, f, "packets_per_interrupt", 1/45.5, 1e-9)
	for _, part := range []string{"45.5 interrupts per packet", "rx_ring_overflow rises by 71,433/s", "CPU 0"} {
		if !strings.Contains(f.Summary, part) {
			t.Errorf("%q is not in %q", part, f.Summary)
		}
	}
	if strings.Contains(f.Advice[0].Text, "ethtool -G") || !strings.Contains(f.Advice[0].Text, "masked") {
		t.Errorf("first advice: %s", f.Advice[0].Text)
	}
}

// 500,000 packets/s on one queue are concentration, not a storm: 50 packets per interrupt are not known to the rule, but
// 10,000 interrupts/s are no storm whatever they bring.
func TestOneQueueIsNoStorm(t *testing.T) {
	outputs, _ := readDir(t, shared.Path(t, "cases", "18-softnet-cpu0-only"))
	for _, h := range Join(outputs, Options{}) {
		for _, r := range []finding.On[*Host]{Storm(), Imbalance()} {
			for _, f := range r.Run(h, nil) {
				if f.Severity > finding.Info {
					t.Errorf("%s: %+v", r.Name, f)
				}
			}
		}
	}
}

func TestImbalance(t *testing.T) {
	f := only(t, local(t, "counters", "imbalance"), Imbalance(), nil)
	if f.Severity != finding.Warning || f.Subject.Key != "eth0" {
		t.Errorf("severity %v, subject %+v; want warning, eth0", f.Severity, f.Subject)
	}
	measure(t, f, "cpu_share", 1, 1e-9)
	measure(t, f, "active_vectors", 4, 1e-9)
	if !strings.Contains(f.Advice[0].Text, "echo 1 > /proc/irq/61/smp_affinity_list") {
		t.Errorf("no command that spreads the interrupts: %s", f.Advice[0].Text)
	}
	f = only(t, local(t, "counters", "imbalance-one-flow"), Imbalance(), nil)
	if f.Severity != finding.Info || !strings.Contains(f.Summary, "too few flows to judge") {
		t.Errorf("one flow: %v, %s", f.Severity, f.Summary)
	}
	if found := Imbalance().Run(local(t, "counters", "imbalance-spread"), nil); len(found) > 0 {
		t.Errorf("75 %% on one CPU are found: %+v", found)
	}
}

func TestAdaptiveUnbalanced(t *testing.T) {
	h := local(t, "bundles", "rr-4345")
	f := only(t, h, AdaptiveUnbalanced(), nil)
	if f.Severity != finding.Notice || f.Subject.Key != "eth2" || f.Confidence != finding.Medium {
		t.Errorf("without an exchange: %v, %v, subject %+v; want notice, medium, eth2", f.Severity, f.Confidence, f.Subject)
	}
	measure(t, f, "packet_ratio", 2, 0.001)
	measure(t, f, "rx_packets_per_second", 4*3406.6, 0.001)
	measure(t, f, "rx_usecs_set", 128, 0)

	h.Exchange = &Exchange{Rate: 3406.62, RequestBytes: 4345, ResponseBytes: 1, Outstanding: 1, From: "netperf TCP_RR", Pos: source.Pos{Source: "netperf-rr.txt", Line: 9}}
	f = only(t, h, AdaptiveUnbalanced(), nil)
	if f.Severity != finding.Warning {
		t.Errorf("with the exchange it is a %v, want warning", f.Severity)
	}
	if want := "ethtool -C eth2 adaptive-rx off rx-usecs 16"; f.Advice[0].Text != want {
		t.Errorf("advice %q, want %q", f.Advice[0].Text, want)
	}
	const published = 10460.02 // the thread: adaptive-rx off, rx-usecs 16
	if p := f.Advice[0].Predicted; p == nil || p.Low > published || p.High < published {
		t.Errorf("predicted %+v does not hold the published %g", p, published)
	}
	// The rule of 2.6.38 exempts only the sender: the receiver of requests is taken for bulk all the same.
	only(t, h, AdaptiveUnbalanced(), map[string]float64{"nic/adaptive-unbalanced.variant": 2})

	f = only(t, local(t, "counters", "balanced-3-2"), AdaptiveUnbalanced(), nil)
	if f.Severity != finding.Info || !strings.Contains(f.Summary, "edge") {
		t.Errorf("exactly 3:2 is %v: %s", f.Severity, f.Summary)
	}
	if found := AdaptiveUnbalanced().Run(local(t, "counters", "bulk"), nil); len(found) > 0 {
		t.Errorf("bulk traffic is found: %+v", found)
	}
}

// The thread's other settings, judged by the older rule: what moderation costs, against the published rate without it.
func TestModerationLatency(t *testing.T) {
	for _, c := range []struct {
		name            string
		rate, published float64
		adaptive        bool
		usecs, low      uint64
		fires           bool
	}{
		{"4344 bytes, fixed 16 us", 11167.48, 14274.03, false, 16, 0, false}, // 16 of 89.5 us: below the share
		{"case 28: one byte, adaptive, 16 us", 21989.12, 31501.92, true, 16, 0, true},
		{"fixed 64 us", 5790.48, 13697.11, false, 64, 0, true},
		{"no moderation", 31501.92, 0, false, 0, 0, false},
	} {
		i := newInterface("eth2", NameFromOutput)
		settings := []Setting{{Name: "adaptive-rx", Value: Switch(c.adaptive)}, {Name: "rx-usecs", Value: Num(c.usecs)}, {Name: "rx-frames", Value: Num(88)},
			{Name: "rx-usecs-high", Value: Num(128)}, {Name: "pkt-rate-low", Value: Num(400000)}, {Name: "pkt-rate-high", Value: Num(450000)}}
		for k := range settings {
			settings[k].Queue, settings[k].Pos = -1, source.Pos{Source: "ethtool-c.txt", Line: k + 2}
		}
		i.Dumps = []Dump{{Tool: "ethtool-c", Settings: settings}}
		size := int64(4345)
		if strings.HasPrefix(c.name, "case 28") {
			size = 1
		}
		h := &Host{Name: c.name, Interfaces: []*Interface{i}, Exchange: &Exchange{Rate: c.rate, RequestBytes: size, ResponseBytes: 1, Outstanding: 1, From: "netperf TCP_RR", Pos: source.Pos{Source: "rr.txt", Line: 1}}}
		if !c.fires {
			if found := ModerationLatency().Run(h, nil); len(found) > 0 {
				t.Errorf("%s: found %+v", c.name, found)
			}
			continue
		}
		f := only(t, h, ModerationLatency(), nil)
		p := f.Advice[0].Predicted
		if p.Low > c.published || p.High < c.published {
			t.Errorf("%s: predicted %+v does not hold the published %g", c.name, *p, c.published)
		}
		h.Exchange.Outstanding = 8
		if found := ModerationLatency().Run(h, nil); len(found) > 0 {
			t.Errorf("%s: with 8 outstanding: %+v", c.name, found)
		}
		h.Exchange.Outstanding = 1
		i.Driver = &Driver{Name: "ixgbe"}
		if found := ModerationLatency().Run(h, nil); len(found) > 0 {
			t.Errorf("%s: a gap is taken for a delay: %+v", c.name, found)
		}
	}
}

// Case 28 with its files: what was in force, and that the high value played no part.
func TestAdaptiveRR(t *testing.T) {
	outputs, _ := readDir(t, shared.Path(t, "cases", "28-adaptive-rx-rr"))
	h := Join(outputs, Options{})[0]
	h.Exchange = &Exchange{Rate: 21989.12, RequestBytes: 1, ResponseBytes: 1, Outstanding: 1, From: "netperf TCP_RR", Pos: source.Pos{Source: "tcp_rr-before.txt", Line: 1}}
	f := only(t, h, ModerationLatency(), nil)
	measure(t, f, "rx_usecs", 16, 0)
	measure(t, f, "transaction_time", 45477, 0.001)
	if !strings.Contains(strings.Join(f.Caveats, "\n"), "rx-usecs-high (128 us) plays no part") || !strings.Contains(f.Caveats[0], "bulk") {
		t.Errorf("caveats %q", f.Caveats)
	}
	var changed []string
	i := h.Interface("eth2")
	for k, s := range i.Dumps[0].Settings {
		if i.Dumps[1].Settings[k].Value != s.Value {
			changed = append(changed, s.Name)
		}
	}
	if got := strings.Join(changed, " "); got != "adaptive-rx rx-usecs rx-frames" {
		t.Errorf("settings changed: %s", got)
	}
}

// A clean input yields nothing above info.
func TestClean(t *testing.T) {
	hosts := []*Host{local(t, "counters", "a-idle"), local(t, "counters", "e-napi-1flow"), local(t, "counters", "imbalance-spread")}
	for _, h := range hosts {
		for _, r := range rules() {
			for _, f := range r.Run(h, nil) {
				if f.Severity > finding.Info {
					t.Errorf("%s: %s: %s", h.Name, r.Name, f.Summary)
				}
			}
		}
	}
	// The recorded scenarios give what their truths say, and nothing else.
	for dir, want := range map[string]string{
		"a-idle": "", "b-tcp1": "", "c-tcp1-nosegoff": "", "e-napi-1flow": "", "h-series": "",
		"d-udp-flood": "socket/receive-buffer UDP", "g-napi-udp2flow": "socket/receive-buffer UDP", "i-rps-backlog": "socket/receive-buffer UDP",
		"f-napi-16flow": "nic/ring-overrun peer/lcv0",
	} {
		outputs, _ := readDir(t, shared.Path(t, "data", "counters", dir))
		var got []string
		for _, h := range Join(outputs, Options{}) {
			for _, r := range rules() {
				for _, f := range r.Run(h, nil) {
					if f.Severity > finding.Info {
						got = append(got, f.Rule+" "+f.Subject.Key)
					}
				}
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: found %q, want %q", dir, got, want)
		}
	}
}

// Rules say what they do.
func TestRuleDocs(t *testing.T) {
	for _, r := range rules() {
		if r.Title == "" || r.Method == "" || r.FalsePositives == "" || len(r.References) == 0 || len(r.Params) == 0 {
			t.Errorf("%s is not documented", r.Name)
		}
		for _, p := range r.Params {
			if p.Doc == "" {
				t.Errorf("%s: %s has no doc", r.Name, p.Name)
			}
		}
	}
}
