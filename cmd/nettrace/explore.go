package main

import (
	"errors"
	"fmt"
	"os"
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
		Short: "Walk through the result in the terminal: findings, flows, packets, locks, stacks, counters, sources",
		Long: `explore shows what analyze prints, to be walked through: enter goes one level down, esc one up, ? lists the keys of a
screen, / filters, 1 to 7 change the screen, q quits. It opens before anything is read. Where the output is no terminal,
it prints the text of analyze instead.`,
		Example: `  nettrace explore fixtures/bundles/rr-4345
  cat fixtures/pcap/rr-4345-wire.pcap | nettrace explore -`,
	}
	in.add(cmd)
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.Flags().StringVar(&o.Theme, "theme", "auto", "dark or light; auto asks the terminal")
	cmd.Flags().BoolVar(&o.ASCII, "ascii", false, "draw with ASCII characters only")
	cmd.Flags().StringArrayVar(&params, "param", nil, "a threshold, as RULE.NAME=VALUE (see nettrace explain RULE)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := parameters(params)
		if err != nil {
			return err
		}
		read := analyze.Options{Format: in.format, Symbols: in.symbols, Inlined: in.inlined, Params: set, Stdin: e.stdin}
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
		o.Analyze, o.Color = read, style.Color
		left, err := tui.Run(cmd.Context(), o)
		switch {
		case cmd.Context().Err() != nil: // the program was asked to end
			return exit{exitInterrupted, ""}
		case err != nil:
			return failed("%v", err)
		}
		fmt.Fprintln(e.stderr, "nettrace: to see this again: "+report.Clean(again(cmd, o.Paths)))
		if left.Result == nil {
			return nil
		}
		_, err = e.judged(left.Result, left.Errors)
		return errors.Join(err, status(left.Result, "", in.strict))
	}
	return cmd
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
			words = append(words, quoted("--"+f.Name+"="+v))
		}
	})
	for _, p := range paths {
		if p == "-" {
			p = "- < FILE"
		} else {
			p = quoted(p)
		}
		words = append(words, p)
	}
	return strings.Join(words, " ")
}

// quoted writes a word as a shell takes it.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?[](){}<>|&;!#~") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
