package pcap

import (
	"path/filepath"
	"strings"
	"testing"

	"nettrace/source"
)

// value returns the value of a field of the packet, and its bytes.
func value(t *testing.T, p *Packet, layer, field string) (string, []byte) {
	t.Helper()
	for _, l := range Layers(p) {
		for _, f := range l.Fields {
			if l.Name == layer && f.Name == field {
				return f.Value, p.Data[f.Start:f.End]
			}
		}
	}
	t.Fatalf("no field %s of %s in %+v", field, layer, Layers(p))
	return "", nil
}

func TestLayersOfATCPPacket(t *testing.T) {
	var ledger source.Ledger
	for src, err := range source.Walk([]string{filepath.Join("..", "fixtures", "bundles", "rr-4345", "rr-4345-gso3-sender.pcap")}, nil, &ledger) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(src.Input, &ledger)
		if err != nil {
			t.Fatal(err)
		}
		var p *Packet
		for range 6 { // the last byte of a request
			if p, err = r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct{ layer, field, want, bytes string }{
			{"Ethernet", "type", "IPv4 (0x0800)", "\x08\x00"},
			{"IPv4", "source", "192.0.2.1", "\xc0\x00\x02\x01"},
			{"TCP", "flags", "ACK PSH", string(p.Data[46:48])},
			{"TCP", "source port", "46248", "\xb4\xa8"},
			{"Payload", "data", "1 bytes", string(p.Data[len(p.Data)-1:])},
		} {
			got, bytes := value(t, p, c.layer, c.field)
			if got != c.want || string(bytes) != c.bytes {
				t.Errorf("%s %s = %q in % x, want %q in % x", c.layer, c.field, got, bytes, c.want, c.bytes)
			}
		}
	}
}

// FuzzLayers decodes anything: layers and fields stay within the packet, and no byte is left out.
func FuzzLayers(f *testing.F) {
	f.Add(uint16(1), []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x08\x00\x45\x00\x00\x28\x00\x01\x00\x00\x40\x06\x00\x00\xc0\x00\x02\x01\xc0\x00\x02\x02"))
	f.Add(uint16(101), []byte("\x60\x00\x00\x00\x00\x08\x3a\x40"))
	f.Add(uint16(276), []byte("\x08\x00\x00\x00"))
	f.Add(uint16(113), []byte(strings.Repeat("\x00", 16)+"\x45"))
	f.Add(uint16(1), []byte{})
	f.Fuzz(func(t *testing.T, link uint16, data []byte) {
		at := 0
		for _, l := range Layers(&Packet{Data: data, LinkType: LinkType(link), CapLen: len(data), WireLen: len(data)}) {
			if l.Start < 0 || l.End > len(data) || l.End < l.Start {
				t.Fatalf("layer %s from %d to %d of %d bytes", l.Name, l.Start, l.End, len(data))
			}
			for _, f := range l.Fields {
				if f.Start < l.Start || f.End > l.End || f.Start > f.End {
					t.Fatalf("field %s of %s from %d to %d, outside of the layer", f.Name, l.Name, f.Start, f.End)
				}
			}
			at = max(at, l.End)
		}
		if at != len(data) {
			t.Fatalf("layers end at %d of %d bytes", at, len(data))
		}
	})
}
