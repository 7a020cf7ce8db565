package tcp

import (
	"path/filepath"
	"slices"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/unit"
)

// The cases are captures rebuilt from public reports, with the right outcome beside them.

func TestCaseVLANInOneDirection(t *testing.T) {
	j := read(t, filepath.Join(shared.Path(t, "cases/12-vlan-one-direction"), "half-tagged.pcap"))
	if len(j.Connections) != 1 {
		t.Fatalf("%d connections, want 1", len(j.Connections))
	}
	c := &j.Connections[0]
	out, in := &c.Directions[ClientToServer], &c.Directions[ServerToClient]
	if c.Name() != "192.0.2.10:42000 > 198.51.100.20:3306" || out.Packets != 13 || out.Bytes != 480 || in.Packets != 7 || in.Bytes != 1200 {
		t.Errorf("%s: %d packets with %d bytes out, %d with %d in", c.Name(), out.Packets, out.Bytes, in.Packets, in.Bytes)
	}
	if c.Handshake.ToServer != unit.Millisecond || c.Exchanges.Count != 6 || c.Exchanges.Times.Min != unit.Millisecond || c.Exchanges.Times.Max != unit.Millisecond {
		t.Errorf("handshake %v, %d exchanges of %v", c.Handshake.ToServer, c.Exchanges.Count, c.Exchanges.Times)
	}
	if out.VLAN != 2 || out.TaggedPackets != 13 || in.TaggedPackets != 0 {
		t.Errorf("VLAN %d on %d packets out, %d packets in are tagged; want VLAN 2 or a priority tag on all 13, and none", out.VLAN, out.TaggedPackets, in.TaggedPackets)
	}
	if j.Totals.RetransmittedPackets != 0 || j.Totals.Gaps != 0 {
		t.Errorf("%d retransmissions, %d gaps", j.Totals.RetransmittedPackets, j.Totals.Gaps)
	}
}

func TestCaseKeepAlives(t *testing.T) {
	j := read(t, filepath.Join(shared.Path(t, "cases/13-keepalive-not-loss"), "keepalive.pcap"))
	out, in := &j.Connections[0].Directions[ClientToServer], &j.Connections[0].Directions[ServerToClient]
	if out.KeepAlives != 3 || in.KeepAlives != 2 || out.Bytes != 20 || in.Bytes != 22 {
		t.Errorf("%d and %d keep-alives, %d and %d bytes", out.KeepAlives, in.KeepAlives, out.Bytes, in.Bytes)
	}
	if sum := j.Totals; sum.RetransmittedPackets != 0 || sum.DuplicateACKs != 0 || sum.LostPackets != 0 || sum.Timeouts != 0 {
		t.Errorf("%+v", sum.Loss)
	}
	if got := j.flagged(FlagKeepAlive); !slices.Equal(got, []int{7, 9, 11, 13, 15}) {
		t.Errorf("keep-alives are %v", got)
	}
	if got := j.flagged(FlagKeepAliveACK); !slices.Equal(got, []int{8, 10, 12, 14, 16}) {
		t.Errorf("answers to keep-alives are %v", got)
	}
	if out.Waits.KeepAlivesAnswered != 3 || in.Waits.KeepAlivesAnswered != 2 {
		t.Errorf("%d and %d were answered", out.Waits.KeepAlivesAnswered, in.Waits.KeepAlivesAnswered)
	}
}

func TestCaseSequenceWrap(t *testing.T) {
	j := read(t, filepath.Join(shared.Path(t, "cases/14-seq-wrap"), "wrap.pcap"))
	in := &j.Connections[0].Directions[ServerToClient]
	if in.GoodputBytes != 17376 || in.MissedBytes != 0 {
		t.Errorf("%d bytes, %d missed", in.GoodputBytes, in.MissedBytes)
	}
	for flag, want := range map[Flags][]int{FlagReordered: {10}, FlagRetransmission: {19}, FlagDuplicateACK: {17, 18}} {
		if got := j.flagged(flag); !slices.Equal(got, want) {
			t.Errorf("%v are %v, want %v", flag.Names(), got, want)
		}
	}
}

func TestCaseMirrorPort(t *testing.T) {
	for _, file := range []string{"same-vlan.pcap", "routed.pcap"} {
		j := read(t, filepath.Join(shared.Path(t, "cases/15-span-duplicates"), file))
		c := &j.Connections[0]
		out, in := &c.Directions[ClientToServer], &c.Directions[ServerToClient]
		if j.Totals.Copies != 11 || out.Packets+in.Packets != 11 {
			t.Errorf("%s: %d copies, %d packets", file, j.Totals.Copies, out.Packets+in.Packets)
		}
		if got := j.flagged(FlagRetransmission); !slices.Equal(got, []int{19}) || in.SpuriousPackets != 1 || in.LostPackets != 0 {
			t.Errorf("%s: retransmissions %v, %d needless, %d lost", file, got, in.SpuriousPackets, in.LostPackets)
		}
		if in.GoodputBytes != 5840 || in.Bytes != 7300 || out.Bytes != 120 || out.DuplicateACKs > 1 {
			t.Errorf("%s: %d of %d bytes in, %d out, %d duplicate ACKs", file, in.GoodputBytes, in.Bytes, out.Bytes, out.DuplicateACKs)
		}
	}
}

func TestCaseMidstream(t *testing.T) {
	j := read(t, filepath.Join(shared.Path(t, "cases/16-midstream-no-wscale"), "midstream.pcap"))
	c := &j.Connections[0]
	if c.Began != "midstream" || c.Handshake.WindowScaleKnown || c.Handshake.RoundTrip != 0 {
		t.Errorf("began %s, handshake %+v", c.Began, c.Handshake)
	}
	if got := j.flagged(FlagZeroWindow); !slices.Equal(got, []int{168}) {
		t.Errorf("zero windows are %v", got)
	}
	if j.Totals.RetransmittedPackets != 0 || j.Totals.Gaps != 0 {
		t.Errorf("%d retransmissions, %d gaps", j.Totals.RetransmittedPackets, j.Totals.Gaps)
	}
	if d := &c.Directions[ServerToClient]; d.EffectiveMSS != 1448 || d.MSSSource != MSSObserved {
		t.Errorf("MSS %d, %s", d.EffectiveMSS, d.MSSSource)
	}
}

func TestCaseNagleExchanges(t *testing.T) {
	j := read(t, filepath.Join(shared.Path(t, "cases/17-nagle-keepalive-40ms"), "httpd.pcap"))
	c := &j.Connections[0]
	if x := &c.Exchanges; x.Count != 3 || x.Times.Min != 290*unit.Microsecond || x.Times.P50 != 41030*unit.Microsecond || x.Times.Max != 41330*unit.Microsecond || !x.Sequential() {
		t.Errorf("%+v", c.Exchanges)
	}
	if u := &c.Exchanges.Usual; u.RequestBytes != 73 || u.ResponseBytes != 117 || u.Count != 3 {
		t.Errorf("%+v", u)
	}
}

func TestCaseFastOpen(t *testing.T) {
	j := read(t, filepath.Join(shared.Path(t, "cases/27-tfo-syn-data"), "tfo.pcap"))
	if len(j.Connections) != 3 {
		t.Fatalf("%d connections, want 3", len(j.Connections))
	}
	for i, want := range []struct {
		fastOpen string
		sent     int64
		answer   unit.Nanos
	}{{"accepted", 100, 20200 * unit.Microsecond}, {"refused", 200, 40 * unit.Millisecond}, {"accepted", 100, 20200 * unit.Microsecond}} {
		c := &j.Connections[i]
		out, in := &c.Directions[ClientToServer], &c.Directions[ServerToClient]
		if c.Handshake.FastOpen != want.fastOpen || out.GoodputBytes != 100 || out.Bytes != want.sent || in.GoodputBytes != 400 {
			t.Errorf("%d: %s, %d of %d bytes out, %d in", i, c.Handshake.FastOpen, out.GoodputBytes, out.Bytes, in.GoodputBytes)
		}
		if c.Handshake.ToServer != 20*unit.Millisecond || c.Exchanges.Count != 1 || c.Exchanges.Usual.RequestBytes != 100 || c.Exchanges.Times.Max != want.answer {
			t.Errorf("%d: handshake %v, %+v", i, c.Handshake.ToServer, c.Exchanges)
		}
	}
	if got := j.flagged(FlagFastOpenFallback); !slices.Equal(got, []int{11}) {
		t.Errorf("fallbacks are %v", got)
	}
	if got := j.flagged(FlagRetransmission | FlagGap); len(got) > 0 {
		t.Errorf("retransmissions or gaps: %v", got)
	}
}

// Public captures with known oddities.
func TestPublic(t *testing.T) {
	dir := shared.Path(t, "data/public-pcap")
	dups := read(t, filepath.Join(dir, "zeek-ssh-dups.pcap")).Totals
	if dups.Copies != 280 || dups.RetransmittedPackets != 0 || dups.DuplicateACKs != 0 {
		t.Errorf("zeek-ssh-dups: %d copies, %d retransmissions, %d duplicate ACKs; want 280, 0, 0", dups.Copies, dups.RetransmittedPackets, dups.DuplicateACKs)
	}
	scan := read(t, filepath.Join(dir, "ndpi-synscan.pcap"))
	if scan.Totals.Connections != 1994 || scan.Totals.RetransmittedPackets != 0 {
		t.Errorf("ndpi-synscan: %d connections, %d retransmissions", scan.Totals.Connections, scan.Totals.RetransmittedPackets)
	}
	want := map[string]string{
		"ndpi-ipp.pcap":                  "info tcp/retransmission, info tcp/spurious-retransmission, notice tcp/delayed-ack-stall, warning tcp/zero-window, warning tcp/timeout, warning tcp/window-full", // the ACK echoes the first sending
		"ndpi-synscan.pcap":              "notice tcp/handshake, notice tcp/reset",
		"pcpp-pcapng-example.pcapng.zst": "info tcp/delayed-ack-stall, notice tcp/reset",
		"pcpp-solaris.snoop":             "info tcp/delayed-ack-stall",
		"zeek-reassembly.pcap":           "warning tcp/retransmission, warning tcp/timeout",
		"zeek-retransmit-fast009.pcap":   "warning tcp/retransmission, notice tcp/reset",
		"zeek-ssh-dups.pcap":             "notice tcp/delayed-ack-stall",
		"zeek-timestamp.pcap":            "info tcp/stretch-ack, notice tcp/delayed-ack-stall",
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.*"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if name := filepath.Base(f); filepath.Ext(f) != ".md" && findings(t, read(t, f).Capture) != want[name] {
			t.Errorf("%s: %q, want %q", name, findings(t, read(t, f).Capture), want[name])
		}
	}
}

// Captures at both ends whose losses are known from the emulator's log.
func TestLimits(t *testing.T) {
	dir := shared.Path(t, "data/limits")
	for file, lost := range map[string]int64{"net-loss-sender.pcap": 36, "net-loss-receiver.pcap": 36, "timeout-sender.pcap": 43, "app-idle-sender.pcap": 0, "rwnd-receiver.pcap": 0, "slow-start-sender.pcap": 0} {
		if got := read(t, filepath.Join(dir, file)).Totals; got.LostPackets != lost || got.ReorderedPackets != 0 {
			t.Errorf("%s: %d lost, %d late; want %d, 0", file, got.LostPackets, got.ReorderedPackets, lost)
		}
	}
	if got := read(t, filepath.Join(dir, "timeout-sender.pcap")).Totals.Timeouts; got != 3 {
		t.Errorf("timeout-sender: %d timeouts, want 3", got)
	}
}
