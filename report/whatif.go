package report

import (
	"fmt"
	"io"

	"nettrace/flame"
	"nettrace/unit"
)

// WhatIf prints what would be left of a profile if some functions cost nothing.
func WhatIf(w io.Writer, x *flame.WhatIf, style Style) error {
	p := &page{w: w, style: style}
	value := func(v int64) string { return flame.Quantity(v, x.Scale, x.Unit) }
	share := func(v int64) string {
		if x.Busy == 0 {
			return "0 %"
		}
		return unit.Percent(float64(v) / float64(x.Busy))
	}
	p.print(fmt.Sprintf("%s: %s busy", Clean(x.Event.Name), value(x.Busy)))
	if x.Idle > 0 {
		p.print(fmt.Sprintf(" (and %s idle, which is no cost)", value(x.Idle)))
	}
	p.print("\n")
	var rows [][]string
	for _, f := range x.Functions {
		rows = append(rows, []string{value(f.Self), share(f.Self), value(f.Total), share(f.Total), f.Name})
	}
	p.table([]string{"self", "", "total", "", "without"}, rows, map[int]bool{0: true, 1: true, 2: true, 3: true})
	low, high := x.Factors()
	p.print("\n")
	p.labelled(0, "left", "", 6, fmt.Sprintf("%s to %s of busy time: %s if what they called is still done, %s if it goes with them",
		share(x.LeftLow), share(x.LeftHigh), value(x.LeftHigh), value(x.LeftLow)))
	more := fmt.Sprintf("%.3gx to %.3gx", low, high)
	if high == 0 {
		more = fmt.Sprintf("%.3gx or more (nothing is left)", low)
	}
	p.labelled(0, "rate", "", 6, more+" the work for the same CPU time, where the CPU that runs them is the limit")
	return p.err
}
