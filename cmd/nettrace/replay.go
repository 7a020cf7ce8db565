package main

import (
	"context"

	"github.com/spf13/cobra"

	"nettrace/datapath"
	"nettrace/report"
)

// replayFlags are what replay is asked for.
type replayFlags struct {
	workloads, settings               []string
	against, sweep, plot, nic, output string
	write, at                         string
	seeds                             int
	connection, explain               int64
	published, fit, packets           bool
}

func replayCommand(e *env) *cobra.Command {
	var f replayFlags
	var color string
	cmd := &cobra.Command{
		Use:   "replay [CAPTURE | --workload WORKLOAD | --published [TABLE...] | --fit [MACHINE...]]",
		Short: "Try settings in the reference model of the host's datapath",
		Long: `Try settings in the reference model of the host's datapath.

With a capture, what the applications of its connections did is recovered from the packets and done again: as it was
recorded, and under --set. Settings are nodelay, cork, tso, gso-max-segs, gro, delayed-ack (us), initial-window, round-trip (us)
and rate (Mb/s); with --nic (mlx4, tg3, net-dim and others) the card's moderation too, by ethtool's names.

With --workload rr:REQUEST,RESPONSE[,DEPTH], requests and responses run over receive interrupt moderation on both hosts. The
settings begin with those of the adaptive-rx thread (adaptive-rx on, rx-usecs 16, rx-frames 44, rx-usecs-high 128). Other
workloads: stream:BYTES,DEPTH (--set dma=per-fragment, per-page, none), send:BYTES (mode=copy, zero-copy), senders:N
(discipline=lock, ring, ring-abdicate), forward:PPS (driver=base, tagged, tagged-late, coal, coal-4x), receive:PPS (queues=N,
and what was recorded: ring=DESCRIPTORS, packet=US, flows=N or busiest=SHARE).

client. and server. before a name set one host.`,
		Example: `  nettrace replay fixtures/pcap/nagle-wwr-stall.pcap --set nodelay=on
  nettrace replay fixtures/pcap/delack-server.pcap --explain 8
  nettrace replay fixtures/pcap/nagle-wwr-stall.pcap --set nodelay=on --write nodelay.pcapng --at wire
  nettrace replay fixtures/pcap/rr-4345-sender.pcap --nic mlx4 --set rx-usecs=64,adaptive-rx=off
  nettrace replay --workload rr:4344,1 --workload rr:4345,1 --set adaptive-rx=on
  nettrace replay --workload rr:4345,1 --against adaptive-rx=off --seeds 5
  nettrace replay --workload rr:4345,1 --sweep rx-usecs-high=0..128/64,request=4344..4345
  nettrace replay --workload senders:16 --set discipline=ring --against discipline=ring-abdicate
  nettrace replay --published
  nettrace replay --published tg3-cpu map-pages
  nettrace replay --fit sdp`,
		Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().StringArrayVar(&f.workloads, "workload", nil, "rr:REQUEST,RESPONSE[,DEPTH] and others; several are shown beside each other")
	cmd.Flags().StringArrayVar(&f.settings, "set", nil, "a setting of both hosts, KEY=VALUE, by ethtool's names")
	cmd.Flags().StringVar(&f.against, "against", "", "KEY=VALUE,...: show the same with these changes beside it")
	cmd.Flags().StringVar(&f.sweep, "sweep", "", "KEY=FROM..TO/STEP,...: all combinations of settings, request, response and depth (one seed each, unless --seeds)")
	cmd.Flags().StringVar(&f.plot, "plot", "", "draw the sweep as SVG into this file")
	cmd.Flags().StringVar(&f.nic, "nic", "", "put a card with this driver's interrupt moderation into both hosts of a recording")
	cmd.Flags().Int64Var(&f.connection, "connection", 0, "replay only the connection of this number of the capture")
	cmd.Flags().BoolVar(&f.packets, "packets", false, "list the packets of the replay of a capture")
	cmd.Flags().StringVar(&f.write, "write", "", "write the packets of the replay of a capture into this pcapng file")
	cmd.Flags().StringVar(&f.at, "at", "", "with --write: where they are captured: client, server or wire; where the recording was, if not given")
	cmd.Flags().Int64Var(&f.explain, "explain", 0, "show where the time of the transaction or exchange of this number went")
	cmd.Flags().IntVar(&f.seeds, "seeds", datapath.DefaultSeeds, "runs that a prediction rests on")
	cmd.Flags().BoolVar(&f.published, "published", false, "predict the published figures instead: all tables, or those named")
	cmd.Flags().BoolVar(&f.fit, "fit", false, "calibrate the constants of all machines, or those named, and predict what was held out")
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.sweep != "" && !cmd.Flags().Changed("seeds") {
			f.seeds = 1
		}
		return e.replay(cmd.Context(), args, &f, e.style(color, false))
	}
	return cmd
}

func (e *env) replay(ctx context.Context, args []string, f *replayFlags, style report.Style) error {
	switch {
	case f.output != "text" && f.output != "json":
		return usage("-o %s: expected text or json", f.output)
	case f.published:
		return e.published(ctx, args, f.output, style)
	case f.fit:
		return e.fit(ctx, args, f.output, style)
	case len(args) > 0:
		return e.playRecordings(ctx, args, f, style)
	case len(f.workloads) == 0:
		return usage("a capture is needed, or --workload rr:REQUEST,RESPONSE, such as rr:4345,1")
	case datapath.IsScenario(f.workloads[0]):
		return e.scenarios(ctx, f, style)
	}
	base, err := f.config()
	if err != nil {
		return err
	}
	switch {
	case f.sweep != "":
		return e.sweep(ctx, base, f, style)
	case f.explain > 0:
		return e.explainTransaction(base, f, style)
	}
	replays, err := replays(ctx, base, f)
	if err != nil {
		return err
	}
	if f.output == "json" {
		return report.ReplayJSON(e.stdout, replays)
	}
	return report.Replay(e.stdout, replays, style)
}

// config is the thread's settings with those that are asked for.
func (f *replayFlags) config() (datapath.Config, error) {
	base := datapath.Thread()
	for _, s := range f.settings {
		if err := base.Apply(s); err != nil {
			return base, usage("--set: %v", err)
		}
	}
	return base, nil
}

// replays runs each workload under the settings, and under those with the changes of against.
func replays(ctx context.Context, base datapath.Config, f *replayFlags) ([]*datapath.Replay, error) {
	configs := []datapath.Config{base}
	if f.against != "" {
		changed := base
		if err := changed.Apply(f.against); err != nil {
			return nil, usage("--against: %v", err)
		}
		configs = append(configs, changed)
	}
	var list []*datapath.Replay
	for _, text := range f.workloads {
		w, err := datapath.ParseWorkload(text)
		if err != nil {
			return nil, usage("--workload: %v", err)
		}
		for _, c := range configs {
			r, err := datapath.Seeds(ctx, c, w, f.seeds)
			if err != nil {
				return nil, usage("%v", err)
			}
			list = append(list, r)
		}
	}
	return list, nil
}
