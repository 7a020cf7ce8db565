package coalesce

import (
	"bytes"

	"nettrace/source"
)

// NUMA nodes and their CPUs, as lscpu and numactl print them.
//
//	NUMA node(s):                            2
//	NUMA node0 CPU(s):                       0-7,16-23                    lscpu
//	available: 2 nodes (0-1)
//	node 0 cpus: 0 1 2 3                                                  numactl -H
//
// Written by lscpu of util-linux (sys-utils/lscpu.c) and numactl (numactl.c, hardware). Of lscpu only the lines of nodes
// are used; the rest (model, caches, flags) does not say how packets travel.

// SniffNodes recognises lscpu and numactl -H.
func SniffNodes(head []byte) source.Match {
	line, _ := firstLine(head)
	switch {
	case bytes.HasPrefix(line, []byte("Architecture: ")) && bytes.Contains(head, []byte("\nCPU(s): ")), bytes.HasPrefix(line, []byte("NUMA node0 CPU(s): ")),
		bytes.HasPrefix(line, []byte("NUMA node(s): ")), bytes.HasPrefix(line, []byte("available: ")) && bytes.Contains(line, []byte(" nodes (")):
		return source.Strong
	}
	return source.No
}

// ReadNodes reads lscpu and numactl -H.
func ReadNodes(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "nodes", Pos: l.Pos(), Machine: machine()}
	if SniffNodes(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no lscpu or numactl -H begins here; \"Architecture:\", \"NUMA node(s):\" or \"available: N nodes\" was expected"}
	}
	for l.Next() {
		line := l.Bytes()
		name, value, ok := bytes.Cut(line, []byte{':'})
		if !ok || len(name) > 40 {
			if len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(line, []byte("node ")) && !bytes.HasPrefix(line, []byte(" ")) {
				l.Back()
				break
			}
			continue
		}
		node, fits := nodeName(name)
		if !fits {
			continue
		}
		if !l.Complete() {
			cut(ledger, l.Pos(), "the input ends inside a list of CPUs, which is left out")
			break
		}
		list := bytes.Join(bytes.Fields(bytes.ReplaceAll(value, []byte{','}, []byte{' '})), []byte{','})
		cpus, ok := parseCPUList(list)
		if !ok {
			ledger.Add("unreadable-line", source.Warning, l.Pos(), 1, source.Excerpt(line)+" is no list of CPUs; it is left out")
			continue
		}
		if len(out.Machine.Nodes) < maxMachine {
			out.Machine.Nodes = append(out.Machine.Nodes, Node{Number: node, CPUs: cpus, Pos: l.Pos()})
		}
	}
	return out, nil
}

// nodeName reads "NUMA node0 CPU(s)" and "node 0 cpus".
func nodeName(name []byte) (node int, ok bool) {
	for _, form := range [][2]string{{"NUMA node", " CPU(s)"}, {"node ", " cpus"}} {
		rest, before := bytes.CutPrefix(bytes.TrimSpace(name), []byte(form[0]))
		digits, after := bytes.CutSuffix(rest, []byte(form[1]))
		if n, number := parseUint(digits); before && after && number && n < maxCPU {
			return int(n), true
		}
	}
	return 0, false
}
