package datapath

import "nettrace/unit"

// ringFrames is the capacity of a receive ring: 1024 descriptors, mlx4_en's default (drivers/net/mlx4/mlx4_en.h).
const ringFrames = 1024

// poller is the driver's receive path, which an interrupt starts.
type poller interface{ interrupted() }

// nic is the receive side of a card: a ring of completions and the moderation of its interrupt. While the queue is armed,
// the first completion starts the timer; the interrupt comes when the timer expires or when enough frames wait. Frames
// that wait at the moment of arming raise it at once.
type nic struct {
	engine *engine
	id     component
	poll   poller

	delay unit.Nanos // rx-usecs in force; a change counts from the next start of the timer
	limit int        // rx-frames, 0 for none

	ring        []frameID // a power of 2
	head, count int
	dropped     int64 // frames that found the ring full

	armed   bool
	setting uint16     // counts the timer's settings: an expiry of an earlier one is void
	expires unit.Nanos // when the timer last set is to expire

	early      bool // the driver gives back a status tag from before the work: what came during it raises an interrupt again
	posted     int  // completions since the last interrupt
	interrupts int64
	races      int64      // interrupts at arming although no completion waited
	sampler    *moderator // a policy that goes by interrupts, nil for none
}

func (n *nic) receive(f frameID) {
	if n.count == len(n.ring) {
		n.dropped++
		return
	}
	n.ring[(n.head+n.count)&(len(n.ring)-1)] = f
	n.count++
	n.posted++
	switch {
	case !n.armed:
	case n.delay == 0, n.limit > 0 && n.count >= n.limit:
		n.interrupt()
	case n.count == 1:
		n.expires = n.engine.now + n.delay
		n.engine.after(n.delay, n.id, timerExpires, n.setting)
	}
}

func (n *nic) handle(_ kind, arg uint16) {
	if n.armed && arg == n.setting {
		n.interrupt()
	}
}

func (n *nic) interrupt() {
	n.armed = false
	n.setting++
	n.interrupts++
	n.posted = 0
	if n.sampler != nil {
		n.sampler.counted(n.interrupts)
	}
	n.poll.interrupted()
}

// arm lets the next completion cause an interrupt.
func (n *nic) arm() {
	n.armed = true
	switch {
	case n.count > 0:
		n.interrupt()
	case n.early && n.posted > 0:
		n.races++
		n.interrupt()
	}
}

// take removes the oldest completion.
func (n *nic) take() frameID {
	f := n.ring[n.head]
	n.head = (n.head + 1) & (len(n.ring) - 1)
	n.count--
	return f
}
