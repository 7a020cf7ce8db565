package tcp

import (
	"slices"

	"nettrace/unit"
)

// kind is a kind of event whose examples a connection keeps as evidence.
type kind uint8

const (
	tailHidden kind = iota
	tailVisible
	tailHeld
	stretchACK
	retransmission
	spurious
	reordering
	delayedACK
	nagleStall
	ackStall
	corkStall
	zeroWindow
	windowFull
	timeout
	keepAlive
	blackHole
	kinds
)

var kindNames = [kinds]string{"tail-hidden", "tail-visible", "tail-held", "stretch-ack", "retransmission", "spurious", "reordering",
	"delayed-ack", "nagle-stall", "window-stall", "cork-stall", "zero-window", "window-full", "timeout", "keep-alive", "black-hole"}

// exemplar is one event. What its value is depends on the kind, see Event.
type exemplar struct {
	record, offset int64
	at             unit.Nanos
	value          int64
	with, before   int64 // records of the packets that belong to it, 0 if none do
	dir            uint8
}

func exemplarOf(dir int, s *segment, value int64) exemplar {
	return exemplar{s.packet.Record, s.packet.Offset, s.now, value, 0, 0, uint8(dir)}
}

// events are the examples of a connection, by kind; nil where there are none.
type events [kinds]*examples

// examples are those of one kind.
type examples struct {
	first, worst exemplar
	sample       exemplar // the one whose record has the smallest hash
}

// note keeps an example if it is the first of its kind, the worst by its value, or the one that chance picks.
func (t *shard) note(c *conn, k kind, e exemplar) {
	if c.events == nil {
		c.events = t.eventPool.take()
	}
	x := c.events[k]
	if x == nil {
		x = t.examplePool.take()
		*x = examples{e, e, e}
		c.events[k] = x
		return
	}
	if e.value > x.worst.value {
		x.worst = e
	}
	if mix(uint64(e.record), uint64(k)) < mix(uint64(x.sample.record), uint64(k)) {
		x.sample = e
	}
}

// forget gives the examples back.
func (t *shard) forget(e *events) {
	if e == nil {
		return
	}
	for _, x := range e {
		t.examplePool.give(x)
	}
	t.eventPool.give(e)
}

// Event is an example of what was judged, by its packet. Value is, for tails, the bytes of the message (hidden, visible)
// or the nanoseconds that the tail waited (held); for stretch ACKs the bytes acknowledged; for retransmissions the
// nanoseconds since the direction sent data; for needless ones their bytes; for reordering the nanoseconds that the hole
// was open; for late ACKs, stalls and closed windows how long that took.
type Event struct {
	Kind      string     `json:"kind"`
	Direction int        `json:"direction"`
	Record    int64      `json:"record"`
	Offset    int64      `json:"offset"`
	Time      unit.Nanos `json:"time_ns"`
	Value     int64      `json:"value"`
	With      int64      `json:"with,omitempty"`   // the record of the other packet of a pair
	Before    int64      `json:"before,omitempty"` // that of the one before both
}

// list returns the examples, up to three of each kind.
func (e *events) list() []Event {
	list := []Event{}
	if e == nil {
		return list
	}
	for k, of := range e {
		if of == nil {
			continue
		}
		picked := [...]exemplar{of.first, of.worst, of.sample}
		for i, x := range picked {
			if !slices.ContainsFunc(picked[:i], func(y exemplar) bool { return y.record == x.record }) {
				list = append(list, Event{kindNames[k], int(x.dir), x.record, x.offset, x.at, x.value, x.with, x.before})
			}
		}
	}
	return list
}

// pool hands out structs that are used again.
type pool[T any] struct {
	free []*T
	slab []T
}

func (p *pool[T]) take() *T {
	if n := len(p.free); n > 0 {
		x := p.free[n-1]
		p.free = p.free[:n-1]
		return x
	}
	if len(p.slab) == 0 {
		p.slab = slab[T]()
	}
	x := &p.slab[0]
	p.slab = p.slab[1:]
	return x
}

// slab returns new structs. They are written before they are read, since the system maps a page of memory twice that is
// read first, and the second time makes the other cores wait.
func slab[T any]() []T {
	s := make([]T, 64)
	clear(s)
	return s
}

func (p *pool[T]) give(x *T) {
	if x != nil {
		var zero T
		*x = zero
		p.free = append(p.free, x)
	}
}
