package tcp

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"nettrace/finding"
	"nettrace/fixtures/shared"
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// mustSay is what a right detector gives the largest share, with the least share (of the time between handshake and last
// flight), for captures whose limit is known by construction.
var mustSay = map[string]struct {
	group string
	least float64
}{
	"app-idle": {"application", 0.80}, "app-small": {"application", 0.90}, "rwnd": {"receiver_window", 0.85}, "net-loss": {"network", 0.80},
	"net-buffer": {"network", 0.80}, "slow-start": {"slow_start", 0.80}, "snd": {"sending_host", 0.85}, "timeout": {"timeout", 0.65},
}

// limitedBy returns the finding of a capture, which must have one.
func limitedBy(t testing.TB, c *Capture) finding.Finding {
	t.Helper()
	found := LimitedBy().Run(c, nil)
	if len(found) != 1 {
		t.Fatalf("%s: %d findings", c.Source, len(found))
	}
	return found[0]
}

func shares(f *finding.Finding) map[string]float64 {
	list := map[string]float64{}
	for _, m := range f.Measures {
		if name, ok := cutPrefix(m.Name, "share_"); ok {
			list[name] = m.Value
		}
	}
	return list
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return s, false
	}
	return s[len(prefix):], true
}

// TestLimitedBy holds the verdicts at both ends, and that the ends agree.
func TestLimitedBy(t *testing.T) {
	dir := shared.Path(t, "data/limits")
	for name, want := range mustSay {
		var at [2]map[string]float64
		for i, end := range []string{"sender", "receiver"} {
			f := limitedBy(t, read(t, filepath.Join(dir, name+"-"+end+".pcap")).Capture)
			at[i] = shares(&f)
			if f.Measures[0].Name != "share_"+want.group || f.Measures[0].Value < want.least {
				t.Errorf("%s at the %s: first is %s with %.3f, want %s with at least %.2f", name, end, f.Measures[0].Name, f.Measures[0].Value, want.group, want.least)
			}
			if f.Confidence == finding.Low {
				t.Errorf("%s at the %s: confidence %v, %v", name, end, f.Confidence, f.Reasons)
			}
			if rate, ok := f.Measure("bottleneck_rate"); ok != (want.group == "network") || ok && !between(rate, name) {
				t.Errorf("%s at the %s: bottleneck %g", name, end, rate)
			}
		}
		for group, share := range at[0] {
			if math.Abs(share-at[1][group]) > 0.10 {
				t.Errorf("%s: share of %s is %.3f at the sender, %.3f at the receiver", name, group, share, at[1][group])
			}
		}
	}
}

// between says whether a bottleneck's rate is that of the emulator, less the headers.
func between(rate float64, name string) bool {
	low, high := 4.8e6, 5.0e6
	if name == "net-buffer" {
		low, high = 3.8e6, 4.0e6
	}
	return rate >= low && rate <= high
}

// TestLimitIntervals holds that two limits in turn are told apart in time: the phases of one sender, by its own log.
func TestLimitIntervals(t *testing.T) {
	const change, roundTrip = 1065 * unit.Millisecond, 51 * unit.Millisecond // from the begin of the first phase
	dir := shared.Path(t, "data/limits")
	for _, end := range []string{"sender", "receiver"} {
		k := &read(t, filepath.Join(dir, "snd-"+end+".pcap")).Connections[0]
		var long []LimitInterval
		for _, x := range k.Directions[ClientToServer].Limit.Intervals {
			if x.End-x.Start > 4*roundTrip {
				long = append(long, x)
			}
		}
		if len(long) != 2 || long[0].Class != "own-window" || long[1].Class != "paced" {
			t.Fatalf("%s: %+v", end, long)
		}
		mark := k.Start + roundTrip + change
		if from, to := long[0].End, long[1].Start; from < mark-2*roundTrip || to > mark+2*roundTrip {
			t.Errorf("%s: the first ends at %v, the second begins at %v; the phases change at %v", end, from, to, mark)
		}
		if rate := float64(long[1].Bytes) / (long[1].End - long[1].Start).Seconds(); rate < 140_000 || rate > 155_000 {
			t.Errorf("%s: paced at %.0f bytes/s, want 150,000", end, rate)
		}
	}
}

// sums holds that the times of each account add up to the life of its connection.
func sums(t testing.TB, c *Capture) (accounts int) {
	t.Helper()
	for i := range c.Connections {
		k := &c.Connections[i]
		for dir := range k.Directions {
			if k.Directions[dir].Limit == nil {
				continue
			}
			accounts++
			sum := unit.Nanos(0)
			for class, took := range k.Directions[dir].Limits {
				if sum += took; took < 0 {
					t.Fatalf("%s: %s, class %s has %v", c.Source, k.Name(), limitNames[class], took)
				}
			}
			if sum != k.End-k.Start {
				t.Fatalf("%s: %s, %s: %v of %v are accounted", c.Source, k.Name(), ways[dir], sum, k.End-k.Start)
			}
		}
	}
	return accounts
}

// TestLimitTimesSum holds it for every capture that there is.
func TestLimitTimesSum(t *testing.T) {
	accounts := 0
	folders := []string{fixtures}
	for _, folder := range []string{"data/pcap", "data/limits", "data/public-pcap"} {
		t.Run(folder, func(t *testing.T) { folders = append(folders, shared.Path(t, folder)) })
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.pcap"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			accounts += sums(t, read(t, f).Capture)
		}
	}
	if accounts < 20 {
		t.Errorf("only %d accounts", accounts)
	}
}

// TestLimitTimesSumAlways holds it for made-up connections.
func TestLimitTimesSumAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, _ := track(drawScript(t, 0, base).packets)
		for i := range c.Connections {
			k := &c.Connections[i]
			for dir := range k.Directions {
				sum, l := unit.Nanos(0), k.Directions[dir].Limits
				for _, took := range l {
					if sum += took; took < 0 {
						t.Fatalf("%v", l)
					}
				}
				if k.Directions[dir].Limit != nil && sum != k.End-k.Start {
					t.Fatalf("%v of %v are accounted", sum, k.End-k.Start)
				}
			}
		}
	})
}

// packetsOf reads all packets of a capture.
func packetsOf(t testing.TB, path string) []made {
	t.Helper()
	var list []made
	var ledger source.Ledger
	for src, err := range source.Walk([]string{path}, nil, &ledger) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := pcap.NewReader(src.Input, &ledger)
		if err != nil {
			t.Fatal(err)
		}
		for {
			p, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			m := made{packet: p.Copy()}
			m.header.Decode(&m.packet)
			list = append(list, m)
		}
	}
	return list
}

// TestLimitsOfDamaged holds that damage makes no wrong verdict: it stays, or becomes unknown, and lacking packets lower the
// confidence.
func TestLimitsOfDamaged(t *testing.T) {
	dir := shared.Path(t, "data/limits")
	for name, want := range mustSay {
		for _, end := range []string{"sender", "receiver"} {
			packets := packetsOf(t, filepath.Join(dir, name+"-"+end+".pcap"))
			for damage, keep := range map[string]func(i int, m *made) bool{
				"1 % lack":    func(i int, _ *made) bool { return mix(uint64(i), 7)%100 != 0 || i < 3 },
				"no SYN":      func(_ int, m *made) bool { return m.header.Flags&pcap.SYN == 0 },
				"second half": func(i int, _ *made) bool { return i > len(packets)/2 },
				"one way":     func(_ int, m *made) bool { return m.header.DstPort == 5001 },
			} {
				var left []made
				for i := range packets {
					if keep(i, &packets[i]) {
						left = append(left, packets[i])
					}
				}
				c, _ := track(left)
				sums(t, c)
				for _, f := range LimitedBy().Run(c, nil) {
					group, _ := cutPrefix(f.Measures[0].Name, "share_")
					if damage == "1 % lack" && f.Confidence != finding.Low && c.Totals.MissedBytes*lackingOf > c.Totals.GoodputBytes {
						t.Errorf("%s at the %s, %s: confidence %v", name, end, damage, f.Confidence)
					}
					if group != want.group && group != "unknown" {
						t.Errorf("%s at the %s, %s: %v %s", name, end, damage, f.Confidence, f.Summary)
					}
				}
			}
		}
	}
}

// TestNearLimits holds what must not be taken for something else.
func TestNearLimits(t *testing.T) {
	for file, want := range map[string]string{
		"zerowindow-sender.pcap":    "share_receiver_window",
		"rtt20-gro-receiver.pcap":   "share_slow_start", // with GRO the ACKs are few
		"loss-random-receiver.pcap": "share_network",
		"nagle-head-3mss1.pcap":     "share_application", // held for a round trip, then idle
		"delack-server.pcap":        "share_application",
		// Their limits are known by construction.
		"limit-app-idle-receiver.pcap":   "share_application",
		"limit-rwnd-sender.pcap":         "share_receiver_window",
		"limit-slow-start-receiver.pcap": "share_slow_start",
		"limit-timeout-receiver.pcap":    "share_timeout", // nothing arrives: only the identifications tell it from idleness
		"limit-snd-sender.pcap":          "share_sending_host",
		"limit-paced-sender.pcap":        "share_sending_host", // from its first packet on: the path looks as busy as the sender's timer lets it
		"limit-nagle-receiver.pcap":      "share_application",
	} {
		if f := limitedBy(t, read(t, fixture(t, file)).Capture); f.Measures[0].Name != want {
			t.Errorf("%s: %s", file, f.Summary)
		}
	}
	for _, file := range []string{"nagle-wwr-stall.pcap", "loopback.pcap", "many-conns.pcap", "mid-stream.pcap"} { // too little data for a verdict
		if found := LimitedBy().Run(read(t, fixture(t, file)).Capture, nil); len(found) != 0 {
			t.Errorf("%s: %s", file, found[0].Summary)
		}
	}
}

// TestSharedIdentifications holds that numbers which a host gave to packets of other connections prove no loss: silence stays
// what it was, and what only numbers tell from idleness counts as such.
func TestSharedIdentifications(t *testing.T) {
	for file, want := range map[string]string{
		"limit-app-idle-receiver.pcap": "share_application",
		"limit-timeout-receiver.pcap":  "share_application",
	} {
		packets := packetsOf(t, filepath.Join(fixtures, file))
		elsewhere, last := [2]uint16{}, [2]unit.Nanos{}
		for i := range packets {
			h, now := &packets[i].header, packets[i].packet.Time
			from := 0
			if h.SrcPort == 5001 {
				from = 1
			}
			if idle := now - last[from]; last[from] > 0 { // others send all the time, and now and then between two of a burst
				elsewhere[from] += uint16(min(idle/(10*unit.Millisecond), 100)) + uint16(mix(uint64(i), 3)%3/2)
			}
			last[from] = now
			h.ID += elsewhere[from]
		}
		c, _ := track(packets)
		if f := limitedBy(t, c); f.Measures[0].Name != want || shares(&f)["timeout"] != 0 {
			t.Errorf("%s: %s", file, f.Summary)
		}
	}
}

// TestSenderClock holds that the tick of a timestamp clock is found.
func TestSenderClock(t *testing.T) {
	for _, tick := range []unit.Nanos{unit.Millisecond, 4 * unit.Millisecond, 10 * unit.Millisecond, unit.Microsecond} {
		var k senderClock
		for i := range 2000 {
			at := unit.Nanos(i) * unit.Millisecond
			left := k.sentAt(at+unit.Nanos(i%7)*unit.Millisecond, uint32(at/tick))
			if i > 1000 && (left > at+tick || left < at-tick) {
				t.Fatalf("tick %v: packet of %v left at %v", tick, at, left)
			}
		}
		if k.tick != tick {
			t.Errorf("tick is %v, want %v", k.tick, tick)
		}
	}
}

func TestDispersion(t *testing.T) {
	var h dispersion
	for i := range 200 {
		took := unit.Millisecond
		if i%5 == 0 {
			took = 10 * unit.Millisecond
		}
		h.see(1500, took, 1)
	}
	if rate, n := h.quantile(); n != 200 || math.Abs(rate-1.5e6) > 100 {
		t.Errorf("%g bytes/s of %d samples, want 1.5 MB/s of 200", rate, n)
	}
	h.halve()
	if rate, n := h.quantile(); n != 100 || math.Abs(rate-1.5e6) > 1e4 {
		t.Errorf("halved: %g bytes/s of %d", rate, n)
	}
	h.see(1500, 0, 1)
	h.see(math.MaxUint32, 1, 1)
	if _, n := h.quantile(); n != 101 {
		t.Errorf("%d samples", n)
	}
}

// TestBatchesHideNoBottleneck holds that the capacity is right where the receiver takes packets in batches, whatever their
// size, and that a pause of the sender is none of it.
func TestBatchesHideNoBottleneck(t *testing.T) {
	const spacing, size = 100 * unit.Microsecond, 1448 // 14.5 MB/s
	for _, batch := range []int{1, 2, 3, 4} {
		var l limit
		l.least = 40 * unit.Millisecond
		for i := range 3000 {
			at := unit.Nanos(i/batch*batch)*spacing + unit.Nanos(i%batch)*unit.Microsecond
			at += unit.Nanos(i/100) * 30 * unit.Millisecond // a window of 100 packets, then a pause
			l.spaced(size, at)
		}
		if rate, n := l.capacity.quantile(); n < 2000 || rate < 0.7*14.48e6 || rate > 1.4*14.48e6 {
			t.Errorf("batches of %d: %.1f MB/s of %d samples, want 14.5", batch, rate/1e6, n)
		}
	}
}

func TestLimitTimesRoundTrip(t *testing.T) {
	in := LimitTimes{limitIdle: 5, limitClosing: 7}
	text, err := json.Marshal(in)
	if err != nil || string(text) != `{"idle":5,"closing":7}` {
		t.Fatalf("%s, %v", text, err)
	}
	var back LimitTimes
	if err := json.Unmarshal(text, &back); err != nil || back != in || back.Of("idle") != 5 || back.Of("nothing") != 0 {
		t.Errorf("%v, %v", back, err)
	}
	if slices.Contains(limitNames[:], "") {
		t.Error("a class without a name")
	}
}

// TestAccountSize holds what docs/packets.md says of the memory of an account.
func TestAccountSize(t *testing.T) {
	if here, there := unsafe.Sizeof(limit{}), unsafe.Sizeof(limit{})+unsafe.Sizeof(ackRing{}); here > 2400 || there > 3500 {
		t.Errorf("an account takes %d bytes at the sender, %d elsewhere", here, there)
	}
}
