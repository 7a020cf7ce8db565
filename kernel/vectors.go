package kernel

import "strings"

// VectorKind says what an interrupt is for, as far as its name tells.
type VectorKind string

const (
	VectorNetwork VectorKind = "network"
	VectorStorage VectorKind = "storage" // disks, whose rate follows their load as a NIC's does
	VectorTimer   VectorKind = "timer"
	VectorCPU     VectorKind = "cpu" // between CPUs, or raised by the CPU itself: the named rows of /proc/interrupts
	VectorOther   VectorKind = "other"
)

// Vector is what a row of /proc/interrupts tells of the interrupt: its device, and for a NIC the queue that it serves.
type Vector struct {
	Kind      VectorKind `json:"kind"`
	Interface string     `json:"interface"` // "eth2" where the name has it, else ""
	Bus       string     `json:"bus"`       // the device's PCI address "0000:05:00.0", "virtio2" or platform name, where known
	Direction Direction  `json:"direction"`
	Queue     int        `json:"queue"` // -1: no queue, such as link events, or not told
}

// ParseVector reads the key of a row ("54", "LOC"), the interrupt controller's column, and the action, which is the
// driver's name for it. Of several actions that share the interrupt the first counts.
func ParseVector(key, chip, action string) Vector {
	v := Vector{Kind: VectorOther, Queue: -1, Bus: pciAddress(chip)}
	if _, digits := number(key); digits == 0 { // NMI, LOC, IPI0, ERR
		v.Kind = VectorCPU
		if key == "LOC" {
			v.Kind = VectorTimer
		}
		return v
	}
	action, _, _ = strings.Cut(action, ",")
	action = strings.TrimSpace(action)
	if bus := pciAddress(action); bus != "" {
		v.Bus = bus
	}
	if parseNIC(action, &v) {
		v.Kind = VectorNetwork
		return v
	}
	v.Kind = otherKind(action)
	return v
}

// parseNIC tries the names that network drivers give:
//
//	eth0-TxRx-3  eth0-Tx-Rx-3  eth0-rx-0  eth0-txrx-1  eth0-fp-2  eth4-q0  eth2-3  eth0  i40e-eth0-TxRx-3
//	mlx5_comp3@pci:0000:05:00.0  mlx4-3@0000:05:00.0  mlx4-comp-0@pci:0000:04:00.0  mlx5_async@pci:…  ena-mgmnt@pci:…
//	virtio2-input.0  virtio2-output.0  1b00a300.ethernet
func parseNIC(action string, v *Vector) bool {
	name, at, hasBus := strings.Cut(action, "@")
	if hasBus {
		if driver := leadingName(name, networkDrivers()); driver != "" {
			v.Bus = strings.TrimPrefix(at, "pci:")
			v.Queue = trailingNumber(name[len(driver):])
			if v.Queue >= 0 {
				v.Direction = Both
			}
			return true
		}
	}
	if dev, queue, ok := strings.Cut(name, "-"); ok && strings.HasPrefix(dev, "virtio") {
		return parseVirtio(dev, queue, v)
	}
	if strings.HasSuffix(name, ".ethernet") {
		v.Bus = name
		return true
	}
	for _, driver := range networkDrivers() { // i40e-eth0-TxRx-3
		if rest, ok := strings.CutPrefix(name, driver+"-"); ok && IsInterfaceName(interfacePart(rest)) {
			name = rest
			break
		}
	}
	iface := interfacePart(name)
	if !IsInterfaceName(iface) {
		return false
	}
	v.Interface = iface
	rest := name[len(iface):]
	if rest == "" {
		return true
	}
	if v.Queue = trailingNumber(rest); v.Queue >= 0 {
		v.Direction = directionOf(rest)
	}
	return true
}

func parseVirtio(dev, queue string, v *Vector) bool {
	word, n, ok := strings.Cut(queue, ".")
	if !ok || word != "input" && word != "output" {
		return false
	}
	v.Bus = strongest(v.Bus, dev)
	v.Queue, v.Direction = trailingNumber("."+n), RX
	if word == "output" {
		v.Direction = TX
	}
	return true
}

func strongest(bus, dev string) string {
	if bus != "" {
		return bus
	}
	return dev
}

// networkDrivers lists the drivers that put their own name before an interrupt's.
func networkDrivers() []string {
	return []string{"mlx4-comp", "mlx4", "mlx5_comp", "mlx5", "ena", "i40e", "iavf", "ice", "bnxt_en", "gve", "hns3", "nfp", "fm10k", "efct"}
}

func leadingName(s string, names []string) string {
	for _, n := range names {
		if strings.HasPrefix(s, n) {
			return n
		}
	}
	return ""
}

// interfacePart returns what stands before the first separator of a vector's name.
func interfacePart(s string) string {
	if i := strings.IndexAny(s, "-:"); i >= 0 {
		return s[:i]
	}
	return s
}

// trailingNumber returns the number at the end of s that follows a separator or letters, or -1.
func trailingNumber(s string) int {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	if n, digits := number(s[i:]); digits > 0 {
		return n
	}
	return -1
}

func directionOf(s string) Direction {
	s = strings.ToLower(s)
	rx, tx := strings.Contains(s, "rx"), strings.Contains(s, "tx")
	switch {
	case rx && !tx:
		return RX
	case tx && !rx:
		return TX
	default:
		return Both
	}
}

// otherKind knows timers and disks; what it does not know is VectorOther.
func otherKind(action string) VectorKind {
	for _, name := range []string{"timer", "hpet", "arch_timer", "rtc", "clockevent"} {
		if strings.HasPrefix(action, name) || strings.HasSuffix(action, name) {
			return VectorTimer
		}
	}
	for _, name := range []string{"nvme", "ahci", "ata_", "megasas", "mpt", "hpsa", "aacraid", "virtio_blk", "qla2xxx", "lpfc", "sata", "mmc", "smartpqi", "nvmet"} {
		if strings.HasPrefix(action, name) {
			return VectorStorage
		}
	}
	if strings.HasPrefix(action, "virtio") && strings.Contains(action, "-req.") {
		return VectorStorage
	}
	return VectorOther
}

// IsInterfaceName reports whether s looks like the name of a network interface: a usual prefix and a digit, as the
// kernel and systemd's predictable names have them.
func IsInterfaceName(s string) bool {
	if s == "lo" {
		return true
	}
	if len(s) < 2 || len(s) > 15 || !strings.ContainsAny(s, "0123456789") || strings.ContainsAny(s, " /:\t") {
		return false
	}
	for _, prefix := range interfacePrefixes() {
		rest, ok := strings.CutPrefix(s, prefix)
		if ok && rest != "" && (rest[0] >= '0' && rest[0] <= '9' || prefix == "enx" || prefix == "veth") {
			return true
		}
	}
	return false
}

func interfacePrefixes() []string {
	return append([]string{"eth", "enp", "eno", "ens", "enx", "enP", "wlan", "wlp", "wlo", "ib", "ibp", "ibs",
		"em", "p", "ix", "ixl", "igb", "igc", "ice", "bge", "mce", "mlxen", "cxl", "cxgb", "re", "vtnet", "vmx", "ena", "hn", "bnxt", "rename", "swp", "wan", "lan"}, virtualPrefixes()...)
}

// virtualPrefixes are the usual names of interfaces that have no device, and so no interrupts.
func virtualPrefixes() []string {
	return []string{"veth", "br", "docker", "virbr", "tun", "tap", "bond", "team", "dummy", "macvlan", "ifb"}
}

// IsVirtualInterface reports whether an interface with that name has no device of its own.
func IsVirtualInterface(name string) bool {
	for _, prefix := range virtualPrefixes() {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "lo"
}

// pciAddress finds a PCI address, with or without its domain, in s: "PCI-MSIX-0000:00:03.0", "mlx4-1@pci:0000:05:00.0".
func pciAddress(s string) string {
	const form = "xxxx:xx:xx.x"
	for i := 0; i+len(form) <= len(s); i++ {
		if matchesAddress(s[i:i+len(form)], form) {
			return s[i : i+len(form)]
		}
	}
	return ""
}

func matchesAddress(s, form string) bool {
	for i := range form {
		switch hex := s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'f'; {
		case form[i] == 'x' && !hex, form[i] != 'x' && s[i] != form[i]:
			return false
		}
	}
	return true
}
