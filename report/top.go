package report

import (
	"io"
	"strconv"

	"nettrace/flame"
	"nettrace/unit"
)

// Top prints the functions in which most of a value was found, with what was found in all that they called.
func Top(w io.Writer, p *flame.Profile, column flame.Column, n int, style Style) error {
	t, err := flame.Top(p, column, n)
	if err != nil {
		return err
	}
	page := &page{w: w, style: style}
	page.print(Clean(t.Event.Name) + ": " + flame.Quantity(t.Total, t.Scale, t.Unit) + " in " + unit.Count(t.Event.Samples) + " samples\n")
	rows := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = []string{strconv.Itoa(i + 1), flame.Quantity(r.Self, t.Scale, t.Unit), unit.Percent(r.SelfShare), flame.Quantity(r.Total, t.Scale, t.Unit), unit.Percent(r.TotalShare), r.Name}
	}
	page.table([]string{"#", "self", "", "total", "", "function"}, rows, map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true})
	return page.err
}
