package flame

import (
	"fmt"

	"nettrace/kernel"
	"nettrace/unit"
)

// WhatIf tells what would be left of a value if some functions cost nothing. A profile cannot say which of two readings
// is right, so both are given: if only the functions' own time goes, what they called would be done by someone else; if
// all that they called goes with them, nobody does it. What is left lies between. Time that CPUs were idle is no cost and
// is not part of what is compared.
//
// Whether work gets faster by as much is another question: it does where the CPU that runs these functions is what limits
// it, and nothing else becomes the limit before.
type WhatIf struct {
	Event     EventTotal  `json:"event"`
	Unit      string      `json:"unit"` // of the values, as unit.Format takes it, after division by Scale
	Scale     int64       `json:"scale"`
	Busy      int64       `json:"busy"`      // all but the idle CPUs' value
	Idle      int64       `json:"idle"`      // theirs
	Self      int64       `json:"self"`      // of the functions alone
	Total     int64       `json:"total"`     // with all that they called; a stack counts once
	LeftHigh  int64       `json:"left_high"` // of Busy, if their own value goes
	LeftLow   int64       `json:"left_low"`  // of Busy, if what they called goes with them
	Functions []Removable `json:"functions"` // in the order asked for
}

// Removable is one of the functions.
type Removable struct {
	Name  string `json:"name"`
	Self  int64  `json:"self"`
	Total int64  `json:"total"`
}

// Factors returns by which factor the same CPU time would do more work, low if only the functions' own time goes, high if
// what they called goes with them; high is 0 where nothing would be left.
func (w *WhatIf) Factors() (low, high float64) {
	factor := func(left int64) float64 {
		if left <= 0 {
			return 0
		}
		return float64(w.Busy) / float64(left)
	}
	return factor(w.LeftHigh), factor(w.LeftLow)
}

// Without tells what would be left without functions: names as they are shown, or, for functions of C, without the
// endings that compilers give (".isra.0").
func Without(p *Profile, c Column, names []string) (*WhatIf, error) {
	index, event, err := p.index(c)
	if err != nil {
		return nil, err
	}
	scan := newSpinScan(p)
	removed, err := scan.view.find(names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Source, err)
	}
	w := &WhatIf{Event: *event, Unit: c.unitOf(event), Scale: p.Scale, Functions: make([]Removable, len(names))}
	for i, name := range names {
		w.Functions[i].Name = name
	}
	seen := make([]int, len(names)) // the last sample that a function was counted for, from 1
	var stack []int32
	for i, s := range p.pprof.Sample {
		value := s.Value[index]
		stack = scan.view.stack(stack[:0], s)
		if code, _ := scan.judge(stack); code != nil && code.Class == kernel.Idle {
			w.Idle = sum(w.Idle, value)
			continue
		}
		w.Busy = sum(w.Busy, value)
		any := false
		for depth, frame := range stack {
			n := removed[frame] - 1
			if n < 0 {
				continue
			}
			any = true
			if seen[n] != i+1 {
				seen[n], w.Functions[n].Total = i+1, sum(w.Functions[n].Total, value)
			}
			if depth == len(stack)-1 {
				w.Functions[n].Self, w.Self = sum(w.Functions[n].Self, value), sum(w.Self, value)
			}
		}
		if any {
			w.Total = sum(w.Total, value)
		}
	}
	w.LeftHigh, w.LeftLow = w.Busy-w.Self, w.Busy-w.Total
	return w, nil
}

// find returns, for each frame, which of names it is, from 1.
func (v *view) find(names []string) ([]int, error) {
	found, known := make([]int, len(v.frames)), make([]bool, len(names))
	all := make([]string, len(v.frames))
	for i, f := range v.frames {
		all[i] = f.Name
		for n, name := range names {
			if f.Name == name || kernel.Function(f.Name) == name {
				found[i], known[n] = n+1, true
			}
		}
	}
	for n, name := range names {
		if !known[n] {
			if len(all) == 0 {
				return nil, fmt.Errorf("no function %q; the profile has no stacks", name)
			}
			return nil, fmt.Errorf("no function %q; the nearest is %q, --top lists them", name, unit.Nearest(name, all))
		}
	}
	return found, nil
}
