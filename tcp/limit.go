package tcp

import (
	"math"

	"nettrace/pcap"
	"nettrace/unit"
)

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
	inFlight        bool
	finished        unit.Nanos // when the FIN was sent, 0 if it was not
	placed          bool       // it is known how far the capture is from the sender
	remote          bool       // captured away from the sender
	leg             unit.Nanos // from the receiver's packet to the sender's answer, as seen from there
	clock           senderClock
	waiting         *ackRing      // nil at the sender
	pending         [2]unit.Nanos // of the epoch: released by ACKs, and not
	worst           [2]gap
	last            int8 // what the last gap was pending as, -1 for neither
	epoch           epoch
	capacity        dispersion
	spacing         unit.Nanos // time of the last packet that tells the dispersion
	intervals       [12]interval
	nIntervals      uint8
	queued          unit.Nanos // of limitBandwidth, with an inflated round trip
	selfClocked     unit.Nanos // of limitBandwidth, not released by ACKs
	full            unit.Nanos // of limitReceiver, with the path busy and queued as well
}

// gap is a silence, by the packet that ended it.
type gap struct {
	record, offset int64
	took           unit.Nanos
}

// epoch is one round trip of data.
type epoch struct {
	start          unit.Nanos
	end, una       uint64 // it ends when end is acknowledged; una is where it began
	most, before   uint64 // bytes in flight at most, in this one and the one before
	sends, short   uint32 // packets on the wire, and those that end a write short
	count          uint32
	flat, stagnant uint8
	sinceLoss      uint8
	lossSeen, over bool // slow start is over
	flatTime       unit.Nanos
	took, least    unit.Nanos               // the last one's length, and the shortest
	times          [limitClasses]unit.Nanos // as the limit's, when it began
}

type interval struct {
	start, end unit.Nanos
	bytes      uint64 // acknowledged
	class      limitClass
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
	l.leg = peer.rtt.times.min
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

// acknowledged notes an ACK of this direction.
func (l *limit) acknowledged(d *direction, s *segment, ack uint64) {
	if !l.remote {
		if s.header.Payload == 0 && ack > l.una {
			l.capacity.see(ack-l.una, s.now-l.spacing)
			l.spacing = s.now
		}
		l.apply(ack, d.waits.edge, s.now)
		return
	}
	l.waiting.push(pendingACK{s.now, ack, d.waits.edge, s.header.Options.TSVal}, l.clock.tick > 0)
}

// apply is what the sender learns from an ACK at some time.
func (l *limit) apply(ack, edge uint64, at unit.Nanos) {
	if ack <= l.una && edge <= l.edge {
		return
	}
	l.una, l.edge = max(l.una, ack), max(l.edge, edge)
	l.released = max(l.released, at)
	if l.shut && l.edge >= l.nxt+l.seg {
		l.shut, l.opened = false, at
	}
	if l.inFlight && l.una >= l.nxt {
		l.inFlight, l.empty = false, at
	}
}

// learn applies the ACKs that had reached the sender when it sent s.
func (l *limit) learn(s *segment) {
	o := &s.header.Options
	for r := l.waiting; r.n > 0; r.pop() {
		p := &r.acks[r.head]
		if o.HasTimestamp && l.clock.tick > 0 {
			if int32(p.stamp-o.TSEcr) > 0 {
				return
			}
		} else if p.at+l.leg > s.now {
			return
		}
		l.apply(p.ack, p.edge, p.at+l.leg)
	}
}

// limited charges the time since the last sending by what ended it. f are the verdicts on the packet, jump is how far its
// IP identification is above what was expected.
func (t *shard) limited(c *conn, dir int, s *segment, f Flags, jump int) {
	l := t.limitOf(c, dir, s)
	if l == nil || !s.timed {
		return
	}
	d := &c.dir[dir]
	now := s.now
	if l.remote {
		if o := &s.header.Options; o.HasTimestamp {
			now = max(l.at, min(now, l.clock.sentAt(now, o.TSVal)))
		}
		if s.header.Payload >= s.size {
			l.capacity.see(uint64(s.header.Payload), s.now-l.spacing)
		}
		l.spacing = s.now
		l.learn(s)
	}
	again := f&FlagRetransmission != 0
	if again {
		l.epoch.lossSeen, l.epoch.over, l.epoch.sinceLoss = true, true, 0
	}
	l.gap(c, dir, s, now, again, jump)
	switch {
	case again || f&FlagGap != 0:
		l.recoveryPoint = max(l.recoveryPoint, l.nxt, s.end)
	case f&FlagReordered != 0 && d.nHoles == 0: // nothing was lost
		l.arrived(l.una)
	}
	l.nxt = max(l.nxt, s.end)
	l.seg = uint64(s.size)
	l.sentNow(d, s, now)
}

// gap charges one gap, by the first reason that holds.
func (l *limit) gap(c *conn, dir int, s *segment, now unit.Nanos, again bool, jump int) {
	d, peer := &c.dir[dir], &c.dir[1-dir]
	eps := releaseHere
	if l.remote {
		eps = releaseThere
	}
	recovering := again || l.una < l.recoveryPoint
	if w := d.waits.stalls; !recovering && (l.shut || l.opened > l.at) && l.edge > 0 {
		until := now
		if !l.shut {
			until = min(now, l.opened)
		}
		l.charge(limitReceiver, until, s)
	} else if w != nil && w.closing.record > 0 && l.edge == 0 && w.opened > l.at && w.closing.at >= l.at { // scale unknown, but 0 is 0
		l.charge(limitLastFlight, min(now, w.closing.at), s)
		l.charge(limitReceiver, min(now, w.opened), s)
	}
	took := now - l.at
	released := l.released != none && now-l.released <= eps
	patience := max(10*unit.Millisecond, max(l.epoch.took, c.roundTrip())*3/2)
	switch {
	case again && (took >= timeoutAfter && s.start <= l.una || !released && took >= min(timeoutAfter, patience)), l.remote && jump > 0 && took >= timeoutAfter:
		l.charge(limitTimeout, now, s)
	case recovering:
		l.charge(limitLoss, now, s)
	case !l.inFlight && now-max(l.empty, l.at) > eps:
		l.charge(limitLastFlight, min(now, max(l.empty, l.at)), s)
		class := limitIdle
		if peer.sentAt > d.sentAt {
			class = limitPeer
		}
		idle := now - l.at
		l.charge(class, now, s)
		if l.last = -1; idle >= timeoutAfter { // the congestion window begins anew (RFC 5681 section 4.1)
			l.epoch.over, l.epoch.before, l.epoch.most, l.epoch.stagnant = c.began == midstream, 0, 0, 0
		}
		return
	case d.waits.released == nagleStall:
		l.charge(limitNagle, now, s)
	case d.waits.released == ackStall:
		l.charge(limitDelayedACK, now, s)
	default:
		i := int8(1)
		if released {
			i = 0
		}
		if took < eps/4 && l.last >= 0 { // of one burst
			i = l.last
		}
		l.pend(i, took, s)
		l.at = max(l.at, now)
		return
	}
	l.last = -1
}

func (l *limit) pend(i int8, took unit.Nanos, s *segment) {
	l.last = i
	l.pending[i] += max(0, took)
	if took > l.worst[i].took {
		l.worst[i] = gap{s.packet.Record, s.packet.Offset, took}
	}
}

// sentNow notes what the sending leaves behind.
func (l *limit) sentNow(d *direction, s *segment, now unit.Nanos) {
	e := &l.epoch
	if l.una >= e.end {
		l.close(now)
	}
	flight := l.nxt - min(l.nxt, l.una)
	e.most = max(e.most, flight)
	e.sends += uint32(s.wire)
	if s.header.Payload%s.size != 0 && s.header.Flags&pcap.PSH != 0 {
		e.short++
	}
	if l.inFlight = flight > 0; l.inFlight {
		l.empty = none
	}
	l.shut = l.edge > 0 && l.nxt+l.seg > l.edge
	l.opened = none
}

// close ends the epoch: now that its rate and growth are known, it is known what its sendings waited for.
func (l *limit) close(now unit.Nanos) {
	e := &l.epoch
	took := now - e.start
	busy := 0.0
	if capacity, samples := l.capacity.quantile(); samples >= 20 && took > 0 {
		busy = float64(l.una-e.una) / took.Seconds() / capacity
	}
	window, self := l.classes(busy)
	inflated := e.least > 0 && took > e.least+e.least/4+unit.Millisecond
	if self == limitBandwidth {
		l.selfClocked += l.pending[1]
	}
	if busy >= saturated && inflated {
		if window == limitBandwidth {
			l.queued += l.pending[0]
		}
		l.full += l.times[limitReceiver] - e.times[limitReceiver]
	}
	for i, class := range [2]limitClass{window, self} {
		l.times[class] += l.pending[i]
		if l.worst[i].took > l.longest[class].took {
			l.longest[class] = l.worst[i]
		}
	}
	l.pending, l.worst = [2]unit.Nanos{}, [2]gap{}
	l.interval(now)
	if took > 0 && l.una > e.una {
		e.took = took
		if e.least == 0 || took < e.least {
			e.least = took
		}
	}
	if e.count++; e.count%64 == 0 {
		l.capacity.halve()
	}
	e.sinceLoss = uint8(min(int(e.sinceLoss)+1, math.MaxUint8))
	e.start, e.una, e.end, e.before, e.most, e.sends, e.short, e.times = now, l.una, l.nxt, e.most, 0, 0, 0, l.times
}

// interval notes the class that had most of the epoch. When there is no room, the shortest interval joins its neighbour.
func (l *limit) interval(now unit.Nanos) {
	class, most := limitUnknown, unit.Nanos(0)
	for k := range l.times {
		if took := l.times[k] - l.epoch.times[k]; took > most && limitClass(k) != limitLastFlight {
			class, most = limitClass(k), took
		}
	}
	if most == 0 {
		return
	}
	if n := int(l.nIntervals); n > 0 && l.intervals[n-1].class == class {
		l.intervals[n-1].end = now
		l.intervals[n-1].bytes += l.una - l.epoch.una
		return
	}
	if int(l.nIntervals) == len(l.intervals) {
		l.join()
	}
	l.intervals[l.nIntervals] = interval{l.epoch.start, now, l.una - l.epoch.una, class}
	l.nIntervals++
}

func (l *limit) join() {
	list := l.intervals[:l.nIntervals]
	least := 1
	for i := 1; i < len(list); i++ {
		if list[i].end-list[i].start < list[least].end-list[least].start {
			least = i
		}
	}
	list[least-1].end = list[least].end
	list[least-1].bytes += list[least].bytes
	l.nIntervals = uint8(len(list) - 1)
	copy(list[least:], list[least+1:])
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

// arrived takes back a loss that only the capture had: the receiver has all up to una.
func (l *limit) arrived(una uint64) { l.recoveryPoint = min(l.recoveryPoint, una) }

// finish notes the first FIN of the direction.
func (l *limit) finish(now unit.Nanos) { l.finished = max(now, 1) }
