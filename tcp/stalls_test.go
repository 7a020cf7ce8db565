package tcp

import (
	"path/filepath"
	"slices"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/pcap"
	"nettrace/unit"
)

// waitsOf are the waits of the client's data in a made-up connection.
func waitsOf(s *script) Waits {
	c, _ := track(s.packets)
	return c.Servers[0].Directions[ClientToServer].Waits
}

// TestStallKinds holds that what a late ACK releases is told apart, and that a slow path is none.
func TestStallKinds(t *testing.T) {
	const timer = 40 * unit.Millisecond
	for _, c := range []struct {
		name          string
		first, second int
		wait, gap     unit.Nanos
		acked, pushed bool
		want          Waits
	}{
		{"Nagle", 100, 200, timer, 0, true, true, Waits{DelayedACKs: 1, NagleStalls: 1}},
		{"no window for the next full segment", 1448, 1448, timer, 0, true, true, Waits{DelayedACKs: 1, WindowStalls: 1}},
		{"a message that begins full is not held", 100, 1448, timer, 0, true, true, Waits{DelayedACKs: 1}},
		{"nothing waited", 100, 200, timer, 50 * unit.Millisecond, true, true, Waits{DelayedACKs: 1}},
		{"prompt ACK", 100, 200, 2 * unit.Millisecond, 0, true, true, Waits{}},
		{"slower than any timer", 100, 200, 700 * unit.Millisecond, 0, true, true, Waits{}},
		{"cork", 1448, 200, 0, 203 * unit.Millisecond, true, false, Waits{CorkStalls: 1}},
		{"a write that follows later", 1448, 200, 0, 203 * unit.Millisecond, true, true, Waits{}},
		{"a rest that no timer explains", 1448, 200, 0, 400 * unit.Millisecond, true, false, Waits{}},
	} {
		s := newScript(0, base)
		s.handshake()
		flags := pcap.ACK
		if c.pushed {
			flags |= pcap.PSH
		}
		s.send(&s.client, &s.server, flags, c.first)
		s.now += c.wait
		s.send(&s.server, &s.client, pcap.ACK, 0)
		s.now += c.gap
		s.send(&s.client, &s.server, pcap.ACK|pcap.PSH, c.second)
		got := waitsOf(s)
		if lost := got.StallTime; (got.Stalls() > 0) != (lost > 35*unit.Millisecond) {
			t.Errorf("%s: %v lost", c.name, lost)
		}
		got.StallTime, got.WindowFullPackets, got.WindowFullTime = 0, 0, 0
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestSlowPathIsNoDelayedACK holds that ACKs which take a long round trip are prompt.
func TestSlowPathIsNoDelayedACK(t *testing.T) {
	s := newScript(0, base)
	s.send(&s.client, &s.server, pcap.SYN, 0)
	s.now += 60 * unit.Millisecond
	s.send(&s.server, &s.client, pcap.SYN|pcap.ACK, 0)
	s.send(&s.client, &s.server, pcap.ACK, 0)
	for range 5 {
		s.send(&s.client, &s.server, pcap.ACK|pcap.PSH, 100)
		s.now += 60 * unit.Millisecond
		s.send(&s.server, &s.client, pcap.ACK, 0)
	}
	if w := waitsOf(s); w.DelayedACKs != 0 || w.Stalls() != 0 {
		t.Errorf("%+v", w)
	}
}

func TestZeroWindowTime(t *testing.T) {
	c := read(t, fixture(t, "zerowindow-sender.pcap")).Capture
	if lost := measure(t, c, "tcp/zero-window", "time_lost"); lost < 1.4e9 || lost > 1.5e9 {
		t.Errorf("%g ns lost, want about 1.46 s", lost)
	}
}

func TestCaseStalls(t *testing.T) {
	c := read(t, filepath.Join(shared.Path(t, "cases/17-nagle-keepalive-40ms"), "httpd.pcap")).Capture
	found := DelayedACKStall().Run(c, nil)
	if len(found) != 1 {
		t.Fatalf("%d findings", len(found))
	}
	if n, _ := found[0].Measure("nagle_stalls"); n != 2 || found[0].Effect.Lost != 82100*unit.Microsecond {
		t.Errorf("%g stalls, %v", n, found[0].Effect)
	}
	records := []int64{}
	for _, e := range c.Connections[0].Events {
		if e.Kind == "nagle-stall" {
			records = append(records, e.Before, e.With, e.Record)
		}
	}
	if !slices.Equal(records, []int64{9, 10, 11, 13, 14, 15}) {
		t.Errorf("held segments and what they waited for: %v", records)
	}
}

// TestCaseUnknownScale holds that nothing is claimed of a window whose scale is not known, but that zero is zero.
func TestCaseUnknownScale(t *testing.T) {
	c := read(t, filepath.Join(shared.Path(t, "cases/16-midstream-no-wscale"), "midstream.pcap")).Capture
	if got := findings(t, c); got != "warning tcp/zero-window" || limitedBy(t, c).Measures[0].Name != "share_receiver_window" {
		t.Errorf("findings are %q", got)
	}
	if lost := measure(t, c, "tcp/zero-window", "time_lost"); lost != 289_900_000 {
		t.Errorf("%g ns, want 289.9 ms", lost)
	}
}

func TestCaseKeptAlive(t *testing.T) {
	c := read(t, filepath.Join(shared.Path(t, "cases/13-keepalive-not-loss"), "keepalive.pcap")).Capture
	if got := findings(t, c); got != "info tcp/keepalive-only" {
		t.Errorf("findings are %q", got)
	}
	if n := measure(t, c, "tcp/keepalive-only", "keep_alives"); n != 5 {
		t.Errorf("%g keep-alives, want 5", n)
	}
}

// TestHandshakes holds how late, repeated and missing answers to a SYN are told apart.
func TestHandshakes(t *testing.T) {
	begin := func(answered bool, wait unit.Nanos, repeated bool) Openings {
		s := newScript(0, base)
		s.send(&s.client, &s.server, pcap.SYN, 0)
		if repeated {
			s.now += unit.Second
			syn := s.packets[0]
			syn.packet.Time, syn.header.ID = s.now, syn.header.ID+1
			s.packets = append(s.packets, syn)
		}
		s.now += wait
		if answered {
			s.send(&s.server, &s.client, pcap.SYN|pcap.ACK, 0)
			s.send(&s.client, &s.server, pcap.ACK, 0)
			s.send(&s.client, &s.server, pcap.ACK|pcap.PSH, 100)
			s.now += 2 * unit.Millisecond
			s.send(&s.server, &s.client, pcap.ACK|pcap.PSH, 100)
			s.send(&s.client, &s.server, pcap.ACK, 0)
		}
		other := newScript(1, s.now+2*unit.Second)
		other.server.addr[3]++
		other.handshake()
		c, _ := track(append(s.packets, other.packets...))
		o := c.Servers[0].Openings
		o.TimeLost = 0
		return o
	}
	for _, c := range []struct {
		name string
		got  Openings
		want Openings
	}{
		{"prompt", begin(true, 2*unit.Millisecond, false), Openings{}},
		{"repeated", begin(true, 2*unit.Millisecond, true), Openings{RepeatedSYNs: 1, Repeated: 1}},
		{"slow", begin(true, 300*unit.Millisecond, false), Openings{Slow: 1}},
		{"unanswered", begin(false, 0, true), Openings{RepeatedSYNs: 1, Repeated: 1, Unanswered: 1}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
}
