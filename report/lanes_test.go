package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/unit"
)

// Each recording of the demo stands over the axis of its clock, with the findings that are about it.
func TestLanesOfTheDemo(t *testing.T) {
	t.Chdir("..")
	r := analysed(t, demo)
	var got strings.Builder
	for _, group := range laneGroups(lanes(r, r.ShortNames(), newGallery(r))) {
		fmt.Fprintln(&got, "axis")
		for _, l := range group {
			fmt.Fprintf(&got, "%s %s, %v, %s:", l.name, l.kind, l.end-l.start, l.clock)
			for _, s := range l.spans {
				if f := &r.Findings[s.finding]; f.Severity > 0 {
					fmt.Fprintf(&got, " %s %.2f-%.2f", f.Rule, (s.from - l.start).Seconds(), (s.to - l.start).Seconds())
				}
			}
			fmt.Fprintln(&got)
		}
	}
	const want = `axis
rr-4345 counters, 10.0 s, file name: cross/adaptive-rx 0.00-10.00 nic/adaptive-unbalanced 0.00-10.00
axis
netperf-interim.txt benchmark, 9.88 s, times of the interim results: cross/adaptive-rx 0.00-9.88 bench/cliff 0.00-9.88 bench/noisy 0.00-9.88 nic/adaptive-flapping 0.00-9.88
netperf-interim.txt benchmark, 9.84 s, times of the interim results: cross/adaptive-rx 0.00-9.84 bench/cliff 0.00-9.84
axis
rr-4344-sender.pcap packets, 1.21 s, times of the packets:
rr-4344-wire.pcap packets, 1.21 s, times of the packets:
rr-4345-wire.pcap packets, 1.21 s, times of the packets: tcp/tso-split 0.00-1.21
rr-4345-gso3-sender.pcap packets, 1.21 s, times of the packets: cross/adaptive-rx 0.00-0.20 tcp/tso-split 0.00-1.21
rr-4345-gso3-receiver.pcap packets, 1.21 s, times of the packets: cross/adaptive-rx 0.00-0.20 tcp/tso-split 0.00-1.21
axis
netserver.perf.txt stacks, 1.59 s, its own: nothing tells when it began:
netserver.lockstat.txt locks, 10.0 s, its own: nothing tells when it began:
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

// Every lane stands over one axis; over an axis of the time of day no pause is so long that what lies around it cannot be seen.
func TestLanesStandOverOneAxisEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []*lane
		for range rapid.IntRange(1, 12).Draw(t, "lanes") {
			start := unit.Nanos(rapid.Int64Range(0, 1e15).Draw(t, "start"))
			all = append(all, &lane{utc: rapid.Bool().Draw(t, "utc"), start: start, end: start + unit.Nanos(rapid.Int64Range(1, 1e13).Draw(t, "length"))})
		}
		seen := map[*lane]bool{}
		for _, group := range laneGroups(all) {
			var covered stretch
			for _, l := range group {
				if seen[l] || l.utc != group[0].utc {
					t.Fatal("a lane stands over two axes, or over one of another kind of clock")
				}
				seen[l] = true
				if pause := l.start - covered.to; l.utc && covered.any && pause > longestPause*max(covered.to-covered.from, l.end-l.start) {
					t.Fatalf("a pause of %v over an axis on which %v is recorded before it", pause, covered.to-covered.from)
				}
				covered.put(l.start)
				covered.put(l.end)
			}
		}
		if len(seen) != len(all) {
			t.Fatalf("%d of %d lanes are drawn", len(seen), len(all))
		}
	})
}
