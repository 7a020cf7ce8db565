package coalesce

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"nettrace/source"
)

// walkJSON visits the plain values of a JSON text in their order: the keys that lead to each, and where it ends. Lists
// add nothing to the keys.
func walkJSON(text []byte, visit func(path []string, value json.Token, offset int64)) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type frame struct{ object, value bool } // value: the next token is one, not a key
	var stack []frame
	var path []string
	done := func() { // a value is complete
		if n := len(stack); n > 0 && stack[n-1].object {
			stack[n-1].value, path = false, path[:len(path)-1]
		}
	}
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && len(stack) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if delim, isDelim := t.(json.Delim); isDelim {
			if delim == '{' || delim == '[' {
				stack = append(stack, frame{object: delim == '{'})
				continue
			}
			stack = stack[:len(stack)-1]
			done()
			continue
		}
		if n := len(stack); n > 0 && stack[n-1].object && !stack[n-1].value {
			key, _ := t.(string)
			path, stack[n-1].value = append(path, key), true
			continue
		}
		visit(path, t, d.InputOffset()-1)
		done()
	}
}

// wholeJSON takes a JSON text and visits its values; what the end of the input cut off and damage go into the ledger.
func wholeJSON(l *source.Lines, ledger *source.Ledger, what string, visit func(path []string, value json.Token, pos source.Pos)) source.Pos {
	text, places, whole := jsonLines(l)
	l.Head(1) // takes the last line as read
	err := walkJSON(text, func(path []string, value json.Token, offset int64) {
		if whole || offset < int64(len(text))-2 { // else the cut may go through the value
			visit(path, value, places.at(offset))
		}
	})
	switch {
	case !whole:
		cut(ledger, places.at(int64(len(text))), "the input ends inside the JSON of "+what+"; what is missing counts as absent")
	case err != nil:
		ledger.Add("unreadable-line", source.Warning, places.at(0), 1, "the JSON of "+what+" is damaged: "+err.Error()+"; what came before is used")
	}
	return places.at(0)
}

// jsonCount makes a counter of a JSON number; negative ones and fractions are none.
func jsonCount(name string, value json.Token, pos source.Pos) (c Count, ok bool) {
	number, isNumber := value.(json.Number)
	n, whole := parseUint([]byte(strings.TrimSpace(string(number))))
	return Count{Name: name, Value: n, Line: pos.Line, Offset: pos.Offset}, isNumber && whole
}
