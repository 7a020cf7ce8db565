package coalesce

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"nettrace/source"
)

// mpstat and sar: rates and shares by CPU, interface and interrupt, one block for each report.
//
//	Linux 6.18.44 (vm) 	11/30/26 	_x86_64_	(2 CPU)
//
//	16:38:15     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
//	16:38:16       0   61.00    0.00   21.00    0.00    0.00   18.00    0.00    0.00    0.00    0.00
//
// Written by sysstat (mpstat.c, pr_stats.c, rndr_stats.c). The time takes one word or two (AM/PM), by S_TIME_FORMAT and
// locale, so the columns are counted from the one that names the subject. The blocks of averages at the end are left out,
// as their reports are there; so are tables without a subject (sar -q, -r) and the place of each CPU (mpstat -T). mpstat -o JSON has the same figures under
// other names. Of mpstat -I SUM with SCPU the rows of single CPUs are the sum of their softirqs, not of interrupts: they
// are left out if -I CPU does not stand beside them.

// subjectColumn returns the place of the column that says what a row is about, -1 if the line is no head.
func subjectColumn(words [][]byte) int {
	for k, w := range words[:min(len(words), 3)] {
		switch string(w) {
		case "CPU", "IFACE", "INTR", "DEV":
			if len(words) > k+1 && (k > 0 || len(words) > 2) && !anyNumber(words[k+1:]) {
				return k
			}
		}
	}
	return -1
}

func anyNumber(words [][]byte) bool {
	return slices.ContainsFunc(words, func(w []byte) bool { return bytes.IndexByte(w, '.') >= 0 })
}

// SniffSysstat recognises mpstat and sar by their banner, or by a head with a time before it, and mpstat's JSON.
func SniffSysstat(head []byte) source.Match {
	line, rest := firstLine(head)
	if bytes.HasPrefix(line, []byte("Linux ")) && bytes.Contains(line, []byte(" CPU)")) {
		return source.Strong
	}
	if bytes.HasPrefix(line, []byte(`{"sysstat"`)) || len(line) == 1 && line[0] == '{' && bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte(`"sysstat"`)) {
		return source.Strong
	}
	if len(line) < 8 || !isClock(line) {
		return source.No
	}
	var words [5][]byte
	n := 0
	for rest := line; n < len(words); n++ {
		rest = bytes.TrimLeft(rest, " \t")
		end := bytes.IndexAny(rest, " \t")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			break
		}
		words[n], rest = rest[:end], rest[end:]
	}
	if subjectColumn(words[:n]) > 0 {
		return source.Strong
	}
	return source.No
}

// isClock reports whether the line begins with "16:38:15".
func isClock(line []byte) bool {
	return len(line) > 8 && digit(line[0]) && digit(line[1]) && line[2] == ':' && line[5] == ':' && digit(line[7]) && (line[8] == ' ' || line[8] == '\t')
}

// ReadSysstat reads mpstat and sar.
func ReadSysstat(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "sysstat", Pos: l.Pos()}
	head := l.Head(4096)
	if SniffSysstat(head) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no mpstat or sar begins here; \"Linux RELEASE (HOST) DATE\" or a head with CPU, IFACE or INTR was expected"}
	}
	t := sysstatReader{reports: newReports("sysstat"), ledger: ledger}
	if head[0] == '{' {
		out.Pos = wholeJSON(l, ledger, "mpstat -o JSON", t.json())
		out.Reported = t.reports.list
		return out, nil
	}
	for banner := true; l.Next(); {
		line := l.Bytes()
		words := bytes.Fields(line)
		switch {
		case len(words) == 0:
		case bytes.HasPrefix(line, []byte("Linux ")) && banner:
		case bytes.HasSuffix(words[0], []byte(":")) && !isClock(line): // Average:, in the user's language
			t.columns = nil
		case subjectColumn(words) > 0:
			t.head(words)
		case !isClock(line):
			l.Back()
			out.Reported = t.reports.list
			return out, nil
		case !slices.ContainsFunc(words[1:], isFloat): // the head of another table, or LINUX RESTART
			t.columns = nil
		case !l.Complete():
			cut(ledger, l.Pos(), "the input ends inside a line of mpstat or sar; it is left out")
		default:
			t.row(words, l.Pos())
		}
		banner = false
	}
	out.Reported = t.reports.list
	return out, nil
}

type sysstatReader struct {
	reports *reports
	ledger  *source.Ledger
	kind    string // "CPU", "IFACE", "INTR"
	subject int    // its column
	place   int    // how many columns behind it tell the place of a CPU; the row of all CPUs leaves them blank
	columns []string
}

func (t *sysstatReader) head(words [][]byte) {
	t.subject = subjectColumn(words)
	t.kind = string(words[t.subject])
	words = words[t.subject+1:]
	for t.place = 0; t.place < len(words) && isPlace(string(words[t.place])); t.place++ {
	}
	t.columns = t.columns[:0]
	for _, w := range words[t.place:] {
		t.columns = append(t.columns, string(w))
	}
}

func isPlace(column string) bool { return column == "CORE" || column == "SOCK" || column == "NODE" }

func isFloat(word []byte) bool {
	_, ok := parseFloat(word)
	return ok
}

func (t *sysstatReader) row(words [][]byte, pos source.Pos) {
	if len(t.columns) == 0 {
		return // a table without a subject
	}
	figures := words[min(t.subject+1, len(words)):]
	if len(figures) == t.place+len(t.columns) {
		figures = figures[t.place:]
	}
	if len(figures) != len(t.columns) {
		t.ledger.Add("unreadable-line", source.Warning, pos, 1, "a line of mpstat or sar has not as many figures as there are columns; it is left out")
		return
	}
	of := subjectName(t.kind, string(words[t.subject]))
	for k, name := range t.columns {
		if name == "intr/s" && of != "" { // the trap: sums of softirqs
			continue
		}
		if v, ok := parseFloat(figures[k]); ok {
			subject, name := t.interrupt(of, name)
			t.reports.add(subject, name, reportedUnit(name), v, pos)
		}
	}
}

// interrupt makes "36/s" of CPU 1 the rate of interrupt 36 there.
func (t *sysstatReader) interrupt(of, column string) (subject, name string) {
	number := strings.TrimSuffix(column, "/s")
	if _, ok := parseUint([]byte(number)); ok && t.kind == "CPU" {
		return strings.TrimSpace("interrupt " + number + " " + of), "intr/s"
	}
	if t.kind == "INTR" {
		return of, "intr/s"
	}
	return of, column
}

func subjectName(kind, word string) string {
	switch {
	case word == "all" || word == "sum" || word == "-1":
		return ""
	case kind == "CPU":
		return "CPU " + word
	case kind == "INTR":
		return "interrupt " + word
	}
	return word
}

// json visits mpstat -o JSON: sysstat.hosts[].statistics[].TABLE[] of objects whose first key is the subject.
func (t *sysstatReader) json() func(path []string, value json.Token, pos source.Pos) {
	subject, name := "", ""
	return func(path []string, value json.Token, pos source.Pos) {
		if len(path) < 5 || path[2] != "statistics" {
			return
		}
		key := path[len(path)-1]
		if text, isText := value.(string); isText {
			switch key {
			case "cpu":
				subject = subjectName("CPU", text)
			case "name":
				name = text
			}
			return
		}
		v, ok := jsonFloat(value)
		switch table := path[3]; {
		case !ok:
		case table == "cpu-load":
			t.reports.add(subject, "%"+key, "%", v, pos)
		case table == "sum-interrupts" && subject == "":
			t.reports.add("", "intr/s", "/s", v, pos)
		case table == "soft-interrupts" || key == "value" && table == "individual-interrupts" && name != "" && !digit(name[0]):
			if key == "value" {
				key = name
			}
			t.reports.add(subject, key+"/s", "/s", v, pos)
		case key == "value" && table == "individual-interrupts":
			t.reports.add(strings.TrimSpace("interrupt "+name+" "+subject), "intr/s", "/s", v, pos)
		}
	}
}

func jsonFloat(value json.Token) (float64, bool) {
	switch n := value.(type) {
	case json.Number:
		v, err := n.Float64()
		return v, err == nil
	case float64:
		return n, true
	}
	return 0, false
}
