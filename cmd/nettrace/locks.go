package main

import (
	"bytes"
	"errors"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/flame"
	"nettrace/lockstat"
	"nettrace/report"
	"nettrace/source"
)

func locksCommand(e *env) *cobra.Command {
	var in inputFlags
	var output, color, by, diff string
	cmd := &cobra.Command{
		Use:   "locks FILE...",
		Short: "List locks and where they were waited for, from any lock statistics",
		Long: `List locks and where they were waited for, from any lock statistics: lockstat, /proc/lock_stat, perf lock, klockstat,
or raw lock events of perf script. With --diff, what changed since another recording. With -o FILE the waits are drawn
as a flame graph, or written as the contention profile that go tool pprof reads.`,
		Example: `  nettrace locks fixtures/bundles/rr-4345/netserver.lockstat.txt
  nettrace locks fixtures/bundles/rr-4345/netserver.lockstat.txt --by count -o json
  nettrace locks fixtures/locks/iflib-contended.txt --diff fixtures/locks/iflib-near.txt
  nettrace locks fixtures/locks/convoy.perf -o x.pb.gz`,
	}
	in.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, json, or a file that ends in "+formEndings())
	cmd.Flags().StringVar(&by, "by", "wait", "order: wait, hold, count or max")
	cmd.Flags().StringVar(&diff, "diff", "", "show what changed since this recording")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		order, err := lockstat.ParseOrder(by)
		if err != nil {
			return usage("--by: %v", err)
		}
		form := formOf("", output)
		if form == "" && output != "text" && output != "json" {
			return usage("-o %s: expected text, json or a file that ends in %s", output, formEndings())
		}
		r, err := e.lockTables(cmd, args, in.format)
		if r == nil {
			return err
		}
		var diffs []*lockstat.Diff
		if diff != "" {
			base, baseErr := e.lockTables(cmd, []string{diff}, in.format)
			if base == nil {
				return baseErr
			}
			if diffs = lockstat.CompareAll(base.Models.Locks, r.Models.Locks); len(diffs) == 0 {
				return failed("the two have no lock table of one tool and kind in common")
			}
		}
		return errors.Join(err, e.showLocks(r.Models.Locks, diffs, order, form, output, e.style(color, false)), status(r, "", in.strict))
	}
	return cmd
}

// lockTables reads the lock tables behind the arguments.
func (e *env) lockTables(cmd *cobra.Command, args []string, format string) (*analyze.Result, error) {
	paths, err := e.paths(args)
	if err != nil {
		return nil, err
	}
	r, errs := analyze.Inspect(cmd.Context(), paths, analyze.Options{Stdin: e.stdin, Format: format})
	r, err = e.judged(r, errs)
	if r == nil {
		return nil, err
	}
	e.warn(r.Ledger)
	if len(r.Models.Locks) == 0 {
		return nil, failed("no lock statistics among the inputs; nettrace inspect tells what they are")
	}
	return r, err
}

func (e *env) showLocks(tables []*lockstat.Table, diffs []*lockstat.Diff, by lockstat.Order, form, output string, style report.Style) error {
	switch {
	case form == "pprof":
		return couldNot(e.product(output, lockstat.Pprof(tables).Write))
	case form != "":
		return e.drawLocks(tables, form, output)
	case output == "json":
		return report.LocksJSON(e.stdout, tables, diffs, by)
	case diffs != nil:
		return report.LocksDiff(e.stdout, diffs, style)
	}
	return report.Locks(e.stdout, tables, by, style)
}

// drawLocks writes the waits as flame writes stack samples.
func (e *env) drawLocks(tables []*lockstat.Table, form, output string) error {
	var b bytes.Buffer
	if err := lockstat.Pprof(tables).WriteUncompressed(&b); err != nil {
		return couldNot(err)
	}
	p, err := flame.ReadPprof(source.NewInput("locks", &b), &source.Ledger{})
	if err != nil {
		return couldNot(err)
	}
	f := &flameFlags{output: output}
	f.choose.column.Event = "delay"
	f.svg.Column, f.svg.Title = f.choose.column, "Time waited for locks"
	write, err := flameWriter(form, p, f)
	if err != nil {
		return err
	}
	return couldNot(e.product(output, write))
}
