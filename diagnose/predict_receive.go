package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nettrace/coalesce"
	"nettrace/datapath"
	"nettrace/finding"
	"nettrace/unit"
)

// What more queues and larger rings bring, from the rates, sizes and queues of the bundle.

// predictSpread predicts the rate that the busiest CPU would take with the interrupts of the queues spread over CPUs: by what
// a packet costs now, and by how the packets lie over the queues.
func predictSpread(ctx context.Context, t trial) ([]*finding.Prediction, string) {
	k := slices.IndexFunc(t.result.Findings, func(x finding.Finding) bool { return x.CausedBy == t.cause.ID && x.Rule == "softnet/one-cpu" })
	if k < 0 {
		return nil, "what each CPU processes is not recorded (/proc/net/softnet_stat before and after)"
	}
	one := &t.result.Findings[k]
	rate, _ := one.Measure("packets_per_second")
	busy, timed := one.Measure("softirq_share")
	if !timed || busy <= 0 || rate < 1 {
		return nil, "what a packet costs is not known: the CPU's time is not recorded (/proc/stat before and after)"
	}
	packet := busy / rate * 1e6 // us
	host := hostOf(t.result.Models.Hosts, one)
	queues, share := 0, 0.0
	if host != nil {
		queues, share = spreadOver(host)
	}
	if queues < 2 {
		return nil, fmt.Sprintf("a packet costs %s us here, so that N CPUs take up to N times %s packets/s; how the flows would lie over queues is not recorded (counters of each queue in ethtool -S, ss -tn)", unit.Number(packet), unit.Number(1e6/packet))
	}
	set, against := fmt.Sprintf("queues=1,packet=%.3g", packet), fmt.Sprintf("queues=%d,busiest=%.3g", queues, share)
	workload := fmt.Sprintf("receive:%.0f", rate)
	now, err := datapath.PredictScenario(ctx, workload, []string{set})
	if err != nil {
		return nil, err.Error()
	}
	spread, err := datapath.PredictScenario(ctx, workload, []string{set, against})
	if err != nil {
		return nil, err.Error()
	}
	capacity := func(s *datapath.Scenario) float64 { return figureOf(s, "rate at which that CPU is full").Mean }
	return []*finding.Prediction{around(capacity(spread), modelError, "packets/s at most",
		append([]string{fmt.Sprintf("to see it: nettrace replay --workload %s --set %s --against %s", workload, set, against)},
			append(spread.Assumptions, fmt.Sprintf("with one CPU %s packets/s at most: %s of its time for %s packets/s are %s us for each; %d queues on CPUs of their own, of which the busiest has %s of the packets; the interval allows for %s of error",
				unit.Number(capacity(now)), unit.Percent(busy), unit.Number(rate), unit.Number(packet), queues, unit.Percent(share), unit.Percent(modelError)))...)...)}, ""
}

// spreadOver returns over how many queues the packets of the busiest interface lie, at most one for each CPU, and the share of
// the busiest of them.
func spreadOver(h *coalesce.Host) (queues int, share float64) {
	most := uint64(0)
	for _, nic := range h.Interfaces {
		all := uint64(0)
		var loads []uint64
		for _, q := range nic.QueueLoad() {
			if q.Packets > 0 {
				loads = append(loads, q.Packets)
				all += q.Packets
			}
		}
		if all <= most {
			continue
		}
		most = all
		queues = min(len(loads), cpusOf(h))
		on := make([]uint64, max(queues, 1))
		for i, n := range loads { // more queues than CPUs: in turns
			on[i%len(on)] += n
		}
		share = float64(slices.Max(on)) / float64(all)
	}
	return queues, share
}

// cpusOf counts a host's CPUs by its tables.
func cpusOf(h *coalesce.Host) (n int) {
	for _, table := range h.Tables {
		n = max(n, len(table.CPUs))
	}
	return n
}

// predictRing predicts how long the CPU may be late before the larger ring is full: at the mean rate, and at the link's.
func predictRing(ctx context.Context, t trial) ([]*finding.Prediction, string) {
	if !strings.HasPrefix(t.cause.Advice[0].Text, "ethtool -G") {
		return nil, "how large the ring is, and could be, is not recorded (ethtool -g), or it is the largest already: then its CPU is what is late"
	}
	nic := interfaceOf(hostOf(t.result.Models.Hosts, t.cause), t.cause)
	if nic == nil {
		return nil, "the interface's counters are not in this result"
	}
	size, _ := number(nic, "ethtool-g", "rx")
	largest, _ := number(nic, "ethtool-g", "rx-max")
	traffic, counted := nic.Traffic()
	if !counted || size == 0 || largest <= size || traffic.RXRate() < 1 {
		return nil, "the rate of packets is not recorded (ethtool -S before and after)"
	}
	queues, share := 1, 1.0
	if loads := nic.QueueLoad(); len(loads) > 1 {
		queues, share = spreadOver(&coalesce.Host{Interfaces: []*coalesce.Interface{nic}, Tables: []*coalesce.CPUSeries{{CPUs: make([]int, len(loads))}}})
	}
	set, against := fmt.Sprintf("queues=%d,busiest=%.3g,ring=%d", max(queues, 1), share, size), fmt.Sprintf("ring=%d", largest)
	workload := fmt.Sprintf("receive:%.0f", traffic.RXRate())
	bridged := func(settings ...string) float64 {
		s, err := datapath.PredictScenario(ctx, workload, settings)
		if err != nil {
			return 0
		}
		return figureOf(s, "pause of that CPU that its ring bridges").Mean * 1000 // ns
	}
	now, then := bridged(set), bridged(set, against)
	speed, known := number(nic, "ethtool", "speed")
	if now <= 0 || then <= 0 || !known || speed == 0 {
		return nil, fmt.Sprintf("at the mean rate of %s packets/s %d descriptors last while the CPU is late by %v, %d by %v; bursts come faster, up to the speed of the link, which is not recorded (ethtool %s)",
			unit.Number(traffic.RXRate()), size, unit.Nanos(now), largest, unit.Nanos(then), interfaceOr(nic.Name))
	}
	frame := frameBytes(traffic)
	fastest := float64(largest) * (frame + wireOverhead) * 8e3 / float64(speed) // ns; speed is in Mb/s
	return []*finding.Prediction{{Value: then / 1e6, Low: min(fastest, then) / 1e6, High: then / 1e6, Unit: "ms that the CPU may be late",
		Assumptions: []string{
			fmt.Sprintf("to see it: nettrace replay --workload %s --set %s --against %s", workload, set, against),
			fmt.Sprintf("%d descriptors last %v at the mean rate of %s packets/s, %d last %v, and %v at the link's %d Mb/s with packets of %s", size, unit.Nanos(now), unit.Number(traffic.RXRate()), largest, unit.Nanos(then), unit.Nanos(fastest), speed, unit.Bytes(int64(frame))),
			"how long the CPU is late is not recorded, so that the loss that remains is not known; if it is too slow on average, any ring is full in the end",
		}}}, ""
}

// wireOverhead is what a frame takes on an Ethernet link beside its bytes: preamble, checksum and gap.
const wireOverhead = 24

// frameBytes is the mean frame that came, a full one where bytes are not counted.
func frameBytes(t coalesce.Traffic) float64 {
	const full = 1514
	var bytes, packets uint64
	for _, c := range t.RXBytes {
		bytes += c.Delta
	}
	for _, c := range t.RX {
		packets += c.Delta
	}
	if bytes == 0 || packets == 0 {
		return full
	}
	return float64(bytes) / float64(packets)
}

func number(nic *coalesce.Interface, tool, name string) (uint64, bool) {
	s, ok := nic.Setting(tool, name)
	n, known := s.Value.Number()
	return n, ok && known
}

// hostOf returns the host whose recordings a finding cites, nil if none does.
func hostOf(hosts []*coalesce.Host, f *finding.Finding) *coalesce.Host {
	for _, h := range hosts {
		for _, e := range f.Evidence {
			if recordedOn(h, e.Source) {
				return h
			}
		}
	}
	return nil
}

// recordedOn reports whether a file has counters or settings of a host.
func recordedOn(h *coalesce.Host, source string) bool {
	in := func(s *coalesce.Series) bool {
		return slices.ContainsFunc(s.Snapshots, func(x coalesce.Snapshot) bool { return x.Pos.Source == source })
	}
	return slices.ContainsFunc(h.Tables, func(t *coalesce.CPUSeries) bool { return in(&t.Series) }) ||
		slices.ContainsFunc(h.Interfaces, func(nic *coalesce.Interface) bool {
			return slices.ContainsFunc(nic.Counters, func(c *coalesce.CounterSeries) bool { return in(&c.Series) }) ||
				slices.ContainsFunc(nic.Dumps, func(d coalesce.Dump) bool { return d.Pos.Source == source })
		})
}

// interfaceOf returns the interface that a finding is about.
func interfaceOf(h *coalesce.Host, f *finding.Finding) *coalesce.Interface {
	if h == nil {
		return nil
	}
	name := f.Subject.Key[strings.LastIndexByte(f.Subject.Key, '/')+1:]
	for _, nic := range h.Interfaces {
		if nic.Name == name {
			return nic
		}
	}
	return nil
}

// boundsOfOffload says between what the packets that the stack handles would lie: how much is written, or comes, at once
// decides.
func boundsOfOffload(_ context.Context, t trial) ([]*finding.Prediction, string) {
	rate, _ := t.cause.Measure("packets_per_second")
	each, _ := t.cause.Measure("bytes_per_packet")
	const headers, largest, least = 66, 65536, 2 // bytes, bytes, segments: what Linux puts into one super-segment
	if each <= headers || rate <= 0 {
		return nil, "the sizes of the packets are not recorded (ethtool -S before and after)"
	}
	segments := max(least, largest/(each-headers))
	return nil, fmt.Sprintf("the stack would handle %s to %s packets/s in place of %s, %d to %.0f segments in each, by how much is written, or comes, at once; that and what a byte costs beside a packet are not recorded (netperf -c -C with the offload on and off)",
		unit.Number(rate/segments), unit.Number(rate/least), unit.Number(rate), least, segments)
}
