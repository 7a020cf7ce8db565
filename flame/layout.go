package flame

import (
	"math"
	"slices"

	"github.com/google/pprof/profile"

	"nettrace/unit"
)

// Layout is a call tree laid out as the boxes of a flame graph: one geometry for all views. Rows are levels of the tree,
// row 0 the root alone. A box lies within its parent; horizontal places and widths are in units of the value that is
// shown, so that a view scales them to what it draws on. Siblings are in the order of their names.
type Layout struct {
	Event  EventTotal
	Unit   string // of the values, as unit.Format takes it, after division by Scale
	Scale  int64
	Total  int64 // value of the root
	Frames []Frame
	Rows   [][]Box
	Depth  int // levels of the whole tree below the root, drawn or not

	MinShare float64 // boxes below this share of the total were left out
	Small    Cut     // those that were
	Deep     Cut     // boxes left out since they are below the last row
	Hidden   []Box   // boxes left out, up to LayoutOptions.Hidden of them

	Diff *Difference // that is drawn, nil for a profile; widths are then in no unit
}

// Box is one node of the tree.
type Box struct {
	Frame  int32 // index into Frames; Root, or Smaller for a run of siblings too small for boxes of their own
	Parent int32 // index into the row above
	Node   int32 // of a difference: index into its Nodes
	Count  int32 // of a Smaller box: how many frames it stands for, those below its siblings included
	Start  int64 // where it begins, from the left
	Value  int64 // its width: its own and all that is below it
	Self   int64
}

// Values of Box.Frame that are no index.
const (
	Root    int32 = -1
	Smaller int32 = -2
)

// Cut counts boxes that were left out, and sums what they have of their own, so that nothing is counted twice.
type Cut struct {
	Boxes int
	Self  int64
}

func (c *Cut) add(b Box) {
	c.Boxes++
	c.Self = sum(c.Self, b.Self)
}

// LayoutOptions choose what is laid out. The zero value is the main event's period, by thread, without boxes below a
// ten-thousandth of the total or below level 1024, and at most the 20,000 widest.
type LayoutOptions struct {
	Column
	MinShare float64 // leave out boxes below this share of the total; 0 is 0.0001, negative leaves out none
	MaxBoxes int     // raise MinShare until there are no more boxes than this; 0 is 20,000, negative any number
	MaxDepth int     // rows below the root; 0 is 1024, negative any number
	Merged   bool    // do not tell threads apart
	Hidden   int     // how many of the boxes left out to keep in Layout.Hidden
}

const (
	defaultMinShare = 1e-4
	defaultMaxBoxes = 20000
	defaultMaxDepth = 1024
)

// NewLayout lays out one value of a profile.
func NewLayout(p *Profile, o LayoutOptions) (*Layout, error) {
	index, event, err := p.index(o.Column)
	if err != nil {
		return nil, err
	}
	v := newView(p.pprof, o.groups(p))
	o = o.withDefaults()
	whole := Layout{Event: *event, Unit: o.Column.unitOf(event), Scale: p.Scale, Frames: v.frames, MinShare: max(o.MinShare, 0)}
	return layOut(whole, sortedStacks(p.pprof, v, index), o), nil
}

// layOut places sorted stacks; whole holds what is known before.
func layOut(whole Layout, stacks []weighted, o LayoutOptions) *Layout {
	for _, s := range stacks {
		whole.Total = sum(whole.Total, s.value)
	}
	least := int64(math.Ceil(whole.MinShare * float64(whole.Total)))
	l := build(whole, stacks, least, o)
	for o.MaxBoxes > 0 && l.boxes() > o.MaxBoxes { // merging smaller frames may make new boxes
		least = l.widest(o.MaxBoxes)
		whole.MinShare = whole.Share(least)
		l = build(whole, stacks, least, o)
	}
	return l
}

func (o LayoutOptions) groups(p *Profile) []Label {
	if o.Merged {
		return nil
	}
	return p.Groups()
}

func (o LayoutOptions) withDefaults() LayoutOptions {
	if o.MinShare == 0 {
		o.MinShare = defaultMinShare
	}
	if o.MaxBoxes == 0 {
		o.MaxBoxes = defaultMaxBoxes
	}
	if o.MaxDepth == 0 {
		o.MaxDepth = defaultMaxDepth
	} else if o.MaxDepth < 0 {
		o.MaxDepth = math.MaxInt
	}
	return o
}

func (l *Layout) boxes() int {
	n := 0
	for _, row := range l.Rows {
		n += len(row)
	}
	return n
}

// widest returns the least value that at most n boxes have. A box for smaller frames needs that value too.
func (l *Layout) widest(n int) int64 {
	values := make([]int64, 0, l.boxes())
	for _, row := range l.Rows {
		for _, b := range row {
			values = append(values, b.Value)
		}
	}
	slices.Sort(values)
	return values[len(values)-n-1] + 1
}

// Name returns what a box is called: its frame's name, "all" for the root, "" for smaller frames.
func (l *Layout) Name(b Box) string {
	switch b.Frame {
	case Root:
		return "all"
	case Smaller:
		return ""
	}
	return l.Frames[b.Frame].Name
}

// Label is the name of a box, or how many frames it stands for.
func (l *Layout) Label(b Box) string {
	if b.Frame == Smaller {
		return unit.Count(int64(b.Count)) + " smaller frames"
	}
	return l.Name(b)
}

// Kind returns what kind of code a box is.
func (l *Layout) Kind(b Box) Kind {
	if b.Frame < 0 {
		return Rest
	}
	return l.Frames[b.Frame].Kind
}

// Share returns a value as a share of the total.
func (l *Layout) Share(value int64) float64 {
	if l.Total == 0 {
		return 0
	}
	return float64(value) / float64(l.Total)
}

// HotPath returns the boxes from the root on that follow the widest child, as long as it has more than half of its
// parent's width.
func (l *Layout) HotPath() []Box {
	var path []Box
	at := int32(0)
	for depth, row := range l.Rows {
		best := int32(-1)
		for i := range row {
			if (depth == 0 || row[i].Parent == at) && row[i].Frame != Smaller && (best < 0 || row[i].Value > row[best].Value) {
				best = int32(i)
			}
		}
		if best < 0 || depth > 0 && row[best].Value <= path[depth-1].Value/2 {
			break
		}
		path, at = append(path, row[best]), best
	}
	return path
}

// weighted is a stack, root first, with a value.
type weighted struct {
	frames []int32
	value  int64
	nodes  []int32 // of a difference, for each frame
}

// sortedStacks returns the stacks that have the value, so that those with equal callers are neighbours.
func sortedStacks(p *profile.Profile, v *view, index int) []weighted {
	stacks := make([]weighted, 0, len(p.Sample))
	var store []int32
	for _, s := range p.Sample {
		if s.Value[index] <= 0 {
			continue
		}
		if cap(store)-len(store) < 4*len(s.Location)+1 {
			store = make([]int32, 0, max(1<<16, 8*len(s.Location)))
		}
		begin := len(store)
		store = v.stack(store, s)
		stacks = append(stacks, weighted{frames: store[begin:len(store):len(store)], value: s.Value[index]})
	}
	sortStacks(stacks)
	return stacks
}
