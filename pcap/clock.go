package pcap

import (
	"fmt"
	"math"
	"math/bits"

	"nettrace/unit"
)

// clock turns the ticks of an interface into nanoseconds, exactly and rounded down. Its resolution is an if_tsresol
// (draft-ietf-opsawg-pcapng section 4.2): 10^-n seconds, or 2^-n with the top bit set.
type clock struct {
	mul, div uint64 // decimal: ticks * mul / div, one of them 1
	limit    uint64 // the largest ticks that mul keeps in range
	shift    uint   // binary: ticks * 1e9 >> shift
	binary   bool
	bad      bool       // the offset is out of range: no time can be told
	offset   unit.Nanos // if_tsoffset
}

func newClock(resolution uint8, offsetSeconds int64) clock {
	const maxSeconds = math.MaxInt64 / int64(unit.Second)
	c := clock{mul: 1, div: 1, limit: math.MaxInt64, offset: unit.Nanos(offsetSeconds) * unit.Second}
	c.bad = offsetSeconds > maxSeconds || offsetSeconds < -maxSeconds
	n := int(resolution & 0x7f)
	switch {
	case resolution&0x80 != 0:
		c.binary, c.shift = true, uint(n)
	case n <= 9:
		c.mul = pow10(9 - n)
		c.limit = math.MaxInt64 / c.mul
	case n <= 9+19:
		c.div, c.limit = pow10(n-9), math.MaxUint64
	default: // 2^64 ticks are less than a nanosecond
		c.mul, c.limit = 0, math.MaxUint64
	}
	return c
}

func pow10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// Precision names the unit in which the interface's times are counted.
func (i *Interface) Precision() string {
	n := i.Resolution & 0x7f
	if i.Resolution&0x80 != 0 {
		return fmt.Sprintf("2^-%d seconds", n)
	}
	switch n {
	case 0:
		return "seconds"
	case 3:
		return "milliseconds"
	case 6:
		return "microseconds"
	case 9:
		return "nanoseconds"
	}
	return fmt.Sprintf("10^-%d seconds", n)
}

// nanos reports false where the time is outside of what 64 bits of nanoseconds hold (the years 1678 to 2261).
func (c *clock) nanos(ticks uint64) (unit.Nanos, bool) {
	if c.binary {
		return c.scaled(ticks)
	}
	if ticks > c.limit || c.bad {
		return 0, false
	}
	if c.div != 1 {
		ticks /= c.div
	}
	return c.shifted(unit.Nanos(ticks * c.mul))
}

func (c *clock) scaled(ticks uint64) (unit.Nanos, bool) {
	hi, lo := bits.Mul64(ticks, uint64(unit.Second))
	if c.shift < 64 {
		hi, lo = hi>>c.shift, lo>>c.shift|hi<<(64-c.shift) // a shift by 64 gives 0
	} else {
		hi, lo = 0, hi>>(c.shift-64)
	}
	if hi != 0 || lo > math.MaxInt64 || c.bad {
		return 0, false
	}
	return c.shifted(unit.Nanos(lo))
}

func (c *clock) shifted(t unit.Nanos) (unit.Nanos, bool) {
	sum := t + c.offset
	return sum, (sum >= t) == (c.offset >= 0)
}
