package analyze

import (
	"context"
	"errors"
	"io"
	"slices"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// Bounds of a scan: packets whose marks are kept (12 bytes each), packets that a selection lists (8 bytes each), and
// how much is read between two looks at the context.
const (
	maxMarks    = 1 << 20
	maxSelected = 1 << 22
	scanBytes   = 4 << 20
)

// Scan reads the capture to its end, so that all its packets can be reached, and marks the first of them as the analysis
// does. note, if it is not nil, is called now and then with how far it is.
func (f *PacketFile) Scan(ctx context.Context, note func(Extent)) error {
	if f.file == nil || f.Extent().Done {
		return nil
	}
	in := source.NewInput(f.path, io.NewSectionReader(f.file, 0, 1<<62))
	reader, err := pcap.NewReader(in, &source.Ledger{})
	if err != nil {
		return err
	}
	s := scan{file: f, reader: reader, tracker: tcp.NewTracker(f.path, tcp.Options{}, &source.Ledger{}), next: scanBytes}
	for {
		p, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		s.take(p)
		if p.Offset >= s.next {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.publish(false, note)
		}
	}
	s.publish(true, note)
	return nil
}

// scan is a pass over a capture. Only what it publishes is seen by others.
type scan struct {
	file    *PacketFile
	reader  *pcap.Reader
	tracker *tcp.Tracker
	header  pcap.Header
	marks   []packedMark
	records int64
	bytes   int64
	next    int64 // offset at which to publish
	epoch   unit.Nanos
	timed   bool
}

func (s *scan) take(p *pcap.Packet) {
	s.records, s.bytes = p.Record, p.Offset
	if p.HasTime && !s.timed {
		s.epoch, s.timed = epochOf(p), true
	}
	if p.Record > maxMarks {
		return
	}
	s.header.Decode(p)
	for int64(len(s.marks)) < p.Record-1 { // blocks without a packet
		s.marks = append(s.marks, packedMark{})
	}
	s.marks = append(s.marks, pack(s.tracker.Add(p, &s.header)))
}

// publish makes what was read so far known. The copies of the index get rarer, so that they cost less than reading.
func (s *scan) publish(done bool, note func(Extent)) {
	index := snapshot(s.reader)
	f := s.file
	f.mu.Lock()
	f.index, f.marks = index, s.marks
	f.extent.Records, f.extent.Bytes, f.extent.Marked, f.extent.Done = max(s.records, f.extent.Records), s.bytes, int64(len(s.marks)), done
	if done {
		f.extent.Bytes = f.extent.Size
	}
	f.epoch, f.timed = s.epoch, s.timed
	extent := f.extent
	f.mu.Unlock()
	s.next = s.bytes + max(scanBytes, s.bytes/16)
	if note != nil {
		note(extent)
	}
}

// snapshot copies what the reader noted so far, which goes on changing while it reads.
func snapshot(r *pcap.Reader) *pcap.Index {
	x := r.Index()
	return &pcap.Index{Interfaces: slices.Clone(x.Interfaces), Sections: slices.Clone(x.Sections), Points: slices.Clone(x.Points)}
}

// markKept marks the packets that are kept.
func (f *PacketFile) markKept() {
	s := scan{file: f, tracker: tcp.NewTracker(f.path, tcp.Options{}, &source.Ledger{})}
	for i := range f.kept {
		s.take(&f.kept[i])
	}
	f.marks, f.extent.Marked = s.marks, int64(len(s.marks))
}

// Selection is what a filter lets through.
type Selection struct {
	Records []int64 // their numbers, ascending
	Read    int64   // up to this record
	More    bool    // the list is full: there may be more
	Done    bool
}

// Select lists the packets that a filter lets through. note is called now and then with what was found so far, and at the
// end; the slice that it gets only grows.
func (f *PacketFile) Select(ctx context.Context, filter pcap.Filter, note func(Selection)) error {
	var found Selection
	var h pcap.Header
	next, step := int64(0), int64(1024)
	if f.Extent().Records == 0 {
		note(Selection{Done: true})
		return nil
	}
	err := f.each(1, func(p *pcap.Packet) bool {
		h.Decode(p)
		found.Read = p.Record
		if filter.Match(p, &h) {
			found.More = len(found.Records) >= maxSelected
			if found.More {
				return false
			}
			found.Records = append(found.Records, p.Record)
		}
		if p.Record >= next {
			next, step = p.Record+step, min(step*2, 1<<18)
			note(found)
		}
		return ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	found.Done = true
	note(found)
	return err
}
