package tcp

import "nettrace/unit"

// limitClass is why a sender did not send its next byte. At any time there is one first reason, in the order in which a
// stack asks (Linux, tcp_write_xmit): no data, the pacing timer, the congestion window, the peer's window.
type limitClass uint8

const (
	limitUnknown limitClass = iota
	limitHandshake
	limitIdle       // the application had nothing to send, nor had it sent a request that waits for its answer
	limitPeer       // it waited for the other side's data
	limitSmall      // its writes were small: the queue ran empty each time
	limitNagle      // a small segment waited for a delayed ACK
	limitLastFlight // nothing more to send, and the last bytes under way
	limitReceiver   // the receiver's window was used up
	limitDelayedACK // a full segment waited for a delayed ACK
	limitLoss       // a loss was repaired
	limitTimeout    // a retransmission timer ran
	limitBandwidth  // the bottleneck of the path was busy
	limitCongestion // the congestion window was used up, below the capacity of the path
	limitSlowStart  // and still doubling
	limitHostWindow // a window of the sender's own, constant
	limitPaced      // not released by ACKs: pacing, or a slow host
	limitClosing    // after the FIN
	limitClasses
)

// limit accounts the life of one direction by what kept it from sending: each gap between two sendings is charged by what
// ended it. The time line is the sender's: where the capture was taken elsewhere, a data packet tells by its TSval when it
// left, and by its TSecr which ACKs had reached the sender.
type limit struct {
	at              unit.Nanos // up to where time is accounted
	times           LimitTimes
	longest         [limitClasses]gap
	nxt, una, edge  uint64
	recoveryPoint   uint64
	seg             uint64
	released, empty unit.Nanos // when una or edge moved last, and since when nothing is in flight
	opened          unit.Nanos // when a segment fitted into the window again, valid unless shut
	shut            bool       // no segment fitted after the last sending
	near            bool       // and away from the sender: no three did
	inFlight        bool
	finished        unit.Nanos // when the FIN was sent, 0 if it was not
	placed          bool       // it is known how far the capture is from the sender
	remote          bool       // captured away from the sender
	leg             unit.Nanos // from the receiver's packet to the sender's answer, as seen from there
	clock           senderClock
	waiting         *ackRing      // nil at the sender
	pending         [3]unit.Nanos // of the epoch: released by ACKs, not, and released where the window was nearly used up
	worst           [3]gap
	last            int8 // what the last gap was pending as, -1 for neither
	epoch           epoch
	capacity        dispersion
	train           train
	least           unit.Nanos // the shortest round trip when the account began
	intervals       [12]interval
	nIntervals      uint8
	queued          unit.Nanos // of limitBandwidth, with an inflated round trip
	selfClocked     unit.Nanos // of limitBandwidth, not released by ACKs
	pushed          float64    // capacity when the sender last sent faster than it, 0 if it never did
	full            unit.Nanos // of limitReceiver, with the path busy and queued as well
	growth          Growth
}

const (
	// limitAfterBytes and limitAfterPackets is how much a direction must have sent before its life is accounted.
	limitAfterBytes, limitAfterPackets = 8192, 32
	// How soon behind an ACK data is released by it. At the sender it takes 10 to 100 us, TSO deferral up to 1 ms; elsewhere
	// a tick of the timestamps, 1 ms, comes on top.
	releaseHere, releaseThere = unit.Millisecond, 2 * unit.Millisecond
	// saturated is the share of the capacity from which the path is busy.
	saturated = 0.7
	// growing is how much more must be in flight than an epoch before for slow start.
	growing = 1.2
	// flatEpochs is how many epochs of a constant window show that it is the sender's own.
	flatEpochs = 3
	// lackingOf is one over the part of the data that a capture may lack before losses seen there are in doubt.
	lackingOf = 1000
	// lossEpochs is how long a loss explains a congestion window.
	lossEpochs = 20
)

// limitOf returns the direction's account, which begins once it has sent enough.
func (t *shard) limitOf(c *conn, dir int, s *segment) *limit {
	d := &c.dir[dir]
	if d.limit != nil || d.unique+uint64(s.header.Payload) <= limitAfterBytes && d.dataPackets < limitAfterPackets {
		return d.limit
	}
	peer := &c.dir[1-dir]
	l := t.limitPool.take()
	d.limit = l
	l.at, l.nxt, l.una, l.edge, l.seg, l.last = c.start, d.high, d.una, d.waits.edge, uint64(s.size), -1
	if !d.acked {
		l.una = d.high - min(d.high, d.unique)
	}
	l.recoveryPoint, l.inFlight, l.empty, l.released = l.una, true, none, none
	l.leg, l.least = peer.rtt.times.min, c.roundTrip()
	l.placed = peer.rtt.times.samples > 0
	if l.remote = l.placed && l.leg > unit.Millisecond && l.leg*4 > d.rtt.times.min; l.remote {
		l.waiting = t.ringPool.take()
	}
	l.epoch = epoch{end: d.high, una: l.una, over: c.began == midstream}
	first := limitUnknown
	switch {
	case d.dataPackets*uint64(s.size) > 2*d.unique:
		first = limitSmall
	case c.began == withSYN:
		first = limitSlowStart
	}
	established := c.ack
	if established == none {
		established = c.start
	}
	l.charge(limitHandshake, established, s)
	l.charge(first, s.now, s)
	l.epoch.start, l.epoch.times = l.at, l.times
	return l
}

// account gives a finished account back.
func (t *shard) account(l *limit) {
	if l != nil {
		t.ringPool.give(l.waiting)
		t.limitPool.give(l)
	}
}

// charge accounts the time up to until.
func (l *limit) charge(class limitClass, until unit.Nanos, s *segment) {
	took := until - l.at
	if took <= 0 {
		return
	}
	l.at = until
	l.times[class] += took
	if s != nil && took > l.longest[class].took {
		l.longest[class] = gap{s.packet.Record, s.packet.Offset, took}
	}
}

// end accounts what is left of the connection.
func (l *limit) end(c *conn, dir int) {
	d := &c.dir[dir]
	for r := l.waiting; r != nil && r.n > 0; r.pop() {
		p := &r.acks[r.head]
		l.apply(p.ack, p.edge, p.at+l.leg)
	}
	l.close(l.at)
	if !l.inFlight {
		l.charge(limitLastFlight, min(c.last, max(l.empty, l.at)), nil)
		if l.finished > l.at {
			l.charge(limitIdle, l.finished, nil)
		}
	}
	switch {
	case l.finished != 0 || c.reset:
		l.charge(limitClosing, c.last, nil)
	case l.inFlight:
		l.charge(limitUnknown, c.last, nil)
	default:
		l.charge(limitIdle, c.last, nil)
	}
	if d.waits.scale < 0 { // what an ACK released may have waited for the receiver's window
		l.doubt(limitCongestion, limitSlowStart, limitHostWindow)
	}
	if !d.acked || !l.placed && !c.sideIs(dir) { // which ACKs had reached the sender is not known
		l.doubt(limitIdle, limitPeer, limitLastFlight, limitLoss, limitBandwidth, limitCongestion, limitSlowStart, limitHostWindow, limitPaced)
	}
	if l.remote && d.missing*lackingOf > d.unique {
		l.doubt(limitLoss)
	}
}

// sideIs reports whether the capture was surely taken at the end that sends in dir.
func (c *conn) sideIs(dir int) bool {
	side := c.side()
	return side.at(endNames[dir])
}

// finish notes the first FIN of the direction.
func (l *limit) finish(now unit.Nanos) { l.finished = max(now, 1) }
