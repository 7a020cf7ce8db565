package flame

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// packedTimes is there if it is known when stacks were sampled. Each column then has three more parts.
type packedTimes struct {
	Begin  int64 `json:"begin"` // of the first slice, in nanoseconds of the recording's clock
	Size   int64 `json:"size"`  // of each, in nanoseconds
	Slices int   `json:"slices"`
}

// slot is a node in a slice.
type slot struct{ node, slice int32 }

// timedValues are those of nodes in slices, by rising node and slice.
type timedValues struct {
	slots []slot
	value []int64
}

// ofColumn adds the cells up for a column of the profile.
func (t *times) ofColumn(p *Profile, tree *callTree, column int) timedValues {
	sums := map[slot]int64{}
	for k, c := range t.cells {
		value := c.period
		if column%2 == 0 {
			value = c.samples
		}
		if s := p.pprof.Sample[k.sample]; s.Value[column] > 0 && value > 0 {
			at := slot{tree.node[k.sample], int32(k.slice)}
			sums[at] = sum(sums[at], value)
		}
	}
	v := timedValues{slots: make([]slot, 0, len(sums))}
	for at := range sums {
		v.slots = append(v.slots, at)
	}
	slices.SortFunc(v.slots, func(a, b slot) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.slice, b.slice)) })
	for _, at := range v.slots {
		v.value = append(v.value, sums[at])
	}
	return v
}

// parts says how far each node lies behind the one before, in which slice it was sampled, and the values there.
func (v *timedValues) parts(factor int64) [][]byte {
	parts := make([][]byte, 3)
	last := int32(0)
	for i, at := range v.slots {
		parts[0] = binary.AppendUvarint(parts[0], uint64(at.node-last))
		parts[1] = binary.AppendUvarint(parts[1], uint64(at.slice))
		parts[2] = binary.AppendUvarint(parts[2], uint64(v.value[i]/factor))
		last = at.node
	}
	return parts
}

// time takes over when the samples of the tree's columns were taken, if that is known.
func (h *packed) time(p *Profile, tree *callTree) {
	t := p.timed()
	if t == nil {
		return
	}
	h.Time = &packedTimes{Begin: int64(t.begin), Size: int64(t.size), Slices: t.slices()}
	for i := range h.Columns {
		h.timed = append(h.timed, t.ofColumn(p, tree, h.Columns[i].index))
	}
}
