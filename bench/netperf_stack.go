package bench

import (
	"bytes"
	"slices"

	"nettrace/source"
)

// The human form of omni output (-O; nettest_omni.c, print_omni_human), in up to four blocks with an empty line between:
//
//	Throughput Throughput  Local   Local
//	           Units       CPU     Service
//	                       Util    Demand
//	                       %
//	5844.22    10^6bits/s  100.00  2.803
//
// A head is four lines, also where the last are blank, and every column begins with a word in the first of them. Heads
// and values begin at the same place; values can be wider than their heads and can have blanks. With -P 0 there are no
// heads, and nothing tells what the values are: that is not recognised.
type stack struct {
	starts []int
	names  []string // as the CSV form joins them
	heads  int      // lines taken
	pos    source.Pos
}

// stackLines is how many lines netperf gives a head.
const stackLines = 4

// stackWords are the words with which omni's heads begin (print_omni_init_list).
var stackWords = [...]string{"50th", "90th", "99th", "Command", "Confidence", "Destination", "Direction", "Elapsed", "Initial", "Local",
	"Maximum", "Mean", "Minimum", "Protocol", "Remote", "Request", "Response", "Result", "Round", "Service", "Socket", "Source",
	"Stddev", "Test", "This", "Throughput", "Transaction", "Transport"}

// stackAt returns the columns that the first line of a head begins, or nil if it is none.
func stackAt(line []byte, pos source.Pos) *stack {
	s := &stack{heads: 1, pos: pos}
	for i := 0; i < len(line); {
		if blank(line[i]) {
			i++
			continue
		}
		end := i
		for end < len(line) && !blank(line[end]) {
			end++
		}
		if !slices.Contains(stackWords[:], string(line[i:end])) || len(s.starts) == maxFields {
			return nil
		}
		s.starts, s.names = append(s.starts, i), append(s.names, string(line[i:end]))
		i = end
	}
	if len(s.starts) == 0 || s.starts[0] != 0 {
		return nil
	}
	return s
}

// isStack reports whether text begins with a head and its values, as far as it goes.
func isStack(text []byte) bool {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	s := stackAt(line, source.Pos{})
	for s != nil && s.heads < stackLines && len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if !s.head(line) {
			return false
		}
	}
	if s == nil || len(rest) == 0 {
		return s != nil
	}
	line, _, _ = bytes.Cut(rest, []byte("\n"))
	return len(s.split(line)) > 0
}

// head takes a further line of the head.
func (s *stack) head(line []byte) bool {
	if len(bytes.TrimSpace(line)) > 0 && s.split(line) == nil {
		return false
	}
	for i, word := range s.split(line) {
		if word != "" {
			s.names[i] += " " + word
		}
	}
	s.heads++
	return true
}

// split returns what stands in the columns of a line, as many as it reaches, or nil if one does not begin where it should.
func (s *stack) split(line []byte) []string {
	line = bytes.TrimRight(line, " \t\r")
	var parts []string
	for i, start := range s.starts {
		if start >= len(line) {
			break
		}
		end := len(line)
		if i+1 < len(s.starts) {
			end = min(end, s.starts[i+1])
		}
		part := line[start:end]
		begins := start == 0 || blank(line[start-1])
		if text := bytes.TrimSpace(part); len(text) > maxFieldBytes || !begins || len(text) > 0 && blank(part[0]) {
			return nil
		}
		parts = append(parts, printable(bytes.TrimSpace(part)))
	}
	return parts
}

// stacked takes a line of the block that is being read; a cut one has no end.
func (o *omni) stacked(line []byte, pos source.Pos, complete bool) bool {
	s := o.stack
	if s.heads < stackLines {
		return s.head(line)
	}
	o.stack = nil
	o.blocks++
	values := s.split(line)
	if !complete && len(values) > 0 {
		values = values[:len(values)-1] // it may be cut
	}
	for i, value := range values {
		o.add(omniKey(s.names[i]), value, pos)
	}
	return values != nil || len(bytes.TrimSpace(line)) == 0
}
