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

// moderator runs a driver's moderation policy: every so often, or after so many interrupts, it gives the policy the traffic
// since the last time, and sets the card's delay and frames to what the policy says.
type moderator struct {
	engine   *engine
	id       component
	policy   coalesce.Policy
	high     uint64 // rx-usecs-high
	interval unit.Nanos
	traffic  *traffic
	last     traffic
	nic      *nic

	taken   unit.Nanos // when the last sample was
	counts  int64      // interrupts by then
	samples int

	highSamples, edgeSamples int
}

// start takes the first sample after phase, which is less than an interval: the test begins somewhere between two samples
// of a card that was idle.
func (m *moderator) start(phase unit.Nanos) {
	m.engine.after(phase, m.id, moderationSample, 0)
}

func (m *moderator) handle(kind, uint16) {
	m.take(m.interval)
	m.engine.after(m.interval, m.id, moderationSample, 0)
}

// counted takes a sample if the policy goes by interrupts and there were enough.
func (m *moderator) counted(interrupts int64) {
	if interrupts-m.counts >= int64(m.policy.Interrupts()) {
		m.take(m.engine.now - m.taken)
		m.counts = interrupts
	}
}

func (m *moderator) take(elapsed unit.Nanos) {
	now := *m.traffic
	s := coalesce.Sample{
		Elapsed:   elapsed,
		RXPackets: now.rx - m.last.rx, TXPackets: now.tx - m.last.tx,
		RXBytes: now.rxBytes - m.last.rxBytes, TXBytes: now.txBytes - m.last.txBytes,
		Interrupts: uint64(m.nic.interrupts - m.counts),
	}
	m.last, m.taken = now, m.engine.now
	d := m.policy.Step(s)
	m.nic.delay, m.nic.limit = unit.Nanos(d.Usecs)*unit.Microsecond, int(min(d.Frames, maxFrames))
	m.samples++
	if d.Usecs == m.high && (d.Reason == coalesce.ReasonRXHeavy || d.Reason == coalesce.ReasonTXHeavy || d.Reason == coalesce.ReasonRateHigh) {
		m.highSamples++
	}
	if s.OnEdge() {
		m.edgeSamples++
	}
}

// moderate puts the settings of a host's card into it, with what adapts them; phase is when a policy that goes by time takes
// its first sample. It returns nil if nothing does.
func (n *nic) moderate(g *engine, settings NIC, t *traffic, phase func(unit.Nanos) unit.Nanos) (*moderator, error) {
	policy, err := settings.policy()
	if err != nil {
		return nil, err
	}
	n.delay, n.limit = unit.Nanos(settings.RXUsecs)*unit.Microsecond, int(settings.RXFrames)
	n.early = policy.Again(coalesce.Poll{Posted: 1})
	interval := settings.interval(policy)
	if interval == 0 && !(settings.AdaptiveRX && policy.Interrupts() > 0) {
		return nil, nil
	}
	m := &moderator{engine: g, policy: policy, high: settings.RXUsecsHigh, interval: interval, traffic: t, nic: n}
	if interval == 0 {
		n.sampler = m
		return m, nil
	}
	m.id = g.add(m)
	m.start(phase(interval))
	return m, nil
}
