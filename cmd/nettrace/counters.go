package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/report"
	"nettrace/unit"
)

func countersCommand(e *env) *cobra.Command {
	var in inputFlags
	var output, color string
	var all bool
	var interval time.Duration
	cmd := &cobra.Command{
		Use:   "counters BEFORE AFTER | DIR",
		Short: "List rates of interfaces, queues, CPUs and interrupts, and where packets went",
		Long: `counters takes snapshots of counters, two or a series, and lists what changed and how fast: by interface, queue, CPU and
interrupt, with packets per interrupt and bytes per packet. Where both hosts were recorded it follows the packets from
socket to socket and says which layer lost how many. Times come from the names of the files (see docs/counters.md).`,
		Example: `  nettrace counters fixtures/counters/f-napi-16flow
  nettrace counters fixtures/counters/storm/before.ethtool-S-eth0.20240305T101500.000Z.txt fixtures/counters/storm/after.ethtool-S-eth0.20240305T101503.000Z.txt -o json`,
	}
	in.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().BoolVar(&all, "all", false, "list also what did not change")
	cmd.Flags().DurationVar(&interval, "interval", 0, "time between snapshots whose names have no time")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if interval < 0 {
			return usage("--interval %v: expected a time above 0", interval)
		}
		paths, err := e.paths(args)
		if err != nil {
			return err
		}
		r, errs := analyze.Inspect(cmd.Context(), paths, analyze.Options{Stdin: e.stdin, Format: in.format, Interval: unit.Nanos(interval)})
		r, err = e.judged(r, errs)
		if r == nil {
			return err
		}
		switch {
		case len(r.Models.Hosts) == 0:
			return failed("no counters among the inputs; nettrace inspect tells what they are")
		case output == "json":
			err = errors.Join(report.CountersJSON(e.stdout, r.Models.Hosts, all), err)
		case output == "text":
			err = errors.Join(report.Counters(e.stdout, r.Models.Hosts, all, e.style(color, false)), err)
		default:
			return usage("-o %s: expected text or json", output)
		}
		e.warn(r.Ledger)
		return errors.Join(err, status(r, "", in.strict))
	}
	return cmd
}
