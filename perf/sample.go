package perf

import (
	"bytes"

	"nettrace/unit"
)

// sampleLine is the first line of a sample, taken apart. The slices are parts of the line.
type sampleLine struct {
	comm      []byte
	pid, tid  int
	cpu       int
	time      unit.Nanos
	period    int64
	event     []byte // with its modifiers, without the colon; nil if not printed
	rest      []byte // what follows the event: a tracepoint's fields, or the only frame
	hasPID    bool
	hasTID    bool
	hasCPU    bool
	hasTime   bool
	hasPeriod bool
}

// parse takes line apart. The only safe anchor is the time, "digits.digits:", with the identifiers before it: what
// stands before these is the thread name, which may hold blanks, brackets, slashes, colons and numbers. The first such
// place from the left counts, since a tracepoint's fields may hold another one.
func (s *sampleLine) parse(line []byte) bool {
	start, end := 0, 0
	for {
		if start, end = nextTime(line, end); end == 0 {
			return false
		}
		*s = sampleLine{}
		if s.identify(line[:start]) {
			return s.finish(line, start, end)
		}
	}
}

func (s *sampleLine) finish(line []byte, start, end int) bool {
	s.setTime(line[start:end])
	s.describe(line[end+1:])
	return true
}

// nextTime finds the first token of the form digits.digits: whose colon is at or behind from. end is the colon's place, 0 if there is none.
func nextTime(line []byte, from int) (start, end int) {
	for at := from; ; {
		i := bytes.IndexByte(line[at:], ':')
		if i < 0 {
			return 0, 0
		}
		end = at + i
		at = end + 1
		if end == from || !isDigit(line[end-1]) || at < len(line) && !isBlank(line[at]) {
			continue
		}
		start = end
		dots := 0
		for start > 0 && (isDigit(line[start-1]) || line[start-1] == '.') {
			start--
			if line[start] == '.' {
				dots++
			}
		}
		if dots == 1 && isDigit(line[start]) && (start == 0 || isBlank(line[start-1])) {
			return start, end
		}
	}
}

// identify takes the thread name and identifiers that end at the end of before: comm, tid or pid/tid, [cpu], misc.
func (s *sampleLine) identify(before []byte) bool {
	before = s.cutCPU(cutTimeOfDay(trimRight(before)))
	rest, token := cutLastToken(before)
	before, after, both := bytes.Cut(token, []byte("/"))
	if !both {
		after = before
	}
	tid, isTID := integer(after)
	pid, isPID := integer(before)
	if !isTID || !isPID {
		return false
	}
	s.tid, s.hasTID = tid, true
	if both {
		s.pid, s.hasPID = pid, true
	}
	s.comm = cutGuest(trimLeft(rest))
	return true
}

// cutCPU takes [cpu] and the letters of -F +misc off the end of b.
func (s *sampleLine) cutCPU(b []byte) []byte {
	if rest, token := cutLastToken(b); isMisc(token) && len(rest) > 0 {
		b = rest
	}
	if n := len(b); n == 0 || b[n-1] != ']' {
		return b
	}
	rest, token := cutLastToken(b)
	if len(token) < 3 || token[0] != '[' {
		return b
	}
	cpu, ok := integer(token[1 : len(token)-1])
	if !ok || cpu < 0 {
		return b
	}
	s.cpu, s.hasCPU = cpu, true
	return rest
}

// cutTimeOfDay takes what -F +tod prints, "2026-11-30 16:31:22.123456", off the end of b.
func cutTimeOfDay(b []byte) []byte {
	rest, clock := cutLastToken(b)
	if len(clock) < len("16:31:22.123456") || clock[2] != ':' || clock[5] != ':' || clock[8] != '.' {
		return b
	}
	rest, date := cutLastToken(rest)
	if len(date) != len("2026-11-30") || date[4] != '-' || date[7] != '-' || !isDigit(date[0]) {
		return b
	}
	return rest
}

// cutBranch takes what -F +flags prints of a branch off the front of what follows the event ("tr end  call"), and its
// target off the end (" => ADDRESS SYMBOL").
func cutBranch(rest []byte) []byte {
	for {
		token, behind := cutToken(rest)
		switch string(token) {
		case "call", "return", "jcc", "jmp", "int", "iret", "syscall", "sysret", "async", "hw", "tx", "abrt", "tr", "strt", "end", "vmentry", "vmexit", "(x)":
			rest = behind
			continue
		}
		if i := bytes.Index(rest, []byte(") => ")); i >= 0 {
			rest = rest[:i+1]
		}
		return rest
	}
}

// isMisc reports whether token can be the misc column of perf script: K, U, H, G, g for the mode, M, E, S, Sp for records.
func isMisc(token []byte) bool {
	if len(token) == 0 || len(token) > 6 {
		return false
	}
	for _, c := range token {
		switch c {
		case 'K', 'U', 'H', 'G', 'g', 'M', 'E', 'S', 'p':
		default:
			return false
		}
	}
	return true
}

// cutGuest takes the columns of guest recordings, "VM: 123 VCPU:001 ", off the front.
func cutGuest(b []byte) []byte {
	if !bytes.HasPrefix(b, []byte("VM:")) {
		return b
	}
	rest := trimLeft(b[3:])
	if machine, behind := cutToken(rest); len(machine) > 0 && isDigit(machine[0]) {
		rest = behind
	}
	if bytes.HasPrefix(rest, []byte("VCPU:")) {
		_, rest = cutToken(rest)
	}
	return rest
}

// setTime reads seconds with 6 or 9 digits behind the dot.
func (s *sampleLine) setTime(token []byte) {
	whole, fraction, _ := bytes.Cut(token, []byte("."))
	seconds, _ := number(whole)
	const most = (1<<63 - 1) / 1_000_000_000
	if seconds >= most {
		return
	}
	nanos, digits := int64(0), 0
	for ; digits < 9; digits++ {
		nanos *= 10
		if digits < len(fraction) {
			nanos += int64(fraction[digits] - '0')
		}
	}
	s.time, s.hasTime = unit.Nanos(seconds*1e9+nanos), true
}

// describe takes the columns behind the time apart: period, event, and the rest.
func (s *sampleLine) describe(b []byte) {
	b = trimLeft(b)
	token, rest := cutToken(b)
	if period, ok := number(token); ok {
		event, behind := cutToken(rest)
		switch {
		case isEvent(event):
			s.period, s.hasPeriod = period, true
			s.event, s.rest = event[:len(event)-1], behind
			return
		case len(rest) == 0:
			s.period, s.hasPeriod = period, true
			return
		}
	}
	if isEvent(token) {
		s.event, s.rest = token[:len(token)-1], rest
		return
	}
	s.rest = b
}

func isEvent(token []byte) bool { return len(token) > 1 && token[len(token)-1] == ':' }

// splitEvent takes the modifiers off an event's name: "cycles:ppp", "cpu/mem-loads,ldlat=30/P", "irq:softirq_entry".
func splitEvent(b []byte) (name, modifiers []byte) {
	i := bytes.LastIndexAny(b, ":/")
	if i <= 0 || i+1 == len(b) {
		return b, nil
	}
	for _, c := range b[i+1:] {
		if bytes.IndexByte([]byte("ukhGHIpPSDWeb"), c) < 0 {
			return b, nil
		}
	}
	if b[i] == '/' {
		return b[:i+1], b[i+1:]
	}
	return b[:i], b[i+1:]
}
