package lockstat

import "bytes"

// lockFlags are the flags of contention_begin (include/trace/events/lock.h). None at all stands for a semaphore.
type lockFlags uint8

const (
	flagSpin lockFlags = 1 << iota
	flagRead
	flagWrite
	flagRT
	flagPerCPU
	flagMutex
)

var lockFlagNames = [...]struct {
	name string
	flag lockFlags
}{{"SPIN", flagSpin}, {"READ", flagRead}, {"WRITE", flagWrite}, {"RT", flagRT}, {"PERCPU", flagPerCPU}, {"MUTEX", flagMutex}}

// parseLockFlags reads "(flags=SPIN|MUTEX)".
func parseLockFlags(text []byte) (flags lockFlags, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte("(flags="))
	if !ok {
		return 0, false
	}
	text, _, ok = bytes.Cut(text, []byte(")"))
	if number, isNumber := whole(text); isNumber { // perf without the kernel's names
		return lockFlags(number & 0x3f), ok
	}
	for part := range bytes.SplitSeq(text, []byte("|")) {
		for _, f := range lockFlagNames {
			if string(part) == f.name {
				flags |= f.flag
			}
		}
	}
	return flags, ok
}

// kind names the lock as perf lock contention does.
func (f lockFlags) kind() string {
	switch f {
	case 0:
		return "semaphore"
	case flagSpin:
		return "spinlock"
	case flagSpin | flagRead:
		return "rwlock:R"
	case flagSpin | flagWrite:
		return "rwlock:W"
	case flagRead:
		return "rwsem:R"
	case flagWrite:
		return "rwsem:W"
	case flagRT:
		return "rtmutex"
	case flagRT | flagRead:
		return "rwlock-rt:R"
	case flagRT | flagWrite:
		return "rwlock-rt:W"
	case flagPerCPU | flagRead:
		return "percpu-rwsem:R"
	case flagPerCPU | flagWrite:
		return "percpu-rwsem:W"
	case flagMutex, flagMutex | flagSpin:
		return "mutex"
	}
	return "unknown"
}

// act is how the wait was spent.
func (f lockFlags) act() Act {
	if f&flagSpin != 0 {
		return Spin
	}
	return Block
}
