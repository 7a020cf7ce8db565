package datapath

import "nettrace/unit"

// link is one direction of a full-duplex link: frames follow each other at its rate, and arrive after a fixed latency that
// stands for cables, switch and the cards' own pipelines.
type link struct {
	engine       *engine
	id           component
	frames       *frames
	to           *nic
	picosPerByte int64
	latency      unit.Nanos
	free         unit.Nanos // when the last frame given has left
}

// wireTime is how long a frame with a payload of so many bytes occupies the link.
func (l *link) wireTime(payload uint32) unit.Nanos {
	return unit.Nanos(int64(payload+headerBytes+framingBytes) * l.picosPerByte / 1000)
}

func (l *link) send(f frame) {
	f.sent = l.engine.now
	l.free = max(l.engine.now, l.free) + l.wireTime(f.payload)
	l.engine.after(l.free-l.engine.now+l.latency, l.id, frameArrives, uint16(l.frames.add(f)))
}

func (l *link) handle(_ kind, arg uint16) { l.to.receive(frameID(arg)) }
