package tcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// script makes up the packets of one connection, as a sender with TSO would be captured, with what goes wrong on the way.
type script struct {
	client, server end
	packets        []made
	now            unit.Nanos
}

type made struct {
	packet pcap.Packet
	header pcap.Header
}

func newScript(number int, start unit.Nanos) *script {
	return &script{
		client: end{addr: [4]byte{192, 0, 2, byte(1 + number)}, port: 40000, seq: 1000, id: 10},
		server: end{addr: [4]byte{198, 51, 100, 2}, port: 5001, seq: 2000, id: 20}, now: start,
	}
}

func (s *script) send(from, to *end, flags uint8, payload int) *made {
	s.now += 50 * unit.Microsecond
	h := from.header(to, flags, payload)
	h.Options.TSVal, h.Options.TSEcr = uint32(s.now/unit.Millisecond), 1
	from.id += uint16(max(1, wire(payload, 1448)) - 1)
	s.packets = append(s.packets, made{pcap.Packet{Time: s.now, HasTime: true, LinkType: 1, WireLen: 66 + payload, CapLen: 66}, h})
	return &s.packets[len(s.packets)-1]
}

func (s *script) handshake() {
	s.send(&s.client, &s.server, pcap.SYN, 0)
	s.now += 2 * unit.Millisecond
	s.send(&s.server, &s.client, pcap.SYN|pcap.ACK, 0)
	s.send(&s.client, &s.server, pcap.ACK, 0)
}

// write sends a message in packets of up to segments MSS.
func (s *script) write(from, to *end, bytes, segments int) {
	for left := bytes; left > 0; {
		n := min(left, segments*1448)
		left -= n
		flags := pcap.ACK
		if left == 0 {
			flags |= pcap.PSH
		}
		s.send(from, to, flags, n)
	}
}

// resend repeats the last packet of an end as its stack would: with another identification and a newer timestamp.
func (s *script) resend(from *end) {
	for i := len(s.packets) - 1; i >= 0; i-- {
		if m := s.packets[i]; m.header.SrcPort == from.port && m.header.Payload > 0 {
			s.now += 3 * unit.Millisecond
			m.packet.Time = s.now
			m.header.ID = from.id
			m.header.Options.TSVal = uint32(s.now / unit.Millisecond)
			from.id += uint16(wire(m.header.Payload, 1448))
			s.packets = append(s.packets, m)
			return
		}
	}
}

// late swaps the last two packets, which keep their times.
func (s *script) late() {
	if n := len(s.packets); n > 5 {
		a, b := &s.packets[n-2], &s.packets[n-1]
		*a, *b = *b, *a
		a.packet.Time, b.packet.Time = b.packet.Time, a.packet.Time
	}
}

// drawScript makes up a connection.
func drawScript(t *rapid.T, number int, start unit.Nanos) *script {
	s := newScript(number, start)
	if rapid.Bool().Draw(t, "handshake") {
		s.handshake()
	} else {
		s.send(&s.client, &s.server, pcap.ACK, 0)
	}
	for range rapid.IntRange(1, 25).Draw(t, "steps") {
		from, to := &s.client, &s.server
		if rapid.Bool().Draw(t, "server") {
			from, to = to, from
		}
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0, 1, 2, 3, 4:
			s.write(from, to, rapid.IntRange(1, 20_000).Draw(t, "bytes"), rapid.IntRange(1, 12).Draw(t, "segments"))
		case 5, 6:
			s.send(from, to, pcap.ACK, 0)
		case 7:
			s.resend(from)
		case 8:
			s.late()
		case 9:
			s.now += unit.Nanos(rapid.Int64Range(0, 300).Draw(t, "pause")) * unit.Millisecond
		}
	}
	if rapid.Bool().Draw(t, "close") {
		s.send(&s.client, &s.server, pcap.FIN|pcap.ACK, 0)
		s.send(&s.server, &s.client, pcap.FIN|pcap.ACK, 0)
	}
	return s
}

// track runs packets through a tracker. Records that are not set are those of the order.
func track(packets []made) (*Capture, []Mark) {
	tracker := NewTracker("made", Options{}, new(source.Ledger))
	marks := make([]Mark, 0, len(packets))
	for i := range packets {
		p := packets[i].packet
		if p.Record == 0 {
			p.Record = int64(i + 1)
		}
		marks = append(marks, tracker.Add(&p, &packets[i].header))
	}
	return tracker.Finish(), marks
}

func text(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const base = 1_700_000_000 * unit.Second

// Initial sequence numbers mean nothing, wherever they wrap.
func TestSequenceNumbersShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t, 0, base)
		capture, marks := track(s.packets)
		ofClient, ofServer := rapid.Uint32().Draw(t, "client"), rapid.Uint32().Draw(t, "server")
		shifted := slices.Clone(s.packets)
		for i := range shifted {
			h := &shifted[i].header
			own, other := ofClient, ofServer
			if h.SrcPort == s.server.port {
				own, other = other, own
			}
			h.Seq += own
			if h.Flags&pcap.ACK != 0 {
				h.Ack += other
			}
		}
		again, marksAgain := track(shifted)
		if a, b := text(t, capture), text(t, again); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
		if !slices.Equal(marks, marksAgain) {
			t.Fatalf("%v\n%v", marks, marksAgain)
		}
	})
}

// A super-segment and the packets that it becomes on the wire are the same to every count that is about the wire.
func TestSegmentationChangesNothing(t *testing.T) {
	type invariant struct{ wire, bytes, goodput, messages, tails, resent, resentWire, advancing, stretch int64 }
	of := func(c *Capture) (list [2]invariant) {
		for i := range list {
			a := &c.Servers[0].Directions[i]
			list[i] = invariant{a.WirePackets, a.Bytes, a.GoodputBytes, a.Tails.Messages, a.Tails.Count(), min(1, a.RetransmittedPackets), a.RetransmittedWirePackets, a.ACKs.Advancing, a.ACKs.Stretch}
		}
		return list
	}
	rapid.Check(t, func(t *rapid.T) {
		s := newScript(0, base)
		s.handshake()
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			s.write(&s.client, &s.server, rapid.IntRange(1, 40_000).Draw(t, "bytes"), rapid.IntRange(1, 40).Draw(t, "segments"))
			if rapid.IntRange(0, 4).Draw(t, "resend") == 0 {
				s.resend(&s.client)
			}
			s.send(&s.server, &s.client, pcap.ACK, 0)
			s.write(&s.server, &s.client, rapid.IntRange(1, 5_000).Draw(t, "answer"), 4)
		}
		var onWire []made
		for _, m := range s.packets {
			onWire = append(onWire, segmented(m)...)
		}
		whole, marks := track(s.packets)
		split, _ := track(onWire)
		if a, b := of(whole), of(split); a != b {
			t.Fatalf("whole %+v\nsplit %+v", a, b)
		}
		packets := 0
		for _, m := range marks {
			packets += m.WirePackets
		}
		if packets != len(onWire) {
			t.Fatalf("%d packets on the wire by the marks, %d made", packets, len(onWire))
		}
	})
}

// segmented cuts a packet as a device with TSO does.
func segmented(m made) []made {
	var list []made
	left, i := m.header.Payload, 0
	for {
		part := m
		part.header.Payload = min(left, 1448)
		part.header.Seq += uint32(i * 1448)
		part.header.ID += uint16(i)
		left -= part.header.Payload
		i++
		if left > 0 {
			part.header.Flags &^= pcap.PSH
		}
		list = append(list, part)
		if left == 0 {
			return list
		}
	}
}

// Connections do not touch each other.
func TestInterleavingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []made
		alone := map[string]string{}
		for i := range rapid.IntRange(2, 5).Draw(t, "connections") {
			s := drawScript(t, i, base+unit.Nanos(i)*unit.Millisecond)
			for j := range s.packets {
				s.packets[j].packet.Record = int64(i*10_000 + j + 1)
			}
			all = append(all, s.packets...)
			c, _ := track(s.packets)
			if len(c.Connections) != 1 {
				t.Fatalf("%d connections", len(c.Connections))
			}
			c.Connections[0].Number = 0
			alone[c.Connections[0].Name()] = text(t, &c.Connections[0])
		}
		slices.SortStableFunc(all, func(a, b made) int { return int(a.packet.Time - b.packet.Time) })
		together, _ := track(all)
		if len(together.Connections) != len(alone) {
			t.Fatalf("%d connections, want %d", len(together.Connections), len(alone))
		}
		for i := range together.Connections {
			c := &together.Connections[i]
			c.Number = 0
			if got := text(t, c); got != alone[c.Name()] {
				t.Fatalf("together %s\nalone    %s", got, alone[c.Name()])
			}
		}
	})
}

// Every packet that is told twice is set aside, and nothing else changes.
func TestCopiesAreSetAside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t, 0, base)
		for i := range s.packets {
			s.packets[i].packet.Record = int64(i + 1)
		}
		var doubled []made
		routed := rapid.Bool().Draw(t, "routed")
		for _, m := range s.packets {
			copied := m
			copied.packet.Record += 1000
			copied.packet.Time += 15 * unit.Microsecond
			if routed {
				copied.header.TTL--
			}
			doubled = append(doubled, m, copied)
		}
		single, _ := track(s.packets)
		double, _ := track(doubled)
		if double.Totals.Copies != int64(len(s.packets)) {
			t.Fatalf("%d copies of %d packets", double.Totals.Copies, len(s.packets))
		}
		for i, c := range [2]*Capture{single, double} {
			c.Connections[0].Copies, c.Connections[0].End = 0, 0
			if i == 1 && c.Connections[0].Directions[0].Activity.Packets == 0 && c.Connections[0].Directions[1].Activity.Packets == 0 {
				t.Fatal("nothing is left")
			}
		}
		if a, b := text(t, single.Connections), text(t, double.Connections); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
	})
}

// Messages of random lengths have tails by chance, which is no finding.
func TestRandomLengthsAreNoFinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScript(0, base)
		s.handshake()
		lengths := rapid.Uint64().Draw(t, "seed")
		for range rapid.IntRange(1, 400).Draw(t, "messages") {
			lengths = mix(lengths, 1)
			s.write(&s.client, &s.server, 1+int(lengths%30_000), rapid.SampledFrom([]int{1, 3, 45}).Draw(t, "segments"))
			s.send(&s.server, &s.client, pcap.ACK, 0)
			s.write(&s.server, &s.client, 200, 1)
		}
		c, _ := track(s.packets)
		for _, name := range []string{"tcp/tso-split", "tcp/just-over-mss"} {
			if found := rules()[name].Run(c, nil); len(found) > 0 {
				t.Fatalf("%s", found[0].Summary)
			}
		}
	})
}

// A rest that always comes is a finding however long the messages are, also over many short connections.
func TestEqualTailsAreAFinding(t *testing.T) {
	for _, connections := range []int{1, 8} {
		var all []made
		for i := range connections {
			s := newScript(i, base)
			s.handshake()
			for range 8 / connections {
				s.write(&s.client, &s.server, 3*1448+1, 45)
				s.send(&s.server, &s.client, pcap.ACK, 0)
				s.write(&s.server, &s.client, 200, 1)
			}
			all = append(all, s.packets...)
		}
		c, _ := track(all)
		found := rules()["tcp/just-over-mss"].Run(c, nil)
		if len(found) != 1 {
			t.Fatalf("%d connections: %d findings", connections, len(found))
		}
		want := "192.0.2.1:40000 > 198.51.100.2:5001"
		if connections > 1 {
			want = fmt.Sprintf("%d connections to 198.51.100.2:5001", connections)
		}
		if n, _ := found[0].Measure("tails_hidden"); n != 8 || found[0].Subject.Name != want || found[0].Subject.Key != "tcp/198.51.100.2:5001" {
			t.Errorf("%g tails, subject %+v", n, found[0].Subject)
		}
	}
}
