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
	Workers        int // goroutines beside the caller's that judge packets, once there are many; 0 judges within Add
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

// Tracker follows the connections of one capture. It finds the connection of each packet, in the order of the capture;
// what the packet means is judged by the connection's shard, at once or by a goroutine. All that depends on the order of
// packets of several connections is decided here, so that the number of goroutines changes nothing.
type Tracker struct {
	source  string
	options Options
	ledger  *source.Ledger

	header   pcap.Header
	key      key // of the packet at hand
	table    table
	open     list // live connections, the longest idle one first
	closing  list // those that are closed and stay for stragglers
	last     *conn
	slab     []conn
	free     *conn
	number   int64
	admitted admission

	clock   clock
	packets Packets
	picture picture
	shards  []*shard
	crew    *crew // nil while packets are judged at once
	atOnce  int64 // how many packets are

	datagrams datagrams
	notices   notices

	piece  Piece   // the file at hand
	pieces []Piece // nil while there is but one
}

// NewTracker returns a tracker for the capture of that name. What it drops goes into the ledger.
func NewTracker(name string, o Options, ledger *source.Ledger) *Tracker {
	o = o.withDefaults()
	return &Tracker{source: name, options: o, ledger: ledger, table: newTable(), admitted: newAdmission(o.MaxServers), shards: []*shard{newShard(o.MaxKept)}, atOnce: judgedAtOnce}
}

// Add takes a packet with its decoded headers into account. Neither is kept. With workers the mark is not known yet and
// is zero.
func (t *Tracker) Add(p *pcap.Packet, h *pcap.Header) Mark {
	if t.piece.Record > 0 || t.piece.Offset > 0 {
		whole := *p
		whole.Record += t.piece.Record
		whole.Offset += t.piece.Offset
		p = &whole
	}
	now, timed := t.clock.at(p)
	t.packets.count(p, h)
	t.picture.look(p, h, now, timed)
	if h.Transport != pcap.TCP {
		return t.other(p, h, now, timed)
	}
	t.expire()
	c, dir, f := t.find(p, h, now)
	s := segment{packet: p, header: h, now: now, timed: timed}
	if h.Payload > 0 && c.verified[dir] < 2*verifyPackets && c.number <= verifyConnections {
		c.verified[dir]++
		s.checksum = pcap.Verify(p, h)
	}
	t.touch(c, dir, p, h, now)
	if t.crew == nil {
		if t.options.Workers == 0 || t.packets.TCP <= t.atOnce {
			f = t.shards[0].take(c, dir, f, &s)
			return Mark{Connection: c.number, Reverse: dir == ServerToClient, WirePackets: s.wire, Flags: f}
		}
		t.hire()
	}
	t.crew.packet(c, dir, f, &s)
	return Mark{}
}

// Header returns headers to decode the next packet into.
func (t *Tracker) Header() *pcap.Header { return &t.header }

// finish takes the connection out of the table and has it summed.
func (t *Tracker) finish(c *conn) {
	t.table.remove(c)
	if c.closing {
		t.closing.remove(c)
	} else {
		t.open.remove(c)
	}
	if t.last == c {
		t.last = nil
	}
	if t.crew != nil {
		t.crew.finish(c, t.clock.end)
		return
	}
	t.shards[0].finish(c, t.clock.end)
	t.release(c)
}

// Finish finishes the connections that are still open and returns what was learnt. The tracker is of no use after it.
func (t *Tracker) Finish() *Capture {
	if t.crew != nil {
		t.crew.dismiss()
	}
	var rest []*conn
	for _, l := range []*list{&t.closing, &t.open} {
		for c := l.first; c != nil; c = c.next {
			rest = append(rest, c)
		}
	}
	slices.SortFunc(rest, func(a, b *conn) int { return int(a.number - b.number) })
	for _, c := range rest {
		t.shards[c.shard].finish(c, t.clock.end)
	}
	return t.capture()
}

// at is the place of a record in its file.
func (t *Tracker) at(record, offset int64) source.Pos { return at(t.source, t.pieces, record, offset) }

// Epoch is the second since which the times of the capture count (Unix time), 0 before the first packet with a time.
func (t *Tracker) Epoch() int64 { return t.clock.epoch }

// End is the time of the latest packet since the Unix epoch.
func (t *Tracker) End() unit.Nanos { return unit.Nanos(t.clock.epoch)*unit.Second + t.clock.end }

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
		k.begin(p.Time)
	}
	now = p.Time - unit.Nanos(k.epoch)*unit.Second
	k.start, k.end = min(k.start, now), max(k.end, now)
	return now, true
}

func (k *clock) begin(first unit.Nanos) {
	k.set = true
	k.epoch = int64(first / unit.Second)
	if first%unit.Second < 0 {
		k.epoch--
	}
	k.start = first - unit.Nanos(k.epoch)*unit.Second
	k.end = k.start
}
