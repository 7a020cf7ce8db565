package perf

import (
	"bytes"
	"fmt"

	"nettrace/source"
)

const (
	pipeHeaderSize = 16
	fileHeaderSize = 104
	attrsMax       = 4096
	idsMax         = 1 << 20
)

// SniffData reports whether a recording of perf begins at head.
func SniffData(head []byte) source.Match {
	if bytes.HasPrefix(head, []byte("PERFILE2")) || bytes.HasPrefix(head, []byte("2ELIFREP")) || bytes.HasPrefix(head, []byte("PERFFILE")) {
		return source.Strong
	}
	return source.No
}

// section is a part of the file.
type section struct{ offset, size uint64 }

// within reports whether the section lies in a file of this many bytes.
func (s section) within(size uint64) bool { return s.offset <= size && s.size <= size-s.offset }

// fileHeader is the beginning of a recording.
type fileHeader struct {
	order
	pipe     bool
	attrSize uint64
	attrs    section
	data     section
	features [4]uint64
}

// parseHeader reads the header, of which b holds at least as much as the file does.
func parseHeader(b []byte) (h fileHeader, size int, err error) {
	if len(b) < pipeHeaderSize {
		return h, 0, fmt.Errorf("%d bytes are no recording of perf: its header has %d; copy the file again", len(b), pipeHeaderSize)
	}
	switch string(b[:8]) {
	case "PERFILE2":
	case "2ELIFREP":
		h.big = true
	default:
		return h, 0, fmt.Errorf("a recording in perf's first format, of 2009 to 2011; print it with the perf of that system: perf script > x.perf.txt")
	}
	switch size := h.u64(b[8:]); {
	case size == pipeHeaderSize:
		h.pipe = true
		return h, pipeHeaderSize, nil
	case size == fileHeaderSize && len(b) >= fileHeaderSize:
	case size == fileHeaderSize:
		return h, 0, fmt.Errorf("the file ends within its header, after %d of %d bytes; copy it again", len(b), fileHeaderSize)
	default:
		return h, 0, fmt.Errorf("the header says that it has %d bytes; recordings have %d, or %d from a pipe; print it with perf script > x.perf.txt", size, fileHeaderSize, pipeHeaderSize)
	}
	h.attrSize = h.u64(b[16:])
	h.attrs = section{h.u64(b[24:]), h.u64(b[32:])}
	h.data = section{h.u64(b[40:]), h.u64(b[48:])}
	h.features = featureBits(h.order, b[72:104])
	return h, fileHeaderSize, nil
}

// featureBits reads the bitmap. A 32-bit machine of the other byte order wrote it in words of 32 bits: then the host
// name, which every recording has, is not where it should be.
func featureBits(o order, b []byte) (set [4]uint64) {
	for i := range set {
		set[i] = o.u64(b[8*i:])
	}
	if o.big && set[0]&(1<<featureHostname) == 0 {
		for i := range set {
			set[i] = set[i]>>32 | set[i]<<32
		}
	}
	return set
}

func (h *fileHeader) hasFeature(n int) bool { return h.features[n/64]>>(n%64)&1 != 0 }
