package datapath

import "nettrace/unit"

// player is the application at one end: it takes its recorded steps, each when what it needs has been read, after the time
// that it took then. It reads all that comes.
type player struct {
	engine *engine
	id     component
	tcp    *endpoint
	peer   *player
	steps  []step

	ready   bool       // the connection is there
	since   unit.Nanos // when the last step was taken
	met     bool       // what the next step needs has come
	due     unit.Nanos // when it is taken then
	waiting bool       // an event for it is out
	read    uint64
	reading bool

	handshake unit.Nanos // by which the server's answer to the SYN is late
}

// open begins the connection.
func (p *player) open() {
	f := frame{flags: flagSYN, edge: p.tcp.offered()}
	p.tcp.log.left(p.tcp, f, 0)
	p.tcp.link.send(f)
}

// connection takes a SYN.
func (p *player) connection(e *endpoint, f frame) {
	e.right = f.edge
	if e.name == 1 {
		p.engine.after(p.handshake, p.id, synAnswered, 0)
		return
	}
	e.acknowledge(whyMore)
	p.established(e)
}

// established lets the steps begin, once.
func (p *player) established(*endpoint) {
	if p.ready {
		return
	}
	p.ready, p.since = true, p.engine.now
	p.proceed()
}

// arrived wakes the reader.
func (p *player) arrived() {
	p.look()
	if !p.reading {
		p.reading = true
		p.engine.after(readWakeTime, p.id, readDone, 0)
	}
}

func (p *player) handle(k kind, _ uint16) {
	switch k {
	case synAnswered:
		f := frame{flags: flagSYN, edge: p.tcp.offered()}
		p.tcp.log.left(p.tcp, f, 0)
		p.tcp.link.send(f)
	case readDone:
		p.reading = false
		p.read = p.tcp.acking.next
		if p.tcp.acking.read() {
			p.tcp.acknowledge(whyRead)
		}
		p.proceed()
	case writeDone:
		p.waiting = false
		p.proceed()
	}
}

// look notes when what the next step needs has come.
func (p *player) look() {
	if len(p.steps) == 0 || p.met || p.tcp.acking.next < p.steps[0].needs {
		return
	}
	p.met = true
	p.due = p.engine.now + p.steps[0].delay
}

// proceed takes the steps that are due.
func (p *player) proceed() {
	for p.ready && len(p.steps) > 0 {
		p.look()
		next := p.steps[0]
		if !p.met || p.read < next.needs {
			return
		}
		if p.engine.now < p.due {
			if !p.waiting {
				p.waiting = true
				p.engine.after(p.due-p.engine.now, p.id, writeDone, 0)
			}
			return
		}
		p.steps, p.met, p.since = p.steps[1:], false, p.engine.now
		if next.bytes > 0 {
			p.tcp.write(next.bytes)
		} else {
			p.tcp.close()
		}
	}
}
