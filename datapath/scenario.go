package datapath

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nettrace/unit"
)

// Scenario is a workload of a machine other than the request/response one: a stream, senders that share queues,
// forwarding, or receiving.
type Scenario struct {
	Workload    string    `json:"workload"`
	Machine     string    `json:"machine"` // whose constants are used
	Settings    string    `json:"settings"`
	Measures    []Measure `json:"measures"`
	Assumptions []string  `json:"assumptions"`
}

// Measure is one figure of a scenario.
type Measure struct {
	Name     string   `json:"name"`
	Unit     string   `json:"unit"`
	Estimate Estimate `json:"estimate"`
}

// scenarioKind is a kind of workload with its machine, the choice that its model has, and its figures.
type scenarioKind struct {
	prefix, form string
	machine      string
	choice       string   // the setting that is no constant
	choices      []string // its values, the first one the default
	figures      func(first, second int, choice string) []scenarioFigure
	assumes      string
}

type scenarioFigure struct{ name, unit, figure string }

func scenarioKinds() []scenarioKind {
	return []scenarioKind{
		{"stream", "stream:BYTES,DEPTH", mapPages, "dma", []string{string(PerFragment), string(PerPage), string(Unmapped)},
			func(_, depth int, dma string) []scenarioFigure {
				of := func(name, unit, measure string) scenarioFigure {
					return scenarioFigure{name, unit, fmt.Sprintf("workload=stream dma=%s depth=%d measure=%s", dma, depth, measure)}
				}
				return []scenarioFigure{of("throughput", "Gb/s", "rate"), of("CPU in packet work", "us/packet", "packet"), of("CPU in mapping", "us/packet", "map"), of("CPU holding the lock", "us/packet", "hold"),
					of("CPU waiting for the lock", "us/packet", "wait"), of("CPU time waiting for the lock", "ratio", "lock-share")}
			}, "received by as many CPUs as there are streams, up to those of the machine; packets of a full MSS; service of the lock is exponential, in order of arrival"},
		{"send", "send:BYTES", sdp, "mode", []string{string(CopySend), string(ZeroCopy)},
			func(size, _ int, mode string) []scenarioFigure {
				of := func(name, unit, measure string) scenarioFigure {
					return scenarioFigure{name, unit, fmt.Sprintf("mode=%s size=%d measure=%s", mode, size, measure)}
				}
				return []scenarioFigure{of("throughput", "Mb/s", "rate"), of("CPU, sender", "us/KB", "demand-local"), of("CPU, receiver", "us/KB", "demand-remote")}
			}, "one stream; netperf's ring of buffers: up to 64 KiB are copied from the cache, more from memory"},
		{"senders", "senders:N", mpRing, "discipline", []string{string(PlainLock), string(Ring), string(RingAbdicate)},
			func(n, _ int, discipline string) []scenarioFigure {
				return []scenarioFigure{{"rate", "Mpps", fmt.Sprintf("senders=%d discipline=%s", n, discipline)}}
			}, "flows are hashed to queues at random: the interval is over placements; N is a power of 2 up to 128, where the stack was measured"},
		{"forward", "forward:PPS", tg3, "driver", []string{"base", "tagged", "tagged-late", "coal", "coal-4x"},
			func(pps, _ int, driver string) []scenarioFigure {
				of := func(name, unit, measure string) scenarioFigure {
					return scenarioFigure{name, unit, fmt.Sprintf("driver=%s rate=%d measure=%s", driver, pps, measure)}
				}
				return []scenarioFigure{of("packets per interrupt", "packets/interrupt", "packets"), of("interrupts", "interrupts/s", "interrupts"), of("polls at whose end the tag had changed", "ratio", "races"), of("CPU", "percent", "cpu")}
			}, "full frames in pairs at random times on a link of 1 Gb/s"},
		{"receive", "receive:PPS", receiving, "queues", []string{"1", "2", "4", "8", "16"},
			func(pps, _ int, queues string) []scenarioFigure {
				of := func(name, unit, measure string) scenarioFigure {
					return scenarioFigure{name, unit, fmt.Sprintf("rate=%d queues=%s measure=%s", pps, queues, measure)}
				}
				return []scenarioFigure{of("CPU of the busiest queue", "ratio", "busy"), of("rate at which that CPU is full", "packets/s", "capacity"), of("pause of that CPU that its ring bridges", "us", "bridged")}
			}, "a ring and a CPU for each queue (1 to 1024 of them); a packet costs the same on each CPU and at each rate, whatever the others do"},
	}
}

// IsScenario reports whether a workload's text is of a kind that PredictScenario takes.
func IsScenario(workload string) bool {
	prefix, _, _ := strings.Cut(workload, ":")
	for _, k := range scenarioKinds() {
		if k.prefix == prefix {
			return true
		}
	}
	return false
}

// ScenarioChoice returns the setting of a kind of workload that is no constant, such as dma of a stream, with its values, the
// usual one first.
func ScenarioChoice(workload string) (choice Setting, ok bool) {
	prefix, _, _ := strings.Cut(workload, ":")
	for _, k := range scenarioKinds() {
		if k.prefix == prefix {
			return Setting{Key: k.choice, Values: strings.Join(k.choices, ", "), Doc: k.assumes}, true
		}
	}
	return Setting{}, false
}

// PredictScenario predicts a workload "stream:BYTES,DEPTH", "send:BYTES", "senders:N", "forward:PPS" or "receive:PPS" with
// settings "KEY=VALUE": the choice that the model has (dma, mode, discipline, driver, queues), or one of the machine's constants.
func PredictScenario(ctx context.Context, workload string, settings []string) (*Scenario, error) {
	prefix, sizes, _ := strings.Cut(workload, ":")
	for _, k := range scenarioKinds() {
		if k.prefix == prefix {
			return k.predict(ctx, workload, sizes, settings)
		}
	}
	return nil, fmt.Errorf("workload %q is not known", workload)
}

func (k scenarioKind) predict(ctx context.Context, workload, sizes string, settings []string) (*Scenario, error) {
	first, second, err := k.sizes(workload, sizes)
	if err != nil {
		return nil, err
	}
	c, err := FrozenConstants(k.machine)
	if err != nil {
		return nil, err
	}
	choice := k.choices[0]
	var changed []string
	for _, s := range settings {
		for item := range strings.SplitSeq(s, ",") {
			key, value, _ := strings.Cut(strings.TrimSpace(item), "=")
			if key == k.choice {
				choice = value
				continue
			}
			if c, err = k.override(c, key, value); err != nil {
				return nil, err
			}
			changed = append(slices.DeleteFunc(changed, func(c string) bool { return strings.HasPrefix(c, key+"=") }), key+"="+value)
		}
	}
	s := &Scenario{Workload: workload, Machine: k.machine, Settings: strings.Join(append([]string{k.choice + "=" + choice}, changed...), ","), Assumptions: []string{k.assumes, c.describe()}}
	m := c.machine.model(c, effort{})
	for _, x := range k.figures(first, second, choice) {
		f, err := parseFigure(x.figure)
		if err != nil {
			return nil, err
		}
		e, err := m.predict(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("%s with %s: %w", workload, s.Settings, err)
		}
		s.Measures = append(s.Measures, Measure{x.name, x.unit, e})
	}
	return s, nil
}

func (k scenarioKind) sizes(workload, text string) (first, second int, err error) {
	fields := strings.Split(text, ",")
	if len(fields) > 2 || len(fields) > strings.Count(k.form, ",")+1 {
		return 0, 0, fmt.Errorf("workload %q: expected %s", workload, k.form)
	}
	numbers := [2]int{1: 1}
	for i, f := range fields {
		if numbers[i], err = strconv.Atoi(strings.TrimSpace(f)); err != nil || numbers[i] < 1 {
			return 0, 0, fmt.Errorf("workload %q: %q is no number above 0, expected %s", workload, f, k.form)
		}
	}
	return numbers[0], numbers[1], nil
}

// override changes a constant that is named as a setting.
func (k scenarioKind) override(c *Constants, key, text string) (*Constants, error) {
	value, err := strconv.ParseFloat(text, 64)
	for _, q := range c.machine.quantities {
		if q.name != key {
			continue
		}
		if err != nil || !(value >= q.least && value <= q.top) {
			return nil, fmt.Errorf("%s: %q, expected %g to %g %s", key, text, q.least, q.top, q.unit)
		}
		changed := c.with(key, value)
		changed.list[c.at(key)].Role = Given
		return changed, nil
	}
	keys := []string{k.choice}
	for _, q := range c.machine.quantities {
		keys = append(keys, q.name)
	}
	return nil, fmt.Errorf("no setting is called %q; the nearest is %q", key, unit.Nearest(key, keys))
}

// describe counts the constants by where they come from.
func (c *Constants) describe() string {
	count := map[Role]int{}
	for _, k := range c.list {
		count[k.Role]++
	}
	return fmt.Sprintf("constants of machine %s: %d given, %d fitted on published points, %d assumed", c.Machine(), count[Given], count[Fitted], count[Assumed])
}
