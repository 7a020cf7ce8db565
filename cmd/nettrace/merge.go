package main

import "github.com/spf13/cobra"

func mergeCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge PARTIAL...",
		Short: "Judge together what analyze --partial read on several machines, or of the pieces of one capture",
		Example: `  nettrace analyze --partial fixtures/pcap/rr-4345-wire.pcap
  nettrace merge fixtures/partials/rr-4345-sender.partial fixtures/partials/rr-4345-wire.partial`,
	}
	cmd.RunE = analyzeFlags(e, cmd)
	return cmd
}
