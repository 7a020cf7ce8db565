package analyze

import (
	"bytes"
	"compress/gzip"
	bin "encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// packetsOf reads all packets of a capture file.
func packetsOf(t testing.TB, path string, data []byte) (list []pcap.Packet) {
	t.Helper()
	r, err := pcap.NewReader(source.NewInput(path, bytes.NewReader(data)), new(source.Ledger))
	if err != nil {
		t.Fatal(err)
	}
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p.Copy())
	}
}

// A container writes packets of one link type as a file.
type container struct {
	name  string
	fits  func(pcap.LinkType) bool // nil for any
	write func([]pcap.Packet) []byte
}

// containers are the encodings that hold the same packets.
func containers() []container {
	var list []container
	for _, order := range []bin.AppendByteOrder{bin.LittleEndian, bin.BigEndian} {
		name := order.String() + " "
		list = append(list,
			container{name + "pcap of microseconds", nil, func(p []pcap.Packet) []byte { return classic(p, order, 0xa1b2c3d4, unit.Microsecond) }},
			container{name + "pcap of nanoseconds", nil, func(p []pcap.Packet) []byte { return classic(p, order, 0xa1b23c4d, 1) }},
			container{name + "modified pcap", nil, func(p []pcap.Packet) []byte { return classic(p, order, 0xa1b2cd34, unit.Microsecond) }},
			container{name + "pcapng of microseconds", nil, func(p []pcap.Packet) []byte { return blocks(p, order, 6, unit.Microsecond) }},
			container{name + "pcapng of nanoseconds", nil, func(p []pcap.Packet) []byte { return blocks(p, order, 9, 1) }})
	}
	return append(list, container{"snoop", func(l pcap.LinkType) bool { return l == 1 }, snoop})
}

// packetOther is the type of a packet for another host (Linux if_packet.h), which tells no direction.
const packetOther = 3

// classic writes pcap; the modified form has eight more bytes a record.
func classic(packets []pcap.Packet, order bin.AppendByteOrder, magic uint32, tick unit.Nanos) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(order.AppendUint16(b, 2), 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(order.AppendUint32(b, 262144), uint32(packets[0].LinkType))
	for i := range packets {
		p := &packets[i]
		for _, v := range [...]int{int(p.Time / unit.Second), int(p.Time % unit.Second / tick), len(p.Data), p.WireLen} {
			b = order.AppendUint32(b, uint32(v))
		}
		if magic == 0xa1b2cd34 {
			b = append(b, 0, 0, 0, 0, 0, 0, packetOther, 0) // interface, protocol, type, padding
		}
		b = append(b, p.Data...)
	}
	return b
}

// blocks writes pcapng with a section, an interface and enhanced packet blocks.
func blocks(packets []pcap.Packet, order bin.AppendByteOrder, exponent byte, tick unit.Nanos) (file []byte) {
	block := func(kind uint32, body []byte) {
		body = append(body, make([]byte, -len(body)&3)...)
		file = order.AppendUint32(order.AppendUint32(file, kind), uint32(len(body)+12))
		file = order.AppendUint32(append(file, body...), uint32(len(body)+12))
	}
	section := order.AppendUint32(nil, 0x1a2b3c4d)
	section = order.AppendUint16(order.AppendUint16(section, 1), 0)
	block(0x0a0d0d0a, order.AppendUint64(section, 1<<64-1))
	described := order.AppendUint16(nil, uint16(packets[0].LinkType))
	described = order.AppendUint32(append(described, 0, 0), 262144)
	described = order.AppendUint16(order.AppendUint16(described, 9), 1) // if_tsresol
	block(1, append(described, exponent, 0, 0, 0, 0, 0, 0, 0))
	for i := range packets {
		p := &packets[i]
		ticks := uint64(p.Time / tick)
		var body []byte
		for _, v := range [...]uint32{0, uint32(ticks >> 32), uint32(ticks), uint32(len(p.Data)), uint32(p.WireLen)} {
			body = order.AppendUint32(body, v)
		}
		block(6, append(body, p.Data...))
	}
	return file
}

// snoop writes the format of RFC 1761, of Ethernet.
func snoop(packets []pcap.Packet) []byte {
	order := bin.BigEndian
	b := order.AppendUint32(order.AppendUint32([]byte("snoop\x00\x00\x00"), 2), 4)
	for i := range packets {
		p := &packets[i]
		size := (24 + len(p.Data) + 3) &^ 3
		for _, v := range [...]int{p.WireLen, len(p.Data), size, 0, int(p.Time / unit.Second), int(p.Time % unit.Second / unit.Microsecond)} {
			b = order.AppendUint32(b, uint32(v))
		}
		b = append(append(b, p.Data...), make([]byte, size-24-len(p.Data))...)
	}
	return b
}

// compressions are what may be around a capture.
func compressions() map[string]func(io.Writer) (io.WriteCloser, error) {
	return map[string]func(io.Writer) (io.WriteCloser, error){
		"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"zstd": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		"lz4":  func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil },
		"xz":   func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	}
}

func compressed(t testing.TB, with func(io.Writer) (io.WriteCloser, error), data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := with(&b)
	if err == nil {
		_, err = w.Write(data)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
