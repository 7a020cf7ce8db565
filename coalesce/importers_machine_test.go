package coalesce

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"nettrace/fixtures/shared"
	"nettrace/kernel"
	"nettrace/source"
	"nettrace/unit"
)

func testPos(line int) source.Pos { return source.Pos{Source: "test", Line: line} }

func readFile(t *testing.T, path string) ([]Output, *source.Ledger) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return readText(t, filepath.Base(path), string(text))
}

// A host from several fixtures of settings.
func machineOf(t *testing.T, files ...string) *Host {
	t.Helper()
	var outputs []Output
	for _, f := range files {
		o, ledger := readText(t, f, fixture(t, "settings", f))
		if len(ledger.Entries()) > 0 {
			t.Errorf("%s: ledger %v", f, ledger.Entries())
		}
		outputs = append(outputs, o...)
	}
	return Join(outputs, Options{})[0]
}

func TestKernelFiles(t *testing.T) {
	m := machineOf(t, "kernel-files.txt", "tail.kernel-files.txt", "sysctl.txt").Machine
	one := []int{0, 1, 2, 3, 4, 5, 6, 7}
	irq := map[string][]int{}
	for _, a := range m.Affinities {
		if a.Pos.Line == 0 {
			t.Errorf("no place: %+v", a)
		}
		if !a.Effective {
			irq[a.IRQ] = a.CPUs
		}
	}
	if len(m.Affinities) != 3 || !slices.Equal(irq["61"], one) || !slices.Equal(irq["62"], []int{4}) { // the last of several counts
		t.Errorf("affinities %+v", m.Affinities)
	}
	if s := m.Steering; len(s) != 3 || s[0].Interface != "eth2" || s[0].Direction != kernel.RX || !slices.Equal(s[0].CPUs, []int{4, 5, 6, 7}) || len(s[1].CPUs) != 0 || s[2].Direction != kernel.TX {
		t.Errorf("steering %+v", m.Steering)
	}
	if m.NodeOf(9) != 0 || m.NodeOf(12) != 1 || m.NodeOf(99) != -1 || len(m.Places) != 1 || m.Places[0].Node != 1 {
		t.Errorf("nodes %+v, places %+v", m.Nodes, m.Places)
	}
	if len(m.IdleStates) != 2 || m.IdleStates[1].Name != "C6" || m.IdleStates[1].Latency != 133 || m.IdleStates[1].Time != 123456789 || m.IdleStates[1].Usage != 98765 {
		t.Errorf("idle states %+v", m.IdleStates)
	}
	sizes := map[string]uint64{}
	for _, k := range m.Kernel {
		sizes[k.Name] = k.Value
	}
	if sizes["net.core.netdev_budget"] != 300 || sizes["net.ipv4.tcp_rmem"] != 6291456 || sizes["eth2.gro_flush_timeout"] != 20000 || len(sizes) != 5 {
		t.Errorf("sizes %v", sizes)
	}
}

// The same values as files of their own, as a sosreport has them.
func TestKernelFilesByPath(t *testing.T) {
	var outputs []Output
	for path, value := range map[string]string{
		"sos/proc/irq/61/smp_affinity_list": "0-3\n", "sos/sys/class/net/eth2/device/numa_node": "-1\n", "sos/sys/devices/system/node/node1/cpulist": "4-7\n",
		"sos/sys/devices/system/cpu/cpu0/cpuidle/state1/time": "5000\n", "sos/sys/devices/system/cpu/cpu0/cpuidle/state1/usage": "7\n", "sos/sys/devices/system/cpu/cpu0/cpuidle/state1/name": "C1E\n",
		"sos/proc/sys/net/core/rmem_max": "212992\n",
	} {
		if !KernelPath(path) {
			t.Errorf("%s is not known", path)
		}
		ledger := &source.Ledger{}
		o, err := ReadKernelFile(source.NewLines(source.NewInput(path, strings.NewReader(value)), ledger), ledger)
		if err != nil || len(ledger.Entries()) > 0 {
			t.Fatalf("%s: %v, %v", path, err, ledger.Entries())
		}
		outputs = append(outputs, *o)
	}
	hosts := Join(outputs, Options{})
	if len(hosts) != 1 {
		t.Fatalf("%d hosts, want 1", len(hosts))
	}
	m := hosts[0].Machine
	if len(m.Affinities) != 1 || len(m.Places) != 1 || m.Places[0].Node != -1 || len(m.Nodes) != 1 || m.NodeOf(5) != 1 || len(m.Kernel) != 1 || m.Kernel[0].Name != "net.core.rmem_max" {
		t.Errorf("%+v", m)
	}
	if len(m.IdleStates) != 1 || m.IdleStates[0].Time != 5000 || m.IdleStates[0].Usage != 7 || m.IdleStates[0].Name != "C1E" {
		t.Errorf("idle states %+v", m.IdleStates)
	}
	for _, path := range []string{"sos/proc/interrupts", "proc/irq/default_smp_affinity", "x/sys/class/net/eth0/address", "notproc/irqs/1", ""} {
		if KernelPath(path) {
			t.Errorf("%q is taken for a file of the kernel", path)
		}
	}
}

// Of two readings of idle states the difference counts.
func TestIdleStatesOverTime(t *testing.T) {
	at := func(file string, time, usage uint64) Machine {
		m := newMachine()
		for _, s := range []IdleState{{Time: time}, {Usage: usage}, {Name: "C6"}} {
			s.CPU, s.State, s.Pos = 1, 2, source.Pos{Source: file, Line: 1}
			m.idle(s)
		}
		return m
	}
	all := newMachine()
	first, second := at("before.txt", 1000, 10), at("after.txt", 5000, 14)
	all.join(&first)
	all.join(&second)
	if s := all.IdleStates[0]; s.Time != 4000 || s.Usage != 4 || s.Name != "C6" {
		t.Errorf("%+v, want 4000 us in 4 times", s)
	}
}

func TestNodes(t *testing.T) {
	lscpu, numactl := machineOf(t, "lscpu.txt").Machine.Nodes, machineOf(t, "numactl-H.txt").Machine.Nodes
	if diff := cmp.Diff(lscpu, numactl, cmpopts.IgnoreFields(Node{}, "Pos")); diff != "" || len(lscpu) != 2 || !slices.Equal(lscpu[1].CPUs, []int{4, 5, 6, 7, 12, 13, 14, 15}) {
		t.Errorf("lscpu %+v, numactl %+v", lscpu, numactl)
	}
}

func TestLspci(t *testing.T) {
	h := machineOf(t, "lspci-vv.txt", "mlx4-adaptive-rx.ethtool-i.txt")
	d := h.Device(h.Interfaces[0])
	if d == nil {
		t.Fatalf("no device of %s among %+v", h.Interfaces[0].Name, h.Machine.Devices)
	}
	want := PCIDevice{Address: "0000:05:00.0", Name: "Ethernet controller: Mellanox Technologies MT26448 [ConnectX EN 10GigE, PCIe 2.0 5GT/s] (rev b0)", Driver: "mlx4_core", Node: 1,
		Speed: 2.5, Width: 4, SpeedMax: 5, WidthMax: 8, Payload: 128, PayloadMax: 256, ReadRequest: 512, Downgraded: true, LinkMaxKnown: true}
	if diff := cmp.Diff(want, *d, cmpopts.IgnoreTypes(source.Pos{})); diff != "" {
		t.Error(diff)
	}
	if d.PosLink.Line == 0 || d.PosRequest.Line == 0 || len(h.Machine.Devices) != 2 {
		t.Errorf("places %v, %v; devices %d", d.PosLink, d.PosRequest, len(h.Machine.Devices))
	}
}

// The thread's lspci: the old form, with the lines that the mail wrapped.
func TestLspciOfThread(t *testing.T) {
	outputs, ledger := readFile(t, shared.Path(t, "data", "threads", "002_e020891d04dfaba2.txt"))
	if len(ledger.Entries()) > 0 {
		t.Errorf("ledger %v", ledger.Entries())
	}
	d := outputs[0].Machine.Devices
	if len(d) != 1 || d[0].Address != "0000:0a:00.0" || d[0].Speed != 2.5 || d[0].Width != 8 || d[0].SpeedMax != 2.5 || d[0].WidthMax != 8 || d[0].Payload != 128 || d[0].PayloadMax != 256 || d[0].ReadRequest != 512 {
		t.Errorf("%+v", d)
	}
}

func TestSockets(t *testing.T) {
	for _, file := range []string{"ss.txt", "ss.two-lines.txt"} {
		h := machineOf(t, file)
		if len(h.Sockets) != 2 {
			t.Fatalf("%s: %d sockets", file, len(h.Sockets))
		}
		s, r := h.Sockets[0], h.Sockets[1]
		if s.Local != "127.0.0.1:52982" || s.Peer != "127.0.0.1:5001" || s.State != "ESTAB" || s.Congestion != "bbr" || s.MSS != 47417 || s.CWnd != 12 || s.SndBuf != 4194304 || s.MinRTT != 25*unit.Microsecond || !s.Known {
			t.Errorf("%s: sender %+v", file, s)
		}
		if share := float64(s.RwndLimited) / float64(s.Busy); share < 0.80 || share > 0.81 || s.SndbufLimited != 0 || s.SendQ != s.NotSent {
			t.Errorf("%s: busy %v, limited by the peer's window %v (%.3f)", file, s.Busy, s.RwndLimited, share)
		}
		if !r.AppLimited || r.Received != s.Sent || r.RecvQ != 29298 || r.RcvBuf != 131072 || r.Known {
			t.Errorf("%s: receiver %+v", file, r)
		}
	}
}

func TestNetstatSentences(t *testing.T) {
	linux := flat(read(t, "netstat-s.txt"))
	for name, want := range map[string]string{"IpInReceives": "24348", "TcpOutSegs": "16932", "TcpRetransSegs": "0", "UdpInDatagrams": "1764", "UdpRcvbufErrors": "0", "TcpExtTCPLossProbes": "1",
		"TcpExtDelayedACKLost": "7", "TcpExtTCPHPHits": "115", "TcpExtTCPPureAcks": "3230"} {
		if linux[" "+name] != want {
			t.Errorf("Linux: %s is %q, want %s", name, linux[" "+name], want)
		}
	}
	bsd := flat(read(t, "netstat-s.freebsd.txt"))
	for name, want := range map[string]string{"TcpOutSegs": "1234567", "TcpRetransSegs": "1201", "TcpInSegs": "1199999", "TcpPassiveOpens": "1", "UdpRcvbufErrors": "1001949", "UdpInDatagrams": "1050000", "UdpOutDatagrams": "1",
		"IpInReceives": "3260001", "tcp: N data packets (N bytes)": "1000000"} {
		if bsd[" "+name] != want {
			t.Errorf("FreeBSD: %s is %q, want %s", name, bsd[" "+name], want)
		}
	}
}

func TestSysctl(t *testing.T) {
	h := machineOf(t, "sysctl-dev.txt")
	i := h.Interface("ix0")
	if i == nil || len(h.Interfaces) != 2 || len(h.Machine.Kernel) != 1 {
		t.Fatalf("interfaces %d, sizes %+v", len(h.Interfaces), h.Machine.Kernel)
	}
	values := flat(read(t, "sysctl-dev.txt"))
	if values["ix0 mac_stats.rx_missed_packets"] != "4711" || values["ix0 iflib.txq0.r_drops"] != "17" || values["ix1 mac_stats.total_pkts_rcvd"] != "12" {
		t.Errorf("%v", values)
	}
}

func TestCPUSets(t *testing.T) {
	for text, want := range map[string]string{"0-3,8": "0-3,8", "": "", "5": "5", "0,1,2,7-8": "0-2,7-8"} {
		if cpus, ok := parseCPUList([]byte(text)); !ok || cpuRanges(cpus) != want {
			t.Errorf("list %q is %v (%v)", text, cpus, ok)
		}
	}
	for text, want := range map[string]string{"f0": "4-7", "00000001,00000000": "32", "00": "", "ff,ffffffff": "0-39"} {
		if cpus, ok := parseCPUMask([]byte(text)); !ok || cpuRanges(cpus) != want {
			t.Errorf("mask %q is %v (%v)", text, cpuRanges(cpus), ok)
		}
	}
	for _, text := range []string{"3-1", "a", "1-99999999", "0-14:2/4", "1,,2"} {
		if cpus, ok := parseCPUList([]byte(text)); ok {
			t.Errorf("list %q is read as %v", text, cpus)
		}
	}
	if _, ok := parseCPUMask([]byte("xyz")); ok {
		t.Error("a mask of letters is read")
	}
}

// Hosts with all of it go through JSON and come back.
func TestMachineRoundTrips(t *testing.T) {
	h := machineOf(t, "kernel-files.txt", "lspci-vv.txt", "ss.txt", "turbostat.txt", "lscpu.txt", "sysctl-dev.txt")
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var back Host
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*h, back, cmpopts.IgnoreUnexported(IdleState{}, Reported{})); diff != "" {
		t.Error(diff)
	}
}
