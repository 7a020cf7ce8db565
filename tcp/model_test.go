package tcp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

func TestFlagNames(t *testing.T) {
	if got := (FlagRetransmission | FlagSpurious | FlagPortReused).Names(); !slices.Equal(got, []string{"retransmission", "spurious", "port-reused"}) {
		t.Errorf("got %q", got)
	}
	if got := Flags(0).Names(); got == nil || len(got) != 0 {
		t.Errorf("got %#v, want an empty list", got)
	}
	if last := Flags(1) << (len(flagNames) - 1); last != FlagKeepAliveACK {
		t.Errorf("the last name belongs to %b, the last flag is %b", last, FlagKeepAliveACK)
	}
}

// TestRoundTrip holds that a stored capture reads back as it was.
func TestRoundTrip(t *testing.T) {
	for _, file := range []string{"rr-4345-gso3-sender.pcap", "loss-queue-sender.pcap", "many-conns.pcap", "mid-stream.pcap", "ipv6-bulk-sender.pcap"} {
		c := read(t, fixture(t, file)).Capture
		stored, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back Capture
		if err := json.Unmarshal(stored, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, &back, cmpopts.EquateComparable(c.Connections[0].Client), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

func TestMSS(t *testing.T) {
	type packet struct{ payload, options int }
	repeat := func(n int, p packet) []packet { return slices.Repeat([]packet{p}, n) }
	for _, c := range []struct {
		name    string
		start   mss
		v6      bool
		packets []packet
		want    int // for 12 bytes of options
		known   uint8
	}{
		{"handshake", mss{option: 1460, known: handshake}, false, repeat(20, packet{14480, 12}), 1448, handshake},
		{"nothing known", mss{}, false, nil, 1448, assumed},
		{"nothing known, IPv6", mss{}, true, nil, 1428, assumed},
		{"super-segments of Ethernet", mss{}, false, repeat(9, packet{65160, 12}), 1448, observed},
		{"jumbo frames without a handshake", mss{}, false, repeat(9, packet{8948, 12}), 8948, observed},
		{"a path MTU below the option", mss{option: 1460, known: handshake}, false, append(repeat(2, packet{1448, 12}), repeat(9, packet{1388, 12})...), 1388, observed},
		{"odd writes without PSH do not change a known MSS", mss{option: 1460, known: handshake}, false, []packet{{1001, 12}, {777, 12}, {901, 12}, {1003, 12}, {701, 12}, {733, 12}, {811, 12}, {907, 12}, {983, 12}}, 1448, handshake},
		{"an absurd option", mss{option: 20, known: handshake}, false, nil, minMSS, handshake},
	} {
		m := c.start
		for _, p := range c.packets {
			m.observe(p.payload, m.size(p.options, c.v6), p.options)
		}
		if got := m.size(12, c.v6); got != c.want || m.known != c.known {
			t.Errorf("%s: %d (%s), want %d (%s)", c.name, got, mssSources[m.known], c.want, mssSources[c.known])
		}
	}
}

// TestDurations holds the table's quantiles against the exact ones.
func TestDurations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Float64Range(100, 1e9).Draw(t, "base")
		values := rapid.SliceOfN(rapid.Map(rapid.Float64Range(1, 100), func(f float64) unit.Nanos { return unit.Nanos(f * base) }), 1, 300).Draw(t, "values")
		var d durations
		for _, v := range values {
			d.add(v)
		}
		slices.Sort(values)
		sum := d.summary()
		if sum.Min != values[0] || sum.Max != values[len(values)-1] || sum.Samples != int64(len(values)) {
			t.Fatalf("%+v for %v", sum, values)
		}
		if int(d.samples) <= len(d.few) && !slices.Contains(values, sum.P50) {
			t.Fatalf("median %v of few is none of %v", sum.P50, values)
		}
		low, high := values[max(0, len(values)/2-1)], values[min(len(values)-1, len(values)/2+1)]
		inRange := d.max < 500*d.few[0] && d.min > d.few[0]/8
		if inRange && (float64(sum.P50) < 0.8*float64(low) || float64(sum.P50) > 1.25*float64(high)) {
			t.Fatalf("median %v, exactly between %v and %v", sum.P50, low, high)
		}
	})
}

func TestDurationsSaturate(t *testing.T) {
	var d durations
	for i := range 200_000 {
		d.add(unit.Millisecond)
		if i%100 == 0 {
			d.add(100 * unit.Millisecond)
		}
	}
	if s := d.summary(); s.P50 < 900*unit.Microsecond || s.P50 > 1300*unit.Microsecond || s.P99 > 130*unit.Millisecond || s.Samples != 202_000 {
		t.Errorf("%+v", s)
	}
	d.add(-1)
	if d.samples != 202_000 {
		t.Error("a negative time was counted")
	}
}

// TestTable holds that the hash table is a map.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, model := newTable(), map[key]*conn{}
		table.slots = make([]slot, 4)
		for _, port := range rapid.SliceOfN(rapid.Uint32Range(0, 40), 0, 200).Draw(t, "ports") {
			k := key{ports: port}
			if c := model[k]; c != nil {
				table.remove(c)
				delete(model, k)
			} else {
				c := &conn{flow: flow{key: k}}
				table.insert(c, table.hash(&k))
				model[k] = c
			}
			for port := range uint32(41) {
				k := key{ports: port}
				if got := table.find(&k, table.hash(&k)); got != model[k] {
					t.Fatalf("port %d: %p, want %p", port, got, model[k])
				}
			}
			if table.used != len(model) {
				t.Fatalf("%d used, want %d", table.used, len(model))
			}
		}
	})
}

func TestKeyIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h pcap.Header
		h.Network = rapid.SampledFrom([]pcap.Network{pcap.IPv4, pcap.IPv6}).Draw(t, "network")
		n := 4
		if h.Network == pcap.IPv6 {
			n = 16
		}
		copy(h.Src[:], rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "src"))
		copy(h.Dst[:], rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "dst"))
		h.SrcPort, h.DstPort = rapid.Uint16().Draw(t, "sport"), rapid.Uint16().Draw(t, "dport")
		back := h
		back.Src, back.Dst, back.SrcPort, back.DstPort = h.Dst, h.Src, h.DstPort, h.SrcPort
		var k, r key
		fromHigh, fromHighBack := k.set(&h), r.set(&back)
		if k != r || (h.Source() != h.Destination() && fromHigh == fromHighBack) {
			t.Fatalf("%+v from %v, %+v from %v", k, fromHigh, r, fromHighBack)
		}
		low, high := k.ends()
		if fromHigh {
			low, high = high, low
		}
		if low != h.Source() || high != h.Destination() {
			t.Fatalf("ends %v and %v, want %v and %v", low, high, h.Source(), h.Destination())
		}
	})
}

// TestHoles holds the scoreboard against a set of bytes.
func TestHoles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r recovery
		missing := map[uint64]bool{}
		for i := range rapid.IntRange(0, len(r.holes)).Draw(t, "holes") {
			start := uint64(i*20 + rapid.IntRange(0, 5).Draw(t, "start"))
			end := start + rapid.Uint64Range(1, 14).Draw(t, "length")
			r.open(hole{start: start, end: end})
			for b := start; b < end; b++ {
				missing[b] = true
			}
		}
		for range rapid.IntRange(0, 10).Draw(t, "fills") {
			start := rapid.Uint64Range(0, 500).Draw(t, "from")
			end := start + rapid.Uint64Range(0, 60).Draw(t, "bytes")
			want := uint64(0)
			for b := start; b < end; b++ {
				if missing[b] {
					want++
					delete(missing, b)
				}
			}
			if _, got := r.fill(start, end); r.forgotten == 0 && got != want {
				t.Fatalf("fill(%d, %d) = %d, want %d", start, end, got, want)
			}
		}
	})
}

// TestConnectionSize holds what docs/performance.md says of the memory of a live connection.
func TestConnectionSize(t *testing.T) {
	if size := unsafe.Sizeof(conn{}); size > 1152 {
		t.Errorf("a live connection takes %d bytes", size)
	}
}

// TestLinesOfTheCache holds that what two cores write at a time is in lines of its own: what the tracker knows of a
// connection, what is judged of it, the next connection, and each step.
func TestLinesOfTheCache(t *testing.T) {
	const line = 64
	var c conn
	for name, n := range map[string]uintptr{"judged": unsafe.Offsetof(c.began), "next connection": unsafe.Sizeof(c), "next step": unsafe.Sizeof(step{})} {
		if n%line != 0 {
			t.Errorf("%s begins %d bytes behind a line's beginning", name, n%line)
		}
	}
}

// TestBound holds that the table keeps to its bound, and that what it drops is counted.
func TestBound(t *testing.T) {
	var ledger source.Ledger
	tracker := NewTracker("many", Options{MaxConnections: 100, MaxKept: 50, MaxServers: 10}, &ledger)
	for i := range 5000 {
		client, server := end{addr: [4]byte{10, 0, byte(i >> 8), byte(i)}, port: 40000}, end{addr: [4]byte{198, 51, 100, byte(i % 20)}, port: 80}
		h := client.header(&server, pcap.SYN, 0)
		tracker.Add(&pcap.Packet{Record: int64(i + 1), Offset: int64(i), Time: unit.Nanos(i) * unit.Millisecond, HasTime: true}, &h)
		if tracker.table.used > 100 {
			t.Fatalf("%d live connections", tracker.table.used)
		}
	}
	c := tracker.Finish()
	if c.Totals.Connections != 5000 || len(c.Connections) != 50 || c.Totals.NotKept != 4950 || c.Totals.Evicted != 4900 || len(c.Servers) != 10 {
		t.Errorf("%+v, %d kept, %d servers", c.Totals, len(c.Connections), len(c.Servers))
	}
	counts := map[string]int64{}
	for _, e := range ledger.Entries() {
		counts[e.Name] = e.Count
	}
	if want := map[string]int64{"connection-evicted": 4900, "connection-not-kept": 4950, "server-not-kept": 2500}; fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("ledger %v, want %v", counts, want)
	}
	if first := ledger.Entries()[0]; first.Name != "connection-evicted" || first.First.Record != 1 {
		t.Errorf("the first entry is %+v", first)
	}
}

// TestClosedLeave holds that closed connections leave the table after a quiet time, and that a late packet is still theirs.
func TestClosedLeave(t *testing.T) {
	v := makeConversation(1, 1)
	tracker := NewTracker("closed", Options{}, new(source.Ledger))
	var last Mark
	for i := range v.packets {
		last = tracker.Add(&v.packets[i], &v.headers[i])
	}
	n := len(v.packets) - 1
	p, h := v.packets[n], v.headers[n]
	p.Time += 5 * unit.Second
	if m := tracker.Add(&p, &h); m.Connection != last.Connection {
		t.Errorf("a straggler became connection %d", m.Connection)
	}
	other := h
	other.SrcPort++
	p.Time += 11 * unit.Second
	tracker.Add(&p, &other)
	if tracker.table.used != 1 {
		t.Errorf("%d connections in the table, want the new one only", tracker.table.used)
	}
}

// TestPortReuse holds that a SYN with another number begins another connection between the same ends.
func TestPortReuse(t *testing.T) {
	v, again := makeConversation(1, 2), makeConversation(1, 2)
	for i := range again.headers {
		h := &again.headers[i]
		shift := uint32(1_000_000)
		if h.SrcPort == 5001 {
			shift = 2_000_000
		}
		h.Seq += shift
		if h.Flags&pcap.ACK != 0 {
			h.Ack += 3_000_000 - shift
		}
		again.packets[i].Time += unit.Second
	}
	tracker := NewTracker("reuse", Options{}, new(source.Ledger))
	reused := 0
	for _, v := range []*conversation{v, again} {
		for i := range v.packets {
			if tracker.Add(&v.packets[i], &v.headers[i]).Flags&FlagPortReused != 0 {
				reused++
			}
		}
	}
	c := tracker.Finish()
	if len(c.Connections) != 2 || reused != 1 || !c.Connections[1].PortReused || c.Totals.RetransmittedPackets != 0 || c.Totals.Gaps != 0 {
		t.Errorf("%d connections, %d reused, %+v", len(c.Connections), reused, c.Totals.Loss)
	}
}

func TestSurprise(t *testing.T) {
	for _, c := range []struct {
		n, k int64
		p    float64
		want float64 // natural logarithm of the exact probability, which the bound must not go below
	}{{6, 6, 1.0 / 1448, -6 * math.Log(1448)}, {8, 4, 0.125, math.Log(0.0106)}, {100, 12, 0.125, math.Log(0.6)}, {0, 0, 0.5, 0}} {
		if got := surprise(c.n, c.k, c.p); got < c.want-1e-3 || got > 0 {
			t.Errorf("surprise(%d, %d, %g) = %g, want between %g and 0", c.n, c.k, c.p, got, c.want)
		}
	}
}
