package coalesce

import (
	"slices"

	"nettrace/kernel"
	"nettrace/unit"
)

// Traffic is what an interface received and sent over a series, from the driver's own counters where it has both
// directions, else the sum of its queues, else the kernel's.
type Traffic struct {
	Series  *Series
	RX, TX  []*Counter // packet counters whose sum counts a direction
	RXBytes []*Counter
	TXBytes []*Counter
}

// Traffic returns the interface's traffic, if packets in both directions are counted over a known time.
func (i *Interface) Traffic() (Traffic, bool) {
	for _, from := range []struct {
		tool    string
		ofQueue bool
	}{{"ethtool-S", false}, {"ethtool-S", true}, {"proc-net-dev", false}, {"ip-s-link", false}, {"netstat-i", false}, {"sysctl", false}} {
		for _, s := range i.Counters {
			if s.Tool != from.tool || !s.Timed() {
				continue
			}
			t := Traffic{Series: &s.Series, RX: s.packets(kernel.RX, from.ofQueue, -1), TX: s.packets(kernel.TX, from.ofQueue, -1)}
			if len(t.RX) == 0 || len(t.TX) == 0 {
				continue
			}
			t.RXBytes, t.TXBytes = s.sets(kernel.ByteCounters(kernel.RX)), s.sets(kernel.ByteCounters(kernel.TX))
			return t, true
		}
	}
	return Traffic{}, false
}

// QueuePackets returns the packet counters of one queue.
func (i *Interface) QueuePackets(d kernel.Direction, queue int) []*Counter {
	for _, s := range i.Counters {
		if found := s.packets(d, true, queue); len(found) > 0 && s.Timed() {
			return found
		}
	}
	return nil
}

// packets finds the counters of a direction's packets: of the device, of one queue, or of all queues (queue -1).
func (s *CounterSeries) packets(d kernel.Direction, ofQueue bool, queue int) []*Counter {
	if !ofQueue {
		return s.sets(kernel.PacketCounters(d, false))
	}
	for _, set := range kernel.PacketCounters(d, true) {
		var found []*Counter
		for k := range s.Counters {
			q, ok := kernel.ParseQueueCounter(s.Counters[k].Name)
			if ok && q.Direction == d && (queue < 0 || q.Queue == queue) && slices.Contains(set, q.Counter) {
				found = append(found, &s.Counters[k])
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// sets returns the first set of which the series has a counter.
func (s *CounterSeries) sets(sets [][]string) []*Counter {
	for _, set := range sets {
		var found []*Counter
		for k := range s.Counters {
			if slices.Contains(set, s.Counters[k].Name) {
				found = append(found, &s.Counters[k])
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// sum adds counters' changes; perSecond is over the longest time that one of them is known for.
func sum(counters []*Counter) (delta uint64, perSecond float64) {
	var span unit.Nanos
	for _, c := range counters {
		delta += c.Delta
		span = max(span, c.Span)
	}
	if span > 0 {
		perSecond = float64(delta) / span.Seconds()
	}
	return delta, perSecond
}

// RXRate and TXRate return packets/s.
func (t Traffic) RXRate() float64 { _, r := sum(t.RX); return r }
func (t Traffic) TXRate() float64 { _, r := sum(t.TX); return r }

// ByteRate returns bytes/s in both directions together, 0 if they are not counted.
func (t Traffic) ByteRate() float64 {
	_, rx := sum(t.RXBytes)
	_, tx := sum(t.TXBytes)
	return rx + tx
}

// trafficStep is one step of a series.
type trafficStep struct {
	number int
	start  unit.Nanos
	Sample
}

// steps returns the steps of the series as policies take them; those whose change is not known are left out. A direction
// that is not counted counts nothing.
func (t Traffic) steps() []trafficStep {
	var steps []trafficStep
	for k, elapsed := range t.Series.Steps() {
		rx, okRX := step(t.RX, k)
		tx, okTX := step(t.TX, k)
		if elapsed <= 0 || !okRX || !okTX {
			continue
		}
		s := Sample{Elapsed: elapsed, RXPackets: rx, TXPackets: tx}
		s.RXBytes, _ = step(t.RXBytes, k)
		s.TXBytes, _ = step(t.TXBytes, k)
		steps = append(steps, trafficStep{k, t.Series.Snapshots[k].Offset, s})
	}
	return steps
}

// Samples returns the steps of the series as policies take them.
func (t Traffic) Samples() []Sample {
	var samples []Sample
	for _, s := range t.steps() {
		samples = append(samples, s.Sample)
	}
	return samples
}

func step(counters []*Counter, k int) (sum uint64, ok bool) {
	for _, c := range counters {
		if !c.Changed() {
			continue
		}
		if k >= len(c.Steps) {
			return 0, false
		}
		n, known := c.Steps[k].Number()
		if !known {
			return 0, false
		}
		sum += n
	}
	return sum, true
}

// Moderation returns the interface's settings of ethtool -c that were in force, if there are any.
func (i *Interface) Moderation() (m Moderation, ok bool) {
	get := func(name string) uint64 {
		s, _ := i.Setting("ethtool-c", name)
		n, known := s.Value.Number()
		ok = ok || known
		return n
	}
	m.RXUsecs, m.RXFrames = get("rx-usecs"), get("rx-frames")
	m.RXUsecsIRQ, m.RXFramesIRQ = get("rx-usecs-irq"), get("rx-frames-irq")
	m.RXUsecsLow, m.RXUsecsHigh = get("rx-usecs-low"), get("rx-usecs-high")
	m.PktRateLow, m.PktRateHigh = get("pkt-rate-low"), get("pkt-rate-high")
	m.TXUsecs, m.TXFrames = get("tx-usecs"), get("tx-frames")
	m.TXUsecsIRQ, m.TXFramesIRQ = get("tx-usecs-irq"), get("tx-frames-irq")
	adaptive, _ := i.Setting("ethtool-c", "adaptive-rx")
	m.AdaptiveRX = adaptive.Value.On()
	adaptive, _ = i.Setting("ethtool-c", "adaptive-tx")
	m.AdaptiveTX = adaptive.Value.On()
	m.Rings = uint64(len(i.QueueLoad()))
	return m, ok
}
