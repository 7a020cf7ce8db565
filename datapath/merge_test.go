package datapath

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// randomHeaders puts Ethernet, IPv4 with options or IPv6 with extension headers, and TCP with options before data.
func randomHeaders(r *rand.Rand, data []byte) View {
	b := []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}
	options := make([]byte, 4*r.IntN(9))
	for i := range options {
		options[i] = 1 // no operation
	}
	if len(options) >= 12 {
		copy(options, []byte{1, 1, 8, 10, byte(r.Uint32()), 2, 3, 4, 5, 6, 7, 8})
	}
	tcp := make([]byte, tcpHeaderMin)
	binary.BigEndian.PutUint16(tcp, 40000)
	binary.BigEndian.PutUint16(tcp[2:], 5001)
	binary.BigEndian.PutUint32(tcp[4:], r.Uint32())
	binary.BigEndian.PutUint32(tcp[8:], r.Uint32())
	tcp[12] = byte((tcpHeaderMin + len(options)) / 4 << 4)
	binary.BigEndian.PutUint16(tcp[14:], uint16(r.Uint32()))
	if r.IntN(2) == 0 {
		ipOptions := make([]byte, 4*r.IntN(3))
		for i := range ipOptions {
			ipOptions[i] = 1
		}
		b = append(b, 8, 0)
		ip := []byte{byte(0x45 + len(ipOptions)/4), byte(r.IntN(256)), 0, 0, byte(r.Uint32()), byte(r.Uint32()), byte(0x40 * r.IntN(2)), 0, 64, 6, 0, 0, 10, 9, 8, 1, 10, 9, 8, 2}
		b = append(append(b, ip...), ipOptions...)
	} else {
		b = append(b, 0x86, 0xdd)
		extension := make([]byte, 0, 8)
		next := byte(6)
		if r.IntN(3) == 0 {
			extension, next = []byte{6, 0, 1, 4, 0, 0, 0, 0}, 0 // hop-by-hop options: padding
		}
		b = append(b, 0x60, byte(r.IntN(16)), byte(r.Uint32()), 5, 0, 0, next, 64, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)
		b = append(b, extension...)
	}
	b = append(append(append(b, tcp...), options...), data...)
	// the lengths are not right yet: find the headers by those of a view that has them
	v := View{bytes: b, network: ethernetHeader, payload: len(b) - len(data), transport: len(b) - len(data) - len(options) - tcpHeaderMin, version: b[ethernetHeader] >> 4}
	v.SetLength()
	v.SetChecksums()
	return v
}

// bulk makes headers of a connection without flags, before data.
func bulk(seed uint64, bytes int) View {
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, bytes)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	v := randomHeaders(r, data)
	v.SetFlags(TCPACK)
	v.SetChecksums()
	return v
}

// TestMergingUndoesSegmentation: what TSO cuts, GRO puts together again: the same data, headers and sequence, checksums
// right everywhere, and no segment larger than the MSS.
func TestMergingUndoesSegmentation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := bulk(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 60000).Draw(t, "bytes"))
		mss := rapid.IntRange(64, 9000).Draw(t, "mss")
		segments, err := Segments(v.bytes, mss)
		if err != nil {
			t.Fatal(err)
		}
		var m Merger
		var out []SuperSegment
		for i, s := range segments {
			p, err := ParseView(s)
			if err != nil || !p.ChecksumsRight() || len(p.Payload()) > mss {
				t.Fatalf("segment %d: %v, checksums right %v, %d bytes", i, err, p.ChecksumsRight(), len(p.Payload()))
			}
			out = append(out, m.Push(s)...)
		}
		out = append(out, m.Flush()...)
		if v.version == 4 && v.transport-v.network != 20 {
			return // GRO leaves packets with options of IPv4 alone
		}
		if len(out) != 1 || out[0].Segments != len(segments) || !bytes.Equal(out[0].Frame, v.bytes) {
			t.Fatalf("%d segments became %d packets, the first of %d segments", len(segments), len(out), out[0].Segments)
		}
		if p, _ := ParseView(out[0].Frame); !p.ChecksumsRight() {
			t.Fatal("checksums of the merged segment are wrong")
		}
	})
}

// TestMergeReasons gives each reason to hand a packet on.
func TestMergeReasons(t *testing.T) {
	base := func() View {
		v := bulk(7, 1000)
		for v.version != 4 || v.transport-v.network != 20 || len(v.Options()) < 4 {
			v = bulk(rand.Uint64(), 1000)
		}
		return v
	}
	for want, change := range map[FlushReason]func(View){
		FlushFlags:    func(v View) { v.SetFlags(v.Flags() | TCPECE) },
		FlushACK:      func(v View) { v.bytes[v.transport+8]++ },
		FlushOptions:  func(v View) { v.Options()[0]++ },
		FlushIP:       func(v View) { v.bytes[v.network+8]-- },
		FlushSequence: func(v View) { v.SetSeq(v.Seq() + 1) },
	} {
		first := base()
		second := first
		second.bytes = bytes.Clone(first.bytes)
		second.SetSeq(first.Seq() + 1000)
		second.bytes[second.network+5]++
		change(second)
		var m Merger
		if out := m.Push(first.bytes); len(out) > 0 {
			t.Fatalf("%s: the first is handed on at once: %s", want, out[0].Reason)
		}
		out := m.Push(second.bytes)
		if len(out) != 1 || out[0].Reason != want || out[0].Segments != 1 {
			t.Errorf("expected %q, got %+v", want, out)
		}
	}
}

func FuzzView(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(bulk(seed, 20).bytes, 7)
	}
	f.Fuzz(func(t *testing.T, frame []byte, mss int) {
		segments, err := Segments(frame, mss)
		if err != nil || len(segments) > 1000 {
			return
		}
		var m Merger
		n := 0
		for _, s := range segments {
			for _, o := range m.Push(s) {
				n += o.Segments
			}
		}
		for _, o := range m.Flush() {
			n += o.Segments
		}
		if n != len(segments) {
			t.Errorf("%d of %d segments came out", n, len(segments))
		}
	})
}

// BenchmarkRealBytes cuts super-segments and merges them again, with checksums of all.
func BenchmarkRealBytes(b *testing.B) {
	v := bulk(3, 43440)
	for v.version != 4 || v.transport-v.network != 20 {
		v = bulk(rand.Uint64(), 43440)
	}
	packets := 0
	b.SetBytes(43440)
	b.ReportAllocs()
	for b.Loop() {
		segments, err := Segments(v.bytes, 1448)
		if err != nil {
			b.Fatal(err)
		}
		var m Merger
		for _, s := range segments {
			m.Push(s)
		}
		m.Flush()
		packets += len(segments)
	}
	b.ReportMetric(float64(packets)/b.Elapsed().Seconds(), "packets/s")
}
