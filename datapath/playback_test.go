package datapath

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// recordings reads the connections of a shared capture.
func recordings(t testing.TB, name string) []*Recording {
	t.Helper()
	f, err := os.Open(shared.Path(t, "data", "pcap", name+".pcap"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var ledger source.Ledger
	in, err := pcap.NewReader(source.NewInput(name, f), &ledger)
	if err != nil {
		t.Fatal(err)
	}
	r, tracker := NewRecorder(), tcp.NewTracker(name, tcp.Options{}, &ledger)
	var h pcap.Header
	for {
		p, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		h.Decode(p)
		r.Add(p, &h, tracker.Add(p, &h))
	}
	return r.Recordings(tracker.Finish())
}

func playback(t testing.TB, name, changes string) *Playback {
	t.Helper()
	list := recordings(t, name)
	if len(list) == 0 {
		t.Fatalf("%s holds no connection", name)
	}
	p, err := list[0].Play(nil, changes)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// Played as it was recorded, a connection has the same packets on the wire, and its exchanges take as long.
func TestBaseline(t *testing.T) {
	for _, name := range []string{"nagle-wwr-stall", "nagle-wwr-nodelay", "nagle-head-3mss1", "delack-server", "rr-4344-sender", "rr-4345-sender", "rtt20-sender"} {
		p := playback(t, name, "")
		if p.Baseline.WirePackets != p.Recorded.WirePackets {
			t.Errorf("%s: %d packets on the wire, recorded %d", name, p.Baseline.WirePackets, p.Recorded.WirePackets)
		}
		got, want := p.Baseline.ExchangeP50, p.Recorded.ExchangeP50
		if name == "rtt20-sender" {
			got, want = p.Baseline.Duration, p.Recorded.Duration
		}
		if off := float64(got)/float64(want) - 1; math.Abs(off) > 0.10 {
			t.Errorf("%s: %v, recorded %v (%+.1f %%)", name, got, want, 100*off)
		}
	}
}

func TestWhatIf(t *testing.T) {
	p := playback(t, "nagle-wwr-stall", "nodelay=on")
	other := playback(t, "nagle-wwr-nodelay", "")
	if off := float64(p.Changed.ExchangeP50)/float64(other.Recorded.ExchangeP50) - 1; math.Abs(off) > 0.15 || p.Changed.WirePackets != other.Recorded.WirePackets {
		t.Errorf("without Nagle's rule: %v and %d packets, recorded %v and %d", p.Changed.ExchangeP50, p.Changed.WirePackets, other.Recorded.ExchangeP50, other.Recorded.WirePackets)
	}
	p = playback(t, "bulk-gro-receiver", "gro=off")
	if n := p.Changed.AdvancingACKs; math.Abs(float64(n)/269-1) > 0.25 {
		t.Errorf("without GRO %d advancing ACKs, recorded 269", n)
	}
}

// A transfer behind a fixed window takes a round trip for each window, whatever the window that was recorded; and never is more
// than that on its way.
func TestReceiveWindow(t *testing.T) {
	c := recordings(t, "rtt20-sender")[0]
	for _, window := range []uint64{14480, 28960, 57920} {
		p, err := c.Play(nil, fmt.Sprintf("server.receive-window=%d", window))
		if err != nil {
			t.Fatal(err)
		}
		var sent, acked uint64
		for _, k := range p.changed {
			if k.fromServer {
				acked = max(acked, k.ack)
			} else if sent = max(sent, k.end); sent > acked+window {
				t.Fatalf("window %d: %d bytes are on their way", window, sent-acked)
			}
		}
		trips := float64(c.bytes(false)) / float64(window)
		if got := float64(p.Changed.Duration) / float64(p.RoundTrip); got < trips || got > 1.25*trips+6 {
			t.Errorf("window %d: %.1f round trips for %.1f windows", window, got, trips)
		}
	}
}

// What a window that was full let wait is one write, not pauses of the application; and it tells no rate of the path.
func TestWindowFullIsNoPause(t *testing.T) {
	c := recordings(t, "rtt20-sender")[0]
	played, err := c.Play(nil, "server.receive-window=14480")
	if err != nil {
		t.Fatal(err)
	}
	limited := *c
	limited.packets = played.changed
	again, err := limited.Play(nil, "server.receive-window=1000000")
	if err != nil {
		t.Fatal(err)
	}
	free, err := c.Play(nil, "rate=0,server.receive-window=1000000")
	if err != nil {
		t.Fatal(err)
	}
	if off := float64(again.Changed.Duration)/float64(free.Changed.Duration) - 1; again.Ends[0].Writes != 1 || math.Abs(off) > 0.1 {
		t.Errorf("%d writes, and %v without the window where %v are right", again.Ends[0].Writes, again.Changed.Duration, free.Changed.Duration)
	}
}

// A sender that counts ACKs needs more round trips the fewer ACKs there are; one that counts bytes does not.
func TestGrowth(t *testing.T) {
	c := recordings(t, "rtt20-gro-receiver")[0]
	took := map[string]unit.Nanos{}
	for _, changes := range []string{"growth=bytes,server.gro=on", "growth=bytes,server.gro=off", "growth=acks,server.gro=on", "growth=acks,server.gro=off"} {
		p, err := c.Play(nil, "rate=0,"+changes)
		if err != nil {
			t.Fatal(err)
		}
		took[changes] = p.Changed.Duration
	}
	bytes, merged, apart := took["growth=bytes,server.gro=on"], took["growth=acks,server.gro=on"], took["growth=acks,server.gro=off"]
	if !(bytes < apart && apart < merged) || took["growth=bytes,server.gro=off"] > bytes*11/10 {
		t.Errorf("%v", took)
	}
}

// With three segments to a super-segment, the one-byte tails leave by themselves, packet for packet as recorded so.
func TestWhatIfSequence(t *testing.T) {
	p := playback(t, "rr-4345-sender", "gso-max-segs=3")
	recorded := recordings(t, "rr-4345-gso3-sender")[0]
	var want []string
	for _, k := range recorded.packets {
		want = append(want, k.describe())
	}
	if diff := cmp.Diff(want, p.Sequence(true)); diff != "" {
		t.Errorf("recorded (-) and predicted (+):\n%s", diff)
	}
}

// Property: whatever the changes, a replay carries the bytes of the recording once and in order in both directions, closes
// as it did, never goes back in time, and is the same each time.
func TestPlaybackCarriesAll(t *testing.T) {
	var all []*Recording
	for _, name := range []string{"nagle-wwr-stall", "nagle-head-3mss1", "delack-server", "rr-4345-sender", "rtt20-sender", "bulk-gro-receiver", "bulk-nogro-receiver"} {
		all = append(all, recordings(t, name)...)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(all).Draw(t, "recording")
		var list []string
		for _, s := range []struct {
			key    string
			values []string
		}{{"nodelay", []string{"on", "off"}}, {"gro", []string{"on", "off"}}, {"cork", []string{"on", "off"}}, {"gso-max-segs", []string{"1", "2", "3", "20"}}, {"initial-window", []string{"1", "2", "10", "100"}},
			{"delayed-ack", []string{"0", "5000", "200000"}}, {"round-trip", []string{"1", "300", "20000"}}, {"rate", []string{"0", "10", "1000"}},
			{"growth", []string{"bytes", "acks"}}, {"receive-window", []string{"3000", "65535", "1000000"}}} {
			if rapid.Bool().Draw(t, s.key) {
				host := rapid.SampledFrom([]string{"", "client.", "server."}).Draw(t, "host")
				list = append(list, host+s.key+"="+rapid.SampledFrom(s.values).Draw(t, "value"))
			}
		}
		changes := strings.Join(list, ",")
		p, err := c.Play(nil, changes)
		if err != nil {
			t.Fatalf("%s: %v", changes, err)
		}
		if changes == "" {
			p.changed = p.baseline
		}
		var next [2]uint64
		last := unit.Nanos(0)
		for _, k := range p.changed {
			dir := boolIndex(k.fromServer)
			if k.at < last {
				t.Fatalf("%s: %s at %v follows one at %v", changes, k.describe(), k.at, last)
			}
			last = k.at
			if k.flags&pcap.SYN != 0 {
				continue
			}
			if k.seq != next[dir] {
				t.Fatalf("%s: %s where byte %d was due", changes, k.describe(), next[dir])
			}
			next[dir] = k.end
		}
		for dir, want := range []uint64{c.bytes(false), c.bytes(true)} {
			if next[dir] != want {
				t.Fatalf("%s: %d bytes in direction %d, recorded %d", changes, next[dir], dir, want)
			}
		}
		again, err := c.Play(nil, changes)
		if err != nil || !slices.Equal(again.baseline, p.baseline) {
			t.Fatalf("%s: a second replay differs (%v)", changes, err)
		}
	})
}

// BenchmarkPlay is the replay of a transfer of 1 MB, recovered and run.
func BenchmarkPlay(b *testing.B) {
	c := recordings(b, "rtt20-sender")[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Play(nil, ""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(c.packets)*b.N)/b.Elapsed().Seconds(), "packets/s")
}
