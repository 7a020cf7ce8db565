package analyze

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// sniffCapture recognises the capture formats by the first byte of their magic.
func sniffCapture(format pcap.Format) func([]byte) source.Match {
	return func(head []byte) source.Match {
		m := pcap.Sniff(head)
		if m != source.Strong {
			return m
		}
		of := pcap.FormatPcap
		switch head[0] {
		case 0x0a:
			of = pcap.FormatPcapng
		case 's':
			of = pcap.FormatSnoop
		}
		if of != format {
			return source.No
		}
		return m
	}
}

func readCapture(r *reader, out *Source) error {
	capture, info, err := track(r.ctx, r.src, &r.ledger, r.options, nil)
	if err != nil {
		return err
	}
	r.fresh.Models.Captures = append(r.fresh.Models.Captures, capture)
	out.Records, out.Epoch, out.Start, out.End = info.Packets, capture.EpochSeconds, capture.Start, capture.End
	out.Facts = captureFacts(info)
	return nil
}

// maxWorkers bounds the goroutines that judge packets: reading and decoding keeps no more than a few of them busy.
const maxWorkers = 4

// track reads a capture through the connection tracker and hands each packet to visit with its mark. Without visit,
// packets are judged on the other cores.
func track(ctx context.Context, src *source.Source, ledger *source.Ledger, o Options, visit func(*pcap.Packet, *pcap.Header, tcp.Mark) error) (*tcp.Capture, *pcap.Info, error) {
	watch(ctx, src, o)
	packets, err := pcap.NewReader(src.Input, ledger)
	if err != nil {
		return nil, nil, err
	}
	defer packets.Close()
	options := tcp.Options{MaxKept: o.Connections}
	if visit == nil {
		options.Workers = min(runtime.GOMAXPROCS(0)-1, maxWorkers)
	}
	tracker := tcp.NewTracker(src.Path, options, ledger)
	for {
		p, err := packets.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		h := tracker.Header()
		h.Decode(p)
		if h.Fault != 0 {
			h.Fault.Enter(ledger, source.Pos{Source: src.Path, Offset: p.Offset, Record: p.Record})
		}
		mark := tracker.Add(p, h)
		if visit == nil {
			continue
		}
		if err := visit(p, h, mark); err != nil {
			return nil, nil, err
		}
	}
	capture, info := tracker.Finish(), packets.Info()
	capture.Interfaces = info.Interfaces
	return capture, info, nil
}

// captureFacts tells what capinfos would.
func captureFacts(i *pcap.Info) []Fact {
	facts := []Fact{}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, Fact{name, value})
		}
	}
	for n, f := range i.Interfaces {
		parts := []string{f.LinkType.String()}
		if f.Name != "" {
			parts = append(parts, f.Name)
		}
		if f.SnapLen > 0 {
			parts = append(parts, fmt.Sprintf("snaplen %d", f.SnapLen))
		}
		if f.Filter != "" {
			parts = append(parts, "filter "+f.Filter)
		}
		parts = append(parts, unit.Count(f.Packets)+" packets")
		if f.Dropped > 0 || f.OSDrops > 0 {
			parts = append(parts, unit.Count(max(f.Dropped, 0)+max(f.OSDrops, 0))+" dropped by the capture")
		}
		add(fmt.Sprintf("interface %d", n), strings.Join(parts, ", "))
	}
	add("bytes", unit.Bytes(i.Bytes)+" on the link")
	if i.HasTime && i.Last > i.First {
		add("rate", unit.Number(float64(i.Packets)/(i.Last-i.First).Seconds())+" packets/s, "+unit.Number(float64(i.Bytes)*8/(i.Last-i.First).Seconds()/1e6)+" Mbit/s")
		add("last", time.Unix(0, int64(i.Last)).UTC().Format("2006-01-02 15:04:05.000000Z"))
	}
	if i.Cut > 0 {
		add("cut packets", unit.Count(i.Cut)+" by the snap length; their headers are read")
	}
	if i.Backwards > 0 {
		add("clock", unit.Count(i.Backwards)+" packets are earlier than the one before")
	}
	if i.Comments > 0 {
		add("comments", unit.Count(i.Comments))
	}
	add("writer", i.Writer)
	add("system", i.System)
	add("hardware", i.Hardware)
	return facts
}
