package tui

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"nettrace/analyze"
	"nettrace/diagnose"
	"nettrace/finding"
	"nettrace/fixtures/hostile"
	"nettrace/flame"
	"nettrace/source"
)

// acting holds what acts on a terminal or on the text around it: a title, a colour, a bell, the 8-bit CSI, a change of
// direction, an invisible mark, a line end, a tab, and broken UTF-8.
const acting = "\x1b]0;owned\x07\x1b[31m\u009b31m\u202etxt\u2066\u200b\n\r\t\xff</script>"

// styling is what the explorer itself writes.
var styling = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// harmless fails if the view holds any character that acts, or has not the size of the terminal.
func harmless(t testing.TB, m *Model, where string) {
	t.Helper()
	view := m.View()
	lines := strings.Split(view.Content, "\n")
	if len(lines) != m.height {
		t.Fatalf("%s: %d lines on %d rows", where, len(lines), m.height)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w != m.width {
			t.Fatalf("%s: line %d is %d columns wide, the terminal %d: %q", where, i, w, m.width, line)
		}
	}
	for _, text := range []string{view.Content, view.WindowTitle} {
		for i, line := range strings.Split(styling.ReplaceAllString(text, ""), "\n") {
			if strings.ContainsFunc(line, source.Acts) || !isUTF8(line) {
				t.Fatalf("%s, line %d: %q", where, i, line)
			}
		}
	}
}

func isUTF8(s string) bool { return strings.ToValidUTF8(s, "") == s }

// poison puts the text in front of every string of a result, except for those that decide what is shown.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			poison(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "ID" && f.Name != "CausedBy" {
				poison(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.String:
		switch v.Interface().(type) {
		case analyze.Kind, source.Loss:
		default:
			v.SetString(acting + v.String())
		}
	}
}

func poisoned(t *testing.T) *analyze.Result {
	t.Helper()
	r, errs := analyze.Run(t.Context(), []string{bundle}, analyze.Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	diagnose.Apply(r, nil)
	poison(reflect.ValueOf(r))
	r.Models.Profiles = []*flame.Profile{folded(t)}
	r.Ledger = append(r.Ledger, source.Entry{Source: r.Sources[0].Path, Name: acting, Severity: source.Warning, Count: 2, Text: acting})
	r.Sources = append(r.Sources, analyze.Source{Path: acting, Note: acting, Tried: []string{acting}})
	return r
}

// folded is a profile whose functions and threads have hostile names.
func folded(t *testing.T) *flame.Profile {
	t.Helper()
	name := strings.NewReplacer("\n", "", "\r", "", ";", "").Replace(acting)
	text := "thread;" + name + "main;" + name + "read 5\nthread;" + name + "main 3\n"
	var ledger source.Ledger
	p, err := flame.ReadFolded(source.NewLines(source.NewInput(acting, strings.NewReader(text)), &ledger), &ledger)
	if err != nil || len(p.Events) == 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	return p
}

// TestHostileNames walks all pages of a result in which every text is hostile.
func TestHostileNames(t *testing.T) {
	root(t)
	r := poisoned(t)
	for _, size := range [][2]int{{60, 16}, {80, 24}, {200, 60}} {
		d := newDriver(t, Options{Paths: []string{acting}, Theme: "dark"})
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		d.send(progressMsg{acting, 1, 2})
		harmless(t, d.m, "while reading")
		d.send(resultMsg{r, []error{&source.SyntaxError{Pos: source.Pos{Source: acting}, Msg: acting}}})
		for _, keys := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
			d.press(keys)
			for _, key := range []string{"down", "enter", "tab", "enter", "end", "enter", "?", "esc", "y", "esc", "w", "esc", "e", "esc", "c", "esc", ":", "f", "tab", "esc", "m", "a", "s", "n", "p", "f", "u", "E", "right", "t", "+", "/", "a", "esc", "esc", "esc", "G", "enter", "esc"} {
				d.press(key)
				harmless(t, d.m, "screen "+keys+", key "+key)
			}
		}
	}
}

// TestHostileInputIsTold shows the names, made visible.
func TestHostileInputIsTold(t *testing.T) {
	d := newDriver(t, Options{Paths: []string{"x"}, Theme: "dark"})
	d.send(tea.WindowSizeMsg{Width: 200, Height: 40})
	d.send(resultMsg{&analyze.Result{Findings: []finding.Finding{{ID: "1", Rule: "r", Subject: finding.Subject{Name: "eth0\x1b[2J"}, Summary: "\u202eabc"}}}, nil})
	d.shows(`eth0\x1b[2J`, `\u202eabc`)
}

// TestHostileText opens a text whose lines are hostile, and a packet with bytes of all values.
func TestHostileText(t *testing.T) {
	d := newDriver(t, Options{Paths: []string{"x"}, Theme: "dark"})
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	page := newViewerPage(d.m.look, acting, source.Pos{Source: acting, Line: 2})
	page.asked = true
	d.m.do(act{push: page})
	d.send(excerptMsg{page, &analyze.Excerpt{Path: acting, First: 1, Lines: []string{acting, acting}, Line: 2}, nil})
	harmless(t, d.m, "text")
	c := d.m.library.capture(acting)
	packet := newPacketPage(d.m.look, newPacketList(d.m.look, c, 0), 1)
	d.m.do(act{push: packet})
	data := make([]byte, 256)
	for i := range data {
		data[i] = byte(i)
	}
	d.send(packetMsg{packet, 1, &analyze.Packet{Comments: []string{acting}, LinkType: acting, Data: data}, nil})
	for _, key := range []string{"tab", "right", "end", "tab", "down", "end"} {
		d.press2(key)
		harmless(t, d.m, "packet, key "+key)
	}
}

// TestHostileNamesOfAllFormats walks over inputs of all formats, at two sizes.
func TestHostileNamesOfAllFormats(t *testing.T) {
	screens := map[analyze.Kind]string{analyze.Capture: "2", analyze.Locks: "4", analyze.Stacks: "5", analyze.Counters: "6", analyze.Settings: "6"}
	see := func(t *testing.T, kind analyze.Kind, path string) {
		d := start(t, 80, 24, path)
		for _, screen := range []string{"1", "7", screens[kind]} {
			d.press(screen)
			for _, key := range []string{"", "enter", "tab", "enter", "end", "y", "esc", "esc"} {
				if key != "" {
					d.press(key)
				}
				for _, size := range [][2]int{{60, 16}, {80, 24}} {
					d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
					harmless(t, d.m, fmt.Sprintf("screen %s, key %q, %v", screen, key, size))
				}
			}
		}
	}
	hostile.Each(t, filepath.Join("..", "fixtures"), see, "terminal", "long")
}
