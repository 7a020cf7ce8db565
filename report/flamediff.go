package report

import (
	"fmt"
	"io"

	"nettrace/flame"
	"nettrace/unit"
)

// FlameDiff prints how a profile differs from its base: the functions whose own share changed most, without those whose
// change may be chance, then those that only one of the two has. n bounds each list; 0 is 20.
func FlameDiff(w io.Writer, d *flame.Difference, n int, style Style) error {
	page := &page{w: w, style: style}
	page.print(diffTitle(d) + "\n")
	for _, part := range diffParts(d, n) {
		page.print("\n" + part.title + "\n")
		if len(part.rows) > 0 {
			page.table(diffHead(), part.rows, map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true})
		}
	}
	return page.err
}

// FlameDiffMarkdown prints the same in Markdown.
func FlameDiffMarkdown(w io.Writer, d *flame.Difference, n int) error {
	page := &page{w: w}
	page.print(mark(diffTitle(d)) + "\n")
	for _, part := range diffParts(d, n) {
		page.print("\n" + mark(part.title) + "\n")
		if len(part.rows) > 0 {
			page.print("\n")
			page.markdownTable(diffHead(), part.rows, 6)
		}
	}
	return page.err
}

func diffTitle(d *flame.Difference) string {
	side := func(s *flame.Side) string {
		return fmt.Sprintf("%s %s in %s samples", Clean(s.Source), flame.Quantity(s.Value, d.Scale, d.Unit), unit.Count(s.Samples))
	}
	title := Clean(d.Other.Event.Name) + ": " + side(&d.Base) + " -> " + side(&d.Other)
	if d.Factor != 1 {
		title += "; shares are compared"
	}
	return title
}

// diffPart is one list of changed functions.
type diffPart struct {
	title string
	rows  [][]string
}

func diffParts(d *flame.Difference, n int) []diffPart {
	if n == 0 {
		n = 20
	}
	var changed []flame.Changed
	for _, c := range d.Functions {
		if !c.New() && !c.Vanished() && !d.SelfNoise(&c.Pair) {
			changed = append(changed, c)
		}
	}
	title := "changed beyond two standard deviations of chance, by own value"
	if len(changed) == 0 {
		title = "no function that both have changed beyond two standard deviations of chance"
	}
	parts := []diffPart{{title, diffRows(d, changed, n)}}
	for _, only := range []struct {
		what string
		list []flame.Changed
	}{{"new", d.New()}, {"vanished", d.Vanished()}} {
		if len(only.list) > 0 {
			parts = append(parts, diffPart{fmt.Sprintf("%s: %s", only.what, plural(len(only.list), "function", "functions")), diffRows(d, only.list, n)})
		}
	}
	return parts
}

func diffHead() []string {
	return []string{"self before", "after", "change", "total before", "after", "change", "function"}
}

func diffRows(d *flame.Difference, list []flame.Changed, n int) [][]string {
	var rows [][]string
	share := func(value int64, s *flame.Side) string {
		if s.Value == 0 {
			return "0 %"
		}
		return unit.Percent(float64(value) / float64(s.Value))
	}
	for _, c := range list[:min(n, len(list))] {
		rows = append(rows, []string{
			share(c.Base.Self, &d.Base), share(c.Other.Self, &d.Other), diffChange(d, d.SelfDelta(&c.Pair), d.SelfNoise(&c.Pair)),
			share(c.Base.Value, &d.Base), share(c.Other.Value, &d.Other), diffChange(d, d.Delta(&c.Pair), d.Noise(&c.Pair)), d.Frames[c.Frame].Name})
	}
	return rows
}

// diffChange prints a difference as percentage points of other's total, or ~ where it may be chance.
func diffChange(d *flame.Difference, delta float64, noise bool) string {
	switch {
	case delta == 0:
		return ""
	case noise:
		return "~"
	case d.Other.Value == 0:
		return flame.Quantity(int64(delta), d.Scale, d.Unit)
	}
	return fmt.Sprintf("%+.2f", 100*delta/float64(d.Other.Value))
}
