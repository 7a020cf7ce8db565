package datapath

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// From the frozen constants, and reading only points that may calibrate, a fit keeps every held-out point within its bar.
func TestFitKeepsBars(t *testing.T) {
	held := 0
	for _, name := range FittedMachines() {
		f, err := FitMachine(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range f.HeldOut {
			for _, p := range table.Points {
				held++
				if p.Calibrated || !p.Holds() {
					t.Errorf("%s, %s: %.5g predicted with the fitted constants, %.5g published, bar %q", table.Name, p.Label, p.Predicted, p.Published, p.Bar)
				}
			}
		}
		for _, p := range f.Calibrated {
			t.Logf("%s, %s: %+.1f %% fitted, %+.1f %% left out", p.Table, p.Label, 100*(p.Fitted/p.Published-1), 100*p.LeftOutError())
		}
		for _, k := range f.Constants {
			t.Logf("%s: %.4g to %.4g %s", k.Name, k.From, k.To, k.Unit)
			if math.Abs(k.To-k.From) > fitReach*k.Uncertainty*1.0001 {
				t.Errorf("%s moved from %g to %g, uncertainty %g", k.Name, k.From, k.To, k.Uncertainty)
			}
		}
	}
	if held != 72 {
		t.Errorf("%d points are held out", held)
	}
}

// A fit does not read what is held out: with other figures there it finds the same.
func TestFitReadsOnlyCalibrated(t *testing.T) {
	c, err := FrozenConstants(mapPages)
	if err != nil {
		t.Fatal(err)
	}
	fit := func(change func(*Point)) *Constants {
		tables, err := publishedTables(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range tables {
			for j := range tables[i].Points {
				change(&tables[i].Points[j])
			}
		}
		f, err := newFitter(context.Background(), c, tables, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.step(); err != nil {
			t.Fatal(err)
		}
		return f.current
	}
	plain := fit(func(*Point) {})
	held := fit(func(p *Point) {
		if p.Role != Calibrated {
			p.Published *= 2
		}
	})
	if diff := cmp.Diff(plain.list, held.list); diff != "" {
		t.Errorf("figures that are held out moved constants:\n%s", diff)
	}
	calibrated := fit(func(p *Point) { p.Published *= 1.02 })
	if cmp.Equal(plain.list, calibrated.list) {
		t.Error("figures that calibrate moved nothing")
	}
}

// A fit finds constants again that figures were made with.
func TestFitFindsConstants(t *testing.T) {
	start, err := FrozenConstants(sdp)
	if err != nil {
		t.Fatal(err)
	}
	made := start.with("pin-call", 10.6).with("wire-byte", 0.76)
	tables, err := publishedTables(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := made.machine.model(made, effort{})
	for i := range tables {
		for j := range tables[i].Points {
			if p := &tables[i].Points[j]; p.Machine == sdp {
				if err := p.predict(context.Background(), m); err != nil {
					t.Fatal(err)
				}
				p.Published = p.Predicted
			}
		}
	}
	f, err := newFitter(context.Background(), start, tables, []string{"pin-call", "wire-byte"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * fitRounds {
		if err := f.step(); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range f.errors {
		if math.Abs(e) > 0.01 {
			t.Errorf("figures are off by %+.2f %% after the fit", 100*e)
		}
	}
	if got := f.current.value("wire-byte"); math.Abs(got-0.76) > 0.004 /* what the start still weighs */ {
		t.Errorf("wire-byte is fitted as %g, the figures were made with 0.76", got)
	}
	if !slices.Equal(f.free, []string{"pin-call", "wire-byte"}) {
		t.Errorf("free constants are %q", f.free)
	}
}

func TestFitNames(t *testing.T) {
	if _, err := FitMachine(context.Background(), "tg4"); err == nil {
		t.Error("an unknown machine is fitted")
	}
	if _, err := FitMachine(context.Background(), tg3, "frame-time"); err == nil {
		t.Error("a given constant is fitted")
	}
}
