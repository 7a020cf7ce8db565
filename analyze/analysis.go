// Package analyze recognises what the user has, decodes it in one pass and judges it: it holds the table of formats, the
// table of rules, and the Result that every view shows.
package analyze

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nettrace/anonymize"
	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/lockstat"
	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// Options are what the user can set of an analysis. The zero value analyses with the defaults.
type Options struct {
	Stdin  io.Reader          // read where a path is "-"
	Format string             // the format of all inputs, instead of recognising it
	Params map[string]float64 // thresholds by "rule.name"
	// Interval is the time between snapshots whose names have no time.
	Interval unit.Nanos
	// Window has only the stack samples of a part of a recording's time read, where they have times.
	Window perf.Window
	// Times has profiles keep when their stacks were sampled, for flame.WriteHTML.
	Times bool
	// Symbols are files and folders that name the functions of binary recordings: kallsyms, System.map, ELF objects, build-id
	// caches, archives of perf archive. What lies beside a recording is used without being asked for.
	Symbols []string
	// Inlined has functions that the compiler inlined appear as frames of their own in binary recordings.
	Inlined bool
	// Connections bounds how many connections of a capture the result describes, those with most to tell first; 0 stands
	// for 1,000. All are judged.
	Connections int
	// WiresharkFlags has Packets and Records put the marks that Wireshark makes on packets in place of the analysis' own.
	WiresharkFlags bool
	// PayloadBytes is how many bytes of each packet's payload Packets and Records tell.
	PayloadBytes int
	// Marked has Packets and WritePackets take only packets with certain numbers or marks, or of one connection.
	Marked Marked
	// Anonymize, if set, has WritePackets write what pcap.Anonymizer makes of the packets.
	Anonymize *anonymize.Mapping
	// Progress, if set, is called now and then with the source that is read and the bytes of it that were.
	Progress func(path string, bytes int64)
}

// ErrNothing means that no source could be read or none was recognised.
var ErrNothing = errors.New("nothing to analyse")

// Run reads what is behind paths and judges it. Sources that cannot be read are returned as errors beside the result; one
// that is not recognised is an entry of the result. If ctx ends, what was read so far is judged and the result is marked
// partial.
func Run(ctx context.Context, paths []string, o Options) (*Result, []error) {
	a, errs := read(ctx, paths, o)
	a.observe()
	for _, rule := range rules() {
		a.fresh.Findings = append(a.fresh.Findings, rule.judge(&a.fresh.Models, o.Params)...)
	}
	return a.collect(), errs
}

// Inspect reads like Run and does not judge.
func Inspect(ctx context.Context, paths []string, o Options) (*Result, []error) {
	a, errs := read(ctx, paths, o)
	return a.collect(), errs
}

// analysis is what was read of the sources.
type analysis struct {
	fresh     Result            // from recordings
	outputs   []coalesce.Output // of them, to be joined to hosts when all are there
	names     coalesce.Names    // that the outputs share
	dumps     []lockstat.Dump   // cumulative lock tables among the models, of which the differences tell
	ledger    source.Ledger
	loaded    []*Result      // results that earlier runs wrote; their findings stay as they are
	capturing *capturing     // the capture that was read last, nil if nothing can go on with it
	partial   *partialWriter // of captures, which are then only written; else nil
	order     order
}

// read decodes all sources behind paths.
func read(ctx context.Context, paths []string, o Options) (*analysis, []error) {
	a := &analysis{}
	errs := a.gather(ctx, paths, o)
	a.fresh.Models.Locks = lockstat.Between(a.fresh.Models.Locks, a.dumps, &a.ledger)
	lockstat.Name(a.fresh.Models.Locks)
	a.fresh.Models.Hosts = coalesce.Join(a.outputs, coalesce.Options{Interval: o.Interval})
	return a, errs
}

// gather decodes all sources, and joins nothing.
func (a *analysis) gather(ctx context.Context, paths []string, o Options) []error {
	if o.Connections == 0 {
		o.Connections = 1000
	}
	formats := Formats()
	if o.Format != "" {
		names := formatNames(formats)
		formats = slices.DeleteFunc(formats, func(f Format) bool { return f.Name != o.Format })
		if len(formats) == 0 {
			return []error{fmt.Errorf("format %q is not known; the nearest is %q, nettrace formats lists all", o.Format, unit.Nearest(o.Format, names))}
		}
	}
	files, errs := source.Files(paths, &a.ledger)
	for _, p := range inTimeOrder(files) {
		a.order.now = p.place * placesEach
		for src, err := range source.Walk([]string{p.path}, o.Stdin, &a.ledger) {
			if err == nil {
				err = a.source(ctx, src, formats, o)
			}
			if err != nil {
				errs = append(errs, err)
			}
			if a.fresh.Partial = ctx.Err() != nil; a.fresh.Partial {
				break
			}
		}
		a.order.note(&a.order.sources, len(a.fresh.Sources))
		if a.fresh.Partial {
			break
		}
	}
	a.endCapture()
	restore(a.fresh.Sources, a.order.sources)
	restore(a.fresh.Models.Captures, a.order.captures)
	return errs
}

// source decodes one source.
func (a *analysis) source(ctx context.Context, src *source.Source, formats []Format, o Options) error {
	r := reader{analysis: a, ctx: ctx, formats: formats, src: src, options: o}
	err := r.read()
	if err := src.Input.Err(); err != nil && ctx.Err() == nil {
		a.ledger.Add("read-error", source.Warning, src.Input.Pos(), 1, readError(src, err))
	}
	return err
}

// watch tells how far reading has come, and ends it when ctx ends.
func watch(ctx context.Context, src *source.Source, o Options) {
	src.Input.Watch(func(read int64) error {
		if o.Progress != nil {
			o.Progress(src.Path, read)
		}
		return ctx.Err()
	})
}

func readError(src *source.Source, err error) string {
	if len(src.Layers) == 0 {
		return err.Error() + "; what came before is analysed"
	}
	return fmt.Sprintf("%v within the first %s bytes of the %s file; what was decompressed before is analysed", err, unit.Count(src.Stored()), strings.Join(src.Layers, ", "))
}

// collect returns what was read and what was loaded as one result.
func (a *analysis) collect() *Result {
	a.fresh.Ledger = a.ledger.Entries()
	if len(a.loaded) == 0 {
		return a.fresh.finish()
	}
	all := &Result{Reloaded: len(a.fresh.Sources) == 0}
	for _, r := range append(a.loaded, &a.fresh) {
		all.add(r)
	}
	return all.finish()
}

// UnknownParams returns the settings of set that name no threshold of any rule, with the nearest that does.
func UnknownParams(set map[string]float64, known []finding.Rule) error {
	names := []string{}
	for _, r := range known {
		for _, p := range r.Params {
			names = append(names, r.Name+"."+p.Name)
		}
	}
	for _, key := range slices.Sorted(keys(set)) {
		if !slices.Contains(names, key) {
			return fmt.Errorf("no threshold is called %q; the nearest is %q", key, unit.Nearest(key, names))
		}
	}
	return nil
}

func keys(m map[string]float64) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
