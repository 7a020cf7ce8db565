package report

import (
	"io"

	"nettrace/lockstat"
	"nettrace/unit"
)

// LocksDiff prints how lock tables changed, the locks whose wait changed most first.
func LocksDiff(w io.Writer, diffs []*lockstat.Diff, style Style) error {
	p := &page{w: w, style: style}
	for i, d := range diffs {
		if i > 0 {
			p.print("\n")
		}
		p.print(p.paint(bold, Clean(d.Base.Source+" -> "+d.Other.Source+": "+toolTitle(d.Other.Tool))) + "\n")
		p.print("all locks: " + d.Total.Text(d.Rated) + "; " + unit.Count(d.Total.Base.Contentions) + " -> " + unit.Count(d.Total.Other.Contentions) + " contentions\n")
		var rows [][]string
		for j := range d.Locks {
			c := &d.Locks[j]
			if c.Difference == 0 && c.Base.Contentions == c.Other.Contentions {
				continue
			}
			rows = append(rows, []string{c.Text(d.Rated), unit.Count(c.Base.Contentions) + " -> " + unit.Count(c.Other.Contentions), c.Base.WaitMax.String() + " -> " + c.Other.WaitMax.String(), c.Key + inBrackets(c.Known)})
		}
		if len(rows) > 0 {
			p.table([]string{"wait", "contentions", "longest", "lock"}, rows, nil)
		} else {
			p.print("nothing changed, lock by lock\n")
		}
		for _, c := range d.Caveats {
			p.print(Clean("but   "+c) + "\n")
		}
	}
	return p.err
}
