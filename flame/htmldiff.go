package flame

import (
	"io"
	"strings"

	"nettrace/unit"
)

// WriteDiffHTML writes the difference of two profiles as WriteHTML writes one.
func WriteDiffHTML(w io.Writer, d *Difference, o HTMLOptions) error {
	l, err := NewDiffLayout(d, o.Width, LayoutOptions{MaxBoxes: plainBoxes})
	if err != nil {
		return err
	}
	if o.Title == "" {
		o.Title = titleOf(d.Other.Event) + ", compared"
	}
	t := d.callTree()
	head := &packed{Title: Clean(o.Title), Icicle: o.Icicle, Width: o.Width, Diff: &packedDiff{
		Factor: d.Factor, SampleFactor: d.sampleFactor(), Totals: [2]int64{d.Base.Value, d.Other.Value}}}
	for _, c := range []packedColumn{{Event: "base", Value: Period}, {Event: "other", Value: Period}, {Event: "base", Value: Samples}, {Event: "other", Value: Samples}} {
		c.Unit, c.Scale = d.Unit, d.Scale
		if c.Value == Samples {
			c.Unit, c.Scale = "samples", 1
		}
		head.Columns = append(head.Columns, c)
	}
	view := &pageView{Facts: strings.Join(append(d.sides(), d.lists()...), "\n")}
	view.changes(d)
	if err := view.picture(l, o.Colours, o.Icicle); err != nil {
		return err
	}
	return view.write(w, head, t, o.Colours)
}

// callTree returns the nodes with the own parts of both sides as columns: values of base and other, numbers of samples of both.
func (d *Difference) callTree() *callTree {
	t := &callTree{frames: d.Frames, frame: make([]int32, len(d.Nodes)), level: make([]int32, len(d.Nodes)), own: make([]values, 4)}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		t.frame[i] = n.Frame
		if n.Parent >= 0 {
			t.level[i] = t.level[n.Parent] + 1
		}
		for c, v := range []int64{n.Base.Self, n.Other.Self, n.Base.SelfSamples, n.Other.SelfSamples} {
			t.own[c].add(int32(i), v)
		}
	}
	return t
}

// changes takes the functions over whose own part changed most.
func (v *pageView) changes(d *Difference) {
	v.Head = []pageColumn{{"function", "function", false}, {"self-change", "self change", true}, {"self-base", "self in base", true}, {"self-other", "self in other", true},
		{"total-change", "total change", true}, {"total-base", "total in base", true}, {"total-other", "total in other", true}, {"verdict", "verdict", false}}
	change := func(delta float64) pageCell {
		return pageCell{signed(unit.Format(delta/float64(d.Scale), Clean(d.Unit)), delta), true}
	}
	value := func(v int64) pageCell { return pageCell{d.quantity(v), true} }
	for i := range d.Functions[:min(len(d.Functions), plainRows)] {
		p := &d.Functions[i].Pair
		v.Rows = append(v.Rows, []pageCell{{Clean(d.Frames[d.Functions[i].Frame].Name), false},
			change(d.SelfDelta(p)), value(p.Base.Self), value(p.Other.Self), change(d.Delta(p)), value(p.Base.Value), value(p.Other.Value), {d.word(p), false}})
	}
}

// word says what a reader should know of a change.
func (d *Difference) word(p *Pair) string {
	switch {
	case p.New():
		return "new"
	case p.Vanished():
		return "vanished"
	case d.Noise(p):
		return "may be chance"
	}
	return ""
}
