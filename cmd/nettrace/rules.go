package main

import (
	"slices"

	"github.com/spf13/cobra"

	"nettrace/report"
	"nettrace/unit"
)

func rulesCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "rules",
		Short:   "List what is looked for",
		Example: `  nettrace rules`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return report.Rules(e.stdout, allRules(), e.style("auto", false))
		},
	}
}

func explainCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "explain RULE",
		Short:   "Explain a rule: method, thresholds with their sources, what may fool it, references",
		Example: `  nettrace explain tcp/stretch-ack`,
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ruleNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			for _, r := range allRules() {
				if r.Name == args[0] {
					return report.Explain(e.stdout, r, e.style("auto", true))
				}
			}
			return failed("no rule is called %q; the nearest is %q, nettrace rules lists all", args[0], unit.Nearest(args[0], ruleNames()))
		},
	}
}

func ruleNames() []string {
	var names []string
	for _, r := range allRules() {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}
