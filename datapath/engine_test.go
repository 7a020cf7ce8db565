package datapath

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nettrace/unit"
)

// spawner schedules, at each event, events with drawn delays, and logs what it sees.
type spawner struct {
	engine *engine
	delays [][]unit.Nanos
	log    []event
}

func (s *spawner) handle(k kind, arg uint16) {
	s.log = append(s.log, event{at: s.engine.now, tag: uint64(arg)})
	if len(s.delays) == 0 {
		return
	}
	next := s.delays[0]
	s.delays = s.delays[1:]
	for _, d := range next {
		s.engine.after(d, 0, k, uint16(s.engine.seq))
	}
}

// reference handles the same events out of a list that is searched.
func reference(delays [][]unit.Nanos) []event {
	type entry struct {
		at  unit.Nanos
		seq uint16
	}
	list, seq, log := []entry{{}}, uint16(1), []event(nil)
	for len(list) > 0 {
		first := slices.MinFunc(list, func(a, b entry) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
		list = slices.DeleteFunc(list, func(e entry) bool { return e == first })
		log = append(log, event{at: first.at, tag: uint64(first.seq)})
		if len(delays) > 0 {
			for _, d := range delays[0] {
				list = append(list, entry{first.at + d, seq})
				seq++
			}
			delays = delays[1:]
		}
	}
	return log
}

// Property: events come in the order of time, then of scheduling, whatever they schedule.
func TestEngineOrder(t *testing.T) {
	delay := rapid.Custom(func(t *rapid.T) unit.Nanos { return unit.Nanos(rapid.IntRange(0, 5).Draw(t, "delay")) })
	rapid.Check(t, func(t *rapid.T) {
		delays := rapid.SliceOfN(rapid.SliceOfN(delay, 0, 4), 1, 60).Draw(t, "delays")
		s := &spawner{engine: &engine{}, delays: delays}
		s.engine.after(0, s.engine.add(s), 0, 0)
		s.engine.run(1000)
		want := reference(delays)
		if !slices.Equal(s.log, want) {
			t.Fatalf("events came as %v, want %v", s.log, want)
		}
		if s.engine.events() != int64(len(want)) {
			t.Fatalf("%d events are counted, %d happened", s.engine.events(), len(want))
		}
	})
}

func simulate(t testing.TB, settings, workload string, seed uint64) *simulation {
	t.Helper()
	c, w := scenario(t, settings, workload)
	s, err := newSimulation(c, w, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// scenario reads settings, as changes to those of the thread, and a workload.
func scenario(t testing.TB, settings, workload string) (Config, Workload) {
	t.Helper()
	c := Thread()
	if settings != "" {
		if err := c.Apply(settings); err != nil {
			t.Fatal(err)
		}
	}
	w, err := ParseWorkload(workload)
	if err != nil {
		t.Fatal(err)
	}
	return c, w
}

// A run that is cut in two and resumed equals the whole.
func TestCutRun(t *testing.T) {
	whole := simulate(t, "", "rr:4344,1", 7)
	whole.engine.run(unit.Second)
	cut := simulate(t, "", "rr:4344,1", 7)
	for _, until := range []unit.Nanos{1, 12345, 260 * unit.Millisecond, 260 * unit.Millisecond, unit.Second} {
		cut.engine.run(until)
	}
	if whole.engine.hash != cut.engine.hash || whole.exchange.transactions != cut.exchange.transactions {
		t.Errorf("hash %x and %d transactions whole, %x and %d cut", whole.engine.hash, whole.exchange.transactions, cut.engine.hash, cut.exchange.transactions)
	}
}

// Once it runs, a simulation allocates nothing.
func TestNoAllocation(t *testing.T) {
	for _, workload := range []string{"rr:4345,1", "rr:60000,3000,8"} {
		s := simulate(t, "", workload, 1)
		s.engine.run(unit.Second)
		n := testing.AllocsPerRun(5, func() { s.engine.run(s.engine.now + 200*unit.Millisecond) })
		if n != 0 {
			t.Errorf("%s: %v allocations in 200 ms", workload, n)
		}
	}
}

// The hashes of the event logs stay what they are: a change here is a change of every prediction.
func TestGoldenHashes(t *testing.T) {
	for _, c := range []struct {
		settings, workload string
		seed               uint64
		transactions       int64
		hash               uint64
	}{
		{"", "rr:4344,1", 1, 9532, 0x6b5316cfe9cb380f},
		{"", "rr:4345,1", 1, 4397, 0x106e3d437ed3e262},
		{"", "rr:4345,1", 2, 4441, 0x87a16376f2c84221},
		{"adaptive-rx=off", "rr:4345,1", 1, 10220, 0x7401cd9e82b1051f},
		{"policy=mlx4-v2", "rr:4345,1", 1, 5809, 0x9e3121f9c9eac4f0},
		{"counters=merged,server.rx-usecs-high=64", "rr:4344,1", 1, 7284, 0x2e6b4144f272557},
		{"rx-frames=2,hz=1000", "rr:1,1", 1, 15290, 0x112a40fb7e5526b8},
		{"", "rr:60000,3000,8", 1, 19585, 0x19563a83b10bc0f3},
		{"policy=net-dim,rx-usecs=8", "rr:4345,1448,4", 3, 50782, 0x702cf96cc668159b},
		{"adaptive-rx=off,client.rx-usecs=0,server.rx-frames=1", "rr:9000,200,2", 5, 26410, 0x3525580ee91c7eb8},
	} {
		config, w := scenario(t, c.settings, c.workload)
		w.Duration = unit.Second
		r, err := Run(config, w, c.seed)
		if err != nil {
			t.Fatal(err)
		}
		if r.Transactions != c.transactions || r.Hash != c.hash {
			t.Errorf("{%q, %q, %d, %d, %#x},", c.settings, c.workload, c.seed, r.Transactions, r.Hash)
		}
		again, err := Run(config, w, c.seed)
		if err != nil || again.Hash != r.Hash {
			t.Errorf("%s %s: a second run has hash %x, not %x (%v)", c.settings, c.workload, again.Hash, r.Hash, err)
		}
	}
}
