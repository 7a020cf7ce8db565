package perf

import "math/bits"

// rawSample is the body of a SAMPLE record, taken apart. Slices are parts of the record.
type rawSample struct {
	id         uint64
	ip         uint64
	pid, tid   int32
	time       uint64
	cpu        uint32
	period     uint64
	chain      []byte // words, leaf first
	raw        []byte // a tracepoint's payload
	branches   bool   // branch records, which are not read
	stackUser  bool   // a copy of the user stack, which is not unwound
	values     []byte // of a group read: the members' {value, [id], [lost]}
	valueWords int
	left       int  // bytes behind the last field
	short      bool // the body ended within a field
}

// parse takes a sample's body apart: the fields that the event's sample_type has, in the kernel's fixed order
// (perf_output_sample in kernel/events/core.c, Linux 6.1).
func (s *rawSample) parse(o order, a *attr, body []byte) {
	*s = rawSample{}
	c := cursor{order: o, b: body}
	if a.has(fieldIdentifier) {
		s.id = c.uint64()
	}
	if a.has(fieldIP) {
		s.ip = c.uint64()
	}
	if a.has(fieldTID) {
		s.pid, s.tid = int32(c.uint32()), int32(c.uint32())
	}
	if a.has(fieldTime) {
		s.time = c.uint64()
	}
	if a.has(fieldAddr) {
		c.uint64()
	}
	if a.has(fieldID) {
		s.id = c.uint64()
	}
	if a.has(fieldStreamID) {
		c.uint64()
	}
	if a.has(fieldCPU) {
		s.cpu = c.uint32()
		c.uint32()
	}
	if a.has(fieldPeriod) {
		s.period = c.uint64()
	}
	if a.has(fieldRead) {
		s.read(&c, a.readFormat)
	}
	if a.has(fieldCallchain) {
		s.chain = c.words(c.uint64())
	}
	if a.has(fieldRaw) {
		s.raw = c.bytes(uint64(c.uint32()))
	}
	s.skipRest(&c, a)
	s.left, s.short = len(c.b), c.short
}

// read takes the counter values of a READ field.
func (s *rawSample) read(c *cursor, format uint64) {
	extra := bits.OnesCount64(format & (readID | readLost))
	times := uint64(bits.OnesCount64(format & (readEnabled | readRunning)))
	if format&readGroup == 0 {
		c.words(1 + times + uint64(extra))
		return
	}
	n := c.uint64()
	c.words(times)
	s.valueWords = 1 + extra
	if n > uint64(len(c.b)) {
		c.b, c.short = nil, true
		return
	}
	s.values = c.words(n * uint64(s.valueWords))
}

// skipRest goes over the fields behind the payload, of which only their presence counts.
func (s *rawSample) skipRest(c *cursor, a *attr) {
	if a.has(fieldBranchStack) {
		n := c.uint64()
		if a.branchSampleType>>17&1 != 0 {
			c.uint64() // the hardware's index
		}
		words := uint64(3)
		if a.branchSampleType>>19&1 != 0 {
			words++ // counters
		}
		s.branches = n > 0
		if n > uint64(len(c.b)) {
			c.b, c.short = nil, true
			return
		}
		c.words(n * words)
	}
	if a.has(fieldRegsUser) {
		skipRegisters(c, a.regsUser)
	}
	if a.has(fieldStackUser) {
		if n := c.uint64(); n != 0 {
			c.bytes(n)
			s.stackUser = c.uint64() > 0
		}
	}
	if a.has(fieldWeight) {
		c.uint64()
	}
	if a.has(fieldDataSource) {
		c.uint64()
	}
	if a.has(fieldTransaction) {
		c.uint64()
	}
	if a.has(fieldRegsIntr) {
		skipRegisters(c, a.regsIntr)
	}
	c.words(uint64(bits.OnesCount64(uint64(a.fields & fieldsBehind))))
	if a.has(fieldAux) {
		c.bytes(c.uint64())
	}
}

func skipRegisters(c *cursor, mask uint64) {
	if abi := c.uint64(); abi != 0 {
		c.words(uint64(bits.OnesCount64(mask)))
	}
}
