package datapath

import "nettrace/unit"

// Linux's sending side.
const (
	initialWindow = 10    // segments (RFC 6928)
	gsoMaxBytes   = 65536 // of a super-segment with its headers
	idleRestart   = 200 * unit.Millisecond
	pacedBurst    = 1 << 10 // a super-segment holds what pacing sends in 1/1024 s
	shortTripLog  = 9       // and more on short round trips: 64 KiB, halved for each 512 us
	minTSOSegs    = 2
)

// endpoint is one end of a replayed connection: TCP without loss, between an application that does what it did and a path.
type endpoint struct {
	engine  *engine
	id      component
	name    int // 0 client, 1 server
	link    *link
	traffic *traffic
	app     *player
	log     *packetLog
	mss     uint64
	noDelay bool
	maxSegs uint64   // of a super-segment, 0 for what the size allows
	cuts    []uint64 // where packets are cut, nil: by rule
	paced   bool
	inline  bool // the next packet leaves when the answer to the last one could be there

	written, sent, acked uint64 // bytes
	closed, finSent      bool
	small                uint64 // end of the last segment below the MSS
	window               uint64 // congestion window, segments
	countsACKs           bool   // which grows by one for each ACK
	right                uint64 // the peer's window
	lastSent             unit.Nanos
	nextPaced            unit.Nanos
	pacing               bool // an event for it is out

	why    sendReason // what lets the next packet leave
	acking acking
	edges  []edge
	offers uint64 // window offered throughout; 0: by edges
	offer  uint64 // right edge offered last
}

// sendReason says why a packet left.
type sendReason uint8

const (
	whyWrite    sendReason = iota // the application wrote
	whyReleased                   // an acknowledgement let data go that had waited
	whyPaced                      // its time had come
	whyMore                       // more than a segment is acknowledged, or quick ACKs are on
	whyRead                       // the reader emptied the buffer
	whyDelayed                    // the delayed ACK's time was over
	whyFIN                        // a FIN is acknowledged
)

func (w sendReason) String() string {
	return [...]string{"the application writes", "an acknowledgement lets go what waited", "its time has come (pacing)", "acknowledged at once: more than a segment, or quick ACKs",
		"acknowledged at reading: a small segment, buffer empty", "delayed ACK", "FIN acknowledged"}[w]
}

func (e *endpoint) handle(k kind, arg uint16) {
	switch k {
	case ackTimer:
		if arg == e.acking.setting && e.acking.timer {
			e.acking.expired()
			e.acknowledge(whyDelayed)
		}
	case pacedSend:
		e.pacing = false
		e.push(whyPaced)
	}
}

// write adds bytes to what is to be sent.
func (e *endpoint) write(bytes uint64) {
	if e.sent == e.acked && e.engine.now-e.lastSent > idleRestart+e.acking.round {
		e.window = min(e.window, initialWindow)
	}
	e.written += bytes
	e.push(whyWrite)
}

// close sends what is left, without Nagle's rule, and a FIN.
func (e *endpoint) close() {
	e.closed = true
	e.push(whyWrite)
	if e.sent == e.written && !e.finSent {
		e.transmit(0)
	}
}

// push sends what may be sent.
func (e *endpoint) push(why sendReason) {
	e.why = why
	for e.sent < e.written {
		if (e.paced || e.inline) && e.engine.now < e.nextPaced {
			if !e.pacing {
				e.pacing = true
				e.engine.after(e.nextPaced-e.engine.now, e.id, pacedSend, 0)
			}
			return
		}
		n := e.next()
		if n == 0 {
			return
		}
		e.transmit(n)
	}
	if e.closed && !e.finSent && e.sent > 0 {
		e.transmit(0)
	}
}

// next is how many bytes the next packet holds, 0 if none may leave now.
func (e *endpoint) next() uint64 {
	flying := (e.sent - e.acked + e.mss - 1) / e.mss
	if flying >= e.window || e.right <= e.sent {
		return 0
	}
	room := min((e.window-flying)*e.mss, e.right-e.sent)
	n, recorded := min(e.written-e.sent, e.sizeGoal()), false
	if cut := e.cut(); cut > 0 && cut <= e.written {
		n, recorded = cut-e.sent, true
	}
	if n > room {
		if recorded && flying > 0 {
			return 0
		}
		n = room
		if whole := n - n%e.mss; whole > 0 {
			return whole
		}
		if flying > 0 {
			return 0
		}
		return n
	}
	if partial := n % e.mss; partial > 0 && !e.smallMayLeave() {
		n -= partial
	}
	return n
}

// cut is where the recorded packet that comes next ended, 0 where there is none.
func (e *endpoint) cut() uint64 {
	for len(e.cuts) > 0 && e.cuts[0] <= e.sent {
		e.cuts = e.cuts[1:]
	}
	if len(e.cuts) == 0 {
		return 0
	}
	return e.cuts[0]
}

// smallMayLeave is Nagle's rule in Minshall's form: a segment below the MSS waits while another such is on its way.
func (e *endpoint) smallMayLeave() bool {
	return e.noDelay || e.closed || e.small <= e.acked
}

// sizeGoal is the largest super-segment (tcp_tso_autosize and tcp_bound_to_half_wnd).
func (e *endpoint) sizeGoal() uint64 {
	most := max((gsoMaxBytes-1-headerBytes)/e.mss, 1)
	if e.maxSegs > 0 {
		most = min(most, e.maxSegs)
	}
	bytes := uint64(gsoMaxBytes)
	if trip := e.acking.round; trip > 0 {
		bytes = e.rate() / pacedBurst
		if halvings := uint64(trip/unit.Microsecond) >> shortTripLog; halvings < 32 {
			bytes += gsoMaxBytes >> halvings
		}
	}
	segments := min(most, max(bytes/e.mss, min(minTSOSegs, most)))
	return segments * e.mss
}

// rate is what pacing would send: twice the window in a round trip, in bytes/s.
func (e *endpoint) rate() uint64 {
	return max(1, 2*e.window*e.mss*uint64(unit.Second)/uint64(max(e.acking.round, 1)))
}

// transmit sends n bytes as one packet, which the card cuts into segments; 0 is a pure ACK or the FIN.
func (e *endpoint) transmit(n uint64) {
	now := e.engine.now
	f := frame{seq: e.sent, ack: e.acking.next, edge: e.offered(), why: e.why}
	if n > 0 {
		e.acking.answered(now)
		e.sent += n
		if n%e.mss != 0 {
			e.small = e.sent
		}
		if e.inline {
			e.nextPaced = now + e.acking.round + unit.Microsecond
		}
		f.flags = flagPSH
		e.lastSent = now
		if e.paced && e.acking.round > 0 && e.sent > initialWindow*e.mss {
			e.nextPaced = max(now, e.nextPaced) + unit.Nanos(n*uint64(unit.Second)/e.rate())
		}
	}
	if e.closed && e.sent == e.written && !e.finSent {
		e.finSent = true
		f.flags |= flagFIN
	}
	e.acking.acknowledged()
	e.log.left(e, f, n)
	e.segments(f, n)
	if e.finSent && f.flags&flagFIN != 0 {
		e.sent++
		e.written++
	}
}

// segments puts a packet onto the link as frames; only the last has PSH and FIN.
func (e *endpoint) segments(f frame, n uint64) {
	flags := f.flags
	for {
		size := min(n, e.mss)
		n -= size
		f.payload, f.flags = uint32(size), 0
		if n == 0 {
			f.flags = flags
		}
		e.traffic.sent(f)
		e.link.send(f)
		f.seq += size
		if n == 0 {
			return
		}
	}
}

// offered is the window that the recorded end offered with as much acknowledged, or the one that was set; it never shrinks.
func (e *endpoint) offered() uint64 {
	if e.offers > 0 {
		e.offer = max(e.offer, e.acking.next+e.offers)
		return e.offer
	}
	for len(e.edges) > 0 && e.edges[0].ack <= e.acking.next {
		e.offer = max(e.offer, e.edges[0].right)
		e.edges = e.edges[1:]
	}
	return e.offer
}

func (e *endpoint) acknowledge(why sendReason) {
	e.why = why
	e.transmit(0)
}

// receive takes a segment, or what GRO merged.
func (e *endpoint) receive(f frame) {
	e.log.came(e, f)
	if f.flags&flagSYN != 0 {
		e.app.connection(e, f)
		return
	}
	e.app.established(e)
	e.right = max(e.right, f.edge)
	e.acknowledged(f.ack)
	fin := f.flags&flagFIN != 0
	if f.payload == 0 && !fin {
		e.push(whyReleased)
		return
	}
	atOnce := f.payload > 0 && e.acking.got(e.engine.now, min(uint64(f.payload), e.mss), uint64(f.payload), f.flags&flagPSH != 0)
	if fin {
		atOnce = e.acking.gotFIN(e.finSent) || atOnce
	}
	if fin && atOnce {
		e.acknowledge(whyFIN)
	} else if atOnce {
		e.acknowledge(whyMore)
	} else if due, set := e.acking.wait(e.engine.now); set && due <= e.engine.now {
		e.acknowledge(whyDelayed)
	} else if set {
		e.engine.after(due-e.engine.now, e.id, ackTimer, e.acking.setting)
	}
	e.push(whyReleased)
	e.app.arrived()
}

// acknowledged takes an ACK into account: the congestion window grows by what it covers while it is in use (slow start).
func (e *endpoint) acknowledged(ack uint64) {
	if ack <= e.acked {
		return
	}
	flying := (e.sent - e.acked + e.mss - 1) / e.mss
	if 2*flying > e.window {
		grows := max((ack-e.acked)/e.mss, 1)
		if e.countsACKs {
			grows = 1
		}
		e.window = min(e.window+grows, windowAtMost)
	}
	e.acked = ack
}
