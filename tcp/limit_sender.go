package tcp

import (
	"nettrace/unit"
)

// senderClock maps the sender's timestamps to the capture's clock, as if each packet had taken the shortest way.
type senderClock struct {
	first, stamp uint32
	firstAt      unit.Nanos
	base         unit.Nanos
	tick         unit.Nanos // 0: no timestamps
	set          bool
}

// tickOf guesses the tick of a timestamp clock from so many ticks in so much time.
func tickOf(ticks uint32, took unit.Nanos) unit.Nanos {
	for _, tick := range []unit.Nanos{unit.Millisecond, 10 * unit.Millisecond, 4 * unit.Millisecond, unit.Microsecond} {
		if r := float64(took) / (float64(ticks) * float64(tick)); r > 0.8 && r < 1.25 {
			return tick
		}
	}
	return 0
}

// sentAt returns when a packet that was captured now left the sender.
func (k *senderClock) sentAt(now unit.Nanos, stamp uint32) unit.Nanos {
	if !k.set {
		*k = senderClock{first: stamp, stamp: stamp, firstAt: now, base: now, tick: unit.Millisecond, set: true}
	}
	if took := now - k.firstAt; took > 200*unit.Millisecond && k.tick > 0 && int32(stamp-k.first) > 0 {
		if tick := tickOf(stamp-k.first, took); tick != k.tick && tick != 0 {
			k.tick, k.base = tick, now-unit.Nanos(stamp-k.first)*tick
		}
	}
	since := unit.Nanos(int32(stamp-k.first)) * k.tick
	k.base = min(k.base, now-since)
	return k.base + since
}

// pendingACK is an ACK that the sender does not know yet.
type pendingACK struct {
	at        unit.Nanos
	ack, edge uint64
	stamp     uint32
}

// ackRing are the ACKs that the sender does not know yet, in order.
type ackRing struct {
	acks    [32]pendingACK
	head, n uint8
}

// push adds an ACK. Those of one tick of the receiver's clock are one, as its timestamp does not tell them apart; so are the
// last ones where there is no room.
func (r *ackRing) push(p pendingACK, ticks bool) {
	if r.n > 0 {
		newest := &r.acks[(r.head+r.n-1)%uint8(len(r.acks))]
		if newest.stamp == p.stamp && ticks || int(r.n) == len(r.acks) {
			newest.ack, newest.edge, newest.stamp = max(newest.ack, p.ack), max(newest.edge, p.edge), p.stamp
			return
		}
	}
	r.acks[(r.head+r.n)%uint8(len(r.acks))] = p
	r.n++
}

func (r *ackRing) pop() {
	r.head = (r.head + 1) % uint8(len(r.acks))
	r.n--
}
