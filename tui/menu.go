package tui

import (
	tea "charm.land/bubbletea/v2"
)

// menu is a dialog to choose from: by a letter, or with the arrows and Enter.
type menu struct {
	look  *look
	title string
	items []item
	at    int
	top   int
}

// item is one choice. What it does is asked for after the menu has closed.
type item struct {
	key   string // "" for none
	label string
	run   func() act
}

// Press implements dialog.
func (d *menu) Press(key tea.Key) (a act, done bool) {
	switch name := key.String(); name {
	case "esc", "ctrl+c":
		return act{}, true
	case "enter":
		return d.items[d.at].run(), true
	case "up", "k":
		d.at = clamp(d.at-1, len(d.items))
	case "down", "j", "tab":
		d.at = clamp(d.at+1, len(d.items))
	case "home":
		d.at = 0
	case "end":
		d.at = len(d.items) - 1
	default:
		for i := range d.items {
			if d.items[i].key == name {
				return d.items[i].run(), true
			}
		}
	}
	return act{}, false
}

// Render implements dialog.
func (d *menu) Render(width, height int) []string {
	w := min(width-6, 90)
	rows := max(min(len(d.items), height-6), 1)
	d.top = max(min(d.top, d.at), d.at-rows+1)
	var lines []string
	for i := d.top; i < min(d.top+rows, len(d.items)); i++ {
		it := &d.items[i]
		line := fit(" "+fit(it.key, 3, "")+it.label, w-1, d.look.more)
		if i == d.at {
			line = d.look.here.Render(d.look.cursor + line)
		} else {
			line = " " + line
		}
		lines = append(lines, line)
	}
	return frame(d.look, d.title, lines, w)
}

// choose shows a menu.
func (m *Model) choose(title string, items []item) {
	m.dialogs = append(m.dialogs, &menu{look: m.look, title: cut(title, 54, m.look.more), items: items})
}
