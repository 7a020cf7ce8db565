package main

import "github.com/spf13/cobra"

func mergeCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge PARTIAL...",
		Short: "Judge together what analyze --partial read on several machines, or of the pieces of one capture",
		Example: `  nettrace analyze --partial x.pcap0 > 0.partial
  nettrace analyze --partial x.pcap1 > 1.partial
  nettrace merge 0.partial 1.partial`,
	}
	cmd.RunE = analyzeFlags(e, cmd)
	return cmd
}
