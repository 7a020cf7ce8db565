package tui

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "write the golden files and the documentation's key table anew")

const bundle = "fixtures/bundles/rr-4345"

// driver runs a model as the program does: its commands in goroutines, their messages one after the other.
type driver struct {
	t       testing.TB
	m       *Model
	msgs    chan tea.Msg
	running int
}

// start opens paths, which are relative to the checkout, at a size.
func start(t testing.TB, width, height int, paths ...string) *driver {
	t.Helper()
	d := newDriver(t, Options{Paths: paths, Theme: "dark"})
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	d.send(d.m.Init()())
	d.settle()
	return d
}

func newDriver(t testing.TB, o Options) *driver {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	d := &driver{t: t, m: NewModel(ctx, o), msgs: make(chan tea.Msg, 1024)}
	d.m.library.feed = nil // what comes in between would make frames depend on time
	return d
}

// root makes the checkout the working folder, so that paths are those of the documentation.
func root(t testing.TB) {
	t.Helper()
	if c, ok := t.(interface{ Chdir(string) }); ok {
		c.Chdir("..")
	}
}

func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	d.running++
	go func() { d.msgs <- cmd() }()
}

func (d *driver) send(msg tea.Msg) {
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, cmd := range batch {
			d.run(cmd)
		}
		return
	}
	_, cmd := d.m.Update(msg)
	d.m.View() // as the program does
	d.run(cmd)
}

// settle takes messages until all commands have ended.
func (d *driver) settle() {
	d.t.Helper()
	for deadline := time.After(time.Minute); d.running > 0; {
		select {
		case msg := <-d.msgs:
			d.running--
			d.send(msg)
		case <-deadline:
			d.t.Fatal("commands do not end")
		}
	}
}

// press presses keys by their names; other words are typed.
func (d *driver) press(names ...string) *driver {
	d.t.Helper()
	for _, name := range names {
		for _, k := range keysOf(name) {
			d.send(tea.KeyPressMsg(k))
			d.settle()
		}
	}
	return d
}

func keysOf(name string) []tea.Key {
	special := map[string]tea.Key{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "backspace": {Code: tea.KeyBackspace},
		"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
		"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
		"space": {Code: ' ', Text: " "}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
	}
	if k, ok := special[name]; ok {
		return []tea.Key{k}
	}
	var keys []tea.Key
	for _, r := range name {
		keys = append(keys, tea.Key{Code: r, Text: string(r)})
	}
	return keys
}

// screen returns what is seen, without styles and trailing blanks.
func (d *driver) screen() string {
	lines := strings.Split(ansi.Strip(d.m.View().Content), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// shows fails unless all texts are on the screen.
func (d *driver) shows(texts ...string) *driver {
	d.t.Helper()
	screen := d.screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.t.Errorf("%q is not on the screen:\n%s", text, screen)
		}
	}
	return d
}

// lacks fails if any of the texts is on the screen.
func (d *driver) lacks(texts ...string) *driver {
	d.t.Helper()
	screen := d.screen()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			d.t.Errorf("%q is on the screen:\n%s", text, screen)
		}
	}
	return d
}

// line returns the selected line of the screen: the one with the mark in front.
func (d *driver) line() string {
	for line := range strings.Lines(d.screen()) {
		if strings.HasPrefix(line, "▸") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("tui", "testdata", name) // tests run in the checkout
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test ./tui -update writes it", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; go test ./tui -update writes it anew:\n%s", path, got)
	}
}
