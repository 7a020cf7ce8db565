package datapath

import (
	"math"
	"slices"

	"nettrace/pcap"
	"nettrace/tcp"
	"nettrace/unit"
)

// Bounds of what a Recorder keeps.
const (
	maxRecordings      = 1000
	maxRecordedPackets = 1 << 20 // of all connections, 64 bytes each
)

// recordedPacket is a packet of a recorded connection. Bytes are counted from the first one of each direction; a FIN is one
// more.
type recordedPacket struct {
	at         unit.Nanos
	seq, end   uint64
	ack        uint64 // valid iff the packet has ACK
	edge       uint64 // the last byte that its sender takes, and one; noEdge where the scale is not known
	payload    uint32
	wire       uint32 // packets on the wire
	flags      uint8
	fromServer bool
	why        sendReason // of a simulated one
}

const noEdge = math.MaxUint64

// Recording is one recorded connection: its packets, and what the analysis knows of it.
type Recording struct {
	tcp.Connection
	packets []recordedPacket
	base    [2]uint32 // sequence number of the first byte of client and server
	based   [2]bool
	last    [2]uint64
	scale   [2]int // -1: not known
}

// Recorder keeps the TCP connections of a capture for replay.
type Recorder struct {
	all     map[int64]*Recording
	packets int
	notKept int64
}

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder { return &Recorder{all: map[int64]*Recording{}} }

// NotKept is how many packets of connections were beyond what is kept.
func (r *Recorder) NotKept() int64 { return r.notKept }

// Add takes a packet into account, with its decoded headers and the mark that the connection tracker gave it.
func (r *Recorder) Add(p *pcap.Packet, h *pcap.Header, m tcp.Mark) {
	if m.Connection == 0 || h.Transport != pcap.TCP || !p.HasTime {
		return
	}
	c := r.all[m.Connection]
	if c == nil && len(r.all) < maxRecordings {
		c = &Recording{scale: [2]int{-1, -1}}
		r.all[m.Connection] = c
	}
	if c == nil || r.packets == maxRecordedPackets {
		r.notKept++
		return
	}
	r.packets++
	c.add(p, h, m)
}

func (c *Recording) add(p *pcap.Packet, h *pcap.Header, m tcp.Mark) {
	from, to := 0, 1
	if m.Reverse {
		from, to = 1, 0
	}
	k := recordedPacket{at: p.Time, payload: uint32(h.Payload), wire: uint32(max(m.WirePackets, 1)), flags: h.Flags, fromServer: m.Reverse, edge: noEdge}
	syn := h.Flags&pcap.SYN != 0
	if syn {
		k.edge = uint64(h.Window)
		c.base[from], c.based[from], c.last[from] = h.Seq+1, true, 0
		c.scale[from] = int(h.Options.Scale)
		if !h.Options.HasScale {
			c.scale[from] = 0
		}
	}
	if !syn {
		k.seq = c.place(from, h.Seq)
		k.end = k.seq + uint64(h.Payload)
		if h.Flags&pcap.FIN != 0 {
			k.end++
		}
		c.last[from] = max(c.last[from], k.end)
	}
	if h.Flags&pcap.ACK != 0 {
		k.ack = c.place(to, h.Ack)
		if !syn && c.scale[0] >= 0 && c.scale[1] >= 0 {
			shift := c.scale[from]
			if c.scale[to] == 0 {
				shift = 0
			}
			k.edge = k.ack + uint64(h.Window)<<shift
		}
	}
	c.packets = append(c.packets, k)
}

// place returns the number of the byte with a sequence number, the nearest to the last one seen.
func (c *Recording) place(dir int, seq uint32) uint64 {
	if !c.based[dir] {
		c.base[dir], c.based[dir] = seq, true
	}
	at := int64(c.last[dir]) + int64(int32(seq-c.base[dir]-uint32(c.last[dir])))
	return uint64(max(at, 0))
}

// Recordings returns the connections that carried data, in the order of their first packets, with what the tracker learnt
// of them.
func (r *Recorder) Recordings(capture *tcp.Capture) []*Recording {
	var list []*Recording
	for _, known := range capture.Connections {
		c := r.all[known.Number]
		if c == nil || !slices.ContainsFunc(c.packets, func(p recordedPacket) bool { return p.payload > 0 }) {
			continue
		}
		c.Connection = known
		list = append(list, c)
	}
	return list
}
