package coalesce

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nettrace/unit"
)

// adaptive is what net_dim needs of the settings.
func adaptive() Moderation { return Moderation{AdaptiveRX: true, AdaptiveTX: true} }

// profilesOf lists the settings of Linux' lib/dim/net_dim.c.
func profilesOf(t *testing.T) map[string][]Decision {
	t.Helper()
	table := func(pairs ...uint64) (list []Decision) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, Decision{Usecs: pairs[i], Frames: pairs[i+1]})
		}
		return list
	}
	return map[string][]Decision{
		"net-dim":        table(1, 256, 8, 256, 64, 256, 128, 256, 256, 256),
		"net-dim-cqe":    table(2, 256, 8, 128, 16, 64, 32, 64, 64, 64),
		"net-dim-tx":     table(1, 128, 8, 128, 32, 128, 64, 128, 128, 128),
		"net-dim-tx-cqe": table(5, 128, 8, 64, 16, 32, 32, 32, 64, 32),
	}
}

// window is a measurement of 64 interrupts at so many packets/s of 1500 bytes, in both directions.
func window(packetsPerSecond float64, interruptsPerSecond float64) Sample {
	seconds := dimInterrupts / interruptsPerSecond
	n := uint64(packetsPerSecond * seconds)
	return Sample{Elapsed: unit.FromSeconds(seconds), RXPackets: n, TXPackets: n, RXBytes: 1500 * n, TXBytes: 1500 * n, Interrupts: dimInterrupts}
}

// On a ramp of the rate, each step of which is more than 10 % better, every mode walks its own profiles from the first to
// the last. Going up it begins with one step left, since a start is a change like any other.
func TestNetDIMOnRamp(t *testing.T) {
	for name, profiles := range profilesOf(t) {
		p := policy(t, name, adaptive())
		if p.Interrupts() != 64 || p.Interval() != 0 {
			t.Errorf("%s: steps every %d interrupts, %v", name, p.Interrupts(), p.Interval())
		}
		rate := 100000.0
		var walked []Decision
		see := func(s Sample) Decision {
			d := p.Step(s)
			d.Reason = ""
			if len(walked) == 0 || walked[len(walked)-1] != d {
				walked = append(walked, d)
			}
			return d
		}
		see(window(rate, 20000))    // first traffic: better than none, one step left, to profile 0
		rate *= 1.2                 // better still: left again, but that is the edge: it stays
		see(window(rate, 20000))    //
		for range dimProfiles - 1 { // from there a better rate each time carries it right, to the end
			rate *= 1.2
			see(window(rate, 20000))
		}
		if len(walked) != dimProfiles {
			t.Errorf("%s walks %+v, want its %d profiles", name, walked, dimProfiles)
			continue
		}
		for i := range profiles {
			if walked[i] != profiles[i] {
				t.Errorf("%s: profile %d is %+v, want %+v", name, i, walked[i], profiles[i])
			}
		}
	}
}

// A worse step is taken back, two one way and a single one back end the climb, and nothing moves while nothing changes.
func TestNetDIMStaysOnTop(t *testing.T) {
	// packets/s that a machine carries at each profile: best at the third
	carries := []float64{100000, 130000, 170000, 120000, 90000}
	d := newNetDIM(adaptive(), false, false)
	visits := make([]int, dimProfiles)
	for range 100 {
		d.Step(window(carries[d.Profile()], 20000))
		visits[d.Profile()]++
	}
	if d.Profile() != 2 || d.state != ReasonTop || visits[2] < 80 {
		t.Errorf("it ends at profile %d, %s, visits %v; want profile 2, on top", d.Profile(), d.state, visits)
	}
	for range 10 {
		if got := d.Step(window(carries[2]*1.09, 20000)); got.Usecs != 64 || got.Reason != ReasonTop {
			t.Fatalf("9 %% more move it: %+v", got)
		}
	}
	if got := d.Step(window(carries[2]*1.12, 20000)); got.Usecs != 8 || got.Reason != ReasonLeft {
		t.Errorf("12 %% more: %+v, want a step left to 8 us", got)
	}
}

// Where every step makes things worse it goes to and fro, and after ten steps rests for as many measurements.
func TestNetDIMTires(t *testing.T) {
	d := newNetDIM(adaptive(), false, false)
	rate, rested := 1e8, []int{}
	for k := range 60 {
		if rate *= 0.85; d.Step(window(rate, 20000)).Reason == ReasonTired {
			rested = append(rested, k)
		}
	}
	// the first step leaves the start, nine more follow; the eleventh finds it tired
	if len(rested) < 10 || rested[0] != 10 || rested[9] != 19 || slices.Contains(rested, 20) {
		t.Errorf("it rests in measurements %v, expected 10 to 19 first", rested)
	}
}

// Bytes count before packets, packets before interrupts; up to 10 % is no difference.
func TestDIMCompare(t *testing.T) {
	r := dimRates{1000, 100, 50}
	for _, c := range []struct {
		now  dimRates
		want comparison
	}{
		{r, same}, {dimRates{1109, 109, 45}, same}, {dimRates{1110, 1, 500}, better}, {dimRates{880, 200, 1}, worse},
		{dimRates{1000, 111, 500}, better}, {dimRates{1000, 80, 1}, worse}, {dimRates{1000, 100, 44}, better}, {dimRates{1000, 100, 56}, worse}, {dimRates{}, worse},
	} {
		if got := c.now.compare(r); got != c.want {
			t.Errorf("%+v after %+v is %d, want %d", c.now, r, got, c.want)
		}
	}
	if (dimRates{}).compare(dimRates{}) != same || r.compare(dimRates{}) != better || (dimRates{bytes: 1000, packets: 1}).compare(dimRates{bytes: 1000}) != better {
		t.Error("a comparison with nothing")
	}
}

func TestNetDIMOff(t *testing.T) {
	d := policy(t, "net-dim", Moderation{AdaptiveTX: true, RXUsecs: 3, RXFrames: 8}).Step(window(1000, 1000))
	if d.Usecs != 3 || d.Frames != 8 || d.Reason != ReasonFixed {
		t.Errorf("with adaptive-rx off it sets %+v", d)
	}
	if d := policy(t, "net-dim", adaptive()).Step(Sample{}); d.Usecs != 8 || d.Reason != ReasonMeasuring {
		t.Errorf("without time it sets %+v", d)
	}
}

// Whatever the samples: always a profile of the table, and the same samples give the same decisions.
func TestNetDIMRange(t *testing.T) {
	tables := profilesOf(t)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"net-dim", "net-dim-cqe", "net-dim-tx", "net-dim-tx-cqe"}).Draw(t, "policy")
		one, _ := PolicyByName(name, adaptive())
		two, _ := PolicyByName(name, adaptive())
		last := 1
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s := Sample{Elapsed: unit.Nanos(rapid.Int64().Draw(t, "elapsed")), RXPackets: rapid.Uint64().Draw(t, "rx"), RXBytes: rapid.Uint64().Draw(t, "bytes"), TXPackets: rapid.Uint64().Draw(t, "tx"), Interrupts: rapid.Uint64().Draw(t, "interrupts")}
			d := one.Step(s)
			if d != two.Step(s) {
				t.Fatalf("%s decides twice differently", name)
			}
			d.Reason = ""
			at := -1
			for i, p := range tables[name] {
				if p == d {
					at = i
				}
			}
			if at < 0 || at < last-1 || at > last+1 {
				t.Fatalf("%s sets %+v after profile %d", name, d, last)
			}
			last = at
		}
	})
}
