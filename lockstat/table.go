package lockstat

import (
	"nettrace/source"
	"nettrace/unit"
)

// Table is one output of a tool that measures locks. It is bounded: of very long outputs the locks met first (which are
// the largest, as tools sort) are kept one by one, and the rest is summed.
type Table struct {
	Source  string     `json:"source"`
	Pos     source.Pos `json:"pos"` // of the first line
	Tool    Tool       `json:"tool"`
	Seconds float64    `json:"seconds"` // how long was recorded; 0 where the output does not say
	CPUs    int        `json:"cpus"`    // 0 where the output does not say
	Keyed   Keyed      `json:"keyed"`   // what tells one lock from another here
	Events  []Event    `json:"events"`  // lockstat's tables by type of event; none for other tools
	Total   Stats      `json:"total"`   // over all locks
	Locks   []Lock     `json:"locks"`   // longest wait first

	Recursions  []Row  `json:"recursions"`  // places that took a lock which their thread had
	Quarantined []Row  `json:"quarantined"` // rows that cannot be true; they are in no total
	Losses      []Loss `json:"losses"`      // what the tool says it lost, and what the output lacks

	Rows []Row `json:"-"` // as printed, the first 4096; for lists of records, not stored in results
}

// Tool is what the output tells of the program that wrote it.
type Tool struct {
	Program string   `json:"program"` // lockstat, lock_stat, perf lock report, lock:contention_begin, klockstat, ...
	System  string   `json:"system"`  // Linux, FreeBSD, illumos; "" where it cannot be told
	Version string   `json:"version"` // of the format, where printed
	Options []string `json:"options"` // those that can be seen: -P, -D 3, -s
}

// Keyed tells what a Lock of a table stands for.
type Keyed string

const (
	ByLock   Keyed = "lock"   // a lock by name or address, or a class of locks
	ByCaller Keyed = "caller" // the place that waits: the tool names no locks, so locks taken there are one
	ByThread Keyed = "thread" // a thread's waits, whatever the lock
	ByOwner  Keyed = "owner"  // the waits for locks that a thread held
	ByGroup  Keyed = "cgroup" // the waits of a control group
)

// Act is what a thread did with a lock.
type Act string

const (
	Spin    Act = "spin"    // waited and burnt its CPU
	Block   Act = "block"   // waited and let others run
	Wait    Act = "wait"    // waited, the tool does not say how
	Hold    Act = "hold"    // had the lock
	Profile Act = "profile" // no lock: lockstat -I samples the CPUs
	Failure Act = "failure" // recursion, or a failure of the tool
)

// Lock is one lock, class of locks or caller (see Table.Keyed), with the places that take it.
type Lock struct {
	Name      string `json:"name"`    // as printed; the caller where the tool names no lock
	Address   string `json:"address"` // where it is printed beside a name
	Key       string `json:"key"`     // stable from run to run: the name without instance, or, for an address, "at FUNCTION"
	Kind      string `json:"kind"`    // mutex, spinlock, rwlock, sx, or as the tool prints it: "rwsem:W", "rwsem" where both sides wait; "" where unknown
	Known     string `json:"known"`   // name of the kernel.NetworkLock that it is, or ""
	Instances int64  `json:"instances"`
	Stats
	Shares  []Share `json:"shares"`  // of lockstat's events
	Sites   []Site  `json:"sites"`   // who waits or holds, longest wait first
	Holders []Site  `json:"holders"` // who held it while others waited, where the tool tells

	Pos []source.Pos `json:"pos"` // the first rows
}

// Site is a place in the kernel that takes a lock.
type Site struct {
	Caller string `json:"caller"` // as printed; "" where only the side that waits is known (rwsem:W)
	Kind   string `json:"kind"`   // as the Lock's, with the side of a lock that readers share: rwsem:R
	Role   string `json:"role"`   // its part in the datapath (kernel.RoleTransmit, ...), "" where unknown
	Stats
	Stacks []Stack      `json:"stacks"` // the ways that led there, where they were recorded
	Pos    []source.Pos `json:"pos"`    // the first rows
}

// Stack is one way to a Site. The Stacks of a site may hold less than the site, since not every row has one.
type Stack struct {
	Frames       []string   `json:"frames"` // as printed, the caller first
	Contentions  int64      `json:"contentions"`
	Acquisitions int64      `json:"acquisitions"`
	Wait         unit.Nanos `json:"wait_total_ns"`
	Hold         unit.Nanos `json:"hold_total_ns"`
}

// Share is a lock's part of all events of one type.
type Share struct {
	Event      string     `json:"event"`
	Count      int64      `json:"count"`
	CountShare float64    `json:"count_share"`
	Time       unit.Nanos `json:"time_ns"`
	TimeShare  float64    `json:"time_share"`
}

// Event is one of lockstat's tables.
type Event struct {
	Name      string     `json:"name"` // "Adaptive mutex spin"
	Number    int        `json:"number"`
	Act       Act        `json:"act"`
	Kind      string     `json:"kind"`
	Unit      string     `json:"unit"`             // ns, iterations, or "" where no time was taken
	Count     int64      `json:"count"`            // all events, also those of rows that were not printed
	Shown     int64      `json:"shown"`            // in the rows
	ShownTime float64    `json:"shown_time_share"` // with -P: the share of the time that the rows hold; else 0
	Time      unit.Nanos `json:"time_ns"`          // of the rows
	Pos       source.Pos `json:"pos"`
}

// Loss is something that is missing in a table.
type Loss struct {
	Name  string     `json:"name"` // as in the ledger
	Count int64      `json:"count"`
	Text  string     `json:"text"`
	Pos   source.Pos `json:"pos"`
}

// Row is one row as it was printed.
type Row struct {
	Pos        source.Pos `json:"pos"`
	Event      string     `json:"event,omitempty"`
	Act        Act        `json:"act,omitempty"`
	Kind       string     `json:"kind,omitempty"`
	Lock       string     `json:"lock,omitempty"`
	Address    string     `json:"address,omitempty"`
	Caller     string     `json:"caller,omitempty"`
	Thread     string     `json:"thread,omitempty"`
	Percent    string     `json:"percent,omitempty"`    // lockstat's indv or genr
	Cumulative string     `json:"cumulative,omitempty"` // lockstat's cuml
	Wait       Measured   `json:"wait,omitzero"`
	Hold       Measured   `json:"hold,omitzero"`
	Spins      Measured   `json:"spins,omitzero"`    // Total, Mean and Bins count loop iterations, not time
	Spun       unit.Nanos `json:"spun_ns,omitempty"` // part of a wait that both spun and blocked
	Bounces    int64      `json:"bounces,omitempty"` // contentions with a holder on another CPU
	Stack      []string   `json:"stack,omitempty"`
	Reason     string     `json:"reason,omitempty"` // why it is quarantined
}

// Measured is what a row says of one thing that was timed.
type Measured struct {
	Count int64      `json:"count"`
	Total unit.Nanos `json:"total_ns"`
	Slack unit.Nanos `json:"slack_ns"` // how far the true total may be from Total, because of rounding
	Mean  unit.Nanos `json:"mean_ns"`
	Min   unit.Nanos `json:"min_ns"` // 0 where not printed
	Max   unit.Nanos `json:"max_ns"`
	Exact bool       `json:"max_exact"` // false: Max is only known to be reached
	Bins  []Bin      `json:"bins,omitempty"`
}

// Cumulative reports whether the figures go on from boot, so that two tables of one host are to be subtracted.
func (t *Table) Cumulative() bool { return t.Tool.Program == procLockStat }
