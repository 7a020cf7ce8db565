package tcp

import (
	"testing"

	"nettrace/pcap"
	"nettrace/unit"
)

// TestResentInto holds what tells a retransmission that fills a hole from a packet that came late.
func TestResentInto(t *testing.T) {
	const ms = unit.Millisecond
	jumper := hole{start: 1000, end: 2000, at: 100 * ms, stamp: 50, hasStamp: true, id: 500, hasID: true}
	noID, bare := jumper, jumper
	noID.hasID = false
	bare.hasID, bare.hasStamp = false, false
	for name, c := range map[string]struct {
		hole       hole
		id         uint16
		stamp      uint32
		now        unit.Nanos
		roundTrip  unit.Nanos
		wantResent bool
	}{
		"a lower identification":                     {jumper, 499, 60, 300 * ms, 10 * ms, false},
		"a higher one, below those that came since":  {jumper, 501, 50, 101 * ms, 50 * ms, true}, // the highest is 600
		"identifications wrap":                       {hole{at: 1, id: 65530, hasID: true}, 3, 0, 0, 0, true},
		"an older timestamp":                         {noID, 0, 49, 300 * ms, 10 * ms, false},
		"a newer one":                                {noID, 0, 51, 101 * ms, 50 * ms, true},
		"the same on a long path, though it is late": {noID, 0, 50, 190 * ms, 50 * ms, false},
		"the same on a short path":                   {noID, 0, 50, 103 * ms, 2 * ms, true},
		"nothing but age, old":                       {bare, 0, 0, 111 * ms, 10 * ms, true},
		"nothing but age, young":                     {bare, 0, 0, 109 * ms, 10 * ms, false},
		"no round trip known, old":                   {bare, 0, 0, 103 * ms, 0, true},
		"no round trip known, young":                 {bare, 0, 0, 102 * ms, 0, false},
		"a forgotten hole, below the highest":        {hole{}, 550, 0, 300 * ms, 10 * ms, false},
		"a forgotten hole, above it":                 {hole{}, 601, 0, 300 * ms, 10 * ms, true},
	} {
		d := direction{idents: identifications{highest: 600, forward: 20, known: true}}
		s := segment{now: c.now, header: &pcap.Header{ID: c.id, HasID: true, Options: pcap.TCPOptions{HasTimestamp: true, TSVal: c.stamp}}}
		if got := d.resentInto(c.hole, &s, c.roundTrip); got != c.wantResent {
			t.Errorf("%s: resent %v", name, got)
		}
	}
}

// TestEifel holds that the timestamp which comes back tells which sending had arrived: the first one is sent at 1000 of the
// sender's clock, its retransmission at 1250.
func TestEifel(t *testing.T) {
	for echo, needless := range map[uint32]int64{1000: 1, 1250: 0} {
		s := newScript(0, base)
		s.handshake()
		s.send(&s.client, &s.server, pcap.ACK, 100)
		s.send(&s.server, &s.client, pcap.ACK, 0)
		first := s.send(&s.client, &s.server, pcap.ACK|pcap.PSH, 1000)
		first.header.Options.TSVal = 1000
		s.now += 250 * unit.Millisecond
		s.resend(&s.client)
		s.packets[len(s.packets)-1].header.Options.TSVal = 1250
		ack := s.send(&s.server, &s.client, pcap.ACK, 0)
		ack.header.Options.TSEcr = echo
		c, _ := track(s.packets)
		d := &c.Connections[0].Directions[ClientToServer]
		if d.RetransmittedPackets != 1 || d.SpuriousPackets != needless || d.LostPackets != 1-needless {
			t.Errorf("echo %d: %+v", echo, d.Loss)
		}
	}
}

// TestMergedTwice holds that a packet which the network delivers twice, the first time within one that GRO merged, is a copy,
// and that one of other identification is a retransmission.
func TestMergedTwice(t *testing.T) {
	for shift, want := range map[uint16]Flags{0: FlagCopy, 40: FlagRetransmission} {
		s := newScript(0, base)
		s.handshake()
		for range 6 {
			s.send(&s.client, &s.server, pcap.ACK, 1448)
		}
		s.send(&s.client, &s.server, pcap.ACK, 3*1448)
		m := s.packets[len(s.packets)-1]
		m.packet.Time += 100 * unit.Microsecond
		m.header.Seq += 1448
		m.header.ID += 1 + shift
		m.header.Payload = 1448
		s.packets = append(s.packets, m)
		if _, marks := track(s.packets); marks[len(marks)-1].Flags&(FlagCopy|FlagRetransmission) != want {
			t.Errorf("identification %d too high: %v", shift, marks[len(marks)-1].Flags.Names())
		}
	}
}

// TestWiresharkGivesUpInCutOptions holds that a packet whose options were cut has no marks, but counts for later ones.
func TestWiresharkGivesUpInCutOptions(t *testing.T) {
	s := newScript(0, base)
	s.handshake()
	s.write(&s.client, &s.server, 3000, 1)
	s.resend(&s.client)
	s.resend(&s.client)
	m := NewWiresharkMarker("made", WiresharkOptions{}, nil)
	var marks []WiresharkFlags
	for i, p := range s.packets {
		p.packet.Data, p.header.PayloadAt = make([]byte, 66), 66
		if i == len(s.packets)-2 {
			p.packet.Data, p.header.Options.Cut = make([]byte, 60), true
		}
		marks = append(marks, m.Mark(&p.packet, &p.header))
	}
	if n := len(marks); marks[n-2] != 0 || marks[n-1] == 0 {
		t.Errorf("%v", marks)
	}
}
