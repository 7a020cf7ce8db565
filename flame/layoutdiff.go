package flame

import (
	"fmt"
	"math"
)

// Width is what the widths of boxes of a difference stand for.
type Width string

const (
	Larger Width = "larger" // the default: of each stack the larger of base, scaled, and other, so that all boxes have room
	Base   Width = "base"
	Other  Width = "other"
)

// Widths returns all of them.
func Widths() []Width { return []Width{Larger, Base, Other} }

// NewDiffLayout lays out a difference. Widths of boxes are those of their own and of all that is below them, so they add up;
// Box.Node leads to the counts.
func NewDiffLayout(d *Difference, width Width, o LayoutOptions) (*Layout, error) {
	widthOf, err := d.width(width)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	whole := Layout{Event: d.Other.Event, Scale: 1, Frames: d.Frames, MinShare: max(o.MinShare, 0), Diff: d}
	return layOut(whole, d.weighted(widthOf), o), nil
}

// width returns what gives the width of the own part of a node. Values are made larger by a power of two, since base is
// scaled and single samples are not to be lost by rounding.
func (d *Difference) width(w Width) (func(*Pair) int64, error) {
	total := d.Factor*float64(d.Base.Value) + float64(d.Other.Value) + 1
	finer := math.Exp2(min(max(math.Floor(52-math.Log2(total)), 0), 20))
	base := func(p *Pair) int64 { return int64(math.Round(d.Factor * float64(p.Base.Self) * finer)) }
	other := func(p *Pair) int64 { return int64(math.Round(float64(p.Other.Self) * finer)) }
	switch w {
	case "", Larger:
		return func(p *Pair) int64 { return max(base(p), other(p)) }, nil
	case Base:
		return base, nil
	case Other:
		return other, nil
	}
	return nil, fmt.Errorf("no width %q; it is one of %v", w, Widths())
}

// weighted returns a stack for each node that has a width of its own, in the order of the nodes.
func (d *Difference) weighted(width func(*Pair) int64) []weighted {
	var stacks []weighted
	var frames, nodes []int32
	level := make([]int, len(d.Nodes))
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if n.Parent >= 0 {
			level[i] = level[n.Parent] + 1
			frames, nodes = append(frames[:level[i]-1], n.Frame), append(nodes[:level[i]-1], int32(i))
		}
		if v := width(&n.Pair); v > 0 {
			stacks = append(stacks, weighted{append([]int32{}, frames...), v, append([]int32{}, nodes...)})
		}
	}
	return stacks
}

// verdict is how a node or function differs, by which it is coloured.
type verdict int

const (
	same verdict = iota // or by no more than chance
	less1
	less2
	less3
	more1
	more2
	more3
	onlyOther
	onlyBase
	verdicts
)

// The relative changes, of the sum of both sides, from which on the second and third colour are taken: a fifth more or
// less, and twice or half.
const (
	someChange  = 0.1
	largeChange = 1.0 / 3
)

func (d *Difference) verdict(p *Pair) verdict {
	switch {
	case d.Noise(p):
		return same
	case p.New():
		return onlyOther
	case p.Vanished():
		return onlyBase
	}
	change := d.Delta(p) / (float64(p.Other.Value) + d.Factor*float64(p.Base.Value))
	v := less1
	if change > 0 {
		v = more1
	}
	switch size := math.Abs(change); {
	case size >= largeChange:
		v += 2
	case size >= someChange:
		v++
	}
	return v
}

// share returns a part of what other has in all. Of a Delta it is the difference of both sides' shares.
func (d *Difference) share(part float64) float64 {
	if d.Other.Value == 0 {
		return 0
	}
	return part / float64(d.Other.Value)
}
