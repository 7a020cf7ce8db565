package perf

import (
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

// NoEvent is the name of an event that the text does not name (-F without event).
const NoEvent = "(none)"

// Event is one sample. A reader reuses it, its Payload and its Stack: what has to outlive the next call is copied.
// Strings are interned and may be kept.
type Event struct {
	Comm      string // thread name; "" where the text has none, ":-1" for a thread that was gone
	PID, TID  int    // valid iff HasPID, HasTID; -1 for a thread that was gone
	HasPID    bool   // `perf script` prints only the thread by default
	HasTID    bool
	CPU       int // valid iff HasCPU: recordings of one process have none
	HasCPU    bool
	Time      unit.Nanos // on the recording's clock, mostly since boot; valid iff HasTime
	HasTime   bool
	Name      string // without modifiers: "cpu-clock", "irq:softirq_entry", NoEvent
	Modifiers string // "ppp", "u"; "" if there are none
	Period    int64  // what the sample stands for, in units of the event; valid iff HasPeriod
	HasPeriod bool
	Payload   []byte // a tracepoint's fields as printed, see Field; empty for other events
	Stack     []Frame
	Pos       source.Pos
}

// Tracepoint reports whether the event is one of a tracepoint or probe, "SYSTEM:EVENT".
func (e *Event) Tracepoint() bool {
	return strings.IndexByte(e.Name, ':') > 0 && strings.IndexByte(e.Name, '/') < 0
}

// Weight is the period, or 1 where none was printed.
func (e *Event) Weight() int64 {
	if e.HasPeriod {
		return e.Period
	}
	return 1
}

// Frame is one entry of a stack, leaf first. Frames of inlined functions come before the function that they were
// inlined into, with its address.
type Frame struct {
	*Function
	Address   uint64 // virtual for the kernel, mostly an offset into the file for user space
	Offset    uint64 // into the function; valid iff HasOffset
	HasOffset bool
	damaged   bool // its object does not end as it should
}

// Function is what a frame names. Equal functions of one reader are the same pointer.
type Function struct {
	ID      int    // numbers the functions of a reader from 0, so that a consumer can keep tables by it
	Symbol  string // as printed, without offset; Unknown if perf found none
	DSO     string // "[kernel.kallsyms]", "[veth]", a path; "" where none is printed, also for inlined functions
	Inlined bool
}

// Unknown is what perf prints for a symbol or an object that it did not find.
const Unknown = "[unknown]"

// Header is what the lines beginning with # (perf script --header) tell of the recording.
type Header struct {
	Captured string // "Mon Nov 30 16:31:22 2026", in the recording machine's time zone
	Host     string
	Release  string // of the kernel
	Version  string // of perf
	CPUs     int    // online
	CPU      string // model
	Command  string // the perf record command line
}

// Lost is what the recorder says that it lost.
type Lost struct {
	Events int64 // sum of the PERF_RECORD_LOST and PERF_RECORD_LOST_SAMPLES records
	Chunks int64 // "lost M chunks"
	Share  float64
}

// Any reports whether something was lost.
func (l Lost) Any() bool { return l.Events > 0 || l.Chunks > 0 || l.Share > 0 }
