package main

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nettrace/unit"
)

// newRoot returns the program's commands. A path alone is analysed.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "nettrace PATH...",
		Short: "Say what costs network performance, from captures, lock statistics, stacks, counters and benchmark logs",
		Long: `nettrace reads what was recorded on a machine whose network is slow (packet captures, lock statistics, stack samples,
NIC and interrupt counters, settings, benchmark logs), says what costs performance and how sure it is, and shows the
bytes that prove it. Formats are recognised by content; several paths, folders and archives are one incident.`,
		Example: `  nettrace analyze fixtures/bundles/rr-4345
  nettrace inspect fixtures/bundles/rr-4345
  nettrace explain cross/adaptive-rx`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true, Use: "no-help"})
	run := analyzeFlags(e, root)
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && !e.piped {
			if err := cmd.Help(); err != nil {
				return err
			}
			return exit{exitUsage, ""}
		}
		if len(args) > 0 {
			if err := notACommand(root, args[0]); err != nil {
				return err
			}
		}
		return run(cmd, args)
	}
	root.AddCommand(analyzeCommand(e), inspectCommand(e), recordsCommand(e), packetsCommand(e), flowsCommand(e), flameCommand(e), locksCommand(e), reportCommand(e), exploreCommand(e), compareCommand(e), countersCommand(e), replayCommand(e), mergeCommand(e),
		formatsCommand(e), rulesCommand(e), explainCommand(e), collectCommand(e), demoCommand(e), completionCommand(e), manCommand(e), versionCommand(e))
	root.SetUsageTemplate(root.UsageTemplate() + `
Exit status: 0 done; 1 could not do it; 2 usage; 3 findings at or above --fail-on; 4 input damaged, with --strict;
130 interrupted, what was learnt so far was printed.
`)
	return root
}

// notACommand tells a mistyped command from a path.
func notACommand(root *cobra.Command, word string) error {
	if _, err := os.Stat(word); strings.ContainsAny(word, `-./\`) || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return usage("%s: no such file or command; the nearest command is %q", word, unit.Nearest(word, commandNames(root)))
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	slices.Sort(names)
	return names
}
