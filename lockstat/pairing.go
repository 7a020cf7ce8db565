package lockstat

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"

	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// Raw lock events of Linux, recorded with perf lock record or perf record -e 'lock:*' and printed by perf script, or read
// from ftrace (include/trace/events/lock.h of 5.19 to 6.18 for the first two, of any version for the others):
//
//	stress-ng-mmap   700 [001]  1296.049883: lock:contention_begin: 0xffff888627c2ba80 (flags=SPIN)
//	stress-ng-mmap   700 [001]  1296.050105:   lock:contention_end: 0xffff888627c2ba80 (ret=0)
//	          uperf 10469 [003]   621.000803:   lock:lock_acquire: 0xffffffff8b2a1c60 read tasklist_lock
//
// A wait is the time between contention_begin and contention_end of one thread and one address; threads may wait for
// several locks at once, since interrupts take locks too. Kernels with lockdep also tell acquisitions, whose holds last
// from lock_acquired to lock_release; there the lock has a name, and the address is that of lockdep's own record, so that
// the two kinds of events cannot be joined: they make a table each.

// Pairing pairs the lock events of one recording. It is bounded by the number of locks, places and waits at once.
type Pairing struct {
	start      source.Pos
	ledger     *source.Ledger
	stacks     *lockStacks // nil before the first event: most recordings have none
	contention *contentionPairs
	lockdep    *lockdepPairs

	first, last unit.Nanos // times of lock events
	events      [len(lockEvents)]Event
	nanos       bool // times are finer than microseconds
	cpus        int  // one more than the highest that was seen
	rows        bool
}

// lockEvents are the events that are paired, in the order of Pairing.events.
var lockEvents = [...]string{contentionBegin: "lock:contention_begin", contentionEnd: "lock:contention_end", lockAcquire: "lock:lock_acquire", lockContended: "lock:lock_contended", lockAcquired: "lock:lock_acquired", lockRelease: "lock:lock_release"}

const (
	contentionBegin = iota
	contentionEnd
	lockAcquire
	lockContended
	lockAcquired
	lockRelease
)

// maxPairs bounds how many threads may wait or hold at once.
const maxPairs = 1 << 16

// NewPairing begins the pairing of a recording that begins at start.
func NewPairing(start source.Pos, ledger *source.Ledger) *Pairing {
	return &Pairing{start: start, ledger: ledger}
}

// Recording is what is known of a recording beside its events.
type Recording struct {
	CPUs int        // 0 where not known
	Span unit.Nanos // from the first event of any kind to the last; 0 where not known
	Lost int64      // events or chunks of events that were lost
}

// Event takes an event, and leaves all that are not of locks.
func (p *Pairing) Event(e *perf.Event) {
	name, ok := strings.CutPrefix(e.Name, "lock:")
	if !ok {
		return
	}
	for i := range lockEvents {
		if lockEvents[i][len("lock:"):] == name {
			p.take(i, e)
			return
		}
	}
}

func (p *Pairing) take(which int, e *perf.Event) {
	at, rest, ok := lockAddress(e.Payload)
	switch {
	case !ok:
		p.ledger.Add("damaged-event", source.Warning, e.Pos, 1, e.Name+" without the address of a lock; left out")
		return
	case !e.HasTime:
		p.ledger.Add("event-without-time", source.Warning, e.Pos, 1, "lock events without a time cannot be paired; print them with perf script -F +time")
		return
	case !e.HasTID && !e.HasCPU:
		p.ledger.Add("event-without-thread", source.Warning, e.Pos, 1, "lock events without thread and CPU cannot be paired; print them with perf script -F +tid,+cpu")
		return
	}
	if p.stacks == nil {
		p.stacks = newLockStacks()
	}
	p.note(which, e)
	if which <= contentionEnd {
		if p.contention == nil {
			p.contention = newContentionPairs(p, e.Pos)
		}
		p.contention.take(which, e, at, rest)
		return
	}
	if p.lockdep == nil {
		p.lockdep = newLockdepPairs(p, e.Pos)
	}
	p.lockdep.take(which, e, at, rest)
}

// note keeps what the whole recording tells: its span, its CPUs, the number of events.
func (p *Pairing) note(which int, e *perf.Event) {
	count := &p.events[which]
	if count.Count++; count.Count == 1 {
		count.Name, count.Number, count.Pos = e.Name, -1, e.Pos
	}
	if p.last == 0 && p.first == 0 {
		p.first, p.last = e.Time, e.Time
	}
	p.first, p.last = min(p.first, e.Time), max(p.last, e.Time)
	p.nanos = p.nanos || e.Time%unit.Microsecond != 0
	if e.HasCPU {
		p.cpus = max(p.cpus, e.CPU+1)
	}
}

// Tables ends the recording. There is a table for each kind of lock events in it, none without any.
func (p *Pairing) Tables(r Recording) []*Table {
	tables := []*Table{}
	for _, pairs := range []interface{ end() *builder }{p.contention, p.lockdep} {
		b := pairs.end()
		if b == nil {
			continue
		}
		t := b.table
		t.Seconds, t.CPUs = max(r.Span, p.last-p.first).Seconds(), max(r.CPUs, p.cpus)
		for i := range p.events {
			if e := &p.events[i]; e.Count > 0 && (i <= contentionEnd) == (t.Tool.Program == lockEvents[contentionBegin]) {
				e.Shown = e.Count
				t.Events = append(t.Events, *e)
			}
		}
		b.lose("span-of-events", source.Note, t.Pos, 1, "the time from the first event to the last is taken for the length of the recording")
		if !p.nanos {
			b.lose("microseconds", source.Note, t.Pos, 1, "times are printed in microseconds, so that each wait may be off by one; perf script --ns prints them whole")
		}
		if r.CPUs == 0 && t.CPUs > 0 {
			b.lose("cpus-of-events", source.Note, t.Pos, 1, fmt.Sprintf("the recording does not say how many CPUs there were: %d, up to the highest that a lock event came from", t.CPUs))
		}
		if r.Lost > 0 {
			b.lose("events-lost", source.Warning, b.table.Pos, r.Lost, "events were lost in recording: a wait whose end is lost is left out, one that lost an end and a begin is too long")
		}
		tables = append(tables, b.finish())
	}
	return tables
}

// newPairs makes the builder of one kind of events.
func (p *Pairing) newPairs(pos source.Pos, program string) *builder {
	pos.Source = p.start.Source
	b := newBuilder(pos, Tool{Program: program, System: "Linux"}, ByLock, p.ledger)
	b.shared = true
	return b
}

// lockAddress reads the address that a payload begins with, "0xffff888627c2ba80 (flags=SPIN)"; ftrace prints it without
// 0x, as a hash.
func lockAddress(payload []byte) (at uint64, rest []byte, ok bool) {
	text := bytes.TrimPrefix(payload, []byte("0x"))
	n := 0
	for ; n < len(text) && text[n] > ' '; n++ {
		digit := hexDigit(text[n])
		if digit > 15 || n == 16 {
			return 0, nil, false
		}
		at = at<<4 | uint64(digit)
	}
	return at, bytes.TrimLeft(text[n:], " "), n > 0
}

func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 0xff
}

// pairKey is whose wait or hold it is. The idle threads of all CPUs have the number 0, so there the CPU tells them apart.
type pairKey struct {
	thread int
	cpu    int
	lock   uint64
}

func keyOf(e *perf.Event, lock uint64) pairKey {
	if e.HasTID && e.TID != 0 {
		return pairKey{e.TID, -1, lock}
	}
	return pairKey{0, e.CPU, lock}
}

// powerBin puts a time into the bin of its power of two.
func powerBin(v unit.Nanos) Bin {
	if v <= 0 {
		return Bin{0, 0, 1}
	}
	n := bits.Len64(uint64(v))
	if n > 62 {
		return Bin{1 << 62, 1<<63 - 1, 1}
	}
	return Bin{1 << (n - 1), 1 << n, 1}
}

func hexAddress(lock uint64) string { return fmt.Sprintf("0x%x", lock) }
