package analyze

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"nettrace/bench"
	"nettrace/coalesce"
	"nettrace/flame"
	"nettrace/lockstat"
	"nettrace/source"
	"nettrace/unit"
)

// reader decodes one source into the analysis.
type reader struct {
	*analysis
	ctx     context.Context
	formats []Format
	src     *source.Source
	options Options
	at      time.Time // that the text told last
}

// read recognises the source and decodes it: a binary format whole, a text output by output.
func (r *reader) read() error {
	r.src.Input.SkipMark()
	head := headOf(r.src.Input.Peek)
	whole := recognise(r.formats, head, true)
	if _, sure := quotation(head); sure {
		whole = nil // the output in the quotation is looked for below
	}
	if r.options.Format != "" {
		whole = &r.formats[0]
	}
	switch {
	case r.options.Format == "" && len(head) > 0 && coalesce.KernelPath(r.src.Path):
		return r.kernelFile()
	case len(head) == 0:
		r.unknown(false, "empty: the command printed nothing or failed")
		return nil
	case whole != nil && !whole.Text():
		out := r.begin(whole, source.Pos{})
		return r.end(out, whole.bytes(r, out))
	case whole == nil && binary(head):
		r.unknown(false, "binary, of no format that is read")
		return nil
	default:
		return r.text(whole)
	}
}

// kernelFile reads a file that stands under its path of /proc or /sys, as in a sosreport: its path says what its value is.
func (r *reader) kernelFile() error {
	k := slices.IndexFunc(r.formats, func(f Format) bool { return f.Name == "kernel-files" })
	lines := source.NewLines(r.src.Input, &r.ledger)
	out := r.begin(&r.formats[k], lines.Pos())
	return r.end(out, readOutput(coalesce.ReadKernelFile)(r, out, lines))
}

// text reads a text output by output. first is the format of the whole, if it is known already.
func (r *reader) text(first *Format) error {
	watch(r.ctx, r.src, r.options)
	lines := source.NewLines(r.src.Input, &r.ledger)
	found := 0
	for r.ctx.Err() == nil {
		head := headOf(lines.Head)
		if len(head) == 0 {
			break
		}
		f, quote := first, ""
		first = nil
		if f == nil {
			f, quote = r.output(head)
		}
		if f == nil {
			if lines.Next() {
				if t, ok := coalesce.ClockLine(lines.Bytes()); ok {
					r.at = t
				}
			}
			continue
		}
		found++
		if err := r.take(f, lines, quote); err != nil {
			return err
		}
	}
	if found == 0 {
		r.unknown(true, "text, of no format that is read")
	} else if !lines.Complete() {
		r.ledger.Add("no-final-newline", source.Note, lines.Pos(), 1, "the last line has no end; if the file was cut there, what followed is missing")
	}
	return nil
}

// output returns the format of the output that begins at head, and the prefix that quotes it. What surely is a quotation
// is read as one first: formats know their titles behind a prompt, which "> " could be, and behind blanks.
func (r *reader) output(head []byte) (*Format, string) {
	prefixes := []string{""}
	if quote, sure := quotation(head); quote != "" {
		prefixes = append(prefixes, quote)
		if sure {
			slices.Reverse(prefixes)
		}
	}
	for _, quote := range prefixes {
		text := head
		if quote != "" {
			text = source.Unquote(head, quote)
		}
		if f := recognise(r.formats, text, false); f != nil {
			return textual(f), quote
		}
	}
	return nil, ""
}

func textual(f *Format) *Format {
	if f.Text() {
		return f
	}
	return nil
}

// take lets f decode the output that begins at the next line.
func (r *reader) take(f *Format, lines *source.Lines, quote string) error {
	lines.Quoted(quote)
	lines.Foreign = foreign(r.formats, f)
	start := lines.Pos()
	out := r.begin(f, start)
	err := f.lines(r, out, lines)
	lines.Quoted("")
	if lines.Pos() == start { // nothing was taken: go on behind the line, so that reading ends
		lines.Next()
	}
	out.Bytes = lines.Pos().Offset - start.Offset
	return r.end(out, err)
}

// begin makes the entry of an output that begins at pos.
func (r *reader) begin(f *Format, pos source.Pos) *Source {
	role := ""
	if r.src.Name.Peer {
		role = "peer"
	}
	return &Source{Path: r.src.Path, Format: f.Name, Kind: f.Kind, Role: role, Offset: pos.Offset, Line: pos.Line, Compression: r.src.Layers}
}

// end enters the output into the result. Its error, if any, is one of the whole source.
func (r *reader) end(out *Source, err error) error {
	if out.Bytes == 0 {
		out.Bytes = r.src.Input.Offset()
	}
	if out.Kind != Written && (out.Kind != Capture || r.partial == nil) { // a written result brings the entries of its own sources
		r.fresh.Sources = append(r.fresh.Sources, *out)
	}
	if syntax := (*source.SyntaxError)(nil); err == nil || errors.As(err, &syntax) { // which has its place
		return err
	}
	return fmt.Errorf("%s: %w", r.src.Path, err)
}

func (r *reader) unknown(text bool, note string) {
	size := r.src.Bytes
	if size < 0 || len(r.src.Layers) > 0 { // only reading it tells
		io.Copy(io.Discard, r.src.Input) // an error ends the input, and is told from there
		size = r.src.Input.Offset()
	}
	r.fresh.Sources = append(r.fresh.Sources, Source{Path: r.src.Path, Bytes: size, Compression: r.src.Layers, Tried: tried(r.formats, text), Note: note})
}

// The functions below decode one output each and put it into the models.

func readLocks(decode func(*source.Lines, *source.Ledger) (*lockstat.Table, error)) func(*reader, *Source, *source.Lines) error {
	return readLockTables(func(l *source.Lines, ledger *source.Ledger) ([]*lockstat.Table, error) {
		table, err := decode(l, ledger)
		if table == nil {
			return nil, err
		}
		return []*lockstat.Table{table}, err
	})
}

func readLockTables(decode func(*source.Lines, *source.Ledger) ([]*lockstat.Table, error)) func(*reader, *Source, *source.Lines) error {
	return func(r *reader, out *Source, l *source.Lines) error {
		tables, err := decode(l, &r.ledger)
		for _, t := range tables {
			out.Records += int64(len(t.Rows))
			if t.Cumulative() {
				r.dumps = append(r.dumps, lockstat.Dump{Table: t, Name: r.src.Name, Mod: modified(r.src)})
			}
		}
		r.fresh.Models.Locks = append(r.fresh.Models.Locks, tables...)
		return err
	}
}

// modified is when the source's file was changed last, since 1970.
func modified(src *source.Source) unit.Nanos {
	if src.ModTime.IsZero() {
		return 0
	}
	return unit.Nanos(src.ModTime.UnixNano())
}

func readRuns(decode func(*source.Lines, *source.Ledger) ([]bench.Run, error)) func(*reader, *Source, *source.Lines) error {
	return func(r *reader, out *Source, l *source.Lines) error {
		runs, err := decode(l, &r.ledger)
		out.Records = int64(len(runs))
		r.fresh.Models.Runs = append(r.fresh.Models.Runs, runs...)
		return err
	}
}

func readOutput(decode func(*source.Lines, *source.Ledger) (*coalesce.Output, error)) func(*reader, *Source, *source.Lines) error {
	return func(r *reader, out *Source, l *source.Lines) error {
		o, err := decode(l, &r.ledger)
		if o != nil {
			o.Name, o.At, o.ModTime = r.src.Name, r.at, r.src.ModTime
			out.Records, out.Note = entries(o), noteOf(o)
			r.names.Share(o)
			r.outputs = append(r.outputs, *o)
		}
		return err
	}
}

// noteOf says what else is to be known of an output: that the tool had no answer, or what was assumed.
func noteOf(o *coalesce.Output) string {
	switch {
	case len(o.Interfaces) == 1 && o.Interfaces[0].Name != "" && strings.HasSuffix(o.Refusal, "not supported"):
		return fmt.Sprintf("not supported by %s: %s", o.Interfaces[0].Name, o.Refusal)
	case o.Refusal != "":
		return o.Refusal
	case o.Table != nil && o.Table.CPUsAssumed:
		return "its lines name no CPUs: they are taken as CPU 0, 1, 2... in order"
	}
	return ""
}

// entries counts the settings, counters or rows of an output.
func entries(o *coalesce.Output) (n int64) {
	for _, i := range o.Interfaces {
		n += int64(len(i.Settings) + len(i.Counters))
		if i.Driver != nil {
			n++
		}
	}
	if o.Table != nil {
		n += int64(len(o.Table.Rows))
	}
	if m := o.Machine; m != nil {
		n += int64(len(m.Nodes) + len(m.Affinities) + len(m.Steering) + len(m.Places) + len(m.Devices) + len(m.IdleStates) + len(m.Kernel))
	}
	return n + int64(len(o.Reported)+len(o.Sockets))
}

func readStacks(decode func(*source.Lines, *source.Ledger) (*flame.Profile, error)) func(*reader, *Source, *source.Lines) error {
	return func(r *reader, out *Source, l *source.Lines) error {
		p, err := decode(l, &r.ledger)
		return r.profile(out, p, err)
	}
}

func readProfile(decode func(*source.Input, *source.Ledger) (*flame.Profile, error)) func(*reader, *Source) error {
	return func(r *reader, out *Source) error {
		p, err := decode(r.src.Input, &r.ledger)
		return r.profile(out, p, err)
	}
}

func (r *reader) profile(out *Source, p *flame.Profile, err error) error {
	if p != nil {
		out.Events = p.Events
		r.fresh.Models.Profiles = append(r.fresh.Models.Profiles, p)
	}
	return err
}

func sniffResult(head []byte) source.Match {
	if h := bytes.TrimLeft(head, " \r\n\t"); bytes.HasPrefix(h, []byte("{")) && bytes.Contains(h[:min(len(h), 200)], []byte(`"schema"`)) &&
		bytes.Contains(h[:min(len(h), 200)], []byte(`"nettrace.result/`)) {
		return source.Strong
	}
	return source.No
}

func readResult(r *reader, out *Source) error {
	result, err := ReadResult(r.src.Input)
	if err != nil {
		return err
	}
	r.loaded = append(r.loaded, result)
	return nil
}
