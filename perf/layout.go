package perf

import "bytes"

// layout is which columns identify a sample. The usual one has a thread and a time; a text made with other -F lists lacks
// one of them or both throughout, and is then believed only as long as it does.
type layout uint8

const (
	noLayout     layout = iota
	tidAndTime          // comm 123 [000] 1.000000: ...
	timeOnly            // comm 1.000000: ...
	tidAndEvent         // comm 123 [000] 250000 cycles: ...
	eventOnly           // comm [000] 250000 cycles:
	beforeFrames        // comm 123 [000] 250000, with frames on the next lines
)

// What tells a column from the end of a name in front of it: perf pads a thread to 5 places ("%5d ", up to perf 4, then
// "%7d ") and a period to 10 (tools/perf/builtin-script.c), and no name is longer than TASK_COMM_LEN of the kernel's
// include/linux/sched.h, less its end.
const (
	idWidth     = 5
	periodWidth = 10
	maxComm     = 15
)

// behind is what stands behind a line.
type behind struct {
	frame  bool // the next line is one
	blank  bool // the next line is empty
	stacks bool // frames as perf prints them, a blank line, and then the end or the next sample's line
}

// partialLayout takes a sample line apart that lacks a thread or a time: its event is the last column, or a frame comes
// behind it or on the next line.
func partialLayout(s *sampleLine, line []byte, b behind) layout {
	switch {
	case isFrame(line):
		return noLayout
	case s.parseTimeOnly(line) && s.endsWell():
		return timeOnly
	case s.parseEvent(line, 1) && s.hasTID && s.endsWell():
		return tidAndEvent
	case b.frame && s.parseEvent(line, idWidth) && s.endsWell() && len(s.comm) <= maxComm && isEventName(s.event):
		return eventOnly
	case b.stacks && s.parseColumns(line):
		return beforeFrames
	}
	return noLayout
}

func (s *sampleLine) endsWell() bool { return len(s.rest) == 0 || endsInFrame(s) }

// parseAs takes a line of a text with a partial layout apart.
func (s *sampleLine) parseAs(l layout, line []byte, b behind) bool {
	switch l {
	case timeOnly:
		return s.parseTimeOnly(line)
	case tidAndEvent:
		return s.parseEvent(line, 1) && s.hasTID
	case eventOnly:
		return s.parseEvent(line, idWidth) && isEventName(s.event)
	case beforeFrames:
		return s.parseColumns(line) && (b.frame || b.blank && isBlank(line[len(line)-1]))
	}
	return false
}

// parseTimeOnly takes a line without thread identifiers apart.
func (s *sampleLine) parseTimeOnly(line []byte) bool {
	start, end := nextTime(line, 0)
	if end == 0 {
		return false
	}
	*s = sampleLine{}
	s.comm = trimLeft(s.cutCPU(cutTimeOfDay(trimRight(line[:start]))))
	return s.finish(line, start, end)
}

// parseEvent takes a line without a time apart: the event, "name:", with the columns before it. The first such place that
// a thread stands before counts, or else the last one. A number narrower than narrowest belongs to the name.
func (s *sampleLine) parseEvent(line []byte, narrowest int) bool {
	found := false
	for end := 0; ; {
		i := bytes.IndexByte(line[end:], ':')
		if i < 0 {
			return found
		}
		end += i + 1
		if end < len(line) && !isBlank(line[end]) {
			continue
		}
		before, event := cutLastToken(line[:end])
		if len(event) < 2 || len(before) == 0 {
			continue
		}
		found = true
		s.columns(before, narrowest)
		s.event, s.rest = event[:len(event)-1], trimLeft(line[end:])
		if s.hasTID {
			return true
		}
	}
}

// parseColumns takes a line without a time and an event apart.
func (s *sampleLine) parseColumns(line []byte) bool {
	s.columns(trimRight(line), idWidth)
	n := len(s.comm)
	return n > 0 && n <= maxComm && s.comm[n-1] != ':' || n == 0 && s.hasTID
}

// columns takes what stands before an event, or a whole line, apart: comm, tid or pid/tid, [cpu], misc, period, each of
// which may be missing.
func (s *sampleLine) columns(b []byte, narrowest int) {
	*s = sampleLine{}
	rest, last := cutLastToken(b)
	if period, ok := number(last); ok {
		width := columnWidth(b, rest)
		if width >= periodWidth || width == len(last) && s.identify(rest) { // the second one lost its padding
			*s = sampleLine{period: period, hasPeriod: true}
			b = rest
		}
	}
	b = s.cutCPU(cutTimeOfDay(b))
	rest, last = cutLastToken(b)
	if wide := columnWidth(b, rest) >= narrowest; (wide || bytes.IndexByte(last, '/') > 0) && s.identify(b) {
		return
	}
	s.comm = cutGuest(trimLeft(b))
}

// columnWidth is how wide the last column of b is, with the blanks that pad it, if rest is what stands before it.
func columnWidth(b, rest []byte) int {
	if len(rest) == 0 {
		return len(b)
	}
	return len(b) - len(rest) - 1
}

// isEventName reports whether b, which no thread stands before, can name an event: the generic ones of `perf list` that
// are one word, or a name made of several.
func isEventName(b []byte) bool {
	name, _ := splitEvent(b)
	switch string(name) {
	case "cycles", "instructions", "branches", "faults", "migrations", "cs":
		return true
	}
	return name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z' && bytes.ContainsAny(name, "-:/_")
}
