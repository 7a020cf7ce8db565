package main

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nettrace/collect"
)

func collectCommand(e *env) *cobra.Command {
	o := collect.Options{Question: collect.Latency, System: "linux"}
	if slices.Contains(collect.Systems(), runtime.GOOS) {
		o.System = runtime.GOOS
	}
	var question string
	var run bool
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Print the script that records a good bundle for a question",
		Long: `Print the script that records a good bundle for a question: settings, counters before and after, and recordings in
between, in files whose names pair and date them. The script's head says how long each step takes, what it costs and
what needs root. It changes nothing on the machine. Nothing runs without --run.`,
		Example: `  nettrace collect --for latency > collect.sh
  nettrace collect --for drops --interface eth2 --seconds 30
  nettrace collect --for cpu --system freebsd --peer`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&question, "for", string(o.Question), "latency, throughput, cpu or drops")
	cmd.Flags().StringVar(&o.System, "system", o.System, "linux or freebsd")
	cmd.Flags().StringVar(&o.Interface, "interface", "", "the interface to ask about; that of the default route if not given")
	cmd.Flags().IntVar(&o.Seconds, "seconds", 10, "how long recordings last")
	cmd.Flags().StringVar(&o.Folder, "dir", "", "folder for the files; named by host and time if not given")
	cmd.Flags().BoolVar(&o.Peer, "peer", false, "the script is for the other host: its files say so")
	cmd.Flags().BoolVar(&run, "run", false, "run the script here instead of printing it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Question = collect.Question(question)
		script, err := collect.Script(o)
		if err != nil {
			return usage("%v", err)
		}
		if !run {
			_, err = e.stdout.Write([]byte(script))
			return err
		}
		sh := exec.CommandContext(cmd.Context(), "sh", "-s")
		sh.Stdin, sh.Stdout, sh.Stderr = strings.NewReader(script), e.stdout, e.stderr
		if err := sh.Run(); err != nil {
			return failed("the script: %v", err)
		}
		return nil
	}
	return cmd
}
