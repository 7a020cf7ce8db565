package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// What the rules share.

// rateText prints a rate per second: "182,000/s".
func rateText(perSecond float64) string { return unit.Number(perSecond) + "/s" }

// subject names something of the host; the key stays the same for other runs of the same set-up, wherever their files are.
func (h *Host) subject(kind, name string) finding.Subject {
	s := finding.Subject{Kind: kind, Key: name, Name: name}
	if h.Group != "" {
		s.Key, s.Name = h.Group+"/"+s.Key, s.Name+" ("+h.Group+")"
	}
	if h.Peer {
		s.Key, s.Name = "peer/"+s.Key, s.Name+" of the peer"
	}
	return s
}

// trust returns how sure a finding can be whose rates come from the series, with the reason and what to beware of.
func (s *Series) trust() (finding.Level, []string, []string) {
	why := []string{fmt.Sprintf("%d snapshots over %v, times from %s", len(s.Snapshots), s.Span(), s.TimeFrom)}
	switch s.TimeFrom {
	case TimeFromMTime:
		return finding.Low, why, []string{"the times are the files' modification times, which a copy or a checkout changes: the rates may be wrong"}
	case TimeFromInterval:
		return finding.Medium, why, []string{"the time between snapshots was given on the command line"}
	}
	return finding.High, why, nil
}

// ends makes evidence of both ends of a change.
func ends(what string, c Change) []finding.Evidence {
	last := finding.At(c.Last.Pos, "%s at the end %s: +%s", what, unit.Count(int64(c.Last.Value&(1<<63-1))), unit.Count(int64(c.Delta&(1<<63-1))))
	return []finding.Evidence{finding.At(c.First.Pos, "%s at the beginning %s", what, unit.Count(int64(c.First.Value&(1<<63-1)))), last}
}

// settingEvidence makes evidence of a setting, if it is there.
func (i *Interface) settingEvidence(tool, name string) []finding.Evidence {
	s, ok := i.Setting(tool, name)
	if !ok {
		return nil
	}
	return []finding.Evidence{finding.At(s.Pos, "%s %s", name, s.Value)}
}

// device are the interrupts of one network device.
type device struct {
	name   string     // interface or, where it is not known, bus
	iface  *Interface // nil where it is not known
	rows   []*CPURow
	series *CPUSeries
}

// devices returns the network devices of a series of /proc/interrupts, in the order of their first row.
func (h *Host) devices(s *CPUSeries) []*device {
	var found []*device
	for k := range s.Rows {
		row := &s.Rows[k]
		if row.Vector.Kind != kernel.VectorNetwork {
			continue
		}
		name := row.Vector.Interface
		if name == "" {
			name = row.Vector.Bus
		}
		if name == "" {
			name = row.Name
		}
		d := (*device)(nil)
		for _, x := range found {
			if x.name == name {
				d = x
			}
		}
		if d == nil {
			d = &device{name: name, iface: h.Interface(row.Vector.Interface), series: s}
			found = append(found, d)
		}
		d.rows = append(d.rows, row)
	}
	return found
}

// delta returns the device's interrupts in all.
func (d *device) delta() (n uint64) {
	for _, r := range d.rows {
		n += r.Delta
	}
	return n
}

// busiest returns the CPU that took most of the device's interrupts and its share of them; of several the lowest.
func (d *device) busiest() (cpu int, share float64) {
	byCPU := map[int]uint64{}
	for _, r := range d.rows {
		for _, c := range r.CPUs {
			byCPU[c.CPU] += c.Delta
		}
	}
	most := uint64(0)
	for _, c := range d.series.CPUs {
		if byCPU[c] > most {
			cpu, most = c, byCPU[c]
		}
	}
	if total := d.delta(); total > 0 {
		share = float64(most) / float64(total)
	}
	return cpu, share
}

// top returns the row with most interrupts.
func (d *device) top() *CPURow {
	top := d.rows[0]
	for _, r := range d.rows {
		if r.Delta > top.Delta {
			top = r
		}
	}
	return top
}

// rates returns the device's interrupts/s in each step; a step that is not known counts as 0.
func (d *device) rates() []float64 {
	steps := d.series.Steps()
	rates := make([]float64, len(steps))
	for _, r := range d.rows {
		for k := range min(len(r.Steps), len(steps)) {
			if n, known := r.Steps[k].Number(); known && steps[k] > 0 {
				rates[k] += float64(n) / steps[k].Seconds()
			}
		}
	}
	return rates
}
