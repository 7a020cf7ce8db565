package tcp

import (
	"net/netip"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// flow is what finds a connection and says when it is over. Only the tracker touches it.
type flow struct {
	key             key
	prev, next      *conn // in the tracker's list that it is in
	number          int64
	seen            unit.Nanos // time of the last packet, copies included
	isn             [2]uint32  // of the SYN packets
	reached         [2]uint32  // sequence number behind the last packet by direction
	syn, fin        [2]bool    // seen
	rst             bool
	closing         bool // it is in the list of the closing ones
	highEndIsServer bool
	shard           uint8
	verified        [2]uint8    // data packets by direction whose checksum was looked at
	extensions      *extensions // nil before the first that it tells of
}

// quietAfterClose is how long a closed connection stays in the table for stragglers. Longer than common retransmission
// timeouts, shorter than TIME-WAIT.
const quietAfterClose = 10 * unit.Second

// find returns the packet's connection, a new one if need be, and its direction.
func (t *Tracker) find(p *pcap.Packet, h *pcap.Header, now unit.Nanos) (c *conn, dir int, f Flags) {
	fromHigh := t.key.set(h)
	c = t.last
	if c == nil || !c.key.is(&t.key) {
		hash := t.table.hash(&t.key)
		if c = t.table.find(&t.key, hash); c == nil {
			c = t.create(p, h, hash, fromHigh, now)
		}
	}
	if dir = c.direction(fromHigh); h.Flags&pcap.SYN != 0 && c.reused(h, dir) {
		t.finish(c)
		c = t.create(p, h, t.table.hash(&t.key), fromHigh, now)
		c.portReused = true
		dir, f = c.direction(fromHigh), FlagPortReused
	}
	t.last = c
	return c, dir, f
}

func (c *conn) direction(fromHigh bool) int {
	if fromHigh == c.highEndIsServer {
		return ServerToClient
	}
	return ClientToServer
}

// reused reports whether a SYN begins another connection between the same ends: one with an initial sequence number of
// its own.
func (c *conn) reused(h *pcap.Header, dir int) bool {
	return h.Flags&(pcap.ACK|pcap.RST) == 0 && !(c.flow.syn[dir] && c.isn[dir] == h.Seq) && c.seen != none
}

// create makes the connection of a packet.
func (t *Tracker) create(p *pcap.Packet, h *pcap.Header, hash uint32, fromHigh bool, now unit.Nanos) *conn {
	if t.table.used >= t.options.MaxConnections {
		t.evict()
	}
	c := t.take()
	t.number++
	c.flow = flow{key: t.key, number: t.number, seen: none, highEndIsServer: fromHigh == serverSends(h)}
	c.shard = t.crew.shardOf(hash)
	c.begin(p, h, now)
	t.table.insert(c, hash)
	t.open.push(c)
	_, server := c.ends()
	if c.judged = t.admitted.admit(server); !c.judged {
		t.ledger.Add("server-not-kept", source.Note, t.at(p.Record, p.Offset), 1,
			"more servers than are summed apart: rules do not judge the further ones")
	}
	return c
}

// serverSends reports whether the first packet of a connection comes from its server: by the flags of the handshake, else
// by the port, as services listen on low ones and clients are given high ones.
func serverSends(h *pcap.Header) bool {
	if h.Flags&pcap.SYN != 0 {
		return h.Flags&pcap.ACK != 0
	}
	return h.SrcPort < h.DstPort
}

// take returns an empty connection, release gives it back.
func (t *Tracker) take() *conn {
	if c := t.free; c != nil {
		t.free = c.next
		return c
	}
	if len(t.slab) == 0 {
		t.slab = slab[conn]()
	}
	c := &t.slab[0]
	t.slab = t.slab[1:]
	return c
}

func (t *Tracker) release(c *conn) {
	c.next = t.free
	t.free = c
}

// touch notes what the packet means for how long the connection stays, and puts it behind all others in its list.
func (t *Tracker) touch(c *conn, dir int, p *pcap.Packet, h *pcap.Header, now unit.Nanos) {
	c.seen = max(c.seen, now)
	c.reached[dir] = h.Seq + uint32(h.Payload)
	if h.Options.MPTCP || h.Options.FastOpen {
		c.extended(p, h, dir)
	}
	if h.Flags&(pcap.SYN|pcap.FIN|pcap.RST) != 0 {
		c.control(dir, h)
		if c.ended() && !c.closing {
			t.open.remove(c)
			c.closing = true
			t.closing.push(c)
		}
	}
	if c.closing {
		t.closing.renew(c)
	} else {
		t.open.renew(c)
	}
}

// control notes a packet with SYN, FIN or RST.
func (f *flow) control(dir int, h *pcap.Header) {
	switch {
	case h.Flags&pcap.RST != 0:
		f.rst = true
		return
	case h.Flags&pcap.SYN != 0:
		f.syn[dir], f.isn[dir] = true, h.Seq
		f.reached[dir]++
	}
	if h.Flags&pcap.FIN != 0 {
		f.fin[dir] = true
		f.reached[dir]++
	}
}

func (f *flow) ended() bool { return f.rst || f.fin[0] && f.fin[1] }

// expire finishes the closed connections that were quiet for long enough.
func (t *Tracker) expire() {
	for c := t.closing.first; c != nil && t.clock.end-c.seen > quietAfterClose; c = t.closing.first {
		t.finish(c)
	}
}

// evict makes room: a closed connection has nothing to lose, any other one is entered into the ledger.
func (t *Tracker) evict() {
	c := t.closing.first
	if c == nil {
		c = t.open.first
		c.evicted = true
		t.ledger.Add("connection-evicted", source.Warning, t.at(c.record, c.offset), 1,
			"more connections at once than the table holds: the longest idle one was finished; its later packets count as another connection")
	}
	t.finish(c)
}

// admission says which servers are summed apart: the first ones of the capture.
type admission struct {
	max  int
	seen map[netip.AddrPort]struct{}
}

func newAdmission(max int) admission { return admission{max, map[netip.AddrPort]struct{}{}} }

func (a *admission) admit(server netip.AddrPort) bool {
	if _, known := a.seen[server]; known {
		return true
	}
	if len(a.seen) >= a.max {
		return false
	}
	a.seen[server] = struct{}{}
	return true
}

// list is a doubly linked list of connections.
type list struct{ first, last *conn }

func (l *list) push(c *conn) {
	c.prev, c.next = l.last, nil
	if l.last == nil {
		l.first = c
	} else {
		l.last.next = c
	}
	l.last = c
}

func (l *list) remove(c *conn) {
	if c.prev == nil {
		l.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		l.last = c.prev
	} else {
		c.next.prev = c.prev
	}
}

func (l *list) renew(c *conn) {
	if l.last != c {
		l.remove(c)
		l.push(c)
	}
}
