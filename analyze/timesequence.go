package analyze

import (
	"context"
	"fmt"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// SequenceRow is one packet of a connection for a time/sequence plot. Times are since the source's epoch, numbers relative to
// the first byte of their direction; a number that is not known is -1.
type SequenceRow struct {
	Time     unit.Nanos `json:"time_ns"`
	Record   int64      `json:"record"`
	From     string     `json:"from"` // client or server
	Seq      int64      `json:"seq"`
	Payload  int64      `json:"payload"`
	ACK      int64      `json:"ack"`
	Window   int64      `json:"window"`         // bytes offered by the sender of the packet, scaled; -1 if the scale is not known
	Edge     int64      `json:"edge"`           // ACK plus window: how far the other end may send
	InFlight int64      `json:"in_flight"`      // bytes of the packet's direction that are not acknowledged, behind it
	SACK     [][2]int64 `json:"sack,omitempty"` // blocks of the other end's data that came, beyond ACK or twice
	RTT      unit.Nanos `json:"rtt_ns"`         // from the newest packet that this one acknowledges whole, if it was sent once
	Flags    []string   `json:"flags"`
}

// TimeSequence reads a capture and hands each packet of a connection to emit; what the capture holds twice is left out. The
// row is used again.
func TimeSequence(ctx context.Context, path string, connection int64, o Options, emit func(*SequenceRow) error) (ledger *source.Ledger, err error) {
	ledger = new(source.Ledger)
	err = eachCapture(path, o.Stdin, ledger, func(src *source.Source) error {
		var p plotted
		epoch, started, rows := unit.Nanos(0), false, 0
		_, _, err := track(ctx, src, ledger, o, func(packet *pcap.Packet, h *pcap.Header, m tcp.Mark) error {
			if packet.HasTime && !started {
				epoch, started = epochOf(packet), true
			}
			if m.Connection != connection || h.Transport != pcap.TCP || m.Flags&tcp.FlagCopy != 0 {
				return nil
			}
			rows++
			r := p.row(packet, h, m, epoch)
			r.Flags = m.Flags.Names()
			return emit(r)
		})
		if err == nil && rows == 0 {
			err = fmt.Errorf("%s: no connection has the number %d; nettrace flows lists them", src.Path, connection)
		}
		return err
	})
	return ledger, err
}

// plotted is a connection that is plotted.
type plotted struct {
	ends [2]plottedEnd
	last SequenceRow
	sack [][2]int64 // of the last row, used again
}

// plottedEnd is what is known of one end's sending.
type plottedEnd struct {
	first    uint32 // number of its first byte
	known    bool
	nxt, una int64
	acked    bool
	scale    int64 // -1 as long as no SYN was seen
	syn      bool
	sent     []sending
}

// sending is a packet whose ACK is awaited.
type sending struct {
	end   int64
	at    unit.Nanos
	again bool
}

// maxSendings bounds what is kept of what is under way; the newest give way.
const maxSendings = 1 << 14

func (e *plottedEnd) relative(n uint32) int64 {
	if !e.known {
		e.known, e.first = true, n
	}
	near := e.nxt
	return near + int64(int32(n-e.first-uint32(near)))
}

// row takes the next packet. It leaves the names of the flags to who needs them.
func (p *plotted) row(packet *pcap.Packet, h *pcap.Header, m tcp.Mark, epoch unit.Nanos) *SequenceRow {
	end, name := 0, "client"
	if m.Reverse {
		end, name = 1, "server"
	}
	own, other := &p.ends[end], &p.ends[1-end]
	p.sack = p.sack[:0]
	r := &p.last
	*r = SequenceRow{Time: packet.Time - epoch, Record: packet.Record, From: name, Payload: int64(h.Payload), ACK: -1, Window: -1, Edge: -1, RTT: -1}
	if h.Flags&pcap.SYN != 0 {
		own.opened(h)
	}
	r.Seq = own.relative(h.Seq)
	if h.Flags&pcap.SYN != 0 {
		r.Seq = 0
	}
	own.send(r, m)
	if h.Flags&pcap.ACK != 0 {
		r.ACK = other.relative(h.Ack)
		for _, block := range h.Options.SACK[:h.Options.SACKs] {
			p.sack = append(p.sack, [2]int64{other.relative(block[0]), other.relative(block[1])})
		}
		r.SACK = p.sack
		r.RTT = other.acknowledge(r)
	}
	if scale := p.scale(end, h); scale >= 0 {
		r.Window = int64(h.Window) << scale
		if r.ACK >= 0 {
			r.Edge = r.ACK + r.Window
		}
	}
	if r.InFlight = -1; own.acked {
		r.InFlight = max(0, own.nxt-own.una)
	}
	return r
}

func (e *plottedEnd) opened(h *pcap.Header) {
	if e.syn && e.first == h.Seq+1 {
		return
	}
	*e = plottedEnd{first: h.Seq + 1, known: true, syn: true, scale: -1}
	if h.Options.HasScale {
		e.scale = int64(min(h.Options.Scale, 14))
	}
}

// scale returns the shift of the windows of an end, -1 if it is not known (RFC 7323 section 2.2: both SYNs count, and the
// window of a SYN is never scaled).
func (p *plotted) scale(end int, h *pcap.Header) int64 {
	switch a, b := &p.ends[end], &p.ends[1-end]; {
	case h.Flags&pcap.SYN != 0:
		return 0
	case !a.syn || !b.syn:
		return -1
	case a.scale < 0 || b.scale < 0:
		return 0
	default:
		return a.scale
	}
}

func (e *plottedEnd) send(r *SequenceRow, m tcp.Mark) {
	end := r.Seq + r.Payload
	if r.Payload > 0 && len(e.sent) < maxSendings {
		again := end <= e.nxt
		for i := range e.sent {
			if again && e.sent[i].end > r.Seq && e.sent[i].end <= end {
				e.sent[i].again = true
			}
		}
		if !again {
			e.sent = append(e.sent, sending{end, r.Time, false})
		}
	}
	e.nxt = max(e.nxt, end)
}

// acknowledge takes an ACK of this end's data and returns the round trip that it shows, -1 for none (Karn's rule).
func (e *plottedEnd) acknowledge(r *SequenceRow) unit.Nanos {
	rtt := unit.Nanos(-1)
	n := 0
	for ; n < len(e.sent) && e.sent[n].end <= r.ACK; n++ {
		if rtt = -1; !e.sent[n].again {
			rtt = r.Time - e.sent[n].at
		}
	}
	e.sent = e.sent[n:]
	if !e.acked {
		e.acked, e.una = true, r.ACK
	}
	e.una = max(e.una, r.ACK)
	return rtt
}
