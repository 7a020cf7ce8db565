package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/report"
)

func compareCommand(e *env) *cobra.Command {
	var in inputFlags
	var output, color, ministat string
	var labels []string
	o := bench.CompareOptions{}
	cmd := &cobra.Command{
		Use:   "compare A B...",
		Short: "Say which difference between repeated benchmark results is real, and how large it is",
		Long: `Say which difference between repeated benchmark results is real, and how large it is. Each argument is one state of
the system: a file, a folder, or a quoted pattern of files whose runs belong together. Tests are matched by their name,
sizes, streams and direction. Student's t decides, as in ministat; the test of ranks, medians and their ratio stand
beside it, as in benchstat. Of more than two states all pairs are compared, with Holm's correction. Outputs of ministat
are compared within: one argument is enough.`,
		Example: `  nettrace compare fixtures/bench/tso-on.mbps.txt fixtures/bench/tso-off.mbps.txt
  nettrace compare --label on --label off fixtures/bench/gobench-tso-on.txt fixtures/bench/gobench-tso-off.txt -o json
  nettrace compare fixtures/bench/ministat-iflib-5.txt`,
		Args: cobra.MinimumNArgs(1),
	}
	in.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.Flags().StringVar(&ministat, "ministat", "newer", "formulas of this generation of ministat: newer (FreeBSD) or 2015 (Debian)")
	cmd.Flags().Float64Var(&o.Confidence, "confidence", 95, "in percent: 80, 90, 95, 98, 99 or 99.5")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "name of a set, once for each argument in their order")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case output != "text" && output != "json":
			return usage("-o %s: expected text or json", output)
		case ministat != "newer" && ministat != "2015":
			return usage("--ministat=%s: expected newer or 2015", ministat)
		case !slices.Contains(bench.Confidences(), o.Confidence):
			return usage("--confidence %g: expected one of %v", o.Confidence, bench.Confidences())
		case len(labels) > 0 && len(labels) != len(args):
			return usage("%d --label for %d arguments: expected one for each", len(labels), len(args))
		}
		if ministat == "2015" {
			o.Ministat = bench.Ministat2015
		}
		c, err := e.compare(cmd.Context(), args, labels, in.format, o)
		switch {
		case err != nil:
			return err
		case output == "json":
			err = report.CompareJSON(e.stdout, c)
		default:
			err = report.Compare(e.stdout, c, e.style(color, false))
		}
		if len(c.Comparisons) == 0 {
			return errors.Join(err, notComparable(c, len(args)))
		}
		return err
	}
	return cmd
}

// compare reads a set behind each argument and compares them.
func (e *env) compare(ctx context.Context, args, labels []string, format string, o bench.CompareOptions) (bench.Comparisons, error) {
	var sets []bench.Set
	for i, arg := range args {
		paths, err := pattern(arg)
		if err != nil {
			return bench.Comparisons{}, err
		}
		r, errs := analyze.Inspect(ctx, paths, analyze.Options{Stdin: e.stdin, Format: format})
		for _, err := range errs {
			fmt.Fprintln(e.stderr, "nettrace: "+report.Clean(err.Error()))
		}
		e.warn(r.Ledger)
		if len(r.Models.Runs) == 0 {
			return bench.Comparisons{}, failed("%s: no benchmark results; nettrace inspect tells what it is", report.Clean(arg))
		}
		set := bench.Set{Label: arg, Runs: r.Models.Runs}
		if len(labels) > 0 {
			set.Label = labels[i]
		}
		sets = append(sets, set)
	}
	return bench.Compare(sets, o), nil
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
func notComparable(c bench.Comparisons, sets int) error {
	switch {
	case len(c.Refused) > 0:
		return failed("nothing was compared: %s", report.Clean(c.Refused[0].Text))
	case sets == 1:
		return failed("one set alone: give two, or an output of ministat with two sets")
	default:
		return failed("no test is in two of the sets: they are named by test, sizes, streams and direction")
	}
}
