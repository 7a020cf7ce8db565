package coalesce

import (
	"bytes"

	"nettrace/source"
)

// vmstat: interrupts, context switches and CPU time of the whole host, a line for each report.
//
//	procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
//	 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
//	 8  0      0 17876680  55264 5841908    0    0     8     0 15634 7405 48 52  0  0  0
//
// Written by vmstat of procps (with -w wider, with -t a time at the end) and of FreeBSD, whose "sy" stands twice: the
// first is system calls. Heads come again every screen. The first report of procps is since boot and left out, unless it
// is the only one; FreeBSD's is of the first interval. Sizes (memory) are kept as they are printed.

// SniffSystem recognises vmstat by its two lines of heads.
func SniffSystem(head []byte) source.Match {
	line, rest := firstLine(head)
	if !bytes.HasPrefix(line, []byte("procs ")) && !bytes.HasPrefix(line, []byte("--procs-- ")) {
		return source.No
	}
	if next, _ := firstLine(rest); isSystemHead(next) {
		return source.Strong
	}
	return source.No
}

func isSystemHead(line []byte) bool {
	line = bytes.TrimLeft(line, " ")
	return bytes.HasPrefix(line, []byte("r ")) && bytes.Contains(line, []byte(" cs ")) && bytes.Contains(line, []byte(" us "))
}

// ReadSystem reads vmstat.
func ReadSystem(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "vmstat", Pos: l.Pos()}
	if SniffSystem(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no vmstat begins here; \"procs\" and below it \"r b ... us sy id\" were expected"}
	}
	r := newReports("vmstat")
	var columns []string
	linux := false
	var first [][]byte // of procps: since boot
	var firstPos source.Pos
	rows := 0
	for l.Next() {
		line := l.Bytes()
		words := bytes.Fields(line)
		switch {
		case bytes.HasPrefix(line, []byte("procs ")) || bytes.HasPrefix(line, []byte("--procs-- ")):
			linux = linux || bytes.Contains(line, []byte("--"))
		case isSystemHead(line):
			columns = systemColumns(words)
		case len(words) < len(columns) || len(columns) == 0 || !digit(words[0][0]):
			if len(words) > 0 && !l.Complete() {
				cut(ledger, l.Pos(), "the input ends inside a line of vmstat; it is left out")
			} else if len(words) > 0 {
				l.Back()
			}
			if len(words) > 0 {
				return finishSystem(out, r, columns, first, firstPos, rows), nil
			}
		case linux && rows == 0:
			rows++
			for _, w := range words { // the line is not valid any longer when it is needed
				first = append(first, bytes.Clone(w))
			}
			firstPos = l.Pos()
		default:
			rows++
			r.row(columns, words, l.Pos())
		}
	}
	return finishSystem(out, r, columns, first, firstPos, rows), nil
}

func finishSystem(out *Output, r *reports, columns []string, first [][]byte, pos source.Pos, rows int) *Output {
	if first != nil && rows == 1 {
		r.row(columns, first, pos)
	}
	out.Reported = r.list
	return out
}

// systemColumns returns the names of the columns, without those of the time at the end.
func systemColumns(words [][]byte) []string {
	var names []string
	seen := map[string]bool{}
	for _, w := range words {
		name := string(w)
		if name == "sy" && bytes.Contains(bytes.Join(words, []byte{' '}), []byte(" in sy cs ")) && !seen["sy calls"] {
			name = "sy calls"
		}
		if seen[name] {
			name += " #2"
		}
		seen[name] = true
		names = append(names, name)
		if name == "gu" || name == "st" && !bytes.Equal(words[len(words)-1], []byte("gu")) && !containsWord(words, "gu") || name == "id" && !containsWord(words, "wa") {
			break
		}
	}
	return names
}

func containsWord(words [][]byte, word string) bool {
	for _, w := range words {
		if string(w) == word {
			return true
		}
	}
	return false
}

// row enters the figures of a line under the names of columns; what is no number is left out.
func (r *reports) row(columns []string, words [][]byte, pos source.Pos) {
	for k, name := range columns {
		if v, ok := parseFloat(words[k]); ok {
			r.add("", name, reportedUnit(name), v, pos)
		}
	}
}
