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
}

// Entries returns the table as a flat list: lock after lock in the order asked for, each place that takes it an entry.
// Where the tool times only the lock as a whole, the lock is one entry and its most frequent place the site.
func (t *Table) Entries(by Order) []Entry {
	list := []Entry{}
	for _, l := range t.Sorted(by) {
		if !l.timedBySite() {
			site, role := "", ""
			if len(l.Sites) > 0 {
				site, role = l.Sites[0].Caller, l.Sites[0].Role
			}
			list = append(list, entry(l, site, l.Kind, role, &l.Stats))
			continue
		}
		sites := slices.Clone(l.Sites)
		slices.SortStableFunc(sites, func(a, b Site) int { return compare(by, &a.Stats, &b.Stats) })
		for i := range sites {
			list = append(list, entry(l, sites[i].Caller, cmp.Or(sites[i].Kind, l.Kind), sites[i].Role, &sites[i].Stats))
		}
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

func entry(l *Lock, site, kind, role string, s *Stats) Entry {
	return Entry{Name: l.Name, Site: site, Kind: kind, Contentions: s.Contentions, Wait: s.Wait, WaitMax: s.WaitMax, Hold: s.Hold,
		Acquisitions: s.Acquisitions, Spin: s.Spin, Iterations: s.Iterations, Role: role, Known: l.Known}
}
