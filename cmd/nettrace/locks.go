package main

import (
	"errors"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/lockstat"
	"nettrace/report"
)

func locksCommand(e *env) *cobra.Command {
	var in inputFlags
	var output, color, by string
	cmd := &cobra.Command{
		Use:   "locks FILE...",
		Short: "List locks and where they were waited for, from any lock statistics",
		Example: `  nettrace locks fixtures/bundles/rr-4345/netserver.lockstat.txt
  nettrace locks fixtures/bundles/rr-4345/netserver.lockstat.txt --by count -o json`,
	}
	in.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&by, "by", "wait", "order: wait, hold, count or max")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		order, err := lockstat.ParseOrder(by)
		if err != nil {
			return usage("--by: %v", err)
		}
		paths, err := e.paths(args)
		if err != nil {
			return err
		}
		r, errs := analyze.Inspect(cmd.Context(), paths, analyze.Options{Stdin: e.stdin, Format: in.format})
		r, err = e.judged(r, errs)
		if r == nil {
			return err
		}
		switch {
		case len(r.Models.Locks) == 0:
			return failed("no lock statistics among the inputs; nettrace inspect tells what they are")
		case output == "json":
			err = errors.Join(report.LocksJSON(e.stdout, r.Models.Locks, order), err)
		case output == "text":
			err = errors.Join(report.Locks(e.stdout, r.Models.Locks, order, e.style(color, false)), err)
		default:
			return usage("-o %s: expected text or json", output)
		}
		e.warn(r.Ledger)
		return errors.Join(err, status(r, "", in.strict))
	}
	return cmd
}
