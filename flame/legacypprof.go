package flame

// Profiles of pprof from before its protobuf, which are still written: the text that Go's net/http/pprof gives with
// ?debug=1, and gperftools' heap and contention text and its binary CPU profile.
//
//	--- mutex:
//	cycles/second=2599952845
//	sampling period=1
//	376859689 400 @ 0x5222f3 0x52229f 0x522ad6
//	#	0x5222f2	sync.(*Mutex).Unlock+0x12	sync/mutex.go:65
//	#	0x52229e	main.(*table).add+0xfe		example.test/load/main.go:36
//
// The values are scaled to nanoseconds and by the sampling period as github.com/google/pprof/profile does it
// (legacy_profile.go), which reads them. The lines beginning with # under a stack, which Go writes (runtime/pprof,
// printStackRecord) and that package leaves out, are its functions with those inlined, leaf first.

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"

	"github.com/google/pprof/profile"
)

// legacyHeads begin a text.
func legacyHeads() []string {
	return []string{"--- mutex:\n", "--- contention:\n", "--- contentionz ", "heap profile: ", "goroutine profile: total ", "threadcreate profile: total "}
}

// isLegacyPprof reports whether a profile of an old form begins at head.
func isLegacyPprof(head []byte) bool {
	text := bytes.ReplaceAll(head[:min(len(head), 64)], []byte("\r\n"), []byte("\n"))
	for _, begin := range legacyHeads() {
		if bytes.HasPrefix(text, []byte(begin)) {
			return true
		}
	}
	return isLegacyCPU(head)
}

// isLegacyCPU recognises gperftools' CPU profile: the words 0, 3, 0, period, 0 of the machine that wrote it.
func isLegacyCPU(head []byte) bool {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, width := range []int{8, 4} {
			if len(head) < 5*width {
				continue
			}
			word := func(i int) uint64 {
				if width == 4 {
					return uint64(order.Uint32(head[4*i:]))
				}
				return order.Uint64(head[8*i:])
			}
			if period := word(3); word(0) == 0 && word(1) == 3 && word(2) == 0 && period > 0 && period < 1e7 && word(4) == 0 {
				return true
			}
		}
	}
	return false
}

// cutLegacy reports whether a text ends within a line: its writers end each one. The binary profile tells its own end.
func cutLegacy(data []byte) bool {
	return !isLegacyCPU(data) && len(data) > 0 && data[len(data)-1] != '\n'
}

// legacyRecord is a line with values and a stack.
var legacyRecord = regexp.MustCompile(`^\s*\d+[^@]*@(\s+0x[[:xdigit:]]+)*\s*$`)

// nameLegacy gives the samples of a parsed text the functions that its comment lines name.
func nameLegacy(p *profile.Profile, text []byte) {
	records := commentedStacks(text)
	if len(records) != len(p.Sample) {
		return // the text holds something that only the library understands: the addresses stay
	}
	id := uint64(0)
	for _, l := range p.Location {
		id = max(id, l.ID)
	}
	functions := map[string]*profile.Location{}
	for i, record := range records {
		if len(record) == 0 {
			continue
		}
		p.Sample[i].Location = p.Sample[i].Location[:0]
		for _, name := range record {
			l := functions[name]
			if l == nil {
				id++
				f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name}
				l = &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
				p.Function, p.Location, functions[name] = append(p.Function, f), append(p.Location, l), l
			}
			p.Sample[i].Location = append(p.Sample[i].Location, l)
		}
	}
}

// commentedStacks returns the function names under each record of a text, leaf first.
func commentedStacks(text []byte) [][]string {
	var records [][]string
	for line := range bytes.Lines(text) {
		switch {
		case bytes.HasPrefix(line, []byte("MAPPED_LIBRARIES")), bytes.HasPrefix(line, []byte("--- Memory map")):
			return records
		case legacyRecord.Match(line):
			records = append(records, nil)
		case len(records) > 0 && bytes.HasPrefix(line, []byte("#\t0x")):
			if fields := strings.Split(strings.TrimSpace(string(line)), "\t"); len(fields) > 2 {
				name := fields[2]
				if i := strings.LastIndex(name, "+0x"); i > 0 {
					name = name[:i]
				}
				records[len(records)-1] = append(records[len(records)-1], name)
			}
		}
	}
	return records
}
