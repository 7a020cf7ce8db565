package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nettrace/analyze"
	"nettrace/report"
	"nettrace/tui"
)

func exploreCommand(e *env) *cobra.Command {
	var in inputFlags
	var color string
	var params []string
	o := tui.Options{Predict: true}
	cmd := &cobra.Command{
		Use:   "explore PATH...",
		Short: "Walk through the result in the terminal: findings, flows, packets, locks, stacks, counters, sources, replay",
		Long: `explore shows what analyze prints, to be walked through: enter goes one level down, esc one up, ? lists the keys of a
screen, / filters, 1 to 8 change the screen, q quits. It opens before anything is read. Where the output is no terminal,
it prints the text of analyze instead.`,
		Example: `  nettrace explore fixtures/bundles/rr-4345
  cat fixtures/pcap/rr-4345-wire.pcap | nettrace explore -`,
	}
	in.add(cmd)
	in.addInterval(cmd)
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.Flags().StringVar(&o.Theme, "theme", tui.ThemeAuto, strings.Join(tui.Themes(), ", ")+"; what is left open is as the terminal answers")
	cmd.Flags().BoolVar(&o.ASCII, "ascii", false, "draw with ASCII characters only")
	cmd.Flags().StringArrayVar(&params, "param", nil, "a threshold, as RULE.NAME=VALUE (see nettrace explain RULE)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := parameters(params)
		if err != nil {
			return err
		}
		if !slices.Contains(tui.Themes(), o.Theme) {
			return usage("--theme %s: expected one of %s", o.Theme, strings.Join(tui.Themes(), ", "))
		}
		read, err := in.options()
		if err != nil {
			return err
		}
		read.Params, read.Stdin = set, e.stdin
		style := e.style(color, false)
		if !e.terminal || os.Getenv("TERM") == "dumb" {
			return e.exploreAsText(cmd, args, read, style, in.strict)
		}
		if o.Paths, err = e.paths(args); err != nil {
			return err
		}
		if err := anyThere(o.Paths); err != nil {
			return err
		}
		o.Analyze, o.Color, o.Program = read, style.Color, "nettrace "+version()
		o.Forms = forms(o.Paths)
		left, err := tui.Run(cmd.Context(), o)
		switch {
		case cmd.Context().Err() != nil: // the program was asked to end
			return exit{exitInterrupted, ""}
		case err != nil:
			return failed("%v", err)
		}
		e.farewell(left.Files, again(cmd, o.Paths))
		if left.Result == nil {
			return nil
		}
		_, err = e.judged(left.Result, left.Errors)
		return errors.Join(err, status(left.Result, "", in.strict))
	}
	return cmd
}

// farewell tells what was written, and how to see the same again.
func (e *env) farewell(files []string, command string) {
	line := "to see this again: " + command
	if len(files) > 0 {
		line = "written: " + strings.Join(files, " ") + "; " + line
	}
	fmt.Fprintln(e.stderr, "nettrace: "+report.Clean(line))
}

// forms are those in which the explorer writes a whole result.
func forms(paths []string) []tui.Form {
	list := []tui.Form{{Name: "one page", Ending: ".html", Page: true, Write: func(ctx context.Context, w io.Writer, r *analyze.Result) error {
		if err := analyze.CollectSeries(ctx, paths, r, analyze.SeriesOptions{}); err != nil {
			return err
		}
		return report.HTML(w, r, report.HTMLOptions{})
	}}}
	for _, form := range [][2]string{{"text", ".txt"}, {"markdown", ".md"}, {"json", ".json"}} {
		if write, ok := report.Writer(form[0], report.Style{Verbose: true}); ok {
			list = append(list, tui.Form{Name: form[0], Ending: form[1], Write: func(_ context.Context, w io.Writer, r *analyze.Result) error { return write(w, r) }})
		}
	}
	return list
}

// anyThere fails if no path exists: the explorer would open on nothing.
func anyThere(paths []string) error {
	var errs []string
	for _, p := range paths {
		_, err := os.Stat(p)
		if err == nil || p == "-" {
			return nil
		}
		errs = append(errs, strings.TrimPrefix(err.Error(), "stat "))
	}
	return failed("%s", report.Clean(strings.Join(errs, "; ")))
}

// exploreAsText prints what the explorer would show, for pipes, logs and screen readers.
func (e *env) exploreAsText(cmd *cobra.Command, args []string, o analyze.Options, style report.Style, strict bool) error {
	r, err := e.analyze(cmd.Context(), args, o, true)
	if r == nil {
		return err
	}
	return errors.Join(report.Text(e.stdout, r, style), err, status(r, "", strict))
}

// again writes the command line that shows the same result.
func again(cmd *cobra.Command, paths []string) string {
	words := []string{"nettrace", cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, several := f.Value.(pflag.SliceValue); several {
			values = list.GetSlice()
		}
		for _, v := range values {
			words = append(words, tui.Quoted("--"+f.Name+"="+v))
		}
	})
	for _, p := range paths {
		if p == "-" {
			p = "- < FILE"
		} else {
			p = tui.Quoted(p)
		}
		words = append(words, p)
	}
	return strings.Join(words, " ")
}
