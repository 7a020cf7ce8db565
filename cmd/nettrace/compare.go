package main

import (
	"cmp"
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
	var output, color, ministat, by string
	var labels []string
	o := bench.CompareOptions{}
	cmd := &cobra.Command{
		Use:   "compare A B...",
		Short: "Say which difference between repeated benchmark results is real, and how large it is",
		Long: `Say which difference between repeated benchmark results is real, and how large it is. Each argument is one state of
the system: a file, a folder, or a quoted pattern of files whose runs belong together. Tests are matched by their name,
sizes, streams and direction. Student's t decides, as in ministat; the test of ranks, medians and their ratio stand
beside it, as in benchstat. Of more than two states all pairs are compared, with Holm's correction. What varies in size,
number of streams or a number of a table is shown as a curve, with what a byte and a segment cost, cliffs, the law of
scaling, and where one state overtakes another. With --by the states are the values of a setting instead: a column of a
table, an option of the benchmark, or what a shell's log set before it. One argument is enough for that, for an output of
ministat, for a table with a column for each state, and to summarise what there is.`,
		Example: `  nettrace compare fixtures/bench/tso-on.mbps.txt fixtures/bench/tso-off.mbps.txt
  nettrace compare --label on --label off fixtures/bench/gobench-tso-on.txt fixtures/bench/gobench-tso-off.txt -o json
  nettrace compare fixtures/bench/ministat-iflib-5.txt
  nettrace compare --by adaptive_rx fixtures/bench/table-rr-adaptive.csv`,
		Args: cobra.MinimumNArgs(1),
	}
	in.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.Flags().StringVar(&ministat, "ministat", "newer", "formulas of this generation of ministat: newer (FreeBSD) or 2015 (Debian)")
	cmd.Flags().Float64Var(&o.Confidence, "confidence", 95, "in percent: 80, 90, 95, 98, 99 or 99.5")
	cmd.Flags().StringVar(&by, "by", "", "make the sets by the values of this setting, over all arguments together")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "name of a set, once for each argument in their order")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case output != "text" && output != "json":
			return usage("-o %s: expected text or json", output)
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
		sets, err := e.sets(cmd.Context(), args, labels, in.format)
		if err == nil {
			sets, err = arranged(sets, by)
		}
		if err != nil {
			return err
		}
		c := bench.Compare(sets, o)
		if output == "json" {
			err = report.CompareJSON(e.stdout, c)
		} else {
			err = report.Compare(e.stdout, c, e.style(color, false))
		}
		if len(c.Comparisons)+len(c.Samples)+len(c.Curves) == 0 {
			return errors.Join(err, notComparable(c))
		}
		return err
	}
	return cmd
}

// sets reads what is behind each argument.
func (e *env) sets(ctx context.Context, args, labels []string, format string) ([]bench.Set, error) {
	var sets []bench.Set
	for i, arg := range args {
		paths, err := pattern(arg)
		if err != nil {
			return nil, err
		}
		r, errs := analyze.Inspect(ctx, paths, analyze.Options{Stdin: e.stdin, Format: format})
		for _, err := range errs {
			fmt.Fprintln(e.stderr, "nettrace: "+report.Clean(err.Error()))
		}
		e.warn(r.Ledger)
		if len(r.Models.Runs) == 0 {
			return nil, failed("%s: no benchmark results; nettrace inspect tells what it is", report.Clean(arg))
		}
		set := bench.Set{Label: arg, Runs: r.Models.Runs}
		if len(labels) > 0 {
			set.Label = labels[i]
		}
		sets = append(sets, set)
	}
	return sets, nil
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
func notComparable(c bench.Comparisons) error {
	if len(c.Refused) > 0 {
		return failed("nothing was compared: %s", report.Clean(c.Refused[0].Text))
	}
	return failed("no test is in two of the sets: they are named by test, sizes, streams and direction")
}
