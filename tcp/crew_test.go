package tcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// sharded judges a capture file with some workers, which begin behind so many packets.
func sharded(t testing.TB, path string, workers int, atOnce int64) (*Capture, []source.Entry) {
	t.Helper()
	var ledger source.Ledger
	var c *Capture
	for src, err := range source.Walk([]string{path}, nil, &ledger) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := pcap.NewReader(src.Input, &ledger)
		if err != nil {
			t.Fatal(err)
		}
		tracker := NewTracker(filepath.Base(path), Options{Workers: workers}, &ledger)
		tracker.atOnce = atOnce
		for {
			p, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			h := tracker.Header()
			h.Decode(p)
			tracker.Add(p, h)
		}
		c = tracker.Finish()
	}
	return c, ledger.Entries()
}

// However many goroutines judge, and from whenever on, the model and the ledger are the same to the last byte.
func TestWorkersChangeNothing(t *testing.T) {
	paths, err := filepath.Glob(fixtures + "/*.pcap*")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	for _, path := range paths {
		one, ledger := sharded(t, path, 0, 0)
		want := asJSON(t, []any{one, ledger})
		for _, workers := range []int{1, 3} {
			for _, atOnce := range []int64{0, 17} {
				c, ledger := sharded(t, path, workers, atOnce)
				if got := asJSON(t, []any{c, ledger}); got != want {
					t.Errorf("%s with %d workers behind %d packets:\n%s\nwant\n%s", path, workers, atOnce, got, want)
				}
			}
		}
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// vary gives packets what a step has to carry besides: whatever of a header is judged and not of every packet.
func vary(all []made, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range all {
		p, h := &all[i].packet, &all[i].header
		h.ID, h.HasID, h.TTL, h.ECN = uint16(i/2), r.IntN(4) > 0, uint8(60+r.IntN(8)), uint8(r.IntN(4))
		h.VLAN, h.Tags = uint16(r.IntN(3)), uint8(r.IntN(2))
		p.Direction, p.LinkType = pcap.Direction(r.IntN(3)), pcap.LinkType(r.IntN(2))
		h.Checksum = uint16(r.Uint32())
		if h.Payload > 8 && r.IntN(8) == 0 {
			h.Fragment, h.FirstFrag, h.Payload = true, true, h.Payload/2
		}
		if r.IntN(20) == 0 {
			h.Fault, h.LengthZero = pcap.LengthBelow, true
		}
		if r.IntN(4) == 0 {
			h.Tunnels, h.Tunnel = 1, 7
		}
	}
}

// The same holds for any packets, also where connections are evicted, servers are not admitted and summaries not kept.
func TestWorkersChangeNothingAtTheBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []made
		for i := range rapid.IntRange(1, 9).Draw(t, "connections") {
			s := drawScript(t, i%6, base+unit.Nanos(rapid.Int64Range(0, 30_000).Draw(t, "start"))*unit.Millisecond)
			for j := range s.packets { // several servers, and ends that meet again
				if h := &s.packets[j].header; h.DstPort == s.server.port {
					h.DstPort += uint16(i % 4)
				} else {
					h.SrcPort += uint16(i % 4)
				}
			}
			all = append(all, s.packets...)
		}
		slices.SortStableFunc(all, func(a, b made) int { return cmp.Compare(a.packet.Time, b.packet.Time) })
		vary(all, rapid.Uint64().Draw(t, "headers"))
		o := Options{MaxConnections: rapid.IntRange(1, 8).Draw(t, "live"), MaxKept: rapid.IntRange(1, 8).Draw(t, "kept"), MaxServers: rapid.IntRange(1, 4).Draw(t, "servers")}
		apart := rapid.SampledFrom([]int64{100, 3 << 30}).Draw(t, "bytes apart") // other packets may lie between
		run := func(workers int) string {
			var ledger source.Ledger
			o.Workers = workers
			tracker := NewTracker("made", o, &ledger)
			tracker.atOnce = rapid.Int64Range(0, 40).Draw(t, "at once")
			for i := range all {
				p := all[i].packet
				p.Record, p.Offset = int64(i+1), int64(i)*apart
				tracker.Add(&p, &all[i].header)
			}
			return text(t, []any{tracker.Finish(), ledger.Entries()})
		}
		want := run(0)
		for workers := 1; workers < 4; workers++ {
			if got := run(workers); got != want {
				t.Fatalf("%d workers: %s\nwant %s", workers, got, want)
			}
		}
	})
}
