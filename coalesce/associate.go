package coalesce

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"nettrace/kernel"
	"nettrace/source"
)

// Which interface an output is about that does not name one, and which interface an interrupt serves.

// Where the name of an interface comes from.
const (
	NameFromOutput = "output"
	NameFromFile   = "file name"
	NameFromOnly   = "the only interface that other outputs of the host name"
	NameUnknown    = "unknown"
)

// interfaceInName finds an interface in the base name of a file: "ethtool-S-eth0-t3.txt".
func interfaceInName(p string) string {
	for _, word := range strings.FieldsFunc(path.Base(p), func(r rune) bool { return r == '-' || r == '.' || r == '_' || r == ' ' }) {
		if word != "lo" && kernel.IsInterfaceName(word) {
			return word
		}
	}
	return ""
}

// onlyInterface returns the interface that the outputs of a host name, if there is one only: first of those of the same
// phase, then of all; first of what ethtool was asked about, then of what /proc/net/dev lists. Before and after are one
// phase here.
func onlyInterface(outputs []*Output, phase string) string {
	for _, samePhase := range []bool{true, false} {
		for _, asked := range []bool{true, false} {
			only, several := theInterface(outputs, func(o *Output) bool {
				return (!samePhase || phasePair(o) == phase) && !listsAll(o.Tool) == asked
			})
			if only != "" || several {
				return only
			}
		}
	}
	return ""
}

// phasePair returns the phase where the name has one: the first word of other names is no phase.
func phasePair(o *Output) string {
	switch {
	case o.Name.Phase == "before" || o.Name.Phase == "after":
		return "before"
	case !o.Name.Time.IsZero():
		return o.Name.Phase
	}
	return ""
}

// listsAll reports whether a tool lists all interfaces of the host rather than the one that was asked about.
func listsAll(tool string) bool {
	return tool == "proc-net-dev" || tool == "tc-qdisc" || tool == "netstat-i"
}

func theInterface(outputs []*Output, among func(*Output) bool) (only string, several bool) {
	for _, o := range outputs {
		if !among(o) {
			continue
		}
		for _, i := range o.Interfaces {
			if i.Host {
				continue
			}
			name := cmp.Or(i.Name, interfaceInName(o.Pos.Source))
			switch {
			case name == "" || name == "lo" || strings.HasPrefix(name, "ifb") || name == only:
			case only == "":
				only = name
			default:
				return "", true
			}
		}
	}
	return only, false
}

// nameOf returns the interface that i, a part of o, is about, and where that comes from.
func nameOf(o *Output, i *InterfaceOutput, only string) (name, from string) {
	if i.Name != "" {
		return i.Name, NameFromOutput
	}
	if name := interfaceInName(o.Pos.Source); name != "" {
		return name, NameFromFile
	}
	if only != "" {
		return only, NameFromOnly
	}
	return "", NameUnknown
}

// resolveVectors finds the interface of interrupts whose name has only an address: by the bus that ethtool -i tells, or
// because one interface and one network device are left over.
func (h *Host) resolveVectors() {
	byBus := map[string]string{}
	for _, i := range h.Interfaces {
		if i.Driver != nil && i.Driver.Bus != "" && i.Name != "" {
			byBus[i.Driver.Bus] = i.Name
		}
	}
	for _, t := range h.tables("proc-interrupts") {
		for k := range t.Rows {
			v := &t.Rows[k].Vector
			name, known := byBus[v.Bus]
			if !known || v.Interface != "" || v.Bus == "" {
				continue
			}
			v.Interface = name
			if v.Kind == kernel.VectorOther {
				v.Kind = kernel.VectorNetwork
			}
		}
		h.resolveLeftOver(t)
	}
}

func (h *Host) resolveLeftOver(t *CPUSeries) {
	taken := map[string]bool{"lo": true}
	bus, devices, pos := "", 0, source.Pos{}
	for _, row := range t.Rows {
		v := row.Vector
		switch {
		case v.Interface != "":
			taken[v.Interface] = true
		case v.Kind == kernel.VectorNetwork && v.Bus != bus && v.Queue >= -1:
			bus, devices, pos = v.Bus, devices+1, row.Last.Pos
		}
	}
	free := ""
	for _, i := range h.Interfaces {
		if taken[i.Name] || !kernel.IsInterfaceName(i.Name) || i.virtual() {
			continue
		}
		if free != "" {
			return
		}
		free = i.Name
	}
	if devices != 1 || free == "" || bus == "" {
		return
	}
	for k := range t.Rows {
		if v := &t.Rows[k].Vector; v.Kind == kernel.VectorNetwork && v.Bus == bus {
			v.Interface = free
		}
	}
	h.Notes = append(h.Notes, Note{fmt.Sprintf("interrupts of %s are taken as those of %s: one network device and one interface were left over", bus, free), pos})
}

// virtual reports whether the interface is one that has no interrupts.
func (i *Interface) virtual() bool {
	if i.Driver != nil {
		switch i.Driver.Name {
		case "veth", "bridge", "bonding", "tun", "dummy", "macvlan", "802.1Q VLAN Support", "team", "vxlan":
			return true
		}
	}
	return kernel.IsVirtualInterface(i.Name)
}
