package lockstat

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

// Dump is a cumulative table and what its name tells of it.
type Dump struct {
	Table *Table
	Name  source.Name
	Mod   unit.Nanos // time of its file's last change since 1970; 0 where not known
}

// series tells which dumps are of one host: those of one folder, and of one group and host where names tell them.
type series struct {
	folder, group string
	peer          bool
}

// Between replaces dumps of /proc/lock_stat of one host by what happened between each and the next. Their order is that
// of the times in their names, of before and after in them, or of the names. Where the names tell no time and no phase,
// dumps are subtracted only if no counter fell and most classes are in both: files of unlike hosts are left as they are,
// and so is a dump alone. The tables keep their order.
func Between(tables []*Table, dumps []Dump, ledger *source.Ledger) []*Table {
	made, gone := map[*Table]*Table{}, map[*Table]bool{}
	groups := map[series][]Dump{}
	var keys []series
	for _, d := range dumps {
		k := series{folder: path.Dir(d.Table.Source), peer: d.Name.Peer}
		if d.Name.Phase != "" {
			k.group = d.Name.Group
		}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], d)
	}
	for _, k := range keys {
		list := groups[k]
		slices.SortStableFunc(list, order)
		for i := 1; i < len(list); i++ {
			a, b := &list[i-1], &list[i]
			if !told(a, b) && !continues(a.Table, b.Table) {
				continue
			}
			seconds, how := apart(a, b)
			made[b.Table] = Subtract(a.Table, b.Table, seconds, ledger)
			if made[a.Table] == nil {
				gone[a.Table] = true
			}
			ledger.Add("dumps-subtracted", source.Note, b.Table.Pos, 1, "cumulative counters: what was counted since "+a.Table.Pos.String()+how)
		}
	}
	list := []*Table{}
	for _, t := range tables {
		switch {
		case made[t] != nil:
			list = append(list, made[t])
		case !gone[t]:
			list = append(list, t)
		}
	}
	return list
}

// order sorts dumps by time.
func order(a, b Dump) int {
	switch {
	case !a.Name.Time.IsZero() && !b.Name.Time.IsZero():
		return a.Name.Time.Compare(b.Name.Time)
	case a.Name.Phase != b.Name.Phase && (a.Name.Phase == "before" || b.Name.Phase == "after"):
		return -1
	case a.Name.Phase != b.Name.Phase && (a.Name.Phase == "after" || b.Name.Phase == "before"):
		return 1
	}
	return strings.Compare(a.Table.Source, b.Table.Source)
}

// told reports whether the names say that b was taken after a.
func told(a, b *Dump) bool {
	return !a.Name.Time.IsZero() && !b.Name.Time.IsZero() || a.Name.Phase == "before" && b.Name.Phase == "after"
}

// continues reports whether the counters of later can be those of earlier some time after.
func continues(earlier, later *Table) bool {
	have := map[lockKey]*Stats{}
	for i := range later.Locks {
		have[lockKey{later.Locks[i].Name, later.Locks[i].Kind}] = &later.Locks[i].Stats
	}
	common := 0
	for i := range earlier.Locks {
		l := &earlier.Locks[i]
		switch s := have[lockKey{l.Name, l.Kind}]; {
		case s == nil:
		case fell(&l.Stats, s):
			return false
		default:
			common++
		}
	}
	return common > 0 && 2*common >= len(earlier.Locks)
}

// apart is the time between two dumps, and where it was taken from.
func apart(a, b *Dump) (float64, string) {
	if !a.Name.Time.IsZero() && !b.Name.Time.IsZero() {
		if d := b.Name.Time.Sub(a.Name.Time); d > 0 {
			return d.Seconds(), fmt.Sprintf(", %s by the times in the names", unit.Nanos(d))
		}
	}
	if d := b.Mod - a.Mod; a.Mod > 0 && d >= unit.Second {
		return d.Seconds(), fmt.Sprintf(", %s by the files' times, which a copy may have changed", d)
	}
	return 0, "; how long it was cannot be told: name dumps TAG.lock_stat.UTCTIME.txt"
}
