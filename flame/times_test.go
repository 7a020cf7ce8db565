package flame

import (
	"bytes"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

func readTimed(t testing.TB, text []byte, o PerfOptions) *Profile {
	t.Helper()
	ledger := &source.Ledger{}
	o.Times = true
	p, err := ReadPerf(source.NewLines(source.NewInput("x.perf.txt", bytes.NewReader(text)), ledger), ledger, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTimesAddUp: what is kept of the samples' times is what the samples add up to, also in a part of the profile.
func TestTimesAddUp(t *testing.T) {
	for _, name := range []string{netserver, fixture("multi-event.perf.txt"), fixture("default.perf.txt")} {
		whole := readTimed(t, shared.Read(t, name), PerfOptions{})
		for _, p := range []*Profile{whole, whole.Select(Selection{Demangle: true}), whole.Select(Selection{MergeRecursion: true, Kinds: []Kind{Kernel}})} {
			sums := make([]cell, len(p.pprof.Sample))
			for k, c := range p.timed().cells {
				sums[k.sample].add(c)
			}
			for i, s := range p.pprof.Sample {
				var want cell
				for e := range p.Events {
					want.add(cell{s.Value[2*e], s.Value[2*e+1]})
				}
				if sums[i] != want {
					t.Fatalf("%s: sample %d: %+v in slices, %+v in all", name, i, sums[i], want)
				}
			}
		}
	}
}

func TestTimesBounds(t *testing.T) {
	x := newTimes()
	x.known = true
	for i := range 3 * maxCells {
		x.now = unit.Nanos(i) * unit.Microsecond
		x.add(uint32(i%(maxCells/2)), cell{1, 2})
	}
	if len(x.cells) > maxCells || x.slices() > maxSlices {
		t.Errorf("%d cells, %d slices", len(x.cells), x.slices())
	}
	total := cell{}
	for _, c := range x.cells {
		total.add(c)
	}
	if total != (cell{3 * maxCells, 6 * maxCells}) {
		t.Errorf("%+v in all", total)
	}
	x.now = -unit.Second // a sample out of order counts with the first
	x.add(7, cell{1, 2})
	if x.cells[cellKey{7, 0}].samples == 0 {
		t.Error("an early sample is lost")
	}
}

// TestTimesAreWindows: the slices of a stretch of time hold what reading that stretch alone does.
func TestTimesAreWindows(t *testing.T) {
	text := shared.Read(t, netserver)
	p := readTimed(t, text, PerfOptions{})
	times := p.timed()
	for _, w := range [][2]int{{0, 10}, {10, 100}, {50, 51}, {100, times.slices()}} {
		begin, end := times.begin+unit.Nanos(w[0])*times.size, times.begin+unit.Nanos(w[1])*times.size
		want := readTimed(t, text, PerfOptions{Window: perf.Window{From: begin, To: end}})
		got := int64(0)
		for k, c := range times.cells {
			if int(k.slice) >= w[0] && int(k.slice) < w[1] {
				got += c.samples
			}
		}
		if samples := totalSamples(want); got != samples {
			t.Errorf("slices %v: %d samples, %d when read alone", w, got, samples)
		}
	}
}

func totalSamples(p *Profile) (n int64) {
	for _, e := range p.Events {
		n += e.Samples
	}
	return n
}
