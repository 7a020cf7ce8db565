package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"reflect"

	"nettrace/analyze"
	"nettrace/flame"
	"nettrace/unit"
)

// HTMLOptions choose what a page may take. The zero value is a page of at most 5 MB.
type HTMLOptions struct {
	MaxBytes int // of the file; 0 is 5,000,000
}

const maxPageBytes = 5_000_000

//go:embed html/page.html
var pageTemplate string

//go:embed html/style.css
var pageStyle string

//go:embed html/page.js
var pageScript string

// HTML writes a result as one page that needs nothing else: it asks for no other file, is readable without script, and
// holds the result as JSON, from which analyze and explore read it again. The same result gives the same bytes, and so
// does the result that the page holds. If the page would be larger than allowed, models are thinned, and the ledger says so.
func HTML(w io.Writer, r *analyze.Result, o HTMLOptions) error {
	limit := o.MaxBytes
	if limit == 0 {
		limit = maxPageBytes
	}
	data, err := encoded(r)
	if err != nil {
		return err
	}
	page, err := rendered(data, limit)
	if err == nil && len(page) > limit {
		page, err = fitted(data, limit)
	}
	if err != nil {
		return err
	}
	if len(page) > limit {
		return fmt.Errorf("the page takes %s with all that can be left out of it; allowed are %s", unit.Bytes(int64(len(page))), unit.Bytes(int64(limit)))
	}
	_, err = w.Write(page)
	return err
}

// fitted makes the page of a result of which as much is left out as has to be.
func fitted(data []byte, limit int) (page []byte, err error) {
	r, err := analyze.ReadResult(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for _, t := range thinnings() {
		if !t.apply(r) {
			continue
		}
		if data, err = encoded(r); err != nil {
			return nil, err
		}
		if page, err = rendered(data, limit); err != nil || len(page) <= limit {
			break
		}
	}
	return page, err
}

// encoded returns a result as JSON that can stand in a page: without <, > and &, and without characters that Clean escapes.
func encoded(r *analyze.Result) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(Plain(&b)).Encode(r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// rendered makes the page of a result. It shows what the JSON tells and nothing else, so that a page which is read again
// shows the same. If the JSON alone is larger than the page may be, it is returned as it is.
func rendered(data []byte, limit int) ([]byte, error) {
	if len(data) > limit {
		return data, nil
	}
	r, err := analyze.ReadResult(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	rewriteStrings(reflect.ValueOf(r), Clean)
	maker := newPageMaker(r)
	view, err := maker.page()
	if err != nil {
		return nil, err
	}
	script := flame.FragmentScript() + pageScript
	style := pageStyle + flame.FragmentStyle(maker.layouts...)
	view.Script, view.Style, view.Result = template.JS(script), template.CSS(style), template.JS(data)
	view.Head = template.HTML(analyze.PageGenerator + "\n" + flame.PagePolicy(style, script))
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// rewriteStrings has every text of a result replaced, so that no part of it can be forgotten.
func rewriteStrings(v reflect.Value, by func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(by(v.String()))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			rewriteStrings(v.Elem(), by)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			rewriteStrings(v.Field(i), by)
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k < reflect.Bool || k > reflect.Complex128 {
			for i := range v.Len() {
				rewriteStrings(v.Index(i), by)
			}
		}
	}
}
