package flame

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// FragmentOptions choose how a flame graph is put into a page. The zero value is a flame without a name.
type FragmentOptions struct {
	Label  string // what the graph is of, for those who hear the page
	Icicle bool   // the root at the top
}

// WriteFragment draws a layout as an svg element of a page that brings FragmentStyle and FragmentScript once for all of
// its graphs.
func WriteFragment(w io.Writer, l *Layout, o FragmentOptions) error {
	return writeFragment(w, l, Colours{}, o)
}

func writeFragment(w io.Writer, l *Layout, c Colours, o FragmentOptions) error {
	s := newSVG(w, l, c)
	s.icicle = o.Icicle
	s.printf("<svg class=\"flame\" width=\"100%%\" height=\"%d\" role=\"group\" aria-label=\"%s\">\n", rowHeight*len(l.Rows), text(o.Label))
	s.frames(`width="100%"`, 0)
	s.hidden()
	s.WriteString("</svg>\n")
	return s.Flush()
}

// FragmentScript returns the function flameGraph(root, changed), which makes the graph within an element answer.
func FragmentScript() string { return graphScript }

// FragmentStyle returns the colours of the boxes of some layouts, for pages whose color-scheme is light, dark or both.
func FragmentStyle(layouts ...*Layout) string { return fragmentStyle(Colours{}, layouts...) }

func fragmentStyle(c Colours, layouts ...*Layout) string {
	var classes []class
	for _, l := range layouts {
		classes = append(classes, newSVG(io.Discard, l, c).used()...)
	}
	slices.Sort(classes)
	var b strings.Builder
	for _, of := range slices.Compact(classes) {
		fmt.Fprintf(&b, ".flame .%s{fill:light-dark(%s,%s)}\n", of, c.fill(of, false), c.fill(of, true))
		if light, dark := c.text(of, false), c.text(of, true); light != "#111" || dark != "#eee" { // as the page writes on boxes
			fmt.Fprintf(&b, ".flame .b.%s:not(.hit) text{fill:light-dark(%s,%s)}\n", of, light, dark)
		}
	}
	return b.String()
}

// LegendEntry names the colour of a class of boxes.
type LegendEntry struct{ Class, Name string }

// Legend names the colours that a layout has.
func (l *Layout) Legend() []LegendEntry { return newSVG(io.Discard, l, Colours{}).entries() }
