package coalesce

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"nettrace/unit"
)

// Options say how Join takes what outputs do not tell. The zero value takes only what they tell.
type Options struct {
	Interval unit.Nanos // between snapshots whose names have no time; 0 leaves modification times
}

// Join makes hosts of the outputs of one incident. One folder is one host, or two where tags say "-peer", or more where
// tags have groups. Outputs of one tool, interface and kind of file name are a series in the order of their times.
func Join(outputs []Output, o Options) []*Host {
	type key struct {
		dir, group string
		peer       bool
	}
	sets := map[key][]*Output{}
	var keys []key
	for i := range outputs {
		out := &outputs[i]
		k := key{dir: path.Dir(out.Pos.Source), peer: out.Name.Peer}
		if snapshotNamed(out) {
			k.group = out.Name.Group
		}
		if sets[k] == nil {
			keys = append(keys, k)
		}
		sets[k] = append(sets[k], out)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(natural(a.dir, b.dir), cmp.Compare(a.group, b.group), compareBool(a.peer, b.peer))
	})
	hosts := []*Host{}
	for _, k := range keys {
		h := &Host{Group: k.group, Peer: k.peer, Interfaces: []*Interface{}, Tables: []*CPUSeries{}, Notes: []Note{}}
		h.Name = strings.Join(slices.DeleteFunc([]string{k.dir, k.group, map[bool]string{true: "peer"}[k.peer]}, func(s string) bool { return s == "" || s == "." }), " ")
		h.join(sets[k], o)
		hosts = append(hosts, h)
	}
	return hosts
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// join fills in the host from its outputs.
func (h *Host) join(outputs []*Output, o Options) {
	inOrder(outputs)
	b := builder{host: h, options: o, interfaces: map[string]*Interface{}}
	for _, out := range outputs {
		only := onlyInterface(outputs, out)
		for i := range out.Interfaces {
			b.interfaceOutput(out, &out.Interfaces[i], only)
		}
		switch {
		case out.Table != nil:
			b.add("", out, nil)
		case out.Refusal != "" && len(out.Interfaces) == 0:
			h.note(out, cmp.Or(out.Name.Tool, out.Tool)+": the device does not support the question: "+out.Refusal)
		}
	}
	b.series()
	slices.SortStableFunc(h.Interfaces, func(a, b *Interface) int {
		return cmp.Or(compareBool(a.Name == "", b.Name == ""), natural(a.Name, b.Name))
	})
	h.resolveVectors()
}

func (h *Host) note(o *Output, text string) { h.Notes = append(h.Notes, Note{text, o.Pos}) }

// builder collects what belongs together before it becomes series.
type builder struct {
	host       *Host
	options    Options
	interfaces map[string]*Interface
	clusters   []*cluster
}

// cluster is a series in the making: outputs of one tool about one interface whose files are named alike.
type cluster struct {
	tool, iface, family string
	outputs             []*Output
	parts               []*InterfaceOutput // of the outputs; nil for tables
}

func (b *builder) interfaceOutput(out *Output, i *InterfaceOutput, only string) {
	name, from := nameOf(out, i, only)
	if len(i.Counters) > 0 {
		b.add(name, out, i)
	}
	if i.Driver == nil && len(i.Settings) == 0 && out.Refusal == "" {
		return
	}
	to := b.iface(name, from)
	if i.Driver != nil {
		to.Driver = i.Driver
	}
	if len(i.Settings) > 0 || out.Refusal != "" {
		to.Dumps = append(to.Dumps, Dump{Tool: out.Tool, Pos: out.Pos, Phase: out.Name.Phase, Time: out.Name.Time, Refusal: out.Refusal, Settings: i.Settings})
	}
}

// iface returns the interface of that name. Outputs whose interface is not known share one, but for counters.
func (b *builder) iface(name, from string) *Interface {
	i := b.interfaces[name]
	if i == nil {
		i = newInterface(name, from)
		b.interfaces[name] = i
		b.host.Interfaces = append(b.host.Interfaces, i)
	}
	return i
}

func newInterface(name, from string) *Interface {
	return &Interface{Name: name, NameFrom: from, Dumps: []Dump{}, Counters: []*CounterSeries{}}
}

func (b *builder) add(iface string, out *Output, part *InterfaceOutput) {
	c := cluster{tool: out.Tool, iface: iface, family: family(out)}
	k := slices.IndexFunc(b.clusters, func(x *cluster) bool {
		return x.tool == c.tool && x.iface == c.iface && x.family == c.family
	})
	if k < 0 {
		k = len(b.clusters)
		b.clusters = append(b.clusters, &c)
	}
	b.clusters[k].outputs = append(b.clusters[k].outputs, out)
	b.clusters[k].parts = append(b.clusters[k].parts, part)
}

// series turns clusters into series.
func (b *builder) series() {
	b.pairSingles()
	var parts []*cluster
	for _, c := range b.clusters {
		parts = append(parts, c.split()...)
	}
	for _, c := range parts {
		if c.lone(parts) {
			b.host.note(c.outputs[0], "a snapshot of "+c.tool+" that belongs to no series is left out")
			continue
		}
		s := stamp(c.outputs, b.options.Interval)
		b.noteTime(c, s)
		if c.parts[0] == nil {
			b.host.Tables = append(b.host.Tables, newCPUSeries(s, c.outputs))
			continue
		}
		b.counters(c, s)
	}
}

func (b *builder) counters(c *cluster, s Series) {
	i := b.iface(c.iface, "")
	_, i.NameFrom = nameOf(c.outputs[0], c.parts[0], c.iface)
	if c.iface == "" && len(i.Counters) > 0 { // counters of other devices: not known to be the same one
		i = newInterface("", NameUnknown)
		b.host.Interfaces = append(b.host.Interfaces, i)
	}
	i.Counters = append(i.Counters, newCounterSeries(s, c.outputs, c.parts))
	if i.NameFrom == NameFromOnly {
		b.host.note(c.outputs[0], "the counters do not name their interface; they are taken as those of "+c.iface+", "+NameFromOnly)
	}
}

// lone reports whether c is a single snapshot of what another part has a series of, such as the "config" set that is
// taken once. Files that are not named as snapshots may be of another machine.
func (c *cluster) lone(parts []*cluster) bool {
	return len(c.outputs) == 1 && !c.outputs[0].Name.Time.IsZero() && slices.ContainsFunc(parts, func(x *cluster) bool {
		return x.tool == c.tool && x.iface == c.iface && len(x.outputs) > 1 && similar(c.outputs[0], c.parts[0], x.outputs[0], x.parts[0])
	})
}

func (b *builder) noteTime(c *cluster, s Series) {
	switch {
	case len(c.outputs) < 2:
	case s.TimeFrom == TimeUnknown:
		b.host.note(c.outputs[0], fmt.Sprintf("%d snapshots of %s without a time: changes, but no rates; give --interval, or put the UTC time into the names", len(c.outputs), c.tool))
	case s.TimeFrom != TimeFromName:
		b.host.note(c.outputs[0], fmt.Sprintf("the times of %d snapshots of %s come from: %s", len(c.outputs), c.tool, s.TimeFrom))
	}
}

// pairSingles makes a pair of two snapshots of one tool and interface, if there are only these two, their files are
// named differently, and the second goes on where the first stopped.
func (b *builder) pairSingles() {
	for i, c := range b.clusters {
		var same []*cluster
		for _, x := range b.clusters {
			if x.tool == c.tool && x.iface == c.iface {
				same = append(same, x)
			}
		}
		if len(same) != 2 || same[0] != c || len(same[1].outputs) != 1 || len(c.outputs) != 1 || !continues(c.outputs[0], c.parts[0], same[1].outputs[0], same[1].parts[0]) {
			continue
		}
		c.outputs = append(c.outputs, same[1].outputs...)
		c.parts = append(c.parts, same[1].parts...)
		b.clusters = slices.DeleteFunc(b.clusters, func(x *cluster) bool { return x == same[1] })
		if i+1 >= len(b.clusters) {
			return
		}
	}
}

// split cuts a cluster where a snapshot is not of the same device as the one before.
func (c *cluster) split() []*cluster {
	timed, offset := namesTell(c.outputs)
	var parts []*cluster
	start := 0
	for i := 1; i <= len(c.outputs); i++ {
		if i < len(c.outputs) {
			alike := similar(c.outputs[i-1], c.parts[i-1], c.outputs[i], c.parts[i])
			if alike && (timed || offset || continues(c.outputs[i-1], c.parts[i-1], c.outputs[i], c.parts[i])) {
				continue
			}
		}
		parts = append(parts, &cluster{c.tool, c.iface, c.family, c.outputs[start:i], c.parts[start:i]})
		start = i
	}
	return parts
}

// names returns what an output counts, with the values, to compare it with another.
func names(o *Output, part *InterfaceOutput) map[string]uint64 {
	m := map[string]uint64{}
	if part != nil {
		for _, c := range part.Counters {
			m[c.Name] = c.Value
		}
		return m
	}
	for _, r := range o.Table.Rows {
		sum := uint64(0)
		for _, c := range r.Cells {
			sum += c.Value
		}
		m[r.Key+" "+r.Name] = sum
	}
	return m
}

// similar reports whether two outputs count mostly the same things: four of five names, and half of the CPUs.
func similar(a *Output, pa *InterfaceOutput, b *Output, pb *InterfaceOutput) bool {
	if pa == nil && 2*min(len(a.Table.CPUs), len(b.Table.CPUs)) < max(len(a.Table.CPUs), len(b.Table.CPUs)) {
		return false
	}
	x, y := names(a, pa), names(b, pb)
	common := 0
	for name := range x {
		if _, ok := y[name]; ok {
			common++
		}
	}
	return 5*common >= 4*max(len(x), len(y))
}

// continues reports whether b is similar to a and most of what moved rose.
func continues(a *Output, pa *InterfaceOutput, b *Output, pb *InterfaceOutput) bool {
	if !similar(a, pa, b, pb) {
		return false
	}
	x, y := names(a, pa), names(b, pb)
	rose, fell := 0, 0
	for name, from := range x {
		to, ok := y[name]
		switch {
		case ok && to > from:
			rose++
		case ok && to < from:
			fell++
		}
	}
	return rose >= 4*fell
}
