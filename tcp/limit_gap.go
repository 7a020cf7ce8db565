package tcp

import (
	"nettrace/unit"
)

// gap is a silence, by the packet that ended it.
type gap struct {
	record, offset int64
	took           unit.Nanos
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
			l.spaced(uint64(s.header.Payload), s.now)
		} else {
			l.train = train{last: s.now}
		}
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
	switch {
	case again && (took >= timeoutAfter && s.start <= l.una || !released && took >= min(timeoutAfter, l.patience(c))), l.remote && jump > 0 && took >= timeoutAfter:
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
		switch {
		case released && l.near:
			i = 2
		case released:
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

// patience is how long a sender waits for an ACK before a timer of its own runs out.
func (l *limit) patience(c *conn) unit.Nanos {
	return max(10*unit.Millisecond, max(l.epoch.took, c.roundTrip())*3/2)
}

func (l *limit) pend(i int8, took unit.Nanos, s *segment) {
	l.last = i
	l.pending[i] += max(0, took)
	if took > l.worst[i].took {
		l.worst[i] = gap{s.packet.Record, s.packet.Offset, took}
	}
}
