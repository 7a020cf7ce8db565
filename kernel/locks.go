package kernel

import "strings"

// NetworkLock is a lock, or a class of locks, on the path of packets: what it protects, what waiting for it tells, and
// what to do. Heap locks print as addresses, and perf names no lock at all, so a lock is known by its printed name or
// by the function that takes it.
type NetworkLock struct {
	Name      string       // kebab-case and stable: "iflib-txq"
	Title     string       // "transmit queue lock of iflib"
	System    string       // Linux, FreeBSD or illumos
	Locks     []string     // names as tools print them; * stands for any beginning or end
	Callers   []LockCaller // functions that take it
	Generic   bool         // the name is shared by unlike locks: a known caller says more than it
	Protects  string
	Meaning   string   // what waiting for it tells
	Advice    []string // what to change, or what to look at next
	Reference string   // source file, or where it was found
}

// LockCaller is a function that takes a lock, and its part in the datapath.
type LockCaller struct {
	Function string
	Role     string // one of the roles below
}

// The parts that a function can play in the datapath. Waits of unlike roles on one lock mean that, say, senders stand
// in the way of the clean-up.
const (
	RoleTransmit    = "transmit"
	RoleReclaim     = "transmit reclaim"
	RoleReceive     = "receive"
	RoleInterrupt   = "interrupt"
	RoleTimer       = "timer"
	RoleApplication = "application"
	RoleAllocate    = "allocate"
	RoleFree        = "free"
	RoleControl     = "control"
)

// NetworkLocks returns all known network locks.
func NetworkLocks() []NetworkLock {
	return append(append(linuxLocks(), freebsdLocks()...), illumosLocks()...)
}

// LockIndex finds network locks by name. Build one and use it for many questions; it is safe for concurrent use.
type LockIndex struct {
	locks   []NetworkLock
	exact   map[string]int
	callers map[string]place
}

type place struct {
	lock int
	role string
}

// NewLockIndex indexes NetworkLocks. A function that several locks list belongs to the first.
func NewLockIndex() *LockIndex {
	x := &LockIndex{locks: NetworkLocks(), exact: map[string]int{}, callers: map[string]place{}}
	for i, n := range x.locks {
		for _, name := range n.Locks {
			if _, known := x.exact[name]; !known {
				x.exact[name] = i
			}
		}
		for _, c := range n.Callers {
			if _, known := x.callers[c.Function]; !known {
				x.callers[c.Function] = place{i, c.Role}
			}
		}
	}
	return x
}

// Find returns what is known of a lock with that printed name ("" or an address where the tool gives none) taken by
// that caller, or nil. Offsets, lockdep's suffixes and the compiler's are of no account.
func (x *LockIndex) Find(lock, caller string) *NetworkLock {
	byName := x.byName(LockClass(lock))
	if byName != nil && !byName.Generic {
		return byName
	}
	if p, ok := x.callers[Function(caller)]; ok {
		return &x.locks[p.lock]
	}
	return byName
}

// Role returns the part that a caller plays in the datapath, or "".
func (x *LockIndex) Role(caller string) string { return x.callers[Function(caller)].role }

func (x *LockIndex) byName(class string) *NetworkLock {
	if i, ok := x.exact[class]; ok {
		return &x.locks[i]
	}
	for i := range x.locks {
		for _, pattern := range x.locks[i].Locks {
			if matches(pattern, class) {
				return &x.locks[i]
			}
		}
	}
	return nil
}

func matches(pattern, name string) bool {
	tail, open := strings.CutPrefix(pattern, "*")
	head, any := strings.CutSuffix(tail, "*")
	switch {
	case open && any:
		return strings.Contains(name, head)
	case open:
		return strings.HasSuffix(name, head)
	case any:
		return strings.HasPrefix(name, head)
	default:
		return pattern == name
	}
}

// LockClass takes from a lock's printed name what tells one instance from another: the offset in a structure, lockstat's
// size "[64]", lockdep's "#2" (same name, other class), "/1" (subclass), "-W" and "-R" (writer, reader), and its
// spelling "&(&zone->lock)->rlock" of "&zone->lock".
func LockClass(name string) string {
	name, _, _ = strings.Cut(name, "+0x")
	for _, suffix := range []string{"-W", "-R"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if i := strings.LastIndexAny(name, "#/"); i > 0 && digits(name[i+1:]) {
		return LockClass(name[:i])
	}
	if i := strings.LastIndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") && digits(name[i+1:len(name)-1]) {
		name = name[:i]
	}
	if inner, ok := strings.CutSuffix(name, ")->rlock"); ok {
		if inner, ok = strings.CutPrefix(inner, "&("); ok {
			return inner
		}
	}
	return name
}

// Function takes from a symbol its offset and size ("+0x1f/0x120"), its module ("kernel`f", "f [mod]"), the leading dot
// of 64-bit PowerPC, and what compilers append (".constprop.0", ".isra.1", ".part.0", ".cold", ".llvm.123").
func Function(symbol string) string {
	symbol, _, _ = strings.Cut(symbol, " [")
	symbol, _, _ = strings.Cut(symbol, "+0x")
	if i := strings.LastIndexByte(symbol, '`'); i >= 0 {
		symbol = symbol[i+1:]
	}
	symbol = strings.TrimPrefix(symbol, ".")
	symbol, _, _ = strings.Cut(symbol, ".")
	return symbol
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
