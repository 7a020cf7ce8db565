package datapath

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"nettrace/unit"
)

// sendersOf are n senders of the mp_ring review with its constants.
func sendersOf(t testing.TB, n int, d TXDiscipline) Senders {
	t.Helper()
	c, err := FrozenConstants(mpRing)
	if err != nil {
		t.Fatal(err)
	}
	s := Senders{Discipline: d, Senders: n, Queues: int(c.value("queues")), Stack: unit.Nanos(1000 * float64(n) / c.value(stackConstant(n))), Own: c.nanos("ring-lone"), Lock: 20}
	if d == Ring {
		s.Other = unit.Nanos(1000 / c.value("ring-queue"))
	} else {
		s.Other, s.Wake = unit.Nanos(1000/c.value("abdicate-queue")), c.nanos("abdicate-lone")
	}
	return s
}

// The ring's states, run as they are, give what the closed form of the published table takes from them: a lone producer pays
// for the ring, a shared queue is capped by its one consumer. They may be as far apart as the table's bar: the simulation also
// lets a drainer's own items go cheaply.
func TestRingSimulation(t *testing.T) {
	c, err := FrozenConstants(mpRing)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []TXDiscipline{Ring, RingAbdicate} {
		for _, n := range []int{1, 4, 16, 64} {
			sum := 0.0
			const seeds = 20
			for seed := range uint64(seeds) {
				r, err := sendersOf(t, n, d).Run(seed + 1)
				if err != nil {
					t.Fatal(err)
				}
				sum += r.Rate / 1e6 / seeds
			}
			want := disciplinePredictor{c}.placed(n, d)
			if off := sum/want.Mean - 1; math.Abs(off) > 0.20 {
				t.Errorf("%s, %d senders: %.2f Mpps simulated, %.2f by the closed form (%+.0f %%)", d, n, sum, want.Mean, 100*off)
			}
		}
	}
}

// A plain lock costs what it is held for; a reclaim that contends for it costs more the longer it holds it.
func TestPlainLock(t *testing.T) {
	s := Senders{Discipline: PlainLock, Senders: 8, Stack: 1000, Lock: 500, Other: 1}
	last := math.Inf(1)
	for _, reclaim := range []unit.Nanos{0, 2000, 8000} {
		s.Reclaim, s.ReclaimEvery = reclaim, 20*unit.Microsecond
		r, err := s.Run(1)
		if err != nil {
			t.Fatal(err)
		}
		if r.Rate > last || r.Rate > 2e6*1.001 {
			t.Errorf("with a reclaim of %v: %.0f packets/s, %.0f with a shorter one; the lock allows 2,000,000", reclaim, r.Rate, last)
		}
		if r.Lock.Contended == 0 || r.Lock.Wait < r.Lock.WaitMax || r.Lock.Hold > 20*unit.Millisecond {
			t.Errorf("lock statistics %+v", r.Lock)
		}
		last = r.Rate
	}
}

// Property: what is put into a queue is sent once or still there, whatever the discipline; a lock is held by one at a time,
// and in the order of asking.
func TestSendersConserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nanos := func(name string, least, most int) unit.Nanos {
			return unit.Nanos(rapid.IntRange(least, most).Draw(t, name))
		}
		s := Senders{
			Discipline: rapid.SampledFrom([]TXDiscipline{PlainLock, Ring, RingAbdicate}).Draw(t, "discipline"),
			Senders:    rapid.IntRange(1, 20).Draw(t, "senders"), Queues: rapid.IntRange(1, 4).Draw(t, "queues"),
			Stack: nanos("stack", 10, 3000), Lock: nanos("lock", 0, 1000), Own: nanos("own", 0, 500), Other: nanos("other", 1, 2000), Wake: nanos("wake", 0, 3000),
			RingSize: rapid.IntRange(4, 64).Draw(t, "ring"), Budget: rapid.IntRange(1, 200).Draw(t, "budget"), Duration: 300 * unit.Microsecond,
		}
		r, err := s.Run(1)
		if err != nil {
			t.Fatal(err)
		}
		if r.Lock.Hold > s.Duration*unit.Nanos(s.Queues) || r.Lock.Contended > r.Lock.Acquisitions {
			t.Fatalf("%+v", r.Lock)
		}
		if limit := float64(s.Senders) / (0.9 * s.Stack.Seconds()); r.Rate > limit*1.05+float64(s.Senders)/s.Duration.Seconds() {
			t.Fatalf("%.0f packets/s from senders that make %.0f", r.Rate, limit)
		}
		again, err := s.Run(1)
		if err != nil || again != r {
			t.Fatalf("a second run gives %+v, the first %+v", again, r)
		}
	})
}

func TestSendersRefused(t *testing.T) {
	for _, s := range []Senders{{}, {Discipline: "spin", Senders: 1, Stack: 1, Other: 1}, {Discipline: Ring, Senders: 1 << 20, Stack: 1, Other: 1}, {Discipline: Ring, Senders: 1, Other: 1}, {Discipline: Ring, Senders: 1, Stack: 1, Other: 1, RingSize: 2}} {
		if _, err := s.Run(1); err == nil {
			t.Errorf("%+v is simulated", s)
		}
	}
}
