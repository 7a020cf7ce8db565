package lockstat

import (
	"encoding/binary"
	"fmt"
	"path"
	"strings"

	"nettrace/kernel"
	"nettrace/perf"
)

// lockStacks keeps one copy of each stack of lock events.
type lockStacks struct {
	known  map[string]*lockStack // by the functions' numbers and the caller's offset
	key    []byte
	codes  *kernel.CodeIndex
	locks  *kernel.LockIndex
	within map[int]bool // by number of a function: it only takes the lock
}

// lockStack is where a thread waited.
type lockStack struct {
	frames []string // the slow path of the lock first
	caller string   // who took the lock: the first frame that is no lock function; "" where there is no stack
}

func newLockStacks() *lockStacks {
	return &lockStacks{known: map[string]*lockStack{"": {frames: []string{}}}, codes: kernel.NewCodeIndex(), locks: kernel.NewLockIndex(), within: map[int]bool{}}
}

// find returns the one copy of a stack.
func (s *lockStacks) find(stack []perf.Frame) *lockStack {
	stack = stack[:min(len(stack), maxFrames)]
	caller := s.caller(stack)
	s.key = s.key[:0]
	for i := range stack {
		s.key = binary.LittleEndian.AppendUint32(s.key, uint32(stack[i].ID))
		if stack[i].Symbol == perf.Unknown {
			s.key = binary.LittleEndian.AppendUint64(s.key, stack[i].Address)
		}
	}
	if caller < len(stack) {
		s.key = binary.LittleEndian.AppendUint32(s.key, uint32(stack[caller].Offset))
	}
	have, known := s.known[string(s.key)]
	if known {
		return have
	}
	have = &lockStack{frames: make([]string, len(stack))}
	for i := range stack {
		have.frames[i] = symbol(&stack[i])
	}
	if caller < len(stack) && (caller > 0 || stack[0].Symbol != perf.Unknown) { // the slow path itself says nothing
		have.caller = have.frames[caller]
	}
	if len(s.known) < 4*maxStack {
		s.known[string(s.key)] = have
	}
	return have
}

// caller is the place of the first frame that does more than to take a lock, as perf lock finds it: behind the
// functions of locks and of the scheduler, but for those by which a network lock is known.
func (s *lockStacks) caller(stack []perf.Frame) int {
	for i := range stack {
		f := stack[i].Function
		within, known := s.within[f.ID]
		if !known {
			within = s.takes(f.Symbol)
			s.within[f.ID] = within
		}
		if !within {
			return i
		}
	}
	return 0
}

func (s *lockStacks) takes(symbol string) bool {
	code := s.codes.Find(symbol)
	if code == nil || s.locks.Find("", symbol) != nil {
		return false
	}
	switch code.Class {
	case kernel.LockSpin, kernel.LockSleep, kernel.LockEntry, kernel.ContextSwitch:
		return true
	}
	return false
}

// symbol names a frame: "f+0x1f", and for code of a program, which perf records above the kernel's, "f (libc.so.6)".
func symbol(f *perf.Frame) string {
	name := f.Symbol
	switch {
	case name == perf.Unknown:
		name = hexAddress(f.Address)
	case f.HasOffset:
		name = fmt.Sprintf("%s+0x%x", name, f.Offset)
	}
	if f.Address == 0 || f.Address>>63 == 1 || strings.HasPrefix(f.DSO, "[") && f.DSO != perf.Unknown {
		return name
	}
	return name + " (" + path.Base(strings.Trim(f.DSO, "[]")) + ")"
}
