package coalesce

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"nettrace/source"
	"nettrace/unit"
)

func TestIncrement(t *testing.T) {
	for _, c := range []struct {
		w        width
		from, to uint64
		delta    uint64
		wrapped  bool
		ok       bool
	}{
		{bits32, 5, 9, 4, false, true},
		{bits32, 1<<32 - 3, 4, 7, true, true},
		{bits32, 1000, 4, 0, false, false},             // a reset
		{bits32, 1 << 33, 1<<33 + 2, 2, false, true},   // wider than thought
		{bits32, 1 << 33, 5, 0, false, false},          // and reset
		{bits64, 1<<32 - 3, 4, 0, false, false},        // a reset, or a 32-bit register: not known
		{bits64, 1<<64 - 1, 1, 2, true, true},          //
		{bits64, 0, 1<<64 - 1, 1<<64 - 1, false, true}, //
		{bits32, 1<<31 + 1, 0, 1<<31 - 1, true, true},  // the longest way that is a wrap
		{bits32, 1 << 31, 0, 1 << 31, true, false},     // and the shortest that is not
	} {
		delta, wrapped, ok := c.w.increment(c.from, c.to)
		if ok != c.ok || ok && (delta != c.delta || wrapped != c.wrapped) {
			t.Errorf("%d bits, %d to %d: %d, %v, %v; want %d, %v, %v", c.w, c.from, c.to, delta, wrapped, ok, c.delta, c.wrapped, c.ok)
		}
	}
}

// snapshots makes outputs of ethtool -S, or of /proc/interrupts with one row for each name, a second apart.
func snapshots(tool string, names []string, values [][]uint64) []Output {
	var outputs []Output
	for k, row := range values {
		at := time.Date(2024, 1, 1, 0, 0, k, 0, time.UTC)
		o := Output{Tool: tool, Pos: source.Pos{Source: "s." + tool + "." + at.Format("20060102T150405Z") + ".txt", Line: 1}}
		o.Name = source.ParseName(o.Pos.Source)
		if tool == "ethtool-S" {
			i := InterfaceOutput{Name: "eth0"}
			for n, v := range row {
				i.Counters = append(i.Counters, Count{Name: names[n], Value: v, Line: n + 2})
			}
			o.Interfaces = []InterfaceOutput{i}
		} else {
			o.Table = &Table{CPUs: []int{0, 1}}
			for n, v := range row {
				o.Table.Rows = append(o.Table.Rows, TableRow{Key: names[n], Cells: []Cell{{1, v}}, Pos: source.Pos{Source: o.Pos.Source, Line: n + 2}})
			}
		}
		outputs = append(outputs, o)
	}
	return outputs
}

// The steps of a series add up to its change, and that to the distance of its ends, over the top of 32 bits as well;
// the time is that of the steps.
func TestDeltasSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SampledFrom([]width{bits32, bits64}).Draw(t, "width")
		start := rapid.Uint64Range(0, 1<<32-1).Draw(t, "start")
		if bits == bits64 {
			start = rapid.Uint64().Draw(t, "start 64")
		}
		steps := rapid.SliceOfN(rapid.Uint64Range(0, 1<<31-1), 1, 400).Draw(t, "steps")
		top := ^uint64(0) >> (64 - bits)
		values, total := [][]uint64{{start, start}}, uint64(0)
		for _, s := range steps {
			total += s
			values = append(values, []uint64{(start + total) & top, start})
		}
		tool := map[width]string{bits32: "proc-interrupts", bits64: "ethtool-S"}[bits]
		h := Join(snapshots(tool, []string{"17", "18"}, values), Options{})[0]
		var c Change
		if bits == bits32 {
			if total == 0 {
				return
			}
			c = h.Tables[0].Rows[0].Change
			if cpus := h.Tables[0].Rows[0].CPUs; len(cpus) != 1 || cpus[0].CPU != 1 || cpus[0].Delta != total {
				t.Fatalf("CPU 1 counts %+v, want %d", cpus, total)
			}
		} else {
			c = h.Interfaces[0].Counters[0].Counters[0].Change
		}
		sum := uint64(0)
		for _, s := range c.Steps {
			sum += s.N
		}
		if c.Delta != total || sum != total && total > 0 || (c.Last.Value-c.First.Value)&top != total&top || c.Lost != 0 {
			t.Fatalf("change %+v of %d steps, whose sum is %d; want %d", c, len(steps), sum, total)
		}
		if c.Span != unit.Nanos(len(steps))*unit.Second || len(c.Steps) > maxSteps {
			t.Fatalf("span %v, %d steps kept; want %d s, at most %d", c.Span, len(c.Steps), len(steps), maxSteps)
		}
	})
}

func TestReset(t *testing.T) {
	h := Join(snapshots("ethtool-S", []string{"rx_packets", "tx_packets", "still", "gauge"}, [][]uint64{{1000, 500, 7, 3}, {1100, 600, 7, 2}, {40, 30, 7, 9}, {140, 80, 7, 9}}), Options{})[0]
	for name, want := range map[string]Change{
		"rx_packets": {Delta: 200, Span: 2 * unit.Second, Lost: 1},
		"tx_packets": {Delta: 150, Span: 2 * unit.Second, Lost: 1},
		"gauge":      {Delta: 0, Span: unit.Second, Lost: 2},
	} {
		c := counter(t, h, name)
		if c.Delta != want.Delta || c.Span != want.Span || c.Lost != want.Lost {
			t.Errorf("%s: %+v, want %+v", name, c.Change, want)
		}
	}
	rx := counter(t, h, "rx_packets")
	if r, ok := rx.Rate(); !ok || r != 100 {
		t.Errorf("rate %g, %v over the steps that are known, want 100", r, ok)
	}
	if rx.Steps[1].State != NotAvailable {
		t.Errorf("the step of the reset is %v", rx.Steps[1])
	}
}

// A CPU that goes offline has no rate; the others count on.
func TestHotUnplug(t *testing.T) {
	outputs := snapshots("proc-interrupts", []string{"17"}, [][]uint64{{100}, {200}, {350}})
	for k := range outputs {
		outputs[k].Table.Rows[0].Cells = []Cell{{0, uint64(10 * k)}, {1, uint64(1000 * k)}}
	}
	outputs[1].Table.CPUs = []int{0}
	outputs[1].Table.Rows[0].Cells = outputs[1].Table.Rows[0].Cells[:1]
	row := Join(outputs, Options{})[0].Tables[0].Rows[0]
	if len(row.CPUs) != 2 || row.CPUs[0].Delta != 20 || row.CPUs[0].Lost != 0 || row.CPUs[1].Delta != 0 || row.CPUs[1].Lost != 2 || row.Delta != 20 {
		t.Errorf("row %+v", row)
	}
}

// Series stay within their limits however many counters there are.
func TestBound(t *testing.T) {
	names, a, b := make([]string, 6000), make([]uint64, 6000), make([]uint64, 6000)
	for i := range names {
		names[i] = "c" + string(rune('a'+i%26)) + time.Duration(i).String()
		b[i] = uint64(i % 2)
	}
	s := Join(snapshots("ethtool-S", names, [][]uint64{a, b}), Options{})[0].Interfaces[0].Counters[0]
	changed := 0
	for _, c := range s.Counters {
		if c.Changed() {
			changed++
		}
	}
	if len(s.Counters) != maxCounters || s.Omitted != 6000-maxCounters || changed != 3000 {
		t.Errorf("%d counters, %d omitted, %d of them changed; want %d, %d, 3000", len(s.Counters), s.Omitted, changed, maxCounters, 6000-maxCounters)
	}
}
