// Package flame turns stack samples into one exact profile in the form of github.com/google/pprof/profile, finds in it
// where time goes, and draws it: importers fold equal stacks while they read, a Layout places the boxes of a flame graph
// for all views, and writers give SVG, folded text and pprof files.
package flame
