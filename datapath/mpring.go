package datapath

import "fmt"

// TXDiscipline is how several senders get their packets onto one transmit queue.
type TXDiscipline string

const (
	PlainLock    TXDiscipline = "lock"          // each sender takes the queue's lock and writes its descriptors
	Ring         TXDiscipline = "ring"          // mp_ring, abdicate off: the producer that finds no consumer drains for all
	RingAbdicate TXDiscipline = "ring-abdicate" // mp_ring, abdicate on: producers only enqueue and a task drains
)

// ParseTXDiscipline reads a discipline's name.
func ParseTXDiscipline(text string) (TXDiscipline, error) {
	switch d := TXDiscipline(text); d {
	case PlainLock, Ring, RingAbdicate:
		return d, nil
	}
	return "", fmt.Errorf("%q is no transmit discipline, expected %s, %s or %s", text, PlainLock, Ring, RingAbdicate)
}

// RingFlag is what the consumer of an mp_ring is doing.
type RingFlag uint16

const (
	RingIdle      RingFlag = iota // it ran to completion: nothing is left to do
	RingBusy                      // it runs, or will shortly
	RingStalled                   // it stopped for want of descriptors
	RingAbdicated                 // it stopped although there is work, so that another takes over
)

// RingState is the word that producers and consumer of an mp_ring swap as a whole (FreeBSD sys/net/mp_ring.c): room is
// reserved up to Head, items are there up to Tail, and those before Consumer are done. Indexes run from 0 to the ring's
// size less 1. The functions on it are what each side computes between reading the word and swapping it.
type RingState struct {
	Head, Tail, Consumer uint16
	Flag                 RingFlag
}

// consumerSlack is how many items a consumer has done at most before it tells the producers.
const consumerSlack = 64

// Space is the number of items for which there is room in a ring of a size; one place stays free.
func (s RingState) Space(size int) int {
	return (int(s.Consumer) - int(s.Head) - 1 + size) % size
}

// advance moves an index on.
func advance(index uint16, n, size int) uint16 { return uint16((int(index) + n) % size) }

// Reserve is the state with room taken for n items, and whether there is that much: as the original, it wants one place more.
func (s RingState) Reserve(n, size int) (RingState, bool) {
	if n >= s.Space(size) {
		return s, false
	}
	s.Head = advance(s.Head, n, size)
	return s, true
}

// Publish is the state once the items up to tail are there, and whether the producer now has to drain. With abdicate it
// never does: an idle ring is left for the drain task.
func (s RingState) Publish(tail uint16, abdicate bool) (next RingState, drain bool) {
	next = s
	next.Tail = tail
	switch {
	case !abdicate:
		next.Flag = RingBusy
		return next, s.Flag != RingBusy
	case s.Flag == RingIdle:
		next.Flag = RingAbdicated
	}
	return next, false
}

// Consumed is the state once the items before consumer are done. A consumer over its budget hands over if a producer is
// about to add items; otherwise it goes on while there are any.
func (s RingState) Consumed(consumer uint16, overBudget bool) RingState {
	s.Consumer = consumer
	switch {
	case s.Consumer == s.Tail:
		s.Flag = RingIdle
	case overBudget && s.Tail != s.Head:
		s.Flag = RingAbdicated
	default:
		s.Flag = RingBusy
	}
	return s
}

// Stall is the state when the queue takes no more items from consumer on.
func (s RingState) Stall(consumer uint16) RingState {
	s.Consumer, s.Flag = consumer, RingStalled
	return s
}

// Takeover is the state with a new consumer, and whether one is wanted: of a ring whose consumer has stalled or abdicated,
// with no producer in between, and only if a stalled one can go on.
func (s RingState) Takeover(canDrain bool) (RingState, bool) {
	if s.Flag != RingStalled && s.Flag != RingAbdicated || s.Head != s.Tail || s.Flag == RingStalled && !canDrain {
		return s, false
	}
	s.Flag = RingBusy
	return s, true
}
