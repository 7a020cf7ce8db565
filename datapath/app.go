package datapath

import "nettrace/unit"

// app is the process at one end of a request/response test: it reads a message of one size and writes one of the other.
// A sleeping reader is woken when a whole message is there, on a CPU of its own.
type app struct {
	engine *engine
	id     component
	costs  *costs
	random *stream // of the wake-ups
	tcp    *socket

	readBytes, writeBytes int
	buffered              int // bytes received and not read
	writes                int // messages to write before the next read
	busy                  bool
	client                *exchange // what the client measures, nil at the server
}

// start lets the client write its first messages.
func (a *app) start(depth int) {
	a.writes = depth
	a.busy = true
	a.proceed()
}

// arrived adds bytes to the receive buffer.
func (a *app) arrived(bytes int) {
	a.buffered += bytes
	if a.busy || a.buffered < a.readBytes {
		return
	}
	a.busy = true
	a.engine.after(a.costs.wake+a.random.within(a.costs.wakeJitter)+a.costs.read(a.readBytes), a.id, readDone, 0)
}

func (a *app) handle(k kind, _ uint16) {
	switch k {
	case readDone:
		a.buffered -= a.readBytes
		a.writes++
		if a.client != nil {
			a.client.answered(a.engine.now)
		}
	case writeDone:
		a.writes--
		a.tcp.send(a.writeBytes)
	}
	a.proceed()
}

// proceed begins the next thing to do, or sleeps.
func (a *app) proceed() {
	switch {
	case a.writes > 0:
		if a.client != nil {
			a.client.asked(a.engine.now)
		}
		a.engine.after(a.writeCost(), a.id, writeDone, 0)
	case a.buffered >= a.readBytes:
		a.engine.after(a.costs.read(a.readBytes), a.id, readDone, 0)
	default:
		a.busy = false
	}
}

func (a *app) writeCost() unit.Nanos {
	if segment(a.writeBytes, a.tcp.mss).split() {
		return a.costs.send + a.costs.split
	}
	return a.costs.send
}
