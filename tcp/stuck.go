package tcp

import "nettrace/unit"

// stuck follows full-sized data that does not get through: the same first unacknowledged bytes are sent again after each
// timeout, while the other end is alive. If they pass at last in smaller pieces, the path's MTU is below the segment's size
// and nobody said so: a black hole (RFC 2923 section 2.1, RFC 8899).
type stuck struct {
	at       exemplar // the first resending
	start    uint32   // of the data
	bytes    uint32   // payload of the first sending on the wire
	timeouts uint16
	answers  uint16 // packets of the other end since the first resending that acknowledge nothing new
	smaller  uint32 // payload of the last resending, if it is smaller
	holes    PathMTU
}

// PathMTU is what is known of segments that are too large for the path.
type PathMTU struct {
	BlackHoles  int64      `json:"black_holes"`              // times that full-sized segments did not pass
	Passed      int64      `json:"passed_smaller,omitempty"` // of them: in the end smaller ones did
	Silent      int64      `json:"silent,omitempty"`         // of them: nothing came from the other end but its handshake
	Timeouts    int64      `json:"timeouts"`
	Time        unit.Nanos `json:"time_ns"`
	StuckBytes  int64      `json:"stuck_bytes"`            // payload that did not pass, the smallest
	PassedBytes int64      `json:"passed_bytes,omitempty"` // payload that did at last, the largest
}

func (p *PathMTU) add(b *PathMTU) {
	p.BlackHoles += b.BlackHoles
	p.Passed += b.Passed
	p.Silent += b.Silent
	p.Timeouts += b.Timeouts
	p.Time += b.Time
	if p.StuckBytes == 0 || b.StuckBytes > 0 && b.StuckBytes < p.StuckBytes {
		p.StuckBytes = b.StuckBytes
	}
	p.PassedBytes = max(p.PassedBytes, b.PassedBytes)
}

const (
	// holeTimeouts is how many timeouts of the same data show that it does not pass; one or two may be loss.
	holeTimeouts = 3
	// smallestFull is the least payload that a path cannot refuse by its MTU: IPv4 hosts take packets of 576 bytes (RFC 791).
	smallestFull = 536
)

// again notes that the first unacknowledged byte was sent again after a timeout, in a packet of so many bytes on the wire.
func (k *stuck) again(e exemplar, start, bytes uint32) {
	if k.timeouts == 0 || k.start != start {
		*k = stuck{at: e, start: start, bytes: bytes, holes: k.holes}
	}
	k.timeouts++
	k.smaller = 0
	if bytes < k.bytes {
		k.smaller = bytes
	}
}

// acknowledged notes an ACK number. It reports whether data had been stuck that passed now.
func (k *stuck) acknowledged(ack uint32, now unit.Nanos) bool {
	switch {
	case k.timeouts == 0:
		return false
	case int32(ack-k.start) <= 0:
		k.answers++
		return false
	}
	passed := k.timeouts >= holeTimeouts-1 && k.smaller > 0 && k.bytes >= smallestFull
	if passed {
		k.hole(now)
		k.holes.Passed++
		k.holes.PassedBytes = max(k.holes.PassedBytes, int64(k.smaller))
	}
	k.timeouts = 0
	return passed
}

func (k *stuck) hole(now unit.Nanos) {
	k.holes.add(&PathMTU{BlackHoles: 1, Timeouts: int64(k.timeouts), Time: now - k.at.at, StuckBytes: int64(k.bytes)})
}

// end says what is still stuck when the connection ends: a hole if the other end was alive, perhaps one if it was never heard
// of since its handshake. first says that nothing was acknowledged before.
func (k *stuck) end(now unit.Nanos, first bool) bool {
	found := k.timeouts >= holeTimeouts && k.bytes >= smallestFull && (k.answers > 0 || first)
	if found {
		k.hole(now)
		if k.answers == 0 {
			k.holes.Silent++
		}
	}
	k.timeouts = 0
	return found
}
