package perf

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// Bounds on what compressed records may become.
const (
	inflateRatio = 1000
	inflateFree  = 64 << 20
	windowMax    = 128 << 20
)

// inflater takes compressed records apart: their contents are pieces of one zstd stream that is flushed at the end of
// each piece and never finished (tools/perf/util/zstd.c). A record may begin in one piece and end in the next.
type inflater struct {
	piece  []byte // not yet taken by the decoder
	pull   func() ([]byte, bool)
	stop   func()
	err    error
	dead   bool
	in     int64
	out    int64
	buf    []byte // decompressed and not yet taken
	start  int
	offset int64 // of the compressed record of the last piece
}

func newInflater() *inflater {
	f := &inflater{}
	f.pull, f.stop = iter.Pull(f.decode)
	return f
}

// decode runs the decoder. It yields what comes out, and nil where it needs the next piece.
func (f *inflater) decode(yield func([]byte) bool) {
	d, err := zstd.NewReader(pieces{f, yield}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(windowMax), zstd.WithDecoderLowmem(true))
	if err != nil {
		f.err = err
		return
	}
	defer d.Close()
	chunk := make([]byte, 64<<10)
	for {
		n, err := d.Read(chunk)
		if n > 0 && !yield(chunk[:n]) {
			return
		}
		if err != nil {
			f.err = err
			return
		}
	}
}

// pieces is what the decoder reads.
type pieces struct {
	*inflater
	yield func([]byte) bool
}

func (p pieces) Read(b []byte) (int, error) {
	for len(p.piece) == 0 {
		if !p.yield(nil) {
			return 0, io.EOF
		}
	}
	n := copy(b, p.piece)
	p.piece = p.piece[n:]
	return n, nil
}

// feed decompresses one piece.
func (f *inflater) feed(piece []byte, offset int64) error {
	if f.dead {
		return nil
	}
	f.buf = append(f.buf[:0], f.buf[f.start:]...)
	f.start, f.offset = 0, offset
	f.piece = piece
	f.in += int64(len(piece))
	for {
		out, ok := f.pull()
		switch {
		case !ok:
			f.dead = true
			if f.err == io.EOF && len(f.piece) == 0 {
				return nil
			}
			return fmt.Errorf("the compressed records do not decompress: %w", f.err)
		case out == nil && len(f.piece) == 0:
			return nil
		}
		f.buf = append(f.buf, out...)
		f.out += int64(len(out))
		if f.out > inflateRatio*f.in+inflateFree {
			f.dead = true
			f.stop()
			return errors.New("the compressed records grow more than a thousandfold")
		}
	}
}

// next takes the next whole record.
func (f *inflater) next(o order, r *record) bool {
	b := f.buf[f.start:]
	if len(b) < recordHeaderSize {
		return false
	}
	size := int(o.u16(b[6:]))
	if size < recordHeaderSize {
		f.dead, f.start = true, len(f.buf)
		return false
	}
	if len(b) < size {
		return false
	}
	*r = record{kind: recordType(o.u32(b)), misc: o.u16(b[4:]), body: b[recordHeaderSize:size], offset: f.offset}
	f.start += size
	return true
}

// close ends the decoder and returns how many bytes of an unfinished record are left.
func (f *inflater) close() int {
	f.stop()
	return len(f.buf) - f.start
}
