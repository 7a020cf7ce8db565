package main

import (
	"github.com/spf13/cobra"

	"nettrace/report"
)

func formatsCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "formats",
		Short:   "List what can be read, and the command that records it",
		Example: `  nettrace formats`,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return report.Formats(e.stdout, e.style("auto", false)) },
	}
}
