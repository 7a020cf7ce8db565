package perf

import (
	"cmp"
	"io"
	"math"
	"slices"
)

// Bounds on what waits to be put in order: records in memory, and how many wait. Beyond the first, records are read
// again from the file, if it can be; beyond the second, or if it cannot, the earlier half of what waits is handed on
// before it is known to be complete.
const (
	waitingBytes   = 8 << 20
	waitingRecords = 1 << 18
)

// queue puts records in the order of their times. The kernel's buffers, one for each CPU, are written to the file in
// turns, so that the order within it is not that of time; a FINISHED_ROUND record says that each buffer was written once
// more (tools/perf/util/ordered-events.c, Linux 6.1): what is not later than the latest time before the last round but
// one cannot be preceded by anything still to come.
type queue struct {
	at io.ReaderAt // nil where the input cannot be read again

	waiting  []waiting
	ready    int    // the first so many may be handed on; they are in order
	next     int    // of those, the first that was not yet
	round    uint64 // latest time before the last FINISHED_ROUND
	latest   uint64
	released uint64 // time up to which records were handed on

	arena   []byte
	pages   pages
	scratch []byte
}

// waiting is a record that waits.
type waiting struct {
	time   uint64
	offset int64
	arena  uint32 // where its body lies there; inFile if it is to be read again
	number uint32
	size   uint16 // of the body
	misc   uint16
	kind   uint8
}

const inFile = math.MaxUint32

// push takes a copy of a record. It reports false if there is no room: then release is due.
func (q *queue) push(r *record, time uint64) bool {
	w := waiting{time: time, offset: r.offset, arena: inFile, number: uint32(r.number), size: uint16(len(r.body)), misc: r.misc, kind: uint8(r.kind)}
	switch {
	case len(q.waiting) >= waitingRecords:
		return false
	case len(q.arena)+len(r.body) <= waitingBytes:
		w.arena = uint32(len(q.arena))
		q.arena = append(q.arena, r.body...)
	case q.at == nil:
		return false
	}
	q.waiting = append(q.waiting, w)
	q.latest = max(q.latest, time)
	return true
}

// finishRound makes ready what nothing can precede any more.
func (q *queue) finishRound() {
	limit := q.round
	q.round = q.latest
	q.sort()
	q.ready, _ = slices.BinarySearchFunc(q.waiting, limit, func(w waiting, limit uint64) int {
		if w.time <= limit {
			return -1
		}
		return 1
	})
}

// releaseHalf makes the earlier half ready.
func (q *queue) releaseHalf() {
	q.sort()
	q.ready = (len(q.waiting) + 1) / 2
}

// releaseAll makes everything ready.
func (q *queue) releaseAll() {
	q.sort()
	q.ready = len(q.waiting)
}

func (q *queue) sort() {
	slices.SortFunc(q.waiting, func(a, b waiting) int {
		if a.time != b.time {
			return cmp.Compare(a.time, b.time)
		}
		return cmp.Compare(a.number, b.number)
	})
	q.next = 0
}

// pop hands on the next record that is ready; it is valid until the next call. late reports that one with a later time
// was handed on before.
func (q *queue) pop(r *record) (late, ok bool) {
	if q.next == q.ready {
		q.compact()
		return false, false
	}
	w := &q.waiting[q.next]
	q.next++
	*r = record{kind: recordType(w.kind), misc: w.misc, body: q.body(w), offset: w.offset, number: int64(w.number)}
	late = w.time < q.released
	q.released = max(q.released, w.time)
	return late, true
}

func (q *queue) body(w *waiting) []byte {
	if w.arena != inFile {
		return q.arena[w.arena : int(w.arena)+int(w.size)]
	}
	if q.scratch == nil {
		q.scratch = make([]byte, math.MaxUint16)
	}
	b := q.scratch[:w.size]
	if !q.pages.read(q.at, b, w.offset+recordHeaderSize) {
		return b[:0] // the file has become shorter meanwhile
	}
	return b
}

// compact forgets what was handed on.
func (q *queue) compact() {
	if q.ready == 0 {
		return
	}
	n := copy(q.waiting, q.waiting[q.ready:])
	q.waiting = q.waiting[:n]
	q.ready, q.next = 0, 0
	q.moveArena()
}

// moveArena moves the bodies that still wait to the front of the arena, in the order in which they lie there.
func (q *queue) moveArena() {
	var kept []*waiting
	for i := range q.waiting {
		if q.waiting[i].arena != inFile {
			kept = append(kept, &q.waiting[i])
		}
	}
	slices.SortFunc(kept, func(a, b *waiting) int { return cmp.Compare(a.arena, b.arena) })
	end := 0
	for _, w := range kept {
		n := copy(q.arena[end:], q.arena[w.arena:int(w.arena)+int(w.size)])
		w.arena = uint32(end)
		end += n
	}
	q.arena = q.arena[:end]
}

// pages is a cache of the file for records that are read again: they come from as many places as there are CPUs, each
// of which is read forwards.
type pages struct {
	at    [128]int64 // number of the page in each slot, plus 1
	pages [128][]byte
}

const pageSize = 64 << 10

func (p *pages) read(at io.ReaderAt, b []byte, offset int64) bool {
	for len(b) > 0 {
		page, within := offset/pageSize, offset%pageSize
		content := p.page(at, page)
		if int64(len(content)) <= within {
			return false
		}
		n := copy(b, content[within:])
		b, offset = b[n:], offset+int64(n)
	}
	return true
}

func (p *pages) page(at io.ReaderAt, number int64) []byte {
	slot := number % int64(len(p.at))
	if p.at[slot] == number+1 {
		return p.pages[slot]
	}
	if p.pages[slot] == nil {
		p.pages[slot] = make([]byte, pageSize)
	}
	b := p.pages[slot][:pageSize]
	n, _ := at.ReadAt(b, number*pageSize) // an error shows as a page that is too short
	p.at[slot], p.pages[slot] = number+1, b[:n]
	return b[:n]
}
