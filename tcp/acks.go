package tcp

import "nettrace/pcap"

// acks sums how the data of one direction was acknowledged.
//
// A stretch ACK is a packet without payload that acknowledges more than 2*RMSS bytes (RFC 5681 section 4.2; the name is
// from RFC 2525 section 2.13) which came in order. RMSS is the MSS option of the acknowledging end. An answer that
// carries the ACK is none, nor is an ACK that ends a recovery, since it covers what waited behind the hole.
type acks struct {
	advancing, stretch, big       uint32 // big: stretch ACKs of more than bigDegree segments
	bytes, stretchBytes, bigBytes uint64 // acknowledged by each of them
	largest                       float32
	degrees                       [len(degreeLimits) + 1]uint32
	duplicateSACKs                uint32
}

// degreeLimits are the upper ends of the classes of degrees, in segments: what RFC 5681 asks for (1, 2), small deferrals,
// the usual range of GRO, GRO or LRO at full size (45*1448 = 65160 bytes), and above it what batching or lost ACKs make.
var degreeLimits = [...]float64{1, 2, 4, 8, 16, 45}

// bigDegree is the degree above which an ACK counts for reporting.
const bigDegree = 4

// acknowledge judges what the packet from dir acknowledges of the other direction.
func (t *shard) acknowledge(c *conn, dir int, s *segment) (f Flags) {
	h, from, sent := s.header, &c.dir[dir], &c.dir[1-dir]
	if !sent.seen && !sent.acked {
		sent.begin(h.Ack)
	}
	ack := extend(sent.high, h.Ack)
	if ack > sent.high+maxJump || sent.acked && ack+maxJump < sent.una {
		return 0
	}
	if !sent.acked {
		sent.acked, sent.una, sent.unaAt = true, ack, s.now
		return 0
	}
	sent.complete(ack)
	if ack > sent.high && sent.seen {
		f |= FlagACKUnseen
		t.picture.ACKUnseen.note(s.packet, s.now, int64(ack-sent.high))
	}
	if sent.recovery != nil && sent.stuck.acknowledged(h.Ack, s.now) {
		t.note(c, blackHole, sent.stuck.at)
	}
	pure := h.Payload == 0 && h.Flags&pcap.SYN == 0
	duplicateSACK := t.sacked(c, sent, s, ack)
	switch {
	case ack > sent.una:
		if pure {
			t.acknowledgedLate(c, 1-dir, s, ack)
			f |= t.advance(c, dir, s, ack-sent.una)
		}
		sent.rtt.acked(s, h.Ack, uint32(sent.una), sent.una < sent.recoveryPoint)
		t.arrived(c, sent, s, ack)
		sent.forget(ack)
		sent.una, sent.unaAt = ack, s.now
	case ack == sent.una && pure && !duplicateSACK && from.repeats(sent, s):
		from.duplicateACKs++
		sent.tell()
		f |= FlagDuplicateACK
	}
	return f
}

// repeats reports whether a packet of this end without payload, whose ACK number is not new, is a duplicate ACK: RFC 5681
// section 2 without SACK, RFC 6675 section 2 with it (then the window may change).
func (d *direction) repeats(sent *direction, s *segment) bool {
	h := s.header
	if !sent.outstanding() || h.Flags&pcap.FIN != 0 || h.Window == 0 || s.start != d.high {
		return false
	}
	return h.Options.SACKs > 0 || d.windowKnown && h.Window == d.window
}

// advance judges a packet without payload that acknowledges so many new bytes.
func (t *shard) advance(c *conn, dir int, s *segment, bytes uint64) Flags {
	sent := &c.dir[1-dir]
	a := t.acknowledgements(sent)
	a.advancing++
	a.bytes += bytes
	degree := float64(bytes) / float64(sent.segmentSize())
	class := 0
	for class < len(degreeLimits) && degree > degreeLimits[class] {
		class++
	}
	a.degrees[class]++
	if sent.una < sent.recoveryPoint || bytes <= 2*uint64(c.dir[dir].receiveMSS(sent)) {
		return 0
	}
	a.stretch++
	a.stretchBytes += bytes
	if a.largest = max(a.largest, float32(degree)); degree > bigDegree {
		a.big++
		a.bigBytes += bytes
	}
	t.note(c, stretchACK, exemplarOf(1-dir, s, int64(bytes)))
	return FlagStretchACK
}

// acknowledgements returns the sums of how the direction was acknowledged, made if need be.
func (t *shard) acknowledgements(d *direction) *acks {
	if d.acks == nil {
		d.acks = t.ackPool.take()
	}
	return d.acks
}

// receiveMSS returns RMSS: the MSS option of this end, or what the data from the other end fits where it is not known.
func (d *direction) receiveMSS(sent *direction) int32 {
	if d.options.mss > 0 {
		return int32(d.options.mss)
	}
	return sent.segmentSize()
}

// segmentSize returns the effective MSS of the direction's data.
func (d *direction) segmentSize() int32 {
	if d.size == 0 {
		return int32(d.mss.size(0, false))
	}
	return d.size
}
