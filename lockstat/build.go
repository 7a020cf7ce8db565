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
	maxStack = 8192 // over all sites
	maxPlace = 4    // rows cited for each site
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
	stacks map[stackKey]int
	chains map[string][]string // one copy of each stack
	shared bool                // equal stacks of rows already are one copy
	names  map[string]string   // one copy of each symbol
}

// lockKey tells locks apart. kind is part of it: an address may hold locks of two kinds, one inside or after the other.
// The sides of a lock that readers share are one lock.
type lockKey struct{ identity, kind string }

type siteKey struct {
	lock         int
	caller, kind string
}

// stackKey finds a stack of a site by its first frame, since equal stacks share their memory.
type stackKey struct {
	lock, site int
	frames     *string
}

func newBuilder(pos source.Pos, tool Tool, keyed Keyed, ledger *source.Ledger) *builder {
	if tool.Options == nil {
		tool.Options = []string{}
	}
	t := &Table{Source: pos.Source, Pos: pos, Tool: tool, Keyed: keyed, Events: []Event{}, Locks: []Lock{}, Recursions: []Row{}, Quarantined: []Row{}, Losses: []Loss{}}
	return &builder{table: t, ledger: ledger, locks: map[lockKey]int{}, sites: map[siteKey]int{}, stacks: map[stackKey]int{}, chains: map[string][]string{}, names: map[string]string{}}
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

// keepPair stores one wait or hold; its bin says no more than its length.
func (b *builder) keepPair(r Row) {
	r.Wait.Bins, r.Hold.Bins = nil, nil
	b.keep(r)
}

// recursion notes that a thread took a lock that it had.
func (b *builder) recursion(r Row) {
	list := b.table.Recursions
	i := slices.IndexFunc(list, func(have Row) bool { return have.Lock == r.Lock && have.Caller == r.Caller })
	switch {
	case i >= 0:
		list[i].Wait.Count = sum(list[i].Wait.Count, r.Wait.Count)
	case len(list) < maxLoss:
		b.table.Recursions = append(list, r)
	default:
		b.ledger.Add("recursions-not-listed", source.Note, r.Pos, r.Wait.Count, "more than 32 places take a lock again that they have; further ones are left out")
	}
}

// add takes a row into the lock and the site that it belongs to. identity tells the lock from others of its kind.
func (b *builder) add(identity, name string, r *Row) (lock int) {
	b.table.Total.add(r)
	base, _, sided := strings.Cut(r.Kind, ":")
	lock = b.lock(lockKey{identity, base}, name, r)
	l := &b.table.Locks[lock]
	if l.Kind != r.Kind && strings.HasPrefix(l.Kind, base) {
		l.Kind = base
	}
	l.Stats.add(r)
	l.Instances++
	if len(l.Pos) < maxPlace {
		l.Pos = append(l.Pos, r.Pos)
	}
	b.share(l, r)
	if r.Caller == "" && !sided {
		return lock
	}
	site := b.site(lock, r.Caller, r.Kind)
	s := &l.Sites[site]
	s.Stats.add(r)
	if len(r.Stack) > 0 {
		b.stack(lock, site, r)
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
		r = &Row{Pos: r.Pos}
		if i, ok := b.locks[key]; ok {
			return i
		}
	}
	i := len(b.table.Locks)
	b.locks[key] = i
	address := r.Address
	if address == name {
		address = ""
	}
	b.table.Locks = append(b.table.Locks, Lock{Name: name, Address: address, Kind: r.Kind, Shares: []Share{}, Sites: []Site{}, Holders: []Site{}, Pos: []source.Pos{}})
	return i
}

func (b *builder) site(lock int, caller, kind string) int {
	key := siteKey{lock, caller, kind}
	if i, ok := b.sites[key]; ok {
		return i
	}
	l := &b.table.Locks[lock]
	if len(b.sites) >= maxSites {
		key.caller, key.kind = otherSites, ""
		if i, ok := b.sites[key]; ok {
			return i
		}
	}
	i := len(l.Sites)
	b.sites[key] = i
	l.Sites = append(l.Sites, Site{Caller: key.caller, Kind: key.kind, Stacks: []Stack{}, Pos: []source.Pos{}})
	return i
}

// stack adds a row to the stack that led to its site.
func (b *builder) stack(lock, site int, r *Row) {
	frames := r.Stack
	if !b.shared {
		frames = b.chain(frames)
	}
	key := stackKey{lock, site, &frames[0]}
	s := &b.table.Locks[lock].Sites[site]
	i, known := b.stacks[key]
	if !known {
		if len(b.stacks) >= maxStack {
			b.ledger.Add("stacks-not-kept", source.Note, r.Pos, 1, "more than 8,192 stacks: the waits of further ones are known by caller only")
			return
		}
		i = len(s.Stacks)
		b.stacks[key] = i
		s.Stacks = append(s.Stacks, Stack{Frames: frames})
	}
	k := &s.Stacks[i]
	k.Contentions, k.Acquisitions = sum(k.Contentions, sum(r.Wait.Count, r.Spins.Count)), sum(k.Acquisitions, r.Hold.Count)
	k.Wait, k.Hold = sum(k.Wait, r.Wait.Total), sum(k.Hold, r.Hold.Total)
}

// chain returns the one copy of a stack.
func (b *builder) chain(frames []string) []string {
	key := strings.Join(frames, "\x00")
	have, known := b.chains[key]
	if known {
		return have
	}
	if len(b.chains) < 2*maxStack {
		b.chains[key] = frames
	}
	return frames
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
		b.table.identify(l, known)
		b.shares(l)
	}
	slices.Sort(b.table.Tool.Options)
	slices.SortStableFunc(b.table.Locks, func(x, y Lock) int { return cmp.Or(longer(&x.Stats, &y.Stats), byName(&x, &y)) })
	return b.table
}

// rename gives locks that are known by address the names that others know them by.
func (t *Table) rename(names map[string]string) {
	known := kernel.NewLockIndex()
	for i := range t.Locks {
		if l := &t.Locks[i]; isAddress(l.Name) && names[l.Name] != "" {
			l.Address, l.Name = l.Name, names[l.Name]
			t.identify(l, known)
		}
	}
}

// identify gives a lock the key by which it is found again in another run, and what is known of it.
func (t *Table) identify(l *Lock, known *kernel.LockIndex) {
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
	if (len(l.Sites) == 0 || lead == "") && t.Keyed.byLock() {
		if n := known.Find(name, name); n != nil {
			l.Known = n.Name
		}
	}
	switch {
	case !t.Keyed.byLock():
		l.Key = name
	case t.Keyed == ByCaller, strings.Contains(name, "+0x") && l.Address != "": // perf names some locks by who takes them
		l.Key = "at " + function(name)
	case !isAddress(name):
		l.Key = kernel.LockClass(name)
	case l.Known != "":
		l.Key = l.Known
	case lead == "" || isAddress(lead): // not to be found again in another boot, but told from others
		l.Key = name
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
