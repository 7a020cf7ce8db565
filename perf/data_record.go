package perf

// recordType is the type of a record: those of the kernel (include/uapi/linux/perf_event.h), and from 64 on those of
// the tool (tools/lib/perf/include/perf/event.h), both of Linux 6.1 and what was added since.
type recordType uint32

const (
	recordMmap          recordType = 1
	recordLost          recordType = 2
	recordComm          recordType = 3
	recordExit          recordType = 4
	recordThrottle      recordType = 5
	recordUnthrottle    recordType = 6
	recordFork          recordType = 7
	recordSample        recordType = 9
	recordMmap2         recordType = 10
	recordLostSamples   recordType = 13
	recordKsymbol       recordType = 17
	recordKernelLast    recordType = 22
	recordTool          recordType = 64
	recordAttr          recordType = 64
	recordTracingData   recordType = 66
	recordBuildID       recordType = 67
	recordFinishedRound recordType = 68
	recordAuxtrace      recordType = 71
	recordEventUpdate   recordType = 78
	recordFeature       recordType = 80
	recordCompressed    recordType = 81
	recordCompressed2   recordType = 83
	recordToolLast      recordType = 86
)

// Bits of a record's misc.
const (
	miscModes      = 7
	miscMapTimeout = 1 << 12 // of MMAP: reading /proc/PID/maps took too long
	miscMapData    = 1 << 13 // of MMAP
	miscCommExec   = 1 << 13 // of COMM
	miscForkExec   = 1 << 13 // of FORK: made up by perf, maps follow
	miscMapBuildID = 1 << 14 // of MMAP2
	miscBuildIDLen = 1 << 15 // of BUILD_ID
	miscLostByBPF  = 1 << 15 // of LOST_SAMPLES: filtered out, not lost
)

// cpuMode is where a sample's instruction pointer or a map belongs.
type cpuMode uint8

const (
	modeUnknown     cpuMode = 0
	modeKernel      cpuMode = 1
	modeUser        cpuMode = 2
	modeHypervisor  cpuMode = 3
	modeGuestKernel cpuMode = 4
	modeGuestUser   cpuMode = 5
)

const recordHeaderSize = 8

// record is one record of a recording. Its body is valid until the next one is read.
type record struct {
	kind   recordType
	misc   uint16
	body   []byte
	offset int64 // where it begins in the file; for compressed ones where the compressed record begins
	number int64 // from 1
}

func (r *record) mode() cpuMode { return cpuMode(r.misc & miscModes) }

// trailer identifies a record that is no sample.
type trailer struct {
	pid, tid int32
	time     uint64
	id       uint64
	cpu      uint32
}

// cutTrailer takes the identification off the end of a body. b is what stands before it.
func (a *attr) cutTrailer(o order, body []byte) (b []byte, t trailer) {
	n := a.trailerSize()
	if n > len(body) {
		return body, t
	}
	c := cursor{order: o, b: body[len(body)-n:]}
	if n == 0 {
		return body, t
	}
	if a.has(fieldTID) {
		t.pid, t.tid = int32(c.uint32()), int32(c.uint32())
	}
	if a.has(fieldTime) {
		t.time = c.uint64()
	}
	if a.has(fieldID) {
		t.id = c.uint64()
	}
	if a.has(fieldStreamID) {
		c.uint64()
	}
	if a.has(fieldCPU) {
		t.cpu = c.uint32()
		c.uint32()
	}
	if a.has(fieldIdentifier) {
		t.id = c.uint64()
	}
	return body[:len(body)-n], t
}
