package flame

// Flat profiles in BSD's gmon format, as FreeBSD's `pmcstat -R log -g` writes them: one file for each event and object,
// EVENT/OBJECT.gmon. No text; a header, a counter for each stretch of code, and then arcs:
//
//	lpc, hpc    8 bytes each: the code that the counters are of
//	ncnt        4 bytes: of header and counters together; version 0x00051879; profrate; histcounter_type (bits, 0 is 16);
//	            8 bytes reserved
//	counters    2 bytes each (of pmcstat), which stop at 65,535
//	arcs        from, to, count: 8 bytes each
//
// Source: FreeBSD sys/sys/gmon.h, usr.sbin/pmcstat/pmcpl_gprof.c, which both count from the object's start and write numbers
// in the machine's order; amd64 and arm64, little-endian, are read. The file names no functions, so stretches of code are
// told by their addresses in the object (addr2line -f -e OBJECT names them). Arcs are left out: they count callers within
// one object, without the rest of the stack; pmcstat -G has it whole.

import (
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"nettrace/source"
)

const (
	gmonHeader  = 40
	gmonVersion = 0x00051879
	gmonArc     = 24
)

// SniffGmon recognises the header.
func SniffGmon(head []byte) source.Match {
	if h, ok := parseGmon(head); ok && h.high > h.low && h.counters > 0 {
		return source.Strong
	}
	return source.No
}

// gmon is the header of a file.
type gmon struct {
	low, high uint64
	counters  uint64 // how many
	width     uint64 // of one, in bytes
}

func parseGmon(b []byte) (h gmon, ok bool) {
	if len(b) < gmonHeader || binary.LittleEndian.Uint32(b[20:]) != gmonVersion {
		return h, false
	}
	h = gmon{low: binary.LittleEndian.Uint64(b), high: binary.LittleEndian.Uint64(b[8:]), width: 2}
	switch bits := int32(binary.LittleEndian.Uint32(b[28:])); bits {
	case 0, 16, -16:
	case 32, -32:
		h.width = 4
	case 64, -64:
		h.width = 8
	default:
		return h, false
	}
	size := int32(binary.LittleEndian.Uint32(b[16:]))
	if size < gmonHeader {
		return h, false
	}
	h.counters = (uint64(size) - gmonHeader) / h.width
	return h, true
}

// ReadGmon reads a flat profile to the end of the input. Its event is the name of the folder that the file is in.
func ReadGmon(in *source.Input, ledger *source.Ledger) (*Profile, error) {
	start := in.Pos()
	head := make([]byte, gmonHeader)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, &source.SyntaxError{Pos: start, Msg: "a gmon file ends within its header; was it copied whole?"}
	}
	h, ok := parseGmon(head)
	if !ok {
		return nil, &source.SyntaxError{Pos: start, Msg: "not a gmon header of pmcstat"}
	}
	p := &Profile{Source: start.Source, Format: "gmon"}
	b := newBuilder(start.Source, ledger)
	event := b.event(gmonEvent(start.Source), "", start)
	object := strings.TrimSuffix(path.Base(start.Source), ".gmon")
	counter := make([]byte, h.width)
	for i := uint64(0); i < h.counters; i++ {
		at := in.Pos()
		if _, err := io.ReadFull(in, counter); err != nil {
			ledger.Add("cut-input", source.Warning, at, int64(h.counters-i), "the file ends before its last counter; the samples in the others are lost")
			break
		}
		n := gmonCount(counter)
		if h.width == 2 && n == 0xffff {
			ledger.Add("counter-saturated", source.Warning, at, 1, "a counter of 16 bits stands at its end, 65,535; the samples beyond were not counted")
		}
		if n > 0 {
			address := h.low + uint64(float64(i)*float64(h.high-h.low)/float64(h.counters))
			b.add(event, labels{}, appendLocation(nil, b.location([]line{{symbol: "0x" + strconv.FormatUint(address, 16)}}, object)), n, n, place{offset: at.Offset})
		}
	}
	arcs, err := io.Copy(io.Discard, in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", start.Source, err)
	}
	if arcs >= gmonArc {
		ledger.Add("arc-not-kept", source.Note, in.Pos(), arcs/gmonArc, "callers within the object alone are no stacks and are left out; pmcstat -G prints whole ones")
	}
	b.finish(p)
	return p, nil
}

func gmonCount(b []byte) int64 {
	switch len(b) {
	case 2:
		return int64(binary.LittleEndian.Uint16(b))
	case 4:
		return int64(binary.LittleEndian.Uint32(b))
	}
	return int64(binary.LittleEndian.Uint64(b) & (1<<63 - 1))
}

// gmonEvent is the event that pmcstat names a folder by; "samples" where the file is in none.
func gmonEvent(name string) string {
	if folder := path.Base(path.Dir(name)); folder != "." && folder != "/" {
		return folder
	}
	return "samples"
}
