package datapath

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"nettrace/coalesce"
	"nettrace/unit"
)

// drawNIC draws settings, those near the thread's among them.
func drawNIC(t *rapid.T, name string) NIC {
	usecs := rapid.SampledFrom([]uint64{0, 1, 5, 16, 20, 64, 128, 300})
	return NIC{
		Moderation: coalesce.Moderation{
			AdaptiveRX: rapid.Bool().Draw(t, name+" adaptive"), RXUsecs: usecs.Draw(t, name+" usecs"),
			RXFrames:   rapid.SampledFrom([]uint64{0, 1, 2, 3, 44}).Draw(t, name+" frames"),
			RXUsecsLow: usecs.Draw(t, name+" low"), RXUsecsHigh: usecs.Draw(t, name+" high"),
			PktRateLow: 400000, PktRateHigh: 450000,
		},
		Policy:   rapid.SampledFrom(coalesce.PolicyNames()).Draw(t, name+" policy"),
		Counters: rapid.SampledFrom([]Counters{Wire, Merged}).Draw(t, name+" counters"),
		HZ:       rapid.SampledFrom([]int{0, 100, 250, 1000}).Draw(t, name+" hz"),
	}
}

func drawSimulation(t *rapid.T, length unit.Nanos) (*simulation, Workload) {
	size := rapid.OneOf(rapid.IntRange(1, 10000), rapid.SampledFrom([]int{1, 1447, 1448, 1449, 2896, 4344, 4345, MaxMessage}))
	w := Workload{Request: size.Draw(t, "request"), Response: size.Draw(t, "response"), Depth: rapid.IntRange(1, 8).Draw(t, "depth"), Duration: length}
	c := Config{Client: drawNIC(t, "client"), Server: drawNIC(t, "server")}
	s, err := newSimulation(c, w, rapid.Uint64().Draw(t, "seed"))
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

// watcher checks a simulation before each event.
type watcher struct {
	t    *rapid.T
	s    *simulation
	w    Workload
	last unit.Nanos
}

func (w *watcher) see(e event) {
	if e.at < w.last {
		w.t.Fatalf("an event at %d after one at %d", e.at, w.last)
	}
	w.last = e.at
	w.places()
	for _, h := range []struct {
		name     string
		from, to *host
	}{{"client", &w.s.client, &w.s.server}, {"server", &w.s.server, &w.s.client}} {
		w.conserves(h.name, h.from, h.to)
		w.timer(e, h.name, &h.from.nic)
		if h.from.tcp.unacked > h.from.tcp.mss {
			w.t.Fatalf("%s: %d bytes wait for an ACK at %d", h.name, h.from.tcp.unacked, e.at)
		}
	}
	x := &w.s.exchange
	if x.open < 0 || x.open > w.w.Depth {
		w.t.Fatalf("%d requests outstanding at %d, at most %d may be", x.open, e.at, w.w.Depth)
	}
	if answers := int64(w.s.server.tcp.sent) / int64(w.w.Response); x.transactions > answers {
		w.t.Fatalf("%d transactions of %d responses", x.transactions, answers)
	}
	if asked := x.transactions + int64(x.open); int64(w.s.client.tcp.sent) > asked*int64(w.w.Request) {
		w.t.Fatalf("%d bytes of %d requests", w.s.client.tcp.sent, asked)
	}
}

// places checks that each frame is in one place: on the link or in a ring.
func (w *watcher) places() {
	at := map[frameID]string{}
	put := func(f frameID, place string) {
		if other, twice := at[f]; twice {
			w.t.Fatalf("frame %d is %s and %s", f, other, place)
		}
		at[f] = place
	}
	for _, e := range w.s.engine.queue {
		if e.kind() == frameArrives {
			put(frameID(e.arg()), "on a link")
		}
	}
	for _, n := range []*nic{&w.s.client.nic, &w.s.server.nic} {
		for i := range n.count {
			put(n.ring[(n.head+i)%len(n.ring)], "in a ring")
		}
	}
	for _, f := range w.s.frames.free {
		put(f, "free")
	}
	if len(at) != len(w.s.frames.all) {
		w.t.Fatalf("%d of %d frames are somewhere", len(at), len(w.s.frames.all))
	}
}

// conserves checks that every byte sent is received once or on its way, in order.
func (w *watcher) conserves(name string, from, to *host) {
	next := to.tcp.received + uint64(to.napi.lro.held.bytes) + uint64(to.napi.delivering.bytes)
	for i := range to.nic.count {
		f := w.s.frames.all[to.nic.ring[(to.nic.head+i)%len(to.nic.ring)]]
		if f.seq != next {
			w.t.Fatalf("%s: byte %d in the ring where %d was due", name, f.seq, next)
		}
		next += uint64(f.payload)
	}
	for _, e := range w.s.engine.queue {
		if e.kind() != frameArrives || e.to() != from.out.id {
			continue
		}
		f := w.s.frames.all[e.arg()]
		if e.at < f.sent+from.out.wireTime(f.payload)+from.out.latency {
			w.t.Fatalf("%s: a frame sent at %d arrives at %d", name, f.sent, e.at)
		}
		next += uint64(f.payload)
	}
	if next != from.tcp.sent {
		w.t.Fatalf("%s: %d bytes sent, %d received or on their way", name, from.tcp.sent, next)
	}
	if got := int64(to.app.buffered); got < 0 {
		w.t.Fatalf("%s: the reader has read %d bytes that did not come", name, -got)
	}
}

// timer checks that the moderation timer fires at its time, and that no frame waits without one.
func (w *watcher) timer(e event, name string, n *nic) {
	if e.kind() == timerExpires && e.to() == n.id && n.armed && e.arg() == n.setting && e.at != n.expires {
		w.t.Fatalf("%s: the timer to %d fires at %d", name, n.expires, e.at)
	}
	if n.armed && n.count > 0 && (e.at > n.expires || n.limit > 0 && n.count >= n.limit) {
		w.t.Fatalf("%s: %d frames wait at %d, the timer runs to %d", name, n.count, e.at, n.expires)
	}
}

// Property: nothing is lost, doubled, late or early, at any event of any run.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, w := drawSimulation(t, 3*unit.Millisecond)
		s.engine.observe = (&watcher{t: t, s: s, w: w}).see
		s.engine.run(w.Duration)
		r := s.result(w, 0)
		for i, h := range []HostResult{r.Client, r.Server} {
			if races := []int64{s.client.nic.races, s.server.nic.races}[i]; h.Interrupts > h.Packets+races+1 {
				t.Fatalf("%d interrupts for %d packets", h.Interrupts, h.Packets)
			}
		}
		if n := s.client.nic.dropped + s.server.nic.dropped; n > 0 {
			t.Fatalf("%d frames found a ring full", n)
		}
	})
}

// Property: outstanding requests are rate times latency (Little's law).
func TestLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, w := drawSimulation(t, 400*unit.Millisecond)
		s.engine.run(w.Duration)
		r := s.result(w, 0)
		if r.Transactions < 100 {
			t.Fatalf("%d transactions in %v", r.Transactions, w.Duration)
		}
		// A client that is busy with one message has not begun the next: those do not count as outstanding.
		if n := r.Rate * r.Latency.Mean.Seconds(); n > float64(w.Depth)*1.01 || w.Depth == 1 && math.Abs(n-1) > 0.01 {
			t.Fatalf("%v outstanding on average, %d in fact", n, w.Depth)
		}
	})
}

// Property: runs with other names of the hosts' settings are the same runs: settings reach the host they name.
func TestSymmetricSettings(t *testing.T) {
	both, one := simulate(t, "rx-usecs=20,hz=250", "rr:4345,1", 3), simulate(t, "client.rx-usecs=20,server.rx-usecs=20,client.hz=250,server.hz=250", "rr:4345,1", 3)
	both.engine.run(unit.Second)
	one.engine.run(unit.Second)
	if both.engine.hash != one.engine.hash {
		t.Error("settings of both hosts differ from those of each")
	}
	other := simulate(t, "server.rx-usecs=20,hz=250", "rr:4345,1", 3)
	other.engine.run(unit.Second)
	if other.engine.hash == one.engine.hash {
		t.Error("a setting of one host is as one of both")
	}
}
