package datapath

import "nettrace/unit"

// napi is the driver's receive path in softirq: interrupt, poll loop, merging, TCP, and arming again. The loop takes what
// the ring holds and looks again until it is empty, so it also takes frames that arrive while it runs; then the merged
// segments go through TCP. Frames that came during that raise the interrupt as soon as the poll ends; only an empty ring
// takes the time to arm (mlx4_en: drivers/net/mlx4/en_rx.c flushes LRO inside the poll and arms after it).
type napi struct {
	engine  *engine
	id      component
	costs   *costs
	frames  *frames
	nic     *nic
	lro     lro
	tcp     *socket
	traffic *traffic

	delivering merged // what TCP is working on
	taken      int64  // frames taken out of the ring
}

func (p *napi) interrupted() {
	p.engine.after(p.costs.interrupt+p.costs.pollStart, p.id, pollLooks, 0)
}

func (p *napi) handle(k kind, _ uint16) {
	switch k {
	case pollLooks:
		if n := p.nic.count; n > 0 {
			p.take(n)
		} else {
			p.flush()
		}
	case segmentsDelivered:
		p.deliver()
	case queueArmed:
		p.nic.arm()
	}
}

func (p *napi) take(n int) {
	for range n {
		f := p.frames.remove(p.nic.take())
		p.lro.push(f)
		p.traffic.received(f)
	}
	p.taken += int64(n)
	p.engine.after(unit.Nanos(n)*p.costs.packet, p.id, pollLooks, 0)
}

func (p *napi) flush() {
	m := p.lro.flush()
	p.traffic.merged(m)
	if m.segments == 0 { // pure ACKs, which cost no more than taking their frames
		p.deliver()
		return
	}
	cost := unit.Nanos(m.segments) * p.costs.tcpReceive
	if m.ackDue = p.tcp.acksAtOnce(m.bytes); m.ackDue {
		cost += p.costs.ack
	}
	p.delivering = m
	p.engine.after(cost, p.id, segmentsDelivered, 0)
}

func (p *napi) deliver() {
	m := p.delivering
	p.delivering = merged{}
	p.tcp.receive(m)
	if p.nic.count > 0 {
		p.nic.interrupt()
	} else {
		p.engine.after(p.costs.rearm, p.id, queueArmed, 0)
	}
}
