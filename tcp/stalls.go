package tcp

import (
	"math"

	"nettrace/pcap"
	"nettrace/unit"
)

// waits is what tells why a direction does not send: its last data packet, how that was acknowledged, and how far the
// other end's window goes.
type waits struct {
	edge     uint64  // the highest sequence number that the window allows; 0 while its scale is not known
	record   int64   // of the last packet of new data
	payload  uint32  // of it; 0 after a retransmission
	late     uint32  // microseconds that its ACK took, if that came late; else 0
	ackAfter uint32  // how many records behind it that ACK is
	pushed   bool    // it had PSH
	released kind    // nagleStall or ackStall, if the packet at hand is one
	full     bool    // no full-sized segment fits below the edge
	scale    int8    // shift of the other end's windows, -1 while it is not known
	stalls   *stalls // nil while there was nothing to count
}

// stalls sums the times in which one direction could not send, or did not need to.
type stalls struct {
	delayedACKs         uint32 // ACKs that came late, whether or not anything waited for them
	nagle, window, cork uint32 // sendings that waited for such an ACK or, corked, for a timer
	stalled             unit.Nanos
	episodes, probes    uint32 // of a closed window
	closed              bool
	closing             exemplar   // the packet that closed it
	opened              unit.Nanos // when it was opened again
	closedTime          unit.Nanos
	fullPackets         uint32 // data packets behind which no full-sized segment fits into the window
	fullAt, fullTime    unit.Nanos
	reset               exemplar   // this end's RST
	quiet               unit.Nanos // before keep-alives
	answered            uint32     // keep-alives
	asked               [2]uint64  // how far this end and the other one were at a keep-alive that has no answer yet
}

const (
	// delayedAfter is from when an ACK counts as delayed: below the shortest timer in use, Linux's 40 ms (TCP_DELACK_MIN),
	// which runs in ticks of 4 ms or less.
	delayedAfter = 35 * unit.Millisecond
	// delayedBefore is how long an ACK may be delayed (RFC 9293 section 3.8.6.3: 500 ms), with some room.
	delayedBefore = 600 * unit.Millisecond
	// releasedWithin is how soon after an ACK data leaves that waited for it. Measured: 10 to 40 us; TSO deferral waits up
	// to 1 ms.
	releasedWithin = unit.Millisecond
	// Linux holds a corked rest until the retransmission timer would run out, 200 ms and more (tcp_check_probe_timer).
	corkAfter, corkBefore = 190 * unit.Millisecond, 240 * unit.Millisecond
)

// waiting returns the direction's stalls, made if need be.
func (t *shard) waiting(d *direction) *stalls {
	if d.waits.stalls == nil {
		d.waits.stalls = t.stallPool.take()
	}
	return d.waits.stalls
}

// acknowledgedLate notes that a packet without payload acknowledges the only packet in flight later than a round trip
// and the shortest timer of a delayed ACK. What a round trip is here, earlier samples tell.
func (t *shard) acknowledgedLate(c *conn, dir int, s *segment, ack uint64) {
	d := &c.dir[dir]
	w := &d.waits
	if w.payload == 0 || ack != d.high || ack-d.una != uint64(w.payload) || d.rtt.times.samples == 0 || !s.timed {
		return
	}
	waited := s.now - d.sentAt
	if beyond := waited - d.rtt.times.min; beyond < delayedAfter || beyond > delayedBefore {
		return
	}
	t.waiting(d).delayedACKs++
	w.late = uint32(waited / unit.Microsecond)
	w.ackAfter = uint32(min(s.packet.Record-w.record, math.MaxUint32))
	e := exemplarOf(dir, s, int64(waited))
	e.with = w.record
	t.note(c, delayedACK, e)
}

// released judges new data by what it waited for.
func (t *shard) released(c *conn, dir int, s *segment) {
	d, peer := &c.dir[dir], &c.dir[1-dir]
	w := &d.waits
	if s.start != d.high || w.payload == 0 || !s.timed {
		return
	}
	within := releasedWithin + peer.rtt.times.min
	small, smallBefore := s.header.Payload < s.size, int(w.payload) < s.size
	waited := unit.Nanos(w.late) * unit.Microsecond
	switch {
	case w.late > 0 && s.now-d.unaAt > within || w.late > 0 && smallBefore != small:
	case w.late > 0 && small:
		t.waiting(d).nagle++
		t.stall(c, dir, s, nagleStall, waited, waited)
	case w.late > 0:
		t.waiting(d).window++
		t.stall(c, dir, s, ackStall, waited, waited-d.rtt.times.min)
	case small && !smallBefore && !w.pushed && d.corked(peer, s, c.roundTrip()):
		t.waiting(d).cork++
		t.stall(c, dir, s, corkStall, s.now-d.sentAt, s.now-d.sentAt)
	}
}

// corked reports whether the rest of a message left when a timer ran out, and neither an ACK nor an answer released it.
func (d *direction) corked(peer *direction, s *segment, roundTrip unit.Nanos) bool {
	waited := s.now - d.sentAt
	return waited >= corkAfter && waited <= corkBefore+2*roundTrip && d.acked && d.una == d.high && s.now-d.unaAt > releasedWithin+peer.rtt.times.min && peer.sentAt <= d.sentAt
}

func (t *shard) stall(c *conn, dir int, s *segment, k kind, waited, lost unit.Nanos) {
	w := &c.dir[dir].waits
	w.stalls.stalled += lost
	e := exemplarOf(dir, s, int64(waited))
	e.before, e.with = w.record, w.record
	if k != corkStall {
		e.with += int64(w.ackAfter)
	}
	w.released = k
	t.note(c, k, e)
}

// sent notes a data packet, and whether it fills the window.
func (t *shard) sent(c *conn, dir int, s *segment, again bool) {
	d := &c.dir[dir]
	w := &d.waits
	w.record, w.payload, w.late, w.pushed, w.released = s.packet.Record, uint32(s.header.Payload), 0, s.header.Flags&pcap.PSH != 0, kinds
	if again {
		w.payload = 0
	}
	if w.edge == 0 || d.high+uint64(s.size) <= w.edge || w.pushed && s.header.Payload%s.size != 0 && d.high < w.edge {
		return // there is room, or the end of what there is to send
	}
	t.waiting(d).fullPackets++
	if !w.full {
		w.full, w.stalls.fullAt = true, s.now
		t.note(c, windowFull, exemplarOf(dir, s, int64(w.edge-d.high)))
	}
}

// advertise notes the window that the packet offers.
func (t *shard) advertise(c *conn, dir int, s *segment) Flags {
	d, h, held := &c.dir[dir], s.header, &c.dir[1-dir]
	d.window, d.windowKnown = h.Window, true
	held.widen(s)
	if held.limit != nil && h.Flags&pcap.ACK != 0 {
		held.limit.acknowledged(held, s, max(held.una, extend(held.una, h.Ack)))
	}
	w := &held.waits
	if h.Window > 0 || h.Flags&(pcap.SYN|pcap.FIN|pcap.RST) != 0 {
		if w.stalls != nil && w.stalls.closed {
			t.opened(c, held, s.now, s.packet.Record)
		}
		return 0
	}
	d.zeroWindows++
	if stalls := t.waiting(held); !stalls.closed {
		stalls.closed, stalls.closing = true, exemplarOf(1-dir, s, 0)
		stalls.episodes++
	}
	return FlagZeroWindow
}

// opened ends an episode of a closed window.
func (t *shard) opened(c *conn, d *direction, now unit.Nanos, record int64) {
	w := d.waits.stalls
	w.closed, w.opened = false, now
	took := max(0, now-w.closing.at)
	w.closedTime += took
	w.closing.value, w.closing.with = int64(took), record
	t.note(c, zeroWindow, w.closing)
}

// widen moves the edge of the window that holds this direction.
func (d *direction) widen(s *segment) {
	h, w := s.header, &d.waits
	if w.scale < 0 || !d.acked || h.Flags&pcap.ACK == 0 {
		return
	}
	window := uint64(h.Window)
	if h.Flags&pcap.SYN == 0 { // RFC 7323 section 2.2
		window <<= w.scale
	}
	ack := extend(d.una, h.Ack)
	if ack > d.una || ack+window <= w.edge {
		return
	}
	w.edge = ack + window
	if w.full && d.high+uint64(d.segmentSize()) <= w.edge {
		w.full = false
		w.stalls.fullTime += max(0, s.now-w.stalls.fullAt)
	}
}

// endWaits closes what is open when the connection ends.
func (t *shard) endWaits(c *conn) {
	for i := range c.dir {
		d := &c.dir[i]
		if w := d.waits.stalls; w != nil && w.closed {
			t.opened(c, d, c.last, 0)
		}
	}
}

// keptAlive counts a keep-alive, which came after so long a silence.
func (t *shard) keptAlive(c *conn, dir int, s *segment) Flags {
	d := &c.dir[dir]
	d.keepAlives++
	w := t.waiting(d)
	w.quiet += max(0, s.now-c.last)
	w.asked = [2]uint64{d.high, c.dir[1-dir].high}
	t.note(c, keepAlive, exemplarOf(dir, s, int64(s.now-c.last)))
	return FlagKeepAlive
}

// answers reports whether a packet of this end without payload answers a keep-alive of the other one: it repeats where both
// stand, and neither has sent anything since.
func (d *direction) answers(peer *direction, s *segment) bool {
	w := peer.waits.stalls
	if w == nil || w.asked != [2]uint64{peer.high, d.high} || s.start != d.high || s.header.Ack != uint32(peer.high) {
		return false
	}
	w.asked = [2]uint64{}
	w.answered++
	return true
}

func (w *stalls) summary() Waits {
	if w == nil {
		return Waits{}
	}
	return Waits{
		DelayedACKs: int64(w.delayedACKs), NagleStalls: int64(w.nagle), WindowStalls: int64(w.window), CorkStalls: int64(w.cork), StallTime: w.stalled,
		ZeroWindowEpisodes: int64(w.episodes), ZeroWindowTime: w.closedTime, ZeroWindowProbes: int64(w.probes),
		WindowFullPackets: int64(w.fullPackets), WindowFullTime: w.fullTime, KeepAliveTime: w.quiet, KeepAlivesAnswered: int64(w.answered),
	}
}

// Waits is what one direction waited for. An ACK is late if it came for the only packet in flight, at least 35 ms beyond
// the shortest round trip.
type Waits struct {
	DelayedACKs        int64      `json:"delayed_acks,omitempty"`  // received late
	NagleStalls        int64      `json:"nagle_stalls,omitempty"`  // small segments that left right behind such an ACK of a small segment
	WindowStalls       int64      `json:"window_stalls,omitempty"` // full-sized ones that left right behind that of a full-sized one: no more window
	CorkStalls         int64      `json:"cork_stalls,omitempty"`   // rests that left after 200 ms, released by nothing
	StallTime          unit.Nanos `json:"stall_time_ns,omitempty"`
	ZeroWindowEpisodes int64      `json:"zero_window_episodes,omitempty"` // the other end's window was closed
	ZeroWindowTime     unit.Nanos `json:"zero_window_time_ns,omitempty"`
	ZeroWindowProbes   int64      `json:"zero_window_probes,omitempty"`
	WindowFullPackets  int64      `json:"window_full_packets,omitempty"` // behind which no full-sized segment fits into the window; 0 where its scale is not known
	WindowFullTime     unit.Nanos `json:"window_full_time_ns,omitempty"`
	KeepAliveTime      unit.Nanos `json:"keep_alive_time_ns,omitempty"` // silence before this end's keep-alives
	KeepAlivesAnswered int64      `json:"keep_alives_answered,omitempty"`
}

// Stalls returns how many sendings waited.
func (w *Waits) Stalls() int64 { return w.NagleStalls + w.WindowStalls + w.CorkStalls }

func (w *Waits) add(b *Waits) {
	w.DelayedACKs += b.DelayedACKs
	w.NagleStalls += b.NagleStalls
	w.WindowStalls += b.WindowStalls
	w.CorkStalls += b.CorkStalls
	w.StallTime += b.StallTime
	w.ZeroWindowEpisodes += b.ZeroWindowEpisodes
	w.ZeroWindowTime += b.ZeroWindowTime
	w.ZeroWindowProbes += b.ZeroWindowProbes
	w.WindowFullPackets += b.WindowFullPackets
	w.WindowFullTime += b.WindowFullTime
	w.KeepAliveTime += b.KeepAliveTime
	w.KeepAlivesAnswered += b.KeepAlivesAnswered
}
