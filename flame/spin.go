package flame

import (
	"nettrace/kernel"
)

// spinning is how much of a profile's time goes into waiting for locks on the CPU.
type spinning struct {
	busy, idle        int64 // values; their sum is all
	busySamples       int64
	interruptsEnabled int64 // found where interrupts are turned on: no contention
	callers           map[string]*spinCaller
}

// spinCaller is a function that takes locks for which CPUs spin.
type spinCaller struct {
	name    string
	value   int64
	samples int64
	locks   map[*kernel.Code]int64 // values by slow path
	stacks  []int                  // pprof samples
}

// spinScan looks for time under the slow paths of locks.
type spinScan struct {
	view  *view
	codes []*kernel.Code // of each frame; nil for what is no kernel's or not known
}

func newSpinScan(p *Profile) *spinScan {
	s := &spinScan{view: newView(p.pprof, nil)}
	s.codes = make([]*kernel.Code, len(s.view.frames))
	marked := false // the text tells the kernel's frames from others
	for _, f := range s.view.frames {
		marked = marked || f.Kind == Kernel || f.Kind == Module
	}
	x := kernel.NewCodeIndex()
	for i, f := range s.view.frames {
		if !marked || f.Kind == Kernel || f.Kind == Module {
			s.codes[i] = x.Find(f.Name)
		}
	}
	return s
}

// measure adds up the values of a column at index, with the numbers of samples beside them.
func (s *spinScan) measure(p *Profile, index, samples int) *spinning {
	m := &spinning{callers: map[string]*spinCaller{}}
	var stack []int32
	for i, sample := range p.pprof.Sample {
		value, n := sample.Value[index], sample.Value[samples]
		if n == 0 {
			continue
		}
		stack = s.view.stack(stack[:0], sample)
		code, at := s.judge(stack)
		if code != nil && code.Class == kernel.Idle {
			m.idle = sum(m.idle, value)
			continue
		}
		m.busy, m.busySamples = sum(m.busy, value), sum(m.busySamples, n)
		if leaf := s.leaf(stack); leaf != nil && leaf.Class == kernel.InterruptEnable {
			m.interruptsEnabled = sum(m.interruptsEnabled, value)
		}
		if code != nil && code.Class == kernel.LockSpin {
			m.caller(s.caller(stack[:at])).add(code, value, n, i)
		}
	}
	return m
}

// judge walks from the leaf to the first function that tells what the sample was doing, and returns it with its place.
// What stands below an interrupt was interrupted, what stands below a switch or a sleep does not burn the CPU.
func (s *spinScan) judge(stack []int32) (*kernel.Code, int) {
	for i := len(stack) - 1; i >= 0; i-- {
		code := s.codes[stack[i]]
		if code == nil {
			continue
		}
		switch code.Class {
		case kernel.LockSpin, kernel.LockSleep, kernel.Idle, kernel.InterruptEntry, kernel.ContextSwitch:
			return code, i
		}
	}
	return nil, 0
}

func (s *spinScan) leaf(stack []int32) *kernel.Code {
	if len(stack) == 0 {
		return nil
	}
	return s.codes[stack[len(stack)-1]]
}

// caller returns the name of the last function of a stack, root first, that is no part of a lock.
func (s *spinScan) caller(stack []int32) string {
	for i := len(stack) - 1; i >= 0; i-- {
		if code := s.codes[stack[i]]; code == nil || code.Class != kernel.LockSpin && code.Class != kernel.LockEntry {
			return kernel.Function(s.view.frames[stack[i]].Name)
		}
	}
	return "(caller not in the stack)"
}

func (m *spinning) caller(name string) *spinCaller {
	c := m.callers[name]
	if c == nil {
		c = &spinCaller{name: name, locks: map[*kernel.Code]int64{}}
		m.callers[name] = c
	}
	return c
}

func (c *spinCaller) add(lock *kernel.Code, value, samples int64, stack int) {
	c.value, c.samples = sum(c.value, value), sum(c.samples, samples)
	c.locks[lock] = sum(c.locks[lock], value)
	c.stacks = append(c.stacks, stack)
}

// merge adds another caller's time.
func (c *spinCaller) merge(other *spinCaller) {
	c.value, c.samples = sum(c.value, other.value), sum(c.samples, other.samples)
	for lock, value := range other.locks {
		c.locks[lock] = sum(c.locks[lock], value)
	}
	c.stacks = append(c.stacks, other.stacks...)
}
