package coalesce

import (
	"fmt"
	"slices"
)

// Which outputs belong together: those of one interface, and those that are one series.

// builder collects what belongs together before it becomes series.
type builder struct {
	host       *Host
	options    Options
	interfaces map[string]*Interface
	clusters   []*cluster
}

// hostWide stands for the interface of counters that are of none; no interface can have the name.
const hostWide = " host"

// cluster is a series in the making: outputs of one tool about one interface whose files are named alike.
type cluster struct {
	tool, iface, family string
	members             []member
	paired              bool // by their content: the order is right
}

func (b *builder) interfaceOutput(out *Output, i *InterfaceOutput, only string) {
	if i.Host {
		b.add(hostWide, out, i)
		return
	}
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
		to.add(Dump{Tool: out.Tool, Pos: out.Pos, Phase: out.Name.Phase, Time: out.Name.Time, Refusal: out.Refusal, Settings: i.Settings})
	}
}

// add keeps a dump unless it says the same as the last one of its tool; of those that differ the first maxDumps are kept.
func (i *Interface) add(d Dump) {
	kept := 0
	for k := len(i.Dumps) - 1; k >= 0; k-- {
		if i.Dumps[k].Tool != d.Tool {
			continue
		}
		if kept++; kept == 1 && i.Dumps[k].equal(d) {
			return
		}
	}
	if kept < maxDumps {
		i.Dumps = append(i.Dumps, d)
	}
}

func (d *Dump) equal(x Dump) bool {
	return d.Refusal == x.Refusal && slices.EqualFunc(d.Settings, x.Settings, func(a, b Setting) bool {
		a.Pos = b.Pos
		return a == b
	})
}

// iface returns the interface of that name. Outputs whose interface is not known share one, but for counters.
func (b *builder) iface(name, from string) *Interface {
	i := b.interfaces[name]
	if i == nil && len(b.interfaces) == maxInterfaces {
		b.host.note(&Output{}, "there are more than 1,024 interfaces; the rest is left out")
		return newInterface(name, from)
	}
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
		if c.iface == hostWide {
			p := newCounterSeries(s, c.members)
			p.dropNever()
			b.host.Protocols = append(b.host.Protocols, p)
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
		return x.tool == c.tool && x.iface == c.iface && len(x.members) > 1 && similar(contentOf(first), contentOf(x.members[0]))
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
		first, second := c.members[0], other.members[0]
		x, y := contentOf(first), contentOf(second)
		switch {
		case continues(x, y):
			c.members = []member{first, second}
		case continues(y, x):
			c.members = []member{second, first}
		default:
			continue
		}
		c.paired = true
		b.clusters = slices.Delete(b.clusters, k, k+1)
	}
}

// split cuts a cluster where a snapshot is not of the same device as the one before.
func (c *cluster) split() []*cluster {
	timed := timeFrom(c.members) != TimeUnknown
	var parts []*cluster
	start, before := 0, contentOf(c.members[0])
	for i := 1; i < len(c.members); i++ {
		after := contentOf(c.members[i])
		if (!timed || !similar(before, after)) && !continues(before, after) {
			parts = append(parts, &cluster{c.tool, c.iface, c.family, c.members[start:i], c.paired})
			start = i
		}
		before = after
	}
	return append(parts, &cluster{c.tool, c.iface, c.family, c.members[start:], c.paired})
}

// content is what an output counts, to compare it with another.
type content struct {
	names  []string
	values []uint64
	cpus   int // of a table, else 0
}

func contentOf(m member) content {
	var c content
	if m.part != nil {
		c.names, c.values = make([]string, len(m.part.Counters)), make([]uint64, len(m.part.Counters))
		for k, x := range m.part.Counters {
			c.names[k], c.values[k] = x.Name, x.Value
		}
		return c
	}
	c.cpus = len(m.Table.CPUs)
	c.names, c.values = make([]string, 0, 2*len(m.Table.Rows)), make([]uint64, 0, 2*len(m.Table.Rows))
	for _, r := range m.Table.Rows {
		sum := uint64(0)
		for _, cell := range r.Cells {
			sum += cell.Value
		}
		c.names, c.values = append(c.names, r.Key, r.Name), append(c.values, sum, sum)
	}
	return c
}

// comparison counts what two outputs have in common, and which way it moved.
func (c content) comparison(next content) (common, rose, fell int) {
	count := func(from, to uint64) {
		common++
		if to > from {
			rose++
		} else if to < from {
			fell++
		}
	}
	if slices.Equal(c.names, next.names) { // as snapshots of one tool mostly are
		for k := range c.values {
			count(c.values[k], next.values[k])
		}
		return common, rose, fell
	}
	values := map[string]uint64{}
	for k, name := range c.names {
		values[name] = c.values[k]
	}
	for k, name := range next.names {
		if from, ok := values[name]; ok {
			count(from, next.values[k])
		}
	}
	return common, rose, fell
}

// similar reports whether two outputs count mostly the same things: four of five names, and half of the CPUs.
func similar(a, b content) bool {
	common, _, _ := a.comparison(b)
	return 5*common >= 4*max(len(a.names), len(b.names)) && 2*min(a.cpus, b.cpus) >= max(a.cpus, b.cpus)
}

// continues reports whether b is similar to a and most of what moved rose.
func continues(a, b content) bool {
	_, rose, fell := a.comparison(b)
	return rose >= 4*fell && similar(a, b)
}
