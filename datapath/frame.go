package datapath

import "nettrace/unit"

// Sizes that do not depend on the machine.
const (
	headerBytes  = 66 // Ethernet 14, IPv4 20, TCP with timestamps 32
	framingBytes = 24 // preamble 8, frame check sequence 4, gap 12
)

// frame is the header of a frame on its way from one host to the other. Payloads carry no bytes.
type frame struct {
	seq, ack uint64     // of TCP, counted from 0 and not wrapped
	sent     unit.Nanos // when it was given to the link
	edge     uint64     // right edge of the sender's receive window, where that is modelled
	payload  uint32     // bytes
	flags    uint8      // where they matter
	why      sendReason // likewise
}

type frameID uint16

// frames holds the frames that are on the link or in a ring, and reuses their places.
type frames struct {
	all  []frame
	free []frameID
}

func (p *frames) add(f frame) frameID {
	if n := len(p.free); n > 0 {
		id := p.free[n-1]
		p.free = p.free[:n-1]
		p.all[id] = f
		return id
	}
	p.all = append(p.all, f)
	return frameID(len(p.all) - 1)
}

func (p *frames) remove(id frameID) frame {
	p.free = append(p.free, id)
	return p.all[id]
}
