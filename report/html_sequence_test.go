package report

import (
	"slices"
	"strings"
	"testing"

	"nettrace/analyze"
)

// TestPlotOfWindowAndSACK: the window is drawn where it leaves room for what was sent, what is beyond is told, and an
// unknown one is neither drawn nor in the legend.
func TestPlotOfWindowAndSACK(t *testing.T) {
	for name, c := range map[string]struct {
		edge                  int64
		sack                  [][2]int64
		window, blocks, notes bool
	}{
		"near":           {edge: 20_000, window: true},
		"far":            {edge: 900_000, notes: true},
		"unknown":        {edge: -1},
		"with SACK":      {edge: -1, sack: [][2]int64{{3000, 4000}}, blocks: true},
		"SACK elsewhere": {edge: -1, sack: [][2]int64{{800_000, 801_000}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &analyze.Series{Client: "a", Server: "b"}
			for n := range int64(12) {
				s.Directions[0].Points = append(s.Directions[0].Points, analyze.Point{Record: 2 * n, Seq: 1000 * n, Bytes: 1000, ACK: 0, Edge: -1})
				s.Directions[1].Points = append(s.Directions[1].Points, analyze.Point{Record: 2*n + 1, ACK: 1000 * n, Edge: c.edge, SACK: c.sack})
			}
			view := (&plot{series: s, first: 0, last: 100}).draw()
			drawn := func(class string) bool { return strings.Contains(string(view.SVG), `<path class="`+class+`"`) }
			if drawn("window") != c.window || drawn("sack") != c.blocks || (len(view.Notes) > 0) != c.notes {
				t.Errorf("window %v, SACK %v, notes %q", drawn("window"), drawn("sack"), view.Notes)
			}
			told := func(class string) bool {
				return slices.ContainsFunc(view.Legend, func(i legendItem) bool { return i.Class == class })
			}
			if told("window") != (c.edge >= 0) || told("sack") != (c.sack != nil) {
				t.Errorf("legend %+v", view.Legend)
			}
		})
	}
}

// TestEveryMarkIsDrawn: each has a shape, and those about what is acknowledged are the other side's.
func TestEveryMarkIsDrawn(t *testing.T) {
	for _, g := range glyphs() {
		s := &analyze.Series{Client: "a", Server: "b"}
		s.Directions[0].Points = []analyze.Point{{Record: 1, Bytes: 1000, ACK: 0, Edge: -1}, {Record: 3, Seq: 1000, Bytes: 1000, Edge: -1}}
		s.Directions[1].Points = []analyze.Point{{Record: 2, ACK: 1000, Edge: -1}}
		at := &s.Directions[0].Points[1]
		if g.OnACK {
			at = &s.Directions[1].Points[0]
		}
		at.Mark = g.Name
		svg := string((&plot{series: s, first: 0, last: 9}).draw().SVG)
		if g.shape == "" || !strings.Contains(svg, `class="mark `+g.Name+`"`) || !strings.Contains(svg, g.shape) {
			t.Errorf("%s is not drawn", g.Name)
		}
	}
}
