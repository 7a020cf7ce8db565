package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// members is a JSON object with its members in the order of the text: iperf3 3.7 writes keys twice, once for each
// direction, which maps do not keep.
type members []member

type member struct {
	key   string
	value any // members, []any, string, float64, bool or nil
}

// maxDepth bounds nesting; iperf3 writes five levels.
const maxDepth = 32

// parsed is what a text was parsed to, or why not.
type parsed struct {
	tree       members
	notNumbers int    // how many of its numbers were none (iperf3 writes -nan where it divides by 0)
	line       int    // of the first of these or, with an error, of what is no JSON; the text begins with 0
	odd        []byte // what is no JSON
	err        error
}

// parseTree parses one JSON object.
func parseTree(text []byte) parsed {
	clean, notNumbers, first := withoutNaN(text)
	p := parsed{notNumbers: notNumbers, line: bytes.Count(text[:first], []byte("\n"))}
	d := json.NewDecoder(bytes.NewReader(clean))
	value, err := treeValue(d, 0)
	tree, isObject := value.(members)
	if err == nil && isObject {
		p.tree = tree
		return p
	}
	if p.err = err; err == nil {
		p.err = errors.New("no object")
	}
	p.odd = bytes.TrimLeft(clean[d.InputOffset():], " \t\r\n,:")
	p.line = bytes.Count(clean[:len(clean)-len(p.odd)], []byte("\n"))
	p.odd, _, _ = bytes.Cut(p.odd, []byte("\n"))
	return p
}

func treeValue(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, errors.New("nested too deeply")
	}
	switch t {
	case json.Delim('{'):
		tree := members{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := treeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			tree = append(tree, member{key.(string), value}) // the decoder gives nothing else here
		}
		_, err := d.Token()
		return tree, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := treeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}

// withoutNaN replaces nan, -nan, inf and -inf outside of strings by null, and tells how many and where the first was.
func withoutNaN(text []byte) (clean []byte, replaced, first int) {
	lower := bytes.ToLower(text)
	if !bytes.Contains(lower, []byte("nan")) && !bytes.Contains(lower, []byte("inf")) {
		return text, 0, 0
	}
	quoted, from := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '-' || c|0x20 == 'n' || c|0x20 == 'i'):
			n := nanAt(text[i:])
			if n == 0 {
				continue
			}
			clean = append(append(clean, text[from:i]...), "null"...)
			if replaced == 0 {
				first = i
			}
			i += n - 1
			from = i + 1
			replaced++
		}
	}
	return append(clean, text[from:]...), replaced, first
}

// nanAt returns the length of a word that C prints instead of a number at the beginning of text: "-nan", "inf" (C99
// 7.19.6.1), and "-nan(ind)" of Microsoft's library.
func nanAt(text []byte) int {
	for _, word := range [...]string{"-nan", "nan", "-inf", "inf"} {
		if len(text) < len(word) || !bytes.EqualFold(text[:len(word)], []byte(word)) {
			continue
		}
		if end := bytes.IndexAny(text[len(word):min(len(text), 24)], ")\n"); end > 0 && text[len(word)] == '(' && text[len(word)+end] == ')' {
			return len(word) + end + 1
		}
		return len(word)
	}
	return 0
}

// all returns the values of all members of that name.
func (m members) all(key string) []any {
	var values []any
	for _, x := range m {
		if x.key == key {
			values = append(values, x.value)
		}
	}
	return values
}

// object returns the first member of that name that is an object, nil if there is none.
func (m members) object(key string) members {
	for _, v := range m.all(key) {
		if o, ok := v.(members); ok {
			return o
		}
	}
	return nil
}

func (m members) list(key string) []any {
	for _, v := range m.all(key) {
		if l, ok := v.([]any); ok {
			return l
		}
	}
	return nil
}

func (m members) text(key string) string {
	for _, v := range m.all(key) {
		if s, ok := v.(string); ok {
			return s
		}
	}
	return ""
}

// number returns the value of a member that is a number within reason, and whether there is one.
func (m members) number(key string) (float64, bool) {
	for _, v := range m.all(key) {
		if n, ok := v.(float64); ok && n <= maxNumber && n >= -maxNumber {
			return n, true
		}
	}
	return 0, false
}

func (m members) flag(key string) bool {
	for _, v := range m.all(key) {
		switch v := v.(type) {
		case bool:
			return v
		case float64:
			return v != 0
		}
	}
	return false
}

// objectLines collects the lines of one JSON object, which begins with the first line of next.
type objectLines struct {
	text   []byte
	depth  int
	quoted bool
	escape bool
}

var errTooLong = errors.New("longer than 32 MiB")

// maxObject bounds the text of one object.
const maxObject = 32 << 20

// add takes a line and returns what is left of it behind the object's end, and whether that was reached.
func (o *objectLines) add(line []byte) (done bool, err error) {
	if len(o.text)+len(line) > maxObject {
		return false, errTooLong
	}
	for i, c := range line {
		switch {
		case o.escape:
			o.escape = false
		case o.quoted:
			o.escape = c == '\\'
			o.quoted = c != '"'
		case c == '"':
			o.quoted = true
		case c == '{' || c == '[':
			o.depth++
		case c == '}' || c == ']':
			if o.depth--; o.depth <= 0 {
				o.text = append(o.text, line[:i+1]...)
				return true, nil
			}
		}
	}
	o.text = append(append(o.text, line...), '\n')
	return false, nil
}

// cut reports whether an error of the parser is that the text ends too early.
func cutShort(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }
