package tcp

import "nettrace/unit"

// loss sums what one direction sent again or out of order.
type loss struct {
	packets, wire          uint32 // captured packets that resend data, and what they are on the wire
	spurious, spuriousWire uint32 // those of them that were needless
	twice, twiceWire       uint32 // others that the capture holds for the second time: needless if it was taken where they arrive
	reordered              uint32
	timeouts               uint32         // resendings of the first unacknowledged byte after a silence of at least timeoutAfter
	by                     [causes]uint32 // resent packets by what caused them
	bytes                  uint64
	timeoutTime            unit.Nanos
}

const (
	// maxJump is how far a sequence number may lie from what is known: the largest window (RFC 7323 section 2.3).
	maxJump = 1 << 30
	// holeAge is how old a hole must be for its filling to be a retransmission where no round-trip time is known:
	// Wireshark's 3 ms.
	holeAge = 3 * unit.Millisecond
	// timeoutAfter is Linux's smallest retransmission timeout (TCP_RTO_MIN).
	timeoutAfter = 200 * unit.Millisecond
)

// trouble returns the direction's recovery, made if need be. ACKs of what was sent so far may cover data out of order.
func (t *shard) trouble(d *direction) *recovery {
	if d.recovery == nil {
		d.recovery = t.recoveries.take()
		d.recovery.told = d.recoveryPoint
	}
	d.recoveryPoint = max(d.recoveryPoint, d.high)
	return d.recovery
}

// jump opens the hole between the highest byte seen and s, but for what the other end has acknowledged: that only the
// capture lacks.
func (t *shard) jump(d *direction, s *segment) {
	d.gaps++
	from := d.high
	if d.acked && d.una > from {
		d.missing += min(d.una, s.start) - from
		from = min(d.una, s.start)
	}
	if from < s.start {
		o := &s.header.Options
		t.trouble(d).open(hole{
			start: from, end: s.start, at: s.now, stamp: o.TSVal, hasStamp: o.HasTimestamp, id: s.header.ID, hasID: s.header.HasID && d.idents.reliable(),
		})
	}
}

// late judges a packet that begins below the highest byte seen.
func (t *shard) late(c *conn, dir int, s *segment) Flags {
	d := &c.dir[dir]
	r := t.trouble(d)
	end := min(s.end, d.high)
	first, missing := r.fill(s.start, end)
	d.unique += missing + s.end - end
	undecided := missing == end-s.start || missing == 0 && s.start < r.forgotten
	if undecided && !d.resentInto(first, s, c.roundTrip()) {
		r.loss.reordered++
		t.note(c, reordering, exemplarOf(dir, s, int64(s.now-first.at)))
		return FlagReordered
	}
	return FlagRetransmission | t.resend(c, dir, s, end, missing == 0 && s.start >= r.forgotten)
}

// slowTick is the slowest clock of timestamps in use, twice: packets of one tick of it were sent within half a round trip
// of that length.
const slowTick = 20 * unit.Millisecond

// resentInto decides whether a packet that fills a hole was sent again, or was sent before the packet that jumped over the
// hole and came late: what is sent again has a higher IP identification and a newer timestamp than that one. What has the
// same timestamp was sent with it, unless round trips are as short as the clock's ticks. Where neither tells, the hole is
// older than a round trip.
func (d *direction) resentInto(h hole, s *segment, roundTrip unit.Nanos) bool {
	o := &s.header.Options
	switch {
	case h.hasID && s.header.HasID:
		return int16(s.header.ID-h.id) > 0
	case h.at == 0 && d.idents.reliable() && s.header.HasID: // the hole is forgotten
		return d.idents.above(s.header.ID)
	case h.hasStamp && o.HasTimestamp && (o.TSVal != h.stamp || roundTrip >= slowTick):
		return int32(o.TSVal-h.stamp) > 0
	case roundTrip > 0:
		return s.now-h.at >= roundTrip
	default:
		return s.now-h.at >= holeAge
	}
}

// resend counts s, up to end, as a retransmission. twice says that all of it was captured before.
func (t *shard) resend(c *conn, dir int, s *segment, end uint64, twice bool) Flags {
	d := &c.dir[dir]
	l := &d.recovery.loss
	n := uint32(wire(int(end-s.start), s.size))
	l.packets++
	l.wire += n
	l.bytes += end - s.start
	silence := s.now - d.sentAt
	timedOut := s.timed && silence >= timeoutAfter && d.acked && s.start <= d.una
	l.by[d.recovery.why(d, s, timedOut, c.roundTrip())]++
	if timedOut {
		l.timeouts++
		l.timeoutTime += silence
		e := exemplarOf(dir, s, int64(silence))
		e.with = d.waits.record
		t.note(c, timeout, e)
		d.recovery.stuck.again(e, uint32(s.start), uint32(min(int(end-s.start), s.size)))
	}
	t.note(c, retransmission, exemplarOf(dir, s, int64(silence)))
	o := &s.header.Options
	sending := resent{uint32(s.start), uint32(end), n, twice, false, false, o.HasTimestamp, o.TSVal, exemplarOf(dir, s, int64(end-s.start))}
	if twice {
		l.twice++
		l.twiceWire += n
	}
	needless := d.acked && end <= d.una
	if needless {
		t.needless(c, d, &sending, n)
	}
	d.remember(sending)
	if needless {
		return FlagSpurious
	}
	return 0
}

// arrivedTwice counts what a capture at the receiving end holds twice as needless: it had arrived.
func (l *loss) arrivedTwice() {
	l.spurious += l.twice
	l.spuriousWire += l.twiceWire
	l.twice, l.twiceWire = 0, 0
}

// needless counts n wire packets of a retransmission as needless.
func (t *shard) needless(c *conn, d *direction, r *resent, n uint32) {
	n = min(n, r.wire)
	r.wire -= n
	l := &d.recovery.loss
	l.spuriousWire += n
	if r.twice {
		l.twiceWire -= n
	}
	if !r.needless {
		r.needless = true
		l.spurious++
		if r.twice {
			l.twice--
		}
		t.note(c, spurious, r.exemplar)
	}
}

// arrived learns from an ACK of this direction whether the retransmission at the left edge that it covers was needless: the
// timestamp that comes back is older than that of the retransmission, so that the first sending had arrived (Eifel
// detection, RFC 3522). Only what fills the left edge has its timestamp echoed (RFC 7323 section 4.3).
func (t *shard) arrived(c *conn, d *direction, s *segment, ack uint64) {
	o := &s.header.Options
	if d.recovery == nil || d.underWay == 0 || !o.HasTimestamp {
		return
	}
	left := uint32(d.una)
	for i := range d.resent {
		r := &d.resent[i]
		if !r.underWay || int32(uint32(ack)-r.end) < 0 {
			continue
		}
		r.underWay = false
		d.underWay--
		edge := int32(r.start-left) <= 0 && int32(r.end-left) > 0
		if edge && r.hasStamp && !r.needless && int32(o.TSEcr-r.stamp) < 0 {
			t.needless(c, d, r, r.wire)
		}
	}
}

// sacked learns from the SACK blocks of a packet that acknowledges this direction. It reports whether the first one is a
// duplicate SACK (RFC 2883 section 4): below the ACK number, or within the second block. Such a one proves that the
// retransmission of the range was needless; without a retransmission, the network has duplicated a packet.
func (t *shard) sacked(c *conn, d *direction, s *segment, ack uint64) bool {
	o := &s.header.Options
	if o.SACKs == 0 {
		return false
	}
	start, end := extend(ack, o.SACK[0][0]), extend(ack, o.SACK[0][1])
	duplicate := end <= ack || o.SACKs > 1 && start >= extend(ack, o.SACK[1][0]) && end <= extend(ack, o.SACK[1][1])
	if !duplicate || start >= end {
		d.tell()
		return false
	}
	t.acknowledgements(d).duplicateSACKs++
	if d.recovery == nil {
		return true
	}
	for i := range d.resent {
		r := &d.resent[i]
		low, high := max(extend(start, r.start), start), min(extend(start, r.end), end)
		if r.start != r.end && low < high {
			t.needless(c, d, r, uint32(wire(int(high-low), int(d.segmentSize()))))
		}
	}
	return true
}
