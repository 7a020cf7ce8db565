package flame

import (
	"cmp"
	"slices"
)

// maxLegend bounds the objects and rules that a legend names: those with the largest values of their own.
const maxLegend = 10

// entries names the colours of the boxes that are drawn, in the order of their classes.
func (s *svg) entries() []LegendEntry {
	own := map[class]int64{}
	names := map[class]string{}
	for _, row := range s.layout.Rows {
		for _, b := range row {
			if b.Frame < 0 {
				continue
			}
			c := s.class(b)
			if name := s.colours.title(c, s.layout.Frames[b.Frame]); name != "" {
				own[c] = sum(own[c], b.Self)
				names[c] = name
			}
		}
	}
	return listed(own, names)
}

// listed returns the entries of the heaviest classes, each name once.
func listed(own map[class]int64, names map[class]string) []LegendEntry {
	classes := make([]class, 0, len(names))
	for c := range names {
		classes = append(classes, c)
	}
	slices.Sort(classes)
	weight := map[string]int64{}
	first := map[string]class{}
	for _, c := range slices.Backward(classes) {
		weight[names[c]] = sum(weight[names[c]], own[c])
		first[names[c]] = c
	}
	classes = slices.DeleteFunc(classes, func(c class) bool { return first[names[c]] != c })
	slices.SortStableFunc(classes, func(a, b class) int { return -cmp.Compare(weight[names[a]], weight[names[b]]) })
	classes = classes[:min(len(classes), maxLegend)]
	slices.Sort(classes)
	entries := make([]LegendEntry, len(classes))
	for i, c := range classes {
		entries[i] = LegendEntry{c.String(), names[c]}
	}
	return entries
}

// title is how a legend calls the colour of a frame, "" if its colour tells no more than its name.
func (c Colours) title(of class, f Frame) string {
	switch {
	case of >= firstDiff:
		return diffPaints()[of-firstDiff].title
	case of >= firstRule:
		return c.Palette.rules[of-firstRule].written
	case of >= firstName:
		return ""
	case of >= firstModule:
		return unnamed(f.Object)
	case f.Kind == Rest:
		return ""
	default:
		return kindTitle(f.Kind)
	}
}
