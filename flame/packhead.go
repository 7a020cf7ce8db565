package flame

// columns chooses those values of a profile that tell something of their own, and the one to show first.
func (h *packed) columns(p *Profile, t *callTree, first Column) {
	index, _, err := p.index(first)
	all := t.own
	t.own = nil
	for i := range p.Events {
		e := &p.Events[i]
		for _, v := range []Value{Period, Samples} {
			c := Column{e.Name, v}
			at := 2*i + 1
			if v == Samples {
				at = 2 * i
			}
			if all[at].total == 0 && at != index || v == Samples && c.unitOf(e) == (Column{e.Name, Period}).unitOf(e) {
				continue
			}
			if err == nil && at|1 == index|1 && (v == Period || at == index) {
				h.First = len(h.Columns)
			}
			h.Columns = append(h.Columns, packedColumn{Event: Clean(e.Name), Value: v, Unit: c.unitOf(e), Scale: p.Scale, index: at})
			t.own = append(t.own, all[at])
		}
	}
}

// paint gives all frames their colours, for each way to colour.
func (h *packed) paint(frames []Frame, c Colours) {
	h.By = c.by()
	h.table(frames)
	number := map[class]int{}
	use := func(of class, f Frame) int {
		n, known := number[of]
		if !known {
			n = len(h.Paints)
			number[of] = n
			h.Paints = append(h.Paints, packedPaint{c.fill(of, false), c.fill(of, true), c.text(of, false), c.text(of, true), Clean(c.title(of, f))})
		}
		return n
	}
	if h.Diff != nil {
		for v := range class(verdicts) {
			h.Diff.Paints = append(h.Diff.Paints, use(firstDiff+v, Frame{}))
		}
	}
	h.Rest = use(c.of(Frame{Kind: Rest}), Frame{Kind: Rest})
	h.Frames.Paint = map[Colouring][]int{}
	for _, by := range Colourings() {
		list := make([]int, len(frames))
		colours := Colours{by, c.Palette}
		for i, f := range frames {
			list[i] = use(colours.of(f), f)
		}
		h.Frames.Paint[by] = list
	}
}

// table takes the names of the frames over, and each object once.
func (h *packed) table(frames []Frame) {
	t := packedFrames{Names: []string{}, Objects: []string{}, Inlined: []int{}, Kinds: []string{}, Object: []int{}}
	number := map[string]int{}
	for i, f := range frames {
		n, known := number[f.Object]
		if !known {
			n = len(t.Objects)
			number[f.Object] = n
			t.Objects = append(t.Objects, Clean(f.Object))
		}
		t.Names, t.Object, t.Kinds = append(t.Names, Clean(f.Name)), append(t.Object, n), append(t.Kinds, f.Kind.String())
		if f.Inlined {
			t.Inlined = append(t.Inlined, i)
		}
	}
	h.Frames = t
}

// by is what colours tell; kinds if nothing was chosen.
func (c Colours) by() Colouring {
	if c.By == "" {
		return ByKind
	}
	return c.By
}
