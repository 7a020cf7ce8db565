package bench

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"nettrace/source"
)

// Columns of numbers are what ministat reads: one value a line, blank lines and # comments apart.
//
//	# transactions per second, adaptive-rx on
//	21940.4
//	22013.7
//
// The values have no unit; a series is named after its file.

// leastNumbers is how many values make a column; ministat asks for three as well.
const leastNumbers = 3

// SniffNumbers recognises, weakly, a column of at least three numbers.
func SniffNumbers(head []byte) source.Match {
	found := 0
	for line := range bytes.Lines(head) {
		whole := line[len(line)-1] == '\n'
		text, comment := numberLine(line)
		switch {
		case comment:
		case kindOf(text) != notNumber:
			found++
		case whole || found < leastNumbers:
			return source.No
		}
		if found == leastNumbers && whole {
			return source.Weak
		}
	}
	if found >= leastNumbers {
		return source.Weak
	}
	return source.No
}

// numberLine returns the text of a line, and whether it is blank or a comment.
func numberLine(line []byte) (text []byte, comment bool) {
	text = bytes.TrimSpace(line)
	return text, len(text) == 0 || text[0] == '#'
}

// ReadNumbers reads a column of numbers as repeated runs of the tool "numbers", whose test is the base name of the
// source; a column of more than 10,000 values as one run with a Summary. Ledger: values-thinned, cut-input.
func ReadNumbers(l *source.Lines, ledger *source.Ledger) ([]Run, error) {
	var runs []Run
	var long *longColumn // of more values than are kept as runs
	behindPoint := 0     // digits of the value before
	begin := l.Pos()
	name, _, _ := strings.Cut(path.Base(begin.Source), ".")
	for l.Next() {
		text, comment := numberLine(l.Bytes())
		if comment {
			continue
		}
		if kindOf(text) == notNumber {
			l.Back()
			break
		}
		if !l.Complete() && decimals(text) < behindPoint {
			ledger.Add("cut-input", source.Warning, l.Pos(), 1, "the last value has no line end and fewer digits than the others; it is left out")
			continue
		}
		behindPoint = decimals(text)
		switch {
		case long != nil:
			long.add(number(text))
		case len(runs) == maxRuns:
			long = newLongColumn()
			for i := range runs {
				long.add(runs[i].Rate)
			}
			long.add(number(text))
		default:
			runs = append(runs, Run{Pos: l.Pos(), Group: begin.Offset, Tool: "numbers", Test: name, Rate: number(text)})
		}
	}
	if long == nil {
		return runs, nil
	}
	if long.stride > 1 {
		ledger.Add("values-thinned", source.Note, begin, int64(long.n-len(long.values)), fmt.Sprintf("of a column of %d values every %d-th is kept: medians and ranks are of those, mean and spread of all", long.n, long.stride))
	}
	return []Run{long.into(Run{Pos: runs[0].Pos, Group: begin.Offset, Tool: "numbers", Test: name})}, nil
}
