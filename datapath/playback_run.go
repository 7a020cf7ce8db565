package datapath

import (
	"errors"

	"nettrace/pcap"
	"nettrace/unit"
)

// packetLog is what a capture at one end of a run shows.
type packetLog struct {
	engine  *engine
	end     int
	wire    bool       // frames instead of what is above the card
	shift   unit.Nanos // from the end to the place of capture, one way
	mss     uint32
	packets []recordedPacket
}

// Bounds of a run: packets for each one that was recorded and a few more, and the time that it may take. playedFrames is the
// capacity of a ring, more than windows let fly: loss is not modelled.
const (
	playedPerRecorded = 64
	playedExtra       = 1 << 16
	playedAtMost      = 24 * 3600 * unit.Second
	playedPacketBytes = 1 << 20 // a packet holds less
	playedFrames      = 1 << 15
	windowAtMost      = playedFrames / 2 // segments
)

// left notes that an end sends n bytes as one packet.
func (l *packetLog) left(e *endpoint, f frame, n uint64) {
	if e.name == l.end {
		f.payload = uint32(n)
		l.add(e.name == 1, f, l.engine.now+l.shift)
	}
}

// came notes that an end has received a frame, or what GRO merged.
func (l *packetLog) came(e *endpoint, f frame) {
	if e.name == l.end {
		l.add(e.name == 0, f, l.engine.now-l.shift)
	}
}

func (l *packetLog) add(fromServer bool, f frame, at unit.Nanos) {
	flags := pcap.ACK
	switch {
	case f.flags&flagSYN != 0 && !fromServer:
		flags = pcap.SYN
	case f.flags&flagSYN != 0:
		flags |= pcap.SYN
	}
	left := f.payload
	for {
		size := left
		if l.wire {
			size = min(left, l.mss)
		}
		left -= size
		p := recordedPacket{at: at, seq: f.seq, end: f.seq + uint64(size), ack: f.ack, edge: f.edge, payload: size, wire: max(1, (size+l.mss-1)/l.mss), flags: flags, fromServer: fromServer, why: f.why}
		if left == 0 && f.flags&flagFIN != 0 {
			p.flags |= pcap.FIN
			p.end++
		}
		if left == 0 && f.flags&flagPSH != 0 {
			p.flags |= pcap.PSH
		}
		l.packets = append(l.packets, p)
		f.seq += uint64(size)
		if left == 0 {
			return
		}
	}
}

// playedHost is one end of a run.
type playedHost struct {
	out       link
	nic       nic
	intake    intake
	tcp       endpoint
	app       player
	traffic   traffic
	moderator *moderator
}

// played is a run.
type played struct {
	engine engine
	frames frames
	log    packetLog
	hosts  [2]playedHost
}

var errPlayedTooLong = errors.New("the replay does not come to an end: the recorded application waits for something that the model does not give it")

// run plays the setup and returns the packets where the recording was captured.
func (s *setup) run() ([]recordedPacket, error) {
	p := &played{}
	p.log = packetLog{engine: &p.engine, end: s.side, wire: s.wire, mss: uint32(s.path.mss)}
	if s.wire {
		p.log.shift = s.path.away[s.side] / 2
	}
	samplers := 0
	for end := range p.hosts {
		if err := p.build(s, end); err != nil {
			return nil, err
		}
		if m := p.hosts[end].moderator; m != nil && m.interval > 0 {
			samplers++
		}
	}
	p.hosts[0].app.open()
	for len(p.engine.queue) > samplers {
		p.engine.run(min(p.engine.queue[0].at+unit.Millisecond, playedAtMost))
		if p.engine.now >= playedAtMost || len(p.log.packets) > s.most {
			return nil, errPlayedTooLong
		}
	}
	if len(p.hosts[0].app.steps)+len(p.hosts[1].app.steps) > 0 {
		return nil, errPlayedTooLong
	}
	return p.log.packets, nil
}

func (p *played) build(s *setup, end int) error {
	g, h, peer, how := &p.engine, &p.hosts[end], &p.hosts[1-end], &s.ends[end]
	trip := s.path.roundTrip()
	h.traffic.counters = Wire
	h.out = link{engine: g, frames: &p.frames, to: &peer.nic, picosPerByte: s.path.picosPerByte[end], latency: max(trip/2, 1)}
	h.nic = nic{engine: g, ring: make([]frameID, playedFrames), poll: &h.intake, armed: true}
	h.intake = intake{engine: g, frames: &p.frames, nic: &h.nic, to: &h.tcp, mode: how.merges, mss: uint32(s.path.mss), marks: how.flushes, traffic: &h.traffic}
	h.tcp = endpoint{engine: g, name: end, link: &h.out, traffic: &h.traffic, app: &h.app, log: &p.log, mss: uint64(s.path.mss),
		noDelay: how.noDelay, maxSegs: how.maxSegs, cuts: how.cuts, paced: how.paced, inline: how.inline, window: how.window, countsACKs: how.countsACKs, edges: how.edges, offers: how.offers}
	h.tcp.acking = acking{delay: how.delayed, mss: min(firstMSS, uint64(s.path.mss)), round: trip}
	if how.delayed == 0 {
		h.tcp.acking.delay = ackTimeout
	}
	if len(how.edges) == 0 && how.offers == 0 {
		h.tcp.offer = noEdge
	}
	h.app = player{engine: g, tcp: &h.tcp, peer: &peer.app, steps: how.played(), handshake: s.path.handshake}
	h.out.id, h.nic.id, h.intake.id, h.tcp.id, h.app.id = g.add(&h.out), g.add(&h.nic), g.add(&h.intake), g.add(&h.tcp), g.add(&h.app)
	return p.moderate(h, how.nic)
}

// moderate puts a card with interrupt moderation into a host.
func (p *played) moderate(h *playedHost, n *NIC) error {
	if n == nil {
		return nil
	}
	var err error
	h.moderator, err = h.nic.moderate(&p.engine, *n, &h.traffic, func(interval unit.Nanos) unit.Nanos { return interval })
	return err
}

// played are the steps as the application takes them: with a cork, the writes of one turn leave as one.
func (e *endSetup) played() []step {
	if !e.cork {
		return e.steps
	}
	var list []step
	for _, s := range e.steps {
		if n := len(list); n > 0 && s.bytes > 0 && list[n-1].bytes > 0 && s.needs == list[n-1].needs && s.delay < unit.Millisecond {
			list[n-1].bytes += s.bytes
			list[n-1].delay += s.delay
			continue
		}
		list = append(list, s)
	}
	return list
}
