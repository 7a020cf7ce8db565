package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nettrace/flame"
	"nettrace/report"
	"nettrace/unit"
)

// flameForm is something that a profile, or the difference of two, can be written as.
type flameForm struct {
	name, ending string
	events       bool // it holds all events, not only one
	profile      func(io.Writer, *flame.Profile, *flameFlags) error
	difference   func(io.Writer, *flame.Difference, *flameFlags) error // nil if it cannot show one
}

// flameForms returns all forms. Of two endings that fit, the first counts.
func flameForms() []flameForm {
	return []flameForm{
		{name: "svg", ending: ".svg",
			profile:    func(w io.Writer, p *flame.Profile, f *flameFlags) error { return flame.WriteSVG(w, p, f.svg) },
			difference: func(w io.Writer, d *flame.Difference, f *flameFlags) error { return flame.WriteDiffSVG(w, d, f.svg) }},
		{name: "html", ending: ".html", events: true,
			profile: func(w io.Writer, p *flame.Profile, f *flameFlags) error {
				return flame.WriteHTML(w, p, f.html())
			},
			difference: func(w io.Writer, d *flame.Difference, f *flameFlags) error {
				return flame.WriteDiffHTML(w, d, f.html())
			}},
		{name: "folded", ending: ".folded",
			profile: func(w io.Writer, p *flame.Profile, f *flameFlags) error {
				return flame.WriteFolded(w, p, f.choose.column)
			},
			difference: func(w io.Writer, d *flame.Difference, f *flameFlags) error { return d.WriteFolded(w, !f.raw) }},
		{name: "pprof", ending: ".pb.gz", events: true,
			profile: func(w io.Writer, p *flame.Profile, _ *flameFlags) error { return p.WritePprof(w) }},
		{name: "speedscope", ending: ".speedscope.json", events: true,
			profile: func(w io.Writer, p *flame.Profile, _ *flameFlags) error { return flame.WriteSpeedscope(w, p) }},
		{name: "json", ending: ".json",
			profile: func(w io.Writer, p *flame.Profile, f *flameFlags) error {
				return flame.WriteJSON(report.Plain(w), p, f.choose.column)
			},
			difference: func(w io.Writer, d *flame.Difference, _ *flameFlags) error {
				return json.NewEncoder(report.Plain(w)).Encode(d)
			}},
		{name: "markdown", ending: ".md",
			profile: func(w io.Writer, p *flame.Profile, f *flameFlags) error {
				return report.TopMarkdown(w, p, f.choose.column, f.top)
			},
			difference: func(w io.Writer, d *flame.Difference, f *flameFlags) error {
				return report.FlameDiffMarkdown(w, d, f.top)
			}},
	}
}

func isForm(name string) bool {
	for _, f := range flameForms() {
		if f.name == name {
			return true
		}
	}
	return false
}

// formOf returns the form asked for, or the one of the file's ending, "" if there is none.
func formOf(form, output string) string {
	for _, f := range flameForms() {
		if form == "" && strings.HasSuffix(output, f.ending) {
			return f.name
		}
	}
	return form
}

// tellOthers says on stderr which events are left out where one of several is shown that nobody chose.
func (e *env) tellOthers(p *flame.Profile, form string, chosen flame.Column) {
	if len(p.Events) < 2 || chosen.Event != "" || slices.ContainsFunc(flameForms(), func(f flameForm) bool { return f.name == form && f.events }) {
		return
	}
	var others []string
	for _, x := range p.Events {
		if x.Name != p.Main() {
			others = append(others, fmt.Sprintf("%s (%s samples)", x.Name, unit.Count(x.Samples)))
		}
	}
	fmt.Fprintln(e.stderr, "nettrace: "+report.Clean(fmt.Sprintf("%s: shown is %s of %d events; --event chooses another: %s", p.Source, p.Main(), len(p.Events), strings.Join(others, ", "))))
}

func formNames() string { return listForms(func(f flameForm) string { return f.name }) }

func formEndings() string { return listForms(func(f flameForm) string { return f.ending }) }

func listForms(of func(flameForm) string) string {
	var list []string
	for _, f := range flameForms() {
		list = append(list, of(f))
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

func flameWriter(form string, p *flame.Profile, f *flameFlags) (func(io.Writer) error, error) {
	for _, x := range flameForms() {
		if x.name == form {
			return func(w io.Writer) error { return x.profile(w, p, f) }, nil
		}
	}
	return nil, usage("-o needs a file that ends in %s, or --format %s", formEndings(), formNames())
}

// difference compares the profile with the one of --diff.
func (e *env) difference(cmd *cobra.Command, p *flame.Profile, f *flameFlags, form string, style report.Style) error {
	base, err := e.profile(cmd, []string{f.diff}, f)
	if err != nil {
		return err
	}
	o := flame.DiffOptions{Base: f.choose.column, Other: f.choose.column, Raw: f.raw}
	if f.base != "" {
		o.Base.Event = f.base
	}
	d, err := flame.Diff(base, p, o)
	if err != nil {
		return couldNot(err)
	}
	if form == "" {
		return couldNot(report.FlameDiff(e.stdout, d, f.top, style))
	}
	for _, x := range flameForms() {
		if x.name == form && x.difference != nil {
			return couldNot(e.product(f.output, func(w io.Writer) error { return x.difference(w, d, f) }))
		}
	}
	return usage("--format %s: a difference cannot be written as that", form)
}

// whatIf prints what would be left without functions.
func (e *env) whatIf(p *flame.Profile, f *flameFlags, form string, style report.Style) error {
	w, err := flame.Without(p, f.choose.column, functionNames(f.without))
	switch {
	case err != nil:
		return err
	case form == "json":
		return e.product(f.output, func(out io.Writer) error { return json.NewEncoder(report.Plain(out)).Encode(w) })
	case form != "":
		return usage("--format %s: what would be left is printed as text or json", form)
	}
	return report.WhatIf(e.stdout, w, style)
}

// functionNames splits the values of --without at commas that are in no brackets, since names of C++ hold commas too.
func functionNames(values []string) []string {
	var names []string
	for _, value := range values {
		depth, start := 0, 0
		for i := 0; i <= len(value); i++ {
			switch {
			case i == len(value) || value[i] == ',' && depth == 0:
				if name := strings.TrimSpace(value[start:i]); name != "" {
					names = append(names, name)
				}
				start = i + 1
			case strings.IndexByte("(<[{", value[i]) >= 0:
				depth++
			case strings.IndexByte(")>]}", value[i]) >= 0 && depth > 0:
				depth--
			}
		}
	}
	return names
}

// product writes a file, or to stdout if it is called "-". A file that could not be written whole is removed.
func (e *env) product(name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(e.stdout)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".nettrace-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
