package tui

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"nettrace/source"
)

// edit is a line of text that is being typed. The text input of Bubbles would bring a clipboard library that runs other
// programs, and needs more than a line of keys.
type edit struct {
	text string
	at   int // cursor, in bytes
}

// maxTyped bounds what can be typed or pasted.
const maxTyped = 1024

// Press takes a key; it reports whether the text changed.
func (e *edit) Press(key tea.Key) (changed bool) {
	before := e.text
	switch key.String() {
	case "left", "ctrl+b":
		e.at -= e.before()
	case "right", "ctrl+f":
		e.at += e.behind()
	case "home", "ctrl+a":
		e.at = 0
	case "end", "ctrl+e":
		e.at = len(e.text)
	case "backspace", "ctrl+h":
		n := e.before()
		e.text, e.at = e.text[:e.at-n]+e.text[e.at:], e.at-n
	case "delete", "ctrl+d":
		e.text = e.text[:e.at] + e.text[e.at+e.behind():]
	case "ctrl+u":
		e.text, e.at = e.text[e.at:], 0
	case "ctrl+k":
		e.text = e.text[:e.at]
	default:
		e.Insert(key.Text)
	}
	return e.text != before
}

// Insert puts text at the cursor, without what is no printable character.
func (e *edit) Insert(text string) {
	for _, r := range text {
		if r == utf8.RuneError || source.Acts(r) || len(e.text) >= maxTyped {
			continue
		}
		s := string(r)
		e.text = e.text[:e.at] + s + e.text[e.at:]
		e.at += len(s)
	}
}

func (e *edit) before() int {
	_, n := utf8.DecodeLastRuneInString(e.text[:e.at])
	return n
}

func (e *edit) behind() int {
	_, n := utf8.DecodeRuneInString(e.text[e.at:])
	return n
}

// Render draws the text with the cursor in it.
func (e *edit) Render(l *look, width int) string {
	under, rest := " ", ""
	if n := e.behind(); n > 0 {
		under, rest = e.text[e.at:e.at+n], e.text[e.at+n:]
	}
	head := e.text[:e.at]
	if over := widthOf(head) - width + 2; over > 0 {
		head = shifted(head, over)
	}
	return head + l.here.Render(under) + cut(rest, width-widthOf(head)-1, l.more)
}
