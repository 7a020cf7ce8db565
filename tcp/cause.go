package tcp

import (
	"strings"

	"nettrace/unit"
)

// cause is what made a sender send data again.
type cause uint8

const (
	causeUnknown cause = iota
	causeFast          // ACKs told of a hole: fast retransmission (RFC 5681 section 3.2), by SACK (RFC 6675) or by time (RACK, RFC 8985)
	causeProbe         // a tail-loss probe: the last segment, as no ACK came (RFC 8985 section 7)
	causeTimeout       // the retransmission timer, and what follows until all that was sent before is acknowledged
	causes
)

// probeAfter is how many halves of a round trip pass at least before a tail-loss probe: it waits for two smoothed ones, which
// may be shorter than the one known.
const probeAfter = 3

// why tells what made the sender send s again, which came so long after its last data. timedOut says that its timer did.
func (r *recovery) why(d *direction, s *segment, timedOut bool, roundTrip unit.Nanos) cause {
	switch {
	case timedOut:
		r.timedOut = d.high
		return causeTimeout
	case d.acked && d.una < r.timedOut:
		return causeTimeout
	case d.acked && d.una < r.told && s.start < r.told:
		return causeFast
	case s.end >= d.high && (s.now-d.sentAt)*2 >= probeAfter*roundTrip:
		return causeProbe
	}
	return causeUnknown
}

// Causes says what made the sender send again, as far as that is known: "193 in fast recovery, 3 tail-loss probes".
func (l *Loss) Causes() string {
	var parts []string
	for _, c := range []struct {
		packets int64
		one     string
		many    string
	}{{l.FastPackets, "in fast recovery", "in fast recovery"}, {l.ProbePackets, "tail-loss probe", "tail-loss probes"}, {l.TimeoutPackets, "by timeout", "by timeout"}} {
		if c.packets == 1 {
			parts = append(parts, "1 "+c.one)
		} else if c.packets > 1 {
			parts = append(parts, unit.Count(c.packets)+" "+c.many)
		}
	}
	return strings.Join(parts, ", ")
}

// tell notes that the ACKs of what was sent so far tell of a hole.
func (d *direction) tell() {
	d.recoveryPoint = max(d.recoveryPoint, d.high)
	if d.recovery != nil {
		d.recovery.told = d.high
	}
}
