package report

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"nettrace/analyze"
	"nettrace/source"
	"nettrace/unit"
)

// Inspect prints what each source is: format, place, size, records, span, facts, and what was lost in it.
func Inspect(w io.Writer, r *analyze.Result, style Style) error {
	p := &page{w: w, style: style}
	for i, s := range r.Sources {
		if i == 0 || s.Path != r.Sources[i-1].Path {
			p.print(p.paint(bold, Clean(s.Path)) + "\n")
		}
		p.source(s)
		if i == len(r.Sources)-1 || r.Sources[i+1].Path != s.Path {
			for _, e := range r.Ledger {
				if e.Source == s.Path {
					p.labelled(2, string(e.Severity), lossColor(e.Severity), 18, loss(e))
				}
			}
		}
	}
	return p.err
}

// loss prints an entry without its source: "cut-input at line 309: the input ends...", "truncated-record at record 49, byte 5,216: ...".
func loss(e source.Entry) string {
	at := ""
	switch {
	case e.First.Line > 0:
		at = " at line " + unit.Count(int64(e.First.Line))
	case e.First.Record > 0:
		at = " at record " + unit.Count(e.First.Record) + ", byte " + unit.Count(e.First.Offset)
	case e.First.Offset > 0:
		at = " at byte " + unit.Count(e.First.Offset)
	}
	if e.Count > 1 {
		at += ", " + unit.Count(e.Count) + " times"
	}
	return e.Name + at + ": " + e.Text
}

func lossColor(l source.Loss) string {
	if l == source.Warning {
		return yellow
	}
	return faint
}

func (p *page) source(s analyze.Source) {
	if s.Format == "" {
		p.labelled(2, "not recognised", yellow, 18, s.Note+"; tried "+strings.Join(s.Tried, ", "))
		return
	}
	parts := []string{string(s.Kind)}
	if s.Line > 1 {
		parts = append(parts, "at line "+unit.Count(int64(s.Line)))
	}
	parts = append(parts, unit.Bytes(s.Bytes))
	if len(s.Compression) > 0 {
		parts = append(parts, "out of "+strings.Join(s.Compression, ", "))
	}
	if s.Records > 0 {
		parts = append(parts, unit.Count(s.Records)+" records")
	}
	if s.Epoch != 0 || s.End > 0 {
		parts = append(parts, span(s))
	}
	if s.Role != "" {
		parts = append(parts, s.Role)
	}
	p.labelled(2, s.Format, cyan, 18, strings.Join(parts, ", "))
	if s.Note != "" {
		p.labelled(4, "note", faint, 16, s.Note)
	}
	for _, f := range s.Facts {
		p.labelled(4, f.Name, faint, 16, f.Value)
	}
	for _, e := range s.Events {
		p.labelled(4, "event", faint, 16, e.Name+": "+unit.Count(e.Samples)+" samples, period sum "+strconv.FormatInt(e.PeriodSum, 10))
	}
}

func span(s analyze.Source) string {
	length := (s.End - s.Start).String()
	if s.Epoch == 0 {
		return length
	}
	return length + " from " + time.Unix(s.Epoch, int64(s.Start)).UTC().Format("2006-01-02 15:04:05.000000Z")
}

// InspectJSON writes the sources and the ledger for scripts.
func InspectJSON(w io.Writer, r *analyze.Result) error {
	e := json.NewEncoder(Plain(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(struct {
		Schema  string           `json:"schema"`
		Sources []analyze.Source `json:"sources"`
		Ledger  []source.Entry   `json:"ledger"`
	}{r.Schema, r.Sources, r.Ledger})
}
