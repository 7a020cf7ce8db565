package perf

import (
	"fmt"
	"strings"

	"nettrace/source"
)

// apply takes a record that is no sample, at its time among the samples.
func (r *DataReader) apply(rec *record) {
	first := r.events.first()
	body := rec.body
	if first != nil && rec.kind < recordTool {
		body, _ = first.cutTrailer(r.order, body)
	}
	c := cursor{order: r.order, b: body}
	switch rec.kind {
	case recordMmap, recordMmap2:
		r.mmap(rec, &c)
	case recordComm:
		pid, tid := int32(c.uint32()), int32(c.uint32())
		r.processes.comm(pid, tid, r.functions.intern([]byte(cString(c.b))), rec.misc&miscCommExec != 0)
	case recordFork:
		pid, ppid, tid, ptid := int32(c.uint32()), int32(c.uint32()), int32(c.uint32()), int32(c.uint32())
		if !c.short {
			r.processes.fork(pid, ppid, tid, ptid, rec.misc&miscForkExec != 0)
		}
	case recordKsymbol:
		r.ksymbol(&c)
	case recordLost:
		c.uint64()
		r.loss.ring += c.uint64()
		r.loss.at(r.pos(rec))
	case recordLostSamples:
		if rec.misc&miscLostByBPF == 0 {
			r.loss.samples += c.uint64()
			r.loss.at(r.pos(rec))
		}
	case recordThrottle:
		r.ledger.Add("throttled", source.Warning, r.pos(rec), 1, "the kernel stopped sampling on a CPU for a while, since it took too long; record with a lower -F")
	}
	if c.short {
		r.ledger.Add("damaged-record", source.Warning, r.pos(rec), 1, fmt.Sprintf("a record of type %d is too short for what it should hold; skipped", rec.kind))
	}
}

// mmap takes a mapping: pid, tid, start, length, page offset, for MMAP2 32 bytes more, and the name.
func (r *DataReader) mmap(rec *record, c *cursor) {
	pid, _ := int32(c.uint32()), c.uint32()
	start, length, pgoff := c.uint64(), c.uint64(), c.uint64()
	build := ""
	executable := rec.misc&miscMapData == 0
	if rec.kind == recordMmap2 {
		id := c.bytes(24)
		prot := c.uint32()
		c.uint32() // flags
		if rec.misc&miscMapBuildID != 0 && id != nil {
			build = string(id[4 : 4+min(int(id[0]), 20)])
		}
		executable = executable && prot&4 != 0
	}
	if c.short {
		return
	}
	if rec.misc&miscMapTimeout != 0 {
		r.ledger.Add("maps-incomplete", source.Warning, r.pos(rec), 1, "reading a process' maps took perf too long; some of its functions have no names")
	}
	name := cString(c.b)
	end := start + length
	if end < start {
		end = 1<<64 - 1
	}
	switch rec.mode() {
	case modeKernel:
		r.kernel.mmap(r, name, start, end, pgoff)
	case modeGuestKernel, modeGuestUser: // without the guest's symbols there is nothing to find
	default:
		if !executable {
			return
		}
		o := r.object(name, build, pid)
		if o.raw || name == "[vdso]" {
			pgoff = 0
		}
		s := r.processes.space(pid)
		r.processes.change(s)
		if !s.add(mapping{start, end, pgoff, o}) {
			r.ledger.Add("too-many-maps", source.Warning, r.pos(rec), 1, "a process has more than 65,536 maps; those beyond are left out")
		}
	}
}

// object returns the object of a name; those of run-time code are one for each process.
func (r *DataReader) object(name, build string, pid int32) *object {
	o := object{name: name, build: build}
	o.kindOfMap(pid)
	key := objectKey{o.name, o.build}
	have := r.objects[key]
	if have == nil {
		if o.build == "" {
			o.build = r.builds[name]
		}
		have = &o
		r.objects[key] = have
	}
	return have
}

type objectKey struct{ name, build string }

// ksymbol takes a function that the kernel loaded or dropped at run time: BPF programs, trampolines.
func (r *DataReader) ksymbol(c *cursor) {
	address, length := c.uint64(), uint64(c.uint32())
	c.uint16() // kind
	unregister := c.uint16()&1 != 0
	name := cString(c.b)
	if c.short {
		return
	}
	r.kernel.change(r)
	if unregister {
		r.kernel.symbols.remove(address)
		return
	}
	r.kernel.symbols.add(mapping{start: address, end: address + length, object: &object{name: name}})
}

// kernel is the address space of the kernel.
type kernel struct {
	id        uint32
	text      mapping // start and end 0 where it was not told
	reference string  // symbol whose address at the time of recording is known
	address   uint64  // that address, 0 where it was hidden
	modules   space
	symbols   space

	unresolved int64 // frames without a function
}

func (k *kernel) change(r *DataReader) {
	r.processes.epoch++
	k.id = r.processes.epoch
}

const kernelName = "[kernel.kallsyms]"

// mmap takes the mapping of the kernel itself, "[kernel.kallsyms]_text", or of a module.
func (k *kernel) mmap(r *DataReader, name string, start, end, pgoff uint64) {
	k.change(r)
	if reference, ok := strings.CutPrefix(name, kernelName); ok {
		k.text = mapping{start: start, end: end, object: &object{name: kernelName}}
		k.reference, k.address = reference, pgoff
		return
	}
	k.modules.add(mapping{start: start, end: end, object: &object{name: moduleName(name), build: r.builds[name]}})
}

// moduleName is the name of a module as perf shows it: "[nf_nat]" for /lib/modules/6.1.0/kernel/net/netfilter/nf-nat.ko.xz.
func moduleName(path string) string {
	if strings.HasPrefix(path, "[") {
		return path
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.Index(base, ".ko"); i > 0 {
		return "[" + strings.ReplaceAll(base[:i], "-", "_") + "]"
	}
	return path
}
