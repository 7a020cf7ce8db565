package coalesce

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"nettrace/kernel"
	"nettrace/source"
)

// Machine is what outputs tell of the machine that does not count: its nodes, where interrupts and packets are steered,
// its PCI devices, and the idle states of its CPUs.
type Machine struct {
	Nodes      []Node       `json:"nodes"`      // of NUMA
	Affinities []Affinity   `json:"affinities"` // of interrupts
	Steering   []Steering   `json:"steering"`   // of packets in software
	Places     []Place      `json:"places"`     // nodes of interfaces
	Devices    []PCIDevice  `json:"devices"`
	IdleStates []IdleState  `json:"idle_states"`
	Kernel     []KernelSize `json:"kernel"` // net.core and other sysctls
}

// Node is a NUMA node and its CPUs.
type Node struct {
	Number int        `json:"number"`
	CPUs   []int      `json:"cpus"`
	Pos    source.Pos `json:"pos"`
}

// Affinity says on which CPUs an interrupt may come.
type Affinity struct {
	IRQ       string     `json:"irq"`
	CPUs      []int      `json:"cpus"`
	Effective bool       `json:"effective"` // those that it comes to, of those that are allowed
	Pos       source.Pos `json:"pos"`
}

// Steering says which CPUs do the work of a queue: RPS for receiving, XPS for sending. None is off.
type Steering struct {
	Interface string           `json:"interface"`
	Direction kernel.Direction `json:"direction"`
	Queue     int              `json:"queue"`
	CPUs      []int            `json:"cpus"`
	Pos       source.Pos       `json:"pos"`
}

// Place is the node that an interface's device is at.
type Place struct {
	Interface string     `json:"interface"`
	Node      int        `json:"node"`
	Pos       source.Pos `json:"pos"`
}

// PCIDevice is the link and the settings of a PCI Express device. What is not printed is 0.
type PCIDevice struct {
	Address      string     `json:"address"` // "0000:05:00.0"; without a domain it is 0000
	Name         string     `json:"name"`    // class and name, as printed
	Driver       string     `json:"driver"`
	Node         int        `json:"node"`           // -1 where not known
	Speed        float64    `json:"speed_gts"`      // of the link, GT/s for each lane
	Width        int        `json:"width"`          // lanes
	SpeedMax     float64    `json:"speed_max_gts"`  // what the device can
	WidthMax     int        `json:"width_max"`      //
	Payload      int        `json:"payload_bytes"`  // of a packet on the bus (MaxPayload in force)
	PayloadMax   int        `json:"payload_max"`    // what the device can
	ReadRequest  int        `json:"read_request"`   // MaxReadReq in force, bytes
	PosLink      source.Pos `json:"pos_link"`       // of the link in force
	PosRequest   source.Pos `json:"pos_request"`    // of MaxPayload and MaxReadReq in force
	Pos          source.Pos `json:"pos"`            // of the device
	Downgraded   bool       `json:"downgraded"`     // lspci says so
	LinkMaxKnown bool       `json:"link_max_known"` // SpeedMax and WidthMax were printed
}

// IdleState is one idle state of one CPU, as cpuidle counts it.
type IdleState struct {
	CPU     int        `json:"cpu"`
	State   int        `json:"state"`
	Name    string     `json:"name"`
	Latency uint64     `json:"latency_us"` // to leave it
	Time    uint64     `json:"time_us"`    // spent in it, since boot; of several snapshots the change
	Usage   uint64     `json:"usage"`      // times that it was entered, likewise
	Disable bool       `json:"disable"`
	Seconds float64    `json:"seconds"` // between the first reading and the last; 0 where not known
	Pos     source.Pos `json:"pos"`

	first, last [2]uint64 // time, usage
	firstAt     string    // the reading that they are of
	at          time.Time // of the reading, zero where not known
}

// KernelSize is a numeric setting of the kernel.
type KernelSize struct {
	Name  string     `json:"name"` // "net.core.netdev_budget"
	Value uint64     `json:"value"`
	Pos   source.Pos `json:"pos"`
}

// maxMachine bounds each list of a Machine: a large machine has 512 CPUs with a handful of states and queues each.
const maxMachine = 1 << 14

func newMachine() Machine {
	return Machine{Nodes: []Node{}, Affinities: []Affinity{}, Steering: []Steering{}, Places: []Place{}, Devices: []PCIDevice{}, IdleStates: []IdleState{}, Kernel: []KernelSize{}}
}

// join adds what another output tells; of two that tell the same the later counts.
func (m *Machine) join(o *Machine) {
	m.Nodes = put(m.Nodes, o.Nodes, func(a, b Node) bool { return a.Number == b.Number })
	m.Affinities = put(m.Affinities, o.Affinities, func(a, b Affinity) bool { return a.IRQ == b.IRQ && a.Effective == b.Effective })
	m.Steering = put(m.Steering, o.Steering, func(a, b Steering) bool {
		return a.Interface == b.Interface && a.Direction == b.Direction && a.Queue == b.Queue
	})
	m.Places = put(m.Places, o.Places, func(a, b Place) bool { return a.Interface == b.Interface })
	m.Devices = put(m.Devices, o.Devices, func(a, b PCIDevice) bool { return a.Address == b.Address })
	m.Kernel = put(m.Kernel, o.Kernel, func(a, b KernelSize) bool { return a.Name == b.Name })
	for _, s := range o.IdleStates {
		m.idle(s)
	}
}

// at tells when the readings were taken.
func (m *Machine) at(t time.Time) {
	for k := range m.IdleStates {
		m.IdleStates[k].at = t
	}
}

func put[T any](to, from []T, same func(a, b T) bool) []T {
	for _, x := range from {
		k := slices.IndexFunc(to, func(y T) bool { return same(x, y) })
		switch {
		case k >= 0:
			to[k] = x
		case len(to) < maxMachine:
			to = append(to, x)
		}
	}
	return to
}

// idle adds a reading of an idle state: of several the change between the first and the last counts.
func (m *Machine) idle(s IdleState) {
	k := slices.IndexFunc(m.IdleStates, func(x IdleState) bool { return x.CPU == s.CPU && x.State == s.State })
	if k < 0 {
		if len(m.IdleStates) < maxMachine {
			s.first, s.last, s.firstAt = [2]uint64{s.Time, s.Usage}, [2]uint64{s.Time, s.Usage}, readingOf(s.Pos)
			m.IdleStates = append(m.IdleStates, s)
		}
		return
	}
	x := &m.IdleStates[k]
	x.Name, x.Latency, x.Disable = cmp.Or(s.Name, x.Name), cmp.Or(s.Latency, x.Latency), x.Disable || s.Disable
	if readingOf(s.Pos) == x.firstAt { // further lines of the same reading
		x.first[0], x.first[1] = max(x.first[0], s.Time), max(x.first[1], s.Usage)
		x.Time, x.Usage, x.last = x.first[0], x.first[1], x.first
		return
	}
	x.last[0], x.last[1] = max(x.last[0], s.Time), max(x.last[1], s.Usage)
	if x.last[0] >= x.first[0] && x.last[1] >= x.first[1] {
		x.Time, x.Usage = x.last[0]-x.first[0], x.last[1]-x.first[1]
	}
	if s.at.After(x.at) && !x.at.IsZero() {
		x.Seconds = s.at.Sub(x.at).Seconds()
	}
}

// readingOf names the reading that a value belongs to: the file, or the folder of files with one value each.
func readingOf(pos source.Pos) string {
	if KernelPath(pos.Source) {
		return path.Dir(pos.Source)
	}
	return pos.Source
}

// NodeOf returns the node of a CPU, -1 where not known.
func (m *Machine) NodeOf(cpu int) int {
	for _, n := range m.Nodes {
		if slices.Contains(n.CPUs, cpu) {
			return n.Number
		}
	}
	return -1
}

// Device returns the PCI device of an interface, by the bus address of ethtool -i.
func (h *Host) Device(i *Interface) *PCIDevice {
	if i.Driver == nil {
		return nil
	}
	bus := fullAddress(i.Driver.Bus)
	k := slices.IndexFunc(h.Machine.Devices, func(d PCIDevice) bool { return d.Address == bus })
	if k < 0 {
		return nil
	}
	return &h.Machine.Devices[k]
}

// fullAddress puts the domain before a PCI address that has none.
func fullAddress(address string) string {
	if strings.Count(address, ":") == 1 {
		return "0000:" + address
	}
	return address
}

// PlaceOf returns the node of an interface's device, -1 where not known.
func (h *Host) PlaceOf(iface string) (node int, pos source.Pos) {
	for _, p := range h.Machine.Places {
		if p.Interface == iface {
			return p.Node, p.Pos
		}
	}
	if i := h.Interface(iface); i != nil {
		if d := h.Device(i); d != nil {
			return d.Node, d.Pos
		}
	}
	return -1, source.Pos{}
}
