package tcp

import (
	"math"

	"nettrace/unit"
)

// exchanges recovers requests and responses from the turns that the two directions take: a request is what the client
// sends until the server answers, a response what the server sends until the client goes on. Only new data in order
// counts, so that retransmissions change nothing.
type exchanges struct {
	now                exchange
	phase              phase
	trailing           uint16 // pure ACKs of the server since its last data
	count, overlapping uint32
	total              unit.Nanos
	times              durations
	kinds              [2]exchangeKind
}

type phase uint8

const (
	idle phase = iota
	requesting
	responding
)

// exchange is one request with its response.
type exchange struct {
	start, last       unit.Nanos // first packet of the request, last one of the response
	request, response uint32     // bytes
	shape             shape
}

// shape is what an exchange is on the wire.
type shape struct {
	requestPackets uint16 // wire packets of the request
	serverPackets  uint16 // pure ACKs of the server and wire packets of the response, until it is complete
	clientACKs     uint16 // pure ACKs of the client, from the response on
}

// exchangeKind sums the exchanges of one pair of sizes: a Misra-Gries table, so that counts may be too low if there are
// more pairs. The shape that most of them have is found by majority vote (Boyer and Moore).
type exchangeKind struct {
	request, response uint32
	count             uint32
	votes, shaped     uint32 // shaped: how many had the usual shape since it became that
	usual             shape
	summed            uint32
	packets           [3]uint32
}

// turns returns the connection's exchanges, made if need be.
func (t *shard) turns(c *conn) *exchanges {
	if c.exchanges == nil {
		c.exchanges = t.turnPool.take()
	}
	return c.exchanges
}

// requested notes new data from the client. pending says that the client has not acknowledged all of the server's data.
func (e *exchanges) requested(s *segment, pending bool) {
	if e.phase == responding {
		e.complete()
	}
	if e.phase == idle {
		e.phase, e.now = requesting, exchange{start: s.now}
		if pending {
			e.overlapping++
		}
	}
	e.now.request = addTo(e.now.request, s.end-s.start)
	e.now.shape.requestPackets = plus(e.now.shape.requestPackets, s.wire)
}

// responded notes new data from the server. What it says before the first request is a greeting.
func (e *exchanges) responded(s *segment) {
	if e == nil || e.phase == idle {
		return
	}
	e.phase = responding
	e.now.last = s.now
	e.now.response = addTo(e.now.response, s.end-s.start)
	e.now.shape.serverPackets = plus(e.now.shape.serverPackets, s.wire+int(e.trailing))
	e.trailing = 0
}

// acknowledged notes a packet without payload.
func (e *exchanges) acknowledged(dir int) {
	switch {
	case e == nil:
	case dir == ServerToClient && e.phase == requesting:
		e.now.shape.serverPackets = plus(e.now.shape.serverPackets, 1)
	case dir == ServerToClient && e.phase == responding:
		e.trailing = plus(e.trailing, 1)
	case dir == ClientToServer && e.phase == responding:
		e.now.shape.clientACKs = plus(e.now.shape.clientACKs, 1)
	}
}

// withdraw takes the request back, for a Fast Open SYN whose data the server did not take.
func (e *exchanges) withdraw() {
	if e != nil {
		e.now.request, e.now.shape.requestPackets = 0, 0
	}
}

// complete ends the exchange at hand if it has a response.
func (e *exchanges) complete() {
	if e == nil {
		return
	}
	if e.phase == responding {
		e.count++
		time := max(0, e.now.last-e.now.start)
		e.total += time
		e.times.add(time)
		e.tally()
	}
	e.phase, e.trailing = idle, 0
}

func (e *exchanges) tally() {
	free := -1
	for i := range e.kinds {
		k := &e.kinds[i]
		if k.count == 0 {
			free = i
		} else if k.request == e.now.request && k.response == e.now.response {
			k.add(e.now.shape)
			return
		}
	}
	if free >= 0 {
		e.kinds[free] = exchangeKind{request: e.now.request, response: e.now.response}
		e.kinds[free].add(e.now.shape)
		return
	}
	for i := range e.kinds {
		e.kinds[i].count--
	}
}

func (k *exchangeKind) add(s shape) {
	k.count++
	k.summed++
	for i, n := range [3]uint16{s.requestPackets, s.serverPackets, s.clientACKs} {
		k.packets[i] = addTo(k.packets[i], uint64(n))
	}
	switch {
	case k.votes == 0:
		k.usual, k.votes, k.shaped = s, 1, 1
	case k.usual == s:
		k.votes++
		k.shaped++
	default:
		k.votes--
	}
}

// most returns the most common pair of sizes, nil if there is none.
func (e *exchanges) most() *exchangeKind {
	var most *exchangeKind
	for i := range e.kinds {
		if k := &e.kinds[i]; k.count > 0 && (most == nil || k.count > most.count) {
			most = k
		}
	}
	return most
}

// plus and addTo add without wrapping.
func plus(n uint16, more int) uint16     { return uint16(min(int(n)+more, math.MaxUint16)) }
func addTo(n uint32, more uint64) uint32 { return uint32(min(uint64(n)+more, math.MaxUint32)) }
