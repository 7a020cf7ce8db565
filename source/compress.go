package source

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// Bounds on what a compressed input may ask for: its window, and how often one format may be wrapped in another.
const (
	maxWindow = 128 << 20
	maxLayers = 4
)

type codec struct {
	name  string
	magic []byte
	open  func(*bufio.Reader) (io.Reader, error)
}

func codecs() []codec {
	return []codec{
		{"gzip", []byte("\x1f\x8b"), func(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
		{"zstd", []byte("\x28\xb5\x2f\xfd"), func(r *bufio.Reader) (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		}},
		{"xz", []byte("\xfd7zXZ\x00"), openXZ},
		{"lz4", []byte("\x04\x22\x4d\x18"), func(r *bufio.Reader) (io.Reader, error) { return lz4.NewReader(r), nil }},
		{"bzip2", []byte("BZh"), func(r *bufio.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
		{"UTF-16", []byte("\xff\xfe"), openUTF16(binary.LittleEndian)},
		{"UTF-16", []byte("\xfe\xff"), openUTF16(binary.BigEndian)},
	}
}

// openXZ refuses a first block whose dictionary is larger than maxWindow before the library allocates it
// (the .xz file format 1.1.0, sections 3.1 and 5.3.1: the last filter is LZMA2, its property the dictionary size).
func openXZ(r *bufio.Reader) (io.Reader, error) {
	head, _ := r.Peek(12 + 1024)
	if i := bytes.Index(head[min(12, len(head)):], []byte{0x21, 0x01}); i >= 0 && 12+i+2 < len(head) {
		if bits := head[12+i+2] & 0x3f; bits > 30 { // 2 << (bits/2 + 11) or 3 << (bits/2 + 11) bytes
			return nil, fmt.Errorf("xz: the dictionary is larger than %d MiB", maxWindow>>20)
		}
	}
	return xz.NewReader(r)
}

// decompress peels off compression, and the encoding UTF-16, by magic, also several layers. A layer that cannot be opened is handed on as it is.
func decompress(r io.Reader) (plain io.Reader, layers []string, err error) {
	for range maxLayers {
		b := bufio.NewReaderSize(r, peekMax)
		head, _ := b.Peek(16)
		c, found := matchCodec(head)
		if !found {
			return b, layers, nil
		}
		inner, err := guard(func() (io.Reader, error) { return c.open(b) })
		if err != nil {
			return b, layers, fmt.Errorf("%s: %w", c.name, err)
		}
		r, layers = guarded{inner}, append(layers, c.name)
	}
	return r, layers, fmt.Errorf("compressed more than %d times", maxLayers)
}

func matchCodec(head []byte) (codec, bool) {
	for _, c := range codecs() {
		if bytes.HasPrefix(head, c.magic) {
			return c, true
		}
	}
	return codec{}, false
}

// guarded turns a panic of a decompressor on a hostile input into an error.
type guarded struct{ r io.Reader }

func (g guarded) Read(p []byte) (n int, err error) {
	defer func() {
		if e := recover(); e != nil {
			n, err = 0, fmt.Errorf("decompressor failed: %v", e)
		}
	}()
	return g.r.Read(p)
}

func guard(open func() (io.Reader, error)) (r io.Reader, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("decompressor failed: %v", e)
		}
	}()
	return open()
}
