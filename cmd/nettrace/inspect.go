package main

import (
	"errors"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/report"
)

func inspectCommand(e *env) *cobra.Command {
	var in inputFlags
	var output, color string
	cmd := &cobra.Command{
		Use:   "inspect PATH...",
		Short: "Tell what files are: format, span, records, losses; each tool output in a text with its line",
		Example: `  nettrace inspect fixtures/bundles/rr-4345
  nettrace inspect fixtures/pcap/rr-4345-wire.pcap -o json`,
	}
	in.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		paths, err := e.paths(args)
		if err != nil {
			return err
		}
		r, errs := e.inspect(cmd.Context(), paths, analyze.Options{Stdin: e.stdin, Format: in.format, Symbols: in.symbols, Inlined: in.inlined})
		r, err = e.judged(r, errs)
		if r == nil {
			return err
		}
		switch output {
		case "text":
			err = errors.Join(report.Inspect(e.stdout, r, e.style(color, false)), err)
		case "json":
			err = errors.Join(report.InspectJSON(e.stdout, r), err)
		default:
			return usage("-o %s: expected text or json", output)
		}
		return errors.Join(err, status(r, "", in.strict))
	}
	return cmd
}
