package tcp

import (
	"nettrace/unit"
)

// shard judges some of the connections, each of them whole, and sums them. What it learns does not depend on the order in
// which connections end, so that the sums of several shards are those of one.
type shard struct {
	recoveries  pool[recovery]
	tailPool    pool[tails]
	eventPool   pool[events]
	limitPool   pool[limit]
	ringPool    pool[ackRing]
	flightPool  pool[flight]
	ackPool     pool[acks]
	turnPool    pool[exchanges]
	stallPool   pool[stalls]
	examplePool pool[examples]

	totals  Totals
	picture picture
	kept    kept
	servers servers
}

func newShard(maxKept int) *shard { return &shard{kept: kept{max: maxKept}, servers: newServers()} }

// take judges a packet. f is what is known of it already. It does not look into the connection's flow, which another core
// writes meanwhile.
func (t *shard) take(c *conn, dir int, f Flags, s *segment) Flags {
	f |= t.judge(c, dir, s)
	if f&FlagCopy == 0 {
		c.last = max(c.last, s.now)
	}
	return f
}

// finish sums a connection and empties it. end is the time of the capture by then.
func (t *shard) finish(c *conn, end unit.Nanos) {
	c.exchanges.complete()
	c.dir[0].turn()
	c.dir[1].turn()
	t.endWaits(c)
	for i := range c.dir {
		if l := c.dir[i].limit; l != nil {
			l.end(c, i)
		}
	}
	t.sum(c, end)
	for i := range c.dir {
		t.recoveries.give(c.dir[i].recovery)
		t.tailPool.give(c.dir[i].tails)
		t.stallPool.give(c.dir[i].waits.stalls)
		t.flightPool.give(c.dir[i].rtt.flight)
		t.ackPool.give(c.dir[i].acks)
		t.account(c.dir[i].limit)
	}
	t.turnPool.give(c.exchanges)
	t.forget(c.events)
	*c = conn{}
}

// merge adds what another shard has learnt.
func (t *shard) merge(other *shard) {
	t.totals.add(&other.totals)
	t.picture.merge(&other.picture)
	t.kept.merge(&other.kept)
	t.servers.merge(other.servers)
}
