package datapath

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"nettrace/unit"
)

// closedSimulation is a network of single servers with exponential service, event by event: the same as mean-value
// analysis gives, written down another way.
type closedSimulation struct {
	engine *engine
	random *stream
	rounds int64
}

// visitor is the end of a customer's delay or of a station's service.
type visitor struct {
	*closedSimulation
	id    component
	next  *visitor // where a customer goes
	mean  unit.Nanos
	queue int
	delay bool // serves all at once
}

func (v *visitor) join() {
	v.queue++
	if v.delay || v.queue == 1 {
		v.engine.after(v.random.exponential(v.mean), v.id, pollLooks, 0)
	}
}

func (v *visitor) handle(kind, uint16) {
	v.queue--
	if !v.delay && v.queue > 0 {
		v.engine.after(v.random.exponential(v.mean), v.id, pollLooks, 0)
	}
	if v.delay {
		v.rounds++
	}
	v.next.join()
}

// simulateNetwork returns rounds per us.
func simulateNetwork(n network, span unit.Nanos) float64 {
	s := &closedSimulation{engine: &engine{}, random: newStream(1, "network")}
	first := &visitor{closedSimulation: s, mean: unit.Nanos(n.delay * 1000), delay: true}
	last := first
	for _, each := range n.stations {
		v := &visitor{closedSimulation: s, mean: unit.Nanos(each.demand * 1000)}
		last.next, last = v, v
	}
	last.next = first
	for v, done := first, false; !done; v, done = v.next, v.next == first {
		v.id = s.engine.add(v)
	}
	for range n.customers {
		first.join()
	}
	s.engine.run(span)
	return float64(s.rounds) / (float64(span) / 1000)
}

// Property: mean-value analysis is what a simulation gives, within 2 %, and within the asymptotic bounds always.
func TestMeanValueAnalysis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := network{customers: rapid.IntRange(1, 20).Draw(t, "customers"), delay: rapid.Float64Range(1, 100).Draw(t, "delay")}
		largest, sum := 0.0, n.delay
		for range rapid.IntRange(1, 3).Draw(t, "stations") {
			d := rapid.Float64Range(1, 50).Draw(t, "demand")
			n.stations = append(n.stations, station{demand: d})
			largest, sum = max(largest, d), sum+d
		}
		solved := n.solve()
		if limit := min(1/largest, float64(n.customers)/sum); solved.rounds > limit*1.000001 {
			t.Fatalf("%v rounds per us, more than %v", solved.rounds, limit)
		}
		inside := n.delay // Little: customers = rounds x time
		for i, s := range n.stations {
			inside += s.demand + solved.waiting[i]
		}
		if got := solved.rounds * inside; math.Abs(got/float64(n.customers)-1) > 1e-9 {
			t.Fatalf("%v customers by Little's law, %d in fact", got, n.customers)
		}
		if got := simulateNetwork(n, unit.Nanos(60000*1000/solved.rounds)); math.Abs(got/solved.rounds-1) > 0.02 {
			t.Fatalf("%+v: %v rounds per us simulated, %v computed", n, got, solved.rounds)
		}
	})
}

// Property: holding a lock longer never raises what a stream takes, and fewer visits never lower it.
func TestMappingMonotone(t *testing.T) {
	c, err := FrozenConstants(mapPages)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		hold := rapid.Float64Range(0, 20).Draw(t, "hold")
		longer := hold + rapid.Float64Range(0, 20).Draw(t, "more")
		rate := func(hold float64, p DMAPolicy) float64 {
			return mappingPredictor{c.with("lock-hold", hold)}.stream(p).rate
		}
		if rate(longer, PerFragment) > rate(hold, PerFragment) || rate(hold, PerPage) < rate(hold, PerFragment) {
			t.Fatalf("%v Gb/s at a hold of %v us, %v at %v; %v without the visits", rate(hold, PerFragment), hold, rate(longer, PerFragment), longer, rate(hold, PerPage))
		}
	})
}

// More CPUs contend: the same constants with 1 to 16 of them give what the study found.
func TestMappingCPUs(t *testing.T) {
	c, err := FrozenConstants(mapPages)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ cpus, rate, share float64 }{{1, 0.55, 0}, {2, 1.08, 0.03}, {4, 1.98, 0.10}, {8, 3.02, 0.32}, {16, 3.22, 0.64}} {
		s := mappingPredictor{c.with("cpus", x.cpus)}.stream(PerFragment)
		if math.Abs(s.rate-x.rate) > 0.015 || math.Abs(s.waitShare-x.share) > 0.012 {
			t.Errorf("%g CPUs: %.3f Gb/s and %.3f of the time in the lock, the study found %g and %g", x.cpus, s.rate, s.waitShare, x.rate, x.share)
		}
	}
}

// Each host of the thread was patched, or neither: with 1 byte the patch saves one pair on each.
func TestPairs(t *testing.T) {
	for _, x := range []struct{ size, receive, send int }{{1, 1, 0}, {38, 1, 0}, {39, 1, 1}, {90, 1, 1}, {446, 1, 1}, {447, 2, 1}, {900, 2, 2}, {1448, 2, 2}} {
		if r, s := PerFragment.receivePairs(x.size), PerFragment.sendPairs(x.size); r != x.receive || s != x.send {
			t.Errorf("%d bytes take %d pairs to receive and %d to send, expected %d and %d", x.size, r, s, x.receive, x.send)
		}
		if PerPage.receivePairs(x.size) != 0 || PerPage.sendPairs(x.size) != x.send || Unmapped.sendPairs(x.size) != 0 {
			t.Errorf("%d bytes: the other policies do not follow", x.size)
		}
	}
}

// Zero-copy pays from 34 KB on, between the sizes at which it was published to lose and to gain; service demand is an
// identity of rate and CPU share, which the hand-typed runs keep.
func TestSends(t *testing.T) {
	c, err := FrozenConstants(sdp)
	if err != nil {
		t.Fatal(err)
	}
	if x := (sendPredictor{c}).crossover(); x < 16<<10 || x > 64<<10 || math.Abs(x-34e3) > 1500 {
		t.Errorf("zero-copy pays from %.0f bytes on", x)
	}
	for _, x := range []struct{ rate, percent, demand float64 }{{7106.72, 13.32, 1.228}, {10254.89, 7.74, 0.495}, {8323.20, 13.64, 1.074}} {
		if got := ServiceDemand(8*x.percent/100, x.rate); math.Abs(got-x.demand) > 0.001 {
			t.Errorf("%v %% at %v Mb/s are %.4f us/KB, printed %v", x.percent, x.rate, got, x.demand)
		}
	}
}
