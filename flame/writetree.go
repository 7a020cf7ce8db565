package flame

import (
	"encoding/json"
	"io"
)

// TreeSchema names the shape of a written Tree. Changes to it are only additions.
const TreeSchema = "nettrace.flame/1"

// Tree is a profile's call tree, for programs that go on from there.
type Tree struct {
	Schema    string     `json:"schema"`
	Source    string     `json:"source"`
	Event     EventTotal `json:"event"`
	Value     Value      `json:"value"`
	Unit      string     `json:"unit"`  // "ns", "samples", "B" or the event's name
	Scale     int64      `json:"scale"` // values are in units of 1/scale: 1 but for folded texts with decimal fractions
	Total     int64      `json:"total"`
	Selected  []string   `json:"selected"`  // what part of the recording this is; empty for all of it
	Frames    []Frame    `json:"frames"`    // of nodes, in the order of their names
	Nodes     []TreeNode `json:"nodes"`     // each before its children, children in the order of their names; the first is the root
	Functions []TreeRow  `json:"functions"` // the same by function, most own value first
}

// TreeNode is a node of a Tree.
type TreeNode struct {
	Frame  int32 `json:"frame"`  // index into frames, -1 for the root
	Parent int32 `json:"parent"` // index into nodes, -1 for the root
	Value  int64 `json:"value"`  // with all that it called
	Self   int64 `json:"self"`
}

// TreeRow is a function of a Tree wherever it was called from. A stack counts once however often the function is in it.
type TreeRow struct {
	Name  string `json:"name"`
	Total int64  `json:"total"`
	Self  int64  `json:"self"`
}

// NewTree makes the call tree of one value of a profile.
func NewTree(p *Profile, c Column) (*Tree, error) {
	table, err := Top(p, c, 0)
	if err != nil {
		return nil, err
	}
	index, event, err := p.index(c)
	if err != nil {
		return nil, err
	}
	v := newView(p.pprof, p.Groups())
	value := Period
	if c.Value == Samples {
		value = Samples
	}
	t := &Tree{Schema: TreeSchema, Source: p.Source, Event: *event, Value: value, Unit: c.unitOf(event), Scale: p.Scale, Total: table.Total,
		Selected: append([]string{}, p.Selected...), Frames: v.frames, Nodes: []TreeNode{{Frame: Root, Parent: -1}}, Functions: []TreeRow{}}
	for _, r := range table.Rows {
		t.Functions = append(t.Functions, TreeRow{Name: r.Name, Total: r.Total, Self: r.Self})
	}
	open := []int32{0} // nodes from the root on
	for _, s := range sortedStacks(p.pprof, v, index) {
		common := 0
		for common < len(s.frames) && common+1 < len(open) && t.Nodes[open[common+1]].Frame == s.frames[common] {
			common++
		}
		open = open[:common+1]
		for _, frame := range s.frames[common:] {
			t.Nodes = append(t.Nodes, TreeNode{Frame: frame, Parent: open[len(open)-1]})
			open = append(open, int32(len(t.Nodes)-1))
		}
		last := &t.Nodes[open[len(open)-1]]
		last.Self = sum(last.Self, s.value)
	}
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		n.Value = sum(n.Value, n.Self)
		if n.Parent >= 0 {
			t.Nodes[n.Parent].Value = sum(t.Nodes[n.Parent].Value, n.Value)
		}
	}
	return t, nil
}

// WriteJSON writes the call tree of one value of a profile.
func WriteJSON(w io.Writer, p *Profile, c Column) error {
	t, err := NewTree(p, c)
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(t)
}
