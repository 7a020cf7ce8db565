package tcp

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The table of docs/packets.md that sets nettrace beside tshark and tcptrace is made here: our figures by this package, the
// others' kept in testdata/tools.tsv with the versions that gave them. With -update both are made anew where the tools are.

const (
	toolsFile  = "testdata/tools.tsv"
	toolsBegin = "<!-- made by TestTableOfTools -->\n"
	toolsEnd   = "<!-- end -->\n"
)

func toolSamples() []string {
	return []string{"loss-queue-sender.pcap", "loss-fast-sender.pcap", "loss-random-receiver.pcap", "loss-acks-sender.pcap", "reorder-receiver.pcap", "zerowindow-sender.pcap", "keepalive-ecn.pcap",
		"rr-4345-sender.pcap", "rr-4345-wire.pcap", "bulk-gro-receiver.pcap", "nagle-wwr-stall.pcap", "pmtu-probing.pcap", "jumbo-mtu9000.pcap", "ipv6-bulk-sender.pcap"}
}

// toolFigures are what the tools count in one capture.
func toolFigures(t *testing.T, file string) string {
	t.Helper()
	out, err := exec.Command("tshark", "-n", "-r", fixture(t, file), "-Y", "tcp.analysis.flags", "-T", "fields",
		"-e", "tcp.analysis.retransmission", "-e", "tcp.analysis.fast_retransmission", "-e", "tcp.analysis.out_of_order", "-e", "tcp.analysis.spurious_retransmission").Output()
	if err != nil {
		t.Skipf("tshark: %v", err)
	}
	var marks [4]int
	for line := range strings.Lines(string(out)) {
		for i, mark := range strings.Split(strings.TrimRight(line, "\n"), "\t") {
			if mark != "" {
				marks[i]++
			}
		}
	}
	resent, late := 0.0, 0.0
	for _, c := range tcptrace(t, fixture(t, file)) {
		for dir := range c {
			resent, late = resent+c[dir]["rexmt data pkts"], late+c[dir]["outoforder pkts"]
		}
	}
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%g\t%g\n", file, marks[0], marks[1], marks[2], marks[3], resent, late)
}

// TestTableOfTools holds the table in the docs, and the tools' figures where they are installed.
func TestTableOfTools(t *testing.T) {
	if *update {
		text := "# tshark 4.0.17 (default preferences) and tcptrace 6.6.7 -lrn over fixtures/pcap; made by TestTableOfTools -update\n" +
			"# file\tretransmission\tfast_retransmission\tout_of_order\tspurious_retransmission\trexmt\toutoforder\n"
		for _, file := range toolSamples() {
			text += toolFigures(t, file)
		}
		if err := os.WriteFile(toolsFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(toolsFile)
	if err != nil {
		t.Fatal(err)
	}
	table := "| sample | nettrace: resent, needless, late, lost | tshark: retransmission (fast, spurious), out of order | tcptrace: rexmt, out of order |\n|---|---|---|---|\n"
	for line := range strings.Lines(string(kept)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 7 && line[0] != '#' {
			sum := read(t, fixture(t, f[0])).Totals
			table += fmt.Sprintf("| `%s` | %d, %d, %d, %d | %s (%s, %s), %s | %s, %s |\n", f[0], sum.RetransmittedPackets, sum.SpuriousPackets, sum.ReorderedPackets, sum.LostPackets, f[1], f[2], f[4], f[3], f[5], f[6])
		}
	}
	docs := filepath.Join("..", "docs", "packets.md")
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), toolsBegin)
	have, after, ended := strings.Cut(rest, toolsEnd)
	switch {
	case !begun || !ended:
		t.Fatalf("%s has no table between %q and %q", docs, toolsBegin, toolsEnd)
	case *update:
		if err := os.WriteFile(docs, []byte(before+toolsBegin+table+toolsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case have != table:
		t.Errorf("%s is not what the analysis says; run the test with -update:\n%s", docs, table)
	}
}

// TestFiguresOfTools compares what is kept with the tools, where they are of these versions.
func TestFiguresOfTools(t *testing.T) {
	version, err := exec.Command("tshark", "--version").Output()
	if err != nil || !strings.Contains(string(version), "4.0.") {
		t.Skip("no tshark 4.0")
	}
	kept, err := os.ReadFile(toolsFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(kept), "\n")
	for _, file := range toolSamples() {
		if got := toolFigures(t, file); !slices.Contains(lines, got) {
			t.Errorf("%s is not in %s", cmp.Or(strings.TrimSpace(got), file), toolsFile)
		}
	}
}
