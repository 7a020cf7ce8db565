package datapath

import "nettrace/unit"

// groMode says how received frames are merged.
type groMode uint8

const (
	groOff  groMode = iota // each frame goes to TCP by itself
	groOn                  // what one poll takes is merged, and flushed at its end
	groHeld                // held beyond polls (gro_flush_timeout), up to what the receiver acknowledged in the recording
)

func (m groMode) String() string { return [...]string{"off", "on", "recorded"}[m] }

// Flags of a frame beside those that every one has.
const (
	flagSYN uint8 = 1 << iota
	flagFIN
	flagPSH
)

// intake is the receive side above the card of one end of a replayed connection: it takes the frames of a poll, merges
// them and hands them to TCP. What it does takes no time: the recorded round trip holds that.
type intake struct {
	engine  *engine
	id      component
	frames  *frames
	nic     *nic
	to      *endpoint
	mode    groMode
	mss     uint32
	marks   []uint64 // groHeld: ends at which the recorded receiver flushed
	traffic *traffic

	held    frame // what is merged so far; its payload is 0 if nothing is
	setting uint16
}

// groHeldAtMost is how long frames are held for others, where the recorded receiver held them.
const groHeldAtMost = unit.Millisecond

func (n *intake) interrupted() { n.engine.after(0, n.id, pollLooks, 0) }

func (n *intake) handle(k kind, arg uint16) {
	if k == timerExpires {
		if arg == n.setting {
			n.flush()
		}
		return
	}
	for n.nic.count > 0 {
		f := n.frames.remove(n.nic.take())
		n.traffic.received(f)
		n.push(f)
	}
	if n.mode != groHeld {
		n.flush()
	}
	n.nic.arm()
}

// push merges a frame or hands it on. A frame with PSH ends a merged segment, as does one below the MSS, one that does not
// follow on, and one that carries another ACK or a flag (Linux, net/ipv4/tcp_offload.c, tcp_gro_receive).
func (n *intake) push(f frame) {
	if n.mode == groOff || f.payload == 0 || f.flags&(flagSYN|flagFIN) != 0 {
		n.flush()
		n.to.receive(f)
		return
	}
	if n.held.payload > 0 && (f.seq != n.held.seq+uint64(n.held.payload) || f.ack != n.held.ack || n.held.payload+f.payload > lroBytes) {
		n.flush()
	}
	if n.held.payload == 0 {
		n.held = f
	} else {
		n.held.payload += f.payload
		n.held.flags |= f.flags
	}
	if f.payload < n.mss || f.flags&flagPSH != 0 || n.marked(f.seq+uint64(f.payload)) {
		n.flush()
		return
	}
	if n.mode == groHeld {
		n.setting++
		n.engine.after(groHeldAtMost, n.id, timerExpires, n.setting)
	}
}

// marked reports whether the recorded receiver flushed there.
func (n *intake) marked(end uint64) bool {
	if n.mode != groHeld {
		return false
	}
	for len(n.marks) > 0 && n.marks[0] < end {
		n.marks = n.marks[1:]
	}
	return len(n.marks) > 0 && n.marks[0] == end
}

func (n *intake) flush() {
	if n.held.payload == 0 {
		return
	}
	f := n.held
	n.held = frame{}
	n.setting++
	n.to.receive(f)
}
