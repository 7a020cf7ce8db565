package bench

import (
	"bytes"
	"math"
	"strings"

	"nettrace/source"
)

// ministat(1) of FreeBSD, and Debian's package of it (usr.bin/ministat/ministat.c):
//
//	x bypass_mpring=0 (default)
//	+ bypass_mpring=1
//	    N           Min           Max        Median           Avg        Stddev
//	x   5        462506        464435        463851      463697.4     759.63235
//	+   5        451908        456286        455316        454538     1785.9727
//	Difference at 95.0% confidence
//	        -9159.4 +/- 2001.51
//
// Each set is a run whose Summary holds what is printed; single values are not, and the plot is passed over. What is
// printed of the difference to the first set becomes details, checked against the summaries. Mails turn tabs into blanks.
// The values have no unit, but for what the set's name says.

// ministatSymbols mark the sets, in this order.
const ministatSymbols = "x+*%#@O"

// SniffMinistat recognises an output at its first set's name, if the table follows, or at the table's head.
func SniffMinistat(head []byte) source.Match {
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	if ministatHead(line) {
		return source.Strong
	}
	if len(line) < 3 || line[0] != 'x' || line[1] != ' ' {
		return source.No
	}
	for n := 0; len(rest) > 0 && n < 200; n++ {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		switch {
		case ministatHead(line):
			return source.Strong
		case len(line) < 3 || !strings.ContainsRune(ministatSymbols+"|", rune(line[0])):
			return source.No
		}
	}
	return source.No
}

func ministatHead(line []byte) bool {
	if !bytes.Contains(line, []byte("Stddev")) {
		return false
	}
	return strings.Join(strings.Fields(string(line)), " ") == "N Min Max Median Avg Stddev"
}

// ReadMinistat reads one output, one run a set. It enters into the ledger: cut-input, incomplete-row, result-missing,
// ministat-identity.
func ReadMinistat(l *source.Lines, ledger *source.Ledger) ([]Run, error) {
	r := &ministat{begin: l.Pos(), ledger: ledger}
	for l.Next() {
		if !r.line(l.Bytes(), l.Pos()) {
			l.Back()
			break
		}
	}
	switch cut := !l.Complete() && !r.told; {
	case len(r.runs) == 0 && cut, r.difference != nil && !r.difference.whole:
		ledger.Add("cut-input", source.Warning, r.begin, 1, "the output ends before its numbers")
	case len(r.runs) == 0:
		ledger.Add("result-missing", source.Warning, r.begin, 1, "an output of ministat without a set")
	}
	return r.runs, nil
}

// ministat is an output being read.
type ministat struct {
	begin      source.Pos
	ledger     *source.Ledger
	labels     []string // of the sets, in the order of their symbols
	headed     bool
	runs       []Run
	difference *printedDifference // whose lines are being read
	told       bool               // a difference was told, or that none is proven
}

// printedDifference is what ministat prints of a set against the first.
type printedDifference struct {
	confidence float64
	lines      [3][2]float64 // difference and margin, both in percent, pooled s
	n          int
	whole      bool
}

func (r *ministat) line(line []byte, pos source.Pos) bool {
	text := strings.TrimSpace(string(line[:min(len(line), 1000)]))
	switch {
	case text == "":
		return !r.headed
	case ministatHead(line):
		if r.headed {
			return false
		}
		r.headed = true
		return true
	case r.headed:
		return r.result(text, pos)
	case line[0] == '|' || bytes.HasPrefix(line, []byte("+---")):
		return true
	}
	i := strings.IndexByte(ministatSymbols, text[0])
	if i != len(r.labels) || len(text) < 3 || text[1] != ' ' {
		return false
	}
	r.labels = append(r.labels, printable([]byte(strings.TrimSpace(text[2:]))))
	return true
}

// result takes a line behind the table's head.
func (r *ministat) result(text string, pos source.Pos) bool {
	if rest, ok := strings.CutPrefix(text, "Difference at "); ok {
		percent, _, _ := strings.Cut(rest, "%")
		r.difference = &printedDifference{confidence: number([]byte(percent))}
		r.told = true
		return len(r.runs) > 1
	}
	if strings.HasPrefix(text, "No difference proven at ") {
		r.told = true
		return true
	}
	if d := r.difference; d != nil && !d.whole {
		if !d.take(text) {
			r.ledger.Add("incomplete-row", source.Warning, pos, 1, "the difference of two sets is not printed whole; it is left out")
			r.difference = nil
			return false
		}
		if d.whole {
			r.compared(*d, pos)
		}
		return true
	}
	return r.set(text, pos)
}

// take takes one of the three lines of a difference.
func (d *printedDifference) take(text string) bool {
	words := strings.Fields(strings.NewReplacer("%", "", "(Student's t, pooled s =", "", ")", "").Replace(text))
	switch {
	case d.n < 2 && len(words) == 3 && words[1] == "+/-" && kindOf([]byte(words[0])) != notNumber && kindOf([]byte(words[2])) != notNumber:
		d.lines[d.n] = [2]float64{number([]byte(words[0])), number([]byte(words[2]))}
	case d.n == 2 && len(words) == 1 && kindOf([]byte(words[0])) != notNumber:
		d.lines[2][0] = number([]byte(words[0]))
		d.whole = true
	default:
		return false
	}
	d.n++
	return true
}

// set takes "x   5        462506        464435        463851      463697.4     759.63235".
func (r *ministat) set(text string, pos source.Pos) bool {
	words := strings.Fields(text)
	symbol := strings.IndexByte(ministatSymbols, text[0])
	if len(words) != 7 || len(words[0]) != 1 || symbol < 0 || kindOf([]byte(words[1])) != integer {
		return false
	}
	var v [5]float64
	for i, w := range words[2:] {
		if kindOf([]byte(w)) == notNumber {
			return false
		}
		v[i] = number([]byte(w))
	}
	label := ""
	if symbol < len(r.labels) {
		label = r.labels[symbol]
	}
	n := count([]byte(words[1]))
	if n < leastNumbers || n > math.MaxInt32 || v[0] > v[1] || v[4] < 0 {
		r.ledger.Add("incomplete-row", source.Warning, pos, 1, "a set with fewer than three values, or whose least value is above its largest; it is left out")
		return true
	}
	r.runs = append(r.runs, Run{Pos: pos, Group: r.begin.Offset, Tool: "ministat", Test: label, Rate: v[3],
		Summary:  &Summary{N: int(n), Min: v[0], Max: v[1], Median: v[2], Mean: v[3], StdDev: v[4]},
		Settings: []Setting{{"symbol", words[0]}}})
	return true
}

// compared keeps what is printed of the last set against the first, and checks it.
func (r *ministat) compared(d printedDifference, pos source.Pos) {
	first, last := r.runs[0].Summary, &r.runs[len(r.runs)-1]
	last.Details = append(last.Details, Detail{"difference", d.lines[0][0]}, Detail{"margin", d.lines[0][1]}, Detail{"difference_percent", d.lines[1][0]},
		Detail{"margin_percent", d.lines[1][1]}, Detail{"pooled_s", d.lines[2][0]}, Detail{"confidence_percent", d.confidence})
	for _, g := range [...]struct {
		generation Ministat
		name       string
	}{{MinistatNewer, "newer"}, {Ministat2015, "2015"}} {
		s := Student(*first, *last.Summary, d.confidence, g.generation)
		if printsAs(s.Difference, d.lines[0][0]) && printsAs(s.Margin, d.lines[0][1]) && printsAs(s.MarginPercent, d.lines[1][1]) && printsAs(s.PooledS, d.lines[2][0]) {
			last.Settings = append(last.Settings, Setting{"generation", g.name})
			return
		}
	}
	r.ledger.Add("ministat-identity", source.Note, pos, 1, "what is printed of the difference does not follow from the sets' summaries by either generation's formula")
}

// printsAs reports whether two numbers agree within the rounding of the printed summaries.
func printsAs(v, printed float64) bool {
	return math.Abs(v-printed) <= 2e-5*max(math.Abs(v), math.Abs(printed))+1e-12
}
