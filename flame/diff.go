package flame

import (
	"cmp"
	"math"
	"slices"
)

// Difference is two profiles on one call tree: each node has what both found there.
//
// Recordings rarely have the same number of samples, so base is compared after scaling it by Factor, which makes the
// totals equal; unlike difffolded.pl -n, in floating point, so that single samples do not become nothing.
//
// Samples hit a function by chance. The number of samples of a node is taken for a Poisson variable, whose variance is
// its mean; the difference of n2 samples and f times n1 samples then has the variance n2 + f*f*n1, and is noise below two
// standard deviations (about 1 in 20 nodes that did not change is above). One sample more or less is always noise.
type Difference struct {
	Base      Side      `json:"base"`
	Other     Side      `json:"other"`
	Unit      string    `json:"unit"`      // of values, as unit.Format takes it, after division by Scale
	Scale     int64     `json:"scale"`     // of the values of both sides
	Factor    float64   `json:"factor"`    // by which base's values are comparable with other's; 1 if they are taken as they are
	Frames    []Frame   `json:"frames"`    // of nodes, in the order of their names
	Nodes     []Node    `json:"nodes"`     // of the tree, each before its children, children in the order of their names; the first is the root
	Functions []Changed `json:"functions"` // the largest change of own value first
}

// Side names one of the two profiles, and what of it is compared.
type Side struct {
	Source  string     `json:"source"`
	Event   EventTotal `json:"event"`
	Value   int64      `json:"value"`   // of all stacks, in units of Unit times Scale
	Samples int64      `json:"samples"` // as far as they are known, see Counts
}

// Counts is what one profile found at a node or in a function. Samples are those of the recording; in a text that has
// none, such as folded stacks, they are its counts, or, where all counts are multiples of one period, how many periods.
type Counts struct {
	Value       int64 `json:"value"` // with all that was called
	Self        int64 `json:"self"`
	Samples     int64 `json:"samples"` // of Value
	SelfSamples int64 `json:"self_samples"`
}

func (c *Counts) addSelf(value, samples int64) {
	c.Self, c.SelfSamples = sum(c.Self, value), sum(c.SelfSamples, samples)
}

func (c *Counts) addTotal(value, samples int64) {
	c.Value, c.Samples = sum(c.Value, value), sum(c.Samples, samples)
}

// Pair is what both found.
type Pair struct {
	Base  Counts `json:"base"`
	Other Counts `json:"other"`
}

// New reports whether only other has it.
func (p *Pair) New() bool { return p.Base.Value == 0 && p.Other.Value > 0 }

// Vanished reports whether only base has it.
func (p *Pair) Vanished() bool { return p.Base.Value > 0 && p.Other.Value == 0 }

// Node is a node of the call tree.
type Node struct {
	Frame  int32 `json:"frame"`  // index into Frames; Root for the root
	Parent int32 `json:"parent"` // index into Nodes, -1 for the root
	Pair
}

// Changed is a function wherever it was called from. A stack counts once however often the function is in it.
type Changed struct {
	Frame int32 `json:"frame"`
	Pair
}

// DiffOptions choose what is compared. The zero value compares the periods of both main events by thread, with base scaled
// to other's total.
type DiffOptions struct {
	Base, Other Column
	Raw         bool // compare values as they are: the recordings did the same work
	Merged      bool // do not tell threads apart
}

// Diff compares two profiles.
func Diff(base, other *Profile, o DiffOptions) (*Difference, error) {
	d := &Difference{Factor: 1}
	profiles, columns, sides := [2]*Profile{base, other}, [2]Column{o.Base, o.Other}, [2]*Side{&d.Base, &d.Other}
	d.Scale = max(base.Scale, other.Scale)
	var groups []Label
	if !o.Merged {
		groups = other.Groups()
	}
	views := newViews(groups, base.pprof, other.pprof)
	var stacks []sided
	for i, p := range profiles {
		index, event, err := p.index(columns[i])
		if err != nil {
			return nil, err
		}
		*sides[i] = Side{Source: p.Source, Event: *event}
		d.Unit = columns[i].unitOf(event)
		stacks = append(stacks, d.stacks(i, p, views[i], index)...)
	}
	d.Frames = views[0].frames
	slices.SortStableFunc(stacks, func(a, b sided) int { return slices.Compare(a.frames, b.frames) })
	d.tree(stacks)
	d.functions(stacks)
	root := &d.Nodes[0]
	d.Base.Value, d.Base.Samples, d.Other.Value, d.Other.Samples = root.Base.Value, root.Base.Samples, root.Other.Value, root.Other.Samples
	if !o.Raw && d.Base.Value > 0 && d.Other.Value > 0 {
		d.Factor = float64(d.Other.Value) / float64(d.Base.Value)
	}
	slices.SortStableFunc(d.Functions, func(a, b Changed) int {
		return cmp.Or(-cmp.Compare(math.Abs(d.SelfDelta(&a.Pair)), math.Abs(d.SelfDelta(&b.Pair))), -cmp.Compare(math.Abs(d.Delta(&a.Pair)), math.Abs(d.Delta(&b.Pair))), cmp.Compare(a.Frame, b.Frame))
	})
	return d, nil
}

// sided is a stack of one of the profiles.
type sided struct {
	weighted
	samples int64
	side    int
}

// of returns the counts of the stack's side.
func (s *sided) of(p *Pair) *Counts {
	if s.side == 0 {
		return &p.Base
	}
	return &p.Other
}

// stacks returns the stacks of one side in units of the common scale.
func (d *Difference) stacks(side int, p *Profile, v *view, index int) []sided {
	var stacks []sided
	period := periodOf(p, index)
	factor := d.Scale / p.Scale
	for _, s := range p.pprof.Sample {
		if s.Value[index] <= 0 {
			continue
		}
		x := sided{weighted{frames: v.stack(nil, s), value: product(s.Value[index], factor)}, rounded(s.Value[index&^1], p.Scale), side}
		if period > 0 {
			x.samples = s.Value[index] / period
		}
		stacks = append(stacks, x)
	}
	return stacks
}

// leastPeriod and leastStacks are from where on a common divisor of counts is taken for a period: smaller ones may be chance.
const (
	leastPeriod = 1000
	leastStacks = 10
)

// periodOf returns the period that all values of a text without numbers of samples are multiples of, 0 if there is none or
// samples were counted.
func periodOf(p *Profile, index int) int64 {
	divisor, stacks := int64(0), 0
	for _, s := range p.pprof.Sample {
		value := s.Value[index]
		if value != s.Value[index&^1] || value < 0 {
			return 0
		}
		if value > 0 {
			divisor, stacks = gcd(divisor, value), stacks+1
		}
	}
	if divisor/p.Scale < leastPeriod || stacks < leastStacks {
		return 0
	}
	return divisor
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// tree makes the nodes of sorted stacks.
func (d *Difference) tree(stacks []sided) {
	d.Nodes = []Node{{Frame: Root, Parent: -1}}
	open := []int32{0} // nodes from the root on
	for i := range stacks {
		s := &stacks[i]
		common := 0
		for common < len(s.frames) && common+1 < len(open) && d.Nodes[open[common+1]].Frame == s.frames[common] {
			common++
		}
		open = open[:common+1]
		for _, frame := range s.frames[common:] {
			d.Nodes = append(d.Nodes, Node{Frame: frame, Parent: open[len(open)-1]})
			open = append(open, int32(len(d.Nodes)-1))
		}
		s.of(&d.Nodes[open[len(open)-1]].Pair).addSelf(s.value, s.samples)
	}
	for i := len(d.Nodes) - 1; i >= 0; i-- {
		n := &d.Nodes[i]
		n.Base.addTotal(n.Base.Self, n.Base.SelfSamples)
		n.Other.addTotal(n.Other.Self, n.Other.SelfSamples)
		if n.Parent >= 0 {
			d.Nodes[n.Parent].Base.addTotal(n.Base.Value, n.Base.Samples)
			d.Nodes[n.Parent].Other.addTotal(n.Other.Value, n.Other.Samples)
		}
	}
}

// functions sums the stacks up by function.
func (d *Difference) functions(stacks []sided) {
	d.Functions = make([]Changed, len(d.Frames))
	counted := make([]int, len(d.Frames)) // the last stack that a function was counted for, from 1
	for i := range stacks {
		s := &stacks[i]
		for depth, frame := range s.frames {
			c := s.of(&d.Functions[frame].Pair)
			if counted[frame] != i+1 {
				counted[frame] = i + 1
				c.addTotal(s.value, s.samples)
			}
			if depth == len(s.frames)-1 {
				c.addSelf(s.value, s.samples)
			}
		}
	}
	for i := range d.Functions {
		d.Functions[i].Frame = int32(i)
	}
	d.Functions = slices.DeleteFunc(d.Functions, func(c Changed) bool {
		return c.Base.Value == 0 && c.Other.Value == 0 || d.Frames[c.Frame].Kind == Thread
	})
}

// Delta returns by how much other's value is above base's, after scaling base, in units of Unit times Scale.
func (d *Difference) Delta(p *Pair) float64 {
	return float64(p.Other.Value) - d.Factor*float64(p.Base.Value)
}

// SelfDelta is Delta of the own values.
func (d *Difference) SelfDelta(p *Pair) float64 {
	return float64(p.Other.Self) - d.Factor*float64(p.Base.Self)
}

// Noise reports whether the difference of the values with all that was called may be chance.
func (d *Difference) Noise(p *Pair) bool {
	return noise(p.Base.Samples, p.Other.Samples, d.sampleFactor())
}

// SelfNoise is Noise of the own values.
func (d *Difference) SelfNoise(p *Pair) bool {
	return noise(p.Base.SelfSamples, p.Other.SelfSamples, d.sampleFactor())
}

// sampleFactor is Factor for numbers of samples.
func (d *Difference) sampleFactor() float64 {
	if d.Factor == 1 || d.Base.Samples == 0 {
		return d.Factor
	}
	return float64(d.Other.Samples) / float64(d.Base.Samples)
}

func noise(base, other int64, factor float64) bool {
	b, o := float64(base), float64(other)
	return base == 0 && other == 0 || math.Abs(o-factor*b) < 2*math.Sqrt(o+factor*factor*b)
}

// New returns the functions that only other has, the largest first.
func (d *Difference) New() []Changed { return d.only((*Pair).New) }

// Vanished returns the functions that only base has, the largest first.
func (d *Difference) Vanished() []Changed { return d.only((*Pair).Vanished) }

func (d *Difference) only(is func(*Pair) bool) []Changed {
	var list []Changed
	for _, c := range d.Functions {
		if is(&c.Pair) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b Changed) int {
		return cmp.Or(-cmp.Compare(a.Base.Value+a.Other.Value, b.Base.Value+b.Other.Value), cmp.Compare(a.Frame, b.Frame))
	})
	return list
}
