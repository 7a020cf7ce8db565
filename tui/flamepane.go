package tui

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"charm.land/lipgloss/v2"

	"nettrace/flame"
	"nettrace/unit"
)

// flamePane is a flame graph with the root at the top: each line is a level of calls, each box as wide as its share.
// Arrows walk along the tree: up to the caller, down to the widest callee, left and right on the same level.
type flamePane struct {
	look   *look
	title  string
	empty  string
	layout *flame.Layout // nil until it is made

	zoomed []node // what the user zoomed into, from the root down; the last one is as wide as the pane
	at     node
	top    int
	body   int
	width  int

	search  string
	matched [][]bool // by row and box, nil without a search
	share   float64  // of the total that is in matched boxes
	count   int
}

// node is a box by its row and its index there.
type node struct{ row, index int }

// SetLayout shows a layout from its root on.
func (p *flamePane) SetLayout(l *flame.Layout) {
	p.layout, p.zoomed, p.at, p.top = l, []node{{}}, node{}, 0
	p.Search(p.search)
}

func (p *flamePane) box(n node) flame.Box { return p.layout.Rows[n.row][n.index] }

func (p *flamePane) zoom() node { return p.zoomed[len(p.zoomed)-1] }

// ready reports whether there is anything to walk in.
func (p *flamePane) ready() bool {
	return p.layout != nil && len(p.layout.Rows) > 0 && p.layout.Total > 0
}

// columns returns where a box is drawn, for a zoom and a width; none if it is narrower than a column.
func (p *flamePane) columns(b flame.Box) (from, to int) {
	z := p.box(p.zoom())
	scale := func(v int64) int {
		return int(float64(min(max(v-z.Start, 0), z.Value)) / float64(z.Value) * float64(p.width))
	}
	return scale(b.Start), scale(b.Start + b.Value)
}

// within returns the boxes of a row below the zoomed one; above it, the callers that lead to it.
func (p *flamePane) within(row int) (first, end int) {
	z := p.zoom()
	if row <= z.row {
		n := z
		for n.row > row {
			n = p.parent(n)
		}
		return n.index, n.index + 1
	}
	return p.covered(row, p.box(z))
}

// covered returns the boxes of a row that lie within a box of a row above.
func (p *flamePane) covered(row int, b flame.Box) (first, end int) {
	boxes := p.layout.Rows[row]
	first = sort.Search(len(boxes), func(i int) bool { return boxes[i].Start >= b.Start })
	end = sort.Search(len(boxes), func(i int) bool { return boxes[i].Start >= b.Start+b.Value })
	return first, end
}

func (p *flamePane) parent(n node) node {
	return node{n.row - 1, int(p.box(n).Parent)}
}

// Heading implements pane.
func (p *flamePane) Heading() string {
	text := p.title
	if p.search != "" {
		text += "  /" + p.search
	}
	return text
}

// Render implements pane.
func (p *flamePane) Render(width, height int, focused bool) []string {
	p.width, p.body = width, height
	if !p.ready() {
		return exactly([]string{"  " + p.empty}, width, height)
	}
	p.top = max(min(p.top, p.at.row), p.at.row-height+1, 0)
	var lines []string
	for row := p.top; row < min(p.top+height, len(p.layout.Rows)); row++ {
		lines = append(lines, p.line(row, focused))
	}
	return exactly(lines, width, height)
}

func (p *flamePane) line(row int, focused bool) string {
	var b strings.Builder
	x := 0
	first, end := p.within(row)
	for i := first; i < end; i++ {
		n := node{row, i}
		box := p.layout.Rows[row][i]
		from, to := p.columns(box)
		if row <= p.zoom().row {
			from, to = 0, p.width
		}
		if to <= from || from < x {
			continue
		}
		b.WriteString(blank(from - x))
		b.WriteString(p.draw(n, box, to-from, focused))
		x = to
	}
	return b.String()
}

// draw draws a box: a bar at its left edge and its name. What is found by a search is underlined, what is selected turned.
func (p *flamePane) draw(n node, box flame.Box, width int, focused bool) string {
	mark := p.look.bar
	if n == p.at {
		mark = p.look.cursor
	}
	name := clean(p.changed(box) + p.name(box))
	if p.found(n) && width > 2 {
		name = "*" + name
	}
	text := mark + fit(name, width-1, p.look.more)
	switch {
	case n == p.at && focused:
		return p.look.here.Render(text)
	case p.found(n):
		return p.style(box).Bold(true).Underline(true).Render(text)
	default:
		return p.style(box).Render(text)
	}
}

// style is the colour of a box: by its kind of code, or in a difference by what became of it.
func (p *flamePane) style(b flame.Box) lipgloss.Style {
	pair := p.pair(b)
	switch d := p.layout.Diff; {
	case d == nil:
		return p.look.kinds[p.layout.Kind(b)]
	case pair == nil || d.Noise(pair):
		return p.look.kinds[flame.Marker]
	case d.Delta(pair) > 0:
		return p.look.grew
	}
	return p.look.shrank
}

// pair is what both sides of a difference found of a box, nil if it stands for none.
func (p *flamePane) pair(b flame.Box) *flame.Pair {
	d := p.layout.Diff
	if d == nil || b.Frame == flame.Smaller || int(b.Node) >= len(d.Nodes) {
		return nil
	}
	return &d.Nodes[b.Node].Pair
}

// changed tells by how much of the total a box of a difference grew: a sign, so that no one depends on colours.
func (p *flamePane) changed(b flame.Box) string {
	d, pair := p.layout.Diff, p.pair(b)
	switch {
	case pair == nil || b.Frame == flame.Root:
		return ""
	case d.Noise(pair):
		return "= "
	}
	return fmt.Sprintf("%+.1f%% ", 100*d.Delta(pair)/max(float64(d.Other.Value), 1))
}

func (p *flamePane) name(b flame.Box) string {
	if b.Frame == flame.Smaller {
		return plural(int(b.Count), "smaller one", "smaller ones")
	}
	return p.layout.Name(b)
}

func (p *flamePane) found(n node) bool { return p.matched != nil && p.matched[n.row][n.index] }

// seen reports whether a box is wide enough to be drawn.
func (p *flamePane) seen(n node) bool {
	if n.row <= p.zoom().row {
		return true
	}
	from, to := p.columns(p.box(n))
	return to > from
}

// Move implements pane: up to the caller, down to the widest callee.
func (p *flamePane) Move(rows int) {
	for ; rows < 0 && p.ready() && p.at.row > 0; rows++ {
		p.at = p.parent(p.at)
	}
	for ; rows > 0 && p.ready(); rows-- {
		widest, there := p.widest()
		if !there {
			return
		}
		p.at = widest
	}
}

// widest returns the widest callee of the selected box that is drawn.
func (p *flamePane) widest() (node, bool) {
	if p.at.row+1 >= len(p.layout.Rows) {
		return node{}, false
	}
	best, there := node{}, false
	first, end := p.within(p.at.row + 1)
	if p.at.row >= p.zoom().row {
		first, end = p.covered(p.at.row+1, p.box(p.at))
	}
	for i := first; i < end; i++ {
		n := node{p.at.row + 1, i}
		if p.seen(n) && (!there || p.box(n).Value > p.box(best).Value) {
			best, there = n, true
		}
	}
	return best, there
}

// Aside goes to the next box of the same level that is drawn.
func (p *flamePane) Aside(step int) {
	if !p.ready() {
		return
	}
	first, end := p.within(p.at.row)
	for i := p.at.index + step; i >= first && i < end; i += step {
		if n := (node{p.at.row, i}); p.seen(n) {
			p.at = n
			return
		}
	}
}

// Height implements pane.
func (p *flamePane) Height() int { return p.body }

// Page implements pane.
func (p *flamePane) Page(pages int) { p.Move(pages * max(p.body-1, 1)) }

// First implements pane.
func (p *flamePane) First() {
	if p.ready() {
		p.at = p.zoom()
	}
}

// Last implements pane: down the widest callees to the end.
func (p *flamePane) Last() { p.Move(1 << 16) }

// Zoom makes the selected box as wide as the pane; Out goes back. They report whether anything changed.
func (p *flamePane) Zoom() bool {
	if !p.ready() || p.at == p.zoom() {
		return false
	}
	for len(p.zoomed) > 1 && p.zoom().row >= p.at.row { // a caller of what is zoomed: back to it
		p.zoomed = p.zoomed[:len(p.zoomed)-1]
	}
	if p.at != p.zoom() {
		p.zoomed = append(p.zoomed, p.at)
	}
	return true
}

// Out undoes the last Zoom.
func (p *flamePane) Out() bool {
	if len(p.zoomed) < 2 {
		return false
	}
	p.at = p.zoom()
	p.zoomed = p.zoomed[:len(p.zoomed)-1]
	return true
}

// Click implements pane.
func (p *flamePane) Click(x, y int) (again bool) {
	row := p.top + y
	if !p.ready() || y < 0 || row >= len(p.layout.Rows) {
		return false
	}
	first, end := p.within(row)
	for i := first; i < end; i++ {
		n := node{row, i}
		from, to := p.columns(p.box(n))
		if row <= p.zoom().row {
			from, to = 0, p.width
		}
		if x >= from && x < to {
			again = p.at == n
			p.at = n
			return again
		}
	}
	return false
}

// Search marks the boxes whose name holds a text, and adds up what they hold; a box within a marked one counts once.
func (p *flamePane) Search(text string) {
	p.search, p.matched, p.share, p.count = text, nil, 0, 0
	if text == "" || !p.ready() {
		return
	}
	p.matched = make([][]bool, len(p.layout.Rows))
	inside := make([]bool, 1) // of the row above: within a marked box
	total := int64(0)
	for r, row := range p.layout.Rows {
		p.matched[r] = make([]bool, len(row))
		here := make([]bool, len(row))
		for i, b := range row {
			above := r > 0 && inside[b.Parent]
			found := b.Frame >= 0 && matches(p.layout.Name(b), text)
			p.matched[r][i], here[i] = found, found || above
			if found {
				p.count++
			}
			if found && !above {
				total += b.Value
			}
		}
		inside = here
	}
	p.share = p.layout.Share(total)
}

// Next goes to the next marked box, by place and then by depth.
func (p *flamePane) Next(back bool) bool {
	if p.matched == nil {
		return false
	}
	var best, wrapped *node
	for r := range p.matched {
		for i, found := range p.matched[r] {
			n := node{r, i}
			if !found || n == p.at {
				continue
			}
			if p.before(p.at, n) != back && (best == nil || p.before(n, *best) != back) {
				best = &n
			}
			if wrapped == nil || p.before(n, *wrapped) != back {
				wrapped = &n
			}
		}
	}
	if best == nil {
		best = wrapped
	}
	if best == nil {
		return false
	}
	p.at = *best
	for len(p.zoomed) > 1 && !p.reachable() {
		p.zoomed = p.zoomed[:len(p.zoomed)-1]
	}
	for n := p.parent(p.at); !p.reachable(); n = p.at { // too narrow to be drawn: into its caller, or into itself
		p.zoomed = append(p.zoomed, n)
	}
	return true
}

func (p *flamePane) before(a, b node) bool {
	x, y := p.box(a), p.box(b)
	return x.Start < y.Start || x.Start == y.Start && a.row < b.row
}

// reachable reports whether the selected box is drawn with the current zoom.
func (p *flamePane) reachable() bool {
	first, end := p.within(p.at.row)
	return p.at.index >= first && p.at.index < end && p.seen(p.at)
}

// Describe tells what is known of the selected box.
func (p *flamePane) Describe() string {
	if !p.ready() {
		return ""
	}
	b := p.box(p.at)
	text := p.name(b)
	if b.Frame >= 0 {
		if f := p.layout.Frames[b.Frame]; f.Object != "" {
			text += " in " + f.Object
		}
		text += p.look.dot + p.layout.Kind(b).String()
	}
	if d, pair := p.layout.Diff, p.pair(b); d != nil {
		if pair != nil {
			text += p.look.dot + p.changed(b) + p.sides(pair)
		}
		return text
	}
	text += p.look.dot + unit.Percent(p.layout.Share(b.Value)) + " of all, " + p.quantity(b.Value)
	if b.Self > 0 {
		text += p.look.dot + "itself " + p.quantity(b.Self)
	}
	return text
}

// sides tells what both sides have, with the share of each one's own total.
func (p *flamePane) sides(pair *flame.Pair) string {
	d := p.layout.Diff
	side := func(s *flame.Side, c *flame.Counts) string {
		return unit.Percent(float64(c.Value)/max(float64(s.Value), 1)) + " (" + plural(int(c.Samples), "sample", "samples") + ")"
	}
	return "before " + side(&d.Base, &pair.Base) + ", after " + side(&d.Other, &pair.Other)
}

func (p *flamePane) quantity(v int64) string {
	return flame.Quantity(v, p.layout.Scale, p.layout.Unit)
}

// stack is the callers of the selected box and its own name, as folded text has them.
func (p *flamePane) stack() string {
	var names []string
	for n := p.at; n.row > 0; n = p.parent(n) {
		names = append(names, clean(p.name(p.box(n))))
	}
	slices.Reverse(names)
	return strings.Join(names, ";")
}
