package tcp

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nettrace/finding"
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

func udpRules() []finding.On[*Capture] { return []finding.On[*Capture]{UDPLoss(), UDPGSO()} }

// TestUDPFindings holds what the captures of UDP in the tree say: where a rule fires, nearly does, and is silent.
func TestUDPFindings(t *testing.T) {
	for file, want := range map[string]string{
		"udp-iperf3-receiver.pcap":   "warning udp/loss lost_datagrams 12",
		"udp-rtp-receiver.pcap":      "warning udp/loss lost_datagrams 7",
		"udp-gso-sender.pcap":        "notice udp/gso super_datagrams 40",
		"udp-fragments-refused.pcap": "notice udp/loss lost_datagrams 0", // refused; fragments are larger than a frame, too, but no super-datagrams
		"vxlan-tso-sender.pcap":      "",                                 // UDP carries TCP there
		"base.pcap":                  "",
	} {
		c := read(t, fixture(t, file)).Capture
		var got []string
		for _, on := range udpRules() {
			for _, f := range on.Run(c, nil) {
				got = append(got, fmt.Sprintf("%v %s %s %g", f.Severity, f.Rule, f.Measures[0].Name, f.Measures[0].Value))
				if f.Subject.Key == "" || f.Summary == "" || len(f.Evidence) == 0 || len(f.Advice) == 0 || f.Evidence[0].Record == 0 {
					t.Errorf("%s: incomplete: %+v", file, f)
				}
			}
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: got %q, want %q", file, text, want)
		}
	}
}

// TestFragmentsAndRefusals holds a capture of five datagrams of 4000 bytes in three fragments each, and of four to a port
// where nobody listens.
func TestFragmentsAndRefusals(t *testing.T) {
	c := read(t, fixture(t, "udp-fragments-refused.pcap")).Capture
	d := c.Flows[0].Directions[ClientToServer]
	if d.Packets != 5 || d.Fragmented != 5 || d.WirePackets != 15 || d.Bytes != 20000 || d.Super != 0 || c.Packets.Parts != 15 {
		t.Errorf("%+v, %d fragments", d, c.Packets.Parts)
	}
	if len(c.Notices) != 1 || c.Notices[0].Kind != "port-unreachable" || c.Notices[0].Count != 4 || c.Notices[0].Dst.String() != "198.51.100.2:6999" || c.Notices[0].Transport != "udp" {
		t.Errorf("%+v", c.Notices)
	}
}

// numberedDatagrams runs datagrams through a tracker, each a payload; numbers say which are sent when.
func numberedDatagrams(payload func(i uint64, at unit.Nanos) []byte, numbers []uint64) (*Capture, []Mark) {
	var ledger source.Ledger
	tracker := NewTracker("made", Options{}, &ledger)
	var marks []Mark
	for i, n := range numbers {
		now := unit.Second + unit.Nanos(i)*unit.Millisecond
		b := payload(n, now)
		p := pcap.Packet{Record: int64(i + 1), Time: now, HasTime: true, Data: b, WireLen: len(b) + 42, LinkType: 1}
		h := pcap.Header{Network: pcap.IPv4, Transport: pcap.UDP, Src: [16]byte{192, 0, 2, 1}, Dst: [16]byte{192, 0, 2, 2}, SrcPort: 40000, DstPort: 5004, Payload: len(b), IPLen: len(b) + 28,
			TTL: 60, ID: uint16(i + 1), HasID: true, Checksum: uint16(i)}
		marks = append(marks, tracker.Add(&p, &h))
	}
	return tracker.Finish(), marks
}

func rtp(n uint64, _ unit.Nanos) []byte {
	b := make([]byte, 172)
	b[0] = 0x80
	binary.BigEndian.PutUint16(b[2:], uint16(65000+n)) // wraps
	binary.BigEndian.PutUint32(b[8:], 77)
	return b
}

func iperf3(n uint64, at unit.Nanos) []byte {
	b := make([]byte, 100)
	binary.BigEndian.PutUint32(b, uint32(at/unit.Second))
	binary.BigEndian.PutUint32(b[4:], uint32(at%unit.Second/unit.Microsecond))
	binary.BigEndian.PutUint32(b[8:], uint32(n+1))
	binary.BigEndian.PutUint32(b[12:], 0xcafe)
	return b
}

func iperf3Long(n uint64, at unit.Nanos) []byte {
	b := iperf3(n, at)
	binary.BigEndian.PutUint64(b[8:], n+1)
	return b
}

func iperf2(n uint64, at unit.Nanos) []byte {
	b := iperf3(0, at)
	copy(b[4:], b[:8])
	binary.BigEndian.PutUint32(b, uint32(n))
	return b
}

// TestSequenceNumbers holds, for each layout and whatever is lost, late or doubled behind the first ten datagrams, that
// the account is exact.
func TestSequenceNumbers(t *testing.T) {
	for name, payload := range map[string]func(uint64, unit.Nanos) []byte{"rtp": rtp, "iperf3": iperf3, "iperf3 long": iperf3Long, "iperf2": iperf2} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			var numbers []uint64
			var lost, late, doubled, gaps int64
			next := uint64(0)
			for range 10 {
				numbers = append(numbers, next)
				next++
			}
			for _, what := range rapid.SliceOfN(rapid.IntRange(0, 5), 1, 200).Draw(t, "events") {
				switch what {
				case 0:
					lost += 3
					gaps++
					next += 3
				case 1: // two change places
					numbers = append(numbers, next+1, next)
					next += 2
					late++
					gaps++
				case 2:
					numbers = append(numbers, next, next)
					next++
					doubled++
				default:
					numbers = append(numbers, next)
					next++
				}
				if what == 0 { // so that each gap is one of its own
					numbers = append(numbers, next)
					next++
				}
			}
			c, _ := numberedDatagrams(payload, numbers)
			q := c.Flows[0].Directions[ClientToServer].Sequence
			if q == nil {
				t.Fatal("no sequence found")
			}
			if q.Lost != lost || q.Late != late || q.Duplicates != doubled || q.Gaps != gaps || q.Expected != int64(next) || !strings.HasPrefix(name, q.Protocol) {
				t.Fatalf("%+v; want lost %d, late %d, doubled %d, gaps %d of %d", *q, lost, late, doubled, gaps, next)
			}
		}))
	}
}

// TestNoSequence holds that datagrams without a number, or with one that only looks like it, are judged by none.
func TestNoSequence(t *testing.T) {
	t.Run("random", rapid.MakeCheck(func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		c, marks := numberedDatagrams(func(n uint64, _ unit.Nanos) []byte {
			b := make([]byte, 40)
			for i := range b {
				b[i] = byte(mix(seed+n, uint64(i)) >> 13)
			}
			return b
		}, make([]uint64, 100))
		if q := c.Flows[0].Directions[0].Sequence; q != nil {
			t.Fatalf("%+v", q)
		}
		for _, m := range marks {
			if m.Flags&(FlagGap|FlagReordered) != 0 {
				t.Fatalf("%v", m.Flags.Names())
			}
		}
	}))
	c, _ := numberedDatagrams(func(uint64, unit.Nanos) []byte { return []byte("6789") }, []uint64{1, 2, 3})
	if q := c.Flows[0].Directions[0].Sequence; q != nil {
		t.Fatalf("%+v", q)
	}
}

// TestLossIsNotTheNetworks holds that what lacks at the sender is not put down to the network with confidence, and that
// two lost ones are nothing.
func TestLossIsNotTheNetworks(t *testing.T) {
	numbers := []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15}
	c, _ := numberedDatagrams(rtp, numbers)
	if found := UDPLoss().Run(c, nil); len(found) != 0 {
		t.Fatalf("two lost: %+v", found)
	}
	c, _ = numberedDatagrams(rtp, append(numbers, 20, 21))
	found := UDPLoss().Run(c, nil)
	if len(found) != 1 || found[0].Confidence != finding.High {
		t.Fatalf("%+v", found)
	}
	c.Flows[0].Side = Side{AtClient, finding.High, []string{"made so"}}
	if f := UDPLoss().Run(c, nil)[0]; f.Confidence != finding.Low {
		t.Fatalf("%+v", f)
	}
	c.Flows[0].Side = Side{}
	c.Interfaces = []pcap.Interface{{Dropped: 5, OSDrops: -1}}
	if f := UDPLoss().Run(c, nil)[0]; f.Confidence != finding.Medium || len(f.Caveats) != 1 {
		t.Fatalf("%+v", f)
	}
}

// TestFlowTable holds that the table of flows is bounded, and that what is kept does not depend on how it was split up.
func TestFlowTable(t *testing.T) {
	var ledger source.Ledger
	tracker := NewTracker("made", Options{MaxKept: 10}, &ledger)
	tracker.datagrams.maxFlows = 5
	tracker.datagrams.at = map[flowKey]*datagramFlow{}
	tracker.datagrams.maxKept = 10
	for i := range 100 {
		p := pcap.Packet{Record: int64(i + 1), Time: unit.Nanos(i) * unit.Millisecond, HasTime: true}
		h := pcap.Header{Network: pcap.IPv4, Transport: pcap.UDP, Src: [16]byte{10, 0, 0, byte(i)}, SrcPort: 5000, DstPort: 53, Payload: 100 + i}
		tracker.Add(&p, &h)
		if len(tracker.datagrams.at) > 5 {
			t.Fatalf("%d flows", len(tracker.datagrams.at))
		}
	}
	c := tracker.Finish()
	if len(c.Flows) != 10 || c.FlowTotals.Flows != 100 || c.FlowTotals.NotKept != 90 || c.FlowTotals.Evicted != 95 || c.Flows[0].Directions[0].Bytes < 190 || c.Flows[0].Number != 1 {
		t.Fatalf("%d kept, %+v, first %+v", len(c.Flows), c.FlowTotals, c.Flows[0])
	}
	if e := ledger.Entries(); len(e) == 0 || e[0].Name != "flow-evicted" || e[0].Count != 95 {
		t.Fatalf("%+v", ledger.Entries())
	}
	a, b := append([]Flow{}, c.Flows[:4]...), append([]Flow{}, c.Flows[4:]...)
	whole, merged := fmt.Sprint(keepFlows(append([]Flow{}, c.Flows...), 7)), fmt.Sprint(keepFlows(append(b, a...), 7))
	if whole != merged {
		t.Fatalf("%s\n%s", whole, merged)
	}
}

// TestUDPCopies holds that a second sight of a datagram is set aside, and that equal messages are not.
func TestUDPCopies(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *pcap.Packet, h *pcap.Header)
		copy   bool
	}{
		"mirrored":          {func(p *pcap.Packet, h *pcap.Header) {}, true},
		"behind a router":   {func(p *pcap.Packet, h *pcap.Header) { h.TTL--; p.Time += 300 * unit.Millisecond }, true},
		"another interface": {func(p *pcap.Packet, h *pcap.Header) { p.Tap++ }, true},
		"another datagram":  {func(p *pcap.Packet, h *pcap.Header) { h.ID++ }, false},
		"no identification": {func(p *pcap.Packet, h *pcap.Header) { h.HasID = false }, false},
		"much later":        {func(p *pcap.Packet, h *pcap.Header) { p.Time += unit.Second }, false},
		"the other direction": {func(p *pcap.Packet, h *pcap.Header) {
			h.Src, h.Dst, h.SrcPort, h.DstPort = h.Dst, h.Src, h.DstPort, h.SrcPort
		}, false},
	} {
		var ledger source.Ledger
		tracker := NewTracker("made", Options{}, &ledger)
		p := pcap.Packet{Record: 1, Time: unit.Second, HasTime: true}
		h := pcap.Header{Network: pcap.IPv4, Transport: pcap.UDP, Src: [16]byte{192, 0, 2, 1}, Dst: [16]byte{192, 0, 2, 2}, SrcPort: 40000, DstPort: 53, Payload: 100, ID: 7, HasID: true, TTL: 64, Checksum: 99}
		tracker.Add(&p, &h)
		p.Time += 15 * unit.Microsecond
		c.change(&p, &h)
		if m := tracker.Add(&p, &h); (m.Flags&FlagCopy != 0) != c.copy {
			t.Errorf("%s: %v", name, m.Flags.Names())
		}
	}
}
