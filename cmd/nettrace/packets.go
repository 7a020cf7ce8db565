package main

import (
	"strings"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/pcap"
	"nettrace/report"
)

func packetsCommand(e *env) *cobra.Command {
	var output, color, flags string
	cmd := &cobra.Command{
		Use:   "packets CAPTURE [FILTER]",
		Short: "List the packets of a capture with what the analysis marks on them",
		Example: `  nettrace packets fixtures/pcap/rr-4345-wire.pcap
  nettrace packets fixtures/pcap/rr-4345-wire.pcap 'src host 192.0.2.1 and tcp' -o ndjson
  nettrace packets fixtures/pcap/loss-queue-sender.pcap --flags wireshark`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or ndjson")
	cmd.Flags().StringVar(&flags, "flags", "own", "own: the analysis' verdicts; wireshark: the marks tcp.analysis.* that Wireshark 4.0 makes, its wrong ones included")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		filter, err := pcap.ParseFilter(strings.Join(args[1:], " "))
		if err != nil {
			return usage("%v", err)
		}
		write, ok := report.Packets(e.stdout, output, e.style(color, false))
		if !ok {
			return usage("-o %s: expected text or ndjson", output)
		}
		if flags != "own" && flags != "wireshark" {
			return usage("--flags %s: expected own or wireshark", flags)
		}
		o := analyze.Options{Stdin: e.stdin, WiresharkFlags: flags == "wireshark"}
		ledger, err := analyze.Packets(cmd.Context(), args[0], filter, o, write)
		e.warn(ledger.Entries())
		return couldNot(err)
	}
	return cmd
}
