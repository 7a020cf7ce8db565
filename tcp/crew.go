package tcp

import (
	"sync"
	"sync/atomic"

	"nettrace/pcap"
	"nettrace/unit"
)

const (
	// judgedAtOnce is how many packets are judged before goroutines are worth their start.
	judgedAtOnce = 8192
	// batchSteps is how many steps are handed over at once: enough that handing over costs little for each, few enough that
	// they stay in the second-level cache. batches are in use at most.
	batchSteps, batches = 512, 4
)

// crew judges packets on goroutines, one for each shard. Steps of one connection stay in order, since its shard takes them
// in the order of the capture.
type crew struct {
	queues []chan *batch
	empty  chan *batch
	now    *batch // being filled
	slot   *step  // the next one in it
	wait   sync.WaitGroup
	free   func(*conn)
}

// batch is a run of steps. Every worker goes through it and takes its own.
type batch struct {
	steps [batchSteps]step
	n     int
	ended []*conn      // by its steps
	left  atomic.Int32 // workers that have not finished with it
}

// step is a packet to judge, or the end of a connection.
type step struct {
	conn     *conn
	end      unit.Nanos // of a connection that ends: the time of the capture
	ends     bool
	shard    uint8
	dir      uint8
	timed    bool
	checksum pcap.Checksum
	flags    Flags
	link     pcap.LinkType
	sent     pcap.Direction
	port     int32
	wireLen  int32
	now      unit.Nanos
	record   int64
	offset   int64
	header   pcap.Header
}

// hire starts the workers. Connections that there are already stay with the first shard.
func (t *Tracker) hire() {
	w := &crew{empty: make(chan *batch, batches), free: t.release}
	for len(t.shards) < t.options.Workers {
		t.shards = append(t.shards, newShard(t.options.MaxKept))
	}
	for range batches - 1 {
		w.empty <- new(batch)
	}
	w.begin(new(batch))
	for i, s := range t.shards {
		queue := make(chan *batch, batches)
		w.queues = append(w.queues, queue)
		w.wait.Go(func() { w.work(queue, uint8(i), s) })
	}
	t.crew = w
}

// shardOf spreads connections over the workers.
func (w *crew) shardOf(hash uint32) uint8 {
	if w == nil {
		return 0
	}
	return uint8((hash >> 16) % uint32(len(w.queues)))
}

func (w *crew) work(queue chan *batch, own uint8, s *shard) {
	for b := range queue {
		for i := range b.steps[:b.n] {
			if b.steps[i].shard == own {
				b.steps[i].take(s)
			}
		}
		if b.left.Add(-1) == 0 {
			w.empty <- b
		}
	}
}

func (x *step) take(t *shard) {
	if x.ends {
		t.finish(x.conn, x.end)
		return
	}
	p := pcap.Packet{Record: x.record, Offset: x.offset, WireLen: int(x.wireLen), Tap: int(x.port), LinkType: x.link, Direction: x.sent}
	t.take(x.conn, int(x.dir), x.flags, &segment{packet: &p, header: &x.header, now: x.now, timed: x.timed, checksum: x.checksum})
}

// hand gives the batch to the workers.
func (w *crew) hand() {
	w.now.left.Store(int32(len(w.queues)))
	for _, queue := range w.queues {
		queue <- w.now
	}
}

// packet has a packet judged.
func (w *crew) packet(c *conn, dir int, f Flags, s *segment) {
	x, p := w.slot, s.packet
	x.conn, x.shard, x.ends, x.dir, x.timed, x.checksum, x.flags, x.now = c, c.shard, false, uint8(dir), s.timed, s.checksum, f, s.now
	x.record, x.offset, x.wireLen, x.port, x.link, x.sent = p.Record, p.Offset, int32(p.WireLen), int32(p.Tap), p.LinkType, p.Direction
	x.header = *s.header // not decoded in place: the step's memory is with the other core, and must not be waited for
	w.advance()
}

// finish has a connection summed. It is given back when the batch is done.
func (w *crew) finish(c *conn, end unit.Nanos) {
	x := w.slot
	x.conn, x.shard, x.ends, x.end = c, c.shard, true, end
	w.now.ended = append(w.now.ended, c)
	w.advance()
}

// advance goes on to the next step.
func (w *crew) advance() {
	if w.now.n++; w.now.n < batchSteps {
		w.slot = &w.now.steps[w.now.n]
		return
	}
	w.hand()
	w.begin(<-w.empty)
}

// begin fills a batch that is new or done with.
func (w *crew) begin(b *batch) {
	for _, c := range b.ended {
		w.free(c)
	}
	b.ended, b.n = b.ended[:0], 0
	w.now, w.slot = b, &b.steps[0]
}

// dismiss waits until all is judged.
func (w *crew) dismiss() {
	w.hand()
	for _, queue := range w.queues {
		close(queue)
	}
	w.wait.Wait()
}
