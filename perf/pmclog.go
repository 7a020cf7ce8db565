package perf

// Logs of FreeBSD's hwpmc(4) as pmcstat -O writes them, of FreeBSD 8 to 15 (sys/sys/pmclog.h), of either byte order and
// 32 or 64 bits:
//
//	00000000  70 00 03 ee 00 00 00 00  10 32 54 76 98 00 00 00  (INITIALIZE, 112 bytes, time stamp)
//	00000010  00 00 03 0a 03 00 00 00  00 94 35 77 00 00 00 00  (version, CPU, time stamps a second ...)
//	00000070  48 00 0f ee 00 00 00 00  ...                      (MAP_IN, 72 bytes)
//
// A record is a word (0xEE, type, length), a time, and its fields. Up to FreeBSD 11 the time is in seconds and
// nanoseconds, and types are one less from CLOSELOG on; since 12 it is a counter whose rate the first record tells. Numbers of 8 bytes are written low
// word first on every machine. Sources: sys/sys/pmclog.h and sys/dev/hwpmc/hwpmc_logging.c of FreeBSD 9.3, 14 and 15,
// lib/libpmc/pmclog.c, lib/libpmcstat.
//
// Left out: counts of whole processes (PROCCSW, PROCEXIT's values), IBS parts of multipart chains, user data.

import (
	"fmt"
	"io"
	"strings"

	"nettrace/source"
	"nettrace/symbol"
	"nettrace/unit"
)

// pmcRecord is the type of a record of FreeBSD 12 and later; older ones are brought to these.
type pmcRecord uint8

const (
	pmcCloseLog      pmcRecord = 1
	pmcDrop          pmcRecord = 2
	pmcInitialize    pmcRecord = 3
	pmcMappingChange pmcRecord = 100 // of FreeBSD 6 only
	pmcSample        pmcRecord = 101 // one address, up to FreeBSD 11
	pmcAllocate      pmcRecord = 5
	pmcProcExec      pmcRecord = 9
	pmcProcFork      pmcRecord = 11
	pmcMapIn         pmcRecord = 14
	pmcMapOut        pmcRecord = 15
	pmcCallchain     pmcRecord = 16
	pmcAllocateDyn   pmcRecord = 17
	pmcThreadCreate  pmcRecord = 18
	pmcThreadExit    pmcRecord = 19
	pmcProcCreate    pmcRecord = 20
)

// pmcOld are the types of FreeBSD 11 and older that have another number since.
func pmcOld(kind uint8) pmcRecord {
	switch kind {
	case 0, 1, 2:
		return pmcRecord(kind + 1)
	case 3:
		return pmcMappingChange
	case 4:
		return pmcSample
	}
	return pmcRecord(kind)
}

const (
	pmcMagic      = 0xee
	pmcInitOld    = 20
	pmcNoProcess  = -1
	pmcKernel     = "kernel"
	pmcUserCycles = 1 // bit of a chain's flags: from user mode
	pmcMultipart  = 2
)

// SniffPMCLog reports whether a log of hwpmc begins at head: its first record is always the same.
func SniffPMCLog(head []byte) source.Match {
	if _, ok := pmcOpening(head); ok {
		return source.Strong
	}
	return source.No
}

// pmcOpening reads the word of the first record.
func pmcOpening(head []byte) (o order, ok bool) {
	if len(head) < pmcInitOld {
		return o, false
	}
	o.big = head[0] == pmcMagic && head[3] != pmcMagic
	word := o.u32(head)
	length := word & 0xffff
	old := word>>16&0xff == 2 && length == pmcInitOld
	recent := word>>16&0xff == 3 && (length == 104 || length == 112)
	return o, word>>24 == pmcMagic && (old || recent)
}

// PMCLogReader reads samples from a log of hwpmc.
type PMCLogReader struct {
	order
	in      *source.Input
	ledger  *source.Ledger
	symbols *symbol.Files

	old       bool // of FreeBSD 11 or older
	version   uint32
	cpu       string
	frequency uint64 // of the time stamps, a second; 0 where it is not told
	begin     uint64 // time stamp of the first record
	wide      bool   // addresses have 8 bytes

	taken     int
	body      cursor // of the current record
	number    int64
	ended     bool
	events    map[uint32]*pmcEvent
	processes processes
	objects   map[string]*object
	functions functions
	event     Event
	drops     int64
	dropAt    source.Pos
	unknown   int64
	unknownAt source.Pos
}

// pmcEvent is an allocated counter.
type pmcEvent struct {
	name string
	rate int64 // events from one sample to the next, 0 where it is not told
}

// NewPMCLogReader reads the head of a log.
func NewPMCLogReader(in *source.Input, ledger *source.Ledger, symbols *symbol.Files) (*PMCLogReader, error) {
	if symbols == nil {
		symbols = &symbol.Files{}
	}
	r := &PMCLogReader{in: in, ledger: ledger, symbols: symbols, wide: true, events: map[uint32]*pmcEvent{}, objects: map[string]*object{},
		processes: newProcesses(), functions: newFunctions(newNameTable())}
	r.processes.threads = map[int32]*thread{pmcNoProcess: {pid: pmcNoProcess, comm: pmcKernel}}
	o, ok := pmcOpening(in.Peek(pmcInitOld))
	if !ok {
		return nil, &source.SyntaxError{Pos: in.Pos(), Msg: "no log of hwpmc: it begins with another record than all of them do; copy the file again"}
	}
	r.order = o
	r.old = o.u32(in.Peek(4))>>16&0xff == 2
	return r, nil
}

// Header returns what the log tells of itself.
func (r *PMCLogReader) Header() Header {
	version := fmt.Sprintf("pmclog %d.%d", r.version>>24, r.version>>16&0xff)
	return Header{CPU: r.cpu, Version: version}
}

// Lost returns how often the kernel said that it dropped samples; not how many.
func (r *PMCLogReader) Lost() Lost { return Lost{Chunks: r.drops} }

// SymbolFiles returns the files that gave names to functions of the log.
func (r *PMCLogReader) SymbolFiles() []string { return r.symbols.Used() }

func (r *PMCLogReader) pos() source.Pos {
	return source.Pos{Source: r.in.Name(), Offset: r.in.Offset(), Record: r.number}
}

// Next returns the next sample; the error is io.EOF at the end, damage is in the ledger.
func (r *PMCLogReader) Next() (*Event, error) {
	for {
		kind, time, c, ok := r.next()
		if !ok {
			r.finish()
			return nil, io.EOF
		}
		if kind == pmcCallchain || kind == pmcSample {
			if r.chain(kind, time, c) {
				return &r.event, nil
			}
		} else {
			r.apply(kind, time, c)
		}
		if c.short {
			r.ledger.Add("damaged-record", source.Warning, r.pos(), 1, fmt.Sprintf("a record of type %d is too short for what it should hold; skipped", kind))
		}
	}
}

// next takes the next record apart as far as all are alike.
func (r *PMCLogReader) next() (kind pmcRecord, time uint64, c *cursor, ok bool) {
	r.in.Discard(int64(r.taken))
	r.taken = 0
	head := r.in.Peek(4)
	if len(head) == 0 || r.ended {
		return 0, 0, nil, false
	}
	r.number++
	if len(head) < 4 {
		return r.damaged("cut-input", "the input ends within a record; the samples before it are read")
	}
	word := r.u32(head)
	size, headSize := int(word&0xffff), 16
	if r.old {
		headSize = 12
	}
	switch {
	case word>>24 != pmcMagic || size < headSize || size%4 != 0:
		return r.damaged("damaged-record", fmt.Sprintf("no record begins here: its first word is 0x%08x; what follows cannot be read", word))
	}
	b := r.in.Peek(size)
	if len(b) < size {
		return r.damaged("cut-input", "the input ends within a record; the samples before it are read")
	}
	r.taken = size
	kind = pmcRecord(word >> 16)
	if r.old {
		kind = pmcOld(uint8(word >> 16))
		time = uint64(r.u32(b[4:]))*1e9 + uint64(r.u32(b[8:]))
	} else {
		time = r.u64(b[8:])
	}
	r.body = cursor{order: r.order, b: b[headSize:]}
	return kind, time, &r.body, true
}

func (r *PMCLogReader) damaged(name, text string) (pmcRecord, uint64, *cursor, bool) {
	r.ended = true
	r.ledger.Add(name, source.Warning, r.pos(), 1, text)
	return 0, 0, nil, false
}

// address takes one of the machine's width.
func (r *PMCLogReader) address(c *cursor) uint64 {
	low := uint64(c.uint32())
	if !r.wide {
		return low
	}
	return low | uint64(c.uint32())<<32
}

// long takes a number of 8 bytes, low word first.
func long(c *cursor) uint64 {
	low := uint64(c.uint32())
	return low | uint64(c.uint32())<<32
}

// when is a time since the log began.
func (r *PMCLogReader) when(time uint64) (at unit.Nanos, ok bool) {
	switch {
	case time < r.begin:
		return 0, r.old || r.frequency > 0
	case r.old:
		return nanos(time - r.begin), true
	case r.frequency == 0:
		return 0, false
	}
	ticks := time - r.begin
	return nanos(ticks/r.frequency*1e9 + ticks%r.frequency*1e9/r.frequency), true
}

// apply takes a record that is no sample.
func (r *PMCLogReader) apply(kind pmcRecord, time uint64, c *cursor) {
	switch kind {
	case pmcInitialize:
		r.initialize(time, c)
	case pmcDrop:
		if r.drops == 0 {
			r.dropAt = r.pos()
		}
		r.drops++
	case pmcAllocate, pmcAllocateDyn:
		r.allocate(kind, c)
	case pmcMapIn, pmcMapOut, pmcMappingChange, pmcProcExec, pmcProcFork:
		r.image(kind, c)
	case pmcThreadCreate:
		tid, pid, _, _ := int32(c.uint32()), int32(c.uint32()), c.uint32(), c.uint32()
		r.processes.comm(pid, tid, r.functions.intern([]byte(cString(c.b))), false)
	case pmcProcCreate:
		pid, _ := int32(c.uint32()), c.uint32()
		r.processes.comm(pid, pid, r.functions.intern([]byte(cString(c.b))), false)
	default:
		if kind > pmcProcCreate {
			if r.unknown == 0 {
				r.unknownAt = r.pos()
			}
			r.unknown++
		}
	}
}

func (r *PMCLogReader) initialize(time uint64, c *cursor) {
	r.version = c.uint32()
	c.uint32() // CPU's number in libpmc
	r.begin = time
	if r.old || len(c.b) < 8+8 {
		return
	}
	r.frequency = r.u64(c.bytes(8))
	c.bytes(uint64(len(c.b) - 64)) // wall time
	r.cpu = cString(c.b)
}

// allocate names a counter.
func (r *PMCLogReader) allocate(kind pmcRecord, c *cursor) {
	id, event, _ := c.uint32(), c.uint32(), c.uint32()
	e := &pmcEvent{name: fmt.Sprintf("class-%d:%d", id>>8&0xff, event)}
	if !r.old {
		c.uint32()
		// The rate was added in front of the name without the record growing: where it stands the name begins 8 bytes later.
		if kind == pmcAllocate || len(c.b) > 8 && !printable(c.b[0]) {
			e.rate = int64(min(long(c), 1<<62))
		}
	}
	if kind == pmcAllocateDyn {
		if name := cString(c.b); name != "" {
			e.name = name
		}
	}
	if len(r.events) < 1<<16 {
		r.events[id] = e
	}
}

func printable(b byte) bool { return b > ' ' && b < 0x7f }

// finish enters what the whole log says into the ledger.
func (r *PMCLogReader) finish() {
	if r.drops > 0 {
		r.ledger.Add("recorder-loss", source.Warning, r.dropAt, r.drops, "the kernel dropped samples here, it does not say how many; shares may be off. A lower rate (-n) or larger buffers (kern.hwpmc.nbuffers_pcpu) help")
		r.drops = 0
	}
	if r.unknown > 0 {
		r.ledger.Add("unknown-record", source.Note, r.unknownAt, r.unknown, "records of types that are not known here; skipped")
		r.unknown = 0
	}
	missing := missing(r.objects)
	if len(missing) > 0 {
		frames := int64(0)
		for _, m := range missing {
			frames += m.frames
		}
		r.ledger.Add("unresolved-frames", source.Note, source.Pos{Source: r.in.Name(), Record: 1}, frames,
			"these frames have no function: give --symbols with the folder that holds "+strings.Join(missNames(missing), ", "))
	}
}
