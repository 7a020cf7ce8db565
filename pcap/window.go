package pcap

import (
	"io"

	"nettrace/source"
)

// A block of the input is read at a time: a quarter of the second-level cache, so that what follows finds it there, and large enough that system calls do
// not count. The first one is small, as many captures are.
const (
	firstBlock = 64 << 10
	blockBytes = 256 << 10
)

// window is the part of the input that is in memory. Packets are slices of it, valid until the next peek.
type window struct {
	in         *source.Input
	buf        []byte
	start, end int   // buf[start:end] is read and not yet consumed
	offset     int64 // of buf[start]
	done       bool
}

func newWindow(in *source.Input) window {
	return window{in: in, buf: make([]byte, firstBlock), offset: in.Offset()}
}

// peek returns what is in memory, at least n bytes unless the input ends before.
func (w *window) peek(n int) []byte {
	if w.end-w.start < n {
		w.fill(n)
	}
	return w.buf[w.start:w.end]
}

// fill reads until n bytes are there. The buffer grows only when it is full of data that arrived.
func (w *window) fill(n int) {
	if w.done {
		return
	}
	rest := w.buf[w.start:w.end]
	if len(w.buf) < blockBytes && w.offset > 0 {
		w.buf = make([]byte, blockBytes)
	}
	w.start, w.end = 0, copy(w.buf, rest)
	for w.end < n && !w.done {
		if w.end == len(w.buf) {
			w.buf = append(w.buf, make([]byte, len(w.buf))...)
		}
		m, err := w.in.Read(w.buf[w.end:])
		w.end += m
		w.done = err != nil || m == 0
	}
}

func (w *window) advance(n int) {
	w.start += n
	w.offset += int64(n)
}

// skip passes over n bytes of any number without keeping them, and returns how many there were.
func (w *window) skip(n int64) int64 {
	have := min(n, int64(w.end-w.start))
	w.advance(int(have))
	if have == n {
		return n
	}
	more, _ := io.CopyN(io.Discard, w.in, n-have)
	w.offset += more
	w.done = w.done || more < n-have
	return have + more
}
