package datapath

import (
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nettrace/unit"
)

//go:embed constants
var frozenConstants embed.FS

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
	Unit        string  `json:"unit"` // us, ns/B, Gb/s, B and others
	Role        Role    `json:"role"`
	Uncertainty float64 `json:"uncertainty"` // in the same unit
	Source      string  `json:"source"`
}

// Constants are the numbers of one set of machines. They are never changed; with returns changed ones.
type Constants struct {
	machine machine
	list    []Constant
}

// Machine is the name of the machines, that of their file.
func (c *Constants) Machine() string { return c.machine.name }

// List returns the constants in the order of their file.
func (c *Constants) List() []Constant { return slices.Clone(c.list) }

func (c *Constants) at(name string) int {
	return slices.IndexFunc(c.list, func(k Constant) bool { return k.Name == name })
}

// value returns the constant of a name that the machine's model declares; parsing has seen to it that it is there.
func (c *Constants) value(name string) float64 {
	if i := c.at(name); i >= 0 {
		return c.list[i].Value
	}
	return 0
}

// nanos returns a constant that is in us.
func (c *Constants) nanos(name string) unit.Nanos {
	return unit.Nanos(math.Round(c.value(name) * 1000))
}

// with returns the constants with one of them changed.
func (c *Constants) with(name string, value float64) *Constants {
	changed := &Constants{c.machine, slices.Clone(c.list)}
	changed.list[c.at(name)].Value = value
	return changed
}

// quantity is a constant that a model uses: its name, unit and range.
type quantity struct {
	name, unit string
	least, top float64
}

// micros are times in us of the names.
func micros(names ...string) []quantity {
	var list []quantity
	for _, name := range names {
		list = append(list, quantity{name, "us", 0, 1e6})
	}
	return list
}

// FrozenConstants returns the constants of a machine that predictions are made with; "" is the adaptive-rx thread's.
func FrozenConstants(machine string) (*Constants, error) {
	if machine == "" {
		machine = adaptiveRX
	}
	m, err := machineByName(machine)
	if err != nil {
		return nil, err
	}
	text, err := frozenConstants.ReadFile("constants/" + machine + ".tsv")
	if err != nil {
		return nil, err
	}
	return parseConstants(machine+".tsv", string(text), m)
}

// ParseConstants reads a file of a machine's constants: tab-separated name, value, unit, role, uncertainty and source, one
// to a line; lines that begin with # are comments. Each constant that the model uses has to be there once, and one without
// role, uncertainty or source is refused.
func ParseConstants(file, text, machine string) (*Constants, error) {
	m, err := machineByName(machine)
	if err != nil {
		return nil, err
	}
	return parseConstants(file, text, m)
}

func parseConstants(file, text string, m machine) (*Constants, error) {
	c := &Constants{machine: m}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := c.add(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	for _, q := range m.quantities {
		if c.at(q.name) < 0 {
			return nil, fmt.Errorf("%s: constant %q is absent", file, q.name)
		}
	}
	if m.check != nil {
		if err := m.check(c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return c, nil
}

func (c *Constants) add(line string) error {
	fields := strings.Split(line, "\t")
	if len(fields) != 6 {
		return fmt.Errorf("%d fields, expected name, value, unit, role, uncertainty and source", len(fields))
	}
	k := Constant{Name: fields[0], Unit: fields[2], Role: Role(fields[3]), Source: strings.TrimSpace(fields[5])}
	at := slices.IndexFunc(c.machine.quantities, func(q quantity) bool { return q.name == k.Name })
	if at < 0 {
		return fmt.Errorf("constant %q is not known", k.Name)
	}
	q := c.machine.quantities[at]
	var err, uerr error
	k.Value, err = strconv.ParseFloat(fields[1], 64)
	k.Uncertainty, uerr = strconv.ParseFloat(fields[4], 64)
	switch {
	case c.at(k.Name) >= 0:
		return fmt.Errorf("constant %q is there twice", k.Name)
	case k.Unit != q.unit:
		return fmt.Errorf("%s is in %q, expected %s", k.Name, k.Unit, q.unit)
	case err != nil || !(k.Value >= q.least && k.Value <= q.top):
		return fmt.Errorf("%s is %q, expected %g to %g %s", k.Name, fields[1], q.least, q.top, q.unit)
	case k.Role != Given && k.Role != Fitted && k.Role != Assumed:
		return fmt.Errorf("%s has role %q, expected given, fitted or assumed", k.Name, k.Role)
	case uerr != nil || !(k.Uncertainty >= 0):
		return fmt.Errorf("%s has uncertainty %q, expected a number in %s", k.Name, fields[4], q.unit)
	case k.Source == "":
		return fmt.Errorf("%s has no source: a constant without provenance is refused", k.Name)
	}
	c.list = append(c.list, k)
	return nil
}
