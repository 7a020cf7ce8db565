package datapath

import (
	"errors"
	"runtime"
	"sync/atomic"
)

// ErrRingFull is the error of an enqueue that found no room: the packets are dropped, as a sender's are.
var ErrRingFull = errors.New("the transmit ring is full")

// TXRing is mp_ring as a thing that runs: producers on any number of CPUs, of which one at a time drains for all, without
// a lock (FreeBSD sys/net/mp_ring.c). Its steps are those of RingState, which the simulation takes too; here the word is
// swapped atomically. It is safe for concurrent use.
type TXRing[T any] struct {
	state atomic.Uint64
	items []T

	// Drain hands items to the hardware, in order, and returns how many it took. 0 means that there is no room: the ring is
	// stalled until CheckDrain. It is called by one goroutine at a time.
	Drain func(items []T) int
	// CanDrain reports whether a stalled ring can go on; nil is always.
	CanDrain func() bool
	// Abdicate leaves draining to whoever calls CheckDrain, instead of to the producer that finds no consumer.
	Abdicate bool
	// Budget is how many items one consumer drains at most before another takes over; 0 is the size of the ring.
	Budget int
}

// NewTXRing makes a ring for at most size-1 items.
func NewTXRing[T any](size int, drain func([]T) int) *TXRing[T] {
	return &TXRing[T]{items: make([]T, max(2, min(size, 1<<15))), Drain: drain}
}

func (s RingState) pack() uint64 {
	return uint64(s.Head) | uint64(s.Tail)<<16 | uint64(s.Consumer)<<32 | uint64(s.Flag)<<48
}

func unpack(w uint64) RingState {
	return RingState{Head: uint16(w), Tail: uint16(w >> 16), Consumer: uint16(w >> 32), Flag: RingFlag(w >> 48)}
}

// State returns the ring's state at this moment.
func (r *TXRing[T]) State() RingState { return unpack(r.state.Load()) }

// swap moves the ring on by a step, and returns the states before and after.
func (r *TXRing[T]) swap(step func(RingState) RingState) (before, after RingState) {
	for {
		w := r.state.Load()
		before = unpack(w)
		after = step(before)
		if r.state.CompareAndSwap(w, after.pack()) {
			return before, after
		}
	}
}

// Enqueue adds items in their order, all of them or, with ErrRingFull, none. The producer may have to drain, for itself
// and for others.
func (r *TXRing[T]) Enqueue(items ...T) error {
	n := len(items)
	if n == 0 {
		return nil
	}
	room := false
	before, after := r.swap(func(s RingState) RingState {
		var next RingState
		next, room = s.Reserve(n, len(r.items))
		return next
	})
	if !room {
		if before.Flag != RingBusy && before.Consumer != before.Tail {
			r.CheckDrain()
		}
		return ErrRingFull
	}
	for r.State().Tail != before.Head { // producers ahead of this one publish first
		runtime.Gosched()
	}
	for i := range items {
		r.items[(int(before.Head)+i)%len(r.items)] = items[i]
	}
	drain := false
	before, after = r.swap(func(s RingState) RingState {
		var next RingState
		next, drain = s.Publish(after.Head, r.Abdicate)
		return next
	})
	if drain {
		r.drain(after)
	}
	return nil
}

// CheckDrain takes over from a consumer that has stalled or abdicated, if there is one.
func (r *TXRing[T]) CheckDrain() {
	for {
		w := r.state.Load()
		next, wanted := unpack(w).Takeover(r.CanDrain == nil || r.CanDrain())
		if !wanted {
			return
		}
		if r.state.CompareAndSwap(w, next.pack()) {
			r.drain(next)
			return
		}
	}
}

// drain hands items on until there are none, the budget is used up and another takes over, or the hardware takes none.
func (r *TXRing[T]) drain(s RingState) {
	budget := r.Budget
	if budget == 0 {
		budget = len(r.items)
	}
	consumer, tail := s.Consumer, s.Tail
	for pending, total := 0, 0; ; {
		end := int(tail)
		if tail < consumer { // up to the end of the array first
			end = len(r.items)
		}
		n := r.Drain(r.items[consumer:end])
		if n == 0 {
			r.swap(func(s RingState) RingState { return s.Stall(consumer) })
			return
		}
		clear(r.items[consumer : int(consumer)+n])
		consumer = advance(consumer, n, len(r.items))
		pending, total = pending+n, total+n
		if consumer != tail && pending < consumerSlack && total < budget {
			continue
		}
		_, after := r.swap(func(s RingState) RingState { return s.Consumed(consumer, total >= budget) })
		if after.Flag != RingBusy {
			return
		}
		tail, pending = after.Tail, 0
	}
}
