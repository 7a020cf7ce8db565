package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// Tables of figures that people write by hand into mails: a title between rules, heads of several lines, a rule, and rows
// of numbers whose first is what was varied.
//
//	                            Packets/Intr
//	               -------------------------------------
//	               base      base+      base+      base+
//	                       mchan1-3  mchan1-3+  mchan1-3+
//	Link Util[%]                      tagged       coal
//	=====================================================
//	    40         2.2       2.3        1.4       3.4
//	    95          -        3.5         -        6.6
//
// There is no tool and no version; read are those whose title counts interrupts or says how busy a CPU is, since without a
// unit other numbers would mean nothing. A head's words belong to the column that they are nearest to, from top to bottom;
// "-" is not measured.

// SniffMailTable recognises such a table by its title and the rule below.
func SniffMailTable(head []byte) source.Match {
	line, rest := firstLine(head)
	title := bytes.TrimSpace(line)
	if len(title) == 0 || len(title) > 40 || line[0] != ' ' || !mailTitle(title) {
		return source.No
	}
	next, _ := firstLine(rest)
	if !isRule(next, '-') || !bytes.Contains(head, []byte("\n====")) {
		return source.No
	}
	return source.Strong
}

func mailTitle(title []byte) bool {
	for _, word := range [...]string{"Packets/Intr", "Packets/Interrupt", "packets/interrupt", "Interrupts/s", "Intr/s", "interrupts/s", "CPU Util", "CPU util", "CPU %"} {
		if bytes.HasPrefix(title, []byte(word)) {
			return true
		}
	}
	return false
}

func isRule(line []byte, c byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) >= 8 && bytes.Count(line, []byte{c}) == len(line)
}

// mailWord is a word of a line and where it stands.
type mailWord struct {
	text       string
	begin, end int
}

// centre is twice the middle of a word.
func (w mailWord) centre() int { return w.begin + w.end }

// mailWords splits a line at two blanks or more, so that "Link Util[%]" is one.
func mailWords(line []byte, blanks int) []mailWord {
	var words []mailWord
	for k := 0; k < len(line) && len(words) < 64; {
		if line[k] == ' ' || line[k] == '\t' {
			k++
			continue
		}
		begin, gap := k, 0
		for k < len(line) && gap < blanks {
			if line[k] == ' ' || line[k] == '\t' {
				gap++
			} else {
				gap = 0
			}
			k++
		}
		words = append(words, mailWord{strings.TrimSpace(string(line[begin : k-gap])), begin, k - gap})
	}
	return words
}

// ReadMailTable reads a table of figures in a mail.
func ReadMailTable(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "mail-table", Pos: l.Pos()}
	if SniffMailTable(l.Head(4096)) != source.Strong || !l.Next() {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no table of figures begins here; a title, a rule of dashes and heads above a rule of = were expected"}
	}
	title := strings.TrimSpace(string(l.Bytes()))
	l.Next() // the rule
	var heads [][]mailWord
	for l.Next() && !isRule(l.Bytes(), '=') && len(heads) < 8 {
		heads = append(heads, mailWords(l.Bytes(), 2))
	}
	r := newReports("mail-table")
	var columns []mailWord
	var names []string
	varied := ""
	for l.Next() {
		words := mailWords(l.Bytes(), 1)
		if len(words) < 2 || !isDecimal([]byte(words[0].text)) {
			if len(words) > 0 {
				l.Back()
			}
			break
		}
		if !l.Complete() {
			cut(ledger, l.Pos(), "the input ends inside a row of a table; it is left out")
			break
		}
		if columns == nil {
			columns = words[1:]
			varied, names = mailHeads(heads, words)
		}
		if len(words) != len(columns)+1 {
			ledger.Add("unreadable-line", source.Warning, l.Pos(), 1, source.Excerpt(l.Bytes())+" has not as many figures as the row above; it is left out")
			continue
		}
		for k, w := range words[1:] {
			if v, ok := parseFloat([]byte(w.text)); ok {
				r.add(strings.TrimSpace(varied+" "+words[0].text), title+": "+names[k], "", v, l.Pos())
			}
		}
	}
	out.Reported = r.list
	return out, nil
}

// mailHeads gives each column the words of the heads that are nearest to it; the first column is what was varied.
func mailHeads(heads [][]mailWord, row []mailWord) (varied string, names []string) {
	parts := make([][]string, len(row))
	for _, line := range heads {
		for _, w := range line {
			nearest := 0
			for k := range row {
				if distance(w, row[k]) < distance(w, row[nearest]) {
					nearest = k
				}
			}
			parts[nearest] = append(parts[nearest], w.text)
		}
	}
	for _, p := range parts[1:] {
		names = append(names, strings.Join(p, " "))
	}
	return strings.Join(parts[0], " "), names
}

func distance(a, b mailWord) int { return max(a.centre()-b.centre(), b.centre()-a.centre()) }
