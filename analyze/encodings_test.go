package analyze

import (
	"bytes"
	"cmp"
	"context"
	bin "encoding/binary"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nettrace/finding"
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// plain returns the packets of the fixtures that any container can hold: of one interface, with times, cut to what all of
// them tell: microseconds, and no direction.
func plain(t *testing.T) map[string][]pcap.Packet {
	t.Helper()
	all := map[string][]pcap.Packet{}
	for _, r := range recordings(t) {
		packets := packetsOf(t, r.path, r.data)
		if slices.ContainsFunc(packets, func(p pcap.Packet) bool { return !p.HasTime || p.Interface > 0 }) {
			continue
		}
		for i := range packets {
			packets[i].Time -= packets[i].Time % unit.Microsecond
		}
		all[filepath.Base(r.path)] = packets
	}
	if len(all) < 20 {
		t.Fatalf("only %d fixtures", len(all))
	}
	return all
}

// judgedBytes is what Run says of a file.
func judgedBytes(t failer, data []byte) *Result {
	t.Helper()
	r, errs := Run(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(data)})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return r
}

// told is what is found, without offsets, and without what a container says of itself.
func told(t failer, r *Result) string {
	t.Helper()
	for _, c := range r.Models.Captures {
		c.Interfaces = nil
	}
	return learnt(t, r)
}

// The container and what it is compressed with change nothing.
func TestContainersAreEqual(t *testing.T) {
	all := plain(t)
	names := slices.Sorted(maps.Keys(all))
	zip := compressions()
	want := map[string]string{}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(names).Draw(rt, "fixture")
		packets := all[name]
		if want[name] == "" {
			want[name] = told(rt, judgedBytes(rt, classic(packets, bin.LittleEndian, 0xa1b23c4d, 1)))
		}
		in := rapid.SampledFrom(containers()).Draw(rt, "container")
		if in.fits != nil && !in.fits(packets[0].LinkType) {
			return
		}
		data := in.write(packets)
		around := rapid.SampledFrom(append(slices.Sorted(maps.Keys(zip)), "")).Draw(rt, "compression")
		if around != "" {
			data = compressed(t, zip[around], data)
		}
		if got := told(rt, judgedBytes(rt, data)); got != want[name] {
			rt.Fatalf("%s as %s, %s: %s", name, in.name, around, firstDifference(got, want[name]))
		}
	})
}

// The snap length changes nothing, as long as it keeps the headers.
func TestSnapLengthsAreEqual(t *testing.T) {
	all := plain(t)
	names := slices.Sorted(maps.Keys(all))
	want := map[string]string{}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(names).Draw(rt, "fixture")
		packets := slices.Clone(all[name])
		if want[name] == "" {
			want[name] = summaries(rt, judgedBytes(rt, classic(packets, bin.LittleEndian, 0xa1b23c4d, 1)))
		}
		snap := rapid.IntRange(headersOf(packets), 2000).Draw(rt, "snap length")
		for i := range packets {
			packets[i].Data = packets[i].Data[:min(len(packets[i].Data), snap)]
		}
		if got := summaries(rt, judgedBytes(rt, classic(packets, bin.LittleEndian, 0xa1b23c4d, 1))); got != want[name] {
			rt.Fatalf("%s cut to %d: %s", name, snap, firstDifference(got, want[name]))
		}
	})
}

// headersOf is the least snap length that keeps the headers of all packets, and of what is no TCP all that is read.
func headersOf(packets []pcap.Packet) (most int) {
	var h pcap.Header
	for i := range packets {
		p := &packets[i]
		h.Decode(p)
		keep := min(len(p.Data), readOf)
		if h.Transport == pcap.TCP {
			keep = min(len(p.Data), h.PayloadAt)
		}
		most = max(most, keep)
	}
	return most
}

// summaries is what findings say, but for the places, and for what needs whole packets: that the capture is cut, and wrong
// checksums.
func summaries(t failer, r *Result) string {
	t.Helper()
	var list []finding.Finding
	for _, f := range r.Findings {
		if wrong, _ := f.Measure("wrong_checksums"); f.Rule == "capture/truncated" || wrong > 0 {
			continue
		}
		f.ID, f.Evidence, f.Start, f.End = "", nil, 0, 0
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject.Key, b.Subject.Key))
	})
	b, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Connections mean nothing to each other: each may begin earlier or later.
func TestConnectionsMayMove(t *testing.T) {
	type set struct {
		name        string
		connections [][]pcap.Packet
	}
	var sets []set
	for name, packets := range plain(t) {
		if parts := connectionsOf(packets); len(parts) > 1 {
			sets = append(sets, set{name, parts})
		}
	}
	slices.SortFunc(sets, func(a, b set) int { return cmp.Compare(a.name, b.name) })
	if len(sets) < 3 {
		t.Fatalf("only %d fixtures with several connections", len(sets))
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SampledFrom(sets).Draw(rt, "fixture")
		var moved, still []pcap.Packet
		for _, c := range s.connections {
			by := unit.Nanos(rapid.IntRange(0, 3000).Draw(rt, "milliseconds")) * unit.Millisecond
			still = append(still, c...)
			for _, p := range c {
				p.Time += by
				moved = append(moved, p)
			}
		}
		byTime := func(a, b pcap.Packet) int { return cmp.Compare(a.Time, b.Time) }
		slices.SortStableFunc(moved, byTime)
		slices.SortStableFunc(still, byTime)
		of := func(packets []pcap.Packet) string {
			return summaries(rt, judgedBytes(rt, classic(packets, bin.LittleEndian, 0xa1b23c4d, 1)))
		}
		if got, want := of(moved), of(still); got != want {
			rt.Fatalf("%s: %s", s.name, firstDifference(got, want))
		}
	})
}

// connectionsOf parts packets by connection; what is no TCP is one more part.
func connectionsOf(packets []pcap.Packet) [][]pcap.Packet {
	tracker := tcp.NewTracker("", tcp.Options{}, new(source.Ledger))
	parts := map[int64][]pcap.Packet{}
	for _, p := range packets {
		h := tracker.Header()
		h.Decode(&p)
		number := tracker.Add(&p, h).Connection
		parts[number] = append(parts[number], p)
	}
	var list [][]pcap.Packet
	for _, n := range slices.Sorted(maps.Keys(parts)) {
		list = append(list, parts[n])
	}
	return list
}
