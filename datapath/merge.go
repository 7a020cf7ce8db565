package datapath

import (
	"bytes"
	"encoding/binary"
)

// FlushReason says why a merged segment was handed on.
type FlushReason string

// The reasons, as tcp_gro_receive has them.
const (
	FlushEnd      FlushReason = "end of the poll"
	FlushNoTCP    FlushReason = "no TCP segment that can be merged"
	FlushFlags    FlushReason = "flags of the next segment differ, or CWR is set"
	FlushACK      FlushReason = "the next segment acknowledges something else"
	FlushOptions  FlushReason = "options of the next segment differ"
	FlushIP       FlushReason = "TTL, TOS, DF or identification of the next packet do not go on"
	FlushSequence FlushReason = "the next segment does not follow on"
	FlushSize     FlushReason = "the next segment is larger than those before, or empty"
	FlushFull     FlushReason = "64 KiB"
	FlushShort    FlushReason = "the last segment is shorter than those before"
	FlushPush     FlushReason = "the last segment has PSH, FIN, URG, RST or SYN"
	FlushAge      FlushReason = "too many flows"
)

// SuperSegment is what the receive offload hands to the stack.
type SuperSegment struct {
	Frame    []byte // headers of the first segment, with the flags of the last, and all data
	Segments int
	Size     int // data of the first segment, the MSS of what was merged; 0 if nothing was
	Reason   FlushReason
}

// mergeMax is the largest merged packet without its Ethernet header (GRO_LEGACY_MAX_SIZE of Linux 6.18).
const mergeMax = 65536

// flowsMax is how many flows are held at once (MAX_GRO_SKBS, for each of 8 buckets; here of one).
const flowsMax = 8

// Merger merges received segments within one poll, by the rules of GRO (net/ipv4/tcp_offload.c tcp_gro_receive and
// include/net/gro.h inet_gro_flush of Linux 6.18). It is a pure state machine: Push takes a frame and returns what it
// hands on because of it, Flush the rest at the end of the poll. Checksums have to be right; they are not looked at.
type Merger struct {
	held []held
}

// held is a flow's packet that may still grow.
type held struct {
	view    View
	frame   []byte
	mss     int
	count   int
	fixedID bool
}

// Push takes the next received frame.
func (m *Merger) Push(frame []byte) (out []SuperSegment) {
	v, err := ParseView(frame)
	if err != nil || v.version == 4 && v.transport-v.network != 20 {
		return []SuperSegment{{Frame: frame, Segments: 1, Reason: FlushNoTCP}}
	}
	i := m.flowOf(v)
	length := len(v.Payload())
	if i >= 0 {
		h := &m.held[i]
		if reason := h.refuses(v); reason != "" {
			out = append(out, m.take(i, reason))
			i = -1
		} else {
			h.merge(v)
			if reason := closing(v, length < h.mss); reason != "" {
				out = append(out, m.take(i, reason))
			}
			return out
		}
	}
	if reason := closing(v, length < 1); reason != "" {
		return append(out, SuperSegment{Frame: frame, Segments: 1, Reason: reason})
	}
	if len(m.held) == flowsMax {
		out = append(out, m.take(0, FlushAge))
	}
	m.held = append(m.held, held{view: v, frame: frame[:v.end], mss: length, count: 1})
	return out
}

// Flush hands on what is held, at the end of a poll.
func (m *Merger) Flush() (out []SuperSegment) {
	for len(m.held) > 0 {
		out = append(out, m.take(0, FlushEnd))
	}
	return out
}

func (m *Merger) flowOf(v View) int {
	addresses, ports := v.flow()
	for i := range m.held {
		a, p := m.held[i].view.flow()
		if bytes.Equal(a, addresses) && bytes.Equal(p, ports) {
			return i
		}
	}
	return -1
}

func (m *Merger) take(i int, reason FlushReason) SuperSegment {
	h := m.held[i]
	m.held = append(m.held[:i], m.held[i+1:]...)
	out := SuperSegment{Frame: h.frame, Segments: h.count, Reason: reason}
	if h.count > 1 {
		out.Size = h.mss
		v := h.view
		v.bytes = h.frame
		v.SetLength()
		v.SetChecksums()
	}
	return out
}

// refuses says why a segment cannot be merged into what is held, "" if it can.
func (h *held) refuses(v View) FlushReason {
	have := h.view
	length := len(v.Payload())
	switch {
	case v.Flags()&TCPCWR != 0, (v.Flags()^have.Flags())&^(TCPFIN|TCPPSH) != 0:
		return FlushFlags
	case v.Ack() != have.Ack():
		return FlushACK
	case !bytes.Equal(v.Options(), have.Options()):
		return FlushOptions
	case h.otherIP(v):
		return FlushIP
	case length == 0 || length > h.mss:
		return FlushSize
	case v.Seq() != have.Seq()+uint32(len(h.frame)-have.payload):
		return FlushSequence
	case len(h.frame)-have.network+length >= mergeMax:
		return FlushFull
	}
	return ""
}

// otherIP compares the IP headers. Identifications count on by one for each segment, or are all the same, which
// the second segment decides.
func (h *held) otherIP(v View) bool {
	a, b := v.bytes[v.network:v.transport], h.view.bytes[h.view.network:h.view.transport]
	if v.version == 6 {
		return len(a) != len(b) || a[0] != b[0] || a[1] != b[1] || a[2] != b[2] || a[3] != b[3] || a[7] != b[7] || !bytes.Equal(a[ipv6Header:], b[ipv6Header:])
	}
	const df = 0x40
	if a[8] != b[8] || a[1] != b[1] || (a[6]^b[6])&df != 0 {
		return true
	}
	offset := binary.BigEndian.Uint16(a[4:]) - binary.BigEndian.Uint16(b[4:])
	if h.count == 1 && offset == 0 {
		h.fixedID = true
	}
	if h.fixedID {
		return offset != 0
	}
	return offset != uint16(h.count)
}

func (h *held) merge(v View) {
	if h.count == 1 { // the frame is the caller's
		h.frame = append(make([]byte, 0, mergeMax+ethernetHeader), h.frame...)
	}
	h.frame = append(h.frame, v.Payload()...)
	h.view.bytes = h.frame
	h.view.SetFlags(h.view.Flags() | v.Flags()&(TCPFIN|TCPPSH))
	h.count++
}

// closing says why nothing can be merged behind a segment, "" if something can.
func closing(v View, short bool) FlushReason {
	switch {
	case v.Flags()&(TCPURG|TCPPSH|TCPRST|TCPSYN|TCPFIN) != 0:
		return FlushPush
	case short:
		return FlushShort
	}
	return ""
}
