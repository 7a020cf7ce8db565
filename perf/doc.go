// Package perf reads what perf(1) prints of a recording: the text of `perf script`, in all the layouts that its options
// and versions give it, as a stream of events with their stacks and places.
package perf
