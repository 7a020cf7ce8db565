package report

import (
	"encoding/json"
	"io"

	"nettrace/analyze"
)

// Writer returns what prints a result in the named form: text, json, ndjson (one finding a line) or markdown.
func Writer(form string, style Style) (func(io.Writer, *analyze.Result) error, bool) {
	switch form {
	case "text":
		return func(w io.Writer, r *analyze.Result) error { return Text(w, r, style) }, true
	case "json":
		return func(w io.Writer, r *analyze.Result) error { return r.Write(Plain(w)) }, true
	case "ndjson":
		return func(w io.Writer, r *analyze.Result) error { return lines(w, r.Findings) }, true
	case "markdown":
		return Markdown, true
	default:
		return nil, false
	}
}

// lines writes each value as a line of JSON.
func lines[T any](w io.Writer, values []T) error {
	e := json.NewEncoder(Plain(w))
	e.SetEscapeHTML(false)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// NothingRead reports whether no source was recognised.
func NothingRead(r *analyze.Result) bool { return len(r.Sources) == unrecognised(r) }
