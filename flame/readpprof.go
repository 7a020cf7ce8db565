package flame

// Profiles of pprof: the protobuf (the source's compression, usually gzip, is taken off before) that runtime/pprof of Go,
// perf_to_profile, Pyroscope, Parca and this package write. Source: github.com/google/pprof, proto/profile.proto.
//
// The sample types of a profile are values of the same samples. A count (samples/count, contentions/count,
// alloc_objects/count) and the value of another unit that follows it (cpu/nanoseconds, delay/nanoseconds,
// alloc_space/bytes) are one event, named by the latter; any other sample type is an event of its own, whose samples are
// its values. Stacks are told by functions and objects, not by addresses. Labels other than comm, pid, tid, cpu and fields of tracepoints, and
// negative values, as differences of profiles have them, are left out with a note.
//
// Go charges the delay of a mutex profile to the stack that unlocks, that of a block profile to the stack that waits.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"nettrace/perf"
	"nettrace/source"
)

// maxPprof bounds a profile, which is read into memory whole: its names come last.
const maxPprof = 1 << 30

// SniffPprof recognises the protobuf: it begins with a sample type or, as Go writes it, with the period's type or times,
// has a sample type, and all fields in the head are those of a profile; or one of the older forms.
func SniffPprof(head []byte) source.Match {
	if isLegacyPprof(head) {
		return source.Strong
	}
	if len(head) < 6 || bytes.IndexByte([]byte{0x0a, 0x48, 0x50, 0x5a, 0x60}, head[0]) < 0 {
		return source.No
	}
	types := 0
	for rest := head; len(rest) > 0; {
		tag, n := uvarint(rest)
		if n == 0 || !isPprofField(tag) {
			return source.No
		}
		rest = rest[n:]
		length, n := uvarint(rest)
		if n == 0 {
			if len(rest) < 10 { // the head ends in it
				break
			}
			return source.No
		}
		if rest = rest[n:]; tag&7 != 0 {
			size := int(min(length, uint64(len(rest))))
			if tag>>3 == 1 && isValueType(rest[:size]) {
				types++
			} else if tag>>3 == 1 || tag == 0x5a && !isValueType(rest[:size]) {
				return source.No
			}
			rest = rest[size:]
		}
	}
	if types == 0 {
		return source.No
	}
	return source.Strong
}

// isPprofField reports whether a tag is that of a field of a profile with its wire type: 0 for numbers, 2 for messages.
func isPprofField(tag uint64) bool {
	switch tag >> 3 {
	case 1, 2, 3, 4, 5, 6, 11:
		return tag&7 == 2
	case 7, 8, 9, 10, 12, 14, 15:
		return tag&7 == 0
	case 13: // comments, packed or not
		return tag&7 == 0 || tag&7 == 2
	}
	return false
}

// isValueType reports whether a message is a ValueType: fields 1 and 2 with indices of strings.
func isValueType(message []byte) bool {
	for field := 1; len(message) > 0; field++ {
		tag, n := uvarint(message)
		if n != 1 || tag != 0x08 && tag != 0x10 || field > 2 {
			return false
		}
		if _, n = uvarint(message[1:]); n == 0 {
			return false
		}
		message = message[1+n:]
	}
	return true
}

func uvarint(b []byte) (v uint64, n int) {
	for i, c := range b[:min(len(b), 10)] {
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// ReadPprof reads a profile to the end of the input.
func ReadPprof(in *source.Input, ledger *source.Ledger) (*Profile, error) {
	start := in.Pos()
	data, err := io.ReadAll(io.LimitReader(in, maxPprof+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxPprof {
		return nil, &source.SyntaxError{Pos: start, Msg: "a profile of more than 1 GiB; reduce it first with go tool pprof -proto"}
	}
	parsed, err := parsePprof(data)
	if err != nil {
		return nil, &source.SyntaxError{Pos: start, Msg: "not a whole pprof profile (" + err.Error() + "); write it again, or look whether its copy was cut"}
	}
	if isLegacyPprof(data) && cutLegacy(data) {
		ledger.Add("cut-input", source.Warning, source.Pos{Source: start.Source, Offset: int64(len(data))}, 1, "the text ends within a line; the stacks before it are read, what followed is missing")
	}
	p := &Profile{Source: start.Source, Line: start.Line, Format: "pprof"}
	f := pprofFolder{builder: newBuilder(start.Source, ledger), places: start, fields: FieldLabels()}
	f.types(parsed)
	f.places.Offset = 0
	for _, s := range parsed.Sample {
		f.sample(s)
	}
	if f.left > 0 {
		ledger.Add("label-not-kept", source.Note, start, f.left, "samples with labels other than comm, pid, tid and cpu; the samples count, those labels are left out")
	}
	f.finish(p)
	p.pprof.TimeNanos, p.pprof.DurationNanos, p.pprof.Period = parsed.TimeNanos, parsed.DurationNanos, parsed.Period
	if len(parsed.Sample) == 0 {
		ledger.Add("no-samples", source.Warning, start, 1, "the profile holds no samples; was anything running while it was taken?")
	}
	return p, nil
}

// parsePprof reads the protobuf or an older form; what is damaged in it is an error, whatever the library makes of it.
func parsePprof(data []byte) (p *profile.Profile, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, errors.New("damaged")
		}
	}()
	if isLegacyPprof(data) {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		if p, err = profile.ParseData(data); err == nil {
			nameLegacy(p, data)
		}
	} else {
		p, err = profile.ParseUncompressed(data)
	}
	if err != nil {
		return nil, err
	}
	if err = p.CheckValid(); err != nil {
		return nil, err
	}
	if len(p.SampleType) == 0 || len(p.SampleType) > maxEvents {
		return nil, fmt.Errorf("%d sample types", len(p.SampleType))
	}
	return p, nil
}

// pprofFolder hands samples of another profile to a builder.
type pprofFolder struct {
	*builder
	events    []pprofEvent
	locations map[uint64]uint32 // by ID
	stack     []byte
	left      int64
	fields    []Label // that are fields of tracepoints
	places    source.Pos
}

// pprofEvent is an event with its places among the values of a sample.
type pprofEvent struct {
	id              uint32
	samples, period int
}

func (f *pprofFolder) types(p *profile.Profile) {
	f.locations = make(map[uint64]uint32, len(p.Location))
	for i := 0; i < len(p.SampleType); i++ {
		t := p.SampleType[i]
		e := pprofEvent{samples: i, period: i}
		if i+1 < len(p.SampleType) && isPair(t, p.SampleType[i+1]) {
			i++
			t, e.period = p.SampleType[i], i
		}
		name, _ := strings.CutSuffix(t.Type, "/"+string(Period))
		scale, unit := cutScale(t.Unit)
		f.scale = max(f.scale, scale)
		e.id = f.eventIn(name, unit, f.places)
		f.events = append(f.events, e)
	}
	for _, l := range p.Location {
		f.locations[l.ID] = f.pprofLocation(l)
	}
}

// isPair reports whether a sample type counts what the next one measures.
func isPair(count, value *profile.ValueType) bool {
	if name, ours := strings.CutSuffix(count.Type, "/"+string(Samples)); ours {
		return value.Type == name+"/"+string(Period)
	}
	return count.Unit == "count" && value.Unit != "count"
}

// cutScale reads the unit "1/1000 count" that this package writes for decimal fractions; all sample types have the same.
func cutScale(unit string) (scale int64, rest string) {
	if fraction, rest, ok := strings.Cut(unit, " "); ok {
		for decimals := 1; decimals <= maxDecimals; decimals++ {
			if fraction == "1/"+strconv.FormatInt(pow10(decimals), 10) {
				return pow10(decimals), rest
			}
		}
	}
	return 1, unit
}

func (f *pprofFolder) pprofLocation(l *profile.Location) uint32 {
	object := ""
	if l.Mapping != nil {
		object = l.Mapping.File
	}
	lines := make([]line, 0, max(len(l.Line), 1))
	for _, at := range l.Line {
		if at.Function != nil {
			lines = append(lines, line{symbol: at.Function.Name, file: at.Function.Filename})
		}
	}
	if len(lines) == 0 && object == "" {
		lines = append(lines, line{symbol: "0x" + strconv.FormatUint(l.Address, 16)})
	} else if len(lines) == 0 {
		lines = append(lines, line{symbol: perf.Unknown})
	}
	return f.location(lines, object)
}

func (f *pprofFolder) sample(s *profile.Sample) {
	f.stack = f.stack[:0]
	for _, l := range s.Location {
		f.stack = appendLocation(f.stack, f.locations[l.ID])
	}
	l, others := pprofLabels(s, f.fields)
	if others {
		f.left++
	}
	for _, e := range f.events {
		samples, period := s.Value[e.samples], s.Value[e.period]
		if samples < 0 || period < 0 {
			f.ledger.Add("negative-value", source.Warning, f.places, 1, "a negative value, as the difference of two profiles has it, cannot be shown as a share; left out")
		} else if samples > 0 || period > 0 {
			f.add(e.id, l, f.stack, samples, period, place{})
		}
	}
}

// pprofLabels returns the labels that are kept, fields among them, and whether there are others.
func pprofLabels(s *profile.Sample, fields []Label) (l labels, others bool) {
	for name, values := range s.Label {
		if len(values) == 0 {
			continue
		}
		n, err := strconv.ParseInt(values[0], 10, 32)
		switch {
		case name == "comm":
			l.comm = values[0]
		case name == string(ofEvent):
			l.event = values[0]
		case name == "pid" && err == nil:
			l.pid, l.hasPID = int32(n), true
		case name == "tid" && err == nil:
			l.tid, l.hasTID = int32(n), true
		case name == "cpu" && err == nil:
			l.cpu, l.hasCPU = int32(n), true
		case slices.Contains(fields, Label(name)):
		default:
			others = true
		}
	}
	l.fields = fieldsIn(s, fields)
	return l, others || len(s.NumLabel) > 0
}
