package tui

// pane is a part of a page: something with a place in it that can be moved, and that draws itself into any size.
type pane interface {
	// Heading says what the pane holds, and how it is filtered or sorted.
	Heading() string
	// Render returns height lines of width columns. focused panes have the keys.
	Render(width, height int, focused bool) []string
	Move(rows int)
	Page(pages int)
	Height() int // rows of the last drawing
	First()
	Last()
	// Click takes a click at a place of the last drawing; it reports whether that was on what is selected already.
	Click(x, y int) (again bool)
}

// halfPages moves by halves of what is seen.
func halfPages(p pane, n int) { p.Move(n * max(p.Height()/2, 1)) }

// Sizes from which on a page shows two panes: side by side, or one above the other.
const (
	sideBySide = 128
	stacked    = 17
)

// split is a page's panes: one, or two that share the room where there is enough, and take turns where there is not.
type split struct {
	look  *look
	panes []pane
	focus int
	share int // percent of the room that the first of two panes gets
	areas []area
}

// area is where a pane was drawn; an empty one is hidden.
type area struct{ x, y, width, height int }

func (a area) has(x, y int) bool {
	return x >= a.x && x < a.x+a.width && y >= a.y && y < a.y+a.height
}

func newSplit(l *look, share int, panes ...pane) split {
	return split{look: l, panes: panes, share: share, areas: make([]area, len(panes))}
}

// Render draws the panes, each under a line with its heading.
func (s *split) Render(width, height int) []string {
	clear(s.areas)
	switch {
	case len(s.panes) < 2, width < sideBySide && height < stacked:
		s.areas[s.focus] = area{0, 0, width, height}
		return s.pane(s.focus)
	case width >= sideBySide:
		first := width * s.share / 100
		s.areas[0], s.areas[1] = area{0, 0, first, height}, area{first + 3, 0, width - first - 3, height}
		return beside(s.pane(0), s.pane(1), s.look.faint.Render(" "+s.look.bar+" "))
	default:
		first := height * s.share / 100
		s.areas[0], s.areas[1] = area{0, 0, width, first}, area{0, first, width, height - first}
		return append(s.pane(0), s.pane(1)...)
	}
}

func (s *split) pane(i int) []string {
	a := s.areas[i]
	head := s.heading(s.panes[i].Heading(), a.width, i == s.focus)
	return append([]string{head}, s.panes[i].Render(a.width, a.height-1, i == s.focus)...)
}

// heading draws a line with a text in it: "── findings (10) ─────".
func (s *split) heading(text string, width int, focused bool) string {
	l := s.look
	text = cut(text, width-6, l.more)
	line := l.rule + l.rule + " "
	rest := " "
	for range max(width-widthOf(text)-4, 0) {
		rest += l.rule
	}
	style := l.faint
	if focused {
		style = l.title
	}
	return l.faint.Render(line) + style.Render(text) + l.faint.Render(rest)
}

// Tab gives the keys to the next pane.
func (s *split) Tab() { s.focus = (s.focus + 1) % len(s.panes) }

// current is the pane that has the keys.
func (s *split) current() pane { return s.panes[s.focus] }

// click gives the keys to the pane at a place and lets it take the click. again is true for a click on what was selected
// in the pane that had the keys already.
func (s *split) click(x, y int) (again bool) {
	for i, a := range s.areas {
		if a.has(x, y) {
			had := s.focus == i
			s.focus = i
			return s.panes[i].Click(x-a.x, y-a.y-1) && had
		}
	}
	return false
}

// wheel moves the pane at a place without giving it the keys.
func (s *split) wheel(x, y, rows int) {
	for i, a := range s.areas {
		if a.has(x, y) {
			s.panes[i].Move(rows)
		}
	}
}
