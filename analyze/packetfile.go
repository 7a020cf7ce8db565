package analyze

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// Bounds of a packet file: what is read when it is opened, and what is kept of a capture that cannot be read again.
const (
	openBytes   = 1 << 20
	openPackets = 1024
	keptBytes   = 8 << 20
	keptPackets = 10_000
)

// PacketFile gives the packets of one capture by their numbers, for views that show a few of very many. Any packet of a
// plain file is a seek and about 1 MiB of decoding away; of a compressed, archived or piped capture only the first
// packets are kept. Its methods may be called from several goroutines.
type PacketFile struct {
	path  string
	file  *os.File      // nil if the capture cannot be read again
	limit string        // why only the first packets are there
	kept  []pcap.Packet // those

	mu     sync.Mutex // guards what Scan adds
	index  *pcap.Index
	extent Extent
	epoch  unit.Nanos // times of rows are since it: the whole second of the first packet with a time
	timed  bool
	marks  []packedMark // of the first packets, from record 1 on
}

// Extent tells how far a packet file reaches so far.
type Extent struct {
	Records int64 // number of the last record that can be shown
	Bytes   int64 // read so far
	Size    int64 // of the file, 0 if unknown
	Marked  int64 // records up to this one have the marks of the analysis
	Done    bool  // read to the end
}

// OpenPacketFile opens the capture behind a source's path and reads its first packets.
func OpenPacketFile(path string) (*PacketFile, error) {
	f := &PacketFile{path: path}
	err := Reopen(path, func(src *source.Source) error {
		if src.Seekable {
			return f.open(src)
		}
		why := "it is a member of an archive: extract it to see all packets"
		if len(src.Layers) > 0 {
			why = "it is compressed (" + strings.Join(src.Layers, ", ") + "): decompress it to a plain file to see all packets"
		}
		return f.keep(src.Input, "only the first packets are kept: "+why)
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// KeepPackets keeps the first packets of a capture that is read only once, such as one from a pipe. If r holds only the
// beginning of it, why says so.
func KeepPackets(name string, r io.Reader, why string) (*PacketFile, error) {
	f := &PacketFile{path: name, limit: why}
	return f, f.keep(source.NewInput(name, r), why)
}

func (f *PacketFile) open(src *source.Source) error {
	reader, err := captureReader(src.Input)
	if err != nil {
		return err
	}
	if f.file, err = os.Open(filepath.FromSlash(src.Path)); err != nil {
		return err
	}
	f.extent.Size = src.Bytes
	for f.extent.Records < openPackets && f.extent.Bytes < openBytes {
		p, err := reader.Next()
		if err != nil {
			break
		}
		f.extent.Records, f.extent.Bytes = p.Record, p.Offset
		f.starts(p)
	}
	f.index = snapshot(reader)
	return nil
}

// keep copies the first packets. why says why there may be more of them.
func (f *PacketFile) keep(in *source.Input, why string) error {
	reader, err := captureReader(in)
	if err != nil {
		return err
	}
	for size := 0; ; {
		p, err := reader.Next()
		if err != nil {
			break
		}
		if len(f.kept) >= keptPackets || size >= keptBytes {
			f.limit = why
			break
		}
		f.starts(p)
		f.kept = append(f.kept, p.Copy())
		size += len(p.Data)
	}
	f.extent = Extent{Bytes: in.Offset(), Done: true}
	if n := len(f.kept); n > 0 {
		f.extent.Records = f.kept[n-1].Record
	}
	f.markKept()
	return nil
}

func captureReader(in *source.Input) (*pcap.Reader, error) {
	if f := recognise(Formats(), in.Peek(headBytes), true); f == nil || f.Kind != Capture {
		return nil, fmt.Errorf("%s: no capture: expected pcap, pcapng or snoop", in.Name())
	}
	return pcap.NewReader(in, &source.Ledger{})
}

// starts takes the epoch from the first packet that has a time, as the analysis does.
func (f *PacketFile) starts(p *pcap.Packet) {
	if p.HasTime && !f.timed {
		f.epoch, f.timed = epochOf(p), true
	}
}

// epochOf returns the whole second of a packet, from which the times of its capture count.
func epochOf(p *pcap.Packet) unit.Nanos { return p.Time - p.Time%unit.Second }

// Path returns the source's path.
func (f *PacketFile) Path() string { return f.path }

// Limit says why only the first packets can be shown; it is empty if all can.
func (f *PacketFile) Limit() string { return f.limit }

// Extent tells how far the file reaches so far.
func (f *PacketFile) Extent() Extent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.extent
}

// Close gives the file back.
func (f *PacketFile) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Rows returns up to n packets from a record on; fewer at the end of what was read, and where blocks without a packet
// have numbers of their own.
func (f *PacketFile) Rows(from int64, n int) ([]PacketRecord, error) {
	last := min(from+int64(n)-1, f.Extent().Records)
	if last < from {
		return nil, nil
	}
	rows := make([]PacketRecord, 0, last-from+1)
	err := f.each(from, func(p *pcap.Packet) bool {
		if p.Record > last {
			return false
		}
		var h pcap.Header
		h.Decode(p)
		rows = append(rows, PacketRecord{})
		row := &rows[len(rows)-1]
		mark, _ := f.mark(p.Record)
		row.fill(p, &h, mark, f.begin())
		return p.Record < last
	})
	return rows, err
}

// Packet is one opened packet.
type Packet struct {
	PacketRecord
	LinkType string
	Comments []string
	Layers   []pcap.Layer
	Data     []byte
}

// Packet opens the packet of a record.
func (f *PacketFile) Packet(record int64) (*Packet, error) {
	var opened *Packet
	err := f.each(record, func(p *pcap.Packet) bool {
		if p.Record == record {
			var h pcap.Header
			h.Decode(p)
			whole := p.Copy()
			opened = &Packet{LinkType: p.LinkType.String(), Comments: p.Comments(), Layers: pcap.Layers(&whole), Data: whole.Data}
			mark, _ := f.mark(record)
			opened.fill(p, &h, mark, f.begin())
		}
		return false
	})
	if err == nil && opened == nil {
		err = fmt.Errorf("%s: record %s is a block without a packet", f.path, unit.Count(record))
	}
	return opened, err
}

// each visits the packets from a record on until visit returns false or the capture ends.
func (f *PacketFile) each(from int64, visit func(*pcap.Packet) bool) error {
	if f.file == nil {
		for i := range f.kept {
			if f.kept[i].Record >= from && !visit(&f.kept[i]) {
				return nil
			}
		}
		return nil
	}
	f.mu.Lock()
	index := f.index
	f.mu.Unlock()
	if len(index.Points) > 0 {
		from = max(from, index.Points[0].Record) // the capture may begin with blocks that are counted and hold no packet
	}
	reader, err := pcap.OpenAt(f.file, f.path, index, from)
	if err != nil {
		return err
	}
	for {
		p, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !visit(p):
			return nil
		}
	}
}

func (f *PacketFile) begin() unit.Nanos {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.epoch
}

// packedMark is a tcp.Mark of 12 bytes.
type packedMark struct {
	connection uint32
	flags      tcp.Flags
	wire       uint16
	reverse    bool
}

func pack(m tcp.Mark) packedMark {
	return packedMark{uint32(m.Connection), m.Flags, uint16(min(m.WirePackets, 1<<16-1)), m.Reverse}
}

// mark returns what the analysis says of a record, if that is known.
func (f *PacketFile) mark(record int64) (tcp.Mark, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if record < 1 || record > f.extent.Marked || record > int64(len(f.marks)) {
		return tcp.Mark{}, false
	}
	m := f.marks[record-1]
	return tcp.Mark{Connection: int64(m.connection), Reverse: m.reverse, WirePackets: int(m.wire), Flags: m.flags}, true
}
