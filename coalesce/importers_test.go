package coalesce

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// fixture returns the text of a file in fixtures/counters.
func fixture(t testing.TB, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "fixtures", "counters"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// read reads the only output of a fixture.
func read(t *testing.T, name string) Output {
	t.Helper()
	outputs, ledger := readText(t, name, fixture(t, "settings", name))
	if len(outputs) != 1 {
		t.Fatalf("%s: %d outputs, want 1", name, len(outputs))
	}
	if e := ledger.Entries(); len(e) > 0 {
		t.Errorf("%s: ledger %+v", name, e)
	}
	return outputs[0]
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		file, tool, iface string
		count             int // of settings
		want              map[string]string
		line              map[string]int
	}{
		{"mlx4-adaptive-rx.ethtool-c.txt", "ethtool-c", "eth2", 22,
			map[string]string{"adaptive-rx": "on", "adaptive-tx": "off", "rx-usecs": "16", "rx-frames": "44", "pkt-rate-low": "400000", "pkt-rate-high": "450000", "rx-usecs-high": "128", "rx-frame-high": "0", "cqe-mode-rx": "absent"},
			map[string]int{"adaptive-rx": 2, "rx-usecs-high": 23}},
		{"mlx4-adaptive-rx.ethtool-c.as-archived.txt", "ethtool-c", "eth2", 22,
			map[string]string{"adaptive-rx": "on", "adaptive-tx": "off", "rx-usecs": "16", "pkt-rate-high": "450000", "rx-usecs-high": "128"},
			map[string]int{"adaptive-rx": 1, "rx-usecs-high": 14}},
		{"virtio.ethtool-c.txt", "ethtool-c", "eth0", 24,
			map[string]string{"adaptive-rx": "off", "adaptive-tx": "n/a", "rx-usecs": "0", "rx-frames": "1", "rx-usecs-irq": "n/a", "cqe-mode-rx": "n/a"}, nil},
		{"virtio.ethtool-c.json", "ethtool-c", "eth0", 5,
			map[string]string{"adaptive-rx": "off", "rx-usecs": "0", "rx-frames": "1", "rx-usecs-irq": "absent"}, map[string]int{"rx-usecs": 4}},
		{"ethtool-c.6.3-tabs.txt", "ethtool-c", "eth0", 27,
			map[string]string{"adaptive-rx": "on", "rx-usecs": "8", "rx-frames": "128", "cqe-mode-rx": "on", "cqe-mode-tx": "off", "tx-aggr-time-usecs": "n/a", "stats-block-usecs": "n/a"}, nil},
		{"ethtool-c.6.8-twins.json", "ethtool-c", "eth0", 8,
			map[string]string{"adaptive-rx": "on", "adaptive-tx": "off", "cqe-mode-rx": "off", "cqe-mode-tx": "on", "rx-usecs": "8"}, map[string]int{"adaptive-rx": 3, "cqe-mode-tx": 10}},
		{"virtio.ethtool-k.txt", "ethtool-k", "eth0", 63,
			map[string]string{"generic-receive-offload": "on", "large-receive-offload": "off", "tx-checksum-ipv4": "off"}, map[string]int{"rx-checksumming": 2}},
		{"virtio.ethtool-k.json", "ethtool-k", "eth0", 63, map[string]string{"generic-receive-offload": "on", "large-receive-offload": "off"}, nil},
		{"virtio.ethtool-g.txt", "ethtool-g", "eth0", 12,
			map[string]string{"rx-max": "256", "rx": "256", "rx-mini": "n/a", "tx-push": "off", "rx-buf-len": "n/a", "rx-push": "absent"}, map[string]int{"rx": 8}},
		{"virtio.ethtool-g.json", "ethtool-g", "eth0", 6, map[string]string{"rx-max": "256", "rx": "256", "rx-push": "off", "rx-mini": "absent"}, nil},
		{"virtio.ethtool-l.txt", "ethtool-l", "eth0", 8, map[string]string{"combined-max": "1", "combined": "1", "rx": "n/a"}, nil},
	} {
		out := read(t, c.file)
		if out.Tool != c.tool || len(out.Interfaces) != 1 || out.Interfaces[0].Name != c.iface {
			t.Errorf("%s: tool %q, interfaces %v; want %q of %q", c.file, out.Tool, out.Interfaces, c.tool, c.iface)
			continue
		}
		settings := out.Interfaces[0].Settings
		if len(settings) != c.count {
			t.Errorf("%s: %d settings, want %d", c.file, len(settings), c.count)
		}
		iface := Interface{Dumps: []Dump{{Tool: out.Tool, Settings: settings}}}
		for name, want := range c.want {
			s, _ := iface.Setting(c.tool, name)
			if s.Value.String() != want {
				t.Errorf("%s: %s is %v, want %s", c.file, name, s.Value, want)
			}
			if line := c.line[name]; line > 0 && s.Pos.Line != line {
				t.Errorf("%s: %s is on line %d, want %d", c.file, name, s.Pos.Line, line)
			}
		}
	}
}

func TestFeatureMarks(t *testing.T) {
	text := read(t, "virtio.ethtool-k.txt").Interfaces[0].Settings
	json := read(t, "virtio.ethtool-k.json").Interfaces[0].Settings
	for i := range text {
		a, b := text[i], json[i]
		a.Pos, b.Pos = source.Pos{}, source.Pos{}
		if a != b {
			t.Errorf("text has %+v, JSON %+v", a, b)
		}
	}
	s, ok := parseFeature([]byte("\ttx-udp-segmentation: off [requested on]"))
	if !ok || s.Requested != Switch(true) || s.Value != Switch(false) {
		t.Errorf("a requested feature is read as %+v", s)
	}
}

func TestPerQueue(t *testing.T) {
	settings := read(t, "ethtool-c.per-queue.txt").Interfaces[0].Settings
	byQueue := map[int]uint64{}
	for _, s := range settings {
		if s.Name == "rx-usecs" {
			byQueue[s.Queue] = s.Value.N
		}
	}
	if len(byQueue) != 2 || byQueue[0] != 10 || byQueue[1] != 20 {
		t.Errorf("rx-usecs by queue is %v, want 10 and 20", byQueue)
	}
}

func TestDriver(t *testing.T) {
	for _, text := range []string{fixture(t, "settings", "mlx4-adaptive-rx.ethtool-i.txt"),
		"# ethtool -i eth2 driver: mlx4_en (HP_0200000003) version: 1.5.1.6 (August 2010) firmware-version: 2.7.9294 bus-info: 0000:05:00.0\n",
		"$ ethtool -i eth2\n" + fixture(t, "settings", "mlx4-adaptive-rx.ethtool-i.txt")} {
		outputs, _ := readText(t, "x", text+"\nregards\n")
		if len(outputs) != 1 {
			t.Errorf("%d outputs in %q", len(outputs), text)
			continue
		}
		d := outputs[0].Interfaces[0].Driver
		if d.Name != "mlx4_en (HP_0200000003)" || d.Version != "1.5.1.6 (August 2010)" || d.Firmware != "2.7.9294" || d.Bus != "0000:05:00.0" {
			t.Errorf("%q is read as %+v", text, d)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ text, iface, want string }{
		{fixture(t, "settings", "veth.ethtool-c.refused.txt"), "", "netlink error: Operation not supported"},
		{fixture(t, "settings", "veth.ethtool-l.json-refused.txt"), "", "ethtool: bad command line argument(s); JSON output not available for this subcommand"},
		{"no stats available\n", "", "no stats available"},
		{"[ ]\n", "", "an empty list"},
		{"Ring parameters for wlan0:\nCannot get device ring settings: Operation not supported\n", "wlan0", "Cannot get device ring settings: Operation not supported"},
		{"Coalesce parameters for tun0:\nCannot get device coalesce settings: Operation not supported\n", "tun0", "Cannot get device coalesce settings: Operation not supported"},
		{"NIC statistics:\nno stats available\n", "", "no stats available"},
	} {
		outputs, ledger := readText(t, "x", c.text)
		if len(outputs) != 1 || outputs[0].Refusal != c.want || len(ledger.Entries()) > 0 {
			t.Errorf("%q: %+v, ledger %v; want one refusal %q", c.text, outputs, ledger.Entries(), c.want)
			continue
		}
		if i := outputs[0].Interfaces; c.iface != "" && (len(i) != 1 || i[0].Name != c.iface || len(i[0].Settings) > 0) {
			t.Errorf("%q: interfaces %+v, want %s without settings", c.text, i, c.iface)
		}
	}
	if m := SniffRefusal([]byte("Cannot get over it: this is prose\n")); m != source.No {
		t.Errorf("prose is taken for an error text: %v", m)
	}
}

func TestStatisticsNames(t *testing.T) {
	for _, c := range []struct {
		file string
		want []Count
	}{
		{"ethtool-S.vmxnet3-form.txt", []Count{{"Tx Queue#0: ucast pkts tx", 54123, 3, 0}, {"Tx Queue#0: drv dropped tx total: giant hdr", 1, 7, 0}, {"Tx Queue#0: giant hdr", 2, 9, 0}, {"Rx Queue#0: pkts rx OOB", 5, 14, 0}, {"tx timeout count", 4, 15, 0}}},
		{"ethtool-S.names.txt", []Count{{"[0]: rx_ucast_packets", 1230297, 4, 0}, {"rxq0: rx_pkts", 12, 5, 0}, {"duplicate metric", 1, 7, 0}, {"duplicate_metric", 2, 8, 0}, {"veb.tc_0_tx_packets", 1<<64 - 1, 9, 0}}},
	} {
		out := read(t, c.file)
		for _, want := range c.want {
			k := slices.IndexFunc(out.Interfaces[0].Counters, func(x Count) bool { return x.Name == want.Name })
			if k < 0 {
				t.Errorf("%s: no counter %q", c.file, want.Name)
				continue
			}
			if got := out.Interfaces[0].Counters[k]; got.Value != want.Value || got.Line != want.Line {
				t.Errorf("%s: %+v, want value %d on line %d", c.file, got, want.Value, want.Line)
			}
		}
	}
	if out := read(t, "ethtool-S.names.txt"); out.Interfaces[0].Name != "eth7" {
		t.Errorf("the prompt's interface is read as %q", out.Interfaces[0].Name)
	}
}

func TestInterrupts(t *testing.T) {
	for _, c := range []struct {
		file       string
		cpus       []int
		key        string
		chip, name string
		cells      []Cell
		single     bool
	}{
		{"proc-interrupts.arm64.txt", []int{0, 1}, "10", "GICv3 27 Level", "arch_timer", []Cell{{0, 4711}, {1, 4700}}, false},
		{"proc-interrupts.arm64.txt", []int{0, 1}, "18", "GICv2m-PCI-MSIX-0000:01:00.0 2 Edge", "eth0-rx-1", []Cell{{0, 912345}}, false},
		{"proc-interrupts.arm64.txt", []int{0, 1}, "IPI1", "", "Function call interrupts", []Cell{{0, 123456}, {1, 7890123}}, false},
		{"proc-interrupts.arm64.txt", []int{0, 1}, "Err", "", "", []Cell{{0, 3}}, true},
		{"proc-interrupts.offline-cpu.txt", []int{0, 2, 3}, "30", "PCI-MSI 1-edge", "eth0-TxRx-0, eth0-TxRx-1", []Cell{{0, 100}, {2, 200}, {3, 300}}, false},
		{"proc-interrupts.offline-cpu.txt", []int{0, 2, 3}, "MIS", "", "", nil, true},
	} {
		out := read(t, c.file)
		if !slices.Equal(out.Table.CPUs, c.cpus) {
			t.Errorf("%s: CPUs %v, want %v", c.file, out.Table.CPUs, c.cpus)
		}
		k := slices.IndexFunc(out.Table.Rows, func(r TableRow) bool { return r.Key == c.key })
		if k < 0 {
			t.Errorf("%s: no row %s", c.file, c.key)
			continue
		}
		if r := out.Table.Rows[k]; r.Chip != c.chip || r.Name != c.name || !slices.Equal(r.Cells, c.cells) || r.Single != c.single {
			t.Errorf("%s: row %+v, want chip %q, name %q, cells %v, single %v", c.file, r, c.chip, c.name, c.cells, c.single)
		}
	}
	old := TableRow{Key: "34"}
	interruptText(&old, []byte("IR-PCI-MSI-edge      eth4-TxRx-0"))
	if old.Chip != "IR-PCI-MSI-edge" || old.Name != "eth4-TxRx-0" {
		t.Errorf("an old row is read as %+v", old)
	}
}

// The columns of all kernels, as the case of softnet_stat gives them.
func TestSoftnetColumns(t *testing.T) {
	dir := shared.Path(t, "cases", "22-softnet-columns-offline")
	for file, c := range map[string]struct {
		cpus    []int
		assumed bool
		rows    map[string]uint64 // their sums
		absent  []string
	}{
		"kernel-2.6.32.txt": {[]int{0, 1, 2, 3}, true, map[string]uint64{"processed": 40960, "dropped": 7, "time_squeeze": 18, "cpu_collision": 3}, []string{"received_rps", "flow_limit_count", "backlog_len"}},
		"kernel-3.13.txt":   {[]int{0, 1, 2, 3}, true, map[string]uint64{"processed": 40960, "received_rps": 5, "flow_limit_count": 1}, []string{"backlog_len", "input_queue_len"}},
		"kernel-5.10.txt":   {[]int{0, 1, 4, 16}, false, map[string]uint64{"processed": 40960, "backlog_len": 12, "cpu_collision": 0}, []string{"input_queue_len"}},
		"kernel-6.4.txt":    {[]int{0, 1, 4, 16}, false, map[string]uint64{"processed": 40960, "time_squeeze": 18, "input_queue_len": 9, "process_queue_len": 3}, nil},
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		outputs, _ := readText(t, file, string(text))
		if len(outputs) != 1 {
			t.Fatalf("%s: %d outputs", file, len(outputs))
		}
		table := outputs[0].Table
		if !slices.Equal(table.CPUs, c.cpus) || table.CPUsAssumed != c.assumed {
			t.Errorf("%s: CPUs %v, assumed %v; want %v, %v", file, table.CPUs, table.CPUsAssumed, c.cpus, c.assumed)
		}
		sums := map[string]uint64{}
		for _, r := range table.Rows {
			sums[r.Key] = 0
			for _, cell := range r.Cells {
				sums[r.Key] += cell.Value
			}
		}
		for key, want := range c.rows {
			if sums[key] != want {
				t.Errorf("%s: %s adds up to %d, want %d", file, key, sums[key], want)
			}
		}
		for _, key := range c.absent {
			if _, ok := sums[key]; ok {
				t.Errorf("%s has a row %s, which that kernel does not print", file, key)
			}
		}
	}
}

// A shell log is read output by output, and its prose is not.
func TestShellLog(t *testing.T) {
	outputs, ledger := readText(t, "shell-log.txt", fixture(t, "settings", "shell-log.txt"))
	var got []string
	for _, o := range outputs {
		got = append(got, o.Tool)
	}
	want := []string{"ethtool-i", "ethtool-S", "ethtool-c", "proc-interrupts", "ethtool-S", "ethtool-g"}
	if !slices.Equal(got, want) {
		t.Errorf("outputs %v, want %v", got, want)
	}
	if e := ledger.Entries(); len(e) > 0 {
		t.Errorf("prose is in the ledger: %+v", e)
	}
	h := Join(outputs, Options{})[0]
	c := counter(t, h, "rx_packets")
	if c.Delta != 136264 || c.First.Pos.Line != 8 || c.Last.Pos.Line != 23 {
		t.Errorf("rx_packets of the two dumps in the log: %+v, want +136264 from line 8 to 23", c.Change)
	}
	if _, known := c.Rate(); known {
		t.Error("a rate is given although nothing tells the time")
	}
	if i := h.Interface("eth2"); i == nil || i.Driver == nil || len(i.Dumps) != 1 {
		t.Errorf("eth2 is %+v, want driver and settings", i)
	}
}

// The thread's mails: all outputs in them are found, and no others.
func TestThreads(t *testing.T) {
	dir := shared.Path(t, "data", "threads")
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no threads in %s (%v)", dir, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		outputs, ledger := readText(t, filepath.Base(f), string(text))
		var got []string
		for _, o := range outputs {
			got = append(got, o.Tool)
		}
		var want []string
		if strings.HasPrefix(filepath.Base(f), "002") {
			want = []string{"lspci"}
		}
		if strings.HasPrefix(filepath.Base(f), "003") {
			want = []string{"mail-table", "mail-table"}
		}
		if strings.HasPrefix(filepath.Base(f), "001") {
			want = []string{"ethtool-i", "ethtool-c"}
			if len(outputs) == 2 && (outputs[0].Pos.Line != 7 || outputs[1].Pos.Line != 13 || outputs[0].Interfaces[0].Name != "eth2" || len(outputs[1].Interfaces[0].Settings) != 22) {
				t.Errorf("%s: %+v", f, outputs)
			}
		}
		if !slices.Equal(got, want) || len(ledger.Entries()) > 0 {
			t.Errorf("%s: outputs %v, ledger %v; want %v", filepath.Base(f), got, ledger.Entries(), want)
		}
	}
}

// Every public counter output of a tool that is read gives one output; the others give none.
func TestPublicCounters(t *testing.T) {
	dir := shared.Path(t, "data", "public-counters")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		want, _, _ := strings.Cut(e.Name(), ".")
		switch {
		case want == "MANIFEST":
			want = ""
		case want == "netstat-ihw1":
			want = "netstat-w"
		case want == "netstat-ibdnW":
			want = "netstat-i"
		case want == "ethtool-none":
			want = "ethtool"
		case e.Name() == "proc-softnet_stat.broken.procfs.txt":
			ledger := &source.Ledger{}
			_, err := ReadSoftnet(source.NewLines(source.NewInput(e.Name(), strings.NewReader(string(text))), ledger), ledger)
			if err == nil || !strings.Contains(err.Error(), "4 columns") {
				t.Errorf("%s: error %v, want one about 4 columns", e.Name(), err)
			}
			continue
		}
		outputs, _ := readText(t, e.Name(), string(text))
		got := ""
		if len(outputs) > 0 {
			got = outputs[0].Tool
		}
		if got != want || len(outputs) > 1 {
			t.Errorf("%s: %d outputs, the first of %q; want %q", e.Name(), len(outputs), got, want)
		}
	}
}

// A damaged line inside an output is counted, and the output goes on.
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		text string
		want int // settings, counters or rows
	}{
		{"NIC statistics:\n     rx_packets: 1\n     rx_b\x00\x01tes 22\n     tx_packets: 3\n", 2},
		{strings.Replace(fixture(t, "settings", "mlx4-adaptive-rx.ethtool-c.txt"), "rx-frames: 44", "rx-fr%%es; 44", 1), 21},
		{strings.Replace(fixture(t, "settings", "virtio.ethtool-k.txt"), "highdma: on", "highdma; on", 1), 62},
		{"Ring parameters for e0:\nPre-set maximums:\nRX:\t\t9\nTX:\t\t9\nCurrent hardware settings:\nRX:\t\t5\nR? M\x00ni 0\nRX Jumbo:\tn/a\nNew mode:\tpaired\nTX:\t\t5\n", 6},
		{strings.Replace(fixture(t, "settings", "proc-interrupts.arm64.txt"), " 18: ", " 18; ", 1), 5},
	} {
		outputs, ledger := readText(t, "x", c.text)
		if len(outputs) != 1 {
			t.Errorf("%d outputs in %q", len(outputs), c.text[:20])
			continue
		}
		got := 0
		for _, i := range outputs[0].Interfaces {
			got += len(i.Settings) + len(i.Counters)
		}
		if outputs[0].Table != nil {
			got += len(outputs[0].Table.Rows)
		}
		e := ledger.Entries()
		if got != c.want || len(e) != 1 || e[0].Name != "unreadable-line" || e[0].First.Line == 0 {
			t.Errorf("%q: %d values, ledger %+v; want %d and the damaged line", c.text[:20], got, e, c.want)
		}
	}
}

// Cut anywhere, an output gives what is before the cut, and the ledger says so wherever the cut can be seen.
func TestCut(t *testing.T) {
	for _, name := range []string{"mlx4-adaptive-rx.ethtool-c.txt", "virtio.ethtool-c.json", "virtio.ethtool-g.txt", "virtio.ethtool-k.json", "virtio.ethtool-k.txt", "ethtool-S.vmxnet3-form.txt", "proc-interrupts.arm64.txt"} {
		text := fixture(t, "settings", name)
		whole, _ := readText(t, name, text)
		for k := 3; k < 16; k++ {
			at := len(text) * k / 16
			if SniffJSON([]byte(text)) == source.Strong && SniffJSON([]byte(text[:at])) != source.Strong {
				continue // too little to tell whose JSON it is
			}
			atLineEnd := text[at-1] == '\n'
			outputs, ledger := readText(t, name, text[:at])
			noticed := slices.ContainsFunc(ledger.Entries(), func(e source.Entry) bool { return e.Name == "cut-input" })
			complete := strings.Contains(text[:at], "tx-frame-high: 0") // of ethtool -c all is there
			if !noticed && !atLineEnd && !complete {
				t.Errorf("%s cut at %d of %d: no ledger entry", name, at, len(text))
			}
			if len(outputs) != 1 {
				t.Errorf("%s cut at %d: %d outputs", name, at, len(outputs))
				continue
			}
			for i, s := range outputs[0].Interfaces {
				for j, x := range s.Settings {
					if want := whole[0].Interfaces[i].Settings[j]; x != want && x.Name == want.Name {
						t.Errorf("%s cut at %d: %+v, whole %+v", name, at, x, want)
					}
				}
				for j, x := range s.Counters {
					if want := whole[0].Interfaces[i].Counters[j]; x != want {
						t.Errorf("%s cut at %d: %+v, whole %+v", name, at, x, want)
					}
				}
			}
		}
	}
}
