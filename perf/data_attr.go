package perf

import (
	"fmt"
	"math/bits"
)

// sampleField is a bit of perf_event_attr.sample_type: what each sample of an event holds.
type sampleField uint64

const (
	fieldIP          sampleField = 1 << 0
	fieldTID         sampleField = 1 << 1
	fieldTime        sampleField = 1 << 2
	fieldAddr        sampleField = 1 << 3
	fieldRead        sampleField = 1 << 4
	fieldCallchain   sampleField = 1 << 5
	fieldID          sampleField = 1 << 6
	fieldCPU         sampleField = 1 << 7
	fieldPeriod      sampleField = 1 << 8
	fieldStreamID    sampleField = 1 << 9
	fieldRaw         sampleField = 1 << 10
	fieldBranchStack sampleField = 1 << 11
	fieldRegsUser    sampleField = 1 << 12
	fieldStackUser   sampleField = 1 << 13
	fieldWeight      sampleField = 1<<14 | 1<<24
	fieldDataSource  sampleField = 1 << 15
	fieldIdentifier  sampleField = 1 << 16
	fieldTransaction sampleField = 1 << 17
	fieldRegsIntr    sampleField = 1 << 18
	fieldAux         sampleField = 1 << 20
	fieldsBehind     sampleField = 1<<19 | 1<<21 | 1<<22 | 1<<23 // physical address, cgroup, page sizes: one word each
)

// Bits of perf_event_attr's flags.
const (
	flagFreq        = 1 << 10
	flagSampleIDAll = 1 << 18
	flagUseClockID  = 1 << 25
)

// Bits of perf_event_attr.read_format.
const (
	readEnabled = 1 << 0
	readRunning = 1 << 1
	readID      = 1 << 2
	readGroup   = 1 << 3
	readLost    = 1 << 4
)

// Event types of perf_event_attr.type.
const (
	typeHardware   = 0
	typeSoftware   = 1
	typeTracepoint = 2
)

// attr is one recorded event: perf_event_attr (include/uapi/linux/perf_event.h, Linux 6.1) as far as samples need it.
type attr struct {
	kind, size       uint32
	config           uint64
	period           uint64 // or the frequency, with flagFreq
	fields           sampleField
	readFormat       uint64
	flags            uint64
	branchSampleType uint64
	regsUser         uint64
	regsIntr         uint64
	clockID          int32

	name, modifiers string
	ids             int // how many
	format          *traceFormat
	samples         int64
}

// attrSizeMin is the size of the first published perf_event_attr.
const attrSizeMin = 64

// parseAttr reads an attr of which size bytes are valid at most; what an older writer lacks is zero.
func parseAttr(o order, b []byte) (attr, error) {
	if len(b) < 8 {
		return attr{}, fmt.Errorf("an event description of %d bytes; at least %d are needed", len(b), attrSizeMin)
	}
	size := o.u32(b[4:])
	if size == 0 {
		size = attrSizeMin
	}
	if size < attrSizeMin || int(size) > len(b) {
		return attr{}, fmt.Errorf("an event description says that it has %d bytes; %d to %d are possible here", size, attrSizeMin, len(b))
	}
	var full [120]byte
	copy(full[:], b[:min(int(size), len(full))])
	b = full[:]
	a := attr{kind: o.u32(b), size: size, config: o.u64(b[8:]), period: o.u64(b[16:]), fields: sampleField(o.u64(b[24:])), readFormat: o.u64(b[32:]),
		flags: flagBits(o, b[40:48]), branchSampleType: o.u64(b[72:]), regsUser: o.u64(b[80:]), clockID: int32(o.u32(b[92:])), regsIntr: o.u64(b[96:])}
	return a, nil
}

// flagBits reads the bit field: a big-endian machine fills each byte from its high end.
func flagBits(o order, b []byte) uint64 {
	var v uint64
	for i, x := range b {
		if o.big {
			x = bits.Reverse8(x)
		}
		v |= uint64(x) << (8 * i)
	}
	return v
}

func (a *attr) has(f sampleField) bool { return a.fields&f != 0 }

// idPlace returns where in a sample's body the event's ID stands, -1 if it has none.
func (a *attr) idPlace() int {
	if a.has(fieldIdentifier) {
		return 0
	}
	if !a.has(fieldID) {
		return -1
	}
	return 8 * bits.OnesCount64(uint64(a.fields&(fieldIP|fieldTID|fieldTime|fieldAddr)))
}

// trailerFields are those that stand at the end of the records that are no samples.
const trailerFields = fieldTID | fieldTime | fieldID | fieldStreamID | fieldCPU | fieldIdentifier

// trailerSize returns the length of the identification at the end of the records that are no samples.
func (a *attr) trailerSize() int {
	if a.flags&flagSampleIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(uint64(a.fields&trailerFields))
}

// genericName names an event of which the recording holds no name, as perf does.
func (a *attr) genericName() string {
	hardware := [...]string{"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
		"stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"}
	software := [...]string{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults",
		"alignment-faults", "emulation-faults", "dummy", "bpf-output"}
	switch {
	case a.kind == typeHardware && a.config < uint64(len(hardware)):
		return hardware[a.config]
	case a.kind == typeSoftware && a.config < uint64(len(software)):
		return software[a.config]
	}
	return fmt.Sprintf("event-%d:0x%x", a.kind, a.config)
}
