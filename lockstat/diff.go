package lockstat

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nettrace/unit"
)

// Diff tells what changed between two tables, lock by lock. Locks are matched by their Key, so that heap addresses and
// instances are of no account. It is bounded as tables are.
type Diff struct {
	Base    Side     `json:"base"`
	Other   Side     `json:"other"`
	Rated   bool     `json:"rated"`   // both say how long was recorded: changes are of wait for each second
	Total   Change   `json:"total"`   // over all locks
	Locks   []Change `json:"locks"`   // the largest change of wait first, in whichever direction
	Caveats []string `json:"caveats"` // why the two may not be comparable
}

// Side is what a Diff tells of one of its tables.
type Side struct {
	Source  string  `json:"source"`
	Tool    Tool    `json:"tool"`
	Keyed   Keyed   `json:"keyed"`
	Seconds float64 `json:"seconds"` // 0 where not known
	CPUs    int     `json:"cpus"`    // 0 where not known
}

// Change is one lock, or class of locks, on both sides. Where a side does not have it, its Stats are zero.
type Change struct {
	Key        string  `json:"key"`
	Name       string  `json:"name"`  // as printed, of the side that has it
	Known      string  `json:"known"` // name of the kernel.NetworkLock that it is, or ""
	Base       Stats   `json:"base"`
	Other      Stats   `json:"other"`
	BaseWait   float64 `json:"base_wait"`  // nanoseconds of wait for each second recorded if the Diff is Rated, else in all
	OtherWait  float64 `json:"other_wait"` // the same of the other side
	Difference float64 `json:"difference"` // OtherWait - BaseWait
	Ratio      float64 `json:"ratio"`      // OtherWait / BaseWait; 0 where BaseWait is 0
}

// Compare tells what changed from base to other.
func Compare(base, other *Table) *Diff {
	d := &Diff{Base: side(base), Other: side(other), Rated: base.Seconds > 0 && other.Seconds > 0, Locks: []Change{}, Caveats: []string{}}
	d.Total = Change{Base: base.Total, Other: other.Total}
	d.measure(&d.Total)
	d.doubts(base, other)
	if base.Keyed != other.Keyed {
		return d
	}
	at := map[string]int{}
	of := func(c *class) *Change {
		i, known := at[c.key]
		if !known {
			i = len(d.Locks)
			at[c.key] = i
			d.Locks = append(d.Locks, Change{Key: c.key, Name: c.locks[0].Name, Known: c.locks[0].Known})
		}
		return &d.Locks[i]
	}
	for _, c := range base.classes() {
		of(c).Base = c.stats
	}
	for _, c := range other.classes() {
		of(c).Other = c.stats
	}
	for i := range d.Locks {
		d.measure(&d.Locks[i])
	}
	slices.SortStableFunc(d.Locks, func(a, b Change) int {
		return cmp.Or(-cmp.Compare(math.Abs(a.Difference), math.Abs(b.Difference)), -cmp.Compare(a.moved(), b.moved()), cmp.Compare(a.Key, b.Key))
	})
	return d
}

// CompareAll compares tables of the same tool and key with each other, in their order; what has no partner is left out.
func CompareAll(base, other []*Table) []*Diff {
	list, taken := []*Diff{}, make([]bool, len(base))
	for _, o := range other {
		for i, b := range base {
			if !taken[i] && b.Tool.Program == o.Tool.Program && b.Keyed == o.Keyed {
				taken[i] = true
				list = append(list, Compare(b, o))
				break
			}
		}
	}
	return list
}

func side(t *Table) Side {
	return Side{Source: t.Source, Tool: t.Tool, Keyed: t.Keyed, Seconds: t.Seconds, CPUs: t.CPUs}
}

// measure works out how the wait changed.
func (d *Diff) measure(c *Change) {
	c.BaseWait, c.OtherWait = float64(c.Base.Wait), float64(c.Other.Wait)
	if d.Rated {
		c.BaseWait, c.OtherWait = c.BaseWait/d.Base.Seconds, c.OtherWait/d.Other.Seconds
	}
	c.Difference, c.Ratio = c.OtherWait-c.BaseWait, ratio(c.OtherWait, c.BaseWait)
}

// moved is by how much the counts changed, for locks whose wait was not timed.
func (c *Change) moved() int64 {
	n := c.Other.Contentions - c.Base.Contentions
	return max(n, -n)
}

// doubts says why the tables may not be comparable.
func (d *Diff) doubts(base, other *Table) {
	doubt := func(format string, args ...any) { d.Caveats = append(d.Caveats, fmt.Sprintf(format, args...)) }
	if base.Keyed != other.Keyed {
		doubt("one table tells %ss apart, the other %ss: only the totals are compared", base.Keyed, other.Keyed)
	}
	if base.Tool.Program != other.Tool.Program {
		doubt("%s and %s do not count alike", base.Tool.Program, other.Tool.Program)
	}
	switch {
	case base.Cumulative() && other.Cumulative() && !d.Rated:
		doubt("both count from boot: give the two dumps together, without a base, to see what happened between them")
	case !d.Rated && (base.Seconds > 0) != (other.Seconds > 0):
		doubt("only one of the two says how long was recorded: waits are compared in all, not for each second")
	case !d.Rated:
		doubt("neither says how long was recorded: waits are compared in all, which is fair only if both recorded equally long")
	}
	if base.CPUs != other.CPUs && base.CPUs > 0 && other.CPUs > 0 {
		doubt("recorded on %d and on %d CPUs", base.CPUs, other.CPUs)
	}
	if (base.Total.Iterations > 0) != (other.Total.Iterations > 0) {
		doubt("one side counts spinning in loop iterations, the other in time")
	}
	byAddress := func(l Lock) bool { return isAddress(l.Key) }
	if slices.ContainsFunc(base.Locks, byAddress) || slices.ContainsFunc(other.Locks, byAddress) {
		doubt("locks that are known by nothing but their address are matched by it, which holds within one boot only: record with stacks (-g), or with perf lock info -m beside")
	}
	for _, t := range []*Table{base, other} {
		if lossy(t) {
			doubt("%s: events were lost in recording", t.Source)
		}
	}
}

// Text says in one line how a lock changed: "1.20 ms/s -> 0.30 ms/s (-75 %)".
func (c *Change) Text(rated bool) string {
	per := ""
	if rated {
		per = "/s"
	}
	text := unit.Nanos(c.BaseWait).String() + per + " -> " + unit.Nanos(c.OtherWait).String() + per
	switch {
	case c.BaseWait == 0 && c.OtherWait == 0:
		return fmt.Sprintf("%s -> %s", unit.Count(c.Base.Contentions), number(c.Other.Contentions, "contention"))
	case c.BaseWait == 0:
		return text + " (new)"
	default:
		return text + fmt.Sprintf(" (%+.0f %%)", 100*(c.Ratio-1))
	}
}
