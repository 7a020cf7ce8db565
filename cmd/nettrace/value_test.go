package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// value expects values in the JSON that the last command printed (of lines of JSON: in the list of them):
//
//	value findings[rule=tcp/timeout].measures[name=timeouts].value 1
//	value flows.len() 1
//
// A path is names and steps between dots: NAME is a field, N an element, * all, len() the number of what was found so far
// (elements of a list where that is one), sum() its sum; [FIELD=VALUE] keeps the elements whose field has that value,
// [FIELD*VALUE] those whose field contains it. A list is walked into by a name. What a path yields is compared as words
// between blanks; one that yields nothing is "none". A number is rounded to the decimals of what is wanted, if that has any.
// With "!" the values must differ.
func value(ts *testscript.TestScript, negated bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: value PATH WANT...")
	}
	doc, err := documents(ts.ReadFile("stdout"))
	ts.Check(err)
	found, err := walk([]any{doc}, args[0])
	ts.Check(err)
	got := wordsOf(found)
	same := slices.EqualFunc(got, strings.Fields(strings.Join(args[1:], " ")), equal)
	if same == negated {
		ts.Fatalf("%s is %q, want %q", args[0], strings.Join(got, " "), strings.Join(args[1:], " "))
	}
}

// documents reads one JSON document, or several into a list.
func documents(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	list := []any{}
	for {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF) && len(list) == 1 && !strings.HasPrefix(text, "{\""): // a document in lines of its own
			return list[0], nil
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		list = append(list, v)
	}
}

// steps splits a path at dots outside of brackets, brackets are steps of their own.
func steps(path string) (list []string) {
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case path[0] == '[':
			end := strings.IndexByte(path, ']')
			for end > 0 && strings.HasPrefix(path[end:], "]]") { // a value that ends in a bracket
				end++
			}
			if end < 0 {
				return append(list, path)
			}
			list, path = append(list, path[:end+1]), path[end+1:]
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			list, path = append(list, path[:end]), path[end:]
		}
	}
	return list
}

func walk(at []any, path string) ([]any, error) {
	for _, step := range steps(path) {
		switch {
		case step == "len()":
			at = []any{json.Number(strconv.Itoa(len(spread(at))))}
		case step == "sum()":
			sum := 0.0
			for _, v := range spread(at) {
				n, err := strconv.ParseFloat(word(v), 64)
				if err != nil {
					return nil, err
				}
				sum += n
			}
			at = []any{json.Number(strconv.FormatFloat(sum, 'f', -1, 64))}
		case step == "*":
			at = spread(at)
		case step[0] == '[':
			at = keep(spread(at), strings.TrimSuffix(step[1:], "]"))
		default:
			at = into(at, step)
		}
	}
	return at, nil
}

// spread replaces lists by their elements.
func spread(at []any) (list []any) {
	for _, v := range at {
		if l, isList := v.([]any); isList {
			list = append(list, l...)
		} else {
			list = append(list, v)
		}
	}
	return list
}

// keep returns the elements that fulfil FIELD=VALUE or FIELD*VALUE.
func keep(at []any, condition string) (list []any) {
	i := strings.IndexAny(condition, "=*")
	field, want := condition[:max(i, 0)], condition[i+1:]
	for _, v := range at {
		for _, f := range into([]any{v}, field) {
			if s := strings.Join(wordsOf([]any{f}), " "); s == want || condition[i] == '*' && strings.Contains(s, want) {
				list = append(list, v)
			}
		}
	}
	return list
}

// into returns a field of objects, or an element of lists.
func into(at []any, name string) (list []any) {
	for _, v := range at {
		switch v := v.(type) {
		case map[string]any:
			if f, there := v[name]; there {
				list = append(list, f)
			}
		case []any:
			if n, err := strconv.Atoi(name); err != nil {
				list = append(list, into(v, name)...)
			} else if n < len(v) {
				list = append(list, v[n])
			}
		}
	}
	return list
}

// wordsOf returns values as words.
func wordsOf(at []any) (list []string) {
	for _, v := range spread(at) {
		list = append(list, strings.Fields(word(v))...)
	}
	if len(list) == 0 {
		return []string{"none"}
	}
	return list
}

func word(v any) string {
	if s, isText := v.(string); isText {
		return s
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// equal compares numbers as rounded to the decimals of what is wanted, everything else as text.
func equal(got, want string) bool {
	if got == want {
		return true
	}
	n, err := strconv.ParseFloat(got, 64)
	_, decimals, rounds := strings.Cut(want, ".")
	if _, wrong := strconv.ParseFloat(want, 64); err != nil || wrong != nil {
		return false
	}
	if !rounds {
		return strconv.FormatFloat(n, 'f', -1, 64) == want
	}
	return strconv.FormatFloat(n, 'f', len(decimals), 64) == want
}

// xmlText expects a text or attribute of the well-formed XML in a file: xml FILE TEXT. With "!" no text or attribute may be it.
func xmlText(ts *testscript.TestScript, negated bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: xml FILE TEXT")
	}
	texts, err := xmlTexts(ts.ReadFile(args[0]))
	ts.Check(err)
	if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, args[1]) }) == negated {
		ts.Fatalf("%q in %s: %v", args[1], args[0], !negated)
	}
}

func xmlTexts(text string) (texts []string, err error) {
	err = eachToken(text, func(token xml.Token) {
		switch token := token.(type) {
		case xml.CharData:
			texts = append(texts, string(token))
		case xml.StartElement:
			for _, a := range token.Attr {
				texts = append(texts, a.Value)
			}
		}
	})
	return texts, err
}

// eachToken reads XML to its end; what is not well-formed, an entity beyond the five of XML included, is an error.
func eachToken(text string, see func(xml.Token)) error {
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		see(token)
	}
}

// elements prints the names of the elements of the XML in a file: elements FILE.
func elements(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: elements FILE")
	}
	names := map[string]bool{}
	ts.Check(eachToken(ts.ReadFile(args[0]), func(token xml.Token) {
		if e, ok := token.(xml.StartElement); ok {
			names[e.Name.Local] = true
		}
	}))
	fmt.Fprintln(ts.Stdout(), strings.Join(slices.Sorted(maps.Keys(names)), " "))
}

// boxes prints where the boxes of a flame graph are, in the order of the picture: boxes FILE.
func boxes(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: boxes FILE")
	}
	var drawn struct {
		Frames struct {
			Boxes []struct {
				X     string `xml:"x,attr"`
				Width string `xml:"width,attr"`
				Title string `xml:"title"`
			} `xml:"svg"`
		} `xml:"svg"`
	}
	ts.Check(xml.Unmarshal([]byte(ts.ReadFile(args[0])), &drawn))
	for _, b := range drawn.Frames.Boxes {
		fmt.Fprintf(ts.Stdout(), "at %s, %s wide: %s\n", b.X, b.Width, strings.ReplaceAll(b.Title, "\n", ", "))
	}
}

func TestValue(t *testing.T) {
	doc, err := documents(`{
 "list": [{"name": "a [b]", "n": 1.26, "more": [1, 2]}, {"name": "c", "n": 3, "more": []}], "no": null, "text": "two words"}`)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"list.len()":              "2",
		"list.n":                  "1.26 3",
		"list.n.sum()":            "4.26",
		"list[name=c].n":          "3",
		"list[name=a [b]].n":      "1.3",
		"list[name*b].more":       "1 2",
		"list[name*b].more.1":     "2",
		"list[name=c].more.len()": "0",
		"list[name=x].len()":      "0",
		"list[name=x].n":          "none",
		"no":                      "null",
		"text":                    "two words",
		"absent":                  "none",
		"list.0.name":             "a [b]",
		"list[more=1 2].name":     "a [b]",
	} {
		got, err := walk([]any{doc}, path)
		if err != nil || !slices.EqualFunc(wordsOf(got), strings.Fields(want), equal) {
			t.Errorf("%s is %q, want %q, %v", path, wordsOf(got), want, err)
		}
	}
	if equal("1.3", "1") || equal("1.2499", "1.26") || !equal("5e-1", "0.5") {
		t.Error("numbers")
	}
	if lines, _ := documents("{\"a\":1}\n{\"a\":2}\n"); len(lines.([]any)) != 2 {
		t.Error(lines)
	}
	if one, _ := documents("{\"a\":1}\n"); len(one.([]any)) != 1 {
		t.Error("a single line is a list of one")
	}
}
