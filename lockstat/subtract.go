package lockstat

import (
	"slices"

	"nettrace/source"
)

// Subtract returns what happened between two dumps of /proc/lock_stat, whose counters go on from boot or from the last
// "echo 0": counts and totals are differences and means are computed anew. A longest wait of the interval is known only
// where it became longer than before; shortest ones are not. A class whose counters fell was reset in between, and has
// what it counted since. seconds is the time between the dumps, 0 where it is not known.
func Subtract(before, after *Table, seconds float64, ledger *source.Ledger) *Table {
	b := newBuilder(after.Pos, after.Tool, after.Keyed, ledger)
	b.table.Tool.Options = append(slices.Clone(after.Tool.Options), "since "+before.Source)
	b.table.Seconds, b.table.Losses = seconds, slices.Clone(after.Losses)
	earlier := map[lockKey]*Lock{}
	for i := range before.Locks {
		l := &before.Locks[i]
		earlier[lockKey{l.Name, l.Kind}] = l
	}
	for i := range after.Locks {
		l := after.Locks[i]
		switch old := earlier[lockKey{l.Name, l.Kind}]; {
		case old == nil:
		case fell(&old.Stats, &l.Stats):
			b.lose("counters-reset", source.Note, first(l.Pos), 1, "counters fell between the two dumps (echo 0 > /proc/lock_stat, or a boot): what was counted since is taken, and the time it took is not known")
			b.table.Seconds = 0
		default:
			l = l.since(old)
		}
		if l.Contentions == 0 && l.Acquisitions == 0 {
			continue
		}
		b.table.Total.merge(&l.Stats)
		b.table.Locks = append(b.table.Locks, l)
	}
	return b.finish()
}

// since returns a lock with what it counted after old.
func (l *Lock) since(old *Lock) Lock {
	d := *l
	d.Stats = l.Stats.since(&old.Stats)
	d.Sites, d.Holders = sitesSince(l.Sites, old.Sites), sitesSince(l.Holders, old.Holders)
	return d
}

func sitesSince(sites, old []Site) []Site {
	list := []Site{}
	for _, s := range sites {
		i := slices.IndexFunc(old, func(o Site) bool { return o.Caller == s.Caller })
		if i >= 0 && s.Contentions >= old[i].Contentions {
			s.Stats = s.Stats.since(&old[i].Stats)
		}
		if s.Contentions > 0 {
			list = append(list, s)
		}
	}
	return list
}

// since is the difference of counters that only grow.
func (s *Stats) since(old *Stats) Stats {
	d := Stats{
		Contentions: s.Contentions - old.Contentions, Acquisitions: s.Acquisitions - old.Acquisitions, Bounces: max(s.Bounces-old.Bounces, 0),
		Wait: max(s.Wait-old.Wait, 0), WaitSlack: sum(s.WaitSlack, old.WaitSlack), Hold: max(s.Hold-old.Hold, 0),
	}
	if d.WaitMax = mean(d.Wait, d.Contentions); s.WaitMax > old.WaitMax {
		d.WaitMax, d.WaitMaxExact = s.WaitMax, true
	}
	if s.HoldMax > old.HoldMax {
		d.HoldMax = s.HoldMax
	}
	return d
}

func fell(old, s *Stats) bool {
	return s.Contentions < old.Contentions || s.Acquisitions < old.Acquisitions
}

func first(list []source.Pos) source.Pos {
	if len(list) == 0 {
		return source.Pos{}
	}
	return list[0]
}
