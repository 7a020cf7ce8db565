package perf

import (
	"io"

	"nettrace/unit"
)

// One recording has several consumers: the profile folds every sample, the lock table pairs lock events, the counters
// add up interrupts and packets of tracepoints. It is read once. A reader of a form that recordings have (the text of
// perf script, perf.data) is an Events; one loop (flame.FoldPerf) takes its events and shows those of tracepoints, in the
// order of the recording, to every watcher. A watcher keeps what it makes of them in a model that is bounded, and hands
// it over when the stream has ended; it never sees the samples of clocks and counters, so it costs nothing where there
// are no tracepoints.

// Events is a recording as a stream of events, in the order in which it holds them.
type Events interface {
	// Next returns the next event, valid until the next call. The error is io.EOF at the end; damage is in the ledger that
	// the reader was made with.
	Next() (*Event, error)
	// Header and Lost return what the part read so far tells of the recording and of its losses.
	Header() Header
	Lost() Lost
}

// Watcher is shown tracepoint events (Event.Tracepoint), in the order of the recording. It copies what it keeps of one.
type Watcher func(*Event)

// Each hands every event of a stream to take.
func Each(events Events, take func(*Event)) error {
	for {
		e, err := events.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		take(e)
	}
}

// Show shows an event to watchers if it is one of a tracepoint.
func Show(e *Event, watchers []Watcher) {
	if len(watchers) == 0 || !e.Tracepoint() {
		return
	}
	for _, w := range watchers {
		w(e)
	}
}

// Window is a part of a recording's time. The zero value is all of it.
type Window struct {
	From unit.Nanos // on the recording's clock
	To   unit.Nanos // 0 is the end of the recording
}

// Has reports whether an event happened within the window: at From or later, and before To. Events without a time are only in the zero
// window.
func (w Window) Has(e *Event) bool {
	return w == Window{} || e.HasTime && e.Time >= w.From && (w.To == 0 || e.Time < w.To)
}
