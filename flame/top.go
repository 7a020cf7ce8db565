package flame

import (
	"cmp"
	"slices"
)

// Row is one function of a table of where time goes.
type Row struct {
	Frame
	Self       int64 // found in the function itself, in units of Table.Unit times Table.Scale
	Total      int64 // with all that it called; a sample counts once however often the function is in it
	SelfShare  float64
	TotalShare float64
}

// Table lists functions by what was found in them.
type Table struct {
	Event EventTotal
	Unit  string // as unit.Format takes it, after division by Scale
	Scale int64
	Total int64
	Rows  []Row // by falling Self, Total, and name
}

// Top returns the n functions in which most of a value was found, all if n is 0.
func Top(p *Profile, c Column, n int) (*Table, error) {
	index, event, err := p.index(c)
	if err != nil {
		return nil, err
	}
	v := newView(p.pprof, nil)
	t := &Table{Event: *event, Unit: c.unitOf(event), Scale: p.Scale, Rows: make([]Row, len(v.frames))}
	counted := make([]int, len(v.frames)) // the last sample that a frame was counted for, from 1
	var stack []int32
	for i, s := range p.pprof.Sample {
		value := s.Value[index]
		t.Total = sum(t.Total, value)
		stack = v.stack(stack[:0], s)
		for depth, frame := range stack {
			row := &t.Rows[frame]
			if counted[frame] != i+1 {
				counted[frame], row.Total = i+1, sum(row.Total, value)
			}
			if depth == len(stack)-1 {
				row.Self = sum(row.Self, value)
			}
		}
	}
	t.finish(v.frames, n)
	return t, nil
}

func (t *Table) finish(frames []Frame, n int) {
	for i := range t.Rows {
		r := &t.Rows[i]
		r.Frame = frames[i]
		if t.Total > 0 {
			r.SelfShare, r.TotalShare = float64(r.Self)/float64(t.Total), float64(r.Total)/float64(t.Total)
		}
	}
	t.Rows = slices.DeleteFunc(t.Rows, func(r Row) bool { return r.Total == 0 })
	slices.SortStableFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(-cmp.Compare(a.Self, b.Self), -cmp.Compare(a.Total, b.Total), compareFrames(a.Frame, b.Frame))
	})
	if n > 0 && n < len(t.Rows) {
		t.Rows = t.Rows[:n]
	}
}
