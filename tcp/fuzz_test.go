package tcp

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// FuzzPackets runs made-up packets through a tracker with small bounds: each packet is recordBytes of the input.
func FuzzPackets(f *testing.F) {
	for _, name := range []string{"rr-4345-gso3-sender.pcap", "nagle-head-3mss1.pcap", "loss-acks-sender.pcap", "refused-reset.pcap", "keepalive-ecn.pcap", "two-interfaces.pcapng"} {
		f.Add(encoded(f, fixture(f, name)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ledger source.Ledger
		tracker := NewTracker("fuzz", Options{MaxConnections: 8, MaxKept: 4, MaxServers: 3}, &ledger)
		packets, inTCP := int64(0), int64(0)
		var now unit.Nanos
		for ; len(data) >= recordBytes; data = data[recordBytes:] {
			p, h := decoded(data)
			now += p.Time
			p.Time, p.Record, p.Offset = now, packets+1, packets*recordBytes
			m := tracker.Add(&p, &h)
			packets++
			if (m.Connection > 0) != (h.Transport == pcap.TCP) || m.WirePackets < 1 {
				t.Fatalf("mark %+v for %+v", m, h)
			}
			if m.Connection > 0 {
				inTCP++
			}
			if tracker.table.used > 8 {
				t.Fatalf("%d live connections", tracker.table.used)
			}
		}
		c := tracker.Finish()
		if c.Packets.Total != packets || c.Packets.TCP != inTCP || c.Totals.Packets+c.Totals.Copies != inTCP {
			t.Fatalf("%d packets, %d of TCP; counted %+v, %d and %d copies", packets, inTCP, c.Packets, c.Totals.Packets, c.Totals.Copies)
		}
		if a := &c.Totals.Activity; a.GoodputBytes > a.Bytes || a.SpuriousPackets > a.RetransmittedPackets || a.LostPackets < 0 || a.ACKs.Stretch > a.ACKs.Advancing {
			t.Fatalf("%+v", a)
		}
		for _, on := range rules() {
			on.Run(c, nil)
		}
		if _, err := json.Marshal(c); err != nil {
			t.Fatal(err)
		}
	})
}

const recordBytes = 48

// decoded makes a packet of recordBytes.
func decoded(b []byte) (pcap.Packet, pcap.Header) {
	le := binary.LittleEndian
	p := pcap.Packet{Time: unit.Nanos(int32(le.Uint32(b))) * 1000, HasTime: b[4]&1 == 0, Tap: int(b[4] >> 1 & 3), Direction: pcap.Direction(b[4] >> 3 % 3), LinkType: 1, WireLen: 60}
	h := pcap.Header{
		Network: pcap.IPv4, Transport: pcap.TCP, Src: [16]byte{192, 0, 2, b[5] & 3}, Dst: [16]byte{192, 0, 2, b[5] >> 2 & 3}, SrcPort: uint16(b[6] & 3), DstPort: uint16(b[6] >> 2 & 3),
		TTL: b[7], VLAN: uint16(b[5] >> 6), Tags: b[5] >> 7, ID: le.Uint16(b[8:]), HasID: b[6]&16 == 0, Flags: b[10], Window: le.Uint16(b[12:]), Checksum: le.Uint16(b[14:]),
		Seq: le.Uint32(b[16:]), Ack: le.Uint32(b[20:]), Payload: int(le.Uint32(b[24:]) & 0xfffff),
	}
	if b[6]&32 != 0 {
		h.Network = pcap.IPv6
	}
	if b[6]&0xc0 == 0xc0 {
		h.Transport, p.Data, h.IPLen = pcap.UDP, b[12:recordBytes], h.Payload+28
	}
	h.Options = pcap.TCPOptions{
		Length: b[11] & 40, HasTimestamp: b[28]&1 != 0, HasMSS: b[28]&2 != 0, HasScale: b[28]&4 != 0, SACKOK: b[28]&8 != 0, FastOpen: b[28]&16 != 0, Cut: b[28]&32 != 0, SACKs: b[28] >> 6,
		Scale: b[29], MSS: le.Uint16(b[30:]), TSVal: le.Uint32(b[32:]), TSEcr: le.Uint32(b[36:]),
	}
	for i := range h.Options.SACK {
		h.Options.SACK[i] = [2]uint32{le.Uint32(b[40:]) + uint32(i)*1448, le.Uint32(b[44:])}
	}
	h.IPLen = 40 + int(h.Options.Length) + h.Payload
	return p, h
}

// encoded makes the fuzz input of a capture file.
func encoded(t testing.TB, path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := pcap.NewReader(source.NewInput(filepath.Base(path), file), new(source.Ledger))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	var h pcap.Header
	var before unit.Nanos
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		h.Decode(p)
		all = append(all, record(p, &h, p.Time-before)...)
		before = p.Time
	}
}

func record(p *pcap.Packet, h *pcap.Header, gap unit.Nanos) []byte {
	le := binary.LittleEndian
	b := make([]byte, recordBytes)
	le.PutUint32(b, uint32(gap/1000))
	b[4] = byte(p.Tap) << 1
	b[5] = h.Src[3]&3 | h.Dst[3]&3<<2
	b[6] = byte(h.SrcPort)&3 | byte(h.DstPort)&3<<2
	b[7] = h.TTL
	le.PutUint16(b[8:], h.ID)
	b[10], b[11] = h.Flags, h.Options.Length
	le.PutUint16(b[12:], h.Window)
	le.PutUint16(b[14:], h.Checksum)
	le.PutUint32(b[16:], h.Seq)
	le.PutUint32(b[20:], h.Ack)
	le.PutUint32(b[24:], uint32(h.Payload))
	o := &h.Options
	for i, set := range []bool{o.HasTimestamp, o.HasMSS, o.HasScale, o.SACKOK, o.FastOpen, o.Cut} {
		if set {
			b[28] |= 1 << i
		}
	}
	b[28] |= min(o.SACKs, 3) << 6
	b[29] = o.Scale
	le.PutUint16(b[30:], o.MSS)
	le.PutUint32(b[32:], o.TSVal)
	le.PutUint32(b[36:], o.TSEcr)
	le.PutUint32(b[40:], o.SACK[0][0])
	le.PutUint32(b[44:], o.SACK[0][1])
	return b
}
