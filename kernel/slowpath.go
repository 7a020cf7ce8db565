package kernel

import "strings"

// Code is what it means that time is found in certain functions of a kernel, as a stack profile shows them.
type Code struct {
	Functions []string // names without offsets and compilers' suffixes; * stands for any ending
	System    string   // Linux, FreeBSD or illumos
	Class     Class
	Lock      string // of the lock classes: "spin lock", "mutex", "reader-writer lock"
	Skid      bool   // as a leaf it may stand for others' time: interrupts are turned on in it
	Meaning   string
	Reference string // source file and versions
}

// Class groups functions by what their time is spent on.
type Class uint8

const (
	LockSpin        Class = iota // a slow path that burns the CPU until the lock is free, or until it goes to sleep
	LockSleep                    // gives up the CPU until the lock is free
	LockEntry                    // takes a lock; by itself no sign of contention
	InterruptEnable              // turns interrupts on
	InterruptEntry               // where an interrupt took the CPU from what is below it in the stack
	ContextSwitch                // gives the CPU to another thread
	Idle                         // nothing to run
	Softirq                      // runs deferred interrupt work: receive and transmit completion of network devices
	Copy                         // moves payload between memory and memory
	DMAMap                       // maps and unmaps memory for a device: IOMMU, bounce buffers
)

// Codes returns all that is known of functions.
func Codes() []Code {
	return append(append(linuxCode(), freebsdCode()...), illumosCode()...)
}

// CodeIndex finds functions. Build one and use it for many questions; it is safe for concurrent use.
type CodeIndex struct {
	codes    []Code
	exact    map[string]int
	prefixes []prefixCode
}

type prefixCode struct {
	prefix string
	code   int
}

// NewCodeIndex indexes Codes. A function that several entries list belongs to the first, an exact name goes before a
// pattern, and of patterns the longest counts.
func NewCodeIndex() *CodeIndex {
	x := &CodeIndex{codes: Codes(), exact: map[string]int{}}
	for i := range x.codes {
		for _, name := range x.codes[i].Functions {
			if prefix, pattern := strings.CutSuffix(name, "*"); pattern {
				x.prefixes = append(x.prefixes, prefixCode{prefix, i})
			} else if _, known := x.exact[name]; !known {
				x.exact[name] = i
			}
		}
	}
	return x
}

// Find returns what is known of a function of a kernel, or nil. Offsets, modules ("unix`swtch") and compilers' suffixes
// are of no account.
func (x *CodeIndex) Find(symbol string) *Code {
	name := Function(symbol)
	if i, ok := x.exact[name]; ok {
		return &x.codes[i]
	}
	longest, found := -1, -1
	for _, p := range x.prefixes {
		if len(p.prefix) > longest && strings.HasPrefix(name, p.prefix) {
			longest, found = len(p.prefix), p.code
		}
	}
	if found < 0 {
		return nil
	}
	return &x.codes[found]
}
