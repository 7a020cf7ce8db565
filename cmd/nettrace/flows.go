package main

import (
	"errors"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/report"
)

func flowsCommand(e *env) *cobra.Command {
	var in inputFlags
	var output, color string
	var detail int64
	cmd := &cobra.Command{
		Use:   "flows CAPTURE...",
		Short: "List the connections of captures: who, how long, how much, RTT, retransmissions, capture side",
		Example: `  nettrace flows fixtures/pcap/rr-4345-wire.pcap
  nettrace flows fixtures/pcap/rr-4345-wire.pcap --detail 1
  nettrace flows fixtures/pcap/rr-4345-wire.pcap -o json`,
	}
	in.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.Flags().Int64Var(&detail, "detail", 0, "everything known of the connection of this number")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		paths, err := e.paths(args)
		if err != nil {
			return err
		}
		r, errs := analyze.Inspect(cmd.Context(), paths, analyze.Options{Stdin: e.stdin, Format: in.format, Connections: 1 << 20})
		r, err = e.judged(r, errs)
		if r == nil {
			return err
		}
		switch {
		case len(r.Models.Captures) == 0:
			return failed("no capture among the inputs; nettrace inspect tells what they are")
		case output == "json":
			err = errors.Join(report.FlowsJSON(e.stdout, r.Models.Captures), err)
		case output != "text":
			return usage("-o %s: expected text or json", output)
		case detail > 0:
			err = errors.Join(couldNot(report.Flow(e.stdout, r.Models.Captures, detail, e.style(color, true))), err)
		default:
			err = errors.Join(report.Flows(e.stdout, r.Models.Captures, e.style(color, false)), err)
		}
		return errors.Join(err, status(r, "", in.strict))
	}
	return cmd
}
