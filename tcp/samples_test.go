package tcp

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nettrace/finding"
	"nettrace/fixtures/shared"
)

// TestFixtures holds what is known of the captures in the tree: each rule fires, nearly fires and stays silent.
func TestFixtures(t *testing.T) {
	for _, c := range []struct {
		file, rule, measure string
		want                float64
	}{
		{"rr-4345-sender.pcap", "tcp/just-over-mss", "tails_hidden", 6},
		{"rr-4345-sender.pcap", "tcp/tso-split", "tails_visible", 0},
		{"rr-4344-sender.pcap", "tcp/just-over-mss", "tails_hidden", 0},
		{"rr-4344-sender.pcap", "tcp/tso-split", "tails_visible", 0},
		{"rr-4344-wire.pcap", "tcp/tso-split", "tails_visible", 0},
		{"rr-4345-wire.pcap", "tcp/tso-split", "tails_visible", 6},
		{"rr-4345-wire.pcap", "tcp/just-over-mss", "tails_hidden", 0},
		{"rr-4345-gso3-sender.pcap", "tcp/tso-split", "tails_visible", 6},
		{"rr-4345-gso3-receiver.pcap", "tcp/tso-split", "tails_visible", 6},
		{"rr-65161-sender.pcap", "tcp/tso-split", "tails_visible", 3},
		{"rr-65161-sender.pcap", "tcp/just-over-mss", "tails_hidden", 3},
		{"nagle-head-3mss1.pcap", "tcp/tso-split", "tails_held", 6},
		{"nagle-head-3mss1.pcap", "tcp/tso-split", "tails_visible", 0},
		{"jumbo-mtu9000.pcap", "tcp/just-over-mss", "tails_hidden", 0},
		{"jumbo-mtu9000.pcap", "tcp/tso-split", "tails_visible", 0}, // four of eight by chance, no two sizes alike but one pair
		{"loopback.pcap", "tcp/just-over-mss", "tails_hidden", 0},
		{"bulk-gro-receiver.pcap", "tcp/stretch-ack", "stretch_acks", 15},
		{"bulk-gro-receiver.pcap", "tcp/stretch-ack", "advancing_acks", 22},
		{"bulk-nogro-receiver.pcap", "tcp/stretch-ack", "stretch_acks", 0}, // five of 269
		{"many-conns.pcap", "tcp/stretch-ack", "stretch_acks", 0},
		{"rtt20-gro-receiver.pcap", "tcp/stretch-ack", "stretch_acks", 70},
		{"loss-queue-sender.pcap", "tcp/retransmission", "retransmitted_packets", 196},
		{"loss-queue-sender.pcap", "tcp/retransmission", "retransmitted_wire_packets", 233},
		{"loss-queue-sender.pcap", "tcp/retransmission", "lost_packets", 233},
		{"loss-queue-sender.pcap", "tcp/reordering", "reordered_packets", 0},
		{"loss-fast-sender.pcap", "tcp/retransmission", "retransmitted_packets", 3},
		{"loss-fast-sender.pcap", "tcp/retransmission", "lost_packets", 3},
		{"loss-random-receiver.pcap", "tcp/retransmission", "lost_packets", 14}, // the drops of data in its log
		{"loss-random-receiver.pcap", "tcp/spurious-retransmission", "spurious_packets", 1},
		{"loss-acks-sender.pcap", "tcp/retransmission", "retransmitted_packets", 6},
		{"loss-acks-sender.pcap", "tcp/retransmission", "lost_packets", 0},
		{"loss-acks-sender.pcap", "tcp/spurious-retransmission", "spurious_packets", 6},
		{"reorder-receiver.pcap", "tcp/reordering", "reordered_packets", 12},
		{"reorder-receiver.pcap", "tcp/retransmission", "retransmitted_packets", 1},
		{"zerowindow-sender.pcap", "tcp/retransmission", "lost_packets", 0},
		{"keepalive-ecn.pcap", "tcp/retransmission", "retransmitted_packets", 0},
		{"nagle-wwr-stall.pcap", "tcp/delayed-ack-stall", "stalls", 7},
		{"nagle-wwr-stall.pcap", "tcp/delayed-ack-stall", "nagle_stalls", 7},
		{"nagle-wwr-nodelay.pcap", "tcp/delayed-ack-stall", "stalls", 0},
		{"nagle-head-3mss1.pcap", "tcp/delayed-ack-stall", "stalls", 0}, // held for a round trip, by a prompt ACK
		{"delack-server.pcap", "tcp/delayed-ack-stall", "stalls", 0},
		{"delack-server.pcap", "tcp/delayed-ack-stall", "delayed_acks", 4},
		{"zerowindow-sender.pcap", "tcp/zero-window", "episodes", 1},
		{"zerowindow-sender.pcap", "tcp/zero-window", "probes", 2},
		{"zerowindow-sender.pcap", "tcp/timeout", "timeouts", 0},
		{"loss-acks-sender.pcap", "tcp/timeout", "timeouts", 0}, // tail-loss probes
		{"bulk-gro-receiver.pcap", "tcp/window-full", "window_full_packets", 0},
		{"bulk-plainoptions.pcap", "tcp/no-window-scale", "connections", 1},
		{"mid-stream.pcap", "tcp/no-window-scale", "connections", 0}, // not known
		{"snaplen-60.pcap", "tcp/no-window-scale", "connections", 0}, // not known: the options are cut
		{"refused-reset.pcap", "tcp/reset", "refused", 1},
		{"refused-reset.pcap", "tcp/reset", "aborted", 1},
		{"refused-reset.pcap", "tcp/handshake", "unanswered", 0},
		{"many-conns.pcap", "tcp/reset", "refused", 0},
		{"keepalive-ecn.pcap", "tcp/keepalive-only", "keep_alives", 3},
		{"zerowindow-sender.pcap", "tcp/keepalive-only", "keep_alives", 0}, // Linux probes a closed window with the same packets
		{"two-interfaces.pcapng", "tcp/retransmission", "retransmitted_packets", 0},
		{"mixed-linktypes.pcapng", "tcp/retransmission", "retransmitted_packets", 0},
		{"mixed-linktypes.pcapng", "tcp/just-over-mss", "tails_hidden", 5},
	} {
		t.Run(c.file+" "+c.measure, func(t *testing.T) {
			if got := measure(t, read(t, fixture(t, c.file)).Capture, c.rule, c.measure); got != c.want {
				t.Errorf("%s = %g, want %g", c.rule, got, c.want)
			}
		})
	}
}

// fixture returns the path of a capture in the tree.
func fixture(t testing.TB, name string) string {
	t.Helper()
	for _, dir := range []string{fixtures, bundle} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatalf("no fixture %s", name)
	return ""
}

// TestSeverity holds that severity follows cost, and that clean captures yield nothing above info.
func TestSeverity(t *testing.T) {
	for file, want := range map[string]string{
		"rr-4345-gso3-sender.pcap": "notice tcp/tso-split",
		"rr-4345-sender.pcap":      "notice tcp/just-over-mss",
		"nagle-head-3mss1.pcap":    "warning tcp/tso-split",
		"rr-65161-sender.pcap":     "info tcp/tso-split, info tcp/just-over-mss, info tcp/stretch-ack",
		"bulk-gro-receiver.pcap":   "info tcp/stretch-ack",
		"bulk-nogro-receiver.pcap": "",
		"many-conns.pcap":          "",
		"rr-4344-sender.pcap":      "",
		"delack-server.pcap":       "info tcp/delayed-ack-stall", // nothing waited for them
		"nagle-wwr-stall.pcap":     "warning tcp/delayed-ack-stall",
		"nagle-wwr-nodelay.pcap":   "",
		"keepalive-ecn.pcap":       "info tcp/keepalive-only",
		"refused-reset.pcap":       "notice tcp/reset",
		"bulk-plainoptions.pcap":   "info tcp/no-window-scale",
		"zerowindow-sender.pcap":   "info tcp/retransmission, notice tcp/spurious-retransmission, warning tcp/zero-window, notice tcp/window-full",
		"loopback.pcap":            "info tcp/zero-window",
		"loss-queue-sender.pcap":   "warning tcp/retransmission",
		"loss-acks-sender.pcap":    "info tcp/retransmission, notice tcp/spurious-retransmission",
		"reorder-receiver.pcap":    "info tcp/retransmission, info tcp/spurious-retransmission, notice tcp/reordering",
	} {
		t.Run(file, func(t *testing.T) {
			if got := findings(t, read(t, fixture(t, file)).Capture); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// findings lists the findings of the rules about connections, each checked for completeness.
func findings(t *testing.T, c *Capture) string {
	t.Helper()
	var list []string
	for _, on := range tcpRules() {
		if on.Name == "tcp/limited-by" { // says something of every transfer; its verdicts have tests of their own
			for _, f := range on.Run(c, nil) {
				complete(t, &f)
			}
			continue
		}
		for _, f := range on.Run(c, nil) {
			list = append(list, fmt.Sprintf("%v %s", f.Severity, f.Rule))
			complete(t, &f)
		}
	}
	return strings.Join(list, ", ")
}

// complete holds what every finding must have.
func complete(t *testing.T, f *finding.Finding) {
	t.Helper()
	if f.Summary == "" || len(f.Measures) == 0 || len(f.Evidence) == 0 || len(f.Advice) == 0 || f.Source == "" || !strings.HasPrefix(f.Subject.Key, "tcp/") {
		t.Errorf("incomplete: %+v", f)
	}
	for _, e := range f.Evidence {
		if e.Record == 0 || e.Offset == 0 || e.Source != f.Source || e.Text == "" {
			t.Errorf("evidence without a place: %+v", e)
		}
	}
	for _, a := range f.Advice {
		if a.Text == "" || a.Reference == "" {
			t.Errorf("advice without text or reference: %+v", a)
		}
	}
	if !slices.IsSortedFunc(f.Evidence, func(a, b finding.Evidence) int { return int(a.Record - b.Record) }) {
		t.Errorf("evidence out of order: %+v", f.Evidence)
	}
}

// TestTruthTable runs the rows of the project's truth table whose rules are in this package.
func TestTruthTable(t *testing.T) {
	checks, captures := shared.Path(t, "checks"), shared.Path(t, "data/pcap")
	f, err := os.Open(filepath.Join(checks, "tcp-truth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) != 4 || strings.HasPrefix(cells[0], "#") {
			continue
		}
		if _, here := rules()[cells[1]]; !here {
			continue
		}
		rows++
		want, err := strconv.ParseFloat(cells[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := measure(t, read(t, filepath.Join(captures, cells[0])).Capture, cells[1], cells[2]); got != want {
			t.Errorf("%s %s %s = %g, truth %g", cells[0], cells[1], cells[2], got, want)
		}
	}
	if rows < 26 {
		t.Errorf("only %d rows are judged", rows)
	}
}

// manifestRow is what the manifest of the sample captures says of one.
type manifestRow struct {
	file                          string
	tcp, streams, largest, super_ int
	segs, stretch, advancing      int
	marks                         string
}

// manifest reads the tables of a MANIFEST.md as the sample captures have.
func manifest(t *testing.T, path string) []manifestRow {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []manifestRow
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) < 13 || cells[0] == "| file" {
			continue
		}
		r := manifestRow{file: strings.TrimPrefix(cells[0], "| "), marks: cells[12]}
		var degree float64
		for i, to := range map[int]*int{3: &r.tcp, 4: &r.streams, 8: &r.largest, 9: &r.super_, 10: &r.segs} {
			if *to, err = strconv.Atoi(cells[i]); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		if _, err := fmt.Sscanf(cells[11], "%d/%d (%f)", &r.stretch, &r.advancing, &degree); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, r)
	}
	return rows
}

// TestManifest compares every sample capture with the figures that tshark and arithmetic give in its manifest.
func TestManifest(t *testing.T) {
	dir := shared.Path(t, "data/pcap")
	copies := map[string]int{ // the manifest counts every copy; here they are set aside
		"two-interfaces.pcapng": 160, "two-interfaces.pcapng.gz": 160, "comments.pcapng": 160, "with-secrets.pcapng": 160, "mixed-linktypes.pcapng": 84, "truncated-midblock.pcapng": 96,
		"loss-random-receiver.pcap": 3, // duplicated by the network, within microseconds
	}
	unknownMSS := map[string]bool{"mid-stream.pcap": true, "snaplen-60.pcap": true} // tshark's fields have no MSS, or no timestamps
	rows := manifest(t, filepath.Join(dir, "MANIFEST.md"))
	if len(rows) < 80 {
		t.Fatalf("only %d rows in the manifest", len(rows))
	}
	for _, r := range rows {
		if r.file == "base.pcap.xz" { // tshark does not read it
			r = manifestRow{"base.pcap.xz", 27, 1, 4345, 5, 25, 2, 14, ""}
		}
		t.Run(r.file, func(t *testing.T) {
			j := read(t, filepath.Join(dir, r.file))
			total := &j.Totals
			if got := total.Packets + total.Copies; int(got) != r.tcp || int(total.Copies) != copies[r.file] || int(total.Connections) != r.streams {
				t.Errorf("%d packets, %d of them copies, %d connections; want %d, %d, %d", got, total.Copies, total.Connections, r.tcp, copies[r.file], r.streams)
			}
			if copies[r.file] > 0 || unknownMSS[r.file] {
				return
			}
			keepAlive := 0 // the manifest counts their byte
			if int(total.WirePackets)+keepAlive != r.segs || int(total.SuperSegments) != r.super_ {
				t.Errorf("%d packets on the wire, %d super-segments; want %d, %d", total.WirePackets, total.SuperSegments, r.segs, r.super_)
			}
			if int(total.ACKs.Advancing) != r.advancing {
				t.Errorf("%d advancing ACKs, want %d", total.ACKs.Advancing, r.advancing)
			}
			// The manifest does not leave out the ACKs that end a recovery.
			if lossy := strings.Contains(r.marks, "retransmission"); !lossy && int(total.ACKs.Stretch) != r.stretch {
				t.Errorf("%d stretch ACKs, want %d", total.ACKs.Stretch, r.stretch)
			}
			if clean := !strings.Contains(r.marks, "retransmission") && !strings.Contains(r.marks, "out_of_order"); clean && total.RetransmittedPackets+total.ReorderedPackets > 0 {
				t.Errorf("%d retransmissions, %d late packets in a clean capture", total.RetransmittedPackets, total.ReorderedPackets)
			}
		})
	}
}

// TestSameBytesEverywhere holds the identity that sender, wire and receiver of one transfer agree on.
func TestSameBytesEverywhere(t *testing.T) {
	dir := shared.Path(t, "data/pcap")
	for _, files := range [][]string{
		{"bulk-tso-sender.pcap", "bulk-tso-wire.pcap", "bulk-gro-receiver.pcap"},
		{"bulk-tso-sender2.pcap", "bulk-nogro-receiver.pcap"},
		{"rtt20-sender.pcap", "rtt20-wire-raw.pcap", "rtt20-gro-receiver.pcap"},
		{"rr-4345-sender.pcap", "rr-4345-wire.pcap", "rr-4345-receiver.pcap"},
	} {
		first := read(t, filepath.Join(dir, files[0])).Totals
		for _, f := range files[1:] {
			if other := read(t, filepath.Join(dir, f)).Totals; other.WirePackets != first.WirePackets || other.GoodputBytes != first.GoodputBytes {
				t.Errorf("%s: %d packets, %d bytes; %s: %d, %d", files[0], first.WirePackets, first.GoodputBytes, f, other.WirePackets, other.GoodputBytes)
			}
		}
	}
}

// TestReencodings holds that a capture's container changes nothing but times and places.
func TestReencodings(t *testing.T) {
	base := plain(read(t, filepath.Join(fixtures, "base.pcap")))
	for _, f := range []string{"base.pcap.gz", "base.pcap.zst", "base.pcap.xz", "base.pcap.lz4", "big-endian.pcap", "big-endian-ns.pcap", "modified-magic.pcap", "version-2.3.pcap", "snaplen-zero.pcap",
		"snaplen-lies.pcap", "fcs-linktype.pcap", "raw-ip.pcap", "null-loopback.pcap", "loop-loopback.pcap", "ppp-hdlc.pcap", "vlan.pcap", "qinq.pcap", "mpls.pcap", "gre.pcap", "ipip.pcap", "geneve.pcap",
		"snoop.snoop", "big-endian.pcapng", "tsresol-ns.pcapng", "tsresol-2pow20.pcapng", "tsresol-2pow32.pcapng", "custom-block.pcapng", "epb-flags-be.pcapng", "snaplen-zero.pcapng", "simple-packets.pcapng", "tsresol-ms.pcapng"} {
		if got := plain(read(t, filepath.Join(fixtures, f))); got != base {
			t.Errorf("%s: %s\nbase.pcap: %s", f, got, base)
		}
	}
}

// plain prints the judgements of a capture without times.
func plain(j *judged) string {
	var b strings.Builder
	for _, m := range j.marks {
		fmt.Fprintln(&b, m.Connection, m.Reverse, m.WirePackets, m.Flags.Names())
	}
	for _, c := range j.Connections {
		fmt.Fprintln(&b, c.Client, c.Server, c.Began, c.Ended, c.Handshake.Ends, c.Exchanges.Count, c.Exchanges.Usual)
		for _, d := range c.Directions {
			d.Limits = LimitTimes{} // a gap rounds to other nanoseconds
			fmt.Fprintln(&b, d.EffectiveMSS, d.Activity)
		}
	}
	return b.String()
}
