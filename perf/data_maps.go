package perf

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"nettrace/symbol"
)

// Bounds on what a recording may claim of its processes.
const (
	threadsMax = 1 << 20
	mapsMax    = 1 << 16 // of one process
)

// object is a file that code was mapped from.
type object struct {
	name  string
	build string // id, "" where it is not known
	raw   bool   // no file: addresses are those of the process
	pid   int32  // of a process whose run-time made the code; names come from its perf-PID.map

	opened     bool
	symbols    *symbol.Object
	jit        *symbol.Table
	unresolved int64 // frames without a function
}

// mapping is a range of addresses that an object is mapped to.
type mapping struct {
	start, end uint64
	pgoff      uint64
	object     *object
}

// space is the address space of a process. Forked ones share their parent's list until one of them changes.
type space struct {
	id     uint32 // changes with the maps, so that what was found by address is not found any more
	maps   []mapping
	shared bool
}

// find returns the mapping of an address.
func (s *space) find(address uint64) *mapping {
	i, found := slices.BinarySearchFunc(s.maps, address, func(m mapping, a uint64) int {
		switch {
		case m.end <= a:
			return -1
		case m.start > a:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &s.maps[i]
}

// add maps a range. What it overlaps is cut, or split in two: an unmapping is never recorded, only what came instead.
func (s *space) add(m mapping) bool {
	if m.end <= m.start {
		return true
	}
	first, _ := slices.BinarySearchFunc(s.maps, m.start, func(have mapping, start uint64) int {
		if have.end <= start {
			return -1
		}
		return 1
	})
	last := first
	var around [3]mapping
	list := around[:0]
	for ; last < len(s.maps) && s.maps[last].start < m.end; last++ {
		have := s.maps[last]
		if have.start < m.start {
			before := have
			before.end = m.start
			list = append(list, before)
		}
	}
	list = append(list, m)
	if last > first {
		if have := s.maps[last-1]; have.end > m.end {
			have.pgoff += m.end - have.start
			have.start = m.end
			list = append(list, have)
		}
	}
	if len(s.maps)+len(list)-(last-first) > mapsMax {
		return false
	}
	if s.shared {
		s.maps, s.shared = slices.Clone(s.maps), false
	}
	s.maps = slices.Replace(s.maps, first, last, list...)
	return true
}

// remove takes a range away that is mapped exactly so.
func (s *space) remove(start uint64) {
	i, found := slices.BinarySearchFunc(s.maps, start, func(m mapping, a uint64) int { return cmp.Compare(m.start, a) })
	if found {
		if s.shared {
			s.maps, s.shared = slices.Clone(s.maps), false
		}
		s.maps = slices.Delete(s.maps, i, i+1)
	}
}

// thread is a task.
type thread struct {
	pid  int32
	comm string
}

// processes are the tasks of a recording with their address spaces, as the records up to now tell.
type processes struct {
	threads map[int32]*thread
	spaces  map[int32]*space
	epoch   uint32
}

func newProcesses() processes {
	return processes{threads: map[int32]*thread{0: {comm: "swapper"}}, spaces: map[int32]*space{}}
}

// thread returns a task. One that no record told of is named by its number, as perf does.
func (p *processes) thread(pid, tid int32) *thread {
	t := p.threads[tid]
	if t == nil {
		if len(p.threads) >= threadsMax {
			clear(p.threads)
			p.threads[0] = &thread{comm: "swapper"}
		}
		t = &thread{pid: pid, comm: ":" + strconv.Itoa(int(tid))}
		p.threads[tid] = t
	}
	return t
}

func (p *processes) space(pid int32) *space {
	s := p.spaces[pid]
	if s == nil {
		if len(p.spaces) >= threadsMax {
			clear(p.spaces)
		}
		s = &space{}
		p.change(s)
		p.spaces[pid] = s
	}
	return s
}

// change gives a space whose maps change a new id.
func (p *processes) change(s *space) {
	p.epoch++
	s.id = p.epoch
}

// fork makes a task; one of another process gets its parent's maps, unless its own follow.
func (p *processes) fork(pid, ppid, tid, ptid int32, mapsFollow bool) {
	parent := p.threads[ptid]
	child := &thread{pid: pid, comm: ":" + strconv.Itoa(int(tid))}
	if parent != nil {
		child.comm = parent.comm
	}
	delete(p.threads, tid)
	p.thread(pid, tid)
	*p.threads[tid] = *child
	if pid == ppid {
		return
	}
	s := &space{}
	p.change(s)
	if from := p.spaces[ppid]; from != nil && !mapsFollow {
		s.maps, s.shared, from.shared = from.maps, true, true
	}
	p.spaces[pid] = s
}

// comm names a task; one that executes a program loses its maps.
func (p *processes) comm(pid, tid int32, name string, exec bool) {
	t := p.thread(pid, tid)
	t.pid, t.comm = pid, name
	if exec {
		s := p.space(pid)
		s.maps, s.shared = nil, false
		p.change(s)
	}
}

// kindOfMap says what a user's mapping is of, as tools/perf/util/map.c does: anonymous memory and what has no file may
// hold code that a run-time made, which perf looks up in a map of that process.
func (o *object) kindOfMap(pid int32) {
	for _, prefix := range []string{"//anon", "/dev/zero", "/anon_hugepage", "[stack", "/SYSV", "[heap]"} {
		if strings.HasPrefix(o.name, prefix) {
			o.name, o.raw, o.pid = "/tmp/perf-"+strconv.Itoa(int(pid))+".map", true, pid
			return
		}
	}
}
