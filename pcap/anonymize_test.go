package pcap

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"nettrace/anonymize"
	"nettrace/source"
)

// Whatever a packet holds, making another one of it ends, and keeps no more than was captured.
func FuzzAnonymizer(f *testing.F) {
	m, err := anonymize.New([]byte("fuzz"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("\x46\x00\x00\x1c\x00\x00\x00\x00\x40\x01\x00\x00\xc0\x00\x02\x01\xc6\x33\x64\x02\x07\x04\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x45\x00"))
	f.Add([]byte("\x60\x00\x00\x00\x00\x20\x2b\x40 0123456789abcdef0123456789abcdef\x06\x01\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := Packet{Data: data, CapLen: len(data), WireLen: len(data), LinkType: LinkRaw}
		before := bytes.Clone(data)
		var h Header
		h.Decode(&p)
		a := Anonymizer{Mapping: m}
		if out, ok := a.Packet(&p, &h); ok && (len(out.Data) > len(data) || out.WireLen < len(out.Data)) {
			t.Fatalf("%d bytes became %d of %d", len(data), len(out.Data), out.WireLen)
		}
		if !bytes.Equal(before, data) {
			t.Fatal("the packet itself was changed")
		}
	})
}

// Of every packet of the fixtures what the headers tell stays but for the addresses, and no byte of an address or of the
// payload is left.
func TestAnonymizedPacketsTellTheSameOfOthers(t *testing.T) {
	m, err := anonymize.New([]byte("packets"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../fixtures/pcap/*.pcap*")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	checked, proven := 0, 0
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a := Anonymizer{Mapping: m}
		var ledger source.Ledger
		r, err := NewReader(source.NewInput(path, bytes.NewReader(data)), &ledger)
		if err != nil {
			continue // compressed or damaged: others test that
		}
		for p, err := r.Next(); err == nil; p, err = r.Next() {
			var h, is Header
			h.Decode(p)
			out, ok := a.Packet(p, &h)
			if !ok {
				if h.Network != NoNetwork {
					t.Errorf("%s #%d: an IP packet is left out", path, p.Record)
				}
				continue
			}
			checked++
			is.Decode(out)
			want := h
			src, dst := m.Addr(h.addr(&h.Src)), m.Addr(h.addr(&h.Dst))
			copy(want.Src[:], src.AsSlice())
			copy(want.Dst[:], dst.AsSlice())
			if is.Source().Addr() != src || is.Destination().Addr() != dst {
				t.Fatalf("%s #%d: %v > %v; expected %v > %v", path, p.Record, is.Source(), is.Destination(), src, dst)
			}
			if is.Transport != h.Transport || is.SrcPort != h.SrcPort || is.DstPort != h.DstPort || is.Seq != h.Seq || is.Ack != h.Ack || is.Flags != h.Flags || is.Window != h.Window ||
				is.Payload != h.Payload || is.ID != h.ID || is.IPLen != h.IPLen || is.ICMPType != h.ICMPType || is.ICMPCode != h.ICMPCode || is.Options.SACK != h.Options.SACK || is.Options.TSVal != h.Options.TSVal {
				t.Fatalf("%s #%d: %+v became %+v", path, p.Record, h, is)
			}
			if before := Verify(p, &h); h.Payload == 0 && before != ChecksumUnknown {
				proven++
				if after := Verify(out, &is); after != before {
					t.Fatalf("%s #%d: the checksum proved %d, now %d", path, p.Record, before, after)
				}
			}
			if h.Network == IPv4 && len(out.Data) >= 20 && h.Fault == 0 {
				was, now := p.Data[h.NetworkAt:][:headerBytes(p.Data[h.NetworkAt:])], out.Data[:headerBytes(out.Data)]
				if fold(sum16(was, 0)) == 0xffff && fold(sum16(now, 0)) != 0xffff {
					t.Fatalf("%s #%d: the header's checksum was right", path, p.Record)
				}
			}
			for _, ip := range [][]byte{h.addr(&h.Src).AsSlice(), h.addr(&h.Dst).AsSlice()} {
				if !bytes.Contains(append(src.AsSlice(), dst.AsSlice()...), ip) && bytes.Contains(out.Data, ip) {
					t.Fatalf("%s #%d: the address %v is still there: % x", path, p.Record, ip, out.Data)
				}
			}
			if h.Transport == TCP && len(out.Data) > h.PayloadAt-h.NetworkAt {
				t.Fatalf("%s #%d: %d bytes are left; the headers take %d", path, p.Record, len(out.Data), h.PayloadAt-h.NetworkAt)
			}
		}
		r.Close()
	}
	if checked < 1000 || proven < 100 {
		t.Errorf("%d packets, %d checksums", checked, proven)
	}
}
