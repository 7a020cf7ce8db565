package analyze

import (
	"context"
	"io"
	"path"
	"runtime"

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
	if r.partial != nil {
		return r.extract(out)
	}
	h, _ := readHead(r.src.Input.Peek(headOfCapture))
	return r.capture(out, h, func(t *trackerFeed) (*pcap.Info, error) {
		info, err := t.file(r.ctx, r.src, r.options)
		if out.Bytes == 0 {
			out.Bytes = r.src.Input.Offset()
		}
		return info, err
	})
}

// capture reads a capture that begins so, with feed, and describes it in out.
func (r *reader) capture(out *Source, h head, feed func(*trackerFeed) (*pcap.Info, error)) error {
	c, before := r.capturing, ""
	if c.goesOn(out.Path, h) {
		before = path.Base(c.path)
		c.tracker.Continue(out.Path, c.records, c.bytes)
	} else {
		r.endCapture()
		c = &capturing{tracker: newTracker(out.Path, &r.ledger, r.options, nil), place: r.order.now}
		r.capturing = c
	}
	info, err := feed(&trackerFeed{tracker: c.tracker, path: out.Path, ledger: &r.ledger, pace: &out.Pace})
	if err != nil {
		return err
	}
	c.path, c.interfaces = out.Path, together(c.interfaces, info.Interfaces)
	c.records, c.bytes = c.records+info.Packets, c.bytes+out.Bytes
	out.Records, out.Epoch, out.Facts = info.Packets, c.tracker.Epoch(), captureFacts(info)
	if before != "" {
		out.Facts = append(out.Facts, Fact{"goes on", "where " + before + " ends: both are read as one capture"})
	}
	if info.HasTime {
		epoch := unit.Nanos(out.Epoch) * unit.Second
		out.Start, out.End = info.First-epoch, info.Last-epoch
		out.Pace.Begin -= epoch
	}
	return nil
}

// endCapture ends the capture at hand: what is read next is none of it.
func (a *analysis) endCapture() {
	if a.capturing == nil {
		return
	}
	capture := a.capturing.tracker.Finish()
	capture.Interfaces = a.capturing.interfaces
	a.fresh.Models.Captures = append(a.fresh.Models.Captures, capture)
	a.order.captures = append(a.order.captures, a.capturing.place)
	a.capturing = nil
}

// Bounds of the goroutines that judge packets: reading and decoding keeps no more than a few of them busy. One alone makes
// the time a quarter shorter for a third more CPU time, since packets go from one core to the other (docs/performance.md).
const minWorkers, maxWorkers = 2, 4

// workers is how many goroutines judge packets beside the one that reads, on so many cores; 0 has that one judge them.
func workers(cores int) int {
	if cores-1 < minWorkers {
		return 0
	}
	return min(cores-1, maxWorkers)
}

// visitor gets each packet of a capture with its mark.
type visitor func(*pcap.Packet, *pcap.Header, tcp.Mark) error

// track reads a capture through the connection tracker and hands each packet to visit.
func track(ctx context.Context, src *source.Source, ledger *source.Ledger, o Options, visit visitor) (*tcp.Capture, *pcap.Info, error) {
	t := trackerFeed{tracker: newTracker(src.Path, ledger, o, visit), path: src.Path, ledger: ledger, visit: visit}
	info, err := t.file(ctx, src, o)
	if err != nil {
		return nil, nil, err
	}
	capture := t.tracker.Finish()
	capture.Interfaces = info.Interfaces
	return capture, info, nil
}

// newTracker makes the tracker of a capture. Without a visitor packets are judged on the other cores.
func newTracker(name string, ledger *source.Ledger, o Options, visit visitor) *tcp.Tracker {
	options := tcp.Options{MaxKept: o.Connections}
	if visit == nil {
		options.Workers = workers(runtime.GOMAXPROCS(0))
	}
	return tcp.NewTracker(name, options, ledger)
}

// trackerFeed decodes packets for a tracker.
type trackerFeed struct {
	tracker *tcp.Tracker
	path    string
	ledger  *source.Ledger
	visit   visitor      // may be nil
	pace    *source.Pace // of the packets, nil if nobody asks
}

// file reads a capture file.
func (t *trackerFeed) file(ctx context.Context, src *source.Source, o Options) (*pcap.Info, error) {
	watch(ctx, src, o)
	packets, err := pcap.NewReader(src.Input, t.ledger)
	if err != nil {
		return nil, err
	}
	defer packets.Close()
	for {
		p, err := packets.Next()
		if err == io.EOF {
			return packets.Info(), nil
		}
		if err != nil {
			return nil, err
		}
		if err := t.take(p); err != nil {
			return nil, err
		}
	}
}

func (t *trackerFeed) take(p *pcap.Packet) error {
	h := t.tracker.Header()
	h.Decode(p)
	if h.Fault != 0 {
		h.Fault.Enter(t.ledger, source.Pos{Source: t.path, Offset: p.Offset, Record: p.Record})
	}
	if t.pace != nil && p.HasTime {
		t.pace.Add(p.Time)
	}
	mark := t.tracker.Add(p, h)
	if t.visit == nil {
		return nil
	}
	return t.visit(p, h, mark)
}
