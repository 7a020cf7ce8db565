package tui

import (
	"os"
	"path/filepath"
	"testing"

	"nettrace/fixtures/shared"
)

// TestCases walks all screens over each of the collected cases: odd, damaged and hostile inputs.
func TestCases(t *testing.T) {
	cases := shared.Path(t, "cases")
	entries, err := os.ReadDir(cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			d := start(t, 100, 30, filepath.Join(cases, e.Name()))
			d.shows("source")
			for _, screen := range []string{"1", "2", "3", "4", "5", "6", "7"} {
				d.press(screen)
				for _, key := range []string{"enter", "end", "enter", "down", "enter", "enter", "tab", "end", "?", "esc", "esc", "esc", "esc"} {
					d.press(key)
					harmless(t, d.m, "screen "+screen+", key "+key)
				}
			}
			for _, key := range []string{"8", "end", "enter"} { // the last scenario takes no time
				d.press(key)
				harmless(t, d.m, "screen 8, key "+key)
			}
		})
	}
}

// TestSVGEscapingCase shows the functions of a text whose names are markup and control characters.
func TestSVGEscapingCase(t *testing.T) {
	d := start(t, 200, 60, shared.Path(t, "cases", "26-svg-escaping", "names.folded"))
	d.press("5").shows("std::vector<int")
	harmless(t, d.m, "stacks")
}
