package datapath

import (
	"errors"
	"fmt"

	"nettrace/unit"
)

// Moment is an entry of a timeline: where the time of one exchange or transaction went.
type Moment struct {
	At    unit.Nanos `json:"at_ns"` // since its start
	Since unit.Nanos `json:"since_ns"`
	Where string     `json:"where"` // client, server, link
	What  string     `json:"what"`
}

// timeline fills in the times between moments.
func timeline(list []Moment) []Moment {
	start := list[0].At
	for i := range list {
		list[i].At -= start
		if i > 0 {
			list[i].Since = list[i].At - list[i-1].At
		}
	}
	return list
}

var errNoTransaction = errors.New("the run has no transaction of that number")

// hostName names an end.
func hostName(end int) string { return [...]string{"client", "server"}[end] }

// Explain returns the timeline of a workload's transaction of that number, from 1, under the settings and the seed 1.
func Explain(c Config, w Workload, number int64) ([]Moment, error) {
	s, err := newSimulation(c, w, 1)
	if err != nil {
		return nil, err
	}
	var list []Moment
	s.engine.observe = func(e event) {
		if s.exchange.transactions+1 != number || s.exchange.open == 0 {
			return
		}
		for end, h := range []*host{&s.client, &s.server} {
			if what := h.describe(e); what != "" {
				list = append(list, Moment{At: e.at, Where: hostName(end), What: what})
			}
		}
	}
	const step = unit.Millisecond
	for s.exchange.transactions < number && s.engine.now < w.Duration {
		s.engine.run(s.engine.now + step)
	}
	if len(list) == 0 {
		return nil, errNoTransaction
	}
	return timeline(list), nil
}

// describe says what an event is to a host, "" if it is another's or of no interest.
func (h *host) describe(e event) string {
	switch e.to() {
	case h.out.id:
		return "a frame reaches the other host's card"
	case h.nic.id:
		if h.nic.armed && e.arg() == h.nic.setting {
			return "the moderation timer of rx-usecs expires: interrupt"
		}
	case h.napi.id:
		switch e.kind() {
		case pollLooks:
			if n := h.nic.count; n > 0 {
				return fmt.Sprintf("the poll takes frames: %d", n)
			}
			return "the poll finds the ring empty: LRO is flushed"
		case segmentsDelivered:
			return "TCP has received"
		case queueArmed:
			return "the card watches the queue again"
		}
	case h.app.id:
		if e.kind() == readDone {
			return "the application has read a message"
		}
		return "the application's message reaches the card"
	}
	return ""
}

// Explain returns the timeline of the exchange of that number, from 1, as it is with everything as recorded or, if there
// are changes, under them.
func (p *Playback) Explain(number int) ([]Moment, error) {
	packets := p.baseline
	if p.Changed != nil {
		packets = p.changed
	}
	var x turns
	var list []Moment
	for _, k := range packets {
		dir := boolIndex(k.fromServer)
		if k.payload > 0 {
			if dir == 0 && x.answering && len(x.times)+1 == number {
				break
			}
			x.data(dir, k.at)
		}
		if x.asking && len(x.times)+1 == number {
			list = append(list, Moment{At: k.at, Where: hostName(dir), What: k.describe()[2:] + ": " + k.why.String()})
		}
	}
	if len(list) == 0 {
		return nil, errNoTransaction
	}
	return timeline(list), nil
}
