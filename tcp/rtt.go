package tcp

import "nettrace/unit"

// rtt measures the time from a packet of one direction to the acknowledgement of its last byte, as seen from where the
// capture was taken: the whole round trip at the sender, the receiver's delay at the receiver, and one leg in between.
//
// A few packets in flight are timed at once. Data that was sent again gives no sample (Karn's rule, RFC 6298 section 3)
// unless the echoed timestamp tells which of the sendings was acknowledged (RFC 7323 section 4).
type rtt struct {
	times    durations
	flight   *flight // nil before the first packet
	inFlight uint8
}

// flight are packets in flight, in the order of sending.
type flight [4]timed

// timed is a packet whose acknowledgement is awaited. Sequence numbers are those of the header.
type timed struct {
	at         unit.Nanos
	start, end uint32
	stamp      uint32
	hasStamp   bool
	again      bool // one of several sendings of the data
	sampled    bool // by the ACK of its first part
}

// timing returns the direction's times, with room for packets in flight.
func (t *shard) timing(d *direction) *rtt {
	if d.rtt.flight == nil {
		d.rtt.flight = t.flightPool.take()
	}
	return &d.rtt
}

// sent times a packet, if there is room. again says that its data was sent before.
func (r *rtt) sent(s *segment, again bool) {
	start, end := uint32(s.start), uint32(s.end)
	if again {
		for i := range r.flight[:r.inFlight] {
			if t := &r.flight[i]; int32(t.start-end) < 0 && int32(start-t.end) < 0 {
				t.again = true
			}
		}
	}
	o := &s.header.Options
	if !s.timed || again && !o.HasTimestamp {
		return
	}
	if int(r.inFlight) == len(r.flight) { // the newest gives way, as an ACK may end at the packet after any
		r.inFlight--
	}
	t := &r.flight[r.inFlight] // filled in place: a copy of what was just written would wait for it
	t.at, t.start, t.end, t.stamp = s.now, start, end, o.TSVal
	t.hasStamp, t.again, t.sampled = o.HasTimestamp, again, false
	r.inFlight++
}

// acked takes the sample of the packet that holds the last byte acknowledged, and forgets what is acknowledged whole. una
// is the ACK number before. In a recovery ACKs tell no round trip, since the last byte had waited behind a hole; only that
// of a packet sent again does, which has filled the hole at una and whose timestamp comes back.
func (r *rtt) acked(s *segment, ack, una uint32, recovering bool) {
	if r.inFlight == 0 {
		return
	}
	for i := range r.flight[:r.inFlight] {
		t := &r.flight[i]
		if int32(ack-t.start) > 0 && int32(ack-t.end) <= 0 && !t.sampled && r.proven(t, s, una, recovering) {
			t.sampled = true
			r.times.add(s.now - t.at)
		}
	}
	n := uint8(0)
	for _, t := range r.flight[:r.inFlight] {
		if int32(ack-t.end) < 0 {
			r.flight[n] = t
			n++
		}
	}
	r.inFlight = n
}

// proven reports whether s surely acknowledges this sending of the data, and nothing but its arrival brought s about.
func (r *rtt) proven(t *timed, s *segment, una uint32, recovering bool) bool {
	if !t.again {
		return !recovering
	}
	o := &s.header.Options
	if int32(una-t.start) < 0 || !t.hasStamp || !o.HasTimestamp || o.TSEcr != t.stamp {
		return false
	}
	for i := range r.flight[:r.inFlight] {
		if other := &r.flight[i]; other != t && other.stamp == t.stamp && int32(other.start-t.end) < 0 && int32(t.start-other.end) < 0 {
			return false // two sendings within one tick of the sender's clock
		}
	}
	return true
}
