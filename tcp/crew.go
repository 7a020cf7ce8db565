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
	batchSteps, batches = 512, 6
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
	steps [batchSteps]step
	n     int
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
	w.now = new(batch)
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
	p := pcap.Packet{Record: x.record, Offset: x.offset, WireLen: int(x.wireLen), Interface: int(x.port), LinkType: x.link, Direction: x.sent}
	t.take(x.conn, int(x.dir), x.flags, &segment{packet: &p, header: &x.header, now: x.now, timed: x.timed, checksum: x.checksum})
}

// room returns the step to fill in next.
func (w *crew) room() *step {
	if w.now.n == batchSteps {
		w.hand()
		w.now = <-w.empty
		w.now.recycle(w.free)
	}
	return &w.now.steps[w.now.n]
}

func (w *crew) next(c *conn) *step {
	x := w.room()
	w.now.n++
	x.conn, x.shard = c, c.shard
	return x
}

// hand gives the batch to the workers.
func (w *crew) hand() {
	w.now.left.Store(int32(len(w.queues)))
	for _, queue := range w.queues {
		queue <- w.now
	}
}

// recycle empties a batch that is done, and gives the connections that ended in it back.
func (b *batch) recycle(free func(*conn)) {
	for i := range b.steps[:b.n] {
		if b.steps[i].ends {
			free(b.steps[i].conn)
		}
	}
	b.n = 0
}

func (w *crew) packet(c *conn, dir int, f Flags, s *segment) {
	x := w.next(c)
	x.ends, x.dir, x.timed, x.checksum, x.flags, x.now = false, uint8(dir), s.timed, s.checksum, f, s.now
	p := s.packet
	x.record, x.offset, x.wireLen, x.port, x.link, x.sent = p.Record, p.Offset, int32(p.WireLen), int32(p.Interface), p.LinkType, p.Direction
	if s.header != &x.header {
		x.header = *s.header
	}
}

func (w *crew) finish(c *conn, end unit.Nanos) {
	x := w.next(c)
	x.ends, x.end = true, end
}

// dismiss waits until all is judged.
func (w *crew) dismiss() {
	w.hand()
	for _, queue := range w.queues {
		close(queue)
	}
	w.wait.Wait()
}
