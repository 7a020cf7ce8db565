package perf

import (
	"io"

	"nettrace/source"
)

// Feature sections of a recording (tools/perf/util/header.h, Linux 6.1) of which something is read.
const (
	featureTracing   = 1
	featureBuildIDs  = 2
	featureHostname  = 3
	featureRelease   = 4
	featureVersion   = 5
	featureCPUs      = 7
	featureCPU       = 8
	featureCommand   = 11
	featureEvents    = 12
	featureClockID   = 23
	featureClockData = 29
)

// sectionMax bounds a feature section that is read: the formats of all tracepoints of a kernel are a few MiB.
const sectionMax = 64 << 20

// readFeatures reads the sections behind the data of a file.
func (r *DataReader) readFeatures(h *fileHeader, size uint64) {
	if h.data.size == 0 {
		r.ledger.Add("cut-input", source.Warning, r.posAt(40), 1, "the recorder did not end its file: the size of the data is 0; samples are read up to the end, names of events and the host's are missing")
		return
	}
	place := h.data.offset + h.data.size
	for n := range 256 {
		if !h.hasFeature(n) {
			continue
		}
		var pair [16]byte
		if _, err := r.at.ReadAt(pair[:], int64(place)); err != nil {
			r.ledger.Add("features-missing", source.Warning, r.posAt(int64(place)), 1, "the file ends before its feature sections: names of events, the host's and build ids are missing")
			return
		}
		place += 16
		s := section{h.u64(pair[:]), h.u64(pair[8:])}
		if !s.within(size) || s.size > sectionMax {
			r.ledger.Add("damaged-section", source.Warning, r.posAt(int64(place)), 1, "a feature section does not lie in the file; skipped")
			continue
		}
		b := make([]byte, s.size)
		if _, err := r.at.ReadAt(b, int64(s.offset)); err != nil && err != io.EOF {
			r.ledger.Add("damaged-section", source.Warning, r.posAt(int64(s.offset)), 1, err.Error()+"; the feature section is skipped")
			continue
		}
		r.feature(n, b, int64(s.offset))
	}
}

// feature takes one section, or the payload of a FEATURE record.
func (r *DataReader) feature(n int, b []byte, offset int64) {
	c := cursor{order: r.order, b: b}
	switch n {
	case featureTracing:
		r.tracing(b, offset)
	case featureBuildIDs:
		r.buildIDs(b)
	case featureHostname:
		r.header.Host = c.text()
	case featureRelease:
		r.header.Release = c.text()
	case featureVersion:
		r.header.Version = c.text()
	case featureCPUs:
		c.uint32() // available
		r.header.CPUs = int(c.uint32())
	case featureCPU:
		r.header.CPU = c.text()
	case featureCommand:
		r.header.Command = command(&c)
	case featureEvents:
		r.eventDescriptions(&c)
	case featureClockData:
		if c.uint32() == 1 {
			r.clock.id = int32(c.uint32())
			r.clock.wall, r.clock.time = c.uint64(), c.uint64()
		}
	}
	if c.short {
		r.ledger.Add("damaged-section", source.Warning, r.posAt(offset), 1, "a feature section ends too early; what it holds up to there is used")
	}
}

// command joins the words of perf's command line.
func command(c *cursor) string {
	var line []byte
	for n := c.uint32(); n > 0 && !c.short; n-- {
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, c.text()...)
	}
	return string(line)
}

// eventDescriptions takes the names of the events with their IDs: {attr, number of ids, name, ids}.
func (r *DataReader) eventDescriptions(c *cursor) {
	n, size := c.uint32(), c.uint32()
	for i := uint32(0); i < n && !c.short; i++ {
		described, err := parseAttr(r.order, c.bytes(uint64(size)))
		if err != nil {
			r.ledger.Add("damaged-section", source.Warning, r.posAt(0), 1, err.Error()+"; names of events are missing")
			return
		}
		count := c.uint32()
		name := c.text()
		ids := c.words(uint64(count))
		if c.short {
			return
		}
		r.events.describe(int(i), &described, name, ids)
	}
}

// buildIDs takes the table of build ids: records of their own, one for each object.
func (r *DataReader) buildIDs(b []byte) {
	for len(b) >= recordHeaderSize {
		size := int(r.u16(b[6:]))
		if size < recordHeaderSize || size > len(b) {
			return
		}
		r.buildID(r.u16(b[4:]), b[recordHeaderSize:size])
		b = b[size:]
	}
}

// buildID takes one BUILD_ID record: pid, 20 bytes of id, their number, then the object's name at 28.
func (r *DataReader) buildID(misc uint16, b []byte) {
	if len(b) < 28 {
		return
	}
	n := 20
	if misc&miscBuildIDLen != 0 {
		n = min(int(b[24]), 20)
	}
	r.builds[cString(b[28:])] = string(b[4 : 4+n])
}
