package coalesce

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func rateOf(t *testing.T, d *Diff, kind, of, name string) RateChange {
	t.Helper()
	k := slices.IndexFunc(d.Rates, func(r RateChange) bool { return r.Kind == kind && r.Of == of && r.Name == name })
	if k < 0 {
		t.Fatalf("no %s %s %s among %d rates", kind, of, name, len(d.Rates))
	}
	return d.Rates[k]
}

// Before: balanced traffic; after: one that counts as bulk. The same settings, but for what the second was not told.
func TestCompare(t *testing.T) {
	base, other := local(t, "counters", "storm"), local(t, "counters", "storm-busy")
	d := Compare([]*Host{base}, []*Host{other})
	r := rateOf(t, d, "interface", "eth0", "interrupts_per_second")
	if *r.Base != 80000 || *r.Other != 30000 || r.Difference != -50000 || r.Ratio != 0.375 {
		t.Errorf("interrupts: %+v", r)
	}
	r = rateOf(t, d, "interface", "eth0", "packets_per_interrupt")
	if *r.Base != 0.375 || *r.Other != 20 {
		t.Errorf("packets per interrupt: %g and %g", *r.Base, *r.Other)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back Diff
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, &back); diff != "" {
		t.Errorf("JSON does not round-trip: %s", diff)
	}
	one, two := machineOf(t, "vmstat.txt"), machineOf(t, "vmstat-w-t.txt")
	if r = rateOf(t, Compare([]*Host{one}, []*Host{two}), "reported", "vmstat", "cs"); *r.Base != 6518.6 || r.Ratio >= 1 {
		t.Errorf("context switches: %+v", r)
	}
	for _, r := range Compare([]*Host{base}, []*Host{base}).Rates {
		if r.Difference != 0 || r.Ratio != 1 {
			t.Errorf("a recording differs from itself: %+v", r)
		}
	}
}

func TestCompareSettings(t *testing.T) {
	set := func(name string, usecs uint64, adaptive bool) *Host {
		i := newInterface(name, NameFromOutput)
		i.Dumps = []Dump{{Tool: "ethtool-c", Settings: []Setting{{Name: "adaptive-rx", Value: Switch(adaptive), Queue: -1}, {Name: "rx-usecs", Value: Num(usecs), Queue: -1}, {Name: "rx-frames", Value: Num(44), Queue: -1}}}}
		return &Host{Interfaces: []*Interface{i}}
	}
	for _, name := range []string{"eth0", "eth1"} { // one interface each: taken for each other
		d := Compare([]*Host{set("eth0", 16, true)}, []*Host{set(name, 64, false)})
		var names []string
		for _, s := range d.Settings {
			names = append(names, s.Name+" "+s.Base.Value.String()+" "+s.Other.Value.String())
		}
		if want := []string{"adaptive-rx on off", "rx-usecs 16 64"}; !slices.Equal(names, want) {
			t.Errorf("%s: %v, want %v", name, names, want)
		}
		if len(d.Caveats) == 0 {
			t.Error("no word that there are no rates")
		}
	}
	two := set("eth0", 16, true)
	two.Peer = true
	d := Compare([]*Host{set("eth0", 16, true)}, []*Host{two, set("eth0", 16, true)})
	if len(d.Settings) != 0 || len(d.Caveats) != 2 {
		t.Errorf("settings %v, caveats %q", d.Settings, d.Caveats)
	}
}
