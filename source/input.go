package source

import (
	"bytes"
	"io"
)

// peekMax is how far Peek can look ahead: the window in which formats are recognised.
const peekMax = 64 << 10

// Input is the decompressed content of one source as a stream that knows its place. It can be read as bytes (Read, Peek)
// or, through NewLines, as lines. A read error of the source below ends it like an end of file and is kept in Err, so
// that what came before is still analysed.
type Input struct {
	name       string
	r          io.Reader
	buf        []byte
	start, end int   // buf[start:end] is read and not yet consumed
	offset     int64 // of buf[start]
	done       bool
	err        error
	watch      func(offset int64) error
}

// Watch has f called whenever more of the source was read, with how much that is by now. An error that f returns ends
// the input.
func (in *Input) Watch(f func(read int64) error) { in.watch = f }

// NewInput reads r; name is the source's name in positions.
func NewInput(name string, r io.Reader) *Input {
	return &Input{name: name, r: r, buf: make([]byte, 2*peekMax)}
}

// Name returns the source's name.
func (in *Input) Name() string { return in.name }

// Offset returns how many bytes were consumed.
func (in *Input) Offset() int64 { return in.offset }

// Pos returns the place of the next byte.
func (in *Input) Pos() Pos { return Pos{Source: in.name, Offset: in.offset} }

// Err returns the error, other than the end of the file, that ended the input.
func (in *Input) Err() error { return in.err }

// fill reads once more into the buffer, which it first compacts, and grows up to limit bytes if it is full.
// It reports whether there is something new.
func (in *Input) fill(limit int) bool {
	if in.done {
		return false
	}
	if in.start > 0 && in.end == len(in.buf) {
		copy(in.buf, in.buf[in.start:in.end])
		in.start, in.end = 0, in.end-in.start
	}
	if in.end == len(in.buf) {
		if len(in.buf) >= limit {
			return false
		}
		in.buf = append(in.buf, make([]byte, min(len(in.buf), limit-len(in.buf)))...)
	}
	for tries := 0; tries < 100; tries++ {
		n, err := in.r.Read(in.buf[in.end:])
		in.end += n
		in.watched(int64(in.end-in.start), err)
		if n > 0 || in.done {
			return n > 0
		}
	}
	in.finish(io.ErrNoProgress)
	return false
}

func (in *Input) finish(err error) {
	in.done = true
	if err != io.EOF {
		in.err = err
	}
}

// Peek returns up to n bytes without consuming them; fewer only at the end of the input or above 64 KiB.
// They are valid until the next call.
func (in *Input) Peek(n int) []byte {
	n = min(n, peekMax)
	for in.end-in.start < n && in.fill(len(in.buf)) {
	}
	return in.buf[in.start:min(in.start+n, in.end)]
}

// Read implements io.Reader. Large reads go straight to the source once the buffer is empty.
func (in *Input) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if in.start == in.end && len(p) < len(in.buf) && !in.done {
		in.start, in.end = 0, 0
		in.fill(len(in.buf))
	}
	if in.start < in.end {
		n := copy(p, in.buf[in.start:in.end])
		in.consume(n)
		return n, nil
	}
	if in.done {
		return 0, io.EOF
	}
	n, err := in.r.Read(p)
	in.offset += int64(n)
	in.watched(0, err)
	if n == 0 && in.done {
		return 0, io.EOF
	}
	return n, nil
}

// watched tells the watcher that the source below was read, and ends the input on an error of either.
func (in *Input) watched(ahead int64, err error) {
	if in.watch != nil && err == nil {
		err = in.watch(in.offset + ahead)
	}
	if err != nil {
		in.finish(err)
	}
}

// Discard consumes n bytes and returns how many there were.
func (in *Input) Discard(n int64) int64 {
	left := n
	for left > 0 && (in.start < in.end || in.fill(len(in.buf))) {
		step := int(min(left, int64(in.end-in.start)))
		in.consume(step)
		left -= int64(step)
	}
	return n - left
}

func (in *Input) consume(n int) {
	in.start += n
	in.offset += int64(n)
}

// line returns the length of the next line with its end, reading as far as needed, at most max bytes.
// It is 0 at the end of the input.
func (in *Input) line(max int) int {
	for scanned := 0; ; {
		have := in.buf[in.start:in.end]
		if i := bytes.IndexByte(have[scanned:], '\n'); i >= 0 {
			return scanned + i + 1
		}
		scanned = len(have)
		if scanned >= max || !in.fill(max) {
			return min(len(in.buf[in.start:in.end]), max)
		}
	}
}

// take fills buf as far as there is input, without the way through the buffer where it can, and returns how much it took.
func (in *Input) take(buf []byte) int {
	n := copy(buf, in.buf[in.start:in.end])
	in.consume(n)
	for empty := 0; n < len(buf) && !in.done; {
		k, err := in.r.Read(buf[n:])
		n += k
		in.offset += int64(k)
		if in.watched(0, err); k > 0 || in.done {
			empty = 0
		} else if empty++; empty == 100 {
			in.finish(io.ErrNoProgress)
		}
	}
	return n
}

// putBack makes b, the last bytes that were consumed, the next ones again.
func (in *Input) putBack(b []byte) {
	if len(b) > in.start {
		have := in.buf[in.start:in.end]
		buf := make([]byte, max(len(in.buf), len(b)+len(have)))
		in.end = len(b) + copy(buf[len(b):], have)
		in.buf, in.start = buf, len(b)
	}
	in.start -= copy(in.buf[in.start-len(b):in.start], b)
	in.offset -= int64(len(b))
}
