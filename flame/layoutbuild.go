package flame

import "slices"

// layoutBuilder makes the boxes in one pass over sorted stacks. Only boxes that are drawn are kept, so that memory is
// bounded by the picture and the deepest stack. A box gets its place in its row as soon as it is sure that it is drawn:
// when it is closed, or when a box below it is.
type layoutBuilder struct {
	*Layout
	min      int64
	maxDepth int
	hidden   int
	open     []openBox // from the root on, also below the last row
	runs     []Box     // by depth: siblings too small for boxes of their own, adjacent, under the open parent
	right    int64     // of all stacks so far
}

// openBox is a box that may still grow.
type openBox struct {
	Box
	index int32 // in its row, -1 as long as it has no place
	below int32 // boxes left out below it
}

// build lays out stacks; whole holds what is known before. Boxes narrower than least are left out.
func build(whole Layout, stacks []weighted, least int64, o LayoutOptions) *Layout {
	b := layoutBuilder{Layout: &whole, min: least, maxDepth: o.MaxDepth, hidden: o.Hidden}
	b.push(Root, 0)
	for _, s := range stacks {
		common := 0
		for common < len(s.frames) && common+1 < len(b.open) && b.open[common+1].Frame == s.frames[common] {
			common++
		}
		b.closeBelow(common)
		for depth, frame := range s.frames[common:] {
			b.push(frame, s.node(common+depth))
		}
		b.Depth = max(b.Depth, len(s.frames))
		last := &b.open[len(b.open)-1]
		last.Self = sum(last.Self, s.value)
		b.right = sum(b.right, s.value)
	}
	b.closeBelow(0)
	b.flush(1)
	b.place(0)
	root := &b.Rows[0][0]
	root.Value, root.Self = b.right, b.open[0].Self
	return b.Layout
}

func (s *weighted) node(depth int) int32 {
	if s.nodes == nil {
		return 0
	}
	return s.nodes[depth]
}

func (b *layoutBuilder) push(frame, node int32) {
	b.open = append(b.open, openBox{Box: Box{Frame: frame, Node: node, Start: b.right}, index: -1})
	if len(b.runs) < len(b.open)+1 {
		b.runs = append(b.runs, Box{}, Box{})
	}
}

// closeBelow closes all open boxes below a depth, the deepest first.
func (b *layoutBuilder) closeBelow(depth int) {
	for d := len(b.open) - 1; d > depth; d-- {
		b.flush(d + 1)
		last := b.open[d]
		last.Value = b.right - last.Start
		switch {
		case d > b.maxDepth:
			b.Deep.add(last.Box)
			b.hide(last.Box)
		case last.Value < b.min:
			b.Small.add(last.Box)
			b.hide(last.Box)
			b.merge(d, last)
		default:
			b.place(d)
			box := &b.Rows[d][b.open[d].index]
			box.Value, box.Self = last.Value, last.Self
		}
		b.open = b.open[:d]
	}
}

func (b *layoutBuilder) hide(box Box) {
	if len(b.Hidden) < b.hidden {
		b.Hidden = append(b.Hidden, box)
	}
}

// merge adds a box that is too small to the run of its siblings that are.
func (b *layoutBuilder) merge(d int, small openBox) {
	run := &b.runs[d]
	if run.Count == 0 {
		*run = Box{Frame: Smaller, Start: small.Start}
	}
	run.Value = small.Start + small.Value - run.Start
	run.Count += 1 + small.below
	b.open[d-1].below += 1 + small.below
}

// flush ends the run of small siblings at a depth: it becomes a box, or is left out if it is too small itself.
func (b *layoutBuilder) flush(d int) {
	if d >= len(b.runs) || b.runs[d].Count == 0 {
		return
	}
	run := b.runs[d]
	b.runs[d] = Box{}
	if run.Value >= b.min {
		b.place(d - 1)
		run.Parent = b.open[d-1].index
		b.append(d, run)
	}
}

// place gives the open box at a depth, and those above it, their places in their rows.
func (b *layoutBuilder) place(depth int) {
	first := depth
	for first > 0 && b.open[first-1].index < 0 {
		first--
	}
	for d := first; d <= depth; d++ {
		o := &b.open[d]
		if o.index >= 0 {
			continue
		}
		b.flush(d)
		if d > 0 {
			o.Parent = b.open[d-1].index
		}
		o.index = b.append(d, o.Box)
	}
}

// append puts a box at the end of its row and returns its index there.
func (b *layoutBuilder) append(d int, box Box) int32 {
	for len(b.Rows) <= d {
		b.Rows = append(b.Rows, nil)
	}
	b.Rows[d] = append(b.Rows[d], box)
	return int32(len(b.Rows[d]) - 1)
}

// sortStacks sorts stacks so that those with equal callers are neighbours, callers without callees first.
func sortStacks(stacks []weighted) {
	slices.SortFunc(stacks, func(a, b weighted) int { return slices.Compare(a.frames, b.frames) })
}
