package analyze

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"nettrace/flame"
	"nettrace/perf"
	"nettrace/source"
	"nettrace/symbol"
	"nettrace/unit"
)

// readPerfData reads a binary recording of perf. Names of functions come from the files that the user gave for them and
// from those beside the recording.
func readPerfData(r *reader, out *Source) error {
	watch(r.ctx, r.src, r.options)
	recording, closeAll, err := openPerfData(r.src, &r.ledger, r.options)
	if err != nil {
		return err
	}
	defer closeAll()
	return readEvents(r, out, r.src.Input.Pos(), func(o flame.PerfOptions) (*flame.Profile, error) {
		p, err := flame.FoldPerf(recording, source.Pos{Source: r.src.Path}, "perf-data", &r.ledger, o)
		if p != nil {
			out.Records, out.Facts = recording.Samples(), recordingFacts(recording)
			if out.Bytes = r.src.Bytes; out.Bytes < 0 {
				out.Bytes = r.src.Input.Offset()
			}
		}
		return p, err
	})
}

// openPerfData opens a recording with its symbols.
func openPerfData(src *source.Source, ledger *source.Ledger, o Options) (*perf.DataReader, func(), error) {
	options := perf.DataOptions{Inlined: o.Inlined}
	paths := o.Symbols
	var file *os.File
	if src.Seekable {
		path := filepath.FromSlash(src.Path)
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		file, options.At, options.Size = f, f, src.Bytes
		paths = append(paths[:len(paths):len(paths)], symbol.Beside(path)...)
	}
	files, errs := symbol.Open(paths)
	for _, err := range errs {
		ledger.Add("symbols-unreadable", source.Warning, source.Pos{Source: src.Path}, 1, err.Error())
	}
	options.Symbols = files
	recording, err := perf.NewDataReader(src.Input, ledger, options)
	if err != nil {
		if file != nil {
			file.Close()
		}
		return nil, nil, err
	}
	return recording, func() {
		recording.Close()
		if file != nil {
			file.Close()
		}
	}, nil
}

// recordingFacts tells of a recording what perf report --header-only does.
func recordingFacts(r *perf.DataReader) []Fact {
	h := r.Header()
	var facts []Fact
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, Fact{name, value})
		}
	}
	add("host", h.Host)
	add("kernel", h.Release)
	if h.CPUs > 0 {
		add("CPUs", strings.TrimSpace(fmt.Sprintf("%d %s", h.CPUs, h.CPU)))
	}
	add("perf", h.Version)
	add("command", h.Command)
	for _, a := range r.Attrs() {
		if a.Samples > 0 {
			add("sampled", fmt.Sprintf("%s, %s", a.Name, a.Rate()))
		}
	}
	if lost := r.Lost(); lost.Events > 0 {
		add("lost", unit.Count(lost.Events)+" samples")
	}
	for _, path := range r.SymbolFiles() {
		add("symbols", path)
	}
	return facts
}

// sniffKallsyms and sniffELF recognise the files that name functions, so that a folder of recordings with them is all
// understood. They are read when a recording needs them (symbol.Beside).
func sniffKallsyms(head []byte) source.Match {
	if symbol.SniffKallsyms(head) {
		return source.Strong
	}
	return source.No
}

func sniffELF(head []byte) source.Match {
	if bytes.HasPrefix(head, []byte("\x7fELF")) {
		return source.Strong
	}
	return source.No
}

// skipSymbols goes over a file of symbols.
func skipSymbols(r *reader, out *Source) error {
	_, err := io.Copy(io.Discard, r.src.Input)
	out.Note = "names functions of the binary recordings beside it"
	return err
}
