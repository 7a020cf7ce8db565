package coalesce

import (
	"nettrace/source"
	"nettrace/unit"
)

// Change is how a counter moved over a series.
type Change struct {
	First Reading    `json:"first"`
	Last  Reading    `json:"last"`
	Delta uint64     `json:"delta"`           // sum of the steps that are known
	Steps []Value    `json:"steps,omitempty"` // increment from each snapshot to the next, "n/a" where it cannot be known
	Span  unit.Nanos `json:"span_ns"`         // time of the steps that are known; 0 where time is not
	Wraps int        `json:"wraps,omitempty"` // steps in which the counter went over the top
	Lost  int        `json:"lost,omitempty"`  // steps that are not known: a reset, or no reading
}

// Reading is a counter's value at one place.
type Reading struct {
	Value uint64     `json:"value"`
	Pos   source.Pos `json:"pos"`
}

// Rate returns the change per second, if it and its time are known.
func (c *Change) Rate() (perSecond float64, ok bool) {
	if c.Span <= 0 {
		return 0, false
	}
	return float64(c.Delta) / c.Span.Seconds(), true
}

// Changed reports whether the counter moved.
func (c *Change) Changed() bool { return c.Delta != 0 || c.Lost != 0 }

// width is the number of bits of a counter: /proc/interrupts, softirqs and softnet_stat print unsigned int, which is 32
// bit; ethtool -S and /proc/net/dev print 64 bit.
type width uint

const (
	bits32 width = 32
	bits64 width = 64
)

// widthOf returns how wide the counters of a tool are.
func widthOf(tool string) width {
	switch tool {
	case "proc-interrupts", "proc-softirqs", "proc-softnet_stat":
		return bits32
	}
	return bits64
}

// increment returns how far a counter went from one reading to the next. A fall is a wrap if the way over the top is
// less than half the range, else a reset (or the value is no counter), and then ok is false. A value that does not fit
// the width is wider than thought.
func (w width) increment(from, to uint64) (delta uint64, wrapped, ok bool) {
	if to >= from {
		return to - from, false, true
	}
	top := ^uint64(0) >> (64 - w)
	if from > top {
		top = ^uint64(0)
	}
	delta = (to - from) & top
	return delta, true, delta <= top>>1
}

// track follows one counter through the snapshots of a series.
type track struct {
	values      []uint64 // one for each snapshot
	present     []bool
	first, last Reading
}

func newTrack(snapshots int) *track {
	return &track{values: make([]uint64, snapshots), present: make([]bool, snapshots)}
}

// set enters a reading; snapshots come in order.
func (t *track) set(snapshot int, r Reading) {
	if t.last.Pos == (source.Pos{}) {
		t.first = r
	}
	t.values[snapshot], t.present[snapshot], t.last = r.Value, true, r
}

// steps returns the increments; reset marks the steps in which the device was reset, whose increments are not known.
func (t *track) steps(w width, reset []bool) (steps []Value, wraps int) {
	for i := 1; i < len(t.values); i++ {
		step := Value{State: NotAvailable}
		if t.present[i-1] && t.present[i] && !reset[i-1] {
			delta, wrapped, ok := w.increment(t.values[i-1], t.values[i])
			if ok {
				step = Num(delta)
			}
			if ok && wrapped {
				wraps++
			}
		}
		steps = append(steps, step)
	}
	return steps, wraps
}

// fell reports for a step whether the counter fell other than by a wrap, and whether it moved at all.
func (t *track) fell(w width, step int) (fell, moved bool) {
	if !t.present[step] || !t.present[step+1] {
		return false, false
	}
	from, to := t.values[step], t.values[step+1]
	_, _, ok := w.increment(from, to)
	return !ok, from != to
}

// summarise makes a Change of steps, whose lengths are given, or nil where time is not known.
func summarise(steps []Value, lengths []unit.Nanos, wraps int, first, last Reading) Change {
	c := Change{First: first, Last: last, Wraps: wraps, Steps: steps}
	for i, s := range steps {
		n, known := s.Number()
		if !known {
			c.Lost++
			continue
		}
		c.Delta += n
		if i < len(lengths) {
			c.Span += lengths[i]
		}
	}
	if c.Delta == 0 && c.Lost == 0 {
		c.Steps = nil
	}
	return c
}

// resets marks the steps in which most of what moved fell: the driver was loaded anew, or the device reset. A single
// value that falls is no counter, and a reset of nothing else.
func resets(tracks []*track, w width, steps int) []bool {
	reset := make([]bool, steps)
	for i := range reset {
		fallen, moved := 0, 0
		for _, t := range tracks {
			f, m := t.fell(w, i)
			if f {
				fallen++
			}
			if m {
				moved++
			}
		}
		reset[i] = fallen >= 2 && 2*fallen >= moved
	}
	return reset
}

// thin joins steps so that at most most remain; the sums stay.
func thin(steps []Value, keep []int) []Value {
	var thinned []Value
	for k := 1; k < len(keep); k++ {
		sum := Value{State: NotAvailable}
		for _, s := range steps[keep[k-1]:keep[k]] {
			if n, known := s.Number(); known {
				sum = Num(sum.N + n)
			}
		}
		thinned = append(thinned, sum)
	}
	return thinned
}
