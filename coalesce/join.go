package coalesce

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"nettrace/unit"
)

// Options say how Join takes what outputs do not tell. The zero value takes only what they tell.
type Options struct {
	Interval unit.Nanos // between snapshots whose names have no time; 0 leaves modification times
}

// Join makes hosts of the outputs of one incident. One folder (or recorded tree of /proc and /sys, or sosreport) is one host, or two where tags say "-peer", or more where
// tags have groups. Outputs of one tool, interface and kind of file name are a series in the order of their times.
func Join(outputs []Output, o Options) []*Host {
	type key struct {
		dir, group string
		peer       bool
	}
	sets := map[key][]member{}
	var keys []key
	for i := range outputs {
		out := &outputs[i]
		k := key{dir: hostDir(out.Pos.Source), peer: out.Name.Peer}
		if snapshotNamed(out) {
			k.group = out.Name.Group
		}
		if sets[k] == nil {
			keys = append(keys, k)
		}
		sets[k] = append(sets[k], member{out, nil})
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(natural(a.dir, b.dir), cmp.Compare(a.group, b.group), compareBool(a.peer, b.peer))
	})
	hosts := []*Host{}
	for _, k := range keys {
		h := &Host{Group: k.group, Peer: k.peer, Interfaces: []*Interface{}, Protocols: []*CounterSeries{}, Tables: []*CPUSeries{}, Reported: []Reported{}, Machine: newMachine(), Sockets: []Socket{}, Work: []*Work{}, Notes: []Note{}}
		h.Name = strings.Join(slices.DeleteFunc([]string{k.dir, k.group, map[bool]string{true: "peer"}[k.peer]}, func(s string) bool { return s == "" || s == "." }), " ")
		h.join(sets[k], o)
		hosts = append(hosts, h)
	}
	return hosts
}

// hostDir returns the folder that stands for the host: that of the file or, where a tree of /proc, /sys or a sosreport's
// commands was recorded, the one that holds the tree.
func hostDir(source string) string {
	parts := strings.Split(source, "/")
	for k := range len(parts) - 1 {
		if treeOf(parts[k], parts[k+1]) {
			return cmp.Or(strings.Join(parts[:k], "/"), ".")
		}
	}
	return path.Dir(source)
}

// treeOf reports whether a recorded tree begins with a folder that holds another folder or file.
func treeOf(folder, in string) bool {
	switch folder {
	case "sos_commands":
		return true
	case "proc":
		return slices.Contains([]string{"interrupts", "softirqs", "stat", "net", "irq", "sys", "lock_stat", "self"}, in)
	case "sys":
		return slices.Contains([]string{"class", "devices", "module", "kernel", "bus"}, in)
	}
	return false
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// join fills in the host from its outputs.
func (h *Host) join(members []member, o Options) {
	inOrder(members)
	outputs := make([]*Output, len(members))
	for i, m := range members {
		outputs[i] = m.Output
	}
	b := builder{host: h, options: o, interfaces: map[string]*Interface{}}
	only := map[string]string{} // by phase
	for _, out := range outputs {
		phase := phasePair(out)
		if _, known := only[phase]; !known {
			only[phase] = onlyInterface(outputs, phase)
		}
		for i := range out.Interfaces {
			b.interfaceOutput(out, &out.Interfaces[i], only[phase])
		}
		h.addReported(out.Reported)
		if out.Machine != nil {
			out.Machine.at(out.Name.Time)
			h.Machine.join(out.Machine)
		}
		h.addSockets(out.Sockets)
		if out.Work != nil && len(h.Work) < maxRecordings {
			h.Work = append(h.Work, out.Work)
		}
		switch {
		case out.Table != nil:
			b.add("", out, nil)
		case out.Refusal != "":
			device := "the device"
			if len(out.Interfaces) > 0 {
				device = cmp.Or(out.Interfaces[0].Name, device)
			}
			h.note(out, cmp.Or(out.Name.Tool, out.Tool)+": "+device+" does not support the question: "+out.Refusal)
		}
	}
	b.series()
	slices.SortStableFunc(h.Interfaces, func(a, b *Interface) int {
		return cmp.Or(compareBool(a.Name == "", b.Name == ""), natural(a.Name, b.Name))
	})
	h.sortReported()
	h.resolveVectors()
}

// note adds a note, which is the same for all outputs that it could be said of.
func (h *Host) note(o *Output, text string) {
	if !slices.ContainsFunc(h.Notes, func(n Note) bool { return n.Text == text }) {
		h.Notes = append(h.Notes, Note{text, o.Pos})
	}
}
