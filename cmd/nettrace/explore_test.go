package main

import (
	"bufio"
	"io"
	"testing"

	"nettrace/tui"
)

// TestExplorerCommandsAreThePrograms holds the names of the explorer's command line to those of the program.
func TestExplorerCommandsAreThePrograms(t *testing.T) {
	tree := newRoot(&env{stdout: bufio.NewWriter(io.Discard)})
	for _, name := range tui.Commands() {
		if found, _, err := tree.Find([]string{name}); err != nil || found.Name() != name {
			t.Errorf("the explorer's :%s is no command of the program", name)
		}
	}
}
