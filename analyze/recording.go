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
		p, err := flame.FoldPerf(recording, source.Pos{Source: r.src.Path, Record: 1}, "perf-data", &r.ledger, o)
		if p != nil {
			out.Records, out.Facts = recording.Samples(), recordingFacts(recording)
			if out.Bytes = r.src.Bytes; out.Bytes < 0 || len(r.src.Layers) > 0 { // only reading it tells
				out.Bytes = r.src.Input.Offset()
			}
		}
		return p, err
	})
}

// readPMCLog reads a log of FreeBSD's hwpmc.
func readPMCLog(r *reader, out *Source) error {
	watch(r.ctx, r.src, r.options)
	log, err := openPMCLog(r.src, &r.ledger, r.options)
	if err != nil {
		return err
	}
	return readEvents(r, out, r.src.Input.Pos(), func(o flame.PerfOptions) (*flame.Profile, error) {
		p, err := flame.FoldPerf(log, source.Pos{Source: r.src.Path, Record: 1}, "hwpmc", &r.ledger, o)
		if p != nil {
			for _, e := range p.Events {
				out.Records += e.Samples
			}
			out.Facts = append(out.Facts, Fact{"log", log.Header().Version}, Fact{"CPU", log.Header().CPU})
			out.Facts = append(out.Facts, symbolFacts(log.SymbolFiles())...)
		}
		return p, err
	})
}

func openPMCLog(src *source.Source, ledger *source.Ledger, o Options) (*perf.PMCLogReader, error) {
	return perf.NewPMCLogReader(src.Input, ledger, openSymbols(src, ledger, o))
}

// openSymbols opens what the user gave to name functions, and what lies beside a recording.
func openSymbols(src *source.Source, ledger *source.Ledger, o Options) *symbol.Files {
	paths := o.Symbols
	if src.Seekable {
		paths = append(paths[:len(paths):len(paths)], symbol.Beside(filepath.FromSlash(src.Path))...)
	}
	files, errs := symbol.Open(paths)
	for _, err := range errs {
		ledger.Add("symbols-unreadable", source.Warning, source.Pos{Source: src.Path}, 1, err.Error())
	}
	return files
}

func symbolFacts(paths []string) (facts []Fact) {
	for _, path := range paths {
		facts = append(facts, Fact{"symbols", path})
	}
	return facts
}

// openPerfData opens a recording with its symbols.
func openPerfData(src *source.Source, ledger *source.Ledger, o Options) (*perf.DataReader, func(), error) {
	options := perf.DataOptions{Inlined: o.Inlined, Symbols: openSymbols(src, ledger, o)}
	var file *os.File
	if src.Seekable {
		f, err := os.Open(filepath.FromSlash(src.Path))
		if err != nil {
			return nil, nil, err
		}
		file, options.At, options.Size = f, f, src.Bytes
	}
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
	return append(facts, symbolFacts(r.SymbolFiles())...)
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

// skipKallsyms goes over the lines of the kernel's symbols.
func skipKallsyms(_ *reader, out *Source, l *source.Lines) error {
	for l.Next() {
		if !symbol.IsKallsym(l.Bytes()) && l.Complete() {
			l.Back()
			break
		}
		out.Records++
	}
	out.Note = symbolsNote
	return nil
}

const symbolsNote = "names functions of the binary recordings beside it"

// skipELF goes over an object. Its table of sections, mostly the last thing in it, tells whether it is whole.
func skipELF(r *reader, out *Source) error {
	head := bytes.Clone(r.src.Input.Peek(64))
	if _, err := io.Copy(io.Discard, r.src.Input); err != nil {
		return err
	}
	out.Note = symbolsNote
	if end := symbol.ObjectEnd(head); end > uint64(r.src.Input.Offset()) {
		r.ledger.Add("cut-input", source.Warning, r.src.Input.Pos(), 1, fmt.Sprintf("the object's table of sections ends at byte %d, the input before it; copy it again", end))
	}
	return nil
}
