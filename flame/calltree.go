package flame

import (
	"slices"

	"github.com/google/pprof/profile"
)

// callTree is the whole call tree of a profile in preorder: a node, all that is below its first child, all that is below
// its second one. Siblings are in the order of their names, and node 0 is the root.
type callTree struct {
	frames []Frame
	frame  []int32  // of each node: an index into frames, Root for node 0
	level  []int32  // calls from the root
	own    []values // of each column
	node   []int32  // by sample of the profile, where it ends
}

// values are those of the nodes that have one, by rising node.
type values struct {
	node  []int32
	value []int64
	total int64
}

func (v *values) add(node int32, value int64) {
	if value <= 0 {
		return
	}
	v.total = sum(v.total, value)
	if last := len(v.node) - 1; last >= 0 && v.node[last] == node {
		v.value[last] = sum(v.value[last], value)
		return
	}
	v.node, v.value = append(v.node, node), append(v.value, value)
}

// columned is a stack, root first, with its value in each column.
type columned struct {
	frames []int32
	values []int64
	sample int // of the profile
}

// newCallTree makes the tree of stacks, which it sorts, over so many columns.
func newCallTree(frames []Frame, stacks []columned, columns int) *callTree {
	slices.SortStableFunc(stacks, func(a, b columned) int { return slices.Compare(a.frames, b.frames) })
	t := &callTree{frames: frames, frame: []int32{Root}, level: []int32{0}, own: make([]values, columns)}
	var above []int32
	for _, s := range stacks {
		common := 0
		for common < len(s.frames) && common < len(above) && above[common] == s.frames[common] {
			common++
		}
		for depth := common; depth < len(s.frames); depth++ {
			t.frame, t.level = append(t.frame, s.frames[depth]), append(t.level, int32(depth+1))
		}
		above = s.frames
		node := int32(len(t.frame) - 1)
		if len(s.frames) == 0 {
			node = 0
		}
		for i := range t.own {
			t.own[i].add(node, s.values[i])
		}
		for len(t.node) <= s.sample {
			t.node = append(t.node, -1)
		}
		t.node[s.sample] = node
	}
	return t
}

// columnedStacks returns all stacks of a profile that have a value. Its columns are the profile's.
func columnedStacks(p *profile.Profile, v *view) []columned {
	stacks := make([]columned, 0, len(p.Sample))
	var store []int32
	for i, s := range p.Sample {
		if !slices.ContainsFunc(s.Value, func(v int64) bool { return v > 0 }) {
			continue
		}
		begin := len(store)
		if cap(store)-begin < 4*len(s.Location)+1 {
			store, begin = make([]int32, 0, max(1<<16, 8*len(s.Location))), 0
		}
		store = v.stack(store, s)
		stacks = append(stacks, columned{store[begin:len(store):len(store)], s.Value, i})
	}
	return stacks
}
