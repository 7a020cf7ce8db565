package tui

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"nettrace/fixtures/drive"
)

var update = flag.Bool("update", false, "write the golden files and the documentation's key table anew")

const bundle = "fixtures/bundles/rr-4345"

// driver runs the explorer.
type driver struct {
	*drive.Driver
	t testing.TB
	m *Model
}

// start opens paths, which are relative to the checkout, at a size.
func start(t testing.TB, width, height int, paths ...string) *driver {
	t.Helper()
	d := newDriver(t, Options{Paths: paths, Theme: "dark"})
	d.Start(width, height)
	d.settle()
	return d
}

func newDriver(t testing.TB, o Options) *driver {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	m := NewModel(ctx, o)
	m.library.feed = nil // what comes in between would make frames depend on time
	return &driver{drive.New(t, m), t, m}
}

// root makes the checkout the working folder, so that paths are those of the documentation.
func root(t testing.TB) {
	t.Helper()
	if c, ok := t.(interface{ Chdir(string) }); ok {
		c.Chdir("..")
	}
}

func (d *driver) send(msg tea.Msg) { d.t.Helper(); d.Send(msg) }

func (d *driver) settle() { d.t.Helper(); d.Settle() }

// press presses keys by their names; other words are typed.
func (d *driver) press(names ...string) *driver {
	d.t.Helper()
	for _, name := range names {
		d.Type(name, d.settle)
	}
	return d
}

func (d *driver) screen() string { return d.Screen() }

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
