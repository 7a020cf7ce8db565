package coalesce

import (
	"fmt"
	"slices"

	"nettrace/kernel"
	"nettrace/unit"
)

// Limits of a Host: counters or rows in a series, steps of a counter, and steps of a series in all; interfaces, and
// outputs of settings of one tool and interface.
const (
	maxCounters   = 4096
	maxSteps      = 240
	maxAllSteps   = 1 << 16
	maxInterfaces = 1024
	maxDumps      = 64
	maxRecordings = 16 // of tracepoints
)

// newCounterSeries follows the counters of one interface.
func newCounterSeries(s Series, members []member) *CounterSeries {
	cs := &CounterSeries{Series: s}
	index := map[string]int{}
	var order []string
	var tracks []*track
	for k, m := range members {
		seen := map[string]int{}
		for _, c := range m.part.Counters {
			name := c.Name
			if seen[name]++; seen[name] > 1 {
				name = fmt.Sprintf("%s #%d", name, seen[name])
			}
			i, known := index[name]
			if !known {
				i = len(tracks)
				index[name] = i
				order, tracks = append(order, name), append(tracks, newTrack(len(members)))
			}
			pos := m.Pos
			pos.Line, pos.Offset = c.Line, c.Offset
			tracks[i].set(k, Reading{c.Value, pos})
		}
	}
	w, lengths := widthOf(s.Tool), s.lengths()
	reset := resets(tracks, w, len(members)-1)
	for i, t := range tracks {
		steps, wraps := t.steps(w, reset)
		cs.Counters = append(cs.Counters, Counter{order[i], summarise(steps, lengths, wraps, t.first, t.last)})
	}
	cs.bound()
	return cs
}

// dropNever leaves out what never counted: of some 400 counters of protocols most hosts use 60.
func (s *CounterSeries) dropNever() {
	s.Counters = slices.DeleteFunc(s.Counters, func(c Counter) bool { return c.First.Value == 0 && c.Last.Value == 0 && !c.Changed() })
}

// lengths returns the steps' lengths, or nil where time is not known.
func (s *Series) lengths() []unit.Nanos {
	if s.TimeFrom == TimeUnknown {
		return nil
	}
	return s.Steps()
}

// bound keeps a series within the limits: counters that changed go first, and steps are joined.
func (s *CounterSeries) bound() {
	changed := 0
	for _, c := range s.Counters {
		if c.Changed() {
			changed++
		}
	}
	if over := len(s.Counters) - maxCounters; over > 0 {
		s.Omitted = over
		s.Counters = slices.DeleteFunc(s.Counters, func(c Counter) bool {
			drop := over > 0 && (!c.Changed() || changed > maxCounters)
			if drop {
				over--
			}
			return drop
		})
	}
	keep := s.keep(changed)
	for i := range s.Counters {
		s.Counters[i].thin(keep)
	}
}

// keep thins the snapshots to what the limits allow for n changed counters and returns the numbers of those kept, nil
// if all are.
func (s *Series) keep(n int) []int {
	limit := min(maxSteps, max(1, maxAllSteps/max(1, n)))
	steps := len(s.Snapshots) - 1
	if steps <= limit {
		return nil
	}
	keep := make([]int, 0, limit+1)
	kept := make([]Snapshot, 0, limit+1)
	for i := range limit + 1 {
		k := i * steps / limit
		keep, kept = append(keep, k), append(kept, s.Snapshots[k])
	}
	s.Snapshots = kept
	return keep
}

func (c *Change) thin(keep []int) {
	if keep != nil && len(c.Steps) > 0 {
		c.Steps = thin(c.Steps, keep)
	}
}

// newCPUSeries follows the rows of one file in /proc.
func newCPUSeries(s Series, outputs []member) *CPUSeries {
	cs := &CPUSeries{Series: s}
	w, lengths := widthOf(s.Tool), s.lengths()
	r := rowJoin{width: w, index: map[string]*rowTrack{}, online: make([]map[int]bool, len(outputs))}
	for k, o := range outputs {
		r.online[k] = map[int]bool{AllCPUs: true}
		for _, cpu := range o.Table.CPUs {
			r.online[k][cpu] = true
			if !slices.Contains(cs.CPUs, cpu) {
				cs.CPUs = append(cs.CPUs, cpu)
			}
		}
		cs.CPUsAssumed = cs.CPUsAssumed || o.Table.CPUsAssumed
		for i := range o.Table.Rows {
			r.row(k, o.Table, &o.Table.Rows[i])
		}
		r.close(k)
	}
	slices.Sort(cs.CPUs)
	for _, t := range r.order {
		row := t.finish(lengths)
		if !row.Changed() && (len(outputs) > 1 && !row.Gauge || row.Last.Value == 0) {
			continue
		}
		if s.Tool == "proc-interrupts" {
			row.Vector = kernel.ParseVector(row.Key, row.Chip, row.Name)
		}
		cs.Rows = append(cs.Rows, row)
	}
	if over := len(cs.Rows) - maxCounters; over > 0 {
		cs.Omitted, cs.Rows = over, cs.Rows[:maxCounters]
	}
	keep := cs.keep(len(cs.Rows))
	for i := range cs.Rows {
		cs.Rows[i].thin(keep)
	}
	return cs
}
