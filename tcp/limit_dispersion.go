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

// see adds so many bytes in so much time.
func (h *dispersion) see(bytes uint64, took unit.Nanos) {
	if took <= 0 || took > unit.Second {
		return
	}
	rate := bytes * uint64(unit.Second) / uint64(took)
	if rate < 1<<10 {
		return
	}
	octave := bits.Len64(rate) - 1
	i := min((octave-10)*4+int(rate>>(octave-2)&3), len(h.counts)-1)
	if h.counts[i] == math.MaxUint16 {
		h.halve()
	}
	h.counts[i]++
	h.sums[i] += float32(rate)
	h.n++
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
