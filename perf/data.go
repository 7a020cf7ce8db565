package perf

// Recordings of perf(1) as they are: perf.data, little- or big-endian, as a file or from a pipe (perf record -o -), with
// compressed records (-z):
//
//	00000000  50 45 52 46 49 4c 45 32  68 00 00 00 00 00 00 00  PERFILE2h.......
//	00000010  90 00 00 00 00 00 00 00  b8 00 00 00 00 00 00 00  (attrs, data, features)
//	00000148  01 00 00 00 01 00 50 00  ff ff ff ff 00 00 00 00  (MMAP of the kernel ...)
//
// Sources: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/{header,session,ordered-events,machine,
// map}.c and include/uapi/linux/perf_event.h of Linux 6.1.
//
// Left out: branch records, registers and the copies of user stacks that DWARF unwinding needs (such samples have their
// kernel chain only, which is counted), AUX traces (Intel PT, CoreSight), guests' symbols, the first format (PERFFILE of
// 2009 to 2011), folders of perf record --threads.

import (
	"fmt"
	"io"
	"os"

	"nettrace/source"
	"nettrace/symbol"
	"nettrace/unit"
)

// DataOptions say how a recording is read.
type DataOptions struct {
	At      io.ReaderAt   // the whole input, if it can be read from any place; it is copied to a temporary file otherwise
	Size    int64         // of At
	Symbols *symbol.Files // names of functions; without them addresses stay unresolved
	Inlined bool          // functions that the compiler inlined get frames of their own, where DWARF tells
}

// DataReader reads samples from a recording, in the order of their times.
type DataReader struct {
	order
	in      *source.Input
	at      io.ReaderAt
	ledger  *source.Ledger
	symbols *symbol.Files
	inlined bool
	spooled *os.File

	stream    stream
	queue     queue
	events    events
	header    Header
	clock     clockData
	builds    map[string]string // ids by name of the object
	objects   map[objectKey]*object
	processes processes
	kernel    kernel
	functions functions
	loss      loss

	space    *space // of spacePID
	spacePID int32
	cache    []cached

	arrived record // the last one read
	full    bool   // and there was no room for it
	record  record // the last one in order
	raw     rawSample
	group   []*Event         // members of a group read that are still to be handed on
	last    map[uint64]int64 // last value of each counter of a group
	event   Event
	ended   bool
	closed  bool
	counts  counts
}

// clockData ties the recording's clock to wall time: both at the same moment.
type clockData struct {
	id         int32
	wall, time uint64
}

// counts are the samples that are not as they should be.
type counts struct {
	samples, frames, unmapped       int64
	late, left, unknownID, branches int64
	unwound                         int64
	unknownRecords                  int64
	firstLate, firstLeft, firstID   source.Pos
	firstUnwound, firstBranches     source.Pos
	firstRecord, firstMiss          source.Pos
}

// NewDataReader reads the head of a recording. Damage goes to the ledger; the error is that of an input that is no
// recording that can be read.
func NewDataReader(in *source.Input, ledger *source.Ledger, o DataOptions) (*DataReader, error) {
	if o.Symbols == nil {
		o.Symbols = &symbol.Files{}
	}
	r := &DataReader{in: in, at: o.At, ledger: ledger, symbols: o.Symbols, inlined: o.Inlined, builds: map[string]string{}, objects: map[objectKey]*object{},
		processes: newProcesses(), functions: newFunctions(newNameTable()), cache: make([]cached, cacheSize), last: map[uint64]int64{}}
	h, size, err := parseHeader(in.Peek(fileHeaderSize))
	if err != nil {
		return nil, r.syntax(0, err)
	}
	r.order, r.events = h.order, newEvents(h.order)
	r.stream = stream{order: h.order, in: in, end: -1, ledger: ledger}
	if h.pipe {
		in.Discard(int64(size))
		return r, nil
	}
	if err := r.file(&h, o.Size); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// file reads what stands around the data of a file.
func (r *DataReader) file(h *fileHeader, size int64) error {
	if r.at == nil {
		if err := r.spool(&size); err != nil {
			return err
		}
	}
	r.queue.at = r.at
	if err := r.readAttrs(h, uint64(size)); err != nil {
		return err
	}
	r.readFeatures(h, uint64(size))
	r.events.nameRest()
	r.stream.in = r.in
	if h.data.offset > uint64(size) {
		return r.syntax(40, fmt.Errorf("the data begin at byte %d of %d; the file was cut, copy it again", h.data.offset, size))
	}
	r.in.Discard(int64(h.data.offset) - r.in.Offset())
	if h.data.size > 0 {
		r.stream.end = int64(min(h.data.offset+h.data.size, 1<<62))
	}
	return nil
}

// spool copies an input that can only be read once to a temporary file: the names of the events stand behind the data.
func (r *DataReader) spool(size *int64) error {
	f, err := os.CreateTemp("", "nettrace-*.perf.data")
	if err != nil {
		return fmt.Errorf("%s: a recording from a stream is copied to a temporary file: %w", r.in.Name(), err)
	}
	r.spooled = f
	n, err := io.Copy(f, r.in)
	if err != nil {
		return fmt.Errorf("%s: a recording from a stream is copied to a temporary file: %w", r.in.Name(), err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r.at, *size = f, n
	r.in = source.NewInput(r.in.Name(), f)
	return nil
}

// Close ends the reader; it is needed after an error, and does no harm after the last sample.
func (r *DataReader) Close() error {
	if r.spooled == nil {
		return nil
	}
	f := r.spooled
	r.spooled = nil
	f.Close()
	return os.Remove(f.Name())
}

func (r *DataReader) readAttrs(h *fileHeader, size uint64) error {
	if h.attrSize < attrSizeMin+16 || !h.attrs.within(size) || h.attrs.size/h.attrSize > attrsMax {
		return r.syntax(16, fmt.Errorf("the table of events (%d bytes of %d each at byte %d) does not lie in the file of %d bytes; copy it again", h.attrs.size, h.attrSize, h.attrs.offset, size))
	}
	for at := h.attrs.offset; at+h.attrSize <= h.attrs.offset+h.attrs.size; at += h.attrSize {
		entry := make([]byte, min(h.attrSize, 4096))
		if _, err := r.at.ReadAt(entry, int64(at)); err != nil && err != io.EOF {
			return r.syntax(int64(at), err)
		}
		if h.attrSize > uint64(len(entry)) {
			return r.syntax(int64(at), fmt.Errorf("an event description of %d bytes; the largest known has 152", h.attrSize))
		}
		a, err := parseAttr(h.order, entry[:h.attrSize-16])
		if err != nil {
			return r.syntax(int64(at), err)
		}
		ids := section{h.u64(entry[h.attrSize-16:]), h.u64(entry[h.attrSize-8:])}
		if !ids.within(size) || ids.size > 8*idsMax {
			r.ledger.Add("damaged-section", source.Warning, r.posAt(int64(at)), 1, "the IDs of an event do not lie in the file; its samples may not be told from others")
			ids.size = 0
		}
		b := make([]byte, ids.size)
		if _, err := r.at.ReadAt(b, int64(ids.offset)); err != nil && err != io.EOF {
			return r.syntax(int64(ids.offset), err)
		}
		r.events.add(a, b)
	}
	if len(r.events.attrs) == 0 {
		return r.syntax(24, fmt.Errorf("no events were recorded; expected at least one"))
	}
	return nil
}

func (r *DataReader) syntax(offset int64, err error) error {
	return &source.SyntaxError{Pos: r.posAt(offset), Msg: err.Error()}
}

func (r *DataReader) posAt(offset int64) source.Pos {
	return source.Pos{Source: r.in.Name(), Offset: offset}
}

func (r *DataReader) pos(rec *record) source.Pos {
	return source.Pos{Source: r.in.Name(), Offset: rec.offset, Record: rec.number}
}

// Header returns what the recording tells of itself; of a pipe it is complete after the first sample.
func (r *DataReader) Header() Header { return r.header }

// Lost returns what the recorder said that it lost; it is complete after the last sample.
func (r *DataReader) Lost() Lost { return Lost{Events: int64(min(r.loss.total(), 1<<62))} }

// Next returns the next sample; the error is io.EOF at the end, damage is in the ledger.
func (r *DataReader) Next() (*Event, error) {
	for {
		if n := len(r.group); n > 0 {
			e := r.group[0]
			r.group = r.group[1:]
			return e, nil
		}
		late, ok := r.queue.pop(&r.record)
		if ok {
			if late {
				r.count(&r.counts.late, &r.counts.firstLate)
			}
			if e := r.take(&r.record); e != nil {
				return e, nil
			}
			continue
		}
		if r.ended {
			r.finish()
			return nil, io.EOF
		}
		if e := r.read(); e != nil {
			return e, nil
		}
	}
}

// read takes the next record of the file: into the queue, if it has its time.
func (r *DataReader) read() *Event {
	rec := &r.arrived
	if !r.full && !r.stream.next(rec) {
		r.ended = true
		r.queue.releaseAll()
		return nil
	}
	r.full = false
	if rec.kind >= recordTool {
		r.tool(rec)
		return nil
	}
	time := r.time(rec)
	if time == 0 || time == ^uint64(0) {
		r.record = *rec
		return r.take(&r.record)
	}
	if !r.queue.push(rec, time) {
		r.queue.releaseHalf()
		r.full = true // the record stays the stream's current one, and is pushed when there is room
	}
	return nil
}

func (r *DataReader) count(n *int64, first *source.Pos) {
	if *n == 0 {
		*first = r.pos(&r.record)
	}
	*n++
}

func nanos(t uint64) unit.Nanos { return unit.Nanos(min(t, 1<<63-1)) }
