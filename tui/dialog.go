package tui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// dialog is drawn above the page and has all keys until it is done.
type dialog interface {
	Press(key tea.Key) (a act, done bool)
	// Render returns the dialog's lines, all of one width, for a screen of that size.
	Render(width, height int) []string
}

// over draws a dialog into the middle of a screen. The lines that it covers are blank beside it.
func over(screen, dialog []string, width int) []string {
	if len(dialog) == 0 {
		return screen
	}
	w := ansi.StringWidth(dialog[0])
	left, top := max((width-w)/2, 0), max((len(screen)-len(dialog))/2, 0)
	for i, line := range dialog {
		if y := top + i; y < len(screen) {
			screen[y] = blank(left) + line + blank(width-left-w)
		}
	}
	return screen
}

// frame puts a border around lines, which are filled to the width.
func frame(l *look, title string, lines []string, width int) []string {
	edge := func(text string) string {
		line := "+" + l.rule + " " + text + " "
		for widthOf(line) < width+3 {
			line += l.rule
		}
		return l.title.Render(line + "+")
	}
	side := l.title.Render(l.bar)
	framed := []string{edge(title)}
	for _, line := range lines {
		w := ansi.StringWidth(line)
		framed = append(framed, side+" "+line+blank(width-w)+" "+side)
	}
	return append(framed, edge("esc closes"))
}

// help lists the keys of a page; typing narrows the list.
type help struct {
	look *look
	keys []binding
	edit edit
	top  int
	rows int
}

func newHelp(l *look, own []binding) *help {
	keys := append([]binding(nil), own...)
	keys = append(keys, moveKeys()...)
	return &help{look: l, keys: append(keys, programKeys()...)}
}

// Press implements dialog.
func (h *help) Press(key tea.Key) (a act, done bool) {
	switch key.String() {
	case "esc", "enter", "ctrl+c":
		return act{}, true
	case "down":
		h.top++
	case "up":
		h.top--
	case "pgdown":
		h.top += h.rows
	case "pgup":
		h.top -= h.rows
	default:
		if h.edit.Press(key) {
			h.top = 0
		}
	}
	return act{}, false
}

// Render implements dialog.
func (h *help) Render(width, height int) []string {
	w := min(width-6, 90)
	lines := []string{"type to search: " + h.edit.Render(h.look, w-16), ""}
	var found []string
	for _, k := range h.keys {
		if matches(k.keys+" "+k.what, h.edit.text) {
			found = append(found, h.look.bold.Render(fit(k.keys, 11, h.look.more))+" "+cut(k.what, w-12, h.look.more))
		}
	}
	if len(found) == 0 {
		found = []string{"no key does that here"}
	}
	h.rows = max(height-8, 1)
	h.top = max(min(h.top, len(found)-h.rows), 0)
	shown := found[h.top:min(h.top+h.rows, len(found))]
	lines = append(lines, shown...)
	if rest := len(found) - h.top - len(shown); rest > 0 {
		lines = append(lines, h.look.faint.Render(h.look.more+" "+plural(rest, "more", "more")+": down"))
	}
	return frame(h.look, "keys of this screen", lines, w)
}
