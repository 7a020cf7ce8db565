package coalesce

import (
	"fmt"
	"slices"

	"nettrace/kernel"
	"nettrace/unit"
)

// Decisions are what a policy does with the recorded traffic of an interface, or of one of its receive rings.
type Decisions struct {
	Host      string         `json:"host"`
	Interface string         `json:"interface"`
	Ring      int            `json:"ring"` // -1: the interface as a whole
	Policy    string         `json:"policy"`
	Settings  string         `json:"settings_from"`
	Steps     []DecisionStep `json:"steps"`
	Notes     []string       `json:"notes"`
}

// DecisionStep is one step of the recording: what was counted, and what the policy sets from then on.
type DecisionStep struct {
	Start    unit.Nanos `json:"start_ns"` // since the first snapshot
	Sample   Sample     `json:"sample"`
	Decision Decision   `json:"decision"`
	OnEdge   bool       `json:"on_edge"` // chance decides between balanced and bulk
}

// Where the settings that a policy works with come from.
const (
	SettingsRecorded = "ethtool -c"
	SettingsUsual    = "the driver's defaults, ethtool -c was not recorded"
)

// Decide runs a policy over the traffic of the host's interfaces that have any; those that work by ring run once for each
// receive queue that took packets.
func (h *Host) Decide(policy string) ([]Decisions, error) {
	all := []Decisions{}
	p, err := policyNamed(policy)
	if err != nil {
		return nil, err
	}
	for _, i := range h.Interfaces {
		t, ok := i.Traffic()
		if !ok || i.Name == "lo" {
			continue
		}
		rings := i.rings()
		if !p.byRing || len(rings) < 2 {
			rings = []ringTraffic{{-1, t}}
		}
		for _, r := range rings {
			if d := h.decide(i, r, p); len(d.Steps) > 0 {
				all = append(all, d)
			}
		}
	}
	return all, nil
}

// ringTraffic is the traffic of one receive queue, or with ring -1 of the interface.
type ringTraffic struct {
	ring int
	Traffic
}

// rings returns the traffic of the receive queues that took packets.
func (i *Interface) rings() []ringTraffic {
	var rings []ringTraffic
	for _, q := range i.QueueLoad() {
		if q.Packets == 0 {
			continue
		}
		for _, s := range i.Counters {
			if packets := s.packets(kernel.RX, true, q.Queue); len(packets) > 0 && s.Timed() {
				rings = append(rings, ringTraffic{q.Queue, Traffic{Series: &s.Series, RX: packets, RXBytes: s.queueBytes(q.Queue)}})
				break
			}
		}
	}
	return rings
}

func (s *CounterSeries) queueBytes(queue int) []*Counter {
	for k := range s.Counters {
		q, ok := kernel.ParseQueueCounter(s.Counters[k].Name)
		if ok && q.Direction == kernel.RX && q.Queue == queue && slices.Contains([]string{"bytes", "rx_bytes", "xdp_bytes"}, q.Counter) {
			return []*Counter{&s.Counters[k]}
		}
	}
	return nil
}

func (h *Host) decide(i *Interface, r ringTraffic, p policyMaker) Decisions {
	d := Decisions{Host: h.Name, Interface: i.Name, Ring: r.ring, Policy: p.name, Settings: SettingsRecorded, Steps: []DecisionStep{}, Notes: []string{}}
	m, known := i.Moderation()
	if !known {
		rings := m.Rings
		m = p.usual
		m.Rings, d.Settings = rings, SettingsUsual
	}
	machine := p.make(m)
	device := h.deviceOf(i)
	longest, last := unit.Nanos(0), machine.Step(Sample{})
	for _, s := range r.steps() {
		s.Sample.Interrupts = device.interruptsIn(s.number, r.ring, len(r.Series.Snapshots))
		longest = max(longest, s.Sample.Elapsed)
		if machine.Interrupts() > 0 && s.RXPackets+s.TXPackets == 0 { // no interrupts, so no measurement
			last.Reason = ReasonQuiet
		} else {
			last = machine.Step(s.Sample)
		}
		d.Steps = append(d.Steps, DecisionStep{s.start, s.Sample, last, p.byRatio && s.Sample.OnEdge()})
	}
	d.note(machine, longest, len(r.RXBytes) > 0)
	return d
}

func (d *Decisions) note(machine Policy, longest unit.Nanos, bytes bool) {
	if interval := machine.Interval(); interval > 0 && longest >= 2*interval {
		d.Notes = append(d.Notes, fmt.Sprintf("the driver decides every %v; steps of up to %v average over several of its decisions", interval, longest))
	}
	if n := machine.Interrupts(); n > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("the driver decides every %d interrupts; each recorded step counts as one of its measurements", n))
	}
	if !bytes && (machine.Interrupts() > 0 || d.Policy == "mlx4-v3") {
		d.Notes = append(d.Notes, "bytes are not counted by queue: packets of no size are taken")
	}
}

// interruptsIn returns the device's interrupts in a step of a series of so many snapshots, of one ring or all; 0 if they
// were not recorded with it.
func (d *device) interruptsIn(step, ring, snapshots int) (n uint64) {
	if d == nil || len(d.series.Snapshots) != snapshots {
		return 0
	}
	for _, r := range d.rows {
		if step < len(r.Steps) && (ring < 0 || r.Vector.Queue == ring && r.Vector.Direction != kernel.TX) {
			k, _ := r.Steps[step].Number()
			n += k
		}
	}
	return n
}
