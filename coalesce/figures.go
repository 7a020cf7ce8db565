package coalesce

import (
	"fmt"
	"slices"
	"strings"

	"nettrace/kernel"
)

// Figures are a host's changes and rates, arranged for people and scripts. A rate that is not known is nil, not 0.
type Figures struct {
	Host       string             `json:"host"`
	Seconds    float64            `json:"seconds"` // the longest series
	TimeFrom   string             `json:"time_from"`
	Interfaces []InterfaceFigures `json:"interfaces"`
	Interrupts []Figure           `json:"interrupts"`
	CPUs       []CPUFigures       `json:"cpus"`
	Protocols  []Figure           `json:"protocols"`
	Reported   []Reported         `json:"reported"` // by tools that work out rates themselves
	Sockets    []Socket           `json:"sockets"`
	Work       []*Work            `json:"work"`
	Machine    *Machine           `json:"machine"`
	Notes      []Note             `json:"notes"`
}

// Figure is one counter.
type Figure struct {
	Name      string   `json:"name"`
	Tool      string   `json:"tool"`
	Delta     uint64   `json:"delta"`
	Last      uint64   `json:"last"`
	PerSecond *float64 `json:"per_second"`
	CPUs      []int    `json:"cpus,omitempty"`  // that counted, of an interrupt
	Steps     []Value  `json:"steps,omitempty"` // of a series of more than two snapshots
	Lost      int      `json:"lost,omitempty"`  // steps whose change is not known
}

// InterfaceFigures are the rates of an interface.
type InterfaceFigures struct {
	Name                string         `json:"name"`
	Driver              string         `json:"driver,omitempty"`
	RX                  Flow           `json:"rx"`
	TX                  Flow           `json:"tx"`
	InterruptsPerSecond *float64       `json:"interrupts_per_second"`
	PacketsPerInterrupt *float64       `json:"packets_per_interrupt"` // received ones
	Why                 string         `json:"why,omitempty"`         // packets per interrupt are not known by queue, or at all
	Queues              []QueueFigures `json:"queues"`
	Counters            []Figure       `json:"counters"`
}

// Flow is the traffic of one direction.
type Flow struct {
	Packets          uint64   `json:"packets"`
	PacketsPerSecond *float64 `json:"packets_per_second"`
	BytesPerSecond   *float64 `json:"bytes_per_second"`
	BytesPerPacket   *float64 `json:"bytes_per_packet"`
}

// QueueFigures are the packets of a receive queue.
type QueueFigures struct {
	Queue               int      `json:"queue"`
	Packets             uint64   `json:"packets"`
	PacketsPerSecond    *float64 `json:"packets_per_second"`
	Share               float64  `json:"share"`
	InterruptsPerSecond *float64 `json:"interrupts_per_second"`
	PacketsPerInterrupt *float64 `json:"packets_per_interrupt"`
}

// CPUFigures are what a CPU did for the network.
type CPUFigures struct {
	CPU                 int      `json:"cpu"`
	Processed           *float64 `json:"processed_per_second"`
	Squeezed            uint64   `json:"squeezed"`
	Dropped             uint64   `json:"dropped"`
	InterruptsPerSecond *float64 `json:"interrupts_per_second"` // of network devices
	SoftirqsPerSecond   *float64 `json:"softirqs_per_second"`   // NET_RX
	SoftirqShare        *float64 `json:"softirq_share"`         // of its time
}

// Figures arranges the host's counters; all keeps those that did not change.
func (h *Host) Figures(all bool) Figures {
	f := Figures{Host: h.Name, TimeFrom: TimeUnknown, Interfaces: []InterfaceFigures{}, Interrupts: []Figure{}, Protocols: []Figure{}, Reported: []Reported{}, Sockets: h.Sockets, Work: h.Work, Machine: &h.Machine, Notes: h.Notes}
	for _, i := range h.Interfaces {
		if x := h.interfaceFigures(i, all); all || x.RX.Packets+x.TX.Packets > 0 || len(x.Counters) > 0 {
			f.Interfaces = append(f.Interfaces, x)
		}
		for _, s := range i.Counters {
			f.time(&s.Series)
		}
	}
	seen := map[string]bool{}
	for _, s := range h.Protocols {
		f.time(&s.Series)
		f.Protocols = append(f.Protocols, s.figures(all, seen)...)
	}
	for _, s := range h.Tables {
		f.time(&s.Series)
		f.Interrupts = append(f.Interrupts, s.interrupts(all)...)
	}
	for _, r := range h.Reported {
		if all || r.Most != 0 || r.Least != 0 {
			f.Reported = append(f.Reported, r)
		}
	}
	f.CPUs = h.cpuFigures()
	return f
}

func (f *Figures) time(s *Series) {
	if seconds := s.Span().Seconds(); s.Timed() && seconds > f.Seconds {
		f.Seconds, f.TimeFrom = seconds, s.TimeFrom
	}
}

// figures returns the counters of a series over several snapshots whose name no other tool has told before.
func (s *CounterSeries) figures(all bool, seen map[string]bool) []Figure {
	figures := []Figure{}
	if len(s.Snapshots) < 2 {
		return figures
	}
	for k := range s.Counters {
		c := &s.Counters[k]
		name := strings.TrimSuffix(c.Name, "ped") // tx_drop of /proc/net/dev is tx_dropped
		if seen[name] || !all && !c.Changed() {
			continue
		}
		seen[name] = true
		figures = append(figures, figure(c.Name, s.Tool, &c.Change))
	}
	return figures
}

func figure(name, tool string, c *Change) Figure {
	f := Figure{Name: name, Tool: tool, Delta: c.Delta, Last: c.Last.Value, Lost: c.Lost}
	if r, ok := c.Rate(); ok {
		f.PerSecond = &r
	}
	if len(c.Steps) > 1 {
		f.Steps = c.Steps
	}
	return f
}

func (s *CPUSeries) interrupts(all bool) []Figure {
	var figures []Figure
	if s.Tool != "proc-interrupts" && s.Tool != "vmstat-i" || len(s.Snapshots) < 2 {
		return nil
	}
	for k := range s.Rows {
		r := &s.Rows[k]
		if !all && r.Vector.Kind == kernel.VectorCPU {
			continue
		}
		f := figure(strings.TrimSpace(r.Key+" "+r.Name), s.Tool, &r.Change)
		for _, c := range r.CPUs {
			if c.Delta > 0 && c.CPU != AllCPUs {
				f.CPUs = append(f.CPUs, c.CPU)
			}
		}
		figures = append(figures, f)
	}
	return figures
}

func flow(packets, bytes []*Counter) Flow {
	n, rate := sum(packets)
	size, speed := sum(bytes)
	f := Flow{Packets: n}
	if rate > 0 || n == 0 && len(packets) > 0 {
		f.PacketsPerSecond = &rate
	}
	if len(bytes) > 0 {
		f.BytesPerSecond = &speed
		if n > 0 {
			mean := float64(size) / float64(n)
			f.BytesPerPacket = &mean
		}
	}
	return f
}

func (h *Host) interfaceFigures(i *Interface, all bool) InterfaceFigures {
	f := InterfaceFigures{Name: i.Name, Queues: []QueueFigures{}, Counters: []Figure{}}
	if i.Driver != nil {
		f.Driver = i.Driver.Name
	}
	if t, ok := i.Traffic(); ok {
		f.RX, f.TX = flow(t.RX, t.RXBytes), flow(t.TX, t.TXBytes)
	}
	seen := map[string]bool{}
	for _, s := range i.Counters {
		f.Counters = append(f.Counters, s.figures(all, seen)...)
	}
	d := h.deviceOf(i)
	h.perInterrupt(&f, d)
	for _, q := range i.QueueLoad() {
		f.Queues = append(f.Queues, q.figures(d))
	}
	total := uint64(0)
	for _, q := range f.Queues {
		total += q.Packets
	}
	mapped := false
	for k := range f.Queues {
		f.Queues[k].Share = float64(f.Queues[k].Packets) / float64(max(1, total))
		mapped = mapped || f.Queues[k].InterruptsPerSecond != nil
	}
	if len(f.Queues) > 0 && d != nil && !mapped {
		f.Why = "the names of the interrupts do not tell their queues: packets per interrupt are those of the device"
	}
	return f
}

// deviceOf returns the interrupts of an interface over several snapshots, or nil.
func (h *Host) deviceOf(i *Interface) *device {
	for _, s := range h.tables("proc-interrupts") {
		if !s.Timed() {
			continue
		}
		for _, d := range h.devices(s) {
			if d.iface == i {
				return d
			}
		}
	}
	return nil
}

func (h *Host) perInterrupt(f *InterfaceFigures, d *device) {
	if d == nil {
		f.Why = "no interrupts of this interface are known"
		return
	}
	rate := float64(d.delta()) / d.series.Span().Seconds()
	f.InterruptsPerSecond = &rate
	if w, ok := d.packets(); ok {
		f.PacketsPerInterrupt = &w.receivedPerInterrupt
	}
}

func (q *QueueLoad) figures(d *device) QueueFigures {
	f := QueueFigures{Queue: q.Queue, Packets: q.Packets}
	seconds := q.series.Span().Seconds()
	if !q.series.Timed() {
		return f
	}
	rate := float64(q.Packets) / seconds
	f.PacketsPerSecond = &rate
	if d == nil {
		return f
	}
	k := slices.IndexFunc(d.rows, func(r *CPURow) bool { return r.Vector.Queue == q.Queue && r.Vector.Direction != kernel.TX })
	if k < 0 {
		return f
	}
	interrupts := float64(d.rows[k].Delta) / d.series.Span().Seconds()
	f.InterruptsPerSecond = &interrupts
	if interrupts > 0 {
		per := rate / interrupts
		f.PacketsPerInterrupt = &per
	}
	return f
}

func (h *Host) cpuFigures() []CPUFigures {
	byCPU := map[int]*CPUFigures{}
	var cpus []int
	at := func(cpu int) *CPUFigures {
		if byCPU[cpu] == nil {
			byCPU[cpu] = &CPUFigures{CPU: cpu}
			cpus = append(cpus, cpu)
		}
		return byCPU[cpu]
	}
	for _, s := range h.Tables {
		if !s.Timed() {
			continue
		}
		for _, cpu := range s.CPUs {
			h.cpuFigure(at(cpu), s, cpu)
		}
	}
	slices.Sort(cpus)
	figures := make([]CPUFigures, len(cpus))
	for k, cpu := range cpus {
		figures[k] = *byCPU[cpu]
	}
	return figures
}

func (h *Host) cpuFigure(f *CPUFigures, s *CPUSeries, cpu int) {
	per := func(n uint64) *float64 {
		rate := float64(n) / s.Span().Seconds()
		return &rate
	}
	switch s.Tool {
	case "proc-softnet_stat":
		f.Processed, f.Squeezed, f.Dropped = per(s.of("processed", cpu)), s.of("time_squeeze", cpu), s.of("dropped", cpu)
	case "proc-softirqs":
		f.SoftirqsPerSecond = per(s.of("NET_RX", cpu))
	case "proc-stat":
		if share, _, ok := h.busyShare(cpu); ok {
			f.SoftirqShare = &share
		}
	case "proc-interrupts":
		n := uint64(0)
		for _, d := range h.devices(s) {
			for _, r := range d.rows {
				for _, c := range r.CPUs {
					if c.CPU == cpu {
						n += c.Delta
					}
				}
			}
		}
		f.InterruptsPerSecond = per(n)
	}
}

// String says what the series of the figures are.
func (f *Figures) String() string {
	name := f.Host
	if name == "" {
		name = "host"
	}
	if f.Seconds == 0 {
		return name + ": no two snapshots with a known time between them"
	}
	return fmt.Sprintf("%s: %.3g s, times from %s", name, f.Seconds, f.TimeFrom)
}
