package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nettrace/unit"
)

// filter selects rows of a table. Its terms are separated by blanks and must all hold: a word that any cell holds, or a
// test of one column: rule:stretch holds a word, severity>=warning and rtt<2ms compare. ! in front turns a term round.
type filter struct {
	text  string
	terms []term
}

type term struct {
	column  int // -1: any
	op      string
	word    string // in lower case
	value   float64
	numeric bool // value is one
	not     bool
}

// operators in the order in which they are looked for.
var operators = [...]string{">=", "<=", "!=", "=", ">", "<", ":"}

func parseFilter(text string, columns []column) (filter, error) {
	f := filter{text: strings.TrimSpace(text)}
	for _, word := range strings.Fields(text) {
		t, err := parseTerm(word, columns)
		if err != nil {
			return filter{}, err
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

func parseTerm(word string, columns []column) (term, error) {
	t := term{column: -1, word: strings.ToLower(word)}
	if rest, not := strings.CutPrefix(word, "!"); not {
		if rest == "" {
			return t, fmt.Errorf("! needs a word behind it")
		}
		t.not, t.word = true, strings.ToLower(rest)
	}
	name, op, value := cutOperator(t.word)
	if op == "" {
		return t, nil
	}
	t.column = columnOf(name, columns)
	if t.column < 0 {
		if op == ":" { // an address, not a test
			return t, nil
		}
		return t, unknownColumn(name, columns)
	}
	if value == "" {
		return t, fmt.Errorf("%s%s needs a value behind it", name, op)
	}
	t.op, t.word = op, value
	parse := columns[t.column].parse
	if parse == nil {
		parse = quantity
	}
	t.value, t.numeric = parse(value)
	if !t.numeric && op != ":" && op != "=" && op != "!=" {
		return t, fmt.Errorf("%s: %q is not a value to compare with", name, value)
	}
	return t, nil
}

func cutOperator(word string) (name, op, value string) {
	at := strings.IndexAny(word, "<>=!:")
	if at <= 0 {
		return word, "", ""
	}
	for _, o := range operators {
		if strings.HasPrefix(word[at:], o) {
			return word[:at], o, word[at+len(o):]
		}
	}
	return word, "", ""
}

func columnOf(name string, columns []column) int {
	for i := range columns {
		if columns[i].name == name {
			return i
		}
	}
	return -1
}

func unknownColumn(name string, columns []column) error {
	names := make([]string, 0, len(columns))
	for i := range columns {
		names = append(names, columns[i].name)
	}
	return fmt.Errorf("no column is called %s; the nearest is %s", name, unit.Nearest(name, names))
}

// begins reports whether a term is a word with which a column's name begins.
func (t *term) begins(columns []column) bool {
	return t.column < 0 && !t.not && slices.ContainsFunc(columns, func(c column) bool { return strings.HasPrefix(c.name, t.word) })
}

// match reports whether all terms hold for a row.
func (f *filter) match(r rows, row, columns int) bool {
	for i := range f.terms {
		if f.terms[i].holds(r, row, columns) == f.terms[i].not {
			return false
		}
	}
	return true
}

func (t *term) holds(r rows, row, columns int) bool {
	if t.column >= 0 {
		return t.cell(r.Cell(row, t.column))
	}
	for c := range columns {
		if strings.Contains(strings.ToLower(r.Cell(row, c).text), t.word) {
			return true
		}
	}
	return false
}

func (t *term) cell(c cell) bool {
	has := strings.Contains(strings.ToLower(c.text), t.word)
	if t.op == ":" || !c.numeric || !t.numeric {
		return has != (t.op == "!=")
	}
	switch t.op {
	case "=":
		return near(c.value, t.value) || has
	case "!=":
		return !near(c.value, t.value)
	case ">":
		return c.value > t.value
	case ">=":
		return c.value >= t.value || near(c.value, t.value)
	case "<":
		return c.value < t.value
	default:
		return c.value <= t.value || near(c.value, t.value)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// quantity reads a number with an optional unit: times become nanoseconds, percentages ratios, k, M and G thousands.
func quantity(s string) (float64, bool) {
	s = strings.ReplaceAll(s, ",", "")
	at := strings.LastIndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' }) + 1
	v, err := strconv.ParseFloat(s[:at], 64)
	if err != nil {
		return 0, false
	}
	scales := map[string]float64{"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9}
	scale, known := scales[s[at:]]
	return v * scale, known
}
