package coalesce

import (
	"testing"

	"pgregory.net/rapid"

	"nettrace/unit"
)

// thread returns the settings of the adaptive-rx thread.
func thread() Moderation {
	return Moderation{AdaptiveRX: true, RXUsecs: 16, RXFrames: 44, RXUsecsHigh: 128, PktRateLow: 400000, PktRateHigh: 450000}
}

func policy(t testing.TB, name string, m Moderation) Policy {
	t.Helper()
	p, err := PolicyByName(name, m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPolicies(t *testing.T) {
	set := func(usecs uint64, why Reason) Decision { return Decision{Usecs: usecs, Frames: 44, Reason: why} }
	second := func(rx, tx uint64) Sample {
		return Sample{Elapsed: unit.Second, RXPackets: rx, TXPackets: tx, RXBytes: 1000 * rx, TXBytes: 70 * tx}
	}
	for _, c := range []struct {
		name   string
		sample Sample
		v1, v2 Decision
	}{
		{"4345 bytes: four for two", second(4*3406, 2*3406), set(128, ReasonRXHeavy), set(128, ReasonRXHeavy)},
		{"4344 bytes: exactly three for two", second(3*10030, 2*10030), set(0, ReasonRateLow), set(0, ReasonRateLow)},
		{"one packet more than three for two", second(3*10030+1, 2*10030), set(128, ReasonRXHeavy), set(128, ReasonRXHeavy)},
		{"the client's side", second(2*3406, 4*3406), set(128, ReasonTXHeavy), set(0, ReasonTXHeavy)},
		{"the client's side, exactly", second(2*10030, 3*10030), set(0, ReasonRateLow), set(0, ReasonRateLow)},
		{"quiet", second(7812, 1), set(16, ReasonQuiet), set(16, ReasonQuiet)},
		{"one packet more than quiet", second(7813, 1), set(128, ReasonRXHeavy), set(128, ReasonRXHeavy)},
		{"the larger of the two counts", second(1, 7813), set(128, ReasonTXHeavy), set(0, ReasonTXHeavy)},
		{"low", second(399999, 399999), set(0, ReasonRateLow), set(0, ReasonRateLow)},
		{"half way", second(425000, 425000), set(64, ReasonRateRange), set(64, ReasonRateRange)},
		{"at the top", second(450000, 450000), set(128, ReasonRateRange), set(128, ReasonRateRange)},
		{"above it", second(450001, 450001), set(128, ReasonRateHigh), set(128, ReasonRateHigh)},
		{"nothing", Sample{}, set(16, ReasonQuiet), set(16, ReasonQuiet)},
	} {
		for name, want := range map[string]Decision{"mlx4-v1": c.v1, "mlx4-v2": c.v2, "fixed": set(16, ReasonFixed)} {
			if got := policy(t, name, thread()).Step(c.sample); got != want {
				t.Errorf("%s: %s sets %+v, want %+v", c.name, name, got, want)
			}
		}
	}
	off := thread()
	off.AdaptiveRX = false
	if got := policy(t, "mlx4-v1", off).Step(second(40000, 1)); got != set(16, ReasonFixed) {
		t.Errorf("with adaptive-rx off it sets %+v", got)
	}
	if _, err := PolicyByName("dim", thread()); err == nil {
		t.Error("an unknown policy is taken")
	}
	if i := policy(t, "mlx4-v1", thread()).Interval(); i != 250*unit.Millisecond {
		t.Errorf("interval %v", i)
	}
}

// Inside one transaction the counters lean: a sample that begins or ends there tips the exact 3:2 either way.
func TestKnifeEdge(t *testing.T) {
	p := policy(t, "mlx4-v1", thread())
	quarter := Sample{Elapsed: 250 * unit.Millisecond, RXPackets: 3 * 2500, TXPackets: 2 * 2500}
	data := quarter
	data.RXPackets += 3 // read between the data and the ACK
	if p.Step(quarter).Usecs != 0 || p.Step(data).Usecs != 128 {
		t.Errorf("whole transactions: %+v, cut in one: %+v", p.Step(quarter), p.Step(data))
	}
}

// Whatever the samples, a policy stays between the times that the settings allow, and does not depend on the size of a sample.
func TestPolicyRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Moderation{AdaptiveRX: rapid.Bool().Draw(t, "adaptive"), RXUsecs: rapid.Uint64Range(0, 1000).Draw(t, "usecs"),
			RXUsecsLow: rapid.Uint64Range(0, 1000).Draw(t, "low"), RXUsecsHigh: rapid.Uint64Range(0, 1000).Draw(t, "high"), PktRateLow: rapid.Uint64().Draw(t, "rate low"), PktRateHigh: rapid.Uint64().Draw(t, "rate high")}
		s := Sample{Elapsed: unit.Nanos(rapid.Int64().Draw(t, "elapsed")), RXPackets: rapid.Uint64().Draw(t, "rx"), TXPackets: rapid.Uint64().Draw(t, "tx"), RXBytes: rapid.Uint64().Draw(t, "bytes")}
		for _, name := range []string{"fixed", "mlx4-v1", "mlx4-v2", "mlx4-v3", "tg3", "tg3-tagged"} {
			p, err := PolicyByName(name, m)
			if err != nil {
				t.Fatal(err)
			}
			d := p.Step(s)
			if low, high := min(m.RXUsecs, m.RXUsecsLow, m.RXUsecsHigh), max(m.RXUsecs, m.RXUsecsLow, m.RXUsecsHigh); d.Usecs < low || d.Usecs > high {
				t.Fatalf("%s sets %d us, outside %d to %d", name, d.Usecs, low, high)
			}
		}
	})
}
