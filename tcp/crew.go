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
	// batchSteps is how many steps are handed over at once: enough that handing over costs little for each. batches are in
	// use at most, 1 MiB of steps: one that is filled again has left the caches of the core that read it last, which is cheaper
	// than to take it from there.
	batchSteps, batches = 512, 32
)

// crew judges packets on goroutines, one for each shard. Steps of one connection stay in order, since its shard takes them
// in the order of the capture.
type crew struct {
	queues []chan *batch
	empty  chan *batch
	now    *batch // being filled
	wait   sync.WaitGroup
	free   func(*conn)
}

// batch is a run of steps. Every worker goes through it and takes its own.
type batch struct {
	steps          [batchSteps]step
	n              int
	based          bool
	record, offset int64 // if it is, from which on those of its steps count
	odd            []odd
	ended          []*conn      // by its steps
	left           atomic.Int32 // workers that have not finished with it
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
	var p pcap.Packet
	var h pcap.Header
	for b := range queue {
		for i := range b.steps[:b.n] {
			x := &b.steps[i]
			switch {
			case x.shard != own:
			case x.odd > 0:
				b.odd[x.odd-1].take(s, x)
			default:
				x.restore(b, &p, &h)
				s.take(x.conn, x.dir(), 0, &segment{packet: &p, header: &h, now: x.now, timed: x.has&hasTime != 0})
			}
		}
		if b.left.Add(-1) == 0 {
			w.empty <- b
		}
	}
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
	b := w.now
	x := &b.steps[b.n]
	x.conn, x.shard, x.now, x.has = c, c.shard, s.now, uint8(dir)
	if s.timed {
		x.has |= hasTime
	}
	if b.plain(s, f) {
		x.hold(b, s)
	} else {
		o := b.more(x)
		o.header, o.packet, o.checksum, o.flags, o.ends = *s.header, *s.packet, s.checksum, f, false
		o.packet.Data = nil
	}
	w.advance()
}

// finish has a connection summed. It is given back when the batch is done.
func (w *crew) finish(c *conn, end unit.Nanos) {
	b := w.now
	x := &b.steps[b.n]
	x.conn, x.shard, x.now = c, c.shard, end
	b.more(x).ends = true
	b.ended = append(b.ended, c)
	w.advance()
}

// advance goes on to the next step.
func (w *crew) advance() {
	if w.now.n++; w.now.n == batchSteps {
		w.hand()
		w.begin(<-w.empty)
	}
}

// begin fills a batch that is new or done with.
func (w *crew) begin(b *batch) {
	for _, c := range b.ended {
		w.free(c)
	}
	b.ended, b.odd, b.n, b.based = b.ended[:0], b.odd[:0], 0, false
	w.now = b
}

// dismiss waits until all is judged.
func (w *crew) dismiss() {
	w.hand()
	for _, queue := range w.queues {
		close(queue)
	}
	w.wait.Wait()
}
