package tcp

import "nettrace/unit"

// Openings sums how connections to a server began and ended.
type Openings struct {
	RepeatedSYNs int64      `json:"repeated_syns,omitempty"` // SYN and SYN-ACK packets sent again
	Repeated     int64      `json:"repeated,omitempty"`      // connections with such
	Slow         int64      `json:"slow,omitempty"`          // connections whose handshake took far longer than their round trips
	TimeLost     unit.Nanos `json:"time_lost_ns,omitempty"`  // by both
	Unanswered   int64      `json:"unanswered,omitempty"`    // SYN packets that nobody answered
	Refused      int64      `json:"refused,omitempty"`       // answered by RST
	Aborted      int64      `json:"aborted,omitempty"`       // RST without a FIN of either end
	Unscaled     int64      `json:"unscaled,omitempty"`      // window scaling known not to be in use, and more data than one window
	KeptAlive    int64      `json:"kept_alive,omitempty"`    // mostly silence with keep-alives
}

func (o *Openings) add(b *Openings) {
	o.RepeatedSYNs += b.RepeatedSYNs
	o.Repeated += b.Repeated
	o.Slow += b.Slow
	o.TimeLost += b.TimeLost
	o.Unanswered += b.Unanswered
	o.Refused += b.Refused
	o.Aborted += b.Aborted
	o.Unscaled += b.Unscaled
	o.KeptAlive += b.KeptAlive
}

// any reports whether there is something to say.
func (o *Openings) any() bool { return *o != Openings{} }

const (
	// slowHandshake and slowerThan say when a handshake is slow: it took that long and that many times the shortest round
	// trip of the data, so that something but the path delayed it.
	slowHandshake = 100 * unit.Millisecond
	slowerThan    = 4
	// answerWithin is how long a SYN may wait for its answer before the capture's end (RFC 6298: the first timeout is 1 s).
	answerWithin = unit.Second
	// unscaledWindow is the largest window without scaling (RFC 9293 section 3.1).
	unscaledWindow = 65535
	// fewKeepAlives is what a connection must have of them to count as kept alive.
	fewKeepAlives = 3
)

// resetWith notes an RST.
func (t *shard) resetWith(c *conn, dir int, s *segment) {
	if !c.reset {
		c.reset, c.resetBy = true, uint8(dir)
		t.waiting(&c.dir[dir]).reset = exemplarOf(dir, s, 0)
	}
}

// rst returns the connection's RST, if it has one.
func (c *conn) rst() (e exemplar) {
	if w := c.dir[c.resetBy].waits.stalls; c.reset && w != nil {
		e = w.reset
	}
	return e
}

// opening says how the connection began and ended. end is that of the capture.
func (c *conn) opening(end unit.Nanos) (o Openings) {
	client, server := &c.dir[ClientToServer], &c.dir[ServerToClient]
	data := client.dataPackets + server.dataPackets
	if o.RepeatedSYNs = int64(client.repeatedSYNs) + int64(server.repeatedSYNs); o.RepeatedSYNs > 0 {
		o.Repeated = 1
	}
	answered := c.synACK != none || server.seen || client.acked
	switch {
	case c.began == withSYN && c.reset && c.resetBy == ServerToClient && c.synACK == none && data == 0:
		o.Refused = 1
	case c.began == withSYN && !answered && end-c.last > answerWithin:
		o.Unanswered = 1
	case c.reset && !client.finSeen && !server.finSeen && answered:
		o.Aborted = 1
	}
	if c.began == withSYN && c.synACK != none {
		o.handshake(c)
	}
	if client.waits.scale == 0 && !(client.options.hasScale && server.options.hasScale) && max(client.unique, server.unique) > unscaledWindow {
		o.Unscaled = 1
	}
	if n := uint64(client.keepAlives) + uint64(server.keepAlives); n >= fewKeepAlives && n >= data {
		o.KeptAlive = 1
	}
	return o
}

// handshake judges how long the handshake took: up to the SYN-ACK that was answered, or the client's answer.
func (o *Openings) handshake(c *conn) {
	took := c.synACK - c.start
	if c.ack != none {
		took = c.ack - c.start
	}
	usual := c.dir[0].rtt.times.min + c.dir[1].rtt.times.min
	switch {
	case took < slowHandshake:
	case o.Repeated > 0:
		o.TimeLost = took
	case usual > 0 && took > slowerThan*usual:
		o.Slow, o.TimeLost = 1, took-usual
	}
}
