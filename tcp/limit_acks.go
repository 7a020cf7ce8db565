package tcp

import (
	"nettrace/unit"
)

// acknowledged notes an ACK of this direction.
func (l *limit) acknowledged(d *direction, s *segment, ack uint64) {
	if !l.remote {
		if s.header.Payload == 0 && ack > l.una {
			l.spaced(ack-l.una, s.now)
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

// arrived takes back a loss that only the capture had: the receiver has all up to una.
func (l *limit) arrived(una uint64) { l.recoveryPoint = min(l.recoveryPoint, una) }
