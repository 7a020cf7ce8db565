package tcp

import "nettrace/unit"

// recovery is what a direction needs once it has seen a gap or a retransmission. What does not fit is forgotten: in
// forgotten holes only identification and timestamp tell a retransmission from reordering, and of forgotten
// retransmissions it is not learnt that they were needless.
type recovery struct {
	loss      loss
	stuck     stuck
	told      uint64   // where the direction was when ACKs last told of a hole
	timedOut  uint64   // and when its timer last ran out
	holes     [24]hole // in order
	nHoles    int
	forgotten uint64 // below it there may be holes that are forgotten
	resent    [32]resent
	nextSent  int
	underWay  int // retransmissions that no ACK has covered yet
}

// hole is a range that later packets jumped over.
type hole struct {
	start, end uint64
	at         unit.Nanos
	stamp      uint32 // timestamp of the packet that jumped over it
	hasStamp   bool
	hasID      bool
	id         uint16 // its IP identification
}

// part is what is left of a hole.
func (h hole) part(start, end uint64) hole {
	h.start, h.end = start, end
	return h
}

// resent is a retransmission.
type resent struct {
	start, end uint32
	wire       uint32 // packets that are not known to be needless
	twice      bool   // all of it was captured before
	needless   bool
	underWay   bool // no ACK has covered it yet
	hasStamp   bool
	stamp      uint32 // its timestamp
	exemplar   exemplar
}

func (r *recovery) remember(s resent) {
	if r.resent[r.nextSent].underWay {
		r.underWay--
	}
	s.underWay = true
	r.underWay++
	r.resent[r.nextSent] = s
	r.nextSent = (r.nextSent + 1) % len(r.resent)
}

// open adds a hole above all others.
func (r *recovery) open(h hole) {
	if r.nHoles == len(r.holes) {
		r.forgotten = r.holes[0].end
		r.nHoles = copy(r.holes[:], r.holes[1:])
	}
	r.holes[r.nHoles] = h
	r.nHoles++
}

// fill takes the range out of the holes. It returns how many bytes of it were missing, and the lowest hole touched.
func (r *recovery) fill(start, end uint64) (first hole, missing uint64) {
	old, n := r.holes, r.nHoles
	r.nHoles = 0
	for _, h := range old[:n] {
		low, high := max(h.start, start), min(h.end, end)
		if low >= high {
			r.open(h)
			continue
		}
		if missing == 0 {
			first = h
		}
		missing += high - low
		if h.start < low {
			r.open(h.part(h.start, low))
		}
		if high < h.end {
			r.open(h.part(high, h.end))
		}
	}
	return first, missing
}

// forget drops the holes below an ACK number: the receiver has the data, so only the capture lacks it.
func (d *direction) forget(ack uint64) {
	if d.recovery == nil || d.nHoles == 0 || d.holes[0].start >= ack {
		return
	}
	_, missing := d.fill(0, ack)
	if d.missing += missing; missing > 0 && d.nHoles == 0 && d.limit != nil {
		d.limit.arrived(ack)
	}
}

// restart forgets what the sequence numbers so far were good for, as new ones have nothing to do with them.
func (d *direction) restart() {
	d.acked, d.recoveryPoint, d.message, d.rtt.inFlight = false, 0, message{}, 0
	if d.recovery != nil {
		d.recovery.nHoles, d.recovery.forgotten, d.recovery.resent, d.recovery.underWay = 0, 0, [32]resent{}, 0
		d.recovery.told, d.recovery.timedOut = 0, 0
	}
}

// identifications watches the IP identifications of a direction. Linux and others count them up for each packet of a
// connection or of the host, so that they tell the order of sending; some senders leave them 0 or random.
type identifications struct {
	highest           uint16 // in serial order
	forward, backward uint16 // in-order packets with a small step up, and others
	shared            uint16 // of forward: steps over numbers that no packet of the connection can have had
	known             bool
}

// idStep is how many packets a host may send elsewhere between two of a connection.
const idStep = 2048

// next notes an in-order packet, which is so many on the wire: each of them takes a number. adjoins says that it goes on
// where the last one ended, and too soon behind it for a loss between them to have been repaired.
func (n *identifications) next(id uint16, wire int, adjoins bool) {
	last := id + uint16(max(wire, 1)-1)
	step := int16(id - n.highest)
	switch {
	case !n.known:
		n.known, n.highest = true, last
		return
	case step > 0 && step <= idStep:
		n.forward++
		if adjoins && step > 1 {
			n.shared++
		}
	default:
		n.backward++
	}
	n.highest = last
	if n.forward|n.backward > 1<<14 { // halve all, so that they follow a change
		n.forward, n.backward, n.shared = n.forward/2, n.backward/2, n.shared/2
	}
}

// took notes a packet that is not in order, or without payload: its number is taken.
func (n *identifications) took(id uint16, wire int) {
	if step := int16(id - n.highest); n.known && step > 0 && step <= idStep {
		n.highest = id + uint16(max(wire, 1)-1)
	}
}

// reliable reports whether the identifications tell the order: at least 4 steps seen, at most one in 16 of them wrong.
func (n *identifications) reliable() bool { return n.forward >= 4 && n.backward*16 <= n.forward }

// own reports whether the connection has a counter of its own, so that a number which is not seen is a packet that is not.
func (n *identifications) own() bool { return n.reliable() && n.shared*16 <= n.forward }

func (n *identifications) above(id uint16) bool { return int16(id-n.highest) > 0 }
