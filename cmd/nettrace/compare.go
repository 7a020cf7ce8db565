package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/diagnose"
	"nettrace/report"
)

func compareCommand(e *env) *cobra.Command {
	var in inputFlags
	var output, color, ministat, by string
	var labels, params []string
	o := bench.CompareOptions{}
	cmd := &cobra.Command{
		Use:   "compare A B...",
		Short: "Say what changed between benchmark results, profiles, counters, lock tables or whole bundles, and how sure that is",
		Long: `Say which difference between repeated benchmark results is real, and how large it is. Each argument is one state of
the system: a file, a folder, or a quoted pattern of files that belong together. Tests are matched by their name,
sizes, streams and direction. Student's t decides, as in ministat; the test of ranks, medians and their ratio stand
beside it, as in benchstat. Of more than two states all pairs are compared, with Holm's correction. What varies in size,
number of streams or a number of a table is shown as a curve, with what a byte and a segment cost, cliffs, the law of
scaling, and where one state overtakes another. With --by the states are the values of a setting instead: a column of a
table, an option of the benchmark, or what a shell's log set before it. One argument is enough for that, for an output of
ministat, for a table with a column for each state, and to summarise what there is.

Of two bundles, or results that analyze wrote, it also tells which findings are new, gone or cost otherwise, what changed in
profiles, lock tables, counters and settings, and what speaks against a change: profiles or settings that are the same on
both sides.`,
		Example: `  nettrace compare fixtures/bench/tso-on.mbps.txt fixtures/bench/tso-off.mbps.txt
  nettrace compare --label on --label off fixtures/bench/gobench-tso-on.txt fixtures/bench/gobench-tso-off.txt -o json
  nettrace compare fixtures/bench/ministat-iflib-5.txt
  nettrace compare --by adaptive_rx fixtures/bench/table-rr-adaptive.csv`,
		Args: cobra.MinimumNArgs(1),
	}
	in.add(cmd)
	in.addInterval(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json, or a file to write: x.html is a page, x.svg a picture; html and svg go to stdout")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.Flags().StringVar(&ministat, "ministat", "newer", "formulas of this generation of ministat: newer (FreeBSD) or 2015 (Debian)")
	cmd.Flags().Float64Var(&o.Confidence, "confidence", 95, "in percent: 80, 90, 95, 98, 99 or 99.5")
	cmd.Flags().StringVar(&by, "by", "", "make the sets by the values of this setting, over all arguments together")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "name of a set, once for each argument in their order")
	cmd.Flags().StringArrayVar(&params, "param", nil, "a threshold of the findings, as RULE.NAME=VALUE (see nettrace explain RULE)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case compareWriter(output, report.Style{}) == nil:
			return usage("-o %s: expected text, json, html or svg, or a file that ends in .html, .svg or .json", output)
		case ministat != "newer" && ministat != "2015":
			return usage("--ministat=%s: expected newer or 2015", ministat)
		case !slices.Contains(bench.Confidences(), o.Confidence):
			return usage("--confidence %g: expected one of %v", o.Confidence, bench.Confidences())
		case by != "" && len(labels) > 0:
			return usage("--by names the sets itself: expected no --label")
		case len(labels) > 0 && len(labels) != len(args):
			return usage("%d --label for %d arguments: expected one for each", len(labels), len(args))
		}
		if ministat == "2015" {
			o.Ministat = bench.Ministat2015
		}
		set, err := parameters(params)
		if err != nil {
			return err
		}
		read, err := in.options()
		if err != nil {
			return err
		}
		read.Params, read.Stdin = set, e.stdin
		results, err := e.results(cmd.Context(), args, read)
		if err != nil {
			return err
		}
		c, err := compared(results, setLabels(args, labels), by, o)
		if err != nil {
			return err
		}
		if c.Empty() {
			return notComparable(c)
		}
		to := "-"
		if strings.Contains(output, ".") {
			to = output
		}
		write := compareWriter(output, e.style(color, false))
		return couldNot(e.product(to, func(w io.Writer) error { return write(w, c) }))
	}
	return cmd
}

// compareWriter returns what writes a form, or the form of a file by its ending; nil if there is none.
func compareWriter(output string, style report.Style) func(io.Writer, *report.Compared) error {
	switch form := output[strings.LastIndex(output, ".")+1:]; {
	case output == "text":
		return func(w io.Writer, c *report.Compared) error { return report.Compare(w, c, style) }
	case form == "json":
		return report.CompareJSON
	case form == "html":
		return report.CompareHTML
	case form == "svg":
		return report.CompareSVG
	}
	return nil
}

// results analyses what is behind each argument.
func (e *env) results(ctx context.Context, args []string, o analyze.Options) ([]*analyze.Result, error) {
	var list []*analyze.Result
	for _, arg := range args {
		paths, err := pattern(arg)
		if err != nil {
			return nil, err
		}
		r, errs := analyze.Run(ctx, paths, o)
		for _, err := range errs {
			fmt.Fprintln(e.stderr, "nettrace: "+report.Clean(err.Error()))
		}
		e.warn(r.Ledger)
		if report.NothingRead(r) {
			return nil, failed("%s: nothing that can be compared; nettrace inspect tells what it is", report.Clean(arg))
		}
		diagnose.Apply(r, o.Params)
		list = append(list, r)
	}
	return list, nil
}

func setLabels(args, labels []string) []string {
	if len(labels) > 0 {
		return labels
	}
	return args
}

// compared compares the benchmark runs of all results, and, of two, whatever else they hold.
func compared(results []*analyze.Result, labels []string, by string, o bench.CompareOptions) (*report.Compared, error) {
	var sets []bench.Set
	others := false
	for i, r := range results {
		if len(r.Models.Runs) > 0 {
			sets = append(sets, bench.Set{Label: labels[i], Runs: r.Models.Runs})
		}
		others = others || slices.ContainsFunc(r.Sources, func(s analyze.Source) bool { return s.Format != "" && s.Kind != analyze.Benchmark })
	}
	c := &report.Compared{Comparisons: bench.Compare(nil, o)}
	if len(sets) > 0 {
		made, err := arranged(sets, by)
		if err != nil {
			return nil, err
		}
		if len(made) > 1 || len(results) == 1 {
			c.Comparisons = bench.Compare(made, o)
		}
	}
	if others && len(results) == 2 && by == "" {
		c.Changes = diagnose.Compare(results[0], results[1])
	}
	return c, nil
}

// arranged makes the sets that are compared: those of the arguments, or, of all runs together, those of a setting.
func arranged(sets []bench.Set, by string) ([]bench.Set, error) {
	var all []bench.Run
	for _, s := range sets {
		all = append(all, s.Runs...)
	}
	if by == "" {
		if variants := bench.Variants(all); len(sets) == 1 && variants != nil {
			return variants, nil
		}
		return sets, nil
	}
	made := bench.SplitBy(all, by)
	if len(made) < 2 {
		return nil, failed("--by %s: %d values in the runs; expected two and more; what varies is: %s", report.Clean(by), len(made), report.Clean(cmp.Or(strings.Join(bench.Varied(all), ", "), "nothing")))
	}
	return made, nil
}

// pattern returns the paths that an argument stands for: itself, or, if there is no such file, those it matches.
func pattern(arg string) ([]string, error) {
	if _, err := os.Stat(arg); arg == "-" || err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(arg, "*?[") {
		return []string{arg}, nil
	}
	paths, err := filepath.Glob(arg)
	if err != nil {
		return nil, usage("%s: %v", arg, err)
	}
	if len(paths) == 0 {
		return nil, failed("%s: no file matches", report.Clean(arg))
	}
	return paths, nil
}

// notComparable says why nothing was compared.
func notComparable(c *report.Compared) error {
	if len(c.Refused) > 0 {
		return failed("nothing was compared: %s", report.Clean(c.Refused[0].Text))
	}
	return failed("nothing is in two of the arguments: tests are named by test, sizes, streams and direction; of a single argument only benchmark results are summarised")
}
