package tui

import (
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"
)

// TestRandomKeys presses anything, clicks anywhere, and changes the size at any time: nothing panics, every frame has the
// size of the terminal, and no frame holds a character that acts.
func TestRandomKeys(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("..", bundle))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // files may be written
	keys := []string{"enter", "esc", "tab", "up", "down", "left", "right", "pgup", "pgdown", "home", "end", "space", "backspace",
		"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "/", "s", "S", "?", "y", "n", "N", "p", "f", "u", "e", "E", "v", "g", "G", "a", "<", ">", "=", ":", "!", "ä", "漢",
		"m", "'", "[", "]", "c", "w", "o", "d", "t", "+", "-", "r", "x", "X", "ctrl+u", "ctrl+d"}
	rapid.Check(t, func(r *rapid.T) {
		d := start(t, 80, 24, path)
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			switch rapid.IntRange(0, 9).Draw(r, "kind") {
			case 0:
				d.send(tea.WindowSizeMsg{Width: rapid.IntRange(1, 220).Draw(r, "width"), Height: rapid.IntRange(1, 70).Draw(r, "height")})
			case 1:
				x, y := rapid.IntRange(0, 220).Draw(r, "x"), rapid.IntRange(0, 70).Draw(r, "y")
				if rapid.Bool().Draw(r, "wheel") {
					d.send(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
				} else {
					d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
				}
			case 2:
				d.send(tea.PasteMsg{Content: rapid.String().Draw(r, "pasted")})
			default:
				d.press2(rapid.SampledFrom(keys).Draw(r, "key"))
			}
			if rapid.Bool().Draw(r, "wait") {
				d.settle()
			}
			harmless(t, d.m, "after random keys")
		}
		d.settle()
	})
}

// TestResizeStorm changes the size in every frame, on every page.
func TestResizeStorm(t *testing.T) {
	root(t)
	for _, p := range pages {
		d := start(t, 80, 24, bundle).press(p.keys...)
		for i := range 200 {
			d.send(tea.WindowSizeMsg{Width: 1 + i*37%200, Height: 1 + i*17%60})
		}
		d.settle()
		d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		d.shows("nettrace  rr-4345")
	}
}
