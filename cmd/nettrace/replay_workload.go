package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"nettrace/datapath"
	"nettrace/report"
)

// sweep simulates all combinations of the axes.
func (e *env) sweep(ctx context.Context, base datapath.Config, f *replayFlags, style report.Style) error {
	axes, err := datapath.ParseSweep(f.sweep)
	if err != nil {
		return usage("--sweep: %v", err)
	}
	w, err := datapath.ParseWorkload(f.workloads[0])
	if err != nil {
		return usage("--workload: %v", err)
	}
	note, done := e.sweeping()
	s, err := datapath.RunSweep(ctx, base, w, axes, f.seeds, note)
	done()
	if err != nil {
		return usage("--sweep: %v", err)
	}
	if f.plot != "" {
		if err := e.product(f.plot, func(to io.Writer) error { return report.SweepSVG(to, s) }); err != nil {
			return couldNot(err)
		}
	}
	if f.output == "json" {
		return report.SweepJSON(e.stdout, s)
	}
	return report.Sweep(e.stdout, s, style)
}

// sweeping returns what shows on a terminal how far a sweep has come, nil where there is none, and what erases it.
func (e *env) sweeping() (note func(done, total int), done func()) {
	if !e.progress {
		return nil, func() {}
	}
	var lock sync.Mutex
	start, last, shown := e.now(), time.Time{}, false
	note = func(done, total int) {
		lock.Lock()
		defer lock.Unlock()
		now := e.now()
		if now.Sub(start) < progressAfter || now.Sub(last) < progressEvery {
			return
		}
		last, shown = now, true
		fmt.Fprintf(e.stderr, "\r\x1b[Ksimulating: %d of %d", done, total)
	}
	return note, func() {
		if shown {
			fmt.Fprint(e.stderr, "\r\x1b[K")
		}
	}
}

// explainTransaction shows one transaction's timeline.
func (e *env) explainTransaction(base datapath.Config, f *replayFlags, style report.Style) error {
	w, err := datapath.ParseWorkload(f.workloads[0])
	if err != nil {
		return usage("--workload: %v", err)
	}
	moments, err := datapath.Explain(base, w, f.explain)
	if err != nil {
		return usage("--explain: %v", err)
	}
	if f.output == "json" {
		return report.TimelineJSON(e.stdout, moments)
	}
	return report.Timeline(e.stdout, moments, style)
}

// scenarios predicts workloads that are no requests and responses.
func (e *env) scenarios(ctx context.Context, f *replayFlags, style report.Style) error {
	sides := [][]string{f.settings}
	if f.against != "" {
		sides = append(sides, append(append([]string{}, f.settings...), f.against))
	}
	var list []*datapath.Scenario
	for _, w := range f.workloads {
		for _, settings := range sides {
			s, err := datapath.PredictScenario(ctx, w, settings)
			if err != nil {
				return usage("%v", err)
			}
			list = append(list, s)
		}
	}
	if f.output == "json" {
		return report.ScenariosJSON(e.stdout, list)
	}
	return report.Scenarios(e.stdout, list, style)
}
