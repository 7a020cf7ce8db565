package analyze

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
	"nettrace/pcap"
	"nettrace/tcp"
	"nettrace/unit"
)

// collected runs an analysis of paths and reads the series that its findings cite.
func collected(t *testing.T, o SeriesOptions, paths ...string) *Result {
	t.Helper()
	r, errs := Run(context.Background(), paths, Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if err := CollectSeries(context.Background(), paths, r, o); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSeriesHasEveryCitedPacket follows the connections of the demo: each record of a capture that a finding cites is a
// point, with what the packets before and behind it tell.
func TestSeriesHasEveryCitedPacket(t *testing.T) {
	t.Chdir("..")
	r := collected(t, SeriesOptions{}, "fixtures/bundles/rr-4345")
	tails := map[string][]int64{} // records that tcp/tso-split cites, by capture
	for _, f := range r.Findings {
		for _, e := range f.Evidence {
			if f.Rule == "tcp/tso-split" {
				tails[e.Source] = append(tails[e.Source], e.Record)
			}
		}
	}
	if len(tails) < 3 || len(r.Models.Series) < len(tails) {
		t.Fatalf("%d series; tcp/tso-split cites %d captures", len(r.Models.Series), len(tails))
	}
	for _, s := range r.Models.Series {
		records := map[int64]Point{}
		total := int64(0)
		for _, c := range s.Directions {
			total += c.Packets
			for _, p := range c.Points {
				records[p.Record] = p
			}
			if int64(len(c.Points)) != c.Packets || len(c.Thinned) > 0 {
				t.Errorf("%s: %d points of %d packets", s.Source, len(c.Points), c.Packets)
			}
		}
		if len(s.Cited) == 0 || int64(len(records)) != total {
			t.Errorf("%s: cited %v, %d records of %d packets", s.Source, s.Cited, len(records), total)
		}
		for _, cited := range s.Cited {
			if p := records[cited]; p.Record != cited {
				t.Errorf("%s: packet %d is no point", s.Source, cited)
			}
		}
		for _, tail := range tails[s.Source] {
			if p := records[tail]; p.Mark != "tail-visible" || p.Bytes != 1 {
				t.Errorf("%s: packet %d is %+v", s.Source, tail, p)
			}
		}
	}
	receiver := r.Models.Series[slices.IndexFunc(r.Models.Series, func(s Series) bool { return filepath.Base(s.Source) == "rr-4345-gso3-receiver.pcap" })]
	sent := receiver.Directions[tcp.ClientToServer].Points
	if last := sent[len(sent)-1]; last.Seq+last.Bytes < 6*4345 {
		t.Errorf("six requests of 4345 bytes end at %d", last.Seq+last.Bytes)
	}
	back := receiver.Directions[tcp.ServerToClient].Points
	if back[0].ACK != 0 || back[0].Bytes != 0 || sent[0].ACK != -1 {
		t.Errorf("the handshake is %+v, %+v", sent[0], back[0])
	}
}

// TestSeriesMarksWhatTheTrackerCounts compares marks with the sums of the connection.
func TestSeriesMarksWhatTheTrackerCounts(t *testing.T) {
	file := shared.Path(t, "data", "pcap", "loss-queue-sender.pcap")
	r := collected(t, SeriesOptions{}, file)
	if len(r.Models.Series) != 1 {
		t.Fatalf("%d series", len(r.Models.Series))
	}
	s, c := &r.Models.Series[0], &r.Models.Captures[0].Connections[0]
	for dir := range s.Directions {
		counts := map[string]int64{}
		for _, p := range s.Directions[dir].Points {
			counts[p.Mark]++
		}
		d := &c.Directions[dir]
		if again := counts["retransmission"] + counts["spurious"]; again != d.RetransmittedPackets {
			t.Errorf("direction %d: %d packets are marked as sent again, the connection has %d", dir, again, d.RetransmittedPackets)
		}
		if counts["reordered"] != d.ReorderedPackets {
			t.Errorf("direction %d: %d packets are marked as reordered, the connection has %d", dir, counts["reordered"], d.ReorderedPackets)
		}
	}
}

func TestSeriesBounds(t *testing.T) {
	t.Chdir("..")
	if n := len(collected(t, SeriesOptions{Connections: 1}, "fixtures/bundles/rr-4345").Models.Series); n != 1 {
		t.Errorf("%d series; allowed is 1", n)
	}
	f, err := os.Open("fixtures/pcap/rr-4345-wire.pcap")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, errs := Run(context.Background(), []string{"-"}, Options{Stdin: f})
	if len(errs) > 0 || len(r.Findings) == 0 {
		t.Fatal(errs, len(r.Findings))
	}
	if err := CollectSeries(context.Background(), []string{"-"}, r, SeriesOptions{}); err != nil || len(r.Models.Series) != 0 {
		t.Errorf("standard input is read a second time: %v, %d series", err, len(r.Models.Series))
	}
}

func TestPointRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Point{unit.Nanos(rapid.Int64().Draw(t, "time")), rapid.Int64().Draw(t, "record"), rapid.Int64().Draw(t, "seq"), rapid.Int64().Draw(t, "bytes"),
			rapid.Int64().Draw(t, "ack"), rapid.SampledFrom([]string{"", "tail-held", "a \"quoted\" <one>"}).Draw(t, "mark"),
			rapid.Int64Min(-1).Draw(t, "edge"), rapid.SampledFrom([][][2]int64{nil, {{1, 2}}, {{5, 9}, {1, 2}}}).Draw(t, "sack")}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Point
		if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(p, back) {
			t.Fatalf("%+v is written as %s and read as %+v, %v", p, text, back, err)
		}
	})
	var p Point
	for _, bad := range []string{`[]`, `[1,2,3,4]`, `{"time":1}`, `["x",2,3,4,5]`} {
		if json.Unmarshal([]byte(bad), &p) == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// TestCourseIsThinnedEvenly feeds more packets than are kept: marks are thinned apart from the rest, first and last packet
// and those near a cited one are there, and what is said of the thinning is true.
func TestCourseIsThinnedEvenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		packets := rapid.Int64Range(1, 20_000).Draw(t, "packets")
		every := rapid.Int64Range(1, 500).Draw(t, "marked")
		cited := rapid.Int64Range(1, packets).Draw(t, "cited")
		var c course
		near := int64(0)
		for n := int64(1); n <= packets; n++ {
			p := Point{Record: n}
			if n%every == 0 {
				p.Mark = "tail-hidden"
			}
			if n == cited {
				c.keepRecent()
				near = nearby + 1
			}
			c.add(p, near > 0)
			near = max(near-1, 0)
		}
		done := c.finish()
		if len(done.Points) > plainPoints+markedPoints+2*nearby+2 {
			t.Fatalf("%d points", len(done.Points))
		}
		kept, counts := map[int64]bool{}, map[string]int64{}
		for i, p := range done.Points {
			if i > 0 && p.Record <= done.Points[i-1].Record {
				t.Fatalf("record %d behind %d", p.Record, done.Points[i-1].Record)
			}
			kept[p.Record] = true
			counts[p.Mark]++
		}
		for n := max(cited-nearby, 1); n <= min(cited+nearby, packets); n++ {
			if !kept[n] {
				t.Fatalf("packet %d is missing near the cited one, %d", n, cited)
			}
		}
		if !kept[1] || !kept[packets] {
			t.Fatal("the first or the last packet is missing")
		}
		seen := map[string]int64{"": packets - packets/every, "tail-hidden": packets / every}
		for _, thin := range done.Thinned {
			if thin.Packets != seen[thin.Mark] || counts[thin.Mark] < thin.Packets/thin.Every || thin.Every < 2 {
				t.Fatalf("%+v: seen %d, kept %d", thin, seen[thin.Mark], counts[thin.Mark])
			}
			delete(seen, thin.Mark)
		}
		for mark, n := range seen {
			if counts[mark] != n {
				t.Fatalf("%q is not said to be thinned, and %d of %d are kept", mark, counts[mark], n)
			}
		}
	})
}

func TestSequenceNumbersDoNotWrap(t *testing.T) {
	var e plottedEnd
	e.opened(&pcap.Header{Seq: 0xfffffff0})
	var got []int64
	for _, n := range []uint32{0xfffffff1, 0x00000010, 0x80000000, 0xfffffff0, 0x00000100, 0xffffff00} {
		e.nxt = e.relative(n)
		got = append(got, e.nxt)
	}
	if diff := cmp.Diff([]int64{0, 31, 1<<31 + 15, 1<<32 - 1, 1<<32 + 271, 1<<32 - 241}, got); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkCourse is what a packet of a followed connection costs.
func BenchmarkCourse(b *testing.B) {
	b.ReportAllocs()
	var c course
	for n := range b.N {
		c.add(Point{Record: int64(n)}, false)
	}
}

// TestPlotMarksAreNamedAsFlags: views find the marks of packets by these names.
func TestPlotMarksAreNamedAsFlags(t *testing.T) {
	for _, m := range PlotMarks() {
		if got := m.Flag.Names(); len(got) != 1 || got[0] != m.Name || m.Label == "" {
			t.Errorf("%+v is called %q", m, got)
		}
	}
}
