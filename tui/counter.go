package tui

import (
	"cmp"
	"fmt"
	"slices"

	"nettrace/coalesce"
	"nettrace/source"
	"nettrace/unit"
)

// counter is a setting, a counter of an interface, or a row of counts by CPU, made ready to be listed.
type counter struct {
	host, kind, iface, name   string
	first, last, change, rate cell
	moved                     bool // it belongs to what changed, or is a setting
	steps                     []float64
	cpus                      []cpuCount // most first
	notes                     []string
	places                    []source.Pos
}

type cpuCount struct {
	name  string
	value float64
}

// countersOf lists everything of all hosts, settings first.
func countersOf(hosts []*coalesce.Host) []counter {
	var settings, counts []counter
	for _, h := range hosts {
		for _, i := range h.Interfaces {
			settings = append(settings, settingsOf(h, i)...)
			for _, s := range i.Counters {
				counts = append(counts, countersIn(h, i, s)...)
			}
		}
		for _, t := range h.Tables {
			counts = append(counts, rowsIn(h, t)...)
		}
	}
	return append(settings, counts...)
}

// settingsOf lists an interface's driver and settings; one that differs between two dumps shows both values.
func settingsOf(h *coalesce.Host, i *coalesce.Interface) []counter {
	var list []counter
	index := map[string]int{}
	if d := i.Driver; d != nil {
		list = append(list, counter{host: h.Name, kind: "driver", iface: i.Name, name: d.Name + " " + d.Version, moved: true,
			notes: driverNotes(d), places: at(nil, d.Pos)})
	}
	for n := range i.Dumps {
		d := &i.Dumps[n]
		if d.Refusal != "" {
			list = append(list, counter{host: h.Name, kind: "setting", iface: i.Name, name: d.Tool, moved: true, last: text("refused"), notes: []string{d.Refusal}, places: at(nil, d.Pos)})
		}
		for k := range d.Settings {
			s := &d.Settings[k]
			name := s.Name
			if s.Queue >= 0 {
				name = fmt.Sprintf("%s of queue %d", name, s.Queue)
			}
			key := d.Tool + " " + name
			at, known := index[key]
			if !known {
				at = len(list)
				index[key] = at
				list = append(list, counter{host: h.Name, kind: "setting", iface: i.Name, name: name, moved: true, first: settingCell(s.Value), notes: []string{d.Tool}})
			}
			list[at].setting(d, s)
		}
	}
	return list
}

func driverNotes(d *coalesce.Driver) []string {
	notes := []string{"driver " + d.Name + " " + d.Version}
	if d.Firmware != "" {
		notes = append(notes, "firmware "+d.Firmware)
	}
	if d.Bus != "" {
		notes = append(notes, "bus "+d.Bus)
	}
	return notes
}

// setting takes a later value of a setting.
func (c *counter) setting(d *coalesce.Dump, s *coalesce.Setting) {
	c.last = settingCell(s.Value)
	c.places = at(c.places, s.Pos)
	if c.first.text != c.last.text {
		c.change = cell{text: "changed"}
		c.notes = append(c.notes, "is "+c.last.text+" "+d.Phase)
	}
	if s.Fixed {
		c.notes = append(c.notes, "fixed: it cannot be changed")
	}
	if s.Requested.State != coalesce.Absent {
		c.notes = append(c.notes, "was asked to be "+s.Requested.String())
	}
}

func settingCell(v coalesce.Value) cell {
	if n, ok := v.Number(); ok {
		return number(unit.Count(int64(n)), float64(n))
	}
	return text(v.String())
}

func countersIn(h *coalesce.Host, i *coalesce.Interface, s *coalesce.CounterSeries) []counter {
	var list []counter
	for n := range s.Counters {
		c := &s.Counters[n]
		list = append(list, counted(h, s.Tool, i.Name, c.Name, &s.Series, &c.Change))
	}
	return list
}

func rowsIn(h *coalesce.Host, t *coalesce.CPUSeries) []counter {
	var list []counter
	for n := range t.Rows {
		r := &t.Rows[n]
		name := r.Key
		if r.Name != "" {
			name += " " + r.Name
		}
		c := counted(h, t.Tool, r.Vector.Interface, name, &t.Series, &r.Change)
		if r.Gauge {
			c.notes = append(c.notes, "a length of the moment: it has no change")
			c.change, c.rate = cell{}, cell{}
		}
		for _, x := range r.CPUs {
			if x.CPU != coalesce.AllCPUs {
				c.cpus = append(c.cpus, cpuCount{fmt.Sprintf("CPU %d", x.CPU), float64(max(x.Delta, single(x.Last, len(t.Snapshots))))})
			}
		}
		slices.SortStableFunc(c.cpus, func(a, b cpuCount) int { return -cmp.Compare(a.value, b.value) })
		list = append(list, c)
	}
	return list
}

// single is a count since boot where there is only one snapshot, and nothing otherwise.
func single(last uint64, snapshots int) uint64 {
	if snapshots > 1 {
		return 0
	}
	return last
}

// counted makes a counter of what changed over a series.
func counted(h *coalesce.Host, tool, iface, name string, s *coalesce.Series, v *coalesce.Change) counter {
	n := func(x uint64) cell { return number(unit.Count(int64(x)), float64(x)) }
	c := counter{host: h.Name, kind: tool, iface: iface, name: name, last: n(v.Last.Value), moved: v.Changed() || len(s.Snapshots) < 2}
	c.places = at(nil, v.First.Pos, v.Last.Pos)
	if len(s.Snapshots) < 2 {
		c.notes = append(c.notes, "one snapshot: what it holds is since boot")
		return c
	}
	c.first, c.change = n(v.First.Value), number("+"+unit.Count(int64(v.Delta)), float64(v.Delta))
	if rate, ok := v.Rate(); ok {
		c.rate = number(unit.Number(rate), rate)
		c.notes = append(c.notes, fmt.Sprintf("+%s in %s, %s per second; time from the %s", unit.Count(int64(v.Delta)), v.Span, unit.Number(rate), s.TimeFrom))
	} else {
		c.notes = append(c.notes, "+"+unit.Count(int64(v.Delta))+"; the time between the snapshots is not known: --interval tells it")
	}
	if v.Lost > 0 {
		c.notes = append(c.notes, plural(v.Lost, "step is", "steps are")+" not known: a reset, or no reading")
	}
	if v.Wraps > 0 {
		c.notes = append(c.notes, plural(v.Wraps, "step goes", "steps go")+" over the top of the counter")
	}
	for _, step := range v.Steps {
		x, _ := step.Number()
		c.steps = append(c.steps, float64(x))
	}
	return c
}
