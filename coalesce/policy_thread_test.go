package coalesce

import (
	"math"
	"math/rand/v2"
	"testing"

	"nettrace/unit"
)

// transactions returns the packets that a host counts for n whole transactions of a request of so many bytes, answered by
// one byte: its segments of 1448 bytes one way, a pure ACK (of more than one segment) and the response the other.
func transactions(n, request uint64, server bool) Sample {
	const mss, header = 1448, 66
	data := (request + mss - 1) / mss
	answer := uint64(1)
	if data > 1 {
		answer++
	}
	s := Sample{Elapsed: 260 * unit.Millisecond, RXPackets: n * answer, TXPackets: n * data, RXBytes: n * (answer*header + 1), TXBytes: n * (data*header + request)}
	if server {
		s.RXPackets, s.TXPackets, s.RXBytes, s.TXBytes = s.TXPackets, s.RXPackets, s.TXBytes, s.RXBytes
	}
	return s
}

// The published rates of the adaptive-rx thread: 4345 bytes are high on both hosts, 4344 on neither.
func TestWholeTransactions(t *testing.T) {
	for _, c := range []struct {
		request uint64
		rate    float64
		want    Reason
		usecs   uint64
	}{{4344, 10030.37, ReasonRateLow, 0}, {4344, 14274.03, ReasonRateLow, 0}, {4345, 3406.62, ReasonRXHeavy, 128}, {4345, 13697.11, ReasonRXHeavy, 128}} {
		for _, server := range []bool{true, false} {
			want := c.want
			if want == ReasonRXHeavy && !server {
				want = ReasonTXHeavy
			}
			s := transactions(uint64(c.rate*0.26), c.request, server)
			d := policy(t, "mlx4-v1", thread()).Step(s)
			if d.Reason != want || d.Usecs != c.usecs || s.OnEdge() != (c.request == 4344) {
				t.Errorf("%d bytes at %.0f/s, server %v: %+v, on edge %v; want %d us, %s", c.request, c.rate, server, d, s.OnEdge(), c.usecs, want)
			}
		}
	}
}

// The same traffic read at a moment inside a transaction, as the driver does: a sample is high if this reading leans more
// than the last one, whatever the times of a transaction's stages. So its share is half of the chance that two readings
// fall into different stages; what it is with the times of the thread's hosts, the replay in datapath tells.
func TestReadInsideTransactions(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		waits, answers := random.Float64()/2, random.Float64()/2 // shares of the time before the ACK, and before the response
		lean := func() (rx, tx uint64) {                         // packets since the last whole transaction, at the server
			switch u := random.Float64(); {
			case u < waits:
				return 3, 0
			case u < waits+answers:
				return 3, 1
			}
			return 0, 0
		}
		p := policy(t, "mlx4-v1", thread())
		const samples = 20000
		high, edge := 0, 0
		rx0, tx0 := lean()
		for range samples {
			rx1, tx1 := lean()
			s := Sample{Elapsed: 260 * unit.Millisecond, RXPackets: 3*2600 + rx1 - rx0, TXPackets: 2*2600 + tx1 - tx0}
			rx0, tx0 = rx1, tx1
			if p.Step(s).Usecs == 128 {
				high++
			}
			if s.OnEdge() {
				edge++
			}
		}
		rest := 1 - waits - answers
		want := (1 - waits*waits - answers*answers - rest*rest) / 2
		if share := float64(high) / samples; math.Abs(share-want) > 0.02 || edge != samples {
			t.Errorf("stages %.2f, %.2f: %.3f of the samples are high, want %.3f; %d of %d are on the edge", waits, answers, share, want, edge, samples)
		}
	}
}

// From 3.x on each ring goes by its own packets and their size; what is sent has no part in it.
func TestMLX4Ring(t *testing.T) {
	m := thread()
	m.Rings, m.RXUsecsLow = 8, 2
	ring := func(rx, bytesEach uint64) Sample {
		return Sample{Elapsed: unit.Second, RXPackets: rx, RXBytes: rx * bytesEach, TXPackets: 1}
	}
	for _, c := range []struct {
		name  string
		s     Sample
		usecs uint64
		why   Reason
	}{
		{"an eighth of the least rate", ring(976, 1000), 2, ReasonQuiet},
		{"above it", ring(977, 1000), 2, ReasonRateLow},
		{"fast but small", ring(500000, 256), 2, ReasonSmall},
		{"fast and large enough", ring(500000, 257), 128, ReasonRateHigh},
		{"half way", ring(425000, 1500), 65, ReasonRateRange},
		{"one more byte: the thread's traffic", ring(4*3406, 1100), 2, ReasonRateLow},
		{"nothing", Sample{Elapsed: unit.Second}, 2, ReasonQuiet},
	} {
		if d := policy(t, "mlx4-v3", m).Step(c.s); d.Usecs != c.usecs || d.Reason != c.why || d.Frames != 44 {
			t.Errorf("%s: %+v, want %d us, %s", c.name, d, c.usecs, c.why)
		}
	}
}

func TestFixedInService(t *testing.T) {
	m := Moderation{RXUsecs: 20, RXFrames: 5, RXFramesIRQ: 7, TXUsecs: 72, TXFrames: 53, TXUsecsIRQ: 3}
	for _, c := range []struct {
		policy                  string
		usecs, frames, iu, ifrm uint64
	}{{"fixed", 20, 5, 0, 7}, {"fixed-tx", 72, 53, 3, 0}, {"tg3", 20, 5, 0, 7}} {
		p := policy(t, c.policy, m)
		d := p.Step(Sample{})
		usecs, frames := d.InService()
		if d.Usecs != c.usecs || d.Frames != c.frames || usecs != c.iu || frames != c.ifrm || p.Interval() != 0 || p.Interrupts() != 0 {
			t.Errorf("%s: %+v, in service %d us %d frames", c.policy, d, usecs, frames)
		}
	}
	if u, f := (Decision{Usecs: 20, Frames: 5}).InService(); u != 20 || f != 5 {
		t.Errorf("without -irq values %d us and %d frames hold in service", u, f)
	}
}

// What decides the race: a poll whose work came while it ran and was all done.
func TestTG3Again(t *testing.T) {
	for _, c := range []struct {
		name                string
		poll                Poll
		untagged, tag, late bool
	}{
		{"nothing came", Poll{}, false, false, false},
		{"it came and was done", Poll{Posted: 3}, false, true, false},
		{"it came and waits", Poll{Posted: 3, Waiting: 1}, true, true, true},
	} {
		for name, want := range map[string]bool{"tg3": c.untagged, "tg3-tagged": c.tag, "tg3-tagged-late": c.late, "mlx4-v1": c.untagged, "net-dim": c.untagged, "fixed": c.untagged} {
			if got := policy(t, name, Moderation{}).Again(c.poll); got != want {
				t.Errorf("%s: %s interrupts again: %v", c.name, name, got)
			}
		}
	}
}
