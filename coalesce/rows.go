package coalesce

import (
	"cmp"
	"slices"

	"nettrace/unit"
)

// rowJoin follows the rows of a table through its snapshots, CPU by CPU. A CPU that is offline in one of two snapshots
// has no increment between them; the row's is the sum over the others.
type rowJoin struct {
	width  width
	index  map[string]*rowTrack
	order  []*rowTrack
	online []map[int]bool // CPUs of each snapshot; AllCPUs stands for rows with one value
}

type rowTrack struct {
	row      CPURow
	steps    []Value
	wraps    int
	cpus     map[int]*CPUChange
	previous map[int]uint64 // counts in the last snapshot that had the row
	unknown  map[int]bool   // CPUs without a count there
	seen     int            // its number, -1 for none
	found    bool
}

// row takes a row of snapshot k.
func (r *rowJoin) row(k int, table *Table, row *TableRow) {
	key := row.Key + "\x00" + row.Name
	t := r.index[key]
	if t == nil {
		t = &rowTrack{row: CPURow{Key: row.Key, Chip: row.Chip, Name: row.Name}, cpus: map[int]*CPUChange{}, seen: -1}
		r.index[key] = t
		r.order = append(r.order, t)
	}
	if t.seen == k {
		return // the same row twice in one output: the first counts
	}
	for len(t.steps) < k-1 {
		t.steps = append(t.steps, Value{State: NotAvailable})
	}
	counts, unknown, sum := map[int]uint64{}, map[int]bool{}, uint64(0)
	for _, cpu := range row.Unknown {
		unknown[cpu] = true
	}
	for i, c := range row.Cells {
		cpu := c.CPU
		if row.Single && i == 0 {
			cpu = AllCPUs
		}
		counts[cpu] = c.Value
		sum += c.Value
		t.cpu(cpu).Last = c.Value
		if at := slices.Index(table.CPUs, cpu); at >= 0 && at < len(table.CPUPos) {
			t.cpu(cpu).Pos = table.CPUPos[at]
		}
	}
	if k > 0 && t.seen == k-1 {
		t.step(r, k, counts, unknown)
	} else if k > 0 {
		t.steps = append(t.steps, Value{State: NotAvailable})
	}
	reading := Reading{sum, row.Pos}
	if !t.found {
		t.row.First, t.found = reading, true
	}
	t.row.Last = reading
	t.previous, t.unknown, t.seen = counts, unknown, k
}

func (t *rowTrack) cpu(cpu int) *CPUChange {
	c := t.cpus[cpu]
	if c == nil {
		c = &CPUChange{CPU: cpu}
		t.cpus[cpu] = c
	}
	return c
}

// step adds the increments from the snapshot before to counts. Where one CPU's count fell, none of the row's is known.
func (t *rowTrack) step(r *rowJoin, k int, counts map[int]uint64, unknown map[int]bool) {
	absent := func(cpu int) bool {
		return !r.online[k-1][cpu] || !r.online[k][cpu] || t.unknown[cpu] || unknown[cpu]
	}
	total, wraps, fell := uint64(0), 0, false
	for cpu := range t.cpus {
		if absent(cpu) {
			continue
		}
		delta, wrapped, ok := r.width.increment(t.previous[cpu], counts[cpu])
		fell = fell || !ok
		if wrapped {
			wraps = 1
		}
		total += delta
	}
	for cpu, change := range t.cpus {
		if fell || absent(cpu) {
			change.Lost++
			continue
		}
		delta, _, _ := r.width.increment(t.previous[cpu], counts[cpu])
		change.Delta += delta
	}
	if fell {
		t.steps = append(t.steps, Value{State: NotAvailable})
		return
	}
	t.steps, t.wraps = append(t.steps, Num(total)), t.wraps+wraps
}

// close ends snapshot k: rows that were not in it have no increment.
func (r *rowJoin) close(k int) {
	for _, t := range r.order {
		for len(t.steps) < k {
			t.steps = append(t.steps, Value{State: NotAvailable})
		}
	}
}

func (t *rowTrack) finish(lengths []unit.Nanos) CPURow {
	row := t.row
	if isGauge(row.Key) {
		row.Gauge = true
		return row
	}
	row.Change = summarise(t.steps, lengths, t.wraps, row.First, row.Last)
	for _, c := range t.cpus {
		if c.Delta > 0 || c.Lost > 0 || len(t.steps) == 0 && c.Last > 0 {
			row.CPUs = append(row.CPUs, *c)
		}
	}
	slices.SortFunc(row.CPUs, func(a, b CPUChange) int { return cmp.Compare(a.CPU, b.CPU) })
	return row
}

// isGauge reports whether a row of softnet_stat is a length of the moment, which has no rate.
func isGauge(key string) bool {
	return key == "backlog_len" || key == "input_queue_len" || key == "process_queue_len"
}
