package tui

import (
	"fmt"
	"net/netip"
	"testing"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/tcp"
	"nettrace/unit"
)

// BenchmarkFrame is a key and the frame after it at 200 x 60, on lists of the sizes that have to be borne.
func BenchmarkFrame(b *testing.B) {
	for name, prepare := range map[string]func(*driver){"packets=10M": tenMillionPackets, "flows=16k": manyFlows, "findings": func(d *driver) {}, "plot=128k": longPlot} {
		b.Run(name, func(b *testing.B) {
			b.Chdir("..")
			d := start(b, 200, 60, bundle)
			prepare(d)
			d.m.View()
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				key := tea.Key{Code: tea.KeyDown}
				if i%200 >= 100 {
					key = tea.Key{Code: tea.KeyUp}
				}
				d.m.Update(tea.KeyPressMsg(key))
				d.m.View()
			}
		})
	}
}

// BenchmarkFilter is a key typed into the filter of many connections.
func BenchmarkFilter(b *testing.B) {
	b.Chdir("..")
	d := start(b, 200, 60, bundle)
	manyFlows(d)
	d.press2("/")
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		d.press2([]string{"1", "backspace"}[i%2])
	}
}

func tenMillionPackets(d *driver) {
	c := d.m.library.capture("fixtures/bundles/rr-4345/rr-4345-wire.pcap")
	f, err := analyze.OpenPacketFile(c.path)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { f.Close() })
	const n = 10_000_000
	c.file, c.extent = f, analyze.Extent{Records: n, Marked: 1 << 20, Bytes: 1, Size: 1, Done: true}
	for first := int64(1); first < 1024; first += blockRows {
		rows := make([]analyze.PacketRecord, blockRows)
		for i := range rows {
			rows[i] = analyze.PacketRecord{Record: first + int64(i), Time: unit.Nanos(i) * unit.Millisecond, Proto: "tcp", Src: "192.0.2.1:47696", Dst: "198.51.100.2:5001",
				Conn: 1, Header: "P.", Payload: 1448, WirePackets: 1, Flags: []string{"tail-visible"}}
		}
		c.keep(rowsMsg{path: c.path, first: first, rows: rows, at: c.extent})
	}
	d.m.do(act{screen: packetsScreen + 1, push: newPacketsPage(d.m.look, c, 1)})
}

// longPlot is a connection of as many packets as a plot draws.
func longPlot(d *driver) {
	p := newSequencePage(d.m.look, d.m.library.capture("a.pcap"), 1, "a > b", 0)
	p.asked = true
	data := &sequenceData{every: 1}
	for i := range int64(maxPlotted - 2) {
		data.add(plotted{time: unit.Nanos(i) * unit.Microsecond, record: i + 1, seq: i / 2 * 1448, payload: 1448 * (1 - i%2), ack: i / 2 * 1448, edge: i/2*1448 + 65536, fromServer: i%2 == 1})
	}
	d.m.do(act{screen: flowsScreen + 1, push: p})
	p.take(sequenceMsg{p, data, nil})
}

func manyFlows(d *driver) {
	r := &analyze.Result{Models: analyze.Models{Captures: []*tcp.Capture{{Source: "a.pcap"}, {Source: "b.pcap"}}}}
	for i := range 16_384 {
		c := tcp.Connection{Number: int64(i), Client: netip.MustParseAddrPort(fmt.Sprintf("192.0.2.%d:%d", i%250, 1024+i)), Server: netip.MustParseAddrPort("198.51.100.2:443")}
		c.Directions[0].Bytes, c.RoundTrip = int64(i*i), unit.Nanos(i)*unit.Microsecond
		r.Models.Captures[i%2].Connections = append(r.Models.Captures[i%2].Connections, c)
	}
	d.send(resultMsg{r, nil})
	d.m.do(act{screen: flowsScreen + 1})
}
