package datapath

import "nettrace/unit"

// exchange is what the client measures of a request/response test.
type exchange struct {
	starts       [MaxDepth]unit.Nanos // when the requests outstanding were begun, as a ring
	head, open   int
	transactions int64
	latency      latencies
	interims     interims
}

// asked notes the start of a request.
func (x *exchange) asked(now unit.Nanos) {
	x.starts[(x.head+x.open)%MaxDepth] = now
	x.open++
}

// answered notes that the oldest request has its response.
func (x *exchange) answered(now unit.Nanos) {
	x.latency.add(now - x.starts[x.head])
	x.head = (x.head + 1) % MaxDepth
	x.open--
	x.transactions++
	x.interims.transaction(now)
}
