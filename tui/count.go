package tui

import (
	"strconv"
	"strings"
)

// maxDigits bounds a count that is typed.
const maxDigits = 12

// digits are typed in front of a key. One digit goes to a screen, so that only "12G" and what begins with 0 ("05j") is a
// count; with 12G the place where the first digit was typed is gone back to.
type digits struct {
	typed string
	from  place
}

// digit takes a digit: it goes to the screen, and may become a count.
func (m *Model) digit(key string) (taken bool) {
	if len(key) != 1 || key[0] < '0' || key[0] > '9' {
		return false
	}
	if m.digits.typed == "" {
		m.digits.from = m.place()
	}
	if len(m.digits.typed) < maxDigits {
		m.digits.typed += key
	}
	screen := int(key[0] - '1')
	switch {
	case strings.Contains(m.digits.typed, "0"):
		m.said = "count " + m.digits.typed
	case screen >= 0 && screen < screenCount:
		m.current = screen
	case len(m.digits.typed) == 1:
		m.said = "there are " + strconv.Itoa(screenCount) + " screens; 0 in front makes a count: 09j"
	}
	return true
}

// count ends the digits and returns what they mean in front of a key, 0 if nothing.
func (m *Model) count(key string) int {
	typed := m.digits.typed
	m.digits.typed = ""
	if key == "G" && len(typed) > 1 && typed[0] != '0' {
		m.goTo(m.digits.from)
	} else {
		_, typed, _ = strings.Cut(typed, "0") // what is before is a screen
	}
	n, _ := strconv.Atoi(typed)
	return n
}

// numbered is implemented by pages whose rows have numbers to go to.
type numbered interface{ GoTo(number int) }

func (m *Model) goToNumber(n int) {
	p, ok := m.page().(numbered)
	if !ok {
		m.said = "nothing has a number here"
		return
	}
	p.GoTo(n)
	m.said = "number " + count(n)
}
