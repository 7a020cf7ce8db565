package datapath

import "nettrace/unit"

// component numbers the parts of a simulation in the order of their creation.
type component uint8

// kind says what happens at an event.
type kind uint8

const (
	frameArrives      kind = iota // arg: the frame
	timerExpires                  // arg: which setting of the timer
	pollLooks                     // the poll looks for completions
	segmentsDelivered             // TCP has taken what the poll merged
	queueArmed                    // the card watches the queue again
	writeDone                     // a message has gone down the stack
	readDone                      // the application has a message
	moderationSample              // the driver reads its counters
	batchArrives                  // a batch of frames reaches the link
	pollStarts                    // the first look of a poll
	ackTimer                      // a delayed ACK is due
	pacedSend                     // pacing lets the next packet go
	synAnswered                   // the server answers a SYN
	lockGranted                   // arg has the lock
	lockDone                      // arg has done what it held the lock for
	reclaimDue                    // descriptors are to be reclaimed
	itemDrained                   // the consumer of ring arg has done an item
)

// event is something that happens to one component. Events are values of two words, which the compiler keeps in registers;
// none is allocated.
type event struct {
	at  unit.Nanos
	tag uint64 // from the high bits: 32 of the order of scheduling, 16 of arg, 8 of component, 8 of kind
}

func (e event) arg() uint16   { return uint16(e.tag >> 16) }
func (e event) to() component { return component(e.tag >> 8) }
func (e event) kind() kind    { return kind(e.tag) }

// before is the total order: by time, then by order of scheduling.
func (e event) before(o event) bool { return e.at < o.at || e.at == o.at && e.tag < o.tag }

// handler is a component as the engine sees it.
type handler interface{ handle(k kind, arg uint16) }

// engine runs events in total order: by time, then by order of scheduling. An event can only be scheduled after a delay,
// so none comes before its cause.
//
// The event that is being handled keeps its place at the top of the heap, and the first event that it schedules takes that
// place: most events have one successor, which is often the next.
type engine struct {
	now      unit.Nanos
	queue    []event // a binary heap
	done     bool    // the top of the heap has been handled
	handlers []handler
	seq      uint64      // of the last event scheduled; events of one time are never 2^32 apart
	hash     uint64      // of all events so far
	observe  func(event) // called before each event, for tests; nil for none
}

// add makes h a component.
func (g *engine) add(h handler) component {
	g.handlers = append(g.handlers, h)
	return component(len(g.handlers) - 1)
}

// after schedules an event; the delay is not negative.
func (g *engine) after(delay unit.Nanos, to component, k kind, arg uint16) {
	g.seq++
	e := event{g.now + delay, g.seq<<32 | uint64(arg)<<16 | uint64(to)<<8 | uint64(k)}
	if g.done {
		g.done = false
		g.sink(e)
		return
	}
	g.queue = append(g.queue, e)
	g.rise(e)
}

// rise puts e, for which there is a place at the end of the heap, where it belongs.
func (g *engine) rise(e event) {
	q, i := g.queue, len(g.queue)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(q[parent]) {
			break
		}
		q[i], i = q[parent], parent
	}
	q[i] = e
}

// sink puts e, for which there is a place at the top of the heap, where it belongs.
func (g *engine) sink(e event) {
	q, i := g.queue, 0
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1].before(q[child]) {
			child++
		}
		if !q[child].before(e) {
			break
		}
		q[i], i = q[child], child
	}
	q[i] = e
}

// remove takes the top off the heap.
func (g *engine) remove() {
	g.done = false
	last := g.queue[len(g.queue)-1]
	g.queue = g.queue[:len(g.queue)-1]
	if len(g.queue) > 0 {
		g.sink(last)
	}
}

// run handles all events before the time until. A run that is cut in two goes the same way as a whole one.
func (g *engine) run(until unit.Nanos) {
	for len(g.queue) > 0 && g.queue[0].at < until {
		e := g.queue[0]
		g.now = e.at
		g.hash = mix(g.hash, e)
		if g.observe != nil {
			g.observe(e)
		}
		g.done = true
		g.handlers[e.to()].handle(e.kind(), e.arg())
		if g.done {
			g.remove()
		}
	}
	g.now = until
}

// mix takes an event into the hash h.
func mix(h uint64, e event) uint64 {
	h = (h ^ uint64(e.at)*0xff51afd7ed558ccd ^ e.tag) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// events is how many have been handled.
func (g *engine) events() int64 { return int64(g.seq) - int64(len(g.queue)) }
