package datapath

import "nettrace/unit"

// LockStatistics is what a lock saw.
type LockStatistics struct {
	Acquisitions int64      `json:"acquisitions"`
	Contended    int64      `json:"contended"` // that had to wait
	Wait         unit.Nanos `json:"wait_ns"`   // summed over those who waited
	WaitMax      unit.Nanos `json:"wait_max_ns"`
	Hold         unit.Nanos `json:"hold_ns"`
}

// fifoLock is a lock that is given in the order of asking. Who gets it is told by an event.
type fifoLock struct {
	engine  *engine
	to      component // whose kind lockGranted says that arg has it
	held    bool
	since   unit.Nanos
	waiting []lockWaiter // oldest first, from next on
	next    int
	stats   LockStatistics
}

type lockWaiter struct {
	who   uint16
	since unit.Nanos
}

func (l *fifoLock) acquire(who uint16) {
	if l.held {
		if l.next > 0 && len(l.waiting) == cap(l.waiting) { // make room without growing
			l.waiting = l.waiting[:copy(l.waiting, l.waiting[l.next:])]
			l.next = 0
		}
		l.waiting = append(l.waiting, lockWaiter{who, l.engine.now})
		return
	}
	l.grant(who)
}

func (l *fifoLock) grant(who uint16) {
	l.held, l.since = true, l.engine.now
	l.stats.Acquisitions++
	l.engine.after(0, l.to, lockGranted, who)
}

func (l *fifoLock) release() {
	l.stats.Hold += l.engine.now - l.since
	l.held = false
	if l.next == len(l.waiting) {
		return
	}
	w := l.waiting[l.next]
	l.next++
	wait := l.engine.now - w.since
	l.stats.Contended++
	l.stats.Wait += wait
	l.stats.WaitMax = max(l.stats.WaitMax, wait)
	l.grant(w.who)
}
