package tcp

import (
	"slices"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// Options bound what a Tracker keeps. The zero value stands for the defaults.
type Options struct {
	MaxConnections int // live ones at once; 0 stands for 1,000,000
	MaxKept        int // summaries in the Capture; 0 stands for 10,000
	MaxServers     int // server endpoints that are summed apart; 0 stands for 50,000
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *int
		value int
	}{{&o.MaxConnections, 1_000_000}, {&o.MaxKept, 10_000}, {&o.MaxServers, 50_000}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return o
}

// quietAfterClose is how long a closed connection stays in the table for stragglers. Longer than common retransmission
// timeouts, shorter than TIME-WAIT.
const quietAfterClose = 10 * unit.Second

// Tracker follows the connections of one capture.
type Tracker struct {
	source  string
	options Options
	ledger  *source.Ledger

	key         key // of the packet at hand
	table       table
	open        list // live connections, the longest idle one first
	closing     list // those that are closed and stay for stragglers
	last        *conn
	slab        []conn
	free        *conn
	recoveries  pool[recovery]
	tailPool    pool[tails]
	eventPool   pool[events]
	limitPool   pool[limit]
	ringPool    pool[ackRing]
	stallPool   pool[stalls]
	examplePool pool[examples]

	clock   clock
	packets Packets
	totals  Totals
	picture picture
	number  int64
	kept    kept
	servers servers
}

// clock turns times since the Unix epoch into times since the whole second of the first packet.
type clock struct {
	epoch        int64
	start, end   unit.Nanos
	set, untimed bool
}

func (k *clock) at(p *pcap.Packet) (now unit.Nanos, timed bool) {
	if !p.HasTime {
		k.untimed = true
		return k.end, false
	}
	if !k.set {
		k.set = true
		k.epoch = int64(p.Time / unit.Second)
		if p.Time%unit.Second < 0 {
			k.epoch--
		}
		k.start = p.Time - unit.Nanos(k.epoch)*unit.Second
		k.end = k.start
	}
	now = p.Time - unit.Nanos(k.epoch)*unit.Second
	k.start, k.end = min(k.start, now), max(k.end, now)
	return now, true
}

// NewTracker returns a tracker for the capture of that name. What it drops goes into the ledger.
func NewTracker(name string, o Options, ledger *source.Ledger) *Tracker {
	o = o.withDefaults()
	return &Tracker{source: name, options: o, ledger: ledger, table: newTable(), kept: kept{max: o.MaxKept}, servers: newServers(o.MaxServers)}
}

// Add takes a packet with its decoded headers into account. Neither is kept.
func (t *Tracker) Add(p *pcap.Packet, h *pcap.Header) Mark {
	now, timed := t.clock.at(p)
	t.packets.count(p, h)
	t.picture.look(p, h, now, timed)
	if h.Transport != pcap.TCP {
		return Mark{WirePackets: 1}
	}
	t.expire()
	c, dir, f := t.find(p, h, now)
	s := segment{packet: p, header: h, now: now, timed: timed}
	f |= t.judge(c, dir, &s)
	if f&FlagCopy == 0 {
		c.last = max(c.last, now)
	}
	t.touch(c)
	return Mark{Connection: c.number, Reverse: dir == ServerToClient, WirePackets: s.wire, Flags: f}
}

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
	if dir = c.direction(fromHigh); c.reused(h, dir) {
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

// reused reports whether a packet begins another connection between the same ends: a SYN with an initial sequence number
// of its own.
func (c *conn) reused(h *pcap.Header, dir int) bool {
	if h.Flags&(pcap.SYN|pcap.ACK|pcap.RST) != pcap.SYN {
		return false
	}
	d := &c.dir[dir]
	return !(d.synSeen && d.isn == h.Seq) && (c.dir[0].seen || c.dir[1].seen)
}

// create makes the connection of a packet.
func (t *Tracker) create(p *pcap.Packet, h *pcap.Header, hash uint32, fromHigh bool, now unit.Nanos) *conn {
	if t.table.used >= t.options.MaxConnections {
		t.evict()
	}
	c := t.take()
	t.number++
	*c = conn{key: t.key, number: t.number, start: now, last: now, record: p.Record, offset: p.Offset, syn: none, synACK: none, ack: none}
	c.dir[0].waits.scale, c.dir[1].waits.scale = -1, -1
	serverSends := serverSends(h)
	c.highEndIsServer = fromHigh == serverSends
	switch {
	case h.Flags&pcap.SYN == 0:
	case h.Flags&pcap.ACK == 0:
		c.began = withSYN
	default:
		c.began = withSYNACK
	}
	t.table.insert(c, hash)
	t.open.push(c)
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

func (t *Tracker) take() *conn {
	if c := t.free; c != nil {
		t.free = c.next
		return c
	}
	if len(t.slab) == 0 {
		t.slab = make([]conn, 64)
	}
	c := &t.slab[0]
	t.slab = t.slab[1:]
	return c
}

// touch puts the connection behind all others in its list.
func (t *Tracker) touch(c *conn) {
	closed := c.reset || c.dir[0].finSeen && c.dir[1].finSeen
	if closed == c.closing {
		if closed {
			t.closing.renew(c)
		} else {
			t.open.renew(c)
		}
		return
	}
	t.open.remove(c)
	c.closing = true
	t.closing.push(c)
}

// expire finishes the closed connections that were quiet for long enough.
func (t *Tracker) expire() {
	for c := t.closing.first; c != nil && t.clock.end-c.last > quietAfterClose; c = t.closing.first {
		t.finish(c)
	}
}

// evict makes room: a closed connection has nothing to lose, any other one is entered into the ledger.
func (t *Tracker) evict() {
	c := t.closing.first
	if c == nil {
		c = t.open.first
		c.evicted = true
		t.ledger.Add("connection-evicted", source.Warning, source.Pos{Source: t.source, Offset: c.offset, Record: c.record}, 1,
			"more connections at once than the table holds: the longest idle one was finished; its later packets count as another connection")
	}
	t.finish(c)
}

// finish takes the connection out of the table and into the summaries.
func (t *Tracker) finish(c *conn) {
	c.exchanges.complete()
	c.dir[0].turn()
	c.dir[1].turn()
	t.endWaits(c)
	for i := range c.dir {
		if l := c.dir[i].limit; l != nil {
			l.end(c, i)
		}
	}
	t.sum(c)
	t.table.remove(c)
	if c.closing {
		t.closing.remove(c)
	} else {
		t.open.remove(c)
	}
	if t.last == c {
		t.last = nil
	}
	for i := range c.dir {
		t.recoveries.give(c.dir[i].recovery)
		t.tailPool.give(c.dir[i].tails)
		t.stallPool.give(c.dir[i].waits.stalls)
		t.account(c.dir[i].limit)
	}
	t.forget(c.events)
	*c = conn{next: t.free}
	t.free = c
}

// Finish finishes the connections that are still open and returns what was learnt. The tracker is of no use after it.
func (t *Tracker) Finish() *Capture {
	var rest []*conn
	for _, l := range []*list{&t.closing, &t.open} {
		for c := l.first; c != nil; c = c.next {
			rest = append(rest, c)
		}
	}
	slices.SortFunc(rest, func(a, b *conn) int { return int(a.number - b.number) })
	for _, c := range rest {
		t.finish(c)
	}
	return t.capture()
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
