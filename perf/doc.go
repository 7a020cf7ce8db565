// Package perf reads the recordings of perf(1), binary (perf.data) and as the text that `perf script` prints in all the
// layouts that its options and versions give it, as one stream of events with their stacks and places.
package perf
