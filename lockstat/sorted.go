package lockstat

import (
	"cmp"
	"fmt"
	"slices"

	"nettrace/unit"
)

// Order is what a list of locks is sorted by, largest first.
type Order string

const (
	ByWait  Order = "wait"  // total wait
	ByHold  Order = "hold"  // total hold
	ByCount Order = "count" // contentions
	ByMax   Order = "max"   // longest wait
)

// ParseOrder reads an order's name.
func ParseOrder(name string) (Order, error) {
	switch o := Order(name); o {
	case ByWait, ByHold, ByCount, ByMax:
		return o, nil
	}
	return "", fmt.Errorf("locks cannot be sorted by %q, only by wait, hold, count or max", name)
}

// Sorted returns the locks in that order. They are the table's own.
func (t *Table) Sorted(by Order) []*Lock {
	list := make([]*Lock, len(t.Locks))
	for i := range t.Locks {
		list[i] = &t.Locks[i]
	}
	slices.SortStableFunc(list, func(a, b *Lock) int { return cmp.Or(compare(by, &a.Stats, &b.Stats), byName(a, b)) })
	return list
}

func compare(by Order, a, b *Stats) int {
	first := 0
	switch by {
	case ByHold:
		first = cmp.Compare(a.Hold, b.Hold)
	case ByCount:
		first = cmp.Compare(a.Contentions, b.Contentions)
	case ByMax:
		first = cmp.Compare(a.WaitMax, b.WaitMax)
	}
	return cmp.Or(-first, longer(a, b))
}

// Entry is a lock as one place takes it. The entries of a lock add up to the lock, maxima apart.
type Entry struct {
	Name         string     `json:"name"`
	Site         string     `json:"site"`
	Kind         string     `json:"kind"`
	Contentions  int64      `json:"contentions"`
	Wait         unit.Nanos `json:"wait_total_ns"`
	WaitMax      unit.Nanos `json:"wait_max_ns"`
	Hold         unit.Nanos `json:"hold_total_ns"`
	Acquisitions int64      `json:"acquisitions"`
	Spin         unit.Nanos `json:"spin_total_ns"`
	Iterations   int64      `json:"spin_iterations"`
	Role         string     `json:"role"`
	Known        string     `json:"known"`
	CountShare   float64    `json:"count_share"`        // of all contentions of the table
	WaitShare    float64    `json:"wait_share"`         // of all wait of the table
	WaitRate     float64    `json:"wait_ns_per_second"` // 0 where the output does not say how long was recorded
	WaitersMax   int64      `json:"waiters_max"`        // of the lock; 0 where not known

	WaitMean       unit.Nanos `json:"wait_mean_ns"`
	HoldMean       unit.Nanos `json:"hold_mean_ns"`
	ContendedShare float64    `json:"contended_share"` // of the acquisitions; 0 where those are not known

	// Places that were only counted: they share the lock's one entry.
	Waiters []Place `json:"waiters,omitempty"`
	Holders []Place `json:"holders,omitempty"`
}

// Place is who waited for a lock, or who held it while others waited, where the tool counts but does not time it.
type Place struct {
	Caller      string `json:"caller"`
	Role        string `json:"role"`
	Contentions int64  `json:"contentions"`
}

func places(sites []Site) (list []Place) {
	for _, s := range sites {
		list = append(list, Place{s.Caller, s.Role, s.Contentions})
	}
	return list
}

// Group is a lock as a whole and, where it was timed place by place, the entries that add up to it.
type Group struct {
	Lock  Entry
	Sites []Entry
}

// Entries returns the table as a flat list: lock after lock in the order asked for, each place that takes it an entry.
// Where the tool times only the lock as a whole, the lock is one entry and its most frequent place the site.
func (t *Table) Entries(by Order) []Entry {
	list := []Entry{}
	for _, g := range t.Groups(by) {
		if len(g.Sites) == 0 {
			list = append(list, g.Lock)
		}
		list = append(list, g.Sites...)
	}
	return list
}

// Groups returns the locks in the order asked for, each with its places in the same order.
func (t *Table) Groups(by Order) []Group {
	list := make([]Group, 0, len(t.Locks))
	for _, l := range t.Sorted(by) {
		site, role := "", ""
		if len(l.Sites) > 0 {
			site, role = l.Sites[0].Caller, l.Sites[0].Role
		}
		g := Group{Lock: t.entry(l, site, l.Kind, role, &l.Stats)}
		if !l.timedBySite() {
			g.Lock.Waiters, g.Lock.Holders = places(l.Sites), places(l.Holders)
			list = append(list, g)
			continue
		}
		sites := slices.Clone(l.Sites)
		slices.SortStableFunc(sites, func(a, b Site) int { return compare(by, &a.Stats, &b.Stats) })
		for i := range sites {
			g.Sites = append(g.Sites, t.entry(l, sites[i].Caller, cmp.Or(sites[i].Kind, l.Kind), sites[i].Role, &sites[i].Stats))
		}
		list = append(list, g)
	}
	return list
}

// timedBySite reports whether the sites hold all that the lock does.
func (l *Lock) timedBySite() bool {
	var sites Stats
	for i := range l.Sites {
		s := &l.Sites[i].Stats
		sites.Contentions, sites.Acquisitions = sum(sites.Contentions, s.Contentions), sum(sites.Acquisitions, s.Acquisitions)
		sites.Wait, sites.Hold = sum(sites.Wait, s.Wait), sum(sites.Hold, s.Hold)
	}
	return len(l.Sites) > 0 && sites.Contentions == l.Contentions && sites.Acquisitions == l.Acquisitions && sites.Wait == l.Wait && sites.Hold == l.Hold
}

func (t *Table) entry(l *Lock, site, kind, role string, s *Stats) Entry {
	e := Entry{Name: l.Name, Site: site, Kind: kind, Contentions: s.Contentions, Wait: s.Wait, WaitMax: s.WaitMax, Hold: s.Hold,
		Acquisitions: s.Acquisitions, Spin: s.Spin, Iterations: s.Iterations, Role: role, Known: l.Known, WaitersMax: l.WaitersMax,
		CountShare: ratio(s.Contentions, t.Total.Contentions), WaitShare: ratio(s.Wait, t.Total.Wait), WaitRate: ratio(float64(s.Wait), t.Seconds),
		WaitMean: mean(s.Wait, s.Contentions), HoldMean: mean(s.Hold, s.Acquisitions)}
	if s.Contentions <= s.Acquisitions {
		e.ContendedShare = ratio(s.Contentions, s.Acquisitions)
	}
	return e
}

func mean(total unit.Nanos, n int64) unit.Nanos {
	if n == 0 {
		return 0
	}
	return total / unit.Nanos(n)
}
