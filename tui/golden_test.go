package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// pages lists how to get to every page of the bundle.
var pages = []struct {
	name string
	keys []string
}{
	{"findings", nil},
	{"finding", []string{"enter"}},
	{"text", []string{"enter", "enter"}},
	{"flows", []string{"2"}},
	{"flow-packets", []string{"2", "enter"}},
	{"captures", []string{"3"}},
	{"packets", []string{"p", "n"}},
	{"packet", []string{"p", "n", "enter"}},
	{"locks", []string{"4"}},
	{"lock", []string{"4", "enter"}},
	{"stacks", []string{"5", "down", "down", "enter", "/", "tcp_sendmsg", "enter"}},
	{"counters", []string{"6"}},
	{"sources", []string{"7", "end"}},
	{"over-time", []string{"2", "end", "t", "n", "+"}},
	{"replay", []string{"8"}},
	{"try", []string{"8", "end", "up", "up", "up", "enter", "right"}},
	{"changes", []string{"d", "fixtures/bundles/tag-race", "enter"}},
	{"flame-compared", []string{"d", "fixtures/bundles/tag-race", "enter", "5", "d", "down"}},
	{"copy", []string{"y"}},
	{"columns", []string{"2", "c"}},
	{"rules", []string{":", "rules", "enter", "/", "rule:tso-split", "enter", "enter"}},
	{"help", []string{"?"}},
}

// TestPages draws every page of the bundle in the three sizes that count.
func TestPages(t *testing.T) {
	root(t)
	for _, p := range pages {
		t.Run(p.name, func(t *testing.T) {
			d := start(t, 80, 24, bundle).press(p.keys...)
			var all strings.Builder
			for _, size := range [][2]int{{60, 16}, {80, 24}, {200, 60}} {
				d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				d.settle()
				fmt.Fprintf(&all, "%d x %d\n%s", size[0], size[1], d.screen())
				lines := d.m.lines()
				if len(lines) != size[1] {
					t.Errorf("%d lines in %d rows", len(lines), size[1])
				}
				for i, line := range lines {
					if w := ansi.StringWidth(line); w != size[0] {
						t.Errorf("line %d of %v is %d columns wide: %q", i, size, w, line)
					}
				}
			}
			golden(t, p.name+".golden", all.String())
		})
	}
}
