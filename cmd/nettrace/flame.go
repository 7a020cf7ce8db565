package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/flame"
	"nettrace/report"
)

// flameForms are what a profile can be written as, with the endings that choose them.
func flameForms() map[string]string {
	return map[string]string{"svg": ".svg", "html": ".html", "folded": ".folded", "pprof": ".pb.gz", "speedscope": ".speedscope.json"}
}

func flameCommand(e *env) *cobra.Command {
	var in inputFlags
	var output, color string
	var o flame.SVGOptions
	var top int
	cmd := &cobra.Command{
		Use:   "flame PROFILE",
		Short: "Draw stack samples as a flame graph, or write them as folded text, pprof or speedscope",
		Example: `  nettrace flame fixtures/bundles/rr-4345/netserver.perf.txt -o x.svg
  nettrace flame fixtures/bundles/rr-4345/netserver.perf.txt --format folded -o -
  nettrace flame fixtures/bundles/rr-4345/netserver.perf.txt --top 10`,
	}
	in.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "-", "the file to write; its ending (.svg, .folded, .pb.gz, .speedscope.json) is the form")
	cmd.Flags().Lookup("format").Usage = "svg, folded, pprof or speedscope instead of the file's ending; another name is the format of the input"
	cmd.Flags().StringVar(&o.Event, "event", "", "the event to show, if there are several")
	cmd.Flags().StringVar((*string)(&o.Value), "value", "period", "what to add up: period or samples")
	cmd.Flags().StringVar(&o.Title, "title", "", "title of the picture")
	cmd.Flags().BoolVar(&o.Icicle, "icicle", false, "draw the root at the top")
	cmd.Flags().IntVar(&top, "top", 0, "print the N functions with the highest self and total values instead")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		form := ""
		if _, known := flameForms()[in.format]; known {
			form, in.format = in.format, ""
		}
		p, err := e.profile(cmd, args, in.format)
		if err != nil {
			return err
		}
		if top > 0 {
			return couldNot(report.Top(e.stdout, p, o.Column, top, e.style(color, false)))
		}
		write, err := flameWriter(flameForm(form, output), p, o)
		if err != nil {
			return err
		}
		return couldNot(e.product(output, write))
	}
	return cmd
}

// profile reads the one profile behind the arguments.
func (e *env) profile(cmd *cobra.Command, args []string, format string) (*flame.Profile, error) {
	paths, err := e.paths(args)
	if err != nil {
		return nil, err
	}
	r, errs := analyze.Inspect(cmd.Context(), paths, analyze.Options{Stdin: e.stdin, Format: format})
	e.warn(r.Ledger)
	switch n := len(r.Models.Profiles); {
	case n == 1:
		return r.Models.Profiles[0], nil
	case n > 1:
		return nil, usage("%d profiles among the inputs; name one", n)
	case len(errs) > 0:
		return nil, couldNot(errs[0])
	default:
		return nil, failed("no stack samples among the inputs; nettrace inspect tells what they are")
	}
}

// flameForm returns the form asked for, or the one of the file's ending.
func flameForm(form, output string) string {
	for name, ending := range flameForms() {
		if form == "" && strings.HasSuffix(output, ending) {
			return name
		}
	}
	return form
}

func flameWriter(form string, p *flame.Profile, o flame.SVGOptions) (func(io.Writer) error, error) {
	switch form {
	case "svg":
		return func(w io.Writer) error { return flame.WriteSVG(w, p, o) }, nil
	case "html":
		page := flame.HTMLOptions{Column: o.Column, Colours: o.Colours, Title: o.Title, Icicle: o.Icicle, Merged: o.Merged}
		return func(w io.Writer) error { return flame.WriteHTML(w, p, page) }, nil
	case "folded":
		return func(w io.Writer) error { return flame.WriteFolded(w, p, o.Column) }, nil
	case "pprof":
		return p.WritePprof, nil
	case "speedscope":
		return func(w io.Writer) error { return flame.WriteSpeedscope(w, p) }, nil
	default:
		return nil, usage("-o needs a file that ends in .svg, .folded, .pb.gz or .speedscope.json, or --format svg, folded, pprof or speedscope")
	}
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
