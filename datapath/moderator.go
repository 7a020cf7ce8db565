package datapath

import (
	"nettrace/coalesce"
	"nettrace/unit"
)

// traffic counts a host's packets as its driver does: received ones when the poll takes them, sent ones when they are
// given to the card.
type traffic struct {
	counters         Counters
	rx, tx           uint64 // packets
	rxBytes, txBytes uint64
}

func (t *traffic) received(f frame) {
	t.rxBytes += uint64(f.payload) + headerBytes
	if t.counters == Wire {
		t.rx++
	}
}

func (t *traffic) merged(m merged) {
	if t.counters == Merged {
		t.rx += uint64(m.segments + m.acks)
	}
}

// sent counts frames given to the card: TSO segments in either case.
func (t *traffic) sent(f frame) {
	t.txBytes += uint64(f.payload) + headerBytes
	t.tx++
}

// moderator runs a driver's moderation policy: every so often it gives the policy the traffic since the last time, and
// sets the card's delay to what the policy says.
type moderator struct {
	engine   *engine
	id       component
	policy   coalesce.Policy
	high     uint64 // rx-usecs-high
	interval unit.Nanos
	traffic  *traffic
	last     traffic
	nic      *nic

	samples, highSamples, edgeSamples int
}

// start takes the first sample after phase, which is less than an interval: the test begins somewhere between two samples
// of a card that was idle.
func (m *moderator) start(phase unit.Nanos) {
	m.engine.after(phase, m.id, moderationSample, 0)
}

func (m *moderator) handle(kind, uint16) {
	now := *m.traffic
	s := coalesce.Sample{
		Elapsed:   m.interval,
		RXPackets: now.rx - m.last.rx, TXPackets: now.tx - m.last.tx,
		RXBytes: now.rxBytes - m.last.rxBytes, TXBytes: now.txBytes - m.last.txBytes,
	}
	m.last = now
	d := m.policy.Step(s)
	m.nic.delay = unit.Nanos(d.Usecs) * unit.Microsecond
	m.samples++
	if d.Usecs == m.high && (d.Reason == coalesce.ReasonRXHeavy || d.Reason == coalesce.ReasonTXHeavy || d.Reason == coalesce.ReasonRateHigh) {
		m.highSamples++
	}
	if s.OnEdge() {
		m.edgeSamples++
	}
	m.engine.after(m.interval, m.id, moderationSample, 0)
}
