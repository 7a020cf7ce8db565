// Package tui shows a result in the terminal: the explorer.
//
// Model is the one tea.Model. It holds eight screens, each a stack of pages (Enter goes one down, Esc one up), and a stack
// of dialogs that is drawn last. Pages are made of panes: plain structs with methods that change them and a Render that
// draws them into a width and a height. Nothing here reads a file inside of Update: commands and goroutines do, and send
// what they read as messages (load.go, capture.go). Every text that comes from an input passes through source.Clean where
// it becomes part of a line.
package tui
