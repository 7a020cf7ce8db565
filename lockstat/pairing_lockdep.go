package lockstat

import (
	"bytes"

	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// lockdepPairs pairs the events of lockdep: lock_acquire (asks for it), lock_contended (has to wait), lock_acquired (has
// it) and lock_release. The middle two come with CONFIG_LOCK_STAT only. A try tells of itself only when it has succeeded,
// by lock_acquire alone.
type lockdepPairs struct {
	p      *Pairing
	b      *builder
	taken  map[pairKey]taking
	names  map[uint64]lockdepName
	owners map[uint64]int // CPU that had the lock last
	bin    [1]Bin
}

type lockdepName struct{ name, address string }

// taking is a lock on its way to a thread, or with it.
type taking struct {
	contended, acquired unit.Nanos
	waits, has, read    bool
	again               int // how often the thread took it again
	stack               *lockStack
	thread              string
	pos                 source.Pos
}

func newLockdepPairs(p *Pairing, pos source.Pos) *lockdepPairs {
	return &lockdepPairs{p: p, b: p.newPairs(pos, lockEvents[lockAcquire]), taken: map[pairKey]taking{}, names: map[uint64]lockdepName{}, owners: map[uint64]int{}}
}

func (d *lockdepPairs) take(which int, e *perf.Event, lock uint64, rest []byte) {
	key := keyOf(e, lock)
	if which == lockAcquire {
		d.acquire(key, e, rest)
		return
	}
	t, known := d.taken[key]
	switch {
	case !known:
		d.b.ledger.Add("end-without-begin", source.Note, e.Pos, 1, e.Name+" of a lock whose lock_acquire is not in the recording, as where it began before; left out")
	case which == lockContended && !t.has:
		t.contended, t.waits = e.Time, true
		d.taken[key] = t
	case which == lockAcquired && !t.has:
		d.acquired(key, t, e)
	case which == lockRelease && t.again > 0:
		t.again--
		d.taken[key] = t
	case which == lockRelease:
		delete(d.taken, key)
		d.release(key, t, e)
	}
}

// acquire begins to take a lock.
func (d *lockdepPairs) acquire(key pairKey, e *perf.Event, rest []byte) {
	try, read, name := lockdepFlags(rest)
	d.name(key.lock, name)
	t, known := d.taken[key]
	if known && t.has {
		if !read && !try {
			row := d.row(key.lock, &t)
			row.Pos, row.Wait.Count = e.Pos, 1
			d.b.recursion(row)
		}
		t.again++
		d.taken[key] = t
		return
	}
	if !known && len(d.taken) >= maxPairs {
		d.b.lose("too-many-waits", source.Warning, e.Pos, 1, "more than 65,536 locks are held at once; further ones are left out")
		return
	}
	d.taken[key] = taking{acquired: e.Time, has: try, read: read, stack: d.p.stacks.find(e.Stack), thread: e.Comm, pos: e.Pos}
}

// acquired adds the wait, if there was one.
func (d *lockdepPairs) acquired(key pairKey, t taking, e *perf.Event) {
	owner, owned := d.owners[key.lock]
	if owned || len(d.owners) < maxPairs {
		d.owners[key.lock] = cpuOf(e)
	}
	t.acquired, t.has = e.Time, true
	d.taken[key] = t
	if !t.waits {
		return
	}
	row := d.row(key.lock, &t)
	if e.Time < t.contended {
		d.b.quarantine(row, "the wait ends before it begins")
		return
	}
	row.Wait = d.measured(e.Time - t.contended)
	if owned && owner != cpuOf(e) {
		row.Bounces = 1
	}
	d.add(&row)
}

// release adds the hold.
func (d *lockdepPairs) release(key pairKey, t taking, e *perf.Event) {
	row := d.row(key.lock, &t)
	switch {
	case !t.has:
		d.b.ledger.Add("hold-without-begin", source.Note, e.Pos, 1, "locks were released whose lock_acquired is not in the recording (it comes with CONFIG_LOCK_STAT only); these holds are not known")
	case e.Time < t.acquired:
		d.b.quarantine(row, "the hold ends before it begins")
	default:
		row.Act, row.Hold = Hold, d.measured(e.Time-t.acquired)
		d.add(&row)
	}
}

func (d *lockdepPairs) measured(v unit.Nanos) Measured {
	d.bin[0] = powerBin(v)
	return Measured{Count: 1, Total: v, Mean: v, Min: v, Max: v, Exact: true, Bins: d.bin[:]}
}

func (d *lockdepPairs) row(lock uint64, t *taking) Row {
	n := d.names[lock]
	kind := "lock"
	if t.read {
		kind = "lock:R"
	}
	return Row{Pos: t.pos, Act: Wait, Kind: kind, Lock: n.name, Address: n.address, Caller: t.stack.caller, Thread: t.thread, Stack: t.stack.frames}
}

func (d *lockdepPairs) add(row *Row) {
	if d.p.rows {
		d.b.keepPair(*row)
	}
	d.b.add(row.Address, row.Lock, row)
}

// name keeps a lock's name, which only some events carry whole.
func (d *lockdepPairs) name(lock uint64, name []byte) {
	if _, known := d.names[lock]; known {
		return
	}
	n := lockdepName{name: otherLocks, address: otherLocks}
	if len(d.names) < maxPairs {
		n = lockdepName{name: d.b.name(name), address: hexAddress(lock)}
	}
	d.names[lock] = n
}

// lockdepFlags reads "try read &rq->__lock".
func lockdepFlags(rest []byte) (try, read bool, name []byte) {
	rest, try = bytes.CutPrefix(rest, []byte("try "))
	rest, read = bytes.CutPrefix(rest, []byte("read "))
	return try, read, bytes.TrimSpace(rest)
}

func (d *lockdepPairs) end() *builder {
	if d == nil {
		return nil
	}
	for _, t := range d.taken {
		d.b.ledger.Add("wait-without-end", source.Note, t.pos, 1, "locks were still held or waited for where the recording ends; they are in no sum")
	}
	return d.b
}
