package tcp

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nettrace/pcap"
	"nettrace/unit"
)

// TestMarksOfTshark compares the marks with those of the tshark that is installed on made-up conversations in which
// everything that a mark depends on happens often.
func TestMarksOfTshark(t *testing.T) {
	b := []byte{0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0} // pcap, ns, raw IP
	now := 1000 * unit.Second
	var said []string
	r := rand.New(rand.NewPCG(1, 2))
	for port := range 1500 {
		v := newChaos(r, uint16(1024+port))
		for range 2 + r.IntN(20) {
			now += v.pause()
			data := v.packet()
			for _, n := range []unit.Nanos{now / unit.Second, now % unit.Second, unit.Nanos(len(data)), unit.Nanos(len(data))} {
				b = binary.LittleEndian.AppendUint32(b, uint32(n))
			}
			b = append(b, data...)
			said = append(said, fmt.Sprintf("%d ns %s", now, v.said))
		}
	}
	path := filepath.Join(t.TempDir(), "made.pcap")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	got, want := wiresharkMarks(t, path), tsharkMarks(t, path)
	for _, name := range wiresharkNames {
		if len(want[name]) == 0 {
			t.Errorf("no packet is marked %s", name)
		}
		for _, record := range difference(got[name], want[name]) {
			t.Errorf("#%d %s: %s, tshark says no", record, said[record-1], name)
		}
		for _, record := range difference(want[name], got[name]) {
			t.Errorf("#%d %s: no %s, tshark says so", record, said[record-1], name)
		}
	}
}

// difference returns what is in a and not in b, both ascending.
func difference(a, b []int) []int {
	var rest []int
	for _, n := range a {
		if _, have := slices.BinarySearch(b, n); !have {
			rest = append(rest, n)
		}
	}
	return rest
}

// chaos makes packets of a conversation in which sequence numbers, ACKs and windows take few values near each other.
type chaos struct {
	r      *rand.Rand
	port   uint16
	next   [2]uint32
	window [2]uint16
	said   string // of the last packet
}

func newChaos(r *rand.Rand, port uint16) *chaos {
	v := &chaos{r: r, port: port, next: [2]uint32{r.Uint32(), r.Uint32()}, window: [2]uint16{500, 500}}
	if v.one(4) {
		v.next[0] = 0xfffffff0
	}
	if v.one(2) {
		v.window[1] = uint16(10 * r.IntN(5))
	}
	return v
}

// one is true one time in n.
func (v *chaos) one(n int) bool { return v.r.IntN(n) == 0 }

func pick[T any](v *chaos, values ...T) T { return values[v.r.IntN(len(values))] }

// pause may run backwards.
func (v *chaos) pause() unit.Nanos {
	const ms = unit.Millisecond
	return pick(v, 0, 1, 1000, ms, 2*ms, 3*ms, 10*ms, 20*ms, 1000*ms, -ms, -30*ms)
}

func (v *chaos) flags() uint8 {
	const ack = pcap.ACK
	if v.one(4) {
		return pick(v, ack|pcap.FIN, pcap.SYN, ack|pcap.SYN, ack|pcap.RST, pcap.RST, 0, pcap.FIN, pcap.SYN|pcap.FIN, pcap.SYN|pcap.RST)
	}
	return ack
}

// near returns a number at n, or a little before or behind it.
func (v *chaos) near(n uint32) uint32 {
	switch v.r.IntN(8) {
	case 0:
		return n + pick[uint32](v, 1, 10, 20)
	case 1, 2:
		return n - pick[uint32](v, 1, 10, 11, 20, 21)
	}
	return n
}

// packet makes the next IPv4 packet.
func (v *chaos) packet() []byte {
	d := v.r.IntN(2)
	flags, payload := v.flags(), pick[uint32](v, 0, 0, 0, 0, 10, 10, 10, 20, 1, 1)
	seq, ack := v.near(v.next[d]), v.near(v.next[1-d])
	if v.one(40) {
		ack = 0
	}
	if v.one(60) {
		v.next[d] += 1000
	}
	if v.one(6) {
		v.window[d] = pick[uint16](v, 0, 0, 5, 10, 20, 30, 500)
	}
	end := seq + payload
	if flags&(pcap.SYN|pcap.FIN) != 0 {
		end++
	}
	if below(v.next[d], end) && !v.one(10) {
		v.next[d] = end
	}
	var options []byte
	if flags&pcap.SYN != 0 && !v.one(3) {
		options = []byte{1, 3, 3, pick[byte](v, 0, 1, 2, 14, 15)}
	}
	v.said = fmt.Sprintf("port %d, from %d: flags %#x, seq %d, ack %d, window %d, payload %d, options %v", v.port, d, flags, seq, ack, v.window[d], payload, options)
	return v.encode(d, flags, seq, ack, options, int(payload))
}

func (v *chaos) encode(from int, flags uint8, seq, ack uint32, options []byte, payload int) []byte {
	source, destination, ports := []byte{192, 0, 2, 1}, []byte{192, 0, 2, 2}, [2]uint16{v.port, 80}
	if from == 1 {
		source, destination, ports = destination, source, [2]uint16{80, v.port}
	}
	be := binary.BigEndian
	b := []byte{0x45, 0, 0, byte(40 + len(options) + payload), 0, 0, 0, 0, 64, 6, 0, 0}
	b = append(append(b, source...), destination...)
	b = be.AppendUint16(be.AppendUint16(b, ports[0]), ports[1])
	b = be.AppendUint32(be.AppendUint32(b, seq), ack)
	b = append(b, byte(5+len(options)/4)<<4, flags)
	b = be.AppendUint16(b, v.window[from])
	b = append(append(b, 0, 0, 0, 0), options...)
	return append(b, make([]byte, payload)...)
}
