package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"nettrace/unit"
)

func manCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "man [COMMAND]",
		Short:   "Print the manual page of nettrace or of one command",
		Example: `  nettrace man analyze`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			page := cmd.Root()
			if len(args) > 0 {
				if page = subcommand(cmd.Root(), args[0]); page == nil {
					return usage("no command is called %q; the nearest is %q", args[0], unit.Nearest(args[0], commandNames(cmd.Root())))
				}
			}
			page.DisableAutoGenTag = true
			date := time.Unix(0, 0) // the same bytes from every run; the page's footer shows no date
			return doc.GenMan(page, &doc.GenManHeader{Section: "1", Source: "nettrace", Manual: "nettrace manual", Date: &date}, e.stdout)
		},
	}
}

func subcommand(root *cobra.Command, name string) *cobra.Command {
	for _, c := range root.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}
