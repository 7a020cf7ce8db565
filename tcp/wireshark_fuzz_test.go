package tcp

import (
	"testing"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// FuzzWireshark marks made-up packets with one marker for all connections, with one for each of them, and with one that
// forgets: the first two agree, the last one keeps its bound.
func FuzzWireshark(f *testing.F) {
	for _, name := range []string{"rr-4345-gso3-sender.pcap", "loss-acks-sender.pcap", "refused-reset.pcap", "keepalive-ecn.pcap", "zerowindow-sender.pcap", "two-interfaces.pcapng"} {
		f.Add(encoded(f, fixture(f, name)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ledger source.Ledger
		all, small := NewWiresharkMarker("fuzz", WiresharkOptions{}, &ledger), NewWiresharkMarker("fuzz", WiresharkOptions{MaxConnections: 3}, &ledger)
		alone := map[key]*WiresharkMarker{}
		var now unit.Nanos
		for record := int64(1); len(data) >= recordBytes; record++ {
			p, h := decoded(data)
			data = data[recordBytes:]
			now += p.Time
			p.Time, p.Record = now, record
			marks := all.Mark(&p, &h)
			if small.Mark(&p, &h); len(small.conns) > 3 || len(small.index) != len(small.conns) {
				t.Fatalf("%d connections, %d in the index", len(small.conns), len(small.index))
			}
			if h.Transport != pcap.TCP {
				if marks != 0 {
					t.Fatalf("%v on %+v", marks.Names(), h)
				}
				continue
			}
			var k key
			k.set(&h)
			k.tunnel = 0
			if alone[k] == nil {
				alone[k] = NewWiresharkMarker("fuzz", WiresharkOptions{}, &ledger)
			}
			if other := alone[k].Mark(&p, &h); other != marks {
				t.Fatalf("%v among other connections, %v alone", marks.Names(), other.Names())
			}
			const kinds = wiresharkFastRetransmission | wiresharkSpurious
			if marks&kinds == kinds || marks&kinds != 0 && marks&wiresharkRetransmission == 0 || marks&wiresharkRetransmission != 0 && marks&wiresharkOutOfOrder != 0 {
				t.Fatalf("%v", marks.Names())
			}
		}
	})
}

// TestWiresharkForgets holds that the connection that was quiet for longest is forgotten, and that this is told.
func TestWiresharkForgets(t *testing.T) {
	v := makeConversation(3, 1)
	n := len(v.packets) / 3
	var ledger source.Ledger
	m := NewWiresharkMarker("made", WiresharkOptions{MaxConnections: 2}, &ledger)
	for _, i := range []int{0, n, 2 * n} { // the SYNs
		m.Mark(&v.packets[i], &v.headers[i])
	}
	again := func(connection int) []string {
		return m.Mark(&v.packets[connection*n], &v.headers[connection*n]).Names()
	}
	if got := again(1); len(got) != 1 || got[0] != "out_of_order" && got[0] != "retransmission" {
		t.Errorf("a SYN sent again is marked %v", got)
	}
	if got := again(0); len(got) != 0 {
		t.Errorf("the SYN of a forgotten connection is marked %v", got)
	}
	if e := ledger.Entries(); len(e) != 1 || e[0].Name != "wireshark-connection-forgotten" || e[0].Count != 2 {
		t.Errorf("ledger %+v", e)
	}
}

func BenchmarkWiresharkMark(b *testing.B) {
	v := makeConversation(100, 20)
	b.ReportAllocs()
	m := NewWiresharkMarker("bench", WiresharkOptions{}, new(source.Ledger))
	for i := range v.packets {
		m.Mark(&v.packets[i], &v.headers[i])
	}
	i := 0
	for b.Loop() {
		m.Mark(&v.packets[i], &v.headers[i])
		if i++; i == len(v.packets) {
			i = 0
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}
