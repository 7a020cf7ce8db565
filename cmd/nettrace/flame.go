package main

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/flame"
	"nettrace/report"
)

// flameFlags are the flags of nettrace flame.
type flameFlags struct {
	in            inputFlags
	choose        chooseFlags
	svg           flame.SVGOptions // what all pictures and tables show, and how the SVG is drawn
	output, color string
	top           int
	diff, base    string
	raw           bool
	without       []string
	palette       string
	times         bool // wanted by what is written
}

// html returns what a page shows.
func (f *flameFlags) html() flame.HTMLOptions {
	o := f.svg
	return flame.HTMLOptions{Column: o.Column, Colours: o.Colours, Title: o.Title, Icicle: o.Icicle, Merged: o.Merged, Width: o.Width}
}

// pictures checks how boxes are to be drawn, and reads the palette.
func (f *flameFlags) pictures() error {
	if !slices.Contains(flame.Widths(), f.svg.Width) {
		return usage("--width %s: it is one of %v", f.svg.Width, flame.Widths())
	}
	if !slices.Contains(flame.Colourings(), f.svg.By) {
		return usage("--color-by %s: it is one of %v", f.svg.By, flame.Colourings())
	}
	if f.palette == "" {
		return nil
	}
	file, err := os.Open(f.palette)
	if err != nil {
		return couldNot(err)
	}
	defer file.Close()
	f.svg.Palette, err = flame.ReadPalette(f.palette, file)
	return couldNot(err)
}

func flameCommand(e *env) *cobra.Command {
	var f flameFlags
	cmd := &cobra.Command{
		Use:   "flame PROFILE",
		Short: "Draw stack samples as a flame graph, list or compare them, or write them in another format",
		Example: `  nettrace flame fixtures/bundles/rr-4345/netserver.perf.txt -o x.svg
  nettrace flame fixtures/bundles/rr-4345/netserver.perf.txt --format folded -o -
  nettrace flame fixtures/bundles/rr-4345/netserver.perf.txt --top 10
  nettrace flame fixtures/bundles/rr-4345/netserver.perf.txt --without skb_release_data`,
	}
	f.in.add(cmd)
	f.choose.add(cmd)
	flags := cmd.Flags()
	flags.Lookup("format").Usage = formNames() + " instead of the file's ending; another name is the format of the input"
	flags.StringVarP(&f.output, "output", "o", "-", "the file to write; its ending ("+formEndings()+") is the form")
	flags.StringVar(&f.svg.Title, "title", "", "title of the picture")
	flags.BoolVar(&f.svg.Icicle, "icicle", false, "draw the root at the top")
	flags.IntVar(&f.top, "top", 0, "print the N functions with the highest self and total values instead")
	flags.StringVar(&f.diff, "diff", "", "show how the profile differs from this one")
	flags.StringVar(&f.base, "base-event", "", "with --diff: the event of the base, if it is another one than --event")
	flags.BoolVar(&f.raw, "raw", false, "with --diff: compare values as they are, instead of scaling the base to the same total")
	flags.StringArrayVar(&f.without, "without", nil, "print what would be left if these functions cost nothing: names joined by commas")
	flags.StringVar((*string)(&f.svg.Width), "width", "larger", "with --diff: what boxes are as wide as: larger (of both), base or other")
	flags.StringVar((*string)(&f.svg.By), "color-by", "kind", "what the colours of boxes tell: kind (kernel, module, user), module or name")
	flags.StringVar(&f.palette, "palette", "", "a file of own colours: lines such as ^tcp_=#7a3db8 or module:mlx5=#0b7")
	flags.StringVar(&f.color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return e.flame(cmd, args, &f) }
	return cmd
}

// flame reads the profile and shows what was asked for.
func (e *env) flame(cmd *cobra.Command, args []string, f *flameFlags) error {
	form := ""
	if isForm(f.in.format) {
		form, f.in.format = f.in.format, ""
	}
	form = formOf(form, f.output)
	if err := f.pictures(); err != nil {
		return err
	}
	f.times = form == "html" && f.diff == ""
	p, err := e.profile(cmd, args, f)
	if err != nil {
		return err
	}
	if f.diff == "" {
		e.tellOthers(p, form, f.choose.column)
	}
	f.svg.Column = f.choose.column
	style := e.style(f.color, false)
	switch {
	case len(f.without) > 0:
		return couldNot(e.whatIf(p, f, form, style))
	case f.diff != "":
		return e.difference(cmd, p, f, form, style)
	case f.top > 0 && form == "":
		return couldNot(report.Top(e.stdout, p, f.choose.column, f.top, style))
	}
	write, err := flameWriter(form, p, f)
	if err != nil {
		return err
	}
	return couldNot(e.product(f.output, write))
}

// profile reads the one profile behind the arguments and takes the part of it that was chosen.
func (e *env) profile(cmd *cobra.Command, args []string, f *flameFlags) (*flame.Profile, error) {
	choice, err := f.choose.choice()
	if err != nil {
		return nil, err
	}
	paths, err := e.paths(args)
	if err != nil {
		return nil, err
	}
	r, errs := analyze.Inspect(cmd.Context(), paths, analyze.Options{Stdin: e.stdin, Format: f.in.format, Symbols: f.in.symbols, Inlined: f.in.inlined, Window: choice.window, Times: f.times})
	e.warn(r.Ledger)
	switch n := len(r.Models.Profiles); {
	case n == 1:
		return choice.of(r.Models.Profiles[0]), nil
	case n > 1:
		return nil, usage("%d profiles among the inputs; name one", n)
	case len(errs) > 0:
		return nil, couldNot(errs[0])
	default:
		return nil, failed("no stack samples among the inputs; nettrace inspect tells what they are")
	}
}
