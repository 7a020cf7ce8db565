package tcp

import (
	"container/heap"
	"net/netip"
	"slices"

	"nettrace/unit"
)

// sum enters a finished connection into the totals, its server, and, if it ranks high enough, the summaries.
func (t *shard) sum(c *conn, end unit.Nanos) {
	t.totals.Connections++
	if c.evicted {
		t.totals.Evicted++
	}
	if c.began == midstream {
		t.totals.Midstream++
	}
	var did [2]Activity
	for i := range c.dir {
		d := &c.dir[i]
		if d.acked && d.una > d.high+1 && d.seen { // the last data was not captured; 1 may be a FIN
			d.missing += d.una - d.high
		}
		if d.recovery != nil {
			if d.recovery.stuck.end(c.last, d.synSeen && uint32(d.una) == d.isn+1) {
				t.note(c, blackHole, d.recovery.stuck.at)
			}
			if side := c.side(); side.at(endNames[1-i]) {
				d.recovery.loss.arrivedTwice()
			}
		}
		did[i] = d.activity()
		t.totals.Activity.add(&did[i])
	}
	client, server := c.ends()
	opening := c.opening(end)
	if c.judged {
		t.servers.add(c, client, server, &did, &opening)
	}
	r := rank{c.events != nil || opening.any(), did[0].Bytes + did[1].Bytes, c.number}
	if t.kept.wants(r) {
		t.kept.add(ranked{r, c.summary(client, server, did, opening)})
	}
}

// ends returns the client and the server.
func (c *conn) ends() (client, server netip.AddrPort) {
	low, high := c.key.ends()
	if c.highEndIsServer {
		return low, high
	}
	return high, low
}

func (c *conn) summary(client, server netip.AddrPort, did [2]Activity, opening Openings) *Connection {
	rst := c.rst()
	s := &Connection{
		Number: c.number, Client: client, Server: server, Start: c.start, End: c.last, Record: c.record, Offset: c.offset,
		Began: [...]string{"midstream", "syn", "syn-ack"}[c.began], Ended: c.end(), PortReused: c.portReused,
		Handshake: c.facts(), Side: c.side(), RoundTrip: c.roundTrip(), Exchanges: c.exchanges.summary(), Events: c.events.list(),
		Opening: opening, ResetRecord: rst.record, ResetOffset: rst.offset,
	}
	for i := range c.dir {
		d := &c.dir[i]
		did[i].Tails.ranked()
		s.Copies += int64(d.copies)
		s.AboveOffload = s.AboveOffload || d.superSegments > 0
		s.Directions[i] = Direction{
			EffectiveMSS: int(d.size), MSSSource: mssSources[d.mss.known], LargestBytes: int64(d.largest), TaggedPackets: int64(d.tagged), VLAN: int(d.vlan),
			TTL: int(d.signs.ttl), IDsInOrder: d.idents.reliable(), Activity: did[i], RTT: d.rtt.times.summary(), Limit: d.limit.summary(),
		}
	}
	return s
}

func (c *conn) end() string {
	switch a, b := c.dir[0].finSeen, c.dir[1].finSeen; {
	case c.reset:
		return "reset"
	case a && b:
		return "fin"
	case c.evicted:
		return "evicted"
	case a || b:
		return "half-closed"
	default:
		return "open"
	}
}

func (c *conn) facts() Handshake {
	client, server := &c.dir[0], &c.dir[1]
	h := Handshake{
		Ends:                [2]Offer{client.offer(), server.offer()},
		Timestamps:          client.options.timestamps && server.options.timestamps,
		SACK:                client.options.sackOK && server.options.sackOK,
		ECN:                 c.ecn == 1<<ClientToServer|1<<ServerToClient,
		RepeatedSYNs:        int64(client.repeatedSYNs) + int64(server.repeatedSYNs),
		FastOpenWithPayload: c.fastOpen&fastOpenData != 0,
	}
	for i := range h.Ends {
		h.Ends[i].ECN = c.ecn&(1<<i) != 0
	}
	if h.Multipath = c.extensions.summary(); c.extensions != nil {
		h.FastOpenCookie = c.extensions.cookie
	}
	switch {
	case c.fastOpen&fastOpenRefused != 0:
		h.FastOpen = "refused"
	case c.fastOpen&fastOpenAccepted != 0:
		h.FastOpen = "accepted"
	case c.fastOpen&fastOpenAsked != 0:
		h.FastOpen = "asked"
	}
	if c.syn != none && c.synACK != none {
		h.ToServer = c.synACK - c.syn
	}
	if c.synACK != none && c.ack != none {
		h.ToClient = c.ack - c.synACK
	}
	if h.ToServer != 0 && h.ToClient != 0 {
		h.RoundTrip = h.ToServer + h.ToClient
	}
	// Scales count only if both ends sent the option (RFC 7323 section 2.2).
	h.WindowScaleKnown = client.synSeen && server.synSeen && !client.options.cut && !server.options.cut
	if h.WindowScaleKnown && client.options.hasScale && server.options.hasScale {
		h.WindowScale = [2]int{int(min(client.options.scale, 14)), int(min(server.options.scale, 14))}
	}
	return h
}

func (d *direction) offer() Offer {
	o := Offer{Seen: d.synSeen, Scale: -1, Timestamps: d.options.timestamps, SACK: d.options.sackOK, Cut: d.options.cut}
	if d.options.hasMSS {
		o.MSS = int(d.options.mss)
	}
	if d.options.hasScale {
		o.Scale = int(d.options.scale)
	}
	return o
}

func (e *exchanges) summary() Exchanges {
	if e == nil {
		return Exchanges{}
	}
	s := Exchanges{Count: int64(e.count), Overlapping: int64(e.overlapping), Total: e.total, Times: e.times.summary()}
	if k := e.most(); k != nil {
		n := float64(k.summed)
		s.Usual = ExchangeKind{
			RequestBytes: int64(k.request), ResponseBytes: int64(k.response), Count: int64(k.count),
			RequestPackets: int(k.usual.requestPackets), ServerPackets: int(k.usual.serverPackets), ClientACKs: int(k.usual.clientACKs), Shaped: int64(k.shaped),
			MeanRequestPackets: float64(k.packets[0]) / n, MeanServerPackets: float64(k.packets[1]) / n, MeanClientACKs: float64(k.packets[2]) / n,
		}
	}
	return s
}

// kept holds the summaries that rank highest: those with events first, then by bytes, then by number.
type kept struct {
	max  int
	heap rankedHeap
}

type rank struct {
	events bool
	bytes  int64
	number int64
}

type ranked struct {
	rank
	connection *Connection
}

// below reports whether r gives way to s.
func (r rank) below(s rank) bool {
	switch {
	case r.events != s.events:
		return s.events
	case r.bytes != s.bytes:
		return r.bytes < s.bytes
	default:
		return r.number > s.number
	}
}

func (k *kept) wants(r rank) bool { return len(k.heap) < k.max || k.heap[0].below(r) }

func (k *kept) add(r ranked) {
	if len(k.heap) == k.max {
		k.heap[0] = r
		heap.Fix(&k.heap, 0)
		return
	}
	heap.Push(&k.heap, r)
}

func (k *kept) merge(other *kept) {
	for _, r := range other.heap {
		if k.wants(r.rank) {
			k.add(r)
		}
	}
}

func (k *kept) list() []Connection {
	list := make([]Connection, 0, len(k.heap))
	for _, r := range k.heap {
		list = append(list, *r.connection)
	}
	slices.SortFunc(list, func(a, b Connection) int { return int(a.Number - b.Number) })
	return list
}

type rankedHeap []ranked

func (h rankedHeap) Len() int           { return len(h) }
func (h rankedHeap) Less(i, j int) bool { return h[i].below(h[j].rank) }
func (h rankedHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *rankedHeap) Push(x any)        { *h = append(*h, x.(ranked)) }
func (h *rankedHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
