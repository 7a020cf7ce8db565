package datapath

import "nettrace/unit"

// Linux's delayed ACKs (net/ipv4/tcp_input.c, tcp_output.c and tcp_timer.c, Linux 6.x; include/net/tcp.h for the times).
const (
	ackTimeout   = 40 * unit.Millisecond // TCP_DELACK_MIN and TCP_ATO_MIN
	ackTimeMost  = 200 * unit.Millisecond
	quickACKs    = 16  // TCP_MAX_QUICKACKS
	firstMSS     = 536 // what a receiver takes the peer's segments for until it has seen some
	readWakeTime = 10 * unit.Microsecond
)

// acking decides when received data is acknowledged: at once when more than a segment came, at the start and after silence
// (quick ACKs), when a reader has emptied the buffer of a small segment; otherwise with the next data or after a delay.
// Once an end answers what it gets (ping-pong), its ACKs wait for the answer.
type acking struct {
	delay unit.Nanos // of a delayed ACK: what the recording shows, or ackTimeout

	next, told uint64 // bytes received in order, and acknowledged
	mss        uint64 // estimate of the peer's segments
	timeout    unit.Nanos
	last       unit.Nanos // when data came
	heard      bool
	quick      int
	pingpong   bool

	scheduled bool
	pushed    int // small or pushed segments since the last ACK, up to 2
	timer     bool
	expires   unit.Nanos
	setting   uint16
	round     unit.Nanos // the round trip, which bounds a stretched delay
}

// got takes a segment of so many bytes into account and reports whether the ACK is due at once.
func (a *acking) got(now unit.Nanos, frame, total uint64, pushed bool) bool {
	a.next += total
	a.scheduled = true
	a.measure(frame, total, pushed)
	switch gap := now - a.last; {
	case !a.heard:
		a.heard, a.quick, a.timeout = true, quickACKs, ackTimeout
	case gap <= ackTimeout/2:
		a.timeout = a.timeout/2 + ackTimeout/2
	case gap < a.timeout:
		a.timeout = a.timeout/2 + gap
	case gap > a.silence():
		a.quick = max(a.quick, quickACKs)
	}
	a.last = now
	return a.due()
}

// gotFIN takes the peer's FIN into account. Who has closed acknowledges it at once; who has not is about to, and lets the
// ACK wait for that (tcp_fin).
func (a *acking) gotFIN(closed bool) bool {
	a.next++
	a.scheduled = true
	a.pingpong = a.pingpong || !closed
	return closed || a.due()
}

// silence is the peer's retransmission timeout: after so long it begins anew.
func (a *acking) silence() unit.Nanos { return 200*unit.Millisecond + a.round }

// due reports whether to acknowledge at once: more than a segment, or quick ACKs.
func (a *acking) due() bool {
	return a.next-a.told > a.mss || a.quick > 0 && !a.pingpong
}

// measure estimates the peer's segment size, and notes segments that end a write.
func (a *acking) measure(frame, total uint64, pushed bool) {
	if frame >= a.mss {
		a.mss = frame
		if total == frame && pushed {
			a.pushed = max(a.pushed, 1)
		}
		return
	}
	a.pushed = min(a.pushed+1, 2)
}

// read reports whether a reader that has emptied the buffer makes the ACK due.
func (a *acking) read() bool {
	return a.scheduled && (a.next-a.told > a.mss || a.pushed == 2 || a.pushed == 1 && !a.pingpong)
}

// wait is when a delayed ACK that is scheduled now is due, and false if one is due earlier anyway. now is returned for one
// that is about to be sent.
func (a *acking) wait(now unit.Nanos) (unit.Nanos, bool) {
	timeout := a.timeout
	if timeout > ackTimeout {
		timeout = min(timeout, ackTimeMost, max(a.round, ackTimeout))
	}
	timeout += a.delay - ackTimeout
	due := now + timeout
	if a.timer {
		if a.expires <= now+a.timeout/4 {
			return now, true
		}
		if due >= a.expires {
			return 0, false
		}
	}
	a.timer, a.expires = true, due
	a.setting++
	return due, true
}

// expired notes that a delayed ACK is sent: the answer did not come, so the end is no longer taken for one that answers.
func (a *acking) expired() {
	if a.pingpong {
		a.pingpong, a.timeout = false, ackTimeout
		return
	}
	a.timeout = min(2*a.timeout, a.silence())
}

// acknowledged notes that a packet with an ACK leaves.
func (a *acking) acknowledged() {
	if a.scheduled && a.quick > 0 {
		if a.quick--; a.quick == 0 {
			a.timeout = ackTimeout
		}
	}
	a.told, a.scheduled, a.pushed, a.timer = a.next, false, 0, false
	a.setting++
}

// answered notes that data leaves: soon after data came, it is taken for the answer.
func (a *acking) answered(now unit.Nanos) {
	if a.heard && now-a.last < a.timeout {
		a.pingpong = true
	}
}
