package datapath

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"

	"nettrace/unit"
)

// stream is a component's own source of random numbers, so that another component does not shift its draws. PCG's
// sequence is fixed by its definition; the scaling is done here so that it stays fixed too.
type stream struct{ source rand.PCG }

// newStream returns the stream of a component by its name.
func newStream(seed uint64, name string) *stream {
	h := fnv.New64a()
	h.Write([]byte(name))
	s := &stream{}
	s.source.Seed(seed, h.Sum64())
	return s
}

// below returns a number from 0 to n-1, or 0 if n is 0.
func (s *stream) below(n uint64) uint64 {
	high, _ := bits.Mul64(s.source.Uint64(), n)
	return high
}

// within returns a time from -spread to +spread, uniformly.
func (s *stream) within(spread unit.Nanos) unit.Nanos {
	return unit.Nanos(s.below(uint64(2*spread)+1)) - spread
}

// exponential returns an exponentially distributed time with a mean, by von Neumann's comparisons: the length of a falling
// run decides, so that no logarithm is computed and every machine draws the same.
func (s *stream) exponential(mean unit.Nanos) unit.Nanos {
	for whole := unit.Nanos(0); ; whole++ {
		first := s.source.Uint64()
		odd := true
		for last := first; ; odd = !odd {
			next := s.source.Uint64()
			if next >= last {
				break
			}
			last = next
		}
		if odd {
			high, _ := bits.Mul64(first, uint64(mean))
			return whole*mean + unit.Nanos(high)
		}
	}
}
