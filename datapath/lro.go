package datapath

// lroBytes is the largest merged segment: what an IP packet can hold.
const lroBytes = 65535

// merged is what a poll hands to TCP: the bytes of consecutive frames of the flow, in order.
type merged struct {
	bytes    int
	segments int // merged segments with payload
	acks     int // pure ACKs, which are handed on as they are
	ackDue   bool
}

// lro merges the frames of one poll. It is flushed at the poll's end, so nothing waits here for a later one.
type lro struct {
	held merged
	last int // bytes in the segment that is open
}

func (l *lro) push(f frame) {
	n := int(f.payload)
	if n == 0 {
		l.held.acks++
		return
	}
	if l.held.segments == 0 || l.last+n > lroBytes {
		l.held.segments++
		l.last = 0
	}
	l.last += n
	l.held.bytes += n
}

func (l *lro) flush() merged {
	m := l.held
	l.held, l.last = merged{}, 0
	return m
}
