package coalesce

import (
	"slices"
	"time"

	"nettrace/kernel"
	"nettrace/source"
	"nettrace/unit"
)

// Host is what one machine's outputs tell together: the model that rules judge and views show. It is bounded whatever
// the number of snapshots (see the limits in join.go) and round-trips through JSON.
type Host struct {
	Name       string           `json:"name"`  // folder, and group and "peer" where names tell
	Group      string           `json:"group"` // of the tags in the files' names
	Peer       bool             `json:"peer"`
	Interfaces []*Interface     `json:"interfaces"`
	Protocols  []*CounterSeries `json:"protocols"` // counters of IP, TCP and UDP that ever counted, by tool
	Tables     []*CPUSeries     `json:"tables"`    // counts by CPU: interrupts, softirqs, softnet, time
	Reported   []Reported       `json:"reported"`  // rates and shares that tools worked out themselves
	Machine    Machine          `json:"machine"`
	Sockets    []Socket         `json:"sockets"` // TCP connections as the kernel sees them, those that were busy longest
	Work       []*Work          `json:"work"`    // recordings of tracepoints, the first few
	Exchange   *Exchange        `json:"exchange,omitempty"`
	Courses    []*Exchange      `json:"courses,omitempty"` // all runs whose intervals are known
	Notes      []Note           `json:"notes"`             // what Join assumed or left out
}

// Interface is a network interface with its settings and counters.
type Interface struct {
	Name     string           `json:"name"`      // "" where nothing tells it
	NameFrom string           `json:"name_from"` // where the name of the counters' interface comes from
	Driver   *Driver          `json:"driver,omitempty"`
	Dumps    []Dump           `json:"dumps"`    // settings, in order of time
	Counters []*CounterSeries `json:"counters"` // by tool
}

// Dump is one output of settings: ethtool -c, -k, -g or -l at one time.
type Dump struct {
	Tool     string     `json:"tool"`
	Pos      source.Pos `json:"pos"`
	Phase    string     `json:"phase"`
	Time     time.Time  `json:"time,omitzero"`
	Refusal  string     `json:"refusal,omitempty"` // why there are no settings
	Settings []Setting  `json:"settings"`
}

// Where the time of a snapshot comes from.
const (
	TimeFromName     = "file name"
	TimeFromContent  = "the text"                 // a line of date before each reading
	TimeFromOffset   = "seconds in the file name" // interrupts-t60.txt
	TimeFromInterval = "--interval"
	TimeFromMTime    = "modification time"
	TimeUnknown      = "unknown"
)

// Snapshot is one reading of a series.
type Snapshot struct {
	Pos    source.Pos `json:"pos"`
	Phase  string     `json:"phase"`
	Time   time.Time  `json:"time,omitzero"` // absolute, where known
	Offset unit.Nanos `json:"offset_ns"`     // since the first snapshot; 0 in all where unknown
}

// Series is what counter and CPU series have in common.
type Series struct {
	Tool      string     `json:"tool"`
	TimeFrom  string     `json:"time_from"`
	Snapshots []Snapshot `json:"snapshots"`
	Omitted   int        `json:"omitted"` // counters or rows beyond the limit
}

// Timed reports whether the time between snapshots is known.
func (s *Series) Timed() bool { return s.TimeFrom != TimeUnknown && s.Span() > 0 }

// Span returns the time from the first snapshot to the last.
func (s *Series) Span() unit.Nanos {
	if len(s.Snapshots) == 0 {
		return 0
	}
	return s.Snapshots[len(s.Snapshots)-1].Offset
}

// Steps returns the lengths of the steps between snapshots.
func (s *Series) Steps() []unit.Nanos {
	var steps []unit.Nanos
	for i := 1; i < len(s.Snapshots); i++ {
		steps = append(steps, s.Snapshots[i].Offset-s.Snapshots[i-1].Offset)
	}
	return steps
}

// CounterSeries are the counters that one tool printed of an interface.
type CounterSeries struct {
	Series
	Counters []Counter `json:"counters"` // in the order of the output
}

// Counter is one counter over a series.
type Counter struct {
	Name string `json:"name"`
	Change
}

// CPUSeries are the counts by CPU of one file in /proc.
type CPUSeries struct {
	Series
	CPUs        []int    `json:"cpus"` // all that occur
	CPUsAssumed bool     `json:"cpus_assumed,omitempty"`
	Rows        []CPURow `json:"rows"` // those that changed; if there is one snapshot, those that are not zero
}

// CPURow is one interrupt, softirq or softnet column over a series; its Change is the sum over the CPUs.
type CPURow struct {
	Key    string        `json:"key"`
	Chip   string        `json:"chip,omitempty"`
	Name   string        `json:"name,omitempty"`
	Vector kernel.Vector `json:"vector,omitzero"` // interrupts only; Interface as Join resolved it
	Gauge  bool          `json:"gauge,omitempty"` // a length of the moment: First and Last, no change
	Change
	CPUs []CPUChange `json:"cpus"` // those that counted, by CPU
}

// CPUChange is a CPU's part of a row.
type CPUChange struct {
	CPU   int        `json:"cpu"` // AllCPUs for the rows that have one value
	Delta uint64     `json:"delta"`
	Last  uint64     `json:"last"`           // since boot
	Lost  int        `json:"lost,omitempty"` // steps that are not known: the CPU was offline, or the count fell
	Pos   source.Pos `json:"pos,omitzero"`   // of the last reading, where each CPU has a line of its own
}

// AllCPUs is the CPU of rows that have one value for all.
const AllCPUs = -1

// Exchange is an observed request/response rate: the measure against which delays of moderation are judged. It is
// filled in from a benchmark log or a capture of the same time as the counters.
type Exchange struct {
	Rate          float64    `json:"rate"` // transactions/s
	RequestBytes  int64      `json:"request_bytes"`
	ResponseBytes int64      `json:"response_bytes"`
	Outstanding   int        `json:"outstanding"`       // transactions at a time; moderation is judged only for 1
	Interim       []float64  `json:"interim,omitempty"` // transactions/s in the intervals of the run
	From          string     `json:"from"`              // "netperf TCP_RR"
	Pos           source.Pos `json:"pos"`
	After         *Exchange  `json:"after,omitempty"` // the same after a change, where the names of the files tell of one
}

// Transaction returns the time of one transaction.
func (e *Exchange) Transaction() unit.Nanos {
	if e == nil || e.Rate <= 0 {
		return 0
	}
	return unit.FromSeconds(float64(max(1, e.Outstanding)) / e.Rate)
}

// Note says what Join assumed or left out.
type Note struct {
	Text string     `json:"text"`
	Pos  source.Pos `json:"pos"`
}

// Setting returns the setting that was in force while the counters were taken: of the dumps of the tool those with the
// phase "after" come last, and of the others the latest counts.
func (i *Interface) Setting(tool, name string) (Setting, bool) {
	d := i.dump(tool)
	if d == nil {
		return Setting{}, false
	}
	k := settingIn(d, name)
	if k < 0 {
		return Setting{}, false
	}
	return d.Settings[k], true
}

// SettingAfter returns a setting as it is after a change, where the names of the files tell of one.
func (i *Interface) SettingAfter(tool, name string) (Setting, bool) {
	for _, d := range i.Dumps {
		if k := settingIn(&d, name); d.Tool == tool && d.Phase == "after" && k >= 0 {
			return d.Settings[k], true
		}
	}
	return Setting{}, false
}

// settingIn returns where a dump has a setting of the whole device, or -1.
func settingIn(d *Dump, name string) int {
	return slices.IndexFunc(d.Settings, func(s Setting) bool { return s.Name == name && s.Queue < 0 })
}

func (i *Interface) dump(tool string) *Dump {
	var found *Dump
	for k := range i.Dumps {
		d := &i.Dumps[k]
		if d.Tool == tool && len(d.Settings) > 0 && (found == nil || d.Phase != "after" || found.Phase == "after" && d.Time.Before(found.Time)) {
			found = d
		}
	}
	return found
}

// Interface returns the interface of that name, or nil.
func (h *Host) Interface(name string) *Interface {
	k := slices.IndexFunc(h.Interfaces, func(i *Interface) bool { return i.Name == name })
	if k < 0 || name == "" {
		return nil
	}
	return h.Interfaces[k]
}

// Protocol returns a counter of the host's protocols as nstat names it ("UdpRcvbufErrors"), from a series that has it
// over several snapshots, or nil.
func (h *Host) Protocol(name string) *Counter {
	for _, s := range h.Protocols {
		k := slices.IndexFunc(s.Counters, func(c Counter) bool { return c.Name == name })
		if k >= 0 && len(s.Snapshots) > 1 {
			return &s.Counters[k]
		}
	}
	return nil
}

// tables returns the series of one file in /proc.
func (h *Host) tables(tool string) []*CPUSeries {
	var found []*CPUSeries
	for _, t := range h.Tables {
		if t.Tool == tool {
			found = append(found, t)
		}
	}
	return found
}
