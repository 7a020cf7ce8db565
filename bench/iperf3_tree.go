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

// parseTree parses one JSON object and tells how many of its numbers were none (iperf3 writes -nan where it divides by 0).
func parseTree(text []byte) (tree members, notNumbers int, err error) {
	text, notNumbers = withoutNaN(text)
	d := json.NewDecoder(bytes.NewReader(text))
	value, err := treeValue(d, 0)
	if err != nil {
		return nil, notNumbers, err
	}
	tree, ok := value.(members)
	if !ok {
		return nil, notNumbers, errors.New("no object")
	}
	return tree, notNumbers, nil
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

// withoutNaN replaces nan, -nan, inf and -inf outside of strings by null.
func withoutNaN(text []byte) (clean []byte, replaced int) {
	lower := bytes.ToLower(text)
	if !bytes.Contains(lower, []byte("nan")) && !bytes.Contains(lower, []byte("inf")) {
		return text, 0
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
			i += n - 1
			from = i + 1
			replaced++
		}
	}
	return append(clean, text[from:]...), replaced
}

// nanAt returns the length of a word that C prints instead of a number at the beginning of text.
func nanAt(text []byte) int {
	for _, word := range [...]string{"-nan", "nan", "-inf", "inf"} {
		if len(text) >= len(word) && bytes.EqualFold(text[:len(word)], []byte(word)) {
			return len(word)
		}
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
