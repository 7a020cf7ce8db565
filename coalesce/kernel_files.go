package coalesce

import (
	"bytes"
	"strings"

	"nettrace/kernel"
	"nettrace/source"
)

// Files of /proc and /sys with one value each, and sysctl: affinities, RPS and XPS, nodes, idle states, sizes.
//
//	/proc/irq/61/smp_affinity_list:0-3
//	/sys/class/net/eth0/queues/rx-0/rps_cpus:00000000,000000ff
//	net.core.netdev_budget = 300
//
// Written by grep -H . FILE... (or -r), by head and tail of several files ("==> FILE <=="), and by sysctl. A value that
// stands in a file of its own, as in sosreports, is read by the file's path (KernelPath). Masks and lists are those of
// lib/bitmap.c; strides (0-14:2/4), which no default uses, are not read. Files of these folders that are of no interest
// here are passed over: a recording of /sys holds hundreds.

// SniffKernelFiles recognises lines of paths with values.
func SniffKernelFiles(head []byte) source.Match {
	line, rest := firstLine(head)
	if path, ok := tailTitle(line); ok {
		if kernelPath(path) != nil {
			return source.Strong
		}
		return source.No
	}
	if path, _, ok := bytes.Cut(line, []byte{':'}); ok && kernelPath(path) != nil && path[0] == '/' {
		return source.Strong
	}
	if isSysctlLine(line) {
		if next, _ := firstLine(rest); isSysctlLine(next) || len(next) == 0 {
			return source.Strong
		}
	}
	return source.No
}

// isSysctlLine tells "net.core.rmem_max = 212992".
func isSysctlLine(line []byte) bool {
	name, value, ok := bytes.Cut(line, []byte(" = "))
	return ok && len(value) > 0 && len(name) < 100 && bytes.IndexByte(name, ' ') < 0 &&
		(bytes.HasPrefix(name, []byte("net.")) || bytes.HasPrefix(name, []byte("kernel.")) || bytes.HasPrefix(name, []byte("vm.")) || bytes.HasPrefix(name, []byte("fs.")))
}

// tailTitle reads "==> PATH <==".
func tailTitle(line []byte) (path []byte, ok bool) {
	rest, before := bytes.CutPrefix(line, []byte("==> "))
	path, after := bytes.CutSuffix(rest, []byte(" <=="))
	return path, before && after
}

// kernelPath returns the part of a path from /proc or /sys on if it is of interest here, else nil, without allocation.
func kernelPath(path []byte) []byte {
	if len(path) > 200 {
		return nil
	}
	for _, root := range [...]string{"proc/irq/", "proc/sys/net/", "sys/class/net/", "sys/devices/system/node/node", "sys/devices/system/cpu/cpu"} {
		if at := bytes.Index(path, []byte(root)); at == 0 || at > 0 && path[at-1] == '/' {
			if rest := path[at:]; isKernelFile(rest[bytes.LastIndexByte(rest, '/')+1:], root) {
				return rest
			}
		}
	}
	return nil
}

func isKernelFile(base []byte, root string) bool {
	switch root {
	case "proc/irq/":
		return string(base) == "smp_affinity" || string(base) == "smp_affinity_list" || string(base) == "effective_affinity" || string(base) == "effective_affinity_list"
	case "sys/class/net/":
		return string(base) == "rps_cpus" || string(base) == "xps_cpus" || string(base) == "numa_node" || string(base) == "gro_flush_timeout" || string(base) == "napi_defer_hard_irqs"
	case "sys/devices/system/node/node":
		return string(base) == "cpulist" || string(base) == "cpumap"
	case "sys/devices/system/cpu/cpu":
		return string(base) == "name" || string(base) == "time" || string(base) == "usage" || string(base) == "latency" || string(base) == "disable"
	}
	return true
}

// KernelPath reports whether a file stands under its path of the kernel ("host/proc/irq/61/smp_affinity_list"), so that
// its content is the value of that path.
func KernelPath(path string) bool {
	return kernelPath([]byte(strings.ReplaceAll(path, `\`, "/"))) != nil
}

// ReadKernelFile reads the value of one file of the kernel, which its path tells.
func ReadKernelFile(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "kernel-files", Pos: l.Pos(), Machine: machine()}
	path := kernelPath([]byte(strings.ReplaceAll(l.Pos().Source, `\`, "/")))
	if path == nil {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "the path of the file is none of the kernel's that are read"}
	}
	path = bytes.Clone(path)
	for l.Next() {
		out.kernelValue(path, l.Bytes(), l.Pos(), ledger)
		for l.Next() {
		}
	}
	return out, nil
}

func machine() *Machine { m := newMachine(); return &m }

// ReadKernelFiles reads lines of paths with values.
func ReadKernelFiles(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "kernel-files", Pos: l.Pos(), Machine: machine()}
	if SniffKernelFiles(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no values of the kernel begin here; \"/proc/irq/N/smp_affinity_list:0-3\" or \"net.core.NAME = VALUE\" was expected"}
	}
	var title []byte
	for l.Next() {
		line := l.Bytes()
		switch path, after, ok := bytes.Cut(line, []byte{':'}); {
		case isTail(line):
			path, _ := tailTitle(line)
			title = bytes.Clone(kernelPath(path))
			continue
		case ok && kernelPath(path) != nil && path[0] == '/':
			out.value(kernelPath(path), after, l, ledger)
			continue
		case isSysctlLine(line):
			name, value, _ := bytes.Cut(line, []byte(" = "))
			out.sysctl(string(name), value, l.Pos())
			continue
		case title != nil && len(line) > 0:
			out.value(title, line, l, ledger)
			title = nil
			continue
		case len(line) == 0 || ok && line[0] == '/' && bytes.IndexByte(path, ' ') < 0: // other files of these folders
			continue
		}
		l.Back()
		return out, nil
	}
	return out, nil
}

func isTail(line []byte) bool { _, ok := tailTitle(line); return ok }

func (o *Output) value(path, value []byte, l *source.Lines, ledger *source.Ledger) {
	if !l.Complete() {
		cut(ledger, l.Pos(), "the input ends inside a value, which is left out")
		return
	}
	o.kernelValue(path, value, l.Pos(), ledger)
}

// kernelValue enters the value of a path that kernelPath returned.
func (o *Output) kernelValue(path, value []byte, pos source.Pos, ledger *source.Ledger) {
	parts := strings.Split(string(path), "/")
	base := parts[len(parts)-1]
	ok := false
	switch {
	case len(parts) < 4:
	case parts[1] == "irq" && len(parts) == 4:
		ok = o.Machine.affinity(parts[2], base, value, pos)
	case parts[1] == "sys":
		ok = o.sysctl(strings.Join(parts[2:], "."), value, pos)
	case parts[1] == "class":
		ok = o.interfaceValue(parts[3], parts, base, value, pos)
	case parts[3] == "node" && len(parts) == 6:
		ok = o.Machine.node(parts[4], base, value, pos)
	case parts[3] == "cpu" && len(parts) == 8 && parts[5] == "cpuidle":
		ok = o.Machine.idleValue(parts[4], parts[6], base, value, pos)
	case parts[3] == "cpu":
		ok = true
	}
	if !ok {
		ledger.Add("unreadable-line", source.Warning, pos, 1, source.Excerpt(value)+" is no value of "+base+"; it is left out")
	}
}

// set reads a list or a mask, by the file's name.
func cpuSet(base string, value []byte) ([]int, bool) {
	if strings.HasSuffix(base, "list") {
		return parseCPUList(value)
	}
	return parseCPUMask(value)
}

func (m *Machine) affinity(irq, base string, value []byte, pos source.Pos) bool {
	cpus, ok := cpuSet(base, value)
	if ok && len(m.Affinities) < maxMachine {
		m.Affinities = append(m.Affinities, Affinity{IRQ: irq, CPUs: cpus, Effective: strings.HasPrefix(base, "effective"), Pos: pos})
	}
	return ok
}

func (m *Machine) node(name, base string, value []byte, pos source.Pos) bool {
	n, isNumber := parseUint([]byte(strings.TrimPrefix(name, "node")))
	cpus, ok := cpuSet(base, value)
	if ok = ok && isNumber && n < maxCPU; ok && len(m.Nodes) < maxMachine {
		m.Nodes = append(m.Nodes, Node{Number: int(n), CPUs: cpus, Pos: pos})
	}
	return ok
}

func (m *Machine) idleValue(cpu, state, base string, value []byte, pos source.Pos) bool {
	c, okCPU := parseUint([]byte(strings.TrimPrefix(cpu, "cpu")))
	s, okState := parseUint([]byte(strings.TrimPrefix(state, "state")))
	value = bytes.TrimSpace(value)
	n, isNumber := parseUint(value)
	x := IdleState{CPU: int(c), State: int(s), Pos: pos}
	switch base {
	case "name":
		x.Name, isNumber = string(value[:min(len(value), 32)]), true
	case "time":
		x.Time = n
	case "usage":
		x.Usage = n
	case "latency":
		x.Latency = n
	case "disable":
		x.Disable = n != 0
	}
	if ok := okCPU && okState && isNumber && c < maxCPU && s < 64; !ok {
		return false
	}
	m.idle(x)
	return true
}

// interfaceValue enters a value of /sys/class/net/IFACE.
func (o *Output) interfaceValue(iface string, parts []string, base string, value []byte, pos source.Pos) bool {
	if iface == "" || len(iface) > 32 {
		return false
	}
	switch base {
	case "numa_node":
		n, ok := parseUint(bytes.TrimPrefix(bytes.TrimSpace(value), []byte("-")))
		node := int(n)
		if bytes.HasPrefix(value, []byte("-")) { // -1: no node
			node = -1
		}
		if ok && n < maxCPU && len(o.Machine.Places) < maxMachine {
			o.Machine.Places = append(o.Machine.Places, Place{Interface: iface, Node: node, Pos: pos})
		}
		return ok
	case "gro_flush_timeout", "napi_defer_hard_irqs":
		n, ok := parseUint(bytes.TrimSpace(value))
		if ok && len(o.Machine.Kernel) < maxMachine {
			o.Machine.Kernel = append(o.Machine.Kernel, KernelSize{Name: iface + "." + base, Value: n, Pos: pos})
		}
		return ok
	}
	if len(parts) != 7 || parts[4] != "queues" {
		return true
	}
	way, digits, _ := strings.Cut(parts[5], "-")
	queue, isNumber := parseUint([]byte(digits))
	cpus, ok := cpuSet(base, value)
	if !ok || !isNumber || queue >= maxCPU || way != "rx" && way != "tx" {
		return false
	}
	if len(o.Machine.Steering) < maxMachine {
		o.Machine.Steering = append(o.Machine.Steering, Steering{Interface: iface, Direction: kernel.Direction(way), Queue: int(queue), CPUs: cpus, Pos: pos})
	}
	return true
}

// sysctl enters a number; of several ("4096 131072 6291456") the last, which is the largest allowed.
func (o *Output) sysctl(name string, value []byte, pos source.Pos) bool {
	words := bytes.Fields(value)
	if len(words) == 0 || len(o.Machine.Kernel) >= maxMachine {
		return true
	}
	if n, ok := parseUint(words[len(words)-1]); ok {
		o.Machine.Kernel = append(o.Machine.Kernel, KernelSize{Name: name, Value: n, Pos: pos})
	}
	return true
}
