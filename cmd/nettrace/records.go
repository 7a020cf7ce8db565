package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/report"
	"nettrace/source"
)

func recordsCommand(e *env) *cobra.Command {
	var in inputFlags
	cmd := &cobra.Command{
		Use:   "records FILE [FILTER]",
		Short: "Print the decoded records of any format as lines of JSON",
		Long: `Print the decoded records of any format as lines of JSON. For captures FILTER is made of tcpdump's words; for
everything else of FIELD=VALUE, FIELD!=VALUE, FIELD>VALUE and so on, all of which must hold ("comm=iperf3 period>1000").`,
		Example: `  nettrace records fixtures/bundles/rr-4345/before.ethtool-c.txt
  nettrace records fixtures/bundles/rr-4345/netserver.perf.txt comm=rrserver
  nettrace records fixtures/pcap/rr-4345-wire.pcap 'greater 1000'`,
		Args: cobra.MinimumNArgs(1),
	}
	in.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		filter := strings.Join(args[1:], " ")
		ledger, err := analyze.Records(cmd.Context(), args[0], filter, analyze.Options{Stdin: e.stdin, Format: in.format, Symbols: in.symbols, Inlined: in.inlined}, report.JSONLines(e.stdout))
		e.warn(ledger.Entries())
		return couldNot(err)
	}
	return cmd
}

// warn tells on stderr of losses that the output cannot hold.
func (e *env) warn(ledger []source.Entry) {
	for _, l := range ledger {
		if l.Severity == source.Warning {
			at := l.First
			at.Source = l.Source
			fmt.Fprintln(e.stderr, "nettrace: "+report.Clean(fmt.Sprintf("%s: %s", at, l.Text)))
		}
	}
}

// couldNot gives an error of the work (not of the usage) its exit code.
func couldNot(err error) error {
	var x exit
	if err == nil || errors.As(err, &x) || errors.Is(err, syscall.EPIPE) {
		return err
	}
	var bad *analyze.FilterError
	if errors.As(err, &bad) {
		return usage("%v", err)
	}
	return failed("%s", report.Clean(err.Error()))
}
