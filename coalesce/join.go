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
	sets := map[key][]member{}
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
		sets[k] = append(sets[k], member{out, nil})
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
func (h *Host) join(members []member, o Options) {
	inOrder(members)
	outputs := make([]*Output, len(members))
	for i, m := range members {
		outputs[i] = m.Output
	}
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
	members             []member
	paired              bool // by their content: the order is right
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
	b.clusters[k].members = append(b.clusters[k].members, member{out, part})
}

// series turns clusters into series.
func (b *builder) series() {
	b.pairSingles()
	var parts []*cluster
	for _, c := range b.clusters {
		if !c.paired {
			inOrder(c.members)
		}
		parts = append(parts, c.split()...)
	}
	for _, c := range parts {
		first := c.members[0]
		if c.lone(parts) {
			b.host.note(first.Output, "a snapshot of "+c.tool+" that belongs to no series is left out")
			continue
		}
		s := stamp(c.members, b.options.Interval)
		b.noteTime(c, s)
		if first.part == nil {
			b.host.Tables = append(b.host.Tables, newCPUSeries(s, c.members))
			continue
		}
		b.counters(c, s)
	}
}

func (b *builder) counters(c *cluster, s Series) {
	first := c.members[0]
	i := b.iface(c.iface, "")
	_, i.NameFrom = nameOf(first.Output, first.part, c.iface)
	if c.iface == "" && len(i.Counters) > 0 { // counters of other devices: not known to be the same one
		i = newInterface("", NameUnknown)
		b.host.Interfaces = append(b.host.Interfaces, i)
	}
	i.Counters = append(i.Counters, newCounterSeries(s, c.members))
	if i.NameFrom == NameFromOnly {
		b.host.note(first.Output, "the counters do not name their interface; they are taken as those of "+c.iface+", "+NameFromOnly)
	}
}

// lone reports whether c is a single snapshot of what another part has a series of, such as the "config" set that is
// taken once. Files that are not named as snapshots may be of another machine.
func (c *cluster) lone(parts []*cluster) bool {
	first := c.members[0]
	return len(c.members) == 1 && !first.Name.Time.IsZero() && slices.ContainsFunc(parts, func(x *cluster) bool {
		return x.tool == c.tool && x.iface == c.iface && len(x.members) > 1 && similar(first, x.members[0])
	})
}

func (b *builder) noteTime(c *cluster, s Series) {
	first := c.members[0].Output
	switch {
	case len(c.members) < 2:
	case s.TimeFrom == TimeUnknown:
		b.host.note(first, fmt.Sprintf("%d snapshots of %s without a time: changes, but no rates; give --interval, or put the UTC time into the names", len(c.members), c.tool))
	case s.TimeFrom != TimeFromName:
		b.host.note(first, fmt.Sprintf("the times of %d snapshots of %s come from: %s", len(c.members), c.tool, s.TimeFrom))
	}
}

// pairSingles makes a pair of two snapshots of one tool and interface, if there are only these two, their files are
// named differently, and the second goes on where the first stopped.
func (b *builder) pairSingles() {
	for i := 0; i < len(b.clusters); i++ {
		c := b.clusters[i]
		same := func(x *cluster) bool { return x != c && x.tool == c.tool && x.iface == c.iface }
		k := slices.IndexFunc(b.clusters, same)
		if k < 0 || slices.IndexFunc(b.clusters[k+1:], same) >= 0 {
			continue
		}
		other := b.clusters[k]
		if k < i || len(c.members) != 1 || len(other.members) != 1 {
			continue
		}
		x, y := c.members[0], other.members[0]
		switch {
		case continues(x, y):
			c.members = []member{x, y}
		case continues(y, x):
			c.members = []member{y, x}
		default:
			continue
		}
		c.paired = true
		b.clusters = slices.Delete(b.clusters, k, k+1)
	}
}

// split cuts a cluster where a snapshot is not of the same device as the one before.
func (c *cluster) split() []*cluster {
	timed, offset := namesTell(c.members)
	var parts []*cluster
	start := 0
	for i := 1; i <= len(c.members); i++ {
		if i < len(c.members) {
			before, after := c.members[i-1], c.members[i]
			if (timed || offset) && similar(before, after) || continues(before, after) {
				continue
			}
		}
		parts = append(parts, &cluster{c.tool, c.iface, c.family, c.members[start:i], c.paired})
		start = i
	}
	return parts
}

// names returns what an output counts, with the values, to compare it with another.
func (m member) names() map[string]uint64 {
	values := map[string]uint64{}
	if m.part != nil {
		for _, c := range m.part.Counters {
			values[c.Name] = c.Value
		}
		return values
	}
	for _, r := range m.Table.Rows {
		sum := uint64(0)
		for _, c := range r.Cells {
			sum += c.Value
		}
		values[r.Key+" "+r.Name] = sum
	}
	return values
}

// similar reports whether two outputs count mostly the same things: four of five names, and half of the CPUs.
func similar(a, b member) bool {
	if a.part == nil && 2*min(len(a.Table.CPUs), len(b.Table.CPUs)) < max(len(a.Table.CPUs), len(b.Table.CPUs)) {
		return false
	}
	x, y := a.names(), b.names()
	common := 0
	for name := range x {
		if _, ok := y[name]; ok {
			common++
		}
	}
	return 5*common >= 4*max(len(x), len(y))
}

// continues reports whether b is similar to a and most of what moved rose.
func continues(a, b member) bool {
	if !similar(a, b) {
		return false
	}
	x, y := a.names(), b.names()
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
