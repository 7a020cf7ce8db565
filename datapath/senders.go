package datapath

import (
	"fmt"

	"nettrace/unit"
)

// Senders is a simulation of senders that share transmit queues. Times are those of one packet.
type Senders struct {
	Discipline TXDiscipline
	Senders    int
	Queues     int        // 0 is 1; flows are hashed to them at random
	Stack      unit.Nanos // of a sender, before the queue
	Lock       unit.Nanos // that a plain lock is held
	Own        unit.Nanos // draining an item that the drainer itself put in, or one of a sender that has the ring to itself
	Other      unit.Nanos // draining one of another sender, whose cache lines have to come: what a shared queue is capped at
	Wake       unit.Nanos // waking the drain task, where an idle ring is left to it (abdicate)
	Reclaim    unit.Nanos // a reclaim of descriptors holds a plain lock so long, every ReclaimEvery; 0 for none
	RingSize   int        // items; 0 is 2048
	Budget     int        // items that a producer drains before it hands over; 0 is 1024

	ReclaimEvery unit.Nanos
	Duration     unit.Nanos // 0 is 20 ms
}

// SendersResult is what a run gave.
type SendersResult struct {
	Rate        float64        `json:"packets_per_second"`
	Dropped     int64          `json:"dropped"` // found a ring full
	Lock        LockStatistics `json:"lock"`    // of all queues
	Starts      int64          `json:"starts"`  // of an idle ring's consumer
	Abdications int64          `json:"abdications"`
}

// Most of what a run may have.
const (
	maxTXSenders = 4096
	reclaimer    = 1<<16 - 1
)

func (s Senders) withDefaults() (Senders, error) {
	for _, d := range []struct {
		field *int
		value int
	}{{&s.Queues, 1}, {&s.RingSize, 2048}, {&s.Budget, 1024}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if s.Duration == 0 {
		s.Duration = 20 * unit.Millisecond
	}
	switch {
	case s.Senders < 1 || s.Senders > maxTXSenders || s.Queues < 1 || s.Queues > maxTXSenders:
		return s, fmt.Errorf("%d senders on %d queues: expected 1 to %d", s.Senders, s.Queues, maxTXSenders)
	case s.RingSize < 4 || s.RingSize > 1<<16 || s.Budget < 1:
		return s, fmt.Errorf("a ring of %d items and a budget of %d: expected 4 to 65536 and 1 or more", s.RingSize, s.Budget)
	case s.Stack <= 0 || s.Own < 0 || s.Other <= 0 || s.Wake < 0 || s.Lock < 0 || s.Duration < 0:
		return s, fmt.Errorf("a time of a packet is not above 0")
	}
	_, err := ParseTXDiscipline(string(s.Discipline))
	return s, err
}

// Run simulates the senders.
func (s Senders) Run(seed uint64) (SendersResult, error) {
	s, err := s.withDefaults()
	if err != nil {
		return SendersResult{}, err
	}
	g := &engine{}
	t := &senderRun{engine: g, settings: s, queues: make([]txQueue, s.Queues), of: make([]int, s.Senders), random: newStream(seed, "senders")}
	t.id = g.add(t)
	hash := newStream(seed, "flow hash")
	for i := range t.queues {
		t.queues[i].lock = fifoLock{engine: g, to: t.id, waiting: make([]lockWaiter, 0, s.Senders+2)}
		t.queues[i].owners = make([]uint16, s.RingSize)
	}
	for i := range t.of {
		t.of[i] = int(hash.below(uint64(s.Queues)))
		t.think(uint16(i))
	}
	if s.Reclaim > 0 && s.ReclaimEvery > 0 {
		g.after(s.ReclaimEvery, t.id, reclaimDue, 0)
	}
	g.run(s.Duration)
	return t.result(), nil
}

// txQueue is a transmit queue: its lock, or its ring with who drains it.
type txQueue struct {
	lock    fifoLock
	state   RingState
	owners  []uint16 // who put the items in
	drainer uint16
	last    uint16 // whose item was drained last
	alike   int    // items of that sender in a row
	done    int    // items that the drainer has done since it took over
	pending int    // of them, those that producers do not know of
	at      uint16
	sent    int64
	starts  int64
	handed  int64
	dropped int64
	tasked  bool // the drain task is woken or at work
}

// senderRun is a run.
type senderRun struct {
	engine   *engine
	id       component
	settings Senders
	queues   []txQueue
	of       []int // queue of each sender
	random   *stream
}

// drainTask is the drainer that is no sender.
const drainTask = 1<<16 - 2

// think lets a sender work on its next packet: the stack's time, up to a tenth more or less.
func (t *senderRun) think(who uint16) {
	t.engine.after(t.settings.Stack+t.random.within(t.settings.Stack/10), t.id, writeDone, who)
}

func (t *senderRun) handle(k kind, arg uint16) {
	switch k {
	case writeDone:
		t.packet(arg)
	case lockGranted:
		hold := t.settings.Lock
		if arg == reclaimer {
			hold = t.settings.Reclaim
		}
		t.engine.after(hold, t.id, lockDone, arg)
	case lockDone:
		t.unlocked(arg)
	case reclaimDue:
		t.queues[0].lock.acquire(reclaimer)
		t.engine.after(t.settings.ReclaimEvery, t.id, reclaimDue, 0)
	case itemDrained:
		t.drained(int(arg))
	case pollStarts:
		t.taskRuns(int(arg))
	}
}

// packet gives a sender's packet to its queue.
func (t *senderRun) packet(who uint16) {
	q := &t.queues[t.of[who]]
	if t.settings.Discipline == PlainLock {
		q.lock.acquire(who)
		return
	}
	size := t.settings.RingSize
	reserved, ok := q.state.Reserve(1, size)
	if !ok {
		q.dropped++
		t.think(who)
		return
	}
	q.owners[q.state.Head] = who
	idle := q.state.Flag == RingIdle
	next, drain := reserved.Publish(reserved.Head, t.settings.Discipline == RingAbdicate)
	q.state = next
	switch {
	case drain:
		q.starts++
		t.drain(t.of[who], who)
	case t.settings.Discipline == RingAbdicate && idle && !q.tasked:
		q.tasked = true
		q.starts++
		t.engine.after(t.settings.Wake, t.id, pollStarts, uint16(t.of[who]))
		t.engine.after(t.settings.Wake+t.settings.Stack, t.id, writeDone, who) // who wakes the task pays for it
	default:
		t.think(who)
	}
}

// taskRuns lets the drain task take over a ring.
func (t *senderRun) taskRuns(queue int) {
	q := &t.queues[queue]
	next, ok := q.state.Takeover(true)
	if !ok {
		q.tasked = false
		return
	}
	q.state = next
	t.drain(queue, drainTask)
}

// drain makes one the consumer of a ring that has items.
func (t *senderRun) drain(queue int, who uint16) {
	q := &t.queues[queue]
	q.drainer, q.done, q.pending, q.at = who, 0, 0, q.state.Consumer
	t.item(queue)
}

func (t *senderRun) item(queue int) {
	q := &t.queues[queue]
	cost := t.settings.Other
	owner := q.owners[q.at]
	if owner != q.last {
		q.last, q.alike = owner, 0
	}
	q.alike++
	if owner == q.drainer || q.alike > consumerSlack {
		cost = t.settings.Own
	}
	t.engine.after(cost, t.id, itemDrained, uint16(queue))
}

// drained is the consumer after an item: it tells the producers when it has caught up, at times, and over its budget.
func (t *senderRun) drained(queue int) {
	q, size := &t.queues[queue], t.settings.RingSize
	q.at = advance(q.at, 1, size)
	q.done++
	q.pending++
	q.sent++
	if q.at != q.state.Tail && q.pending < consumerSlack && q.done < t.settings.Budget {
		t.item(queue)
		return
	}
	q.state = q.state.Consumed(q.at, q.done >= t.settings.Budget)
	q.pending = 0
	if q.state.Flag == RingBusy {
		t.item(queue)
		return
	}
	if q.state.Flag == RingAbdicated {
		q.handed++
	}
	if q.drainer == drainTask {
		q.tasked = false
		return
	}
	t.think(q.drainer)
}

// unlocked is a sender, or the reclaim, that is done with a plain lock.
func (t *senderRun) unlocked(who uint16) {
	if who == reclaimer {
		t.queues[0].lock.release()
		return
	}
	q := &t.queues[t.of[who]]
	q.lock.release()
	q.sent++
	t.think(who)
}

func (t *senderRun) result() SendersResult {
	var r SendersResult
	sent := int64(0)
	for i := range t.queues {
		q := &t.queues[i]
		sent += q.sent
		r.Dropped += q.dropped
		r.Starts += q.starts
		r.Abdications += q.handed
		l := q.lock.stats
		r.Lock.Acquisitions += l.Acquisitions
		r.Lock.Contended += l.Contended
		r.Lock.Wait += l.Wait
		r.Lock.WaitMax = max(r.Lock.WaitMax, l.WaitMax)
		r.Lock.Hold += l.Hold
	}
	r.Rate = float64(sent) / t.settings.Duration.Seconds()
	return r
}
