package flame

import (
	"github.com/google/pprof/profile"

	"nettrace/unit"
)

// Bounds of what is kept of the samples' times: how many slices a recording is cut into at most, and how many values of
// stacks in slices. Slices become twice as long where either would be exceeded.
const (
	maxSlices = 256
	maxCells  = 1 << 20
	firstSize = unit.Millisecond
)

// times says when stacks were sampled, by slices of a recording's time. Samples earlier than the first one count as if
// they were taken with it.
type times struct {
	profile *profile.Profile // whose samples the cells name; any other one has no times
	begin   unit.Nanos       // of the first slice
	size    unit.Nanos       // of each
	cells   map[cellKey]cell
	any     bool

	now   unit.Nanos // when the sample to come was taken, if that is known
	known bool
	from  []slicedCell // or, if that is copied from another profile, its cells there
}

type slicedCell struct {
	slice uint32
	cell
}

// cellKey names a stack with its labels by its place in the profile's samples, and a slice.
type cellKey struct{ sample, slice uint32 }

type cell struct{ samples, period int64 }

func (c *cell) add(d cell) {
	c.samples, c.period = sum(c.samples, d.samples), sum(c.period, d.period)
}

func newTimes() *times { return &times{size: firstSize, cells: map[cellKey]cell{}} }

// add counts the sample to come.
func (t *times) add(sample uint32, c cell) {
	for _, c := range t.from {
		t.put(cellKey{sample, c.slice}, c.cell)
	}
	if !t.known {
		return
	}
	at := t.now
	if !t.any {
		t.begin, t.any = at, true
	}
	for (at-t.begin)/t.size >= maxSlices || len(t.cells) >= maxCells && t.size < 1<<60 {
		t.size *= 2
		t.rename(func(k cellKey) cellKey { return cellKey{k.sample, k.slice / 2} })
	}
	t.put(cellKey{sample, uint32(max(at-t.begin, 0) / t.size)}, c)
}

func (t *times) put(k cellKey, c cell) {
	have := t.cells[k]
	have.add(c)
	t.cells[k] = have
}

// copyOf returns empty times with the same slices, and what has to be put into from for each sample.
func copyOf(t *times) (empty *times, from map[uint32][]slicedCell) {
	empty = &times{begin: t.begin, size: t.size, any: true, cells: map[cellKey]cell{}}
	from = map[uint32][]slicedCell{}
	for k, c := range t.cells {
		from[k.sample] = append(from[k.sample], slicedCell{k.slice, c})
	}
	return empty, from
}

// rename gives cells other keys, and joins those whose keys become equal.
func (t *times) rename(key func(cellKey) cellKey) {
	cells := t.cells
	t.cells = make(map[cellKey]cell, len(cells)/2)
	for k, c := range cells {
		t.put(key(k), c)
	}
}

// slices returns how many there are.
func (t *times) slices() int {
	n := uint32(0)
	for k := range t.cells {
		n = max(n, k.slice+1)
	}
	return int(n)
}

// timed returns the times of the profile's samples, nil if they are not known.
func (p *Profile) timed() *times {
	if p.times == nil || p.times.profile != p.pprof || p.times.slices() < 2 {
		return nil
	}
	return p.times
}
