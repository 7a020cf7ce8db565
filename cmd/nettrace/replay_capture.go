package main

import (
	"context"
	"os"
	"strings"

	"nettrace/analyze"
	"nettrace/datapath"
	"nettrace/report"
)

// playRecordings runs the connections of captures again.
func (e *env) playRecordings(ctx context.Context, paths []string, f *replayFlags, style report.Style) error {
	var nic *datapath.NIC
	if f.nic != "" {
		var err error
		if nic, err = datapath.NICByName(f.nic); err != nil {
			return usage("--nic: %v", err)
		}
	}
	changes := f.settings
	if f.against != "" {
		changes = append(changes, f.against)
	}
	var list []*datapath.Playback
	for _, path := range paths {
		recordings, ledger, err := analyze.Recordings(ctx, path, analyze.Options{Stdin: e.stdin})
		e.warn(ledger.Entries())
		if err != nil {
			return couldNot(err)
		}
		for _, r := range recordings {
			if f.connection != 0 && f.connection != r.Number {
				continue
			}
			p, err := r.Play(nic, strings.Join(changes, ","))
			if err != nil {
				return usage("%s, connection %d: %v", path, r.Number, err)
			}
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return failed("no connection with data among the inputs; nettrace flows lists the connections")
	}
	if f.write != "" {
		return e.writePlayed(list, f)
	}
	return e.showPlaybacks(list, f, style)
}

// writePlayed writes the one connection that was replayed as a capture.
func (e *env) writePlayed(list []*datapath.Playback, f *replayFlags) error {
	if len(list) > 1 {
		return usage("--write: %d connections; choose one with --connection", len(list))
	}
	out, err := os.Create(f.write)
	if err != nil {
		return couldNot(err)
	}
	err = list[0].WriteCapture(out, f.at, "nettrace")
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(f.write)
		return failed("--write %s: %v", f.write, err)
	}
	return nil
}

func (e *env) showPlaybacks(list []*datapath.Playback, f *replayFlags, style report.Style) error {
	switch {
	case f.explain > 0:
		moments, err := list[0].Explain(int(f.explain))
		if err != nil {
			return usage("--explain: %v", err)
		}
		if f.output == "json" {
			return report.TimelineJSON(e.stdout, moments)
		}
		return report.Timeline(e.stdout, moments, style)
	case f.output == "json":
		return report.PlaybacksJSON(e.stdout, list, f.packets)
	}
	return report.Playbacks(e.stdout, list, f.packets, style)
}
