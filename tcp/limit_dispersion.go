package tcp

import (
	"math"
	"math/bits"

	"nettrace/unit"
)

// dispersion estimates the capacity of the path by how far apart packets or ACKs are behind it: a histogram of rates, a
// quarter of an octave each, with their sums.
type dispersion struct {
	counts [96]uint16
	sums   [96]float32
	n      uint32
	told   uint32  // samples when rate was found
	rate   float64 // the last quantile
}

// train is some packets in a row, by whose length in time the rate behind the bottleneck is told. Two packets would not
// do: receivers take them in batches (interrupt moderation, GRO, radio links), and acknowledge two at a time.
type train struct {
	last, took unit.Nanos
	bytes      uint64
	gaps       uint32
}

// A train is at least so long in packets and time, or has many.
const (
	trainGaps, trainGapsEnough = 2, 16
	trainTime                  = 300 * unit.Microsecond
)

// spaced notes a packet of so many bytes, or an ACK for them. A pause of a quarter of a round trip ends the train: then the
// sender had not sent.
func (l *limit) spaced(bytes uint64, now unit.Nanos) {
	t := &l.train
	took := now - t.last
	if patience := max(l.epoch.took, l.least)/4 + unit.Millisecond; took <= 0 && t.gaps == 0 || took < 0 || took > patience {
		*t = train{last: now}
		return
	}
	t.last, t.took, t.bytes = now, t.took+took, t.bytes+bytes
	if t.gaps++; t.gaps >= trainGapsEnough || t.gaps >= trainGaps && t.took >= trainTime {
		l.capacity.see(t.bytes, t.took, t.gaps)
		*t = train{last: now}
	}
}

// see adds so many bytes in so much time, as so many samples.
func (h *dispersion) see(bytes uint64, took unit.Nanos, samples uint32) {
	if took <= 0 || took > unit.Second {
		return
	}
	rate := bytes * uint64(unit.Second) / uint64(took)
	if rate < 1<<10 {
		return
	}
	octave := bits.Len64(rate) - 1
	i := min((octave-10)*4+int(rate>>(octave-2)&3), len(h.counts)-1)
	if uint32(h.counts[i])+samples > math.MaxUint16 {
		h.halve()
	}
	h.counts[i] += uint16(samples)
	h.sums[i] += float32(rate) * float32(samples)
	h.n += samples
}

func (h *dispersion) halve() {
	h.n, h.told = 0, 0
	for i := range h.counts {
		h.counts[i] /= 2
		h.sums[i] /= 2
		h.n += uint32(h.counts[i])
	}
}

// quantile returns the rate below which three quarters of the samples are, in bytes per second, and how many there are.
func (h *dispersion) quantile() (rate float64, samples uint32) {
	if h.told > 0 && h.n-h.told <= h.n/16 { // it has hardly changed
		return h.rate, h.n
	}
	rank := h.n - h.n/4
	for i, n := range h.counts {
		if uint32(n) >= rank && n > 0 {
			h.rate, h.told = float64(h.sums[i])/float64(n), h.n
			return h.rate, h.n
		}
		rank -= min(rank, uint32(n))
	}
	return 0, 0
}
