package lockstat

import (
	"bytes"
	"fmt"
	"math"

	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// contentionPairs pairs contention_begin with contention_end.
type contentionPairs struct {
	p      *Pairing
	b      *builder
	open   map[pairKey]openWait
	queues map[uint64]*waitQueue
	bin    [1]Bin
}

// openWait is a wait whose end was not met yet.
type openWait struct {
	begin, phase unit.Nanos // of the wait, and of spinning or blocking
	spun         unit.Nanos // in phases that ended
	flags        lockFlags
	changed      bool // spun and blocked
	cpu          int
	stack        *lockStack
	thread       string
	pos          source.Pos
}

// waitQueue is who waits for one lock.
type waitQueue struct {
	name    string
	lock    int // in the table, -1 before the first wait has ended
	waiting int64
	most    int64
	since   unit.Nanos
	waited  unit.Nanos
	owner   int  // CPU that got it last, -1 before
	broken  bool // a wait lost its end, so that waiting is not known
}

func newContentionPairs(p *Pairing, pos source.Pos) *contentionPairs {
	return &contentionPairs{p: p, b: p.newPairs(pos, lockEvents[contentionBegin]), open: map[pairKey]openWait{}, queues: map[uint64]*waitQueue{}}
}

func (c *contentionPairs) take(which int, e *perf.Event, lock uint64, rest []byte) {
	if which == contentionBegin {
		c.begin(e, lock, rest)
		return
	}
	c.endWait(e, lock, rest)
}

// begin opens a wait. A mutex is spun on first and slept for then: each phase has a begin and the whole one end
// (kernel/locking/mutex.c), so a second begin goes on with the first.
func (c *contentionPairs) begin(e *perf.Event, lock uint64, rest []byte) {
	flags, ok := parseLockFlags(rest)
	if !ok {
		c.p.ledger.Add("damaged-event", source.Warning, e.Pos, 1, e.Name+" without flags; left out")
		return
	}
	key, q := keyOf(e, lock), c.queue(lock)
	w, waiting := c.open[key]
	if waiting && w.flags&flags&flagMutex != 0 {
		w.turn(e.Time)
		w.changed = w.changed || w.flags != flags
		w.flags = flags
		c.open[key] = w
		return
	}
	if waiting {
		c.b.lose("begin-without-end", source.Warning, w.pos, 1, "a thread began to wait for a lock for which it already waited: the end of the earlier wait was lost; it is in no sum")
		q.broken = true
	} else if len(c.open) >= maxPairs {
		c.b.lose("too-many-waits", source.Warning, e.Pos, 1, "more than 65,536 threads wait at once; the waits of further ones are left out")
		return
	} else {
		q.enter(e.Time)
	}
	c.open[key] = openWait{begin: e.Time, phase: e.Time, flags: flags, cpu: cpuOf(e), stack: c.p.stacks.find(e.Stack), thread: e.Comm, pos: e.Pos}
}

// turn ends a phase of a wait.
func (w *openWait) turn(now unit.Nanos) {
	if w.flags&flagSpin != 0 && now > w.phase {
		w.spun = sum(w.spun, now-w.phase)
	}
	w.phase = now
}

// endWait closes a wait and adds it to its lock.
func (c *contentionPairs) endWait(e *perf.Event, lock uint64, rest []byte) {
	key := keyOf(e, lock)
	w, waiting := c.open[key]
	if !waiting {
		c.b.ledger.Add("end-without-begin", source.Note, e.Pos, 1, "a wait ended whose begin is not in the recording, as where it began during a wait; left out")
		return
	}
	delete(c.open, key)
	q := c.queue(lock)
	q.leave(e.Time)
	w.turn(e.Time)
	row := c.row(&w, e, q)
	if ret, ok := perfReturn(rest); ok && ret != 0 {
		c.b.ledger.Add("waits-given-up", source.Note, e.Pos, 1, "waits that ended without the lock, by a signal or a time-out; they count as waits")
	} else {
		q.owner = cpuOf(e)
	}
	if reason := w.impossible(e); reason != "" {
		c.b.quarantine(row, reason)
		return
	}
	if c.p.rows {
		c.b.keepPair(row)
	}
	q.lock = c.b.add(q.name, q.name, &row)
}

// row is a wait as a row of a table.
func (c *contentionPairs) row(w *openWait, e *perf.Event, q *waitQueue) Row {
	wait := max(e.Time-w.begin, 0)
	c.bin[0] = powerBin(wait)
	row := Row{Pos: w.pos, Act: w.flags.act(), Kind: w.flags.kind(), Lock: q.name, Address: q.name, Caller: w.stack.caller, Thread: w.thread, Stack: w.stack.frames,
		Wait: Measured{Count: 1, Total: wait, Mean: wait, Min: wait, Max: wait, Exact: true, Bins: c.bin[:]}}
	if w.changed {
		row.Act, row.Spun = Wait, min(w.spun, wait)
	}
	if q.owner >= 0 && q.owner != cpuOf(e) {
		row.Bounces = 1
	}
	return row
}

// impossible says why a pair cannot be one wait.
func (w *openWait) impossible(e *perf.Event) string {
	switch {
	case e.Time < w.begin:
		return fmt.Sprintf("the wait ends %s before it begins", w.begin-e.Time)
	case w.flags&flagSpin != 0 && w.flags&flagMutex == 0 && w.cpu >= 0 && e.HasCPU && w.cpu != e.CPU:
		return fmt.Sprintf("a thread cannot move from CPU %d to %d while it spins: the end of one wait and the begin of another were lost", w.cpu, e.CPU)
	}
	return ""
}

func (c *contentionPairs) queue(lock uint64) *waitQueue {
	q, known := c.queues[lock]
	if !known {
		q = &waitQueue{name: hexAddress(lock), lock: -1, owner: -1}
		if len(c.queues) >= maxPairs { // it is one lock only as long as this event is looked at
			q.name, q.broken = otherLocks, true
			return q
		}
		c.queues[lock] = q
	}
	return q
}

func (q *waitQueue) enter(now unit.Nanos) {
	if q.waiting++; q.waiting == 1 {
		q.since = now
	}
	q.most = max(q.most, q.waiting)
}

func (q *waitQueue) leave(now unit.Nanos) {
	if q.waiting--; q.waiting == 0 && now > q.since {
		q.waited = sum(q.waited, now-q.since)
	}
}

// end closes what is open.
func (c *contentionPairs) end() *builder {
	if c == nil {
		return nil
	}
	if n := len(c.open); n > 0 {
		first := source.Pos{Offset: math.MaxInt64}
		for _, w := range c.open {
			if w.pos.Offset < first.Offset {
				first = w.pos
			}
		}
		c.b.lose("wait-without-end", source.Note, first, int64(n), "threads still waited where the recording ends; these waits are in no sum")
	}
	for _, q := range c.queues {
		c.close(q)
	}
	t := c.b.table
	for i := range t.Locks {
		t.Total.WaitersMax, t.Total.Waited = max(t.Total.WaitersMax, t.Locks[i].WaitersMax), sum(t.Total.Waited, t.Locks[i].Waited)
	}
	return c.b
}

func (c *contentionPairs) close(q *waitQueue) {
	if q.lock < 0 || q.broken {
		return
	}
	if q.waiting > 0 && c.p.last > q.since {
		q.waited = sum(q.waited, c.p.last-q.since)
	}
	l := &c.b.table.Locks[q.lock]
	l.WaitersMax, l.Waited = max(l.WaitersMax, q.most), sum(l.Waited, q.waited)
}

func cpuOf(e *perf.Event) int {
	if !e.HasCPU {
		return -1
	}
	return e.CPU
}

// perfReturn reads "(ret=-4)".
func perfReturn(rest []byte) (int64, bool) {
	text, ok := bytes.CutPrefix(rest, []byte("(ret="))
	if !ok {
		return 0, false
	}
	return perf.Number(text)
}
