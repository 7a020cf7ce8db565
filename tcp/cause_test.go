package tcp

import (
	"path/filepath"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/pcap"
	"nettrace/unit"
)

// TestCauses holds what is said to have made a sender send again, by what the ACKs before told and how long it waited.
func TestCauses(t *testing.T) {
	const segments, size = 4, 1448
	type sending struct {
		after   unit.Nanos
		segment int
	}
	for _, c := range []struct {
		name       string
		duplicates int  // ACKs of the first byte
		sack       bool // with a block
		again      []sending
		want       Loss
	}{
		{"duplicate ACKs", 3, false, []sending{{unit.Millisecond, 0}}, Loss{FastPackets: 1}},
		{"two duplicate ACKs (limited transmit, early retransmission)", 2, false, []sending{{unit.Millisecond, 0}}, Loss{FastPackets: 1}},
		{"one SACK block (RACK)", 1, true, []sending{{unit.Millisecond, 0}, {unit.Millisecond, 1}}, Loss{FastPackets: 2}},
		{"the last segment after two round trips", 0, false, []sending{{5 * unit.Millisecond, segments - 1}}, Loss{ProbePackets: 1}},
		{"the last segment after two round trips, though the timer would be longer", 0, false, []sending{{300 * unit.Millisecond, segments - 1}}, Loss{ProbePackets: 1}},
		{"the last segment at once", 0, false, []sending{{unit.Millisecond, segments - 1}}, Loss{}},
		{"the first segment before any timer", 0, false, []sending{{20 * unit.Millisecond, 0}}, Loss{}},
		{"the timer", 0, false, []sending{{250 * unit.Millisecond, 0}}, Loss{TimeoutPackets: 1, Timeouts: 1}},
		{"all of the flight after the timer", 0, false, []sending{{250 * unit.Millisecond, 0}, {0, 1}, {0, 2}, {0, 3}}, Loss{TimeoutPackets: 4, Timeouts: 1}},
		{"a probe, then the timer", 0, false, []sending{{5 * unit.Millisecond, segments - 1}, {250 * unit.Millisecond, 0}}, Loss{ProbePackets: 1, TimeoutPackets: 1, Timeouts: 1}},
		{"a fast one that is lost, too", 3, false, []sending{{unit.Millisecond, 0}, {250 * unit.Millisecond, 0}}, Loss{FastPackets: 1, TimeoutPackets: 1, Timeouts: 1}},
	} {
		s := newScript(0, base)
		s.handshake()
		first := s.client.seq
		for range segments {
			s.send(&s.client, &s.server, pcap.ACK, size)
		}
		s.now += 2 * unit.Millisecond
		for range c.duplicates {
			h := &s.send(&s.server, &s.client, pcap.ACK, 0).header
			if h.Ack = first; c.sack {
				h.Options.SACKs, h.Options.SACK[0] = 1, [2]uint32{first + 3*size, first + 4*size}
			}
		}
		for _, a := range c.again {
			s.now += a.after
			s.client.seq = first + uint32(a.segment*size)
			s.send(&s.client, &s.server, pcap.ACK, size)
		}
		captured, _ := track(s.packets)
		got := captured.Servers[0].Directions[ClientToServer].Loss
		if got.RetransmittedPackets != int64(len(c.again)) {
			t.Errorf("%s: %d packets sent again, want %d", c.name, got.RetransmittedPackets, len(c.again))
		}
		got = Loss{FastPackets: got.FastPackets, ProbePackets: got.ProbePackets, TimeoutPackets: got.TimeoutPackets, Timeouts: got.Timeouts}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestCausesOfSamples holds them on captures whose loss is known: a tail that was dropped is found by a probe and then
// resent because of SACK; ACKs that were dropped bring probes alone.
func TestCausesOfSamples(t *testing.T) {
	for file, want := range map[string]string{
		"loss-queue-sender.pcap":  "196 in fast recovery",
		"loss-fast-sender.pcap":   "3 in fast recovery",
		"loss-fast-receiver.pcap": "3 in fast recovery",
		"loss-rto-sender.pcap":    "5 in fast recovery, 1 tail-loss probe",
		"loss-acks-sender.pcap":   "6 tail-loss probes",
	} {
		c := read(t, filepath.Join(shared.Path(t, "data/pcap"), file)).Capture
		if got := c.Totals.Causes(); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
