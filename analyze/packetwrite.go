package analyze

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

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
	err = eachCapture(path, nil, ledger, func(src *source.Source) error {
		n, err := writeSelected(ctx, src, filter, o.Marked, ledger, pcap.NewWriter(w, program), comments)
		written += n
		return err
	})
	return written, ledger, err
}

// WritePackets does the same of one capture of a result, by its path there.
func (r *Result) WritePackets(ctx context.Context, path string, filter pcap.Filter, marked Marked, w io.Writer, program string) (written int64, err error) {
	ledger := new(source.Ledger)
	err = eachCapture(path, nil, ledger, func(src *source.Source) error {
		written, err = writeSelected(ctx, src, filter, marked, ledger, pcap.NewWriter(w, program), commentsOf(r))
		return err
	})
	return written, err
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

func writeSelected(ctx context.Context, src *source.Source, filter pcap.Filter, marked Marked, ledger *source.Ledger, w *pcap.Writer, comments map[source.Pos][]string) (n int64, err error) {
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
		if mark := tracker.Add(p, h); !filter.Match(p, h) || !marked.match(p.Record, mark) {
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
