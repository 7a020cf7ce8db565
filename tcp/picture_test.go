package tcp

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/pcap"
	"nettrace/unit"
)

// TestCaptureFindings holds what each capture in the tree did to its picture: where a rule fires, nearly does, and is silent.
func TestCaptureFindings(t *testing.T) {
	for file, want := range map[string]string{
		"two-interfaces.pcapng":    "notice capture/duplicates 160, info capture/above-offload 13, info capture/truncated 144, info capture/checksum-offload 8, notice capture/clock 3",
		"base.pcap":                "info capture/above-offload 5, info capture/truncated 10, info capture/checksum-offload 4",
		"snaplen-60.pcap":          "info capture/above-offload 11, notice capture/truncated 31, info capture/checksum-offload 4",
		"jumbo-mtu9000.pcap":       "info capture/truncated 62, info capture/checksum-offload 5", // large packets, no offload
		"loopback.pcap":            "info capture/truncated 14, info capture/checksum-offload 5",
		"loss-acks-sender.pcap":    "info capture/truncated 18, info capture/checksum-offload 4", // duplicate ACKs are no copies
		"rr-4345-wire.pcap":        "info capture/checksum-offload 4",                            // nothing was cut, and the segments of the requests are single
		"nagle-wwr-nodelay.pcap":   "info capture/checksum-offload 4",
		"bulk-nogro-receiver.pcap": "info capture/truncated 422, info capture/checksum-offload 1",
	} {
		t.Run(file, func(t *testing.T) {
			c := read(t, fixture(t, file)).Capture
			if got := pictured(t, c); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// pictured lists the findings about the capture itself, with their first measures.
func pictured(t *testing.T, c *Capture) string {
	t.Helper()
	var list []string
	for _, on := range captureRules() {
		for _, f := range on.Run(c, nil) {
			list = append(list, fmt.Sprintf("%v %s %g", f.Severity, f.Rule, f.Measures[0].Value))
			if f.Subject.Kind != "capture" || f.Subject.Key == "" || f.Summary == "" || len(f.Evidence) == 0 || len(f.Advice) == 0 || f.Advice[0].Reference == "" {
				t.Errorf("incomplete: %+v", f)
			}
			for _, e := range f.Evidence {
				if e.Record == 0 || e.Source != f.Source {
					t.Errorf("evidence without a place: %+v", e)
				}
			}
		}
	}
	return strings.Join(list, ", ")
}

func TestCaseMirrorPortIsAFinding(t *testing.T) {
	for file, routed := range map[string]float64{"same-vlan.pcap": 0, "routed.pcap": 11} {
		c := read(t, filepath.Join(shared.Path(t, "cases/15-span-duplicates"), file)).Capture
		for name, want := range map[string]float64{"copies": 11, "copy_distance": 15_000, "routed_copies": routed} {
			if got := measure(t, c, "capture/duplicates", name); got != want {
				t.Errorf("%s: %s is %g, want %g", file, name, got, want)
			}
		}
		if found := Retransmission().Run(c, nil); len(found) != 1 || !strings.Contains(strings.Join(found[0].Caveats, ""), "capture/duplicates") {
			t.Errorf("%s: no caveat on what copies could fake: %+v", file, found)
		}
	}
}

// upload makes up an upload of full segments, each acknowledged.
func upload(segments int) *script {
	s := newScript(0, base)
	s.handshake()
	for range segments {
		s.send(&s.client, &s.server, pcap.ACK, 1448)
		s.send(&s.server, &s.client, pcap.ACK, 0)
	}
	return s
}

// TestLackingPackets holds that what a capture lacks is told apart from loss: the other end acknowledges it.
func TestLackingPackets(t *testing.T) {
	s := upload(100)
	whole, _ := track(s.packets)
	if got := measure(t, whole, "capture/loss", "missed_bytes"); got != 0 {
		t.Errorf("%g bytes lack in a whole capture", got)
	}
	lacking := append(append([]made{}, s.packets[:23]...), s.packets[24:]...) // a data packet
	c, _ := track(lacking)
	if got := measure(t, c, "capture/loss", "missed_bytes"); got != 1448 {
		t.Errorf("%g bytes lack, want 1448", got)
	}
	if c.Totals.RetransmittedPackets+c.Totals.ReorderedPackets != 0 {
		t.Errorf("%+v", c.Totals.Loss)
	}
}

// TestFragments holds that what follows the first fragment of a packet, which alone names the connection, does not count as
// lacking or lost, and that what lacks otherwise does.
func TestFragments(t *testing.T) {
	s := upload(100)
	for _, n := range []int{23, 45, 203 - 2} { // data packets, the last one too
		p := &s.packets[n]
		p.header.Fragment, p.header.FirstFrag = true, true
		p.header.Payload = 1000
	}
	c, _ := track(s.packets)
	d := &c.Connections[0].Directions[ClientToServer]
	if c.Totals.MissedBytes != 0 || c.Totals.RetransmittedPackets+c.Totals.ReorderedPackets != 0 || d.Gaps != 0 || d.GoodputBytes != 100*1448 || d.Bytes != 100*1448 {
		t.Errorf("%d bytes lack, %d gaps, %d bytes, %d of them once, %+v", c.Totals.MissedBytes, d.Gaps, d.Bytes, d.GoodputBytes, c.Totals.Loss)
	}
	lacking := append(append([]made{}, s.packets[:61]...), s.packets[62:]...)
	c, _ = track(lacking)
	if c.Totals.MissedBytes != 1448 {
		t.Errorf("%d bytes lack, want 1448", c.Totals.MissedBytes)
	}
}

// TestClock holds that late directions and steps back are told.
func TestClock(t *testing.T) {
	s := upload(50)
	for i := 40; i < 60; i += 2 { // ACKs are recorded before their data
		s.packets[i-1], s.packets[i] = s.packets[i], s.packets[i-1]
		s.packets[i-1].packet.Time, s.packets[i].packet.Time = s.packets[i].packet.Time, s.packets[i-1].packet.Time
	}
	c, _ := track(s.packets)
	if got := measure(t, c, "capture/clock", "behind_acks"); got != 10 {
		t.Errorf("%g data packets behind their ACKs, want 10", got)
	}
	s = upload(50)
	s.packets[50].packet.Time -= 20 * unit.Microsecond // less than the step before: still in order
	if c, _ := track(s.packets); len(Clock().Run(c, nil)) != 0 {
		t.Error("a capture in order is reported")
	}
	s.packets[50].packet.Time -= 60 * unit.Microsecond
	c, _ = track(s.packets)
	if found := Clock().Run(c, nil); len(found) != 1 || found[0].Severity.String() != "info" {
		t.Errorf("a small step: %+v", found)
	}
}

// TestWrongChecksums holds that checksums are looked at in whole packets.
func TestWrongChecksums(t *testing.T) {
	c := read(t, filepath.Join(shared.Path(t, "data/public-pcap"), "zeek-mpls-in-vlan.pcap")).Capture
	if got := measure(t, c, "capture/checksum-offload", "wrong_checksums"); got != 3 {
		t.Errorf("%g wrong checksums, want 3", got)
	}
}

// TestShareOfDrops: a file that holds a part of a recording does not make the part that was dropped larger.
func TestShareOfDrops(t *testing.T) {
	for name, x := range map[string]struct {
		interfaces []pcap.Interface
		want       float64
	}{
		"counted":                 {[]pcap.Interface{{Received: 1000, Dropped: 10}}, 0.01},
		"of two":                  {[]pcap.Interface{{Received: 600, Dropped: 10}, {Received: 400, OSDrops: 10}}, 0.02},
		"received is not counted": {[]pcap.Interface{{Received: -1, Dropped: 10}}, 0.5},
		"received less than held": {[]pcap.Interface{{Received: 4, Dropped: 10}}, 0.5},
	} {
		c := &Capture{Interfaces: x.interfaces}
		c.Packets.Total = 10
		if got := measure(t, c, "capture/loss", "dropped_share"); got != x.want {
			t.Errorf("%s: %g is told to be dropped, want %g", name, got, x.want)
		}
	}
}
