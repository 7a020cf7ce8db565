package datapath

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nettrace/unit"
)

//go:embed constants.tsv
var frozenConstants string

// Role says where a constant comes from.
type Role string

const (
	Given   Role = "given"   // stated by what was measured, or by a standard
	Fitted  Role = "fitted"  // set so that the model meets calibration points
	Assumed Role = "assumed" // taken, not measured
)

// Constant is one number of the machines that are modelled, with its provenance.
type Constant struct {
	Name        string  `json:"name"`
	Value       float64 `json:"value"`
	Unit        string  `json:"unit"` // us, ns/B, Gb/s, B
	Role        Role    `json:"role"`
	Uncertainty float64 `json:"uncertainty"` // in the same unit
	Source      string  `json:"source"`
}

// Constants are all numbers of the machines.
type Constants struct {
	list  []Constant
	costs costs
}

// List returns the constants in the order of their file.
func (c *Constants) List() []Constant { return slices.Clone(c.list) }

// costs are the constants as the components use them.
type costs struct {
	linkPicosPerByte int64
	mss              int
	latency          unit.Nanos // link, one way
	interrupt        unit.Nanos
	pollStart        unit.Nanos
	packet           unit.Nanos // each completion
	tcpReceive       unit.Nanos // each merged segment
	ack              unit.Nanos
	rearm            unit.Nanos
	wake, wakeJitter unit.Nanos
	readCall         unit.Nanos
	readPicosPerByte int64
	send, split      unit.Nanos
}

// read is the time of reading a message.
func (c *costs) read(bytes int) unit.Nanos {
	return c.readCall + unit.Nanos(int64(bytes)*c.readPicosPerByte/1000)
}

// FrozenConstants returns the constants that predictions are made with.
func FrozenConstants() (*Constants, error) { return ParseConstants("constants.tsv", frozenConstants) }

// binding ties a constant's name and unit to its place in costs, and bounds its value.
type binding struct {
	name, unit string
	least, top float64
	set        func(c *costs, v float64)
}

func bindings() []binding {
	nanos := func(name string, field func(*costs) *unit.Nanos) binding {
		return binding{name, "us", 0, 1e6, func(c *costs, v float64) { *field(c) = unit.Nanos(math.Round(v * 1000)) }}
	}
	return []binding{
		{"link-rate", "Gb/s", 0.001, 1000, func(c *costs, v float64) { c.linkPicosPerByte = int64(math.Round(8000 / v)) }},
		{"mss", "B", 88, 65160, func(c *costs, v float64) { c.mss = int(v) }},
		{"latency", "us", 0.1, 1e6, func(c *costs, v float64) { c.latency = unit.Nanos(math.Round(v * 1000)) }}, // above 0: time has to pass
		nanos("tcp-receive", func(c *costs) *unit.Nanos { return &c.tcpReceive }),
		nanos("rearm", func(c *costs) *unit.Nanos { return &c.rearm }),
		nanos("send", func(c *costs) *unit.Nanos { return &c.send }),
		nanos("split", func(c *costs) *unit.Nanos { return &c.split }),
		nanos("interrupt", func(c *costs) *unit.Nanos { return &c.interrupt }),
		nanos("poll-start", func(c *costs) *unit.Nanos { return &c.pollStart }),
		nanos("packet", func(c *costs) *unit.Nanos { return &c.packet }),
		nanos("ack", func(c *costs) *unit.Nanos { return &c.ack }),
		nanos("wake", func(c *costs) *unit.Nanos { return &c.wake }),
		nanos("wake-jitter", func(c *costs) *unit.Nanos { return &c.wakeJitter }),
		nanos("read", func(c *costs) *unit.Nanos { return &c.readCall }),
		{"read-byte", "ns/B", 0, 1e6, func(c *costs, v float64) { c.readPicosPerByte = int64(math.Round(v * 1000)) }},
	}
}

// ParseConstants reads a file of constants: tab-separated name, value, unit, role, uncertainty and source, one to a line;
// lines that begin with # are comments. Each constant that the model uses has to be there once, and one without role,
// uncertainty or source is refused.
func ParseConstants(file, text string) (*Constants, error) {
	c, all := &Constants{}, bindings()
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := c.add(line, all); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	for _, b := range all {
		if !slices.ContainsFunc(c.list, func(k Constant) bool { return k.Name == b.name }) {
			return nil, fmt.Errorf("%s: constant %q is absent", file, b.name)
		}
	}
	if c.costs.wakeJitter > c.costs.wake {
		return nil, fmt.Errorf("%s: wake-jitter is more than wake: a reader cannot be woken before its data", file)
	}
	return c, nil
}

func (c *Constants) add(line string, all []binding) error {
	fields := strings.Split(line, "\t")
	if len(fields) != 6 {
		return fmt.Errorf("%d fields, expected name, value, unit, role, uncertainty and source", len(fields))
	}
	k := Constant{Name: fields[0], Unit: fields[2], Role: Role(fields[3]), Source: strings.TrimSpace(fields[5])}
	at := slices.IndexFunc(all, func(b binding) bool { return b.name == k.Name })
	if at < 0 {
		return fmt.Errorf("constant %q is not known", k.Name)
	}
	b := all[at]
	var err, uerr error
	k.Value, err = strconv.ParseFloat(fields[1], 64)
	k.Uncertainty, uerr = strconv.ParseFloat(fields[4], 64)
	switch {
	case slices.ContainsFunc(c.list, func(o Constant) bool { return o.Name == k.Name }):
		return fmt.Errorf("constant %q is there twice", k.Name)
	case k.Unit != b.unit:
		return fmt.Errorf("%s is in %q, expected %s", k.Name, k.Unit, b.unit)
	case err != nil || !(k.Value >= b.least && k.Value <= b.top):
		return fmt.Errorf("%s is %q, expected %g to %g %s", k.Name, fields[1], b.least, b.top, b.unit)
	case k.Role != Given && k.Role != Fitted && k.Role != Assumed:
		return fmt.Errorf("%s has role %q, expected given, fitted or assumed", k.Name, k.Role)
	case uerr != nil || !(k.Uncertainty >= 0):
		return fmt.Errorf("%s has uncertainty %q, expected a number in %s", k.Name, fields[4], b.unit)
	case k.Source == "":
		return fmt.Errorf("%s has no source: a constant without provenance is refused", k.Name)
	}
	b.set(&c.costs, k.Value)
	c.list = append(c.list, k)
	return nil
}
