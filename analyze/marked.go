package analyze

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nettrace/tcp"
)

// Marked selects packets by their numbers and by what the analysis says of them. The zero value lets every packet through.
type Marked struct {
	Connection int64    // its number, 0 for any
	Flags      []string // of which the packet must have one; none for any
	Records    []Span   // one of which its number must be in; none for any
}

// Span is the records from one number to another.
type Span struct{ First, Last int64 }

func (m Marked) match(record int64, mark tcp.Mark) bool {
	if len(m.Records) > 0 && !slices.ContainsFunc(m.Records, func(s Span) bool { return s.First <= record && record <= s.Last }) {
		return false
	}
	if m.Connection != 0 && m.Connection != mark.Connection {
		return false
	}
	if len(m.Flags) == 0 {
		return true
	}
	for _, name := range mark.Flags.Names() {
		if slices.Contains(m.Flags, name) {
			return true
		}
	}
	return false
}

// ParseFlags reads a list of the names of flags, separated by commas.
func ParseFlags(text string) (list []string, err error) {
	if text == "" {
		return nil, nil
	}
	known := tcp.FlagNames()
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no flag %q; there are %s", name, strings.Join(known, ", "))
		}
		list = append(list, name)
	}
	return list, nil
}

// ParseRecords reads a list of numbers of records and of spans "12-40", separated by commas.
func ParseRecords(text string) (list []Span, err error) {
	if text == "" {
		return nil, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		first, last, several := strings.Cut(item, "-")
		if !several {
			last = first
		}
		from, err1 := strconv.ParseInt(first, 10, 64)
		to, err2 := strconv.ParseInt(last, 10, 64)
		if err1 != nil || err2 != nil || from < 1 || to < from {
			return nil, fmt.Errorf("%q: expected numbers of packets, such as 6 or 12-40", item)
		}
		list = append(list, Span{from, to})
	}
	return list, nil
}
