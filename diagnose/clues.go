package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/tcp"
	"nettrace/unit"
)

// Parameters of the stories that read models.
const (
	minRounds = "min-rounds"
	minShare  = "min-share"
)

// What models tell that is no finding by itself: settings in force, counters that count what is normal. Each clue names
// what it is about, so that it ties like a finding.

func (t *told) hosts() []*coalesce.Host { return t.result.Models.Hosts }

// feature returns the interfaces whose offload of that name is on.
func (t *told) feature(names ...string) (clues []clue) {
	for _, h := range t.hosts() {
		for _, nic := range h.Interfaces {
			for _, name := range names {
				if s, ok := nic.Setting("ethtool-k", name); ok && s.Value.On() {
					clues = append(clues, clue{Subject: finding.Subject{Kind: "interface", Key: nic.Name, Name: nic.Name}, Summary: fmt.Sprintf("%s of %s is on", name, interfaceName(nic.Name)), Evidence: []finding.Evidence{finding.At(s.Pos, "%s: on", name)}})
				}
			}
		}
	}
	return clues
}

// counted returns hosts on which a counter of the protocols rose.
func (t *told) counted(name, text string) (clues []clue) {
	for _, h := range t.hosts() {
		if c := h.Protocol(name); c != nil && c.Delta > 0 {
			clues = append(clues, clue{Summary: fmt.Sprintf("%s %s (%s)", unit.Count(int64(c.Delta&math.MaxInt64)), text, name), Measures: []finding.Measure{{Name: "counted", Value: float64(c.Delta)}},
				Evidence: []finding.Evidence{finding.At(c.Last.Pos, "%s: +%d", name, c.Delta)}})
		}
	}
	return clues
}

// forwarding returns hosts that forward: their counter of forwarded packets rose.
func (t *told) forwarding() []clue { return t.counted("IpForwDatagrams", "packets were forwarded") }

// merging returns what merges received packets: captures above the offload of a receiver, and settings.
func (t *told) merging() (clues []clue) {
	for _, c := range t.result.Models.Captures {
		for i := range c.Connections {
			if x := &c.Connections[i]; mergedAt(x) {
				clues = append(clues, clue{Subject: finding.Subject{Kind: "connection", Key: x.Key(), Name: x.Name()}, Summary: "captured at the receiver, above its offload: data packets are merged there",
					Evidence: []finding.Evidence{finding.At(c.At(x.Record, x.Offset), "%s: data packets larger than the MSS where they are received", x.Name())}})
				break // one for each capture
			}
		}
	}
	return append(clues, t.feature("generic-receive-offload", "large-receive-offload", "rx-gro-hw")...)
}

// mergedAt reports whether the receiver of a connection's data, where it was captured, has super-segments.
func mergedAt(x *tcp.Connection) bool {
	to := [2]string{tcp.AtServer, tcp.AtClient} // where data of each direction arrives
	return slices.ContainsFunc([]int{tcp.ClientToServer, tcp.ServerToClient}, func(d int) bool {
		return x.Side.Place == to[d] && x.Side.Confidence >= finding.Medium && x.Directions[d].SuperSegments > 0
	})
}

// slowGrowth returns connections whose window took many round trips to double, from the beginning and without a loss: their
// sender counts ACKs and not the bytes that they acknowledge.
func (t *told) slowGrowth() (clues []clue) {
	for _, c := range t.result.Models.Captures {
		for i := range c.Connections {
			x := &c.Connections[i]
			for d := range x.Directions {
				g, lost := growthOf(x, d)
				share := float64(lost) / float64(max(1, x.End-x.Start))
				if float64(g.DoubledAfter) < t.params[minRounds] || share < t.params[minShare] {
					continue
				}
				clues = append(clues, clue{Subject: finding.Subject{Kind: "connection", Key: x.Key(), Name: x.Name()}, Effect: finding.Effect{Lost: lost, Share: min(1, share)},
					Summary:  fmt.Sprintf("the sender's window doubled after %d round trips of %v, and grew from %s to %s in %d", g.DoubledAfter, x.RoundTrip, unit.Bytes(g.FirstBytes), unit.Bytes(g.LargestBytes), g.LargestAfter),
					Evidence: []finding.Evidence{finding.At(c.At(x.Record, x.Offset), "%s: slow growth without loss", x.Name())}})
			}
		}
	}
	return clues
}

// growthOf returns how the window of a direction grew, and the time that growing took longer than doubling in each round
// trip; nothing where the application, and not the window, kept the sender from sending.
func growthOf(x *tcp.Connection, d int) (g tcp.Growth, lost unit.Nanos) {
	const mostlyOther = 0.2 // of the time, without data to send
	dir := &x.Directions[d]
	if dir.Limit == nil || x.RoundTrip <= 0 || x.Began == "midstream" {
		return g, 0
	}
	idle := dir.Limits.Of("idle") + dir.Limits.Of("peer") + dir.Limits.Of("small-writes")
	if float64(idle) > mostlyOther*float64(x.End-x.Start) {
		return g, 0
	}
	g = dir.Limit.Growth
	needed := math.Log2(max(1, float64(g.LargestBytes)/float64(max(1, g.FirstBytes))))
	return g, unit.Nanos(max(0, float64(g.LargestAfter)-needed) * float64(x.RoundTrip))
}

// severalQueues returns interfaces with queues that one flow's packets can change between: packets steered to several CPUs,
// or several queues that took interrupts.
func (t *told) severalQueues() (clues []clue) {
	for _, h := range t.hosts() {
		for _, s := range h.Machine.Steering {
			if len(s.CPUs) > 1 {
				clues = append(clues, clue{Subject: finding.Subject{Kind: "interface", Key: s.Interface, Name: s.Interface}, Severity: finding.Notice,
					Summary:  fmt.Sprintf("software steers %s queue %d of %s to %d CPUs", s.Direction, s.Queue, s.Interface, len(s.CPUs)),
					Evidence: []finding.Evidence{finding.At(s.Pos, "%s queue %d: %d CPUs", s.Direction, s.Queue, len(s.CPUs))}})
			}
		}
		clues = append(clues, busyQueues(h)...)
	}
	return clues
}

// busyQueues returns the interfaces of which several queues took interrupts.
func busyQueues(h *coalesce.Host) (clues []clue) {
	queues := map[string][]finding.Evidence{}
	var names []string
	for _, table := range h.Tables {
		for i := range table.Rows {
			row := &table.Rows[i]
			v := &row.Vector
			if v.Kind != kernel.VectorNetwork || v.Queue < 0 || v.Interface == "" || row.Delta == 0 {
				continue
			}
			if queues[v.Interface] == nil {
				names = append(names, v.Interface)
			}
			queues[v.Interface] = append(queues[v.Interface], finding.At(row.Last.Pos, "%s: +%d interrupts", row.Name, row.Delta))
		}
	}
	for _, name := range names {
		if n := len(queues[name]); n > 1 {
			clues = append(clues, clue{Subject: finding.Subject{Kind: "interface", Key: name, Name: name}, Summary: fmt.Sprintf("%d queues of %s are in use", n, name), Evidence: queues[name]})
		}
	}
	return clues
}

// limitedSockets returns sockets that the kernel says were kept from sending by a buffer: the receiver's or their own.
func (t *told) limitedSockets() (clues []clue) {
	for _, h := range t.hosts() {
		for i := range h.Sockets {
			s := &h.Sockets[i]
			for _, limit := range []struct {
				time          unit.Nanos
				what, measure string
			}{{s.RwndLimited, "the receiver's window", "share_receiver_window"}, {s.SndbufLimited, "its send buffer", shareSendBuffer}} {
				share := float64(limit.time) / float64(max(1, s.Busy))
				if !s.Known || s.Busy < 100*unit.Millisecond || share < t.params[minShare] {
					continue
				}
				clues = append(clues, clue{Subject: finding.Subject{Kind: "socket", Key: s.Local + " " + s.Peer, Name: s.Local + " > " + s.Peer}, Effect: finding.Effect{Lost: limit.time, Share: min(1, share)},
					Measures: []finding.Measure{{Name: limit.measure, Value: share, Unit: "ratio"}},
					Summary:  fmt.Sprintf("%s > %s waited for %s in %s of the time that it had data (ss)", s.Local, s.Peer, limit.what, unit.Percent(share)),
					Evidence: []finding.Evidence{finding.At(s.Pos, "busy %v, waiting for %s %v", s.Busy, limit.what, limit.time)}})
			}
		}
	}
	return clues
}

// shareSendBuffer is the measure of a socket that waited for its own buffer.
const shareSendBuffer = "share_send_buffer"

// fullCPUs returns CPUs that were idle for less than a twentieth of the time.
func (t *told) fullCPUs() (clues []clue) {
	const idleAtMost = 0.05
	for _, h := range t.hosts() {
		for _, table := range h.Tables {
			if table.Tool != "proc-stat" || len(table.Snapshots) < 2 {
				continue
			}
			for _, cpu := range table.CPUs {
				idle, all, at := shares(table, cpu)
				if all > 0 && float64(idle) < idleAtMost*float64(all) {
					clues = append(clues, clue{Subject: finding.Subject{Kind: "cpu", Key: fmt.Sprintf("CPU %d", cpu), Name: fmt.Sprintf("CPU %d", cpu)}, Severity: finding.Notice,
						Summary: fmt.Sprintf("CPU %d was idle for %s of the time", cpu, unit.Percent(float64(idle)/float64(all))), Evidence: []finding.Evidence{finding.At(at.Last.Pos, "CPU %d: %d of %d ticks idle", cpu, idle, all)}})
				}
			}
		}
	}
	return clues
}

// shares returns the idle and all ticks of a CPU, and the row of the idle ones.
func shares(table *coalesce.CPUSeries, cpu int) (idle, all uint64, at *coalesce.CPURow) {
	for i := range table.Rows {
		row := &table.Rows[i]
		k := slices.IndexFunc(row.CPUs, func(c coalesce.CPUChange) bool { return c.CPU == cpu })
		if k < 0 || strings.HasPrefix(row.Key, "guest") || !slices.Contains([]string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}, row.Key) { // guest is counted in user
			continue
		}
		all += row.CPUs[k].Delta
		if row.Key == "idle" || row.Key == "iowait" {
			idle += row.CPUs[k].Delta
		}
		if at == nil || row.Key == "idle" {
			at = row
		}
	}
	return idle, all, at
}

// exchanges returns the rates of transactions that belong to a host's recordings.
func (t *told) exchanges() (clues []clue) {
	for _, h := range t.hosts() {
		if e := h.Exchange; e != nil && e.Rate > 0 {
			clues = append(clues, clue{Summary: fmt.Sprintf("%s transactions/s, %v each (%s)", unit.Number(e.Rate), e.Transaction(), e.From), Evidence: []finding.Evidence{finding.At(e.Pos, "%s transactions/s", unit.Number(e.Rate))}})
		}
	}
	return clues
}

// interfaceName is an interface's name for people.
func interfaceName(name string) string {
	if name == "" {
		return "the interface"
	}
	return name
}

// interfaceOr is an interface's name in a command line.
func interfaceOr(name string) string {
	if name == "" {
		return "IFACE"
	}
	return name
}
