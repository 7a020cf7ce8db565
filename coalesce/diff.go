package coalesce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Diff tells what changed between two recordings: the settings, and how fast what counted. It is bounded as hosts are.
type Diff struct {
	Settings []SettingChange `json:"settings"` // those that differ, by host and interface
	Rates    []RateChange    `json:"rates"`    // of what counted on one side at least; interfaces first, then the largest change
	Omitted  int             `json:"omitted"`  // rates beyond the limit
	Caveats  []string        `json:"caveats"`  // why the two may not be comparable
}

// SettingChange is a setting that differs. A side that does not tell it has an absent value.
type SettingChange struct {
	Interface string  `json:"interface"`
	Tool      string  `json:"tool"`
	Name      string  `json:"name"`
	Queue     int     `json:"queue"` // -1: the whole device
	Base      Setting `json:"base"`
	Other     Setting `json:"other"`
}

// RateChange is a figure on both sides; nil where a side does not know it.
type RateChange struct {
	Kind       string   `json:"kind"` // "interface", "queue", "cpu", "interrupt", "counter", "protocol", "reported" (a mean)
	Of         string   `json:"of"`   // "eth0", "eth0 rx 3", "CPU 1", "54 eth0-TxRx-3"; "" for protocols
	Name       string   `json:"name"` // "rx_packets_per_second", or the counter's own
	Unit       string   `json:"unit"`
	Base       *float64 `json:"base"`
	Other      *float64 `json:"other"`
	Difference float64  `json:"difference"` // Other - Base, 0 where one is not known
	Ratio      float64  `json:"ratio"`      // Other / Base; 0 where Base is 0 or one is not known
}

// relative returns how much of the larger side the change is: 1 for what appeared or vanished.
func (r *RateChange) relative() float64 {
	if r.Base == nil || r.Other == nil {
		return 0
	}
	most := max(math.Abs(*r.Base), math.Abs(*r.Other))
	if most == 0 {
		return 0
	}
	return math.Abs(r.Difference) / most
}

// Compare tells what changed from one recording to another. Hosts are matched by what their tags say of them, interfaces
// by name; if each side has one only, they are taken for each other.
func Compare(base, other []*Host) *Diff {
	d := &Diff{Settings: []SettingChange{}, Rates: []RateChange{}, Caveats: []string{}}
	matched := 0
	for _, h := range base {
		k := slices.IndexFunc(other, func(x *Host) bool { return x.Group == h.Group && x.Peer == h.Peer })
		if k < 0 && len(base) == 1 && len(other) == 1 {
			k = 0
		}
		if k < 0 {
			d.Caveats = append(d.Caveats, fmt.Sprintf("%s is in the first recording only", cmp.Or(h.Name, "the host")))
			continue
		}
		matched++
		d.hosts(h, other[k])
	}
	if matched < len(other) {
		d.Caveats = append(d.Caveats, fmt.Sprintf("%d hosts of the second recording have no partner in the first", len(other)-matched))
	}
	d.bound()
	return d
}

func (d *Diff) hosts(base, other *Host) {
	for _, i := range base.Interfaces {
		if x := partner(i, base, other); x != nil {
			d.settings(i, x)
		}
	}
	b, o := base.Figures(true), other.Figures(true)
	if b.Seconds == 0 || o.Seconds == 0 {
		d.Caveats = append(d.Caveats, "one side has no two snapshots with a known time between them: its rates are not known")
	}
	rates := rateSet{index: map[[3]string]int{}}
	rates.figures(&b, func(r *RateChange) **float64 { return &r.Base }, nil)
	rates.figures(&o, func(r *RateChange) **float64 { return &r.Other }, func(name string) string {
		if i := other.Interface(name); i != nil {
			if x := partner(i, other, base); x != nil {
				return x.Name
			}
		}
		return name
	})
	for _, r := range rates.list {
		if r.Base != nil && r.Other != nil {
			if r.Difference = *r.Other - *r.Base; *r.Base != 0 {
				r.Ratio = *r.Other / *r.Base
			}
		}
		if some(r.Base) || some(r.Other) {
			d.Rates = append(d.Rates, r)
		}
	}
}

func some(v *float64) bool { return v != nil && *v != 0 }

// partner returns the interface of the other host that stands for i.
func partner(i *Interface, own, other *Host) *Interface {
	if x := other.Interface(i.Name); x != nil {
		return x
	}
	if len(own.Interfaces) == 1 && len(other.Interfaces) == 1 {
		return other.Interfaces[0]
	}
	return nil
}

// settings compares what was in force.
func (d *Diff) settings(base, other *Interface) {
	type key struct {
		tool, name string
		queue      int
	}
	var order []key
	at := map[key]*SettingChange{}
	collect := func(i *Interface, side func(*SettingChange) *Setting) {
		seen := map[string]bool{}
		for _, dump := range i.Dumps {
			if seen[dump.Tool] {
				continue
			}
			seen[dump.Tool] = true
			inForce := i.dump(dump.Tool)
			if inForce == nil {
				continue
			}
			for _, s := range inForce.Settings {
				k := key{dump.Tool, s.Name, s.Queue}
				if at[k] == nil {
					at[k] = &SettingChange{Interface: i.Name, Tool: k.tool, Name: k.name, Queue: k.queue}
					order = append(order, k)
				}
				*side(at[k]) = s
			}
		}
	}
	collect(base, func(c *SettingChange) *Setting { return &c.Base })
	collect(other, func(c *SettingChange) *Setting { return &c.Other })
	for _, k := range order {
		if c := at[k]; c.Base.Value != c.Other.Value && len(d.Settings) < maxCounters && base.dump(k.tool) != nil && other.dump(k.tool) != nil {
			d.Settings = append(d.Settings, *c)
		}
	}
}

// rateSet collects figures of two sides under the same names.
type rateSet struct {
	list  []RateChange
	index map[[3]string]int
}

func (s *rateSet) figures(f *Figures, side func(*RateChange) **float64, rename func(string) string) {
	put := func(kind, of, name, unit string, v *float64) {
		if v == nil {
			return
		}
		key := [3]string{kind, of, name}
		k, known := s.index[key]
		if !known {
			k = len(s.list)
			s.index[key] = k
			s.list = append(s.list, RateChange{Kind: kind, Of: of, Name: name, Unit: unit})
		}
		*side(&s.list[k]) = v
	}
	for _, i := range f.Interfaces {
		name := i.Name
		if rename != nil {
			name = rename(name)
		}
		for _, way := range []struct {
			name string
			flow Flow
		}{{"rx", i.RX}, {"tx", i.TX}} {
			put("interface", name, way.name+"_packets_per_second", "packets/s", way.flow.PacketsPerSecond)
			put("interface", name, way.name+"_bytes_per_second", "B/s", way.flow.BytesPerSecond)
			put("interface", name, way.name+"_bytes_per_packet", "B", way.flow.BytesPerPacket)
		}
		put("interface", name, "interrupts_per_second", "interrupts/s", i.InterruptsPerSecond)
		put("interface", name, "packets_per_interrupt", "packets", i.PacketsPerInterrupt)
		for _, q := range i.Queues {
			of := name + " rx " + strconv.Itoa(q.Queue)
			put("queue", of, "packets_per_second", "packets/s", q.PacketsPerSecond)
			put("queue", of, "packets_per_interrupt", "packets", q.PacketsPerInterrupt)
		}
		for _, c := range i.Counters {
			put("counter", name, c.Name, "/s", c.PerSecond)
		}
	}
	for _, c := range f.CPUs {
		of := "CPU " + strconv.Itoa(c.CPU)
		put("cpu", of, "interrupts_per_second", "interrupts/s", c.InterruptsPerSecond)
		put("cpu", of, "softirqs_per_second", "softirqs/s", c.SoftirqsPerSecond)
		put("cpu", of, "softirq_share", "ratio", c.SoftirqShare)
		put("cpu", of, "processed_per_second", "packets/s", c.Processed)
	}
	for _, c := range f.Interrupts {
		put("interrupt", c.Name, "interrupts_per_second", "interrupts/s", c.PerSecond)
	}
	for _, c := range f.Protocols {
		put("protocol", "", c.Name, "/s", c.PerSecond)
	}
	for k := range f.Reported {
		r := &f.Reported[k]
		put("reported", strings.TrimSpace(r.Tool+" "+r.Subject), r.Name, r.Unit, &r.Mean)
	}
}

// bound sorts the rates and keeps those with most to tell: figures of interfaces and CPUs in their order, then counters by
// how much they changed.
func (d *Diff) bound() {
	rank := func(kind string) int {
		return slices.Index([]string{"interface", "queue", "cpu", "interrupt", "counter", "protocol", "reported"}, kind)
	}
	slices.SortStableFunc(d.Rates, func(a, b RateChange) int {
		if c := cmp.Compare(rank(a.Kind), rank(b.Kind)); c != 0 || rank(a.Kind) < rank("interrupt") {
			return c
		}
		return cmp.Or(-cmp.Compare(a.relative(), b.relative()), -cmp.Compare(math.Abs(a.Difference), math.Abs(b.Difference)))
	})
	if over := len(d.Rates) - maxCounters; over > 0 {
		d.Rates, d.Omitted = d.Rates[:maxCounters], over
	}
}
