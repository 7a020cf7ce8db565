package report

import (
	"io"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/unit"
)

// Formats lists what can be read and how it is recorded.
func Formats(w io.Writer, style Style) error {
	p := &page{w: w, style: style}
	kind := analyze.Kind("")
	for _, f := range analyze.Formats() {
		if f.Kind != kind {
			p.print(p.paint(bold, string(f.Kind)) + "\n")
			kind = f.Kind
		}
		p.labelled(2, f.Name, "", 19, f.Doc)
		p.labelled(2, "", "", 19, "record: "+f.Record)
	}
	return p.err
}

// Rules lists what is looked for, a line each.
func Rules(w io.Writer, rules []finding.Rule, style Style) error {
	p := &page{w: w, style: style}
	for _, r := range rules {
		p.labelled(0, r.Name, "", 30, r.Title)
	}
	return p.err
}

// Explain prints all that is known of a rule.
func Explain(w io.Writer, r finding.Rule, style Style) error {
	p := &page{w: w, style: style}
	p.print(p.paint(bold, r.Name) + "\n")
	p.labelled(0, "", "", 1, r.Title)
	section := func(title string) { p.print("\n" + p.paint(bold, title) + "\n") }
	section("Method")
	p.labelled(2, "", "", 1, r.Method)
	if len(r.Params) > 0 {
		section("Thresholds (--param " + r.Name + ".NAME=VALUE)")
		for _, t := range r.Params {
			p.labelled(2, t.Name, "", 24, unit.Format(t.Default, t.Unit)+": "+t.Doc)
		}
	}
	if r.FalsePositives != "" {
		section("What may fool it")
		p.labelled(2, "", "", 1, r.FalsePositives)
	}
	if len(r.References) > 0 {
		section("References")
		for _, ref := range r.References {
			p.labelled(2, "", "", 1, ref)
		}
	}
	return p.err
}
