package main

import (
	"context"

	"github.com/spf13/cobra"

	"nettrace/datapath"
	"nettrace/report"
)

func replayCommand(e *env) *cobra.Command {
	var workloads, settings []string
	var against, output, color string
	var seeds int
	var published, fit bool
	cmd := &cobra.Command{
		Use:   "replay --workload rr:REQUEST,RESPONSE[,DEPTH]",
		Short: "Try settings in the reference model of the host's datapath",
		Long: `Try settings in the reference model of the host's datapath: requests and responses over receive interrupt moderation
on both hosts, with mlx4's automatic rule or fixed values. The settings begin with those of the adaptive-rx thread
(adaptive-rx on, rx-usecs 16, rx-frames 44, rx-usecs-high 128); client. and server. before a name set one host.`,
		Example: `  nettrace replay --workload rr:4344,1 --workload rr:4345,1 --set adaptive-rx=on
  nettrace replay --workload rr:4345,1 --against adaptive-rx=off --seeds 5
  nettrace replay --published
  nettrace replay --published tg3-cpu map-pages
  nettrace replay --fit sdp`,
		Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().StringArrayVar(&workloads, "workload", nil, "rr:REQUEST,RESPONSE[,DEPTH] in bytes; several are shown beside each other")
	cmd.Flags().StringArrayVar(&settings, "set", nil, "a setting of both hosts, KEY=VALUE, by ethtool's names")
	cmd.Flags().StringVar(&against, "against", "", "KEY=VALUE,...: show the same with these changes beside it")
	cmd.Flags().IntVar(&seeds, "seeds", datapath.DefaultSeeds, "runs that a prediction rests on")
	cmd.Flags().BoolVar(&published, "published", false, "predict the published figures instead: all tables, or those named")
	cmd.Flags().BoolVar(&fit, "fit", false, "calibrate the constants of all machines, or those named, and predict what was held out")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		style := e.style(color, false)
		switch {
		case output != "text" && output != "json":
			return usage("-o %s: expected text or json", output)
		case published:
			return e.published(cmd.Context(), args, output, style)
		case fit:
			return e.fit(cmd.Context(), args, output, style)
		}
		replays, err := replays(cmd.Context(), workloads, settings, against, seeds)
		if err != nil {
			return err
		}
		if output == "json" {
			return report.ReplayJSON(e.stdout, replays)
		}
		return report.Replay(e.stdout, replays, style)
	}
	return cmd
}

// replays runs each workload under the settings, and under those with the changes of against.
func replays(ctx context.Context, workloads, settings []string, against string, seeds int) ([]*datapath.Replay, error) {
	if len(workloads) == 0 {
		return nil, usage("--workload rr:REQUEST,RESPONSE is needed, such as rr:4345,1")
	}
	base := datapath.Thread()
	for _, s := range settings {
		if err := base.Apply(s); err != nil {
			return nil, usage("--set: %v", err)
		}
	}
	configs := []datapath.Config{base}
	if against != "" {
		changed := base
		if err := changed.Apply(against); err != nil {
			return nil, usage("--against: %v", err)
		}
		configs = append(configs, changed)
	}
	var list []*datapath.Replay
	for _, text := range workloads {
		w, err := datapath.ParseWorkload(text)
		if err != nil {
			return nil, usage("--workload: %v", err)
		}
		for _, c := range configs {
			r, err := datapath.Seeds(ctx, c, w, seeds)
			if err != nil {
				return nil, usage("%v", err)
			}
			list = append(list, r)
		}
	}
	return list, nil
}

// published predicts the published tables.
func (e *env) published(ctx context.Context, tables []string, output string, style report.Style) error {
	predicted, err := datapath.Published(ctx, tables...)
	if err != nil {
		return couldNot(err)
	}
	if output == "json" {
		return report.PublishedJSON(e.stdout, predicted)
	}
	return report.Published(e.stdout, predicted, style)
}

// fit calibrates the constants of machines.
func (e *env) fit(ctx context.Context, machines []string, output string, style report.Style) error {
	if len(machines) == 0 {
		machines = datapath.Machines()
	}
	var fits []*datapath.Fit
	for _, name := range machines {
		f, err := datapath.FitMachine(ctx, name)
		if err != nil {
			return couldNot(err)
		}
		fits = append(fits, f)
	}
	if output == "json" {
		return report.FitsJSON(e.stdout, fits)
	}
	return report.Fits(e.stdout, fits, style)
}
