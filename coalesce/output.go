package coalesce

import (
	"slices"
	"time"

	"nettrace/source"
)

// Output is what one tool printed at one place. Importers fill in all but Name, At and ModTime, which
// whoever opened the source knows.
type Output struct {
	Tool       string // "ethtool-c", "ethtool-S", "proc-interrupts"; "ethtool" for an error text that does not tell which
	Pos        source.Pos
	Refusal    string // the tool's error text where the device does not support the question: no values, and no damage
	Interfaces []InterfaceOutput
	Table      *Table     // counts by CPU
	Reported   []Reported // what the tool worked out itself
	Machine    *Machine   // what does not count
	Sockets    []Socket
	Work       *Work // of a recording of tracepoints

	Name    source.Name // what the file's name tells of phase, host and time
	At      time.Time   // that the text tells before the output, zero where it does not
	ModTime time.Time   // of the file, zero where unknown
}

// InterfaceOutput is what an output says of one interface.
type InterfaceOutput struct {
	Name     string // "" where the output does not tell
	Host     bool   // counters of the host's protocols, of no interface
	Driver   *Driver
	Settings []Setting
	Counters []Count
}

// Driver is what ethtool -i tells.
type Driver struct {
	Name     string     `json:"name"`
	Version  string     `json:"version"`
	Firmware string     `json:"firmware"`
	Bus      string     `json:"bus"` // PCI address "0000:05:00.0"
	Pos      source.Pos `json:"pos"`
}

// Setting is one setting, in the spelling of ethtool's output: "rx-usecs-high", "rx-frame-high", "rx-max" for a ring's
// pre-set maximum.
type Setting struct {
	Name      string     `json:"name"`
	Value     Value      `json:"value"`
	Queue     int        `json:"queue"`              // -1: the whole device
	Fixed     bool       `json:"fixed,omitempty"`    // a feature that cannot be changed
	Requested Value      `json:"requested,omitzero"` // a feature that was asked to be other than it is
	Pos       source.Pos `json:"pos"`
}

// Count is one counter as it was printed.
type Count struct {
	Name   string
	Value  uint64
	Line   int
	Offset int64
}

// Table is a file with a column (or, in softnet_stat, a line) for each CPU.
type Table struct {
	CPUs        []int // online ones, as the header or the lines name them
	CPUsAssumed bool  // the file does not name CPUs: they are taken as 0, 1, 2...
	CPUPos      []source.Pos
	Rows        []TableRow
}

// TableRow is one interrupt, softirq or softnet column.
type TableRow struct {
	Key     string // "54", "LOC", "NET_RX", "time_squeeze"
	Chip    string // interrupt controller, as printed: "PCI-MSI-edge"
	Name    string // the driver's names for the interrupt, or the meaning of a named row
	Single  bool   // one value for all CPUs (ERR, MIS), in Cells[0]
	Cells   []Cell // counts that are not zero, by CPU
	Unknown []int  // CPUs of the table for which this row has no value
	Pos     source.Pos
}

// Cell is a count of one CPU.
type Cell struct {
	CPU   int
	Value uint64
}

// Each calls f with the value of each CPU that the row has one for, zeros included, in the order of the table, and with its
// place; AllCPUs stands for rows with one value.
func (t *Table) Each(row *TableRow, f func(Cell, source.Pos) error) error {
	if row.Single {
		all := Cell{CPU: AllCPUs}
		if len(row.Cells) > 0 {
			all.Value = row.Cells[0].Value
		}
		return f(all, row.Pos)
	}
	values := make(map[int]uint64, len(row.Cells))
	for _, c := range row.Cells {
		values[c.CPU] = c.Value
	}
	for k, cpu := range t.CPUs {
		if slices.Contains(row.Unknown, cpu) {
			continue
		}
		pos := row.Pos
		if k < len(t.CPUPos) {
			pos = t.CPUPos[k]
		}
		if err := f(Cell{cpu, values[cpu]}, pos); err != nil {
			return err
		}
	}
	return nil
}

// maxItems bounds how many counters or rows one output may have; the kernel's own limits are far below.
const maxItems = 1 << 16

// Names shares the strings of outputs: snapshots of one tool repeat the names of what they count, and thousands of them
// are held at once. The zero value is ready; it is bounded.
type Names struct{ known map[string]string }

// Share makes the output hold strings that earlier ones held too, and no more room than it needs.
func (n *Names) Share(o *Output) {
	for i := range o.Interfaces {
		x := &o.Interfaces[i]
		x.Name = n.share(x.Name)
		x.Counters = slices.Clip(slices.Clone(x.Counters))
		for k := range x.Counters {
			x.Counters[k].Name = n.share(x.Counters[k].Name)
		}
	}
	if o.Table == nil {
		return
	}
	o.Table.Rows = slices.Clip(slices.Clone(o.Table.Rows))
	for k := range o.Table.Rows {
		r := &o.Table.Rows[k]
		r.Key, r.Chip, r.Name = n.share(r.Key), n.share(r.Chip), n.share(r.Name)
		r.Cells = slices.Clip(slices.Clone(r.Cells))
	}
}

func (n *Names) share(s string) string {
	if known, ok := n.known[s]; ok {
		return known
	}
	if n.known == nil {
		n.known = map[string]string{}
	}
	if len(n.known) < maxItems {
		n.known[s] = s
	}
	return s
}
