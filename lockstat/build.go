package lockstat

import (
	"cmp"
	"slices"
	"strings"

	"nettrace/kernel"
	"nettrace/source"
)

// Bounds on what one output may hold one by one; what is more is summed.
const (
	maxLocks = 2048
	maxSites = 4096 // over all locks
	maxRows  = 4096
	maxPlace = 4 // rows cited for each site
	maxLoss  = 32
)

// The names under which the rest of a very long output is summed.
const (
	otherLocks = "(other locks)"
	otherSites = "(other callers)"
)

// builder joins rows into a table.
type builder struct {
	table  *Table
	ledger *source.Ledger
	locks  map[lockKey]int
	sites  map[siteKey]int
	names  map[string]string // one copy of each symbol
}

// lockKey tells locks apart. kind is part of it: an address may hold locks of two kinds, one inside or after the other.
type lockKey struct{ identity, kind string }

type siteKey struct {
	lock   int
	caller string
}

func newBuilder(pos source.Pos, tool Tool, keyed Keyed, ledger *source.Ledger) *builder {
	if tool.Options == nil {
		tool.Options = []string{}
	}
	t := &Table{Source: pos.Source, Pos: pos, Tool: tool, Keyed: keyed, Events: []Event{}, Locks: []Lock{}, Quarantined: []Row{}, Losses: []Loss{}}
	return &builder{table: t, ledger: ledger, locks: map[lockKey]int{}, sites: map[siteKey]int{}, names: map[string]string{}}
}

// name returns text as a string, the same one for equal texts.
func (b *builder) name(text []byte) string {
	if s, ok := b.names[string(text)]; ok {
		return s
	}
	s := string(text)
	if len(b.names) < 4*maxRows {
		b.names[s] = s
	}
	return s
}

// keep stores a row as it was printed.
func (b *builder) keep(r Row) {
	if len(b.table.Rows) < maxRows {
		b.table.Rows = append(b.table.Rows, r)
		return
	}
	b.ledger.Add("rows-not-listed", source.Note, r.Pos, 1, "more than 4,096 rows: the rest counts in the sums but is not listed row by row")
}

// add takes a row into the lock and the site that it belongs to. identity tells the lock from others of its kind.
func (b *builder) add(identity, name string, r *Row) (lock int) {
	b.table.Total.add(r)
	lock = b.lock(lockKey{identity, r.Kind}, name, r)
	l := &b.table.Locks[lock]
	l.Stats.add(r)
	l.Instances++
	if len(l.Pos) < maxPlace {
		l.Pos = append(l.Pos, r.Pos)
	}
	b.share(l, r)
	if r.Caller == "" {
		return lock
	}
	site := b.site(lock, r.Caller)
	s := &l.Sites[site]
	s.Stats.add(r)
	if len(s.Stack) == 0 {
		s.Stack = r.Stack
	}
	if len(s.Pos) < maxPlace {
		s.Pos = append(s.Pos, r.Pos)
	}
	return lock
}

func (b *builder) lock(key lockKey, name string, r *Row) int {
	if i, ok := b.locks[key]; ok {
		return i
	}
	if len(b.table.Locks) >= maxLocks {
		b.ledger.Add("locks-summed", source.Note, r.Pos, 1, "more than 2,048 locks: further ones are summed as "+otherLocks)
		key, name = lockKey{otherLocks, ""}, otherLocks
		if i, ok := b.locks[key]; ok {
			return i
		}
	}
	i := len(b.table.Locks)
	b.locks[key] = i
	b.table.Locks = append(b.table.Locks, Lock{Name: name, Address: r.Address, Kind: key.kind, Shares: []Share{}, Sites: []Site{}, Holders: []Site{}, Pos: []source.Pos{}})
	return i
}

func (b *builder) site(lock int, caller string) int {
	key := siteKey{lock, caller}
	if i, ok := b.sites[key]; ok {
		return i
	}
	l := &b.table.Locks[lock]
	if len(b.sites) >= maxSites {
		key.caller = otherSites
		if i, ok := b.sites[key]; ok {
			return i
		}
	}
	i := len(l.Sites)
	b.sites[key] = i
	l.Sites = append(l.Sites, Site{Caller: key.caller, Stack: []string{}, Pos: []source.Pos{}})
	return i
}

func (b *builder) share(l *Lock, r *Row) {
	if r.Event == "" {
		return
	}
	i := slices.IndexFunc(l.Shares, func(s Share) bool { return s.Event == r.Event })
	if i < 0 {
		i = len(l.Shares)
		l.Shares = append(l.Shares, Share{Event: r.Event})
	}
	l.Shares[i].Count = sum(l.Shares[i].Count, r.events())
	l.Shares[i].Time = sum(l.Shares[i].Time, sum(r.Wait.Total, r.Hold.Total))
}

// events is how many events of its type a lockstat row counts.
func (r *Row) events() int64 { return sum(sum(r.Wait.Count, r.Hold.Count), r.Spins.Count) }

// quarantine sets a row apart that cannot be true.
func (b *builder) quarantine(r Row, reason string) {
	r.Reason = reason
	if len(b.table.Quarantined) < maxLoss {
		b.table.Quarantined = append(b.table.Quarantined, r)
	}
	b.ledger.Add("impossible-row", source.Warning, r.Pos, 1, reason+"; the row is in no total")
}

// lose enters a loss that the reader of findings must know, into the ledger and into the table.
func (b *builder) lose(name string, weight source.Loss, pos source.Pos, n int64, text string) {
	b.ledger.Add(name, weight, pos, n, text)
	for i := range b.table.Losses {
		if l := &b.table.Losses[i]; l.Name == name {
			l.Count = sum(l.Count, n)
			return
		}
	}
	if len(b.table.Losses) < maxLoss {
		b.table.Losses = append(b.table.Losses, Loss{Name: name, Count: n, Text: text, Pos: pos})
	}
}

// option notes an option of the tool that the output shows.
func (b *builder) option(o string) {
	if !slices.Contains(b.table.Tool.Options, o) {
		b.table.Tool.Options = append(b.table.Tool.Options, o)
	}
}

// finish names and sorts what was built.
func (b *builder) finish() *Table {
	known := kernel.NewLockIndex()
	for i := range b.table.Locks {
		l := &b.table.Locks[i]
		for j := range l.Sites {
			l.Sites[j].Role = known.Role(l.Sites[j].Caller)
		}
		for j := range l.Holders {
			l.Holders[j].Role = known.Role(l.Holders[j].Caller)
		}
		slices.SortStableFunc(l.Sites, func(a, b Site) int { return cmp.Or(longer(&a.Stats, &b.Stats), cmp.Compare(a.Caller, b.Caller)) })
		b.identify(l, known)
		b.shares(l)
	}
	slices.Sort(b.table.Tool.Options)
	slices.SortStableFunc(b.table.Locks, func(x, y Lock) int { return cmp.Or(longer(&x.Stats, &y.Stats), byName(&x, &y)) })
	return b.table
}

// identify gives a lock the key by which it is found again in another run, and what is known of it.
func (b *builder) identify(l *Lock, known *kernel.LockIndex) {
	name, lead := l.Name, ""
	for _, s := range l.Sites { // sites are sorted: the first known one has waited longest
		if n := known.Find(name, s.Caller); n != nil {
			l.Known = n.Name
			break
		}
	}
	if len(l.Sites) > 0 {
		lead = l.Sites[0].Caller
	}
	if len(l.Sites) == 0 && b.table.Keyed.byLock() {
		if n := known.Find(name, name); n != nil {
			l.Known = n.Name
		}
	}
	switch {
	case !b.table.Keyed.byLock():
		l.Key = name
	case b.table.Keyed == ByCaller:
		l.Key = "at " + function(name)
	case !isAddress(name):
		l.Key = kernel.LockClass(name)
	case l.Known != "":
		l.Key = l.Known
	default:
		l.Key = "at " + function(lead)
	}
}

// function is the name in a symbol; perf lock report cuts symbols to 16 characters and three dots.
func function(symbol string) string {
	name := strings.TrimSuffix(kernel.Function(strings.TrimSuffix(symbol, "...")), "+")
	if name == "" {
		return "an unknown place"
	}
	return name
}

// byLock reports whether the rows tell locks, or at least the places where they are taken, from each other.
func (k Keyed) byLock() bool { return k == ByLock || k == ByCaller }

func (b *builder) shares(l *Lock) {
	for i := range l.Shares {
		s := &l.Shares[i]
		for _, e := range b.table.Events {
			if e.Name == s.Event {
				s.CountShare, s.TimeShare = ratio(s.Count, e.Count), ratio(s.Time, e.Time)
			}
		}
	}
}

// longer orders by wait, then by count, iterations and hold.
func longer(a, b *Stats) int {
	return -cmp.Or(cmp.Compare(a.Wait, b.Wait), cmp.Compare(a.Contentions, b.Contentions), cmp.Compare(a.Iterations, b.Iterations), cmp.Compare(a.Hold, b.Hold))
}

func byName(a, b *Lock) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Address, b.Address))
}

// isAddress reports whether a lock or caller has no symbol: 0xfffff80003a4d018, ffffffff851c0940.
func isAddress(name string) bool {
	hex := strings.TrimPrefix(name, "0x")
	return hex != "" && strings.Trim(hex, "0123456789abcdef") == "" && (len(hex) >= 8 || len(hex) < len(name))
}
