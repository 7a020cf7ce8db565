package lockstat

import (
	"bytes"

	"nettrace/source"
)

// SniffLockstat recognises the outputs of lockstat(1) by their first line.
func SniffLockstat(head []byte) source.Match {
	line := firstLine(head)
	if len(line) < 12 {
		return source.No
	}
	if _, ok := parseHeading(line); ok {
		return source.Strong
	}
	switch c := line[0]; {
	case c >= '0' && c <= '9':
		if _, ok := parseTotal(line); ok {
			return source.Strong
		}
		var buf [8][]byte
		if sniffParsable(line, buf[:0]) {
			return source.Strong
		}
	case c == 'l' && bytes.HasPrefix(line, []byte("lockstat: ")):
		if complaint(line) != "" {
			return source.Strong
		}
	case c == 'E' || c == 'C' || c == 'o':
		var buf [16][]byte
		if len(line) > 200 {
			return source.No
		}
		w := words(line, buf[:0])
		if traceHeader(w) {
			return source.Strong
		}
		if c, ok := parseColumns(w); ok && c.length == len(w) {
			return source.Strong
		}
	}
	return source.No
}

// parseTotal reads a line of lockstat -D 0: "94178 Adaptive mutex spin".
func parseTotal(line []byte) (h heading, ok bool) {
	i := 0
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i == 0 || i+1 >= len(line) || line[i] != ' ' {
		return h, false
	}
	if h.count, ok = whole(line[:i]); !ok {
		return h, false
	}
	var length int
	h.event, length, ok = eventNamed(line[i+1:])
	return h, ok && length == len(line)-i-1
}

// sniffParsable recognises a line of lockstat -p by its first five fields: event, count, lock, caller, and the mean
// reference count with six decimals.
func sniffParsable(line []byte, buf [][]byte) bool {
	w := words(line[:min(len(line), 400)], buf)
	if len(w) < 5 {
		return false
	}
	n, ok1 := whole(w[0])
	_, ok2 := whole(w[1])
	if !ok1 || !ok2 {
		return false
	}
	_, known := eventNumbered(n)
	_, places, ok := decimal(w[4])
	return known && ok && places == 6 && symbolic(w[2]) && symbolic(w[3])
}

func traceHeader(w [][]byte) bool {
	return len(w) >= 5 && string(w[0]) == "Event" && string(w[1]) == "Time" && string(w[2]) == "Owner" && string(w[3]) == "Lock" && string(w[4]) == "Caller"
}

// columns is what the header of a table tells of its rows.
type columns struct {
	rate          bool   // the first column is events per second
	generated     bool   // each frame of a stack has a row
	unit          string // "nsec", "spin", or "" where no time was taken
	hottestLock   bool
	hottestCaller bool
	length        int // in words
}

// parseColumns reads "Count indv cuml rcnt     nsec Lock                   Caller".
func parseColumns(w [][]byte) (c columns, ok bool) {
	if len(w) < 6 || string(w[2]) != "cuml" || string(w[3]) != "rcnt" {
		return c, false
	}
	c.rate, c.generated = string(w[0]) == "ops/s", string(w[1]) == "genr"
	if !c.rate && string(w[0]) != "Count" || !c.generated && string(w[1]) != "indv" {
		return c, false
	}
	i := 4
	switch string(w[i]) {
	case "Lock", "CPU+PIL", "CPU+Pri_Class", "Hottest":
	default:
		c.unit = string(w[i])
		i++
	}
	if i < len(w) && string(w[i]) == "Hottest" {
		c.hottestLock = true
		i++
	}
	i++ // Lock or CPU
	if i < len(w) && string(w[i]) == "Hottest" {
		c.hottestCaller = true
		i++
	}
	c.length = i + 1
	return c, i < len(w) && string(w[i]) == "Caller"
}

// complaint returns the name under which a line of lockstat's stderr is entered into the ledger, or "".
func complaint(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte("lockstat: "))
	if !ok {
		return ""
	}
	warning, ok := bytes.CutPrefix(rest, []byte("warning: "))
	has := func(text string) bool { return bytes.Contains(rest, []byte(text)) }
	switch {
	case ok && has("ran out of data records"):
		return "records-lost"
	case ok && has("aggregation drop"):
		return "aggregation-drops"
	case ok && has("dynamic variable drop"):
		return "dynamic-variable-drops"
	case ok && has(" drop"):
		return "trace-drops"
	case ok && (has(" exited with code ") || has(" died on signal ")):
		return "command-failed"
	case ok && len(warning) > 0:
		return "tool-warning"
	case has("failed to "), has("couldn't "), has("could not "), has("cannot "), has("can't "), has("truncated DTrace record"):
		return "tool-failed"
	}
	return ""
}
