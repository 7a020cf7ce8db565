package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/report"
)

func reportCommand(e *env) *cobra.Command {
	var in inputFlags
	var anonymous anonymizeFlags
	var output string
	var params []string
	var maxBytes int
	cmd := &cobra.Command{
		Use:   "report PATH... -o FILE",
		Short: "Write the result as one page: findings, evidence, plots, flame graph, and the result itself",
		Long: `Write the result as one HTML page that needs no other file and asks for none. It is readable without script and
printed whole. It holds its result: analyze reads the page as it reads recordings.`,
		Example: `  nettrace report fixtures/bundles/rr-4345 -o rr-4345.html
  nettrace report fixtures/pcap/rr-4345-wire.pcap -o -
  nettrace report fixtures/pcap/rr-4345-wire.pcap --anonymize -o -`,
	}
	in.add(cmd)
	in.addInterval(cmd)
	anonymous.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write, - for standard output")
	cmd.Flags().StringArrayVar(&params, "param", nil, "a threshold, as RULE.NAME=VALUE (see nettrace explain RULE)")
	cmd.Flags().IntVar(&maxBytes, "max-bytes", 0, "size of the page from which models are thinned (default 5,000,000)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if output == "" {
			return usage("-o needs the file to write, or - for standard output")
		}
		set, err := parameters(params)
		if err != nil {
			return err
		}
		o, err := in.options()
		if err != nil {
			return err
		}
		o.Params = set
		anonymous.begin(e)
		r, err := e.analyze(cmd.Context(), args, o, true)
		if r == nil {
			return err
		}
		if err := analyze.CollectSeries(cmd.Context(), args, r, analyze.SeriesOptions{}); err != nil {
			return couldNot(err)
		}
		if err := anonymous.apply(r, args); err != nil {
			return err
		}
		write := func(w io.Writer) error { return report.HTML(w, r, report.HTMLOptions{MaxBytes: maxBytes}) }
		if perr := e.product(output, write); perr != nil {
			return couldNot(perr)
		}
		if report.NothingRead(r) {
			return failed("nothing was analysed, and the page says why; nettrace formats lists what is read")
		}
		return errors.Join(err, status(r, "", in.strict))
	}
	return cmd
}
