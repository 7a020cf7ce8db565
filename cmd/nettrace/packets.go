package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/pcap"
	"nettrace/report"
	"nettrace/unit"
)

func packetsCommand(e *env) *cobra.Command {
	var output, color, flags, only, records, to string
	var connection int64
	var anonymous anonymizeFlags
	var verbose bool
	var payload int
	cmd := &cobra.Command{
		Use:   "packets CAPTURE [FILTER]",
		Short: "List the packets of a capture with what the analysis marks on them",
		Example: `  nettrace packets fixtures/pcap/rr-4345-wire.pcap
  nettrace packets fixtures/pcap/rr-4345-wire.pcap 'src host 192.0.2.1 and tcp' -o ndjson
  nettrace packets fixtures/pcap/rr-4345-wire.pcap 'tcp[tcpflags] & tcp-push != 0 and greater 100'
  nettrace packets fixtures/pcap/loss-queue-sender.pcap --flags wireshark
  nettrace packets fixtures/pcap/loss-queue-sender.pcap --with retransmission,gap --write -
  nettrace packets fixtures/pcap/rr-4345-wire.pcap --anonymize --write -`,
		Args: cobra.MinimumNArgs(1),
	}
	anonymous.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or ndjson")
	cmd.Flags().StringVar(&flags, "flags", "own", "own: the analysis' verdicts; wireshark: the marks tcp.analysis.* that Wireshark 4.0 makes, its wrong ones included")
	cmd.Flags().StringVar(&only, "with", "", "only packets with one of these flags of the analysis, separated by commas")
	cmd.Flags().StringVar(&records, "records", "", "only packets with these numbers, such as 6,12-40")
	cmd.Flags().Int64Var(&connection, "conn", 0, "only packets of the connection of this number")
	cmd.Flags().StringVar(&to, "write", "", "write the packets to this file as pcapng in place of listing them, with findings as comments")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "text tells TTL and IP identification too")
	cmd.Flags().IntVar(&payload, "payload", 0, "tell this many bytes of each payload, in hexadecimal")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		filter, err := pcap.ParseFilter(strings.Join(args[1:], " "))
		if err != nil {
			return usage("%v", err)
		}
		write, ok := report.Packets(e.stdout, output, verbose, e.style(color, false))
		if !ok {
			return usage("-o %s: expected text or ndjson", output)
		}
		if flags != "own" && flags != "wireshark" {
			return usage("--flags %s: expected own or wireshark", flags)
		}
		marks, err := analyze.ParseFlags(only)
		if err != nil {
			return usage("--with: %v", err)
		}
		numbers, err := analyze.ParseRecords(records)
		if err != nil {
			return usage("--records: %v", err)
		}
		o := analyze.Options{Stdin: e.stdin, WiresharkFlags: flags == "wireshark", PayloadBytes: payload, Marked: analyze.Marked{Connection: connection, Flags: marks, Records: numbers}}
		anonymous.begin(e)
		if anonymous.on && to == "" {
			return usage("--anonymize: expected --write with it, of which it makes IP and transport headers with other addresses")
		}
		if to != "" {
			if o.Anonymize, err = anonymous.mapping(args[:1]); err != nil {
				return err
			}
			return e.writePackets(cmd, args[0], filter, o, to)
		}
		ledger, err := analyze.Packets(cmd.Context(), args[0], filter, o, write)
		e.warn(ledger.Entries())
		return couldNot(err)
	}
	return cmd
}

// writePackets writes the packets that were selected to a file of their own.
func (e *env) writePackets(cmd *cobra.Command, path string, filter pcap.Filter, o analyze.Options, to string) error {
	return couldNot(e.product(to, func(w io.Writer) error {
		n, ledger, err := analyze.WritePackets(cmd.Context(), path, filter, o, w, "nettrace "+version())
		e.warn(ledger.Entries())
		if err == nil && to != "-" {
			fmt.Fprintf(e.stderr, "%s: %s packets\n", to, unit.Count(n))
		}
		return err
	}))
}
