package perf

// The text of `perf script` (perf 3.x to 6.x; simpleperf's report-sample prints nearly the same, with tabs):
//
//	iperf3 10469 [000]   621.000803:    1001001 cpu-clock:
//		ffffffff81b6ccb0 _copy_to_iter+0x80 ([kernel.kallsyms])
//		           f82ad read+0xd (/usr/lib/x86_64-linux-gnu/libc.so.6)
//
// A blank line ends a sample. Without call chains a sample is one line, its thread name right-aligned, with a frame or a
// tracepoint's fields at the end. Columns come and go with -F and the version; without a time, an event and a call chain,
// nothing tells a sample from other text, and it is not recognised. Source: tools/perf/builtin-script.c and
// util/evsel_fprintf.c of Linux 6.1.
//
// Left out: source lines (-F +srcline), instructions and branches (-F +brstack, +brstackinsn), since a stack is told by
// its functions; the side records (PERF_RECORD_*) but for what they say of losses; event attributes in # lines.

import (
	"io"

	"nettrace/source"
)

// ScriptReader reads samples from the text of `perf script`. It stops before the first line that is not of that text. It
// is an Events.
type ScriptReader struct {
	text  *decoder // of what is decoded here
	ahead *ahead   // of what is decoded on other CPUs; nil without any
	batch *batch   // whose events are given out now; nil for none
}

// NewScriptReader reads from the line that lines will give next. Damage, losses and what was left out go to the ledger.
func NewScriptReader(lines *source.Lines, ledger *source.Ledger) *ScriptReader {
	return &ScriptReader{text: newDecoder(lines, ledger, newNameTable())}
}

// Ahead has parts of a long text decoded at the same time, by so many goroutines. What Next returns is the same, but for the
// numbers of functions.
func (r *ScriptReader) Ahead(workers int) *ScriptReader {
	if workers > 1 {
		r.ahead = newAhead(r.text, workers, blockSize)
	}
	return r
}

// Header returns what the # lines read so far told.
func (r *ScriptReader) Header() Header { return r.text.header }

// Lost returns what the recorder said so far that it lost.
func (r *ScriptReader) Lost() Lost { return r.text.lost }

// Next returns the next sample. The error is io.EOF at the end of the output; damage is in the ledger.
func (r *ScriptReader) Next() (*Event, error) {
	if r.ahead != nil {
		if e := r.nextAhead(); e != nil {
			return e, nil
		}
	}
	if e := r.text.next(); e != nil {
		return e, nil
	}
	r.text.close()
	return nil, io.EOF
}
