package coalesce

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/unit"
)

// counter returns a counter of the host's only interface that has it.
func counter(t *testing.T, h *Host, name string) Counter {
	t.Helper()
	for _, i := range h.Interfaces {
		for _, s := range i.Counters {
			for _, c := range s.Counters {
				if c.Name == name {
					return c
				}
			}
		}
	}
	t.Fatalf("%s: no counter %s", h.Name, name)
	return Counter{}
}

// host joins a folder of the shared data and returns one of its hosts.
func host(t *testing.T, group string, peer bool, dir ...string) *Host {
	t.Helper()
	outputs, ledger := readDir(t, shared.Path(t, dir...))
	for _, e := range ledger {
		t.Errorf("%v: unexpected ledger entry %+v", dir, e)
	}
	for _, h := range Join(outputs, Options{}) {
		if h.Group == group && h.Peer == peer {
			return h
		}
	}
	t.Fatalf("%v: no host with group %q, peer %v", dir, group, peer)
	return nil
}

// The truths of the captured scenarios, as their MANIFEST gives them.
func TestScenarioDeltas(t *testing.T) {
	for _, c := range []struct {
		dir     string
		peer    bool
		counter string
		want    uint64
	}{
		{"e-napi-1flow", false, "rx_queue_1_xdp_packets", 3156532},
		{"e-napi-1flow", false, "rx_queue_3_xdp_packets", 14},
		{"e-napi-1flow", false, "rx_queue_0_xdp_packets", 0},
		{"f-napi-16flow", false, "rx_queue_0_xdp_packets", 810131},
		{"f-napi-16flow", false, "rx_queue_1_xdp_packets", 392188},
		{"f-napi-16flow", false, "rx_queue_2_xdp_packets", 780422},
		{"f-napi-16flow", false, "rx_queue_3_xdp_packets", 1191516},
		{"g-napi-udp2flow", false, "rx_queue_0_xdp_packets", 1138351},
		{"g-napi-udp2flow", false, "rx_queue_2_xdp_packets", 1138351},
		{"g-napi-udp2flow", false, "rx_queue_3_xdp_packets", 13},
	} {
		h := host(t, "", c.peer, "data", "counters", c.dir)
		if got := counter(t, h, c.counter).Delta; got != c.want {
			t.Errorf("%s: %s changed by %d, want %d", c.dir, c.counter, got, c.want)
		}
	}
}

func TestHostRoundTrip(t *testing.T) {
	h := host(t, "", false, "data", "counters", "h-series")
	h.Exchange = &Exchange{Rate: 3406.62, RequestBytes: 4345, ResponseBytes: 1, Outstanding: 1, From: "netperf TCP_RR"}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var back Host
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(*h, back); d != "" {
		t.Errorf("a host changes on its way through JSON (-before +after):\n%s", d)
	}
}

func TestScenarioTables(t *testing.T) {
	row := func(h *Host, tool, key string) CPURow {
		for _, s := range h.Tables {
			for _, r := range s.Rows {
				if s.Tool == tool && r.Key == key {
					return r
				}
			}
		}
		return CPURow{}
	}
	cpu := func(r CPURow, cpu int) uint64 {
		for _, c := range r.CPUs {
			if c.CPU == cpu {
				return c.Delta
			}
		}
		return 0
	}
	idle := host(t, "veth", false, "data", "counters", "a-idle")
	if p := row(idle, "proc-softnet_stat", "processed"); cpu(p, 0) != 241665 || cpu(p, 1) != 325189 {
		t.Errorf("a-idle: processed %+v, want 241,665 and 325,189", p.CPUs)
	}
	for dir, want := range map[string][2]uint64{"c-tcp1-nosegoff": {0, 1}, "f-napi-16flow": {2, 0}, "g-napi-udp2flow": {0, 1}} {
		if s := row(host(t, "", false, "data", "counters", dir), "proc-softnet_stat", "time_squeeze"); cpu(s, 0) != want[0] || cpu(s, 1) != want[1] {
			t.Errorf("%s: squeezes %+v, want %v", dir, s.CPUs, want)
		}
	}
	if rps := row(host(t, "", false, "data", "counters", "i-rps-backlog"), "proc-softnet_stat", "received_rps"); cpu(rps, 0) != 0 || cpu(rps, 1) != 59244 {
		t.Errorf("i-rps-backlog: received_rps %+v, want 0 and 59,244", rps.CPUs)
	}
	if p := row(host(t, "", false, "data", "counters", "e-napi-1flow"), "proc-softnet_stat", "processed"); p.Delta != 221697 {
		t.Errorf("e-napi-1flow: processed %d, want 221,697", p.Delta)
	}
}

func TestScenarioInterfaces(t *testing.T) {
	for _, c := range []struct {
		dir, group string
		peer       bool
		name       string
		rx, tx     string // counter=change
		want       [2]uint64
	}{
		{"a-idle", "veth", false, "lcv1", "rx_packets", "tx_packets", [2]uint64{0, 1}},
		{"b-tcp1", "", false, "lcv1", "rx_packets", "rx_bytes", [2]uint64{235884, 14077942053}},
		{"c-tcp1-nosegoff", "", false, "lcv1", "rx_packets", "rx_drop", [2]uint64{5183034, 0}},
		{"f-napi-16flow", "", true, "lcv0", "tx_packets", "tx_drop", [2]uint64{3174257, 5336}},
	} {
		h := host(t, c.group, c.peer, "data", "counters", c.dir)
		i := h.Interface(c.name)
		if i == nil {
			t.Errorf("%s: no interface %s", c.dir, c.name)
			continue
		}
		for k, name := range []string{c.rx, c.tx} {
			for _, s := range i.Counters {
				for _, x := range s.Counters {
					if s.Tool == "proc-net-dev" && x.Name == name && x.Delta != c.want[k] {
						t.Errorf("%s: %s of %s changed by %d, want %d", c.dir, name, c.name, x.Delta, c.want[k])
					}
				}
			}
		}
	}
}

// The receiver's packets of the burst in the series of 13 snapshots, second by second.
func TestSeries(t *testing.T) {
	h := host(t, "", false, "data", "counters", "h-series")
	for _, s := range h.Interface("lcv1").Counters {
		if s.Tool != "proc-net-dev" {
			continue
		}
		var steps []uint64
		for _, c := range s.Counters {
			if c.Name == "rx_packets" {
				for _, v := range c.Steps {
					steps = append(steps, v.N)
				}
			}
		}
		if d := cmp.Diff([]uint64{0, 0, 0, 17848, 398499, 407927, 454872, 445631, 0, 0, 0, 0}, steps); d != "" || s.TimeFrom != TimeFromName || len(s.Snapshots) != 13 {
			t.Errorf("%d snapshots, times from %s, steps differ (-want +got):\n%s", len(s.Snapshots), s.TimeFrom, d)
		}
	}
}

// The bundle of the demo: one host, one interface, its counters, settings and vectors.
func TestBundle(t *testing.T) {
	h := local(t, "bundles", "rr-4345")
	i := h.Interface("eth2")
	if i == nil || len(h.Interfaces) != 1 || i.Driver == nil || i.Driver.Bus != "0000:05:00.0" {
		t.Fatalf("interfaces %+v", h.Interfaces)
	}
	if c := counter(t, h, "rx_packets"); c.Delta != 34066*4+23 || c.Span.Seconds() != 10 {
		t.Errorf("rx_packets %+v", c.Change)
	}
	d := h.devices(h.tables("proc-interrupts")[0])
	for _, x := range d {
		if x.name == "eth2" && x.delta() != 34066*2+10 {
			t.Errorf("%d interrupts of eth2, want two for each of 34,066 transactions and 10", x.delta())
		}
	}
	if len(d) != 2 {
		t.Errorf("%d network devices, want eth0 and eth2", len(d))
	}
}

// Without times in the names: modification times if they are far enough apart, or the interval that is given.
func TestTimes(t *testing.T) {
	texts := []string{"NIC statistics:\n     rx_packets: 100\n     tx_packets: 10\n", "NIC statistics:\n     rx_packets: 400\n     tx_packets: 40\n"}
	join := func(names [2]string, apart time.Duration, o Options) *CounterSeries {
		var outputs []Output
		for k, text := range texts {
			outs, _ := readText(t, names[k], text)
			outs[0].ModTime = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(k) * apart)
			outputs = append(outputs, outs...)
		}
		return Join(outputs, o)[0].Interfaces[0].Counters[0]
	}
	for _, c := range []struct {
		names [2]string
		apart time.Duration
		o     Options
		from  string
		span  float64
	}{
		{[2]string{"eth0-before.txt", "eth0-after.txt"}, 3 * time.Second, Options{}, TimeFromMTime, 3},
		{[2]string{"eth0-before.txt", "eth0-after.txt"}, 3 * time.Millisecond, Options{}, TimeUnknown, 0},
		{[2]string{"eth0-before.txt", "eth0-after.txt"}, 3 * time.Second, Options{Interval: 10 * unit.Second}, TimeFromInterval, 10},
		{[2]string{"eth0-t0.txt", "eth0-t60.txt"}, 3 * time.Second, Options{Interval: 10 * unit.Second}, TimeFromOffset, 60},
		{[2]string{"old-eth0.txt", "new-eth0.txt"}, 5 * time.Second, Options{}, TimeFromMTime, 5},
		{[2]string{"before.ethtool-S.20240101T000000.000Z.txt", "after.ethtool-S.20240101T000000.500Z.txt"}, time.Hour, Options{}, TimeFromName, 0.5},
	} {
		s := join(c.names, c.apart, c.o)
		if len(s.Snapshots) != 2 || s.TimeFrom != c.from || s.Span().Seconds() != c.span || s.Counters[0].Delta != 300 {
			t.Errorf("%v, files %v apart: %d snapshots, times from %s, span %v, change %d; want %s, %g s, 300", c.names, c.apart, len(s.Snapshots), s.TimeFrom, s.Span(), s.Counters[0].Delta, c.from, c.span)
		}
	}
}

// Outputs of unlike devices are no series, whatever their names.
func TestUnlike(t *testing.T) {
	var outputs []Output
	for _, f := range []string{"a1.txt", "a2.txt"} {
		text := "NIC statistics:\n     rx_packets: 100\n     " + f[:2] + "_x: 10\n"
		outs, _ := readText(t, f, text)
		outputs = append(outputs, outs...)
	}
	h := Join(outputs, Options{})[0]
	if len(h.Interfaces) != 2 {
		t.Errorf("%d interfaces, want two of which nothing is known", len(h.Interfaces))
	}
}

// Sharing names changes nothing, and the second of two snapshots holds none of its own.
func TestShareNames(t *testing.T) {
	var names Names
	for _, file := range []string{"udp.nstat.txt", "proc-interrupts.arm64.txt", "virtio.ethtool-c.txt"} {
		for range 2 {
			plain, shared := read(t, file), read(t, file)
			names.Share(&shared)
			if diff := cmp.Diff(plain, shared); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
			for _, i := range shared.Interfaces {
				if cap(i.Counters) != len(i.Counters) {
					t.Errorf("%s: room for %d counters, %d there", file, cap(i.Counters), len(i.Counters))
				}
			}
		}
	}
	before := len(names.known)
	again := read(t, "udp.nstat.txt")
	if names.Share(&again); len(names.known) != before || before < 300 {
		t.Errorf("%d names, then %d", before, len(names.known))
	}
}

func TestHostDir(t *testing.T) {
	for source, want := range map[string]string{
		"a/before.ethtool-S.20240305T101500.000Z.txt": "a", "x.txt": ".", "sos-1/sos_commands/networking/ethtool_-S_eth0": "sos-1", "sos-1/proc/interrupts": "sos-1",
		"sos-1/sys/class/net/eth0/device/numa_node": "sos-1", "/proc/net/dev": ".", "proc/irq/61/smp_affinity_list": ".", "data/proc/hostA/interrupts.txt": "data/proc/hostA", "sys/hostB/nstat.txt": "sys/hostB",
	} {
		if got := hostDir(source); got != want {
			t.Errorf("%s is of %q, want %q", source, got, want)
		}
	}
}
