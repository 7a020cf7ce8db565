package tcp

import (
	"errors"
	"io"
	"os"
	"strconv"
	"testing"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// conversation makes the packets of request/response connections: a handshake, exchanges of a request of several segments,
// its ACKs and an answer, and the FINs.
type conversation struct {
	packets []pcap.Packet
	headers []pcap.Header
}

func makeConversation(connections, exchanges int) *conversation {
	v := &conversation{}
	now := unit.Nanos(1700000000) * unit.Second
	for i := range connections {
		client := end{addr: [4]byte{192, 0, byte(i >> 14), byte(i >> 6)}, port: uint16(1024 + i&63), seq: uint32(i) * 977, id: uint16(i)}
		server := end{addr: [4]byte{198, 51, 100, 2}, port: 5001, seq: uint32(i) * 1013, id: uint16(i * 3)}
		send := func(from, to *end, flags uint8, payload int) {
			now += 5 * unit.Microsecond
			h := from.header(to, flags, payload)
			v.headers = append(v.headers, h)
			v.packets = append(v.packets, pcap.Packet{Record: int64(len(v.packets) + 1), Time: now, HasTime: true, CapLen: 66, WireLen: 66 + payload, LinkType: 1})
		}
		send(&client, &server, pcap.SYN, 0)
		send(&server, &client, pcap.SYN|pcap.ACK, 0)
		send(&client, &server, pcap.ACK, 0)
		for range exchanges {
			for range 3 {
				send(&client, &server, pcap.ACK, 1448)
			}
			send(&client, &server, pcap.ACK|pcap.PSH, 400)
			send(&server, &client, pcap.ACK, 0)
			send(&server, &client, pcap.ACK|pcap.PSH, 200)
			send(&client, &server, pcap.ACK, 0)
		}
		send(&client, &server, pcap.ACK|pcap.FIN, 0)
		send(&server, &client, pcap.ACK|pcap.FIN, 0)
		send(&client, &server, pcap.ACK, 0)
	}
	return v
}

// end is one end of a made-up connection.
type end struct {
	addr [4]byte
	port uint16
	seq  uint32
	id   uint16
}

func (e *end) header(to *end, flags uint8, payload int) pcap.Header {
	h := pcap.Header{
		Network: pcap.IPv4, Transport: pcap.TCP, TTL: 64, ID: e.id, HasID: true, SrcPort: e.port, DstPort: to.port,
		Seq: e.seq, Flags: flags, Payload: payload, Window: 50_000, Checksum: 1,
		Options: pcap.TCPOptions{Length: 12, HasTimestamp: true, TSVal: e.seq, TSEcr: to.seq},
	}
	copy(h.Src[:], e.addr[:])
	copy(h.Dst[:], to.addr[:])
	e.id++
	e.seq += uint32(payload)
	if flags&pcap.ACK != 0 {
		h.Ack = to.seq
	}
	if flags&pcap.SYN != 0 {
		h.Options.HasMSS, h.Options.MSS, h.Options.SACKOK, h.Options.Length = true, 1460, true, 20
	}
	if flags&(pcap.SYN|pcap.FIN) != 0 {
		e.seq++
	}
	h.IPLen = 40 + int(h.Options.Length) + payload
	return h
}

func benchmarkAdd(b *testing.B, v *conversation) {
	b.ReportAllocs()
	var tracker *Tracker
	i := len(v.packets)
	for b.Loop() {
		if i == len(v.packets) {
			i = 0
			tracker = NewTracker("bench", Options{}, new(source.Ledger))
		}
		tracker.Add(&v.packets[i], &v.headers[i])
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}

// One long connection, and many short ones.
func BenchmarkAddOne(b *testing.B)  { benchmarkAdd(b, makeConversation(1, 500)) }
func BenchmarkAddMany(b *testing.B) { benchmarkAdd(b, makeConversation(1000, 1)) }

// captureToMeasure is the capture whose packets the benchmarks below take.
func captureToMeasure(b *testing.B) string {
	path := os.Getenv("NETTRACE_CAPTURE")
	if path == "" {
		b.Skip("NETTRACE_CAPTURE names no capture")
	}
	return path
}

// BenchmarkWorkers judges the capture NETTRACE_CAPTURE at once, and on another goroutine.
func BenchmarkWorkers(b *testing.B) {
	path := captureToMeasure(b)
	for _, workers := range []int{0, 1} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			for b.Loop() {
				sharded(b, path, workers, judgedAtOnce)
			}
		})
	}
}

// BenchmarkFloor reads the capture NETTRACE_CAPTURE, decodes its packets and hashes their ends: the least that an analysis
// of connections costs.
func BenchmarkFloor(b *testing.B) {
	path, sum := captureToMeasure(b), uint32(0)
	for b.Loop() {
		for src, err := range source.Walk([]string{path}, nil, new(source.Ledger)) {
			if err != nil {
				b.Fatal(err)
			}
			sum += floor(b, src.Input)
		}
	}
	if sum == 0 {
		b.Error("no packet was hashed")
	}
}

func floor(b *testing.B, in *source.Input) (sum uint32) {
	r, err := pcap.NewReader(in, new(source.Ledger))
	if err != nil {
		b.Fatal(err)
	}
	var h pcap.Header
	var k key
	connections := newTable()
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return sum
		}
		if err != nil {
			b.Fatal(err)
		}
		h.Decode(p)
		if h.Transport == pcap.TCP {
			k.set(&h)
			sum ^= connections.hash(&k)
		}
	}
}
