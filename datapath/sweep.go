package datapath

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// Axis is what a sweep varies: a setting, or request, response or depth of the workload.
type Axis struct {
	Key    string    `json:"key"`
	Values []float64 `json:"values"`
}

// maxSweep bounds the points of a sweep.
const maxSweep = 100_000

// ParseSweep reads "KEY=FROM..TO/STEP,KEY=A..B/C"; "KEY=VALUE" is one point. Numbers are whole.
func ParseSweep(text string) ([]Axis, error) {
	var axes []Axis
	points := 1
	for item := range strings.SplitSeq(text, ",") {
		key, span, found := strings.Cut(strings.TrimSpace(item), "=")
		if !found {
			return nil, fmt.Errorf("%q is no axis, expected KEY=FROM..TO/STEP", item)
		}
		a := Axis{Key: key}
		from, to, step, err := parseSpan(span)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if (to-from)/step >= maxSweep {
			return nil, fmt.Errorf("%s has %d values: a sweep has at most %d points", key, (to-from)/step+1, maxSweep)
		}
		for v := from; v <= to; v += step {
			a.Values = append(a.Values, float64(v))
		}
		if points *= len(a.Values); points > maxSweep {
			return nil, fmt.Errorf("more than %d points", maxSweep)
		}
		axes = append(axes, a)
	}
	return axes, nil
}

func parseSpan(text string) (from, to, step int64, err error) {
	ends, by, stepped := strings.Cut(text, "/")
	low, high, ranged := strings.Cut(ends, "..")
	step = 1
	if from, err = strconv.ParseInt(low, 10, 32); err != nil {
		return 0, 0, 0, fmt.Errorf("%q is no whole number, expected FROM..TO/STEP", low)
	}
	to = from
	if ranged {
		if to, err = strconv.ParseInt(high, 10, 32); err != nil || to < from {
			return 0, 0, 0, fmt.Errorf("%q is no end of a range that begins at %d", high, from)
		}
	}
	if stepped {
		if step, err = strconv.ParseInt(by, 10, 32); err != nil || step < 1 {
			return 0, 0, 0, fmt.Errorf("step %q, expected 1 or more", by)
		}
	}
	return from, to, step, nil
}

// SweepPoint is one combination of the axes' values, over seeds.
type SweepPoint struct {
	Values    []float64     `json:"values"` // in the order of the axes
	Rate      Estimate      `json:"transactions_per_second"`
	P50       Estimate      `json:"p50_ns"`
	P99       Estimate      `json:"p99_ns"`
	Client    HostEstimates `json:"client"`
	Server    HostEstimates `json:"server"`
	KnifeEdge bool          `json:"knife_edge"` // the mean is no useful answer: chance decides between states
}

// Sweep is the points of all combinations, the last axis the fastest.
type Sweep struct {
	Workload string       `json:"workload"`
	Settings string       `json:"settings"`
	Seeds    int          `json:"seeds"`
	Axes     []Axis       `json:"axes"`
	Points   []SweepPoint `json:"points"`
}

// RunSweep simulates all combinations on all CPUs. note, if it is not nil, is called with how many are done, from several
// goroutines.
func RunSweep(ctx context.Context, c Config, w Workload, axes []Axis, seeds int, note func(done, total int)) (*Sweep, error) {
	total := 1
	for _, a := range axes {
		total *= len(a.Values)
	}
	s := &Sweep{Workload: w.String(), Settings: c.String(), Seeds: seeds, Axes: axes}
	var done atomic.Int64
	var err error
	s.Points, err = parallel(ctx, total, func(i int) (SweepPoint, error) {
		p, err := sweepPoint(ctx, c, w, axes, i, seeds)
		if note != nil {
			note(int(done.Add(1)), total)
		}
		return p, err
	})
	return s, err
}

func sweepPoint(ctx context.Context, c Config, w Workload, axes []Axis, number, seeds int) (SweepPoint, error) {
	values := make([]float64, len(axes))
	for i := len(axes) - 1; i >= 0; i-- {
		n := len(axes[i].Values)
		values[i] = axes[i].Values[number%n]
		number /= n
		if err := vary(&c, &w, axes[i].Key, values[i]); err != nil {
			return SweepPoint{}, err
		}
	}
	r, err := Seeds(ctx, c, w, seeds)
	if err != nil {
		return SweepPoint{}, err
	}
	return SweepPoint{Values: values, Rate: r.Rate, P50: r.Latency.P50, P99: r.Latency.P99, Client: r.Client, Server: r.Server, KnifeEdge: len(r.Warnings) > 0}, nil
}

func vary(c *Config, w *Workload, key string, value float64) error {
	switch key {
	case "request":
		w.Request = int(value)
	case "response":
		w.Response = int(value)
	case "depth":
		w.Depth = int(value)
	default:
		return c.Set(key, strconv.FormatFloat(value, 'f', -1, 64))
	}
	return w.Check()
}
