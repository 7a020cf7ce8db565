package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/report"
)

func countersCommand(e *env) *cobra.Command {
	var in inputFlags
	var output, color, policy string
	var all bool
	cmd := &cobra.Command{
		Use:   "counters BEFORE AFTER | DIR | SERIES",
		Short: "List rates of interfaces, queues, CPUs and interrupts, and where packets went",
		Long: `counters takes snapshots of counters, two or a series, and lists what changed and how fast: by interface, queue, CPU and
interrupt, with packets per interrupt and bytes per packet. Where both hosts were recorded it follows the packets from
socket to socket and says which layer lost how many. Times come from the names of the files (see docs/counters.md).

With --policy it prints instead what a driver's interrupt moderation sets on the recorded traffic, step by step:
` + policyList() + `.`,
		Example: `  nettrace counters fixtures/counters/f-napi-16flow
  nettrace counters fixtures/counters/storm/before.ethtool-S-eth0.20240305T101500.000Z.txt fixtures/counters/storm/after.ethtool-S-eth0.20240305T101503.000Z.txt -o json
  nettrace counters fixtures/counters/balanced-3-2 --policy mlx4-v1`,
	}
	in.add(cmd)
	in.addInterval(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().BoolVar(&all, "all", false, "list also what did not change")
	cmd.Flags().StringVar(&policy, "policy", "", "print the decisions of a driver's moderation: "+strings.Join(coalesce.PolicyNames(), ", "))
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := coalesce.PolicyByName(policy, coalesce.Moderation{}); err != nil && policy != "" {
			return usage("--policy: %v", err)
		}
		o, err := in.options()
		if err != nil {
			return err
		}
		paths, err := e.paths(args)
		if err != nil {
			return err
		}
		o.Stdin = e.stdin
		r, errs := analyze.Inspect(cmd.Context(), paths, o)
		r, err = e.judged(r, errs)
		if r == nil {
			return err
		}
		hosts := r.Models.Hosts
		switch {
		case len(hosts) == 0:
			return failed("no counters among the inputs; nettrace inspect tells what they are")
		case output == "json" && policy != "":
			err = errors.Join(report.DecisionsJSON(e.stdout, hosts, policy), err)
		case output == "json":
			err = errors.Join(report.CountersJSON(e.stdout, hosts, all), err)
		case output == "text" && policy != "":
			err = errors.Join(report.Decisions(e.stdout, hosts, policy, e.style(color, false)), err)
		case output == "text":
			err = errors.Join(report.Counters(e.stdout, hosts, all, e.style(color, false)), err)
		default:
			return usage("-o %s: expected text or json", output)
		}
		e.warn(r.Ledger)
		return errors.Join(err, status(r, "", in.strict))
	}
	return cmd
}

// policyList says what each policy does, a line each.
func policyList() string {
	var lines []string
	for _, name := range coalesce.PolicyNames() {
		lines = append(lines, "  "+name+": "+coalesce.PolicyDoc(name))
	}
	return strings.Join(lines, "\n")
}
