package datapath

import (
	"fmt"

	"nettrace/unit"
)

// host is one end: the card's receive side, the poll, TCP, the application and the moderation.
type host struct {
	out       link
	nic       nic
	napi      napi
	tcp       socket
	app       app
	traffic   traffic
	moderator *moderator // nil if nothing is sampled
}

// simulation is two hosts and the two directions of a link between them.
type simulation struct {
	engine         engine
	frames         frames
	costs          costs
	client, server host
	exchange       exchange
}

func newSimulation(c Config, w Workload, seed uint64) (*simulation, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := w.Check(); err != nil {
		return nil, err
	}
	if c.Constants == nil {
		frozen, err := FrozenConstants(adaptiveRX)
		if err != nil {
			return nil, err
		}
		c.Constants = frozen
	}
	s := &simulation{costs: newCosts(c.Constants)}
	if err := w.fits(s.costs.mss); err != nil {
		return nil, err
	}
	s.exchange.interims = interims{wanted: interimUnits, reports: make([]Interim, 0, w.Duration/interimInterval+1)}
	if err := s.build(&s.client, &s.server, "client", c.Client, w.Response, w.Request, seed); err != nil {
		return nil, err
	}
	if err := s.build(&s.server, &s.client, "server", c.Server, w.Request, w.Response, seed); err != nil {
		return nil, err
	}
	s.client.app.client = &s.exchange
	s.client.app.start(w.Depth)
	return s, nil
}

// build makes a host's components and joins them.
func (s *simulation) build(h, peer *host, name string, n NIC, read, write int, seed uint64) error {
	n = n.withDefaults()
	g := &s.engine
	h.traffic.counters = n.Counters
	h.out = link{engine: g, frames: &s.frames, to: &peer.nic, picosPerByte: s.costs.linkPicosPerByte, latency: s.costs.latency}
	h.nic = nic{engine: g, ring: make([]frameID, ringFrames), poll: &h.napi, armed: true}
	h.napi = napi{engine: g, costs: &s.costs, frames: &s.frames, nic: &h.nic, tcp: &h.tcp, traffic: &h.traffic}
	h.tcp = socket{link: &h.out, app: &h.app, traffic: &h.traffic, mss: s.costs.mss}
	h.app = app{engine: g, costs: &s.costs, random: newStream(seed, name+"/app"), tcp: &h.tcp, readBytes: read, writeBytes: write}
	h.out.id, h.nic.id, h.napi.id, h.app.id = g.add(&h.out), g.add(&h.nic), g.add(&h.napi), g.add(&h.app)
	var err error
	h.moderator, err = h.nic.moderate(g, n, &h.traffic, func(interval unit.Nanos) unit.Nanos {
		return unit.Nanos(newStream(seed, name+"/moderation").below(uint64(interval)))
	})
	return err
}

// Run simulates one run. The same arguments give the same Result, to the bit.
func Run(c Config, w Workload, seed uint64) (Result, error) {
	s, err := newSimulation(c, w, seed)
	if err != nil {
		return Result{}, err
	}
	s.engine.run(w.Duration)
	if n := s.client.nic.dropped + s.server.nic.dropped; n > 0 {
		return Result{}, fmt.Errorf("%s: %d frames found a ring full; loss is not modelled", w, n)
	}
	return s.result(w, seed), nil
}
