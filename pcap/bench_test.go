package pcap

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"nettrace/source"
)

// syntheticCapture returns a pcap of n packets of one connection, cut to 80 bytes as "-s 80" does: data of 1448 bytes
// with timestamps in one direction, ACKs in the other.
func syntheticCapture(n int) []byte {
	const captured = 66
	le, be := binary.LittleEndian, binary.BigEndian
	file := make([]byte, 0, 24+n*(16+captured))
	file = le.AppendUint32(file, magicMicros)
	file = le.AppendUint16(le.AppendUint16(file, 2), 4)
	file = le.AppendUint32(le.AppendUint32(le.AppendUint32(le.AppendUint32(file, 0), 0), captured), uint32(LinkEthernet))
	for i := range n {
		payload := 0
		if i%3 != 2 {
			payload = 1448
		}
		file = le.AppendUint32(le.AppendUint32(file, 1700000000+uint32(i/1e6)), uint32(i%1e6))
		file = le.AppendUint32(le.AppendUint32(file, captured), uint32(captured+payload))
		file = append(file, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0)
		file = append(file, 0x45, 0)
		file = be.AppendUint16(file, uint16(52+payload))
		file = append(file, byte(i>>8), byte(i), 0x40, 0, 64, 6, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2)
		file = be.AppendUint16(be.AppendUint16(file, 40000), 5001)
		file = be.AppendUint32(be.AppendUint32(file, uint32(i*1448)), 1)
		file = append(file, 0x80, ACK, 1, 0xf6, 0, 0, 0, 0, 1, 1, 8, 10)
		file = be.AppendUint32(be.AppendUint32(file, uint32(i)), uint32(i))
	}
	return file
}

func BenchmarkReadDecode(b *testing.B) {
	const packets = 100_000
	file := syntheticCapture(packets)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	var h Header
	for b.Loop() {
		var ledger source.Ledger
		r, err := NewReader(source.NewInput("synthetic", bytes.NewReader(file)), &ledger)
		if err != nil {
			b.Fatal(err)
		}
		count := 0
		for {
			p, err := r.Next()
			if err == io.EOF {
				break
			}
			h.Decode(p)
			count += int(h.Transport)
		}
		if count != packets {
			b.Fatalf("%d packets, want %d", count, packets)
		}
	}
	b.ReportMetric(packets*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpackets/s")
}

func BenchmarkRead(b *testing.B) {
	file := syntheticCapture(100_000)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		r, _ := NewReader(source.NewInput("synthetic", bytes.NewReader(file)), &source.Ledger{})
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	file := syntheticCapture(3)
	r, _ := NewReader(source.NewInput("synthetic", bytes.NewReader(file)), &source.Ledger{})
	p, _ := r.Next()
	b.ReportAllocs()
	var h Header
	for b.Loop() {
		h.Decode(p)
	}
}

func BenchmarkFilter(b *testing.B) {
	file := syntheticCapture(3)
	r, _ := NewReader(source.NewInput("synthetic", bytes.NewReader(file)), &source.Ledger{})
	p, _ := r.Next()
	var h Header
	h.Decode(p)
	f, err := ParseFilter("src net 192.0.2.0/24 and tcp port 80 or 443 or 5001")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if !f.Match(p, &h) {
			b.Fatal("no match")
		}
	}
}
