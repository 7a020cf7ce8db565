package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/report"
	"nettrace/tcp"
)

func flowsCommand(e *env) *cobra.Command {
	var in inputFlags
	var output, color, sort, where, detail string
	var series int64
	cmd := &cobra.Command{
		Use:   "flows CAPTURE...",
		Short: "List the connections and UDP flows of captures: who, how long, how much, RTT, retransmissions, capture side",
		Example: `  nettrace flows fixtures/pcap/rr-4345-wire.pcap
  nettrace flows fixtures/pcap/rr-4345-wire.pcap --detail 1
  nettrace flows fixtures/pcap/rr-4345-wire.pcap -o json
  nettrace flows fixtures/pcap/many-conns.pcap --sort rtt --where 'server=5001 client_to_server.bytes>100'
  nettrace flows fixtures/pcap/udp-iperf3-receiver.pcap --detail u1
  nettrace flows fixtures/pcap/loss-queue-sender.pcap --series 1 -o csv`,
	}
	in.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json; ndjson or csv with --series")
	cmd.Flags().StringVar(&sort, "sort", "start", strings.Join(report.FlowSorts(), ", "))
	cmd.Flags().StringVar(&where, "where", "", "only flows whose fields, as -o json names them, fit all terms: server=443 round_trip_ns>1000000")
	cmd.Flags().Int64Var(&series, "series", 0, "the packets of the connection of this number for a time/sequence plot: numbers, ACKs, windows, bytes in flight, round trips")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.Flags().StringVar(&detail, "detail", "", "everything known of the connection of this number, or of the UDP flow (u1)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if series > 0 {
			return e.series(cmd, args, series, output)
		}
		o := report.FlowOptions{Sort: sort}
		var err error
		if o.Filter, err = analyze.ParseFieldFilter(where); err != nil {
			return usage("--where: %v", err)
		}
		if !slices.Contains(report.FlowSorts(), sort) {
			return usage("--sort %s: expected one of %s", sort, strings.Join(report.FlowSorts(), ", "))
		}
		if output != "json" && output != "text" {
			return usage("-o %s: expected text or json", output)
		}
		paths, err := e.paths(args)
		if err != nil {
			return err
		}
		r, errs := e.inspect(cmd.Context(), paths, analyze.Options{Stdin: e.stdin, Format: in.format, Connections: 1 << 20})
		r, err = e.judged(r, errs)
		switch {
		case r == nil:
			return err
		case len(r.Models.Captures) == 0:
			return failed("no capture among the inputs; nettrace inspect tells what they are")
		}
		err = errors.Join(couldNot(e.flows(r.Models.Captures, o, detail, output, color)), err)
		return errors.Join(err, status(r, "", in.strict))
	}
	return cmd
}

// flows prints the list of flows, or one of them.
func (e *env) flows(captures []*tcp.Capture, o report.FlowOptions, detail, output, color string) error {
	if detail == "" {
		if output == "json" {
			return report.FlowsJSON(e.stdout, captures, o)
		}
		return report.Flows(e.stdout, captures, o, e.style(color, false))
	}
	digits, datagrams := strings.CutPrefix(detail, "u")
	number, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil:
		return fmt.Errorf("--detail %s: expected the number of a connection, or of a UDP flow such as u1", detail)
	case datagrams:
		return report.DatagramFlow(e.stdout, captures, number, e.style(color, true))
	}
	return report.Flow(e.stdout, captures, number, e.style(color, true))
}

// series prints the packets of a connection for a plot.
func (e *env) series(cmd *cobra.Command, args []string, connection int64, output string) error {
	if output == "text" {
		output = "ndjson"
	}
	write, ok := report.TimeSequence(e.stdout, output)
	switch {
	case !ok:
		return usage("--series -o %s: expected ndjson or csv", output)
	case len(args) != 1:
		return usage("--series takes one capture")
	}
	ledger, err := analyze.TimeSequence(cmd.Context(), args[0], connection, analyze.Options{Stdin: e.stdin}, write)
	e.warn(ledger.Entries())
	return couldNot(err)
}
