package perf

import (
	"cmp"
	"fmt"
	"slices"

	"nettrace/symbol"
)

// Context marks of call chains: what follows is an address of this kind (include/uapi/linux/perf_event.h, enum
// perf_callchain_context).
const (
	contextMax        = ^uint64(4095 - 1) // values from here on are marks
	contextHypervisor = ^uint64(32 - 1)
	contextKernel     = ^uint64(128 - 1)
	contextUser       = ^uint64(512 - 1)
	contextDeferred   = ^uint64(640 - 1)
)

// stack makes the frames of a sample.
func (r *DataReader) stack(rec *record, a *attr, s *rawSample) {
	e := &r.event
	if len(s.chain) == 0 {
		if a.has(fieldIP) && a.kind != typeTracepoint {
			r.push(rec.mode(), s.pid, s.ip, false)
		}
		return
	}
	mode := modeUser
	for chain := s.chain; len(chain) >= 8 && len(e.Stack) < maxDepth; chain = chain[8:] {
		ip := r.u64(chain)
		if ip < contextMax {
			r.push(mode, s.pid, ip, r.inlined && len(e.Stack) > 0)
			continue
		}
		switch ip {
		case contextKernel:
			mode = modeKernel
		case contextUser:
			mode = modeUser
		case contextHypervisor:
			mode = modeHypervisor
		default: // deferred to a later record, or of a guest: its addresses are none of ours
			return
		}
	}
}

// push adds the frame of an address, behind those of the functions inlined there. A return address belongs to the call
// before it.
func (r *DataReader) push(mode cpuMode, pid int32, ip uint64, isReturn bool) {
	space := r.kernel.id
	if mode == modeUser || mode == modeUnknown {
		if pid != r.spacePID || r.space == nil {
			r.space, r.spacePID = r.processes.space(pid), pid
		}
		space = r.space.id
	} else if mode != modeKernel {
		r.event.Stack = append(r.event.Stack, Frame{Function: r.functions.named(Unknown, Unknown), Address: ip})
		return
	}
	slot := &r.cache[(ip^ip>>17^uint64(space)*0x9e3779b97f4a7c15)%uint64(len(r.cache))]
	if slot.ip != ip || slot.space != space || slot.isReturn != isReturn || slot.frame.Function == nil {
		*slot = cached{ip: ip, space: space, isReturn: isReturn}
		if mode == modeKernel {
			slot.frame, slot.misses = r.kernelFrame(ip)
		} else {
			slot.frame, slot.misses = r.userFrame(ip)
			slot.inlined = r.inlines(ip, &slot.frame, isReturn)
		}
	}
	if slot.misses != nil {
		if *slot.misses++; r.counts.firstMiss.Source == "" {
			r.counts.firstMiss = r.pos(&r.record)
		}
	}
	r.counts.frames++
	for _, f := range slot.inlined {
		r.event.Stack = append(r.event.Stack, Frame{Function: f, Address: slot.frame.Address})
	}
	r.event.Stack = append(r.event.Stack, slot.frame)
}

// cached is what was found of an address.
type cached struct {
	ip       uint64
	space    uint32
	isReturn bool
	frame    Frame
	inlined  []*Function // innermost first
	misses   *int64      // counts the frames without a function of this object, nil if it has one
}

// cacheSize is more than the distinct addresses that most recordings come back to.
const cacheSize = 1 << 14

// userFrame finds the function of an address of the current process. Its printed address is that in the object.
func (r *DataReader) userFrame(ip uint64) (Frame, *int64) {
	m := r.space.find(ip)
	if m == nil {
		return Frame{Function: r.functions.named(Unknown, Unknown), Address: ip}, &r.counts.unmapped
	}
	o := m.object
	r.open(o)
	address, s, ok := ip, symbol.Symbol{}, false
	if o.raw {
		s, ok = o.jit.Find(ip)
	} else {
		address += m.pgoff - m.start
		if o.symbols != nil {
			s, ok = o.symbols.AtOffset(address)
		}
	}
	if !ok {
		return Frame{Function: r.functions.named(Unknown, o.name), Address: address}, &o.unresolved
	}
	return Frame{Function: r.functions.named(s.Name, o.name), Address: address, Offset: address - s.Start, HasOffset: true}, nil
}

// inlines returns the functions inlined at a frame's place.
func (r *DataReader) inlines(ip uint64, f *Frame, isReturn bool) (list []*Function) {
	if !r.inlined {
		return nil
	}
	m := r.space.find(ip)
	if m == nil || m.object.symbols == nil {
		return nil
	}
	for _, name := range m.object.symbols.Inlines(f.Address, isReturn) {
		list = append(list, r.functions.function(Function{Symbol: name, Inlined: true}))
	}
	return list
}

func (r *DataReader) open(o *object) {
	switch {
	case o.opened:
	case o.raw:
		o.jit = r.symbols.JIT(int(o.pid))
	default:
		o.symbols = r.symbols.Object(o.build, o.name)
	}
	o.opened = true
}

// kernelFrame finds the function of an address of the kernel: one loaded at run time, one of a module, or of the kernel
// itself, whose symbols also name what lies outside of its text, such as code that only runs at the start.
func (r *DataReader) kernelFrame(ip uint64) (Frame, *int64) {
	k := &r.kernel
	if m := k.symbols.find(ip); m != nil {
		return Frame{Function: r.functions.named(m.object.name, m.object.name), Address: ip, Offset: ip - m.start, HasOffset: true}, nil
	}
	s, ok := r.symbols.Kernel().Find(ip, k.reference, k.address)
	object := Unknown
	if m := k.modules.find(ip); m != nil {
		object = m.object.name
	} else if ok || k.text.start <= ip && ip < k.text.end {
		object = kernelName
	}
	if !ok {
		return Frame{Function: r.functions.named(Unknown, object), Address: ip}, &k.unresolved
	}
	if s.Module != "" {
		object = "[" + s.Module + "]"
	}
	return Frame{Function: r.functions.named(s.Name, object), Address: ip, Offset: ip - s.Start, HasOffset: true}, nil
}

// missesNamed bounds how many objects are named that would resolve frames.
const missesNamed = 8

// miss is an object, or the kernel, with the frames that have no function for want of it.
type miss struct {
	name   string
	frames int64
}

// missing lists the objects whose functions have no names, those with most frames first.
func missing[K comparable](objects map[K]*object) (list []miss) {
	for _, o := range objects {
		if o.unresolved > 0 {
			list = append(list, miss{o.describe(), o.unresolved})
		}
	}
	sortMisses(list)
	return list
}

func sortMisses(list []miss) {
	slices.SortFunc(list, func(a, b miss) int { return cmp.Or(-cmp.Compare(a.frames, b.frames), cmp.Compare(a.name, b.name)) })
}

func missNames(list []miss) (names []string) {
	for _, m := range list[:min(len(list), missesNamed)] {
		names = append(names, m.name)
	}
	return names
}

func (o *object) describe() string {
	if o.build == "" {
		return o.name
	}
	return fmt.Sprintf("%s (build id %x)", o.name, o.build)
}
