package datapath

import (
	"errors"
	"io"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
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
