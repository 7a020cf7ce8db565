package diagnose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/finding"
)

// change makes another name and text of a file of a bundle.
type change func(name, text string) (string, string)

// only applies a change to the files whose names hold a word.
func (c change) only(word string) change {
	return func(name, text string) (string, string) {
		if !strings.Contains(name, word) {
			return name, text
		}
		return c(name, text)
	}
}

func replace(old, new string) change {
	return func(name, text string) (string, string) { return name, strings.ReplaceAll(text, old, new) }
}

func rename(old, new string) change {
	return func(name, text string) (string, string) {
		return strings.ReplaceAll(name, old, new), strings.ReplaceAll(text, old, new)
	}
}

// moved puts a file into a folder, as if it were of another host.
func moved(folder string) change {
	return func(name, text string) (string, string) { return folder + "/" + name, text }
}

// without takes files away.
func without(word string) change {
	return change(func(string, string) (string, string) { return "", "" }).only(word)
}

// changed diagnoses a copy of a bundle with changed files; those that have no name any more are left out.
func changed(t *testing.T, bundle string, changes ...change) *analyze.Result {
	t.Helper()
	files, err := filepath.Glob("../fixtures/bundles/" + bundle + "/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bundle %s: %v", bundle, err)
	}
	dir := t.TempDir()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, text := filepath.Base(file), string(data)
		for _, c := range changes {
			name, text = c(name, text)
		}
		if name == "" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return diagnosed(t, dir)
}

// TestNearMisses: with one link between its parts broken, or one part contradicted, no story is told.
func TestNearMisses(t *testing.T) {
	for _, test := range []struct {
		bundle, name string
		changes      []change
	}{
		{"map-lock", "the profile is of another host", []change{moved("client").only("folded"), moved("server").only("lock_stat"), moved("server").only("ethtool")}},
		{"map-lock", "the lock is another one", []change{replace("it_lock", "sk_lock").only("lock_stat"), replace("iommu", "tcp").only("folded")}},
		{"tx-ring", "the profile is of another host", []change{moved("a").only("lockstat"), moved("b").only("pmcstat"), moved("b").only("ministat")}},
		{"tag-race", "the moderation allows as many", []change{replace("rx-frames: 20", "rx-frames: 2").only("ethtool-c")}},
		{"tag-race", "the interrupts are of another interface", []change{replace("eth0", "eth1").only("proc-interrupts")}},
		{"rx-ring-overrun", "counters of another day", []change{rename("20261130", "20261129").only("ethtool")}},
		{"rx-ring-overrun", "counters of an hour before", []change{rename("T1709", "T1609").only("ethtool")}},
		{"rx-ring-overrun", "nothing was lost", []change{replace("rx_no_dma_resources: 11870", "rx_no_dma_resources: 310").only("after")}},
		{"softnet-drop", "counters of another day", []change{rename("20261130", "20261129").only("proc")}},
		{"softnet-drop", "nothing was dropped", []change{replace("00001860", "00000028").only("after")}},
		{"one-cpu", "the CPU has time left", []change{replace("0000a0f0", "0000005a").only("after.proc-softnet")}},
		{"stretch-ack", "the receiver does not merge", []change{replace("generic-receive-offload: on", "generic-receive-offload: off")}},
		{"lro-forwarding", "LRO is off", []change{replace("large-receive-offload: on", "large-receive-offload: off")}},
		{"lro-forwarding", "the host does not forward", []change{replace("921300", "880100").only("after.nstat")}},
		{"reordering", "one CPU", []change{replace("rps_cpus:f", "rps_cpus:1")}},
		{"reordering", "settings of another day", []change{rename("20261130", "20261129").only("steering")}},
		{"nagle-delayed-ack", "fewer delayed ACKs than stalls", []change{replace("420 ", "414 ").only("after.nstat")}},
		{"nagle-delayed-ack", "counters of another day", []change{rename("20261130", "20261129").only("nstat")}},
		{"offload-off", "the CPU has time", []change{replace("cpu0 2021 0 3840 90009", "cpu0 2021 0 3140 90709")}},
		{"offload-off", "the interface sends little", []change{replace("tx_packets: 7820500", "tx_packets: 4180500")}},
		{"offload-off", "the counters are another interface's", []change{rename("eth0", "eth1").only("ethtool-S")}},
		{"socket-buffer", "another connection waits", []change{replace(":51210", ":51211").only("ss-tinm")}},
		{"socket-buffer", "the kernel says otherwise", []change{replace("rwnd_limited:1740ms(95.4%)", "rwnd_limited:40ms(2.2%)")}},
		{"c-state", "the states are shallow", []change{replace("latency:133", "latency:2")}},
		{"c-state", "the benchmark is a transfer", []change{replace("TCP REQUEST/RESPONSE TEST", "TCP STREAM TEST").only("netperf")}},
	} {
		t.Run(test.bundle+": "+test.name, func(t *testing.T) {
			r := changed(t, test.bundle, test.changes...)
			if cause := "cross/" + test.bundle; slices.Contains(rulesOf(r.Findings), cause) {
				t.Errorf("%s is told: %s", cause, r.Findings[0].Summary)
			}
		})
	}
}

// TestOtherCPU: a CPU that takes the packets and another one that is full are no story.
func TestOtherCPU(t *testing.T) {
	swap := func(name, text string) (string, string) { // the rows of CPU 0 and CPU 1 in their third column
		lines := strings.Split(text, "\n")
		one, two := strings.Fields(lines[0]), strings.Fields(lines[1])
		one[2], two[2] = two[2], one[2]
		lines[0], lines[1] = strings.Join(one, " "), strings.Join(two, " ")
		return name, strings.Join(lines, "\n")
	}
	r := changed(t, "one-cpu", change(swap).only("proc-softnet_stat"), replace("00000000 000003f2", "00000000 0010ffff"))
	for _, f := range r.Findings {
		if f.Rule == "cross/one-cpu" {
			t.Errorf("%s", f.Summary)
		}
	}
}

// TestOwnCapture: a host that was captured itself does not answer for what is captured elsewhere; one that was not may.
func TestOwnCapture(t *testing.T) {
	counters, capture := moved("server").only("ethtool"), moved("client").only("pcap")
	if r := changed(t, "rx-ring-overrun", counters, capture); r.Findings[0].Rule != "cross/rx-ring-overrun" {
		t.Errorf("client and server in folders of their own: first is %s", r.Findings[0].Rule)
	}
	clean, err := os.ReadFile("../fixtures/pcap/rtt20-gro-receiver.pcap")
	if err != nil {
		t.Fatal(err)
	}
	own := func(name, text string) (string, string) {
		if strings.Contains(name, "ethtool-g") { // in place of the settings, which say little here
			return "server/own.pcap", string(clean)
		}
		return name, text
	}
	if r := changed(t, "rx-ring-overrun", counters, capture, own); slices.Contains(rulesOf(r.Findings), "cross/rx-ring-overrun") {
		t.Error("the server's own capture has no loss")
	}
}

// TestHealthyGRO: merging as it should be, with a sender that counts bytes, is no story.
func TestHealthyGRO(t *testing.T) {
	healthy, err := os.ReadFile("../fixtures/pcap/rtt20-gro-receiver.pcap")
	if err != nil {
		t.Fatal(err)
	}
	r := changed(t, "stretch-ack", change(func(name, _ string) (string, string) { return name, string(healthy) }).only("pcap"), rename("20240305T101454", "20261130T170910"))
	for _, f := range r.Findings {
		if f.Severity > finding.Info {
			t.Errorf("%s %s", f.Severity, f.Summary)
		}
	}
}

// TestTwoHosts: each host of a bundle has its own cause.
func TestTwoHosts(t *testing.T) {
	dir := t.TempDir()
	for _, host := range []string{"one", "two"} {
		for _, file := range must(filepath.Glob("../fixtures/bundles/one-cpu/*")) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(dir, host), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, host, filepath.Base(file)), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := diagnosed(t, dir)
	var sources []string
	for _, f := range r.Findings {
		if f.Rule == "cross/one-cpu" {
			sources = append(sources, filepath.Base(filepath.Dir(f.Evidence[0].Source)))
		}
	}
	slices.Sort(sources)
	if !slices.Equal(sources, []string{"one", "two"}) {
		t.Errorf("causes of %v", sources)
	}
	for _, f := range r.Findings { // and explains what was found there
		for _, cause := range r.Findings {
			if f.CausedBy == cause.ID && filepath.Dir(f.Evidence[0].Source) != filepath.Dir(cause.Evidence[0].Source) {
				t.Errorf("%s of %s is explained by %s of %s", f.Rule, f.Evidence[0].Source, cause.Rule, cause.Evidence[0].Source)
			}
		}
	}
}

func must(files []string, err error) []string {
	if err != nil || len(files) == 0 {
		panic(err)
	}
	return files
}
