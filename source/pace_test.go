package source

import (
	"testing"

	"pgregory.net/rapid"

	"nettrace/unit"
)

// However long the recording: no record is lost, each is in the slice of its time, and the slices stay few.
func TestPaceCountsEachRecordInItsSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, rapid.SampledFrom([]int64{10, 1e6, 1e10, 1e15, 1<<63 - 1}).Draw(t, "span")), 1, 200).Draw(t, "times")
		var p Pace
		for _, at := range times {
			p.Add(unit.Nanos(at))
		}
		want := make([]int64, len(p.Counts))
		for _, at := range times {
			want[max(unit.Nanos(at)-p.Begin, 0)/p.Length]++
		}
		for i := range want {
			if p.Counts[i] != want[i] {
				t.Fatalf("slice %d of %d ns holds %d records; expected %d", i, p.Length, p.Counts[i], want[i])
			}
		}
		if len(p.Counts) > maxPaceSlices || p.Counts[len(p.Counts)-1] == 0 {
			t.Fatalf("%d slices, the last with %d records", len(p.Counts), p.Counts[len(p.Counts)-1])
		}
	})
}

// Clocks may be anything.
func TestPaceOfWildClocks(t *testing.T) {
	var p Pace
	for _, at := range []unit.Nanos{-1 << 63, 1<<63 - 1, 0, -5, 1 << 62, -1 << 63} {
		p.Add(at)
	}
	n := int64(0)
	for _, c := range p.Counts {
		n += c
	}
	if n != 6 {
		t.Errorf("%d records are counted; expected 6", n)
	}
}
