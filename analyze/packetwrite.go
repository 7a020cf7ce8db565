package analyze

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
)

// WritePackets writes the packets of a capture that the filter and o let through as pcapng, with what findings say of them as
// comments. It reads the capture twice, so that it cannot be a pipe. It returns how many packets were written.
func WritePackets(ctx context.Context, path string, filter pcap.Filter, o Options, w io.Writer, program string) (written int64, ledger *source.Ledger, err error) {
	ledger = new(source.Ledger)
	if path == "-" {
		return 0, ledger, errors.New("-: written packets carry the findings, for which the capture is read twice; give a file")
	}
	r, errs := Run(ctx, []string{path}, o)
	if r == nil {
		return 0, ledger, errors.Join(errs...)
	}
	comments := commentsOf(r)
	for src, err := range source.Walk([]string{path}, nil, ledger) {
		if err != nil {
			return written, ledger, err
		}
		if f := recognise(Formats(), src.Input.Peek(headBytes), true); f == nil || f.Kind != Capture {
			return written, ledger, fmt.Errorf("%s: no capture: expected pcap, pcapng or snoop; nettrace inspect tells what it is", src.Path)
		}
		n, err := writeSelected(ctx, src, filter, o, ledger, pcap.NewWriter(w, program), comments)
		if written += n; err != nil {
			return written, ledger, err
		}
	}
	return written, ledger, nil
}

// commentsOf says what findings cite each record for.
func commentsOf(r *Result) map[source.Pos][]string {
	comments := map[source.Pos][]string{}
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, e := range f.Evidence {
			if e.Record == 0 {
				continue
			}
			at := source.Pos{Source: e.Source, Record: e.Record}
			text := fmt.Sprintf("%s (%v): %s", f.Rule, f.Severity, e.Text)
			if !slices.Contains(comments[at], text) {
				comments[at] = append(comments[at], text)
			}
		}
	}
	return comments
}

func writeSelected(ctx context.Context, src *source.Source, filter pcap.Filter, o Options, ledger *source.Ledger, w *pcap.Writer, comments map[source.Pos][]string) (n int64, err error) {
	packets, err := pcap.NewReader(src.Input, ledger)
	if err != nil {
		return 0, err
	}
	defer packets.Close()
	left := map[uint32]int64{}
	packets.Carry = func(kind uint32, bigEndian bool, body []byte) {
		if !w.Carry(kind, bigEndian, body) {
			left[kind]++
		}
	}
	tracker := tcp.NewTracker(src.Path, tcp.Options{}, new(source.Ledger))
	for {
		p, err := packets.Next()
		if err == io.EOF {
			break
		}
		if err != nil || ctx.Err() != nil {
			return n, errors.Join(err, ctx.Err())
		}
		h := tracker.Header()
		h.Decode(p)
		if mark := tracker.Add(p, h); !filter.Match(p, h) || !o.Marked.match(mark) {
			continue
		}
		info := packets.Info()
		if err := w.Write(p, &info.Interfaces[p.Interface], comments[source.Pos{Source: src.Path, Record: p.Record}]...); err != nil {
			return n, err
		}
		n++
	}
	for kind, count := range left {
		ledger.Add("block-not-carried", source.Note, source.Pos{Source: src.Path}, count, fmt.Sprintf("blocks of type %#x of a big-endian section are not written again", kind))
	}
	info := packets.Info()
	for i := range info.Interfaces {
		w.Statistics(i, &info.Interfaces[i], info.Last)
	}
	return n, w.Flush()
}

// Marked selects packets by what the analysis says of them. The zero value lets every packet through.
type Marked struct {
	Connection int64    // its number, 0 for any
	Flags      []string // of which the packet must have one; none for any
}

func (m Marked) match(mark tcp.Mark) bool {
	if m.Connection != 0 && m.Connection != mark.Connection {
		return false
	}
	if len(m.Flags) == 0 {
		return true
	}
	for _, name := range mark.Flags.Names() {
		if slices.Contains(m.Flags, name) {
			return true
		}
	}
	return false
}

// ParseFlags reads a list of the names of flags, separated by commas.
func ParseFlags(text string) (list []string, err error) {
	if text == "" {
		return nil, nil
	}
	known := tcp.FlagNames()
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no flag %q; there are %s", name, strings.Join(known, ", "))
		}
		list = append(list, name)
	}
	return list, nil
}
