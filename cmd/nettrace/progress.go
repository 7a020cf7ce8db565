package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"time"

	"nettrace/analyze"
	"nettrace/report"
	"nettrace/unit"
)

// Progress is shown from progressAfter on, and anew every progressEvery.
const (
	progressAfter = 100 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

// progress shows on a terminal how far reading has come: one line that is written over and at last erased.
type progress struct {
	w           io.Writer
	now         func() time.Time
	start, last time.Time
	shown       bool
}

// newProgress returns the progress line of the environment, or nil where stderr is no terminal.
func (e *env) newProgress() *progress {
	if !e.progress {
		return nil
	}
	return &progress{w: e.stderr, now: e.now, start: e.now()}
}

// inspect reads what is behind the paths, with progress.
func (e *env) inspect(ctx context.Context, paths []string, o analyze.Options) (*analyze.Result, []error) {
	p := e.newProgress()
	defer p.done()
	if p != nil {
		o.Progress = p.report
	}
	return analyze.Inspect(ctx, paths, o)
}

// report is analyze.Options.Progress.
func (p *progress) report(source string, bytes int64) {
	now := p.now()
	if now.Sub(p.start) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.w, "\r\x1b[Kreading %s: %s, %s", report.Clean(path.Base(source)), unit.Bytes(bytes), unit.Nanos(now.Sub(p.start)))
}

// done erases the line.
func (p *progress) done() {
	if p != nil && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
