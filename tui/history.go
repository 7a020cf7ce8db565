package tui

import "slices"

// place is where the user is: a screen, and its pages from the top level down to the one that is seen.
type place struct {
	screen int
	pages  []page
}

func (p place) same(q place) bool { return p.screen == q.screen && slices.Equal(p.pages, q.pages) }

func (m *Model) place() place {
	return place{m.current, slices.Clone(m.screens[m.current].pages)}
}

func (m *Model) goTo(p place) {
	m.current = p.screen
	m.screens[p.screen].pages = slices.Clone(p.pages)
}

// history is the places that the user was at, as a browser has them.
type history struct {
	places []place
	at     int
}

// maxHistory bounds what is remembered; the oldest places are forgotten.
const maxHistory = 256

// note remembers a place, if it is another one. What was ahead is forgotten.
func (h *history) note(p place) {
	if len(h.places) > 0 {
		if h.places[h.at].same(p) {
			return
		}
		h.places = h.places[:h.at+1]
	}
	h.places = append(h.places, p)
	if over := len(h.places) - maxHistory; over > 0 {
		h.places = slices.Delete(h.places, 0, over)
	}
	h.at = len(h.places) - 1
}

// step goes back or forth; false if there is nothing there.
func (h *history) step(n int) (place, bool) {
	at := h.at + n
	if at < 0 || at >= len(h.places) {
		return place{}, false
	}
	h.at = at
	return h.places[at], true
}

func (m *Model) walkHistory(key string) {
	step, nothing := -1, "this is where you began; ] goes forth"
	if key == "]" {
		step, nothing = 1, "this is where you were last; [ goes back"
	}
	p, there := m.history.step(step)
	if !there {
		m.said = nothing
		return
	}
	m.goTo(p)
}

// mark is a place, and what was selected there, under a letter.
type mark struct {
	place
	spot int64
}

// spotted is implemented by pages in which what is selected can be returned to.
type spotted interface {
	Spot() int64 // 0 if nothing is selected
	Return(spot int64)
}

// mark asks for the letter of a mark to set.
func (m *Model) mark() {
	m.said = "mark this place: type a letter; ' and the letter comes back"
	m.next = func(letter string) {
		if !isLetter(letter) {
			m.said = "a mark is a letter; " + clean(letter) + " is none"
			return
		}
		k := mark{place: m.place()}
		if p, ok := m.page().(spotted); ok {
			k.spot = p.Spot()
		}
		m.marks[letter] = k
		m.said = "mark " + letter + " set; '" + letter + " comes back here"
	}
}

// recall asks for the letter of a mark to go to.
func (m *Model) recall() {
	if len(m.marks) == 0 {
		m.said = "no mark is set; m and a letter sets one"
		return
	}
	m.said = "go to a mark: type its letter"
	m.next = func(letter string) {
		k, set := m.marks[letter]
		if !set {
			m.said = "no mark is called " + clean(letter)
			return
		}
		m.goTo(k.place)
		if p, ok := m.page().(spotted); ok && k.spot > 0 {
			p.Return(k.spot)
		}
	}
}

func isLetter(s string) bool { return len(s) == 1 && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z') }

// markedRecords returns the packets of a capture that have a mark, ascending.
func (m *Model) markedRecords(c *capture) []int64 {
	var list []int64
	for _, k := range m.marks {
		if p, ok := k.pages[len(k.pages)-1].(*packetsPage); ok && p.packets.capture == c && k.spot > 0 {
			list = append(list, k.spot)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
