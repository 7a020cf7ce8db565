package perf

import (
	"fmt"
	"io"

	"nettrace/source"
)

// tracingMax bounds what a pipe may hold as tracepoint formats.
const tracingMax = 64 << 20

// stream yields the records of a recording in the order of the file. Compressed records are taken apart.
type stream struct {
	order
	in     *source.Input
	end    int64 // of the data, -1 where only the input's end tells
	ledger *source.Ledger

	taken  int64 // bytes of the last record, still to be discarded
	number int64
	inner  *inflater // of compressed records, nil before the first
	tail   []byte    // behind a TRACING_DATA record
	ended  bool
}

func (s *stream) pos() source.Pos {
	return source.Pos{Source: s.in.Name(), Offset: s.in.Offset(), Record: s.number + 1}
}

// next reads the next record; false is the end.
func (s *stream) next(r *record) bool {
	for {
		if s.inner != nil && s.inner.next(s.order, r) {
			s.number++
			r.number = s.number
			return true
		}
		if !s.outer(r) {
			s.close()
			return false
		}
		if r.kind != recordCompressed && r.kind != recordCompressed2 {
			s.number++
			r.number = s.number
			return true
		}
		s.inflate(r)
	}
}

// outer reads a record as it is in the file.
func (s *stream) outer(r *record) bool {
	s.in.Discard(s.taken)
	s.taken = 0
	if s.ended || s.end >= 0 && s.in.Offset() >= s.end {
		return false
	}
	offset := s.in.Offset()
	head := s.in.Peek(recordHeaderSize)
	if len(head) == 0 && s.end < 0 {
		return false
	}
	if len(head) < recordHeaderSize {
		return s.cut("the input ends within a record's header; the records before it are read")
	}
	size := int(s.u16(head[6:]))
	if size < recordHeaderSize {
		s.ended = true
		s.ledger.Add("damaged-record", source.Warning, s.pos(), 1, fmt.Sprintf("a record says that it has %d bytes; 8 is the least; what follows cannot be read", size))
		return false
	}
	b := s.in.Peek(size)
	if len(b) < size {
		return s.cut("the input ends within a record; the records before it are read")
	}
	*r = record{kind: recordType(s.u32(b)), misc: s.u16(b[4:]), body: b[recordHeaderSize:size], offset: offset}
	s.taken = int64(size)
	return s.behind(r)
}

// behind deals with the two records that have a payload behind their size.
func (s *stream) behind(r *record) bool {
	switch {
	case r.kind == recordTracingData && len(r.body) >= 4:
		n := int64(s.u32(r.body))
		s.in.Discard(s.taken)
		s.taken, r.body = 0, nil
		tail, err := io.ReadAll(io.LimitReader(s.in, min(n, tracingMax)))
		if s.tail = tail; err != nil || int64(len(tail)) < n {
			return s.cut("the input ends within the formats of the tracepoints")
		}
	case r.kind == recordAuxtrace && len(r.body) >= 8:
		s.taken += int64(min(s.u64(r.body), 1<<62))
	}
	return true
}

func (s *stream) cut(text string) bool {
	s.ended = true
	s.ledger.Add("cut-input", source.Warning, s.pos(), 1, text)
	return false
}

// inflate hands the content of a compressed record to the decompressor. One zstd stream goes through all of them.
func (s *stream) inflate(r *record) {
	if s.inner == nil {
		s.inner = newInflater()
	}
	piece := r.body
	if r.kind == recordCompressed2 {
		if len(piece) < 8 {
			s.ledger.Add("damaged-record", source.Warning, s.pos(), 1, "a compressed record without its length; skipped")
			return
		}
		n := s.u64(piece)
		if n > uint64(len(piece)-8) { // the writer's 16 bits of size ran over: its own length counts
			n = min(n, 1<<20)
			s.in.Discard(recordHeaderSize + 8)
			s.taken = 0
			long, _ := io.ReadAll(io.LimitReader(s.in, int64(n)))
			s.taken = int64(-n) & 7
			piece = long
		} else {
			piece = piece[8 : 8+n]
		}
	}
	if err := s.inner.feed(piece, r.offset); err != nil {
		s.ledger.Add("compression-damaged", source.Warning, source.Pos{Source: s.in.Name(), Offset: r.offset, Record: s.number + 1}, 1, err.Error()+"; what is compressed behind it is lost")
	}
}

func (s *stream) close() {
	if s.inner == nil {
		return
	}
	if n := s.inner.close(); n > 0 {
		s.ledger.Add("cut-input", source.Warning, s.pos(), 1, fmt.Sprintf("the compressed records end within a record, %d bytes into it; the records before it are read", n))
	}
	s.inner = nil
}
