package perf

import (
	"path"
	"strings"
)

// userEnd is where user addresses end: below it on 64 bits all are a process', on 32 bits those below the kernel's 1 GiB.
func (r *PMCLogReader) userEnd() uint64 {
	if r.wide {
		return 1 << 47
	}
	return 0xc0000000
}

// chain makes the event of a sample.
func (r *PMCLogReader) chain(kind pmcRecord, time uint64, c *cursor) bool {
	pid, tid := int32(c.uint32()), int32(pmcNoProcess)
	e := &r.event
	var id, flags uint32
	if kind == pmcSample {
		at := *c
		r.address(c)
		id, flags = c.uint32(), c.uint32()&pmcUserCycles
		*c = cursor{order: c.order, b: at.b[:min(len(at.b), r.width())], short: c.short}
	} else {
		if !r.old {
			tid = int32(c.uint32())
		}
		id, flags = c.uint32(), c.uint32()
	}
	if c.short {
		return false
	}
	r.narrow(kind, c)
	counter := r.events[id]
	if counter == nil {
		counter = &pmcEvent{name: NoEvent}
	}
	t := r.processes.thread(pid, pid)
	if named := r.processes.threads[tid]; named != nil && !r.old && named.comm != "" && tid != pmcNoProcess {
		t = named
	}
	*e = Event{Comm: t.comm, PID: int(pid), HasPID: true, TID: int(tid), HasTID: !r.old, CPU: int(flags >> 16), HasCPU: kind == pmcCallchain,
		Name: counter.name, Period: counter.rate, HasPeriod: counter.rate > 0, Payload: e.Payload[:0], Stack: e.Stack[:0], Pos: r.pos()}
	e.Time, e.HasTime = r.when(time)
	if kind == pmcCallchain && flags&pmcMultipart != 0 {
		r.part(c)
	}
	user := flags&pmcUserCycles != 0
	for len(c.b) >= r.width() && len(e.Stack) < maxDepth {
		ip := r.address(c)
		if ip == 0 {
			continue
		}
		user = user || ip < r.userEnd()
		r.push(pid, ip, user)
	}
	return true
}

func (r *PMCLogReader) width() int {
	if r.wide {
		return 8
	}
	return 4
}

// narrow notices a machine of 32 bits by a chain that is no whole number of long addresses.
func (r *PMCLogReader) narrow(kind pmcRecord, c *cursor) {
	if kind == pmcCallchain && len(c.b)%8 != 0 {
		r.wide = false
	}
}

// part leaves of a chain in several parts the one with addresses: four pairs of type and length stand before it.
func (r *PMCLogReader) part(c *cursor) {
	const callchain = 1
	head := c.bytes(8)
	for ; len(head) >= 2; head = head[2:] {
		switch {
		case head[0] == 0:
			c.b = nil
			return
		case head[0] == callchain:
			return // it is the rest
		}
		c.bytes(uint64(int(head[1]) * r.width()))
	}
}

func (r *PMCLogReader) push(pid int32, ip uint64, user bool) {
	if !user {
		pid = pmcNoProcess
	}
	e := &r.event
	m := r.processes.space(pid).find(ip)
	if m == nil {
		e.Stack = append(e.Stack, Frame{Function: r.functions.named(Unknown, Unknown), Address: ip})
		return
	}
	o := m.object
	address := ip - m.start + m.pgoff
	if o.symbols != nil {
		if s, ok := o.symbols.AtAddress(address); ok {
			e.Stack = append(e.Stack, Frame{Function: r.functions.named(s.Name, o.name), Address: address, Offset: address - s.Start, HasOffset: true})
			return
		}
	}
	o.unresolved++
	e.Stack = append(e.Stack, Frame{Function: r.functions.named(Unknown, o.name), Address: address})
}

// image takes what changes a process' maps.
func (r *PMCLogReader) image(kind pmcRecord, c *cursor) {
	switch kind {
	case pmcProcFork:
		parent, child := int32(c.uint32()), int32(c.uint32())
		if !c.short {
			r.processes.fork(child, parent, child, parent, false)
		}
	case pmcMappingChange: // FreeBSD 6: start, end and what happened
		insert := c.uint32() == 1
		start, _, pid := r.address(c), r.address(c), int32(c.uint32())
		if insert && !c.short {
			r.load(pid, start, cString(c.b))
		}
	case pmcMapIn:
		pid := int32(c.uint32())
		if !r.old {
			c.uint32()
		}
		r.wide = !narrowPath(c.b)
		start := r.address(c)
		if !c.short {
			r.load(pid, start, cString(c.b))
		}
	case pmcMapOut:
		pid := int32(c.uint32())
		if !r.old {
			c.uint32()
		}
		r.wide = len(c.b) >= 16
		start, end := r.address(c), r.address(c)
		if s := r.processes.space(pid); !c.short && end > start {
			s.add(mapping{start: start, end: end, object: &object{name: Unknown}})
			s.remove(start)
			r.processes.change(s)
		}
	case pmcProcExec:
		r.exec(c)
	}
}

// narrowPath reports whether a path follows an address of 4 bytes: behind one of 8 there are zeros of its upper half, or
// ones.
func narrowPath(b []byte) bool {
	return len(b) >= 8 && printable(b[4]) && printable(b[5]) && printable(b[6]) && printable(b[7])
}

// exec begins a process anew: its program and the loader of it are mapped without a record of their own.
func (r *PMCLogReader) exec(c *cursor) {
	pid := int32(c.uint32())
	c.uint32() // the counter
	// One address since FreeBSD 8, two from 15 on; the path behind them tells.
	two := len(c.b) > 2*r.width() && c.b[r.width()] != '/' && c.b[2*r.width()] == '/'
	entry, dynamic := r.address(c), uint64(0)
	if two {
		dynamic = r.address(c)
	}
	name := cString(c.b)
	if c.short || name == "" {
		return
	}
	r.processes.comm(pid, pid, r.functions.intern([]byte(path.Base(name))), true)
	o := r.object(name)
	if o.symbols == nil {
		return
	}
	if two || o.symbols.Base != 0 {
		r.load(pid, o.symbols.Base+dynamic, name)
	}
	if loader := o.symbols.Interpreter; loader != "" {
		if l := r.object(loader); l.symbols != nil && !two {
			r.load(pid, entry-l.symbols.Entry, loader)
		} else if two {
			r.load(pid, entry, loader)
		}
	}
}

// load maps an object to where it begins. Only its file tells where its code ends; without it, the next object does.
func (r *PMCLogReader) load(pid int32, start uint64, name string) {
	o := r.object(name)
	s := r.processes.space(pid)
	m := mapping{start: start, end: r.userEnd(), object: o}
	if start >= r.userEnd() {
		m.end = 1<<64 - 1
	}
	if o.symbols != nil && o.symbols.TextEnd > o.symbols.TextStart {
		base := o.symbols.Base
		m.start, m.end, m.pgoff = start+o.symbols.TextStart-base, start+o.symbols.TextEnd-base, o.symbols.TextStart
	} else {
		for _, have := range s.maps {
			if have.start > start {
				m.end = min(m.end, have.start)
				break
			}
		}
	}
	s.add(m)
	r.processes.change(s)
}

// object returns the object of a path. Kernel modules are named without their folder.
func (r *PMCLogReader) object(name string) *object {
	o := r.objects[name]
	if o != nil {
		return o
	}
	o = &object{name: r.functions.intern([]byte(name))}
	for _, at := range []string{name, "/boot/kernel/" + name, "/boot/modules/" + name} {
		if o.symbols = r.symbols.Object("", at); o.symbols != nil || strings.HasPrefix(name, "/") {
			break
		}
	}
	r.objects[o.name] = o
	return o
}
