package analyze

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// FilterError is a filter that cannot be understood.
type FilterError struct{ Text string }

func (e *FilterError) Error() string { return "filter: " + e.Text }

// fieldFilter selects records by their JSON fields: "comm=iperf3 period>1000", all terms must hold. A field of an inner
// object is written with a dot; text is compared without case, and = holds for a part of it.
type fieldFilter []term

type term struct {
	field, op, value string
}

// operators in the order in which they are looked for: the longer ones first.
var operators = [...]string{"!=", ">=", "<=", "=", ">", "<"}

func parseFieldFilter(text string) (fieldFilter, error) {
	var f fieldFilter
	for _, word := range strings.Fields(text) {
		t, ok := parseTerm(word)
		if !ok {
			return nil, &FilterError{fmt.Sprintf("%q: expected FIELD=VALUE, or with != > >= < <= (for captures tcpdump's words)", word)}
		}
		f = append(f, t)
	}
	return f, nil
}

func parseTerm(word string) (term, bool) {
	at := strings.IndexAny(word, "!=<>")
	if at <= 0 {
		return term{}, false
	}
	for _, op := range operators {
		if strings.HasPrefix(word[at:], op) {
			return term{word[:at], op, word[at+len(op):]}, true
		}
	}
	return term{}, false
}

// match reports whether the record, as JSON, is selected.
func (f fieldFilter) match(record any) (bool, error) {
	if len(f) == 0 {
		return true, nil
	}
	text, err := json.Marshal(record)
	if err != nil {
		return false, err
	}
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return false, err
	}
	for _, t := range f {
		if !t.holds(fields) {
			return false, nil
		}
	}
	return true, nil
}

func (t term) holds(fields map[string]any) bool {
	var value any = fields
	for name := range strings.SplitSeq(t.field, ".") {
		inner, ok := value.(map[string]any)
		if !ok {
			return false
		}
		value = inner[name]
	}
	text := fmt.Sprint(value)
	have, err1 := strconv.ParseFloat(text, 64)
	want, err2 := strconv.ParseFloat(t.value, 64)
	if err1 == nil && err2 == nil {
		return t.compare(cmp.Compare(have, want))
	}
	switch has := strings.Contains(strings.ToLower(text), strings.ToLower(t.value)); t.op {
	case "=":
		return value != nil && has
	case "!=":
		return value == nil || !has
	default:
		return value != nil && t.compare(strings.Compare(text, t.value))
	}
}

func (t term) compare(c int) bool {
	switch t.op {
	case "=":
		return c == 0
	case "!=":
		return c != 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	case "<":
		return c < 0
	default:
		return c <= 0
	}
}

// FieldFilter selects records by their JSON fields; the zero value selects all.
type FieldFilter struct{ terms fieldFilter }

// ParseFieldFilter reads terms such as "server=192.0.2.1 client_to_server.bytes>1000", all of which must hold. A field of an
// inner object is written with a dot; text is compared without case, and = holds for a part of it.
func ParseFieldFilter(text string) (FieldFilter, error) {
	terms, err := parseFieldFilter(text)
	return FieldFilter{terms}, err
}

// Match reports whether a record is selected.
func (f FieldFilter) Match(record any) (bool, error) { return f.terms.match(record) }
