package tcp

import (
	"math"
	"math/bits"
	"slices"

	"nettrace/unit"
)

// durations is a distribution of times: the first few as they are, then a log-linear table. The zero value is empty.
type durations struct {
	min, max unit.Nanos
	few      [4]unit.Nanos
	samples  uint32
	table    *logLinear
}

// logLinear is a table of 98 bytes: 12 octaves of 4 steps each, the lowest one three octaves below the first value, so that
// a quantile is within 12 % from an eighth to 500 times the first value; beyond, it is clamped to minimum and maximum.
type logLinear struct {
	base  int8 // octave of steps[0]
	steps [octaves * perOctave]uint16
}

const (
	octaves   = 12
	perOctave = 4
)

func (d *durations) add(v unit.Nanos) {
	if v < 0 { // the capture's clock stepped back
		return
	}
	if d.samples == 0 {
		d.min, d.max = v, v
	}
	d.min, d.max = min(d.min, v), max(d.max, v)
	if int(d.samples) < len(d.few) {
		d.few[d.samples] = v
		d.samples++
		return
	}
	if d.table == nil {
		d.table = &logLinear{base: int8(max(0, bits.Len64(uint64(d.few[0]))-4))}
		for _, first := range d.few {
			d.table.add(first)
		}
	}
	d.table.add(v)
	if d.samples < math.MaxUint32 {
		d.samples++
	}
}

func (t *logLinear) add(v unit.Nanos) {
	i := t.step(v)
	if t.steps[i] == math.MaxUint16 {
		for j := range t.steps {
			t.steps[j] -= t.steps[j] / 2
		}
	}
	t.steps[i]++
}

func (t *logLinear) step(v unit.Nanos) int {
	octave := bits.Len64(uint64(v)) - 1 - int(t.base)
	if octave < 0 {
		return 0
	}
	if octave >= octaves {
		return len(t.steps) - 1
	}
	if down := octave + int(t.base) - 2; down >= 0 {
		return octave*perOctave + int(v>>down)&3
	}
	return octave*perOctave + int(v<<(2-octave-int(t.base)))&3
}

// lower returns where step i begins.
func (t *logLinear) lower(i int) float64 {
	return math.Ldexp(1+float64(i%perOctave)/perOctave, i/perOctave+int(t.base))
}

// quantile returns the value below which the share q of the values lies: one of them where they are few, else interpolated
// within a step of the table.
func (d *durations) quantile(q float64) unit.Nanos {
	if d.table == nil {
		few := d.few
		slices.Sort(few[:d.samples])
		return few[min(int(q*float64(d.samples)), int(d.samples)-1)]
	}
	total := 0.0
	for _, n := range d.table.steps {
		total += float64(n)
	}
	rank := q * total
	for i, n := range d.table.steps {
		if n > 0 && rank <= float64(n) {
			low, high := d.table.lower(i), d.table.lower(i+1)
			return min(max(unit.Nanos(low+(high-low)*rank/float64(n)), d.min), d.max)
		}
		rank -= float64(n)
	}
	return d.max
}

// Durations summarises a distribution of times.
type Durations struct {
	Min     unit.Nanos `json:"min"`
	P50     unit.Nanos `json:"p50"`
	P99     unit.Nanos `json:"p99"`
	Max     unit.Nanos `json:"max"`
	Samples int64      `json:"samples"`
}

func (d *durations) summary() Durations {
	if d.samples == 0 {
		return Durations{}
	}
	return Durations{d.min, d.quantile(0.5), d.quantile(0.99), d.max, int64(d.samples)}
}

// spread is a distribution that can be merged: whatever the order, the sum is the same. It has a step for each quarter of
// an octave of all times.
type spread struct {
	few      []unit.Nanos // all of them while there are few
	samples  int64
	min, max unit.Nanos
	steps    [64 * perOctave]int64
}

// fewSpread is how many times are kept as they are.
const fewSpread = 4

func (d *spread) add(v unit.Nanos) {
	if v < 0 {
		return
	}
	if d.samples == 0 {
		d.min, d.max = v, v
	}
	d.min, d.max = min(d.min, v), max(d.max, v)
	d.samples++
	d.steps[spreadStep(v)]++
	if d.samples <= fewSpread {
		d.few = append(d.few, v)
	}
}

func spreadStep(v unit.Nanos) int {
	octave := max(bits.Len64(uint64(v))-1, 2)
	return octave*perOctave + int(v>>(octave-2))&3
}

func (d *spread) merge(b *spread) {
	switch {
	case b.samples == 0:
		return
	case d.samples == 0:
		*d = *b
		return
	}
	d.min, d.max, d.samples, d.few = min(d.min, b.min), max(d.max, b.max), d.samples+b.samples, append(d.few, b.few...)
	for i, n := range b.steps {
		d.steps[i] += n
	}
}

func (d *spread) quantile(q float64) unit.Nanos {
	if d.samples <= fewSpread {
		few := slices.Sorted(slices.Values(d.few))
		return few[min(int(q*float64(d.samples)), len(few)-1)]
	}
	rank := q * float64(d.samples)
	for i, n := range d.steps {
		if n > 0 && rank <= float64(n) {
			low, high := spreadLower(i), spreadLower(i+1)
			return min(max(unit.Nanos(low+(high-low)*rank/float64(n)), d.min), d.max)
		}
		rank -= float64(n)
	}
	return d.max
}

func spreadLower(i int) float64 {
	return math.Ldexp(1+float64(i%perOctave)/perOctave, i/perOctave)
}

func (d *spread) summary() Durations {
	if d.samples == 0 {
		return Durations{}
	}
	return Durations{d.min, d.quantile(0.5), d.quantile(0.99), d.max, d.samples}
}
