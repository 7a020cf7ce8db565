package lockstat

import (
	"bytes"
	"strconv"
)

// eventType is a type of event of lockstat(1). FreeBSD and illumos agree on the numbers; 8 to 15, 36 and 37 are
// FreeBSD's (cddl/contrib/opensolaris/cmd/lockstat/lockstat.c).
type eventType struct {
	number int
	name   string
	act    Act
	kind   string
}

var lockstatEvents = [...]eventType{
	{0, "Adaptive mutex spin", Spin, "mutex"},
	{1, "Adaptive mutex block", Block, "mutex"},
	{2, "Spin lock spin", Spin, "spinlock"},
	{3, "Thread lock spin", Spin, "spinlock"},
	{4, "R/W writer blocked by writer", Block, "rwlock"},
	{5, "R/W writer blocked by readers", Block, "rwlock"},
	{6, "R/W reader blocked by writer", Block, "rwlock"},
	{7, "R/W reader blocked by write wanted", Block, "rwlock"},
	{8, "R/W writer spin on writer", Spin, "rwlock"},
	{9, "R/W writer spin on readers", Spin, "rwlock"},
	{10, "R/W reader spin on writer", Spin, "rwlock"},
	{11, "R/W reader spin on write wanted", Spin, "rwlock"},
	{12, "SX exclusive block", Block, "sx"},
	{13, "SX shared block", Block, "sx"},
	{14, "SX exclusive spin", Spin, "sx"},
	{15, "SX shared spin", Spin, "sx"},
	{32, "Adaptive mutex hold", Hold, "mutex"},
	{33, "Spin lock hold", Hold, "spinlock"},
	{34, "R/W writer hold", Hold, "rwlock"},
	{35, "R/W reader hold", Hold, "rwlock"},
	{36, "SX shared hold", Hold, "sx"},
	{37, "SX exclusive hold", Hold, "sx"},
	{56, "Profiling interrupt", Profile, ""},
	{60, recursiveEntry, Failure, ""},
	{61, "Lockstat enter failure", Failure, ""},
	{62, "Lockstat exit failure", Failure, ""},
	{63, "Lockstat record failure", Failure, ""},
}

// recursiveEntry is the event of a thread that takes a lock which it has.
const recursiveEntry = "Recursive lock entry detected"

// unknownEvent is how lockstat names the numbers that it has no name for.
const unknownEvent = "Unknown event (type "

// eventNumbered returns the type of a number.
func eventNumbered(n int64) (eventType, bool) {
	for _, e := range lockstatEvents {
		if int64(e.number) == n {
			return e, true
		}
	}
	if n < 0 || n > 63 {
		return eventType{}, false
	}
	return eventType{number: int(n), name: unknownEvent + strconv.FormatInt(n, 10) + ")", act: Failure}, true
}

// eventNamed returns the type whose name text ends with, and how long the name is; what is before it may be an echoed
// command.
func eventNamed(text []byte) (e eventType, length int, ok bool) {
	for _, e := range lockstatEvents {
		if endsWith(text, e.name) {
			return e, len(e.name), true
		}
	}
	if i := bytes.LastIndex(text, []byte(unknownEvent)); i >= 0 && len(text) > i+len(unknownEvent) && text[len(text)-1] == ')' {
		if n, ok := whole(text[i+len(unknownEvent) : len(text)-1]); ok {
			e, ok := eventNumbered(n)
			return e, len(text) - i, ok
		}
	}
	return eventType{}, 0, false
}

// beginsEvent reports whether text may be the beginning of a heading.
func beginsEvent(text []byte) bool {
	name, _, _ := bytes.Cut(text, []byte(":"))
	for _, e := range lockstatEvents {
		if len(name) <= len(e.name) && e.name[:len(name)] == string(name) {
			return true
		}
	}
	return false
}

func endsWith(text []byte, name string) bool {
	return len(text) >= len(name) && string(text[len(text)-len(name):]) == name
}

// heading is the line above one of lockstat's tables: "Adaptive mutex spin: 41411 events in 5.011 seconds (8263
// events/sec)". Very old texts end behind "events"; the rate may be on the next line, or what follows on this one.
type heading struct {
	event   eventType
	count   int64
	seconds float64 // 0 where not printed
	start   int     // of the event's name in the line
	end     int     // behind the heading
}

// parseHeading finds a heading in a line.
func parseHeading(line []byte) (h heading, ok bool) {
	events := bytes.Index(line, []byte(" events"))
	if events < 0 {
		return h, false
	}
	number := events
	for number > 0 && line[number-1] >= '0' && line[number-1] <= '9' {
		number--
	}
	if number < 2 || string(line[number-2:number]) != ": " {
		return h, false
	}
	var length int
	if h.event, length, ok = eventNamed(line[:number-2]); !ok {
		return h, false
	}
	if h.count, ok = whole(line[number:events]); !ok {
		return h, false
	}
	h.start, h.end = number-2-length, events+len(" events")
	if h.start > 0 && !blank(line[h.start-1]) {
		return h, false
	}
	h.duration(line)
	return h, h.end == len(line) || blank(line[h.end])
}

// duration reads " in S.SSS seconds (R events/sec)", as far as it is there.
func (h *heading) duration(line []byte) {
	rest, ok := bytes.CutPrefix(line[h.end:], []byte(" in "))
	if !ok {
		return
	}
	number, tail, ok := bytes.Cut(rest, []byte(" seconds"))
	if !ok {
		return
	}
	s, ok := seconds(number)
	if !ok {
		return
	}
	h.seconds = s
	h.end = len(line) - len(tail)
	if i := bytes.Index(tail, []byte("events/sec)")); i >= 0 && i < 24 {
		h.end += i + len("events/sec)")
	} else if bytes.HasPrefix(tail, []byte(" (")) && len(tail) < 24 { // the rest is on the next line
		h.end = len(line)
	}
}
