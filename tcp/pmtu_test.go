package tcp

import (
	"net/netip"
	"strings"
	"testing"

	"nettrace/finding"
	"nettrace/unit"
)

// TestPathMTU holds the three pictures of a path whose MTU is smaller than the sender's, and that other timeouts are none.
func TestPathMTU(t *testing.T) {
	for file, want := range map[string]struct {
		severity   finding.Severity
		confidence finding.Level
		holes, mtu float64
		says       string
	}{
		"pmtu-icmp.pcap":              {finding.Info, finding.High, 0, 1300, "the path's MTU is 1300"},
		"pmtu-probing.pcap":           {finding.Warning, finding.High, 1, 0, "in pieces of 1024 bytes they do; no router says so"},
		"pmtu-hole.pcap":              {finding.Notice, finding.Low, 1, 0, "segments of 1448 bytes do not get through"},
		"limit-timeout-receiver.pcap": {}, // a flight lost whole, then resent in vain, for another reason
		"loss-acks-sender.pcap":       {},
		"base.pcap":                   {},
	} {
		found := PMTU().Run(read(t, fixture(t, file)).Capture, nil)
		if want.says == "" {
			if len(found) != 0 {
				t.Errorf("%s: %s", file, found[0].Summary)
			}
			continue
		}
		if len(found) != 1 {
			t.Errorf("%s: %d findings", file, len(found))
			continue
		}
		f := found[0]
		holes, _ := f.Measure("black_holes")
		mtu, _ := f.Measure("mtu")
		if f.Severity != want.severity || f.Confidence != want.confidence || holes != want.holes || mtu != want.mtu || !strings.Contains(f.Summary, want.says) || len(f.Evidence) == 0 {
			t.Errorf("%s: %v %v %s, holes %g, MTU %g", file, f.Severity, f.Confidence, f.Summary, holes, mtu)
		}
	}
}

// TestNoticesIgnoredAndMerged holds what else ICMP can tell: of a sender that does not heed it, and of packets that were
// merged on the way.
func TestNoticesIgnoredAndMerged(t *testing.T) {
	s := newScript(0, base)
	s.handshake()
	s.write(&s.client, &s.server, 20_000, 4)
	c, _ := track(s.packets)
	k := &c.Connections[0]
	for name, x := range map[string]struct {
		count int64
		mtu   int
		says  string
	}{
		"heeded":  {2, 1400, "the path's MTU is 1400"},
		"ignored": {3, 1400, "goes on sending"},
		"merged":  {1, 1500, "LRO"},
	} {
		c.Notices = []Notice{{Kind: tooBigNotice, Transport: "tcp", From: netip.MustParseAddr("203.0.113.1"), Src: k.Client, Dst: k.Server, Count: x.count, MTU: x.mtu, LargestIPBytes: 2948, Record: 9}}
		found := PMTU().Run(c, nil)
		if len(found) != 1 || !strings.Contains(found[0].Summary, x.says) || found[0].Evidence[0].Record != 9 {
			t.Errorf("%s: %+v", name, found)
		}
	}
	c.Notices[0].Transport = "udp"
	if found := PMTU().Run(c, nil); len(found) != 0 {
		t.Errorf("UDP: %+v", found)
	}
}

// TestStuck holds what makes a black hole of timeouts.
func TestStuck(t *testing.T) {
	const ms = unit.Millisecond
	at := func(n int) exemplar { return exemplar{record: int64(n), at: unit.Nanos(n) * 200 * ms} }
	var k stuck
	for n := range 4 {
		k.again(at(n), 1000, 1448)
	}
	if k.acknowledged(2448, 900*ms) || k.holes.BlackHoles != 0 {
		t.Errorf("what passes whole is no hole: %+v", k.holes)
	}
	for n := range 3 {
		k.again(at(n), 3000, 100)
	}
	k.acknowledged(3000, 0)
	if k.end(unit.Second, false) {
		t.Error("small segments fit any path")
	}
	for n := range 2 {
		k.again(at(n), 5000, 1448)
	}
	k.again(at(2), 5000, 512)
	if !k.acknowledged(5512, unit.Second) || k.holes.Passed != 1 || k.holes.PassedBytes != 512 || k.holes.Time != unit.Second {
		t.Errorf("%+v", k.holes)
	}
	for n := range 3 {
		k.again(at(n), 9000, 1448)
	}
	if k.end(unit.Second, false) {
		t.Error("the other end was silent: it may be gone")
	}
}
