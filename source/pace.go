package source

import (
	"math/bits"

	"nettrace/unit"
)

// Pace counts the records of a recording over its time, in slices of equal length, for views that draw when it was busy.
// Its zero value is ready; as long as nothing was counted it has no slices.
type Pace struct {
	Begin  unit.Nanos `json:"begin_ns"` // of the first slice, on the recording's own clock
	Length unit.Nanos `json:"slice_ns"` // of each slice
	Counts []int64    `json:"records"`  // in each slice, up to the last one that has any
}

// Bounds of a pace: slices become twice as long where there would be more.
const (
	maxPaceSlices   = 128
	firstPaceLength = 1 << 10 // nanoseconds; a power of two, as are all that it grows to
)

// Add counts a record. One that is earlier than the first counts as if it had come with it.
func (p *Pace) Add(at unit.Nanos) {
	if p.Length == 0 {
		p.Begin, p.Length = at, firstPaceLength
	}
	slice := p.slice(at)
	if slice >= int64(len(p.Counts)) {
		slice = p.reach(at)
	}
	p.Counts[slice]++
}

// slice returns the number of the slice that a time is in. It shifts, since a division for each packet would show.
func (p *Pace) slice(at unit.Nanos) int64 {
	return int64(max(at-p.Begin, 0)) >> bits.TrailingZeros64(uint64(p.Length))
}

// reach makes the slices reach to a time, and returns the one that it is in.
func (p *Pace) reach(at unit.Nanos) int64 {
	for p.slice(at) >= maxPaceSlices {
		p.Length *= 2
		half := p.Counts[:0]
		for i := 0; i < len(p.Counts); i += 2 {
			n := p.Counts[i]
			if i+1 < len(p.Counts) {
				n += p.Counts[i+1]
			}
			half = append(half, n)
		}
		p.Counts = half
	}
	slice := p.slice(at)
	for slice >= int64(len(p.Counts)) {
		p.Counts = append(p.Counts, 0)
	}
	return slice
}
