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
	said, hidden := asItIs, (*pcap.Anonymizer)(nil)
	if o.Anonymize != nil {
		said, hidden = newRewriting(r, o.Anonymize).text, &pcap.Anonymizer{Mapping: o.Anonymize}
	}
	comments := commentsOf(r, said)
	err = eachCapture(path, nil, ledger, func(src *source.Source) error {
		n, err := writeSelected(ctx, src, filter, o.Marked, ledger, pcap.NewWriter(w, program), comments, hidden)
		written += n
		return err
	})
	return written, ledger, err
}

// WritePackets does the same of one capture of a result, by its path there.
func (r *Result) WritePackets(ctx context.Context, path string, filter pcap.Filter, marked Marked, w io.Writer, program string) (written int64, err error) {
	ledger := new(source.Ledger)
	err = eachCapture(path, nil, ledger, func(src *source.Source) error {
		written, err = writeSelected(ctx, src, filter, marked, ledger, pcap.NewWriter(w, program), commentsOf(r, asItIs), nil)
		return err
	})
	return written, err
}

func asItIs(s string) string { return s }

// commentsOf says what findings cite each record for, as said tells it.
func commentsOf(r *Result, said func(string) string) map[source.Pos][]string {
	comments := map[source.Pos][]string{}
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, e := range f.Evidence {
			if e.Record == 0 {
				continue
			}
			at := source.Pos{Source: e.Source, Record: e.Record}
			text := fmt.Sprintf("%s (%v): %s", f.Rule, f.Severity, said(e.Text))
			if !slices.Contains(comments[at], text) {
				comments[at] = append(comments[at], text)
			}
		}
	}
	return comments
}

func writeSelected(ctx context.Context, src *source.Source, filter pcap.Filter, marked Marked, ledger *source.Ledger, w *pcap.Writer, comments map[source.Pos][]string, hidden *pcap.Anonymizer) (n int64, err error) {
	packets, err := pcap.NewReader(src.Input, ledger)
	if err != nil {
		return 0, err
	}
	defer packets.Close()
	left := map[uint32]int64{}
	packets.Carry = func(kind uint32, bigEndian bool, body []byte) {
		if hidden != nil || !w.Carry(kind, bigEndian, body) {
			left[kind]++
		}
	}
	other := int64(0)
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
		on := &packets.Info().Interfaces[p.Interface]
		if hidden != nil {
			shown, ok := hidden.Packet(p, h)
			if !ok {
				other++
				continue
			}
			p, on = shown, hidden.Interface(on)
		}
		if err := w.Write(p, on, comments[source.Pos{Source: src.Path, Record: p.Record}]...); err != nil {
			return n, err
		}
		n++
	}
	for kind, count := range left {
		ledger.Add("block-not-carried", source.Note, source.Pos{Source: src.Path}, count, fmt.Sprintf("blocks of type %#x are not written again: they may hold names and secrets, or are of a big-endian section", kind))
	}
	if other > 0 {
		ledger.Add("not-anonymized", source.Note, source.Pos{Source: src.Path}, other, "packets that are not IP, such as ARP, are not written")
	}
	info := packets.Info()
	for i := range info.Interfaces {
		w.Statistics(i, &info.Interfaces[i], info.Last)
	}
	return n, w.Flush()
}
