package coalesce

import (
	"cmp"
	"fmt"
	"strings"

	"nettrace/unit"
)

// Moderation are the settings of ethtool -c that policies work with.
type Moderation struct {
	AdaptiveRX  bool
	RXUsecs     uint64 // rx-usecs: longest delay from a packet's arrival to the interrupt
	RXFrames    uint64 // rx-frames: packets that cause the interrupt at once, 0 for no limit
	RXUsecsIRQ  uint64 // rx-usecs-irq, rx-frames-irq: the same while an interrupt is serviced; both 0: as otherwise
	RXFramesIRQ uint64
	RXUsecsLow  uint64
	RXUsecsHigh uint64
	PktRateLow  uint64 // packets/s
	PktRateHigh uint64

	AdaptiveTX  bool
	TXUsecs     uint64
	TXFrames    uint64
	TXUsecsIRQ  uint64
	TXFramesIRQ uint64

	Rings uint64 // receive rings of the device, for policies that work by ring; 0 is 1
}

// Sample is the traffic since the last sample, as the driver counts it: mlx4_en counts packets on the wire, before LRO
// and after TSO. Policies that work by ring take the traffic of one.
type Sample struct {
	Elapsed    unit.Nanos `json:"elapsed_ns"`
	RXPackets  uint64     `json:"rx_packets"`
	TXPackets  uint64     `json:"tx_packets"`
	RXBytes    uint64     `json:"rx_bytes"`
	TXBytes    uint64     `json:"tx_bytes"`
	Interrupts uint64     `json:"interrupts"` // 0 where they are not counted
}

// edgePackets is how near to 3:2 two counts have to be, as a difference of their multiples, for the point inside a
// transaction at which they were read to decide: two readings inside a 3:2 transaction differ by up to 6 each.
const edgePackets = 12

// OnEdge reports whether the packets of the two directions are so near to 3:2 that chance decides whether mlx4_en takes
// them for balanced.
func (s Sample) OnEdge() bool {
	const most = 1 << 60
	if s.RXPackets > most || s.TXPackets > most {
		return false
	}
	r, t := int64(s.RXPackets), int64(s.TXPackets)
	near := func(n int64) bool { return -edgePackets <= n && n <= edgePackets }
	return r+t > edgePackets && (near(2*r-3*t) || near(2*t-3*r))
}

// Reason says why a policy chose what it chose.
type Reason string

const (
	ReasonFixed     Reason = "fixed"        // not adaptive
	ReasonQuiet     Reason = "quiet"        // fewer packets than it matters for
	ReasonSmall     Reason = "small"        // packets too small for bulk traffic
	ReasonRXHeavy   Reason = "rx-heavy"     // much more received than sent: taken for bulk traffic
	ReasonTXHeavy   Reason = "tx-heavy"     // much more sent than received
	ReasonRateLow   Reason = "rate-low"     // below pkt-rate-low
	ReasonRateHigh  Reason = "rate-high"    // above pkt-rate-high
	ReasonRateRange Reason = "rate-linear"  // between the two
	ReasonRight     Reason = "going-right"  // net_dim tries longer delays
	ReasonLeft      Reason = "going-left"   // or shorter ones
	ReasonTop       Reason = "on-top"       // or stays while nothing changes
	ReasonTired     Reason = "tired"        // or rests after many tries
	ReasonMeasuring Reason = "not-measured" // the time was too short to compare
)

// Decision is the moderation of one direction that a policy sets for the time to come. Usecs and Frames hold while no
// interrupt is serviced; whichever is reached first causes one.
type Decision struct {
	Usecs     uint64 `json:"usecs"`
	Frames    uint64 `json:"frames"`
	UsecsIRQ  uint64 `json:"usecs_irq"` // both 0: Usecs and Frames hold then too
	FramesIRQ uint64 `json:"frames_irq"`
	Reason    Reason `json:"reason"`
}

// InService returns what holds while an interrupt is serviced.
func (d Decision) InService() (usecs, frames uint64) {
	if d.UsecsIRQ == 0 && d.FramesIRQ == 0 {
		return d.Usecs, d.Frames
	}
	return d.UsecsIRQ, d.FramesIRQ
}

// Poll is what happened while the driver polled, as far as it decides whether interrupts go on at once.
type Poll struct {
	Posted  uint64 // completions that the device made visible since the poll began
	Waiting uint64 // of all that are visible, those that the poll did not take
}

// Policy is a driver's interrupt moderation as a state machine: a pure function of its state and what it is given.
type Policy interface {
	// Step takes the traffic since the last step.
	Step(Sample) Decision
	// Interval is the time between steps, 0 if the policy does not go by time.
	Interval() unit.Nanos
	// Interrupts is the number of them between steps, 0 if the policy does not go by them. A policy that goes by neither
	// never changes.
	Interrupts() uint64
	// Again reports whether the device interrupts again at once when the driver enables its interrupt after a poll.
	Again(Poll) bool
}

// byWork is the part of drivers that find work waiting, or whose device does, when they enable the interrupt.
type byWork struct{}

func (byWork) Again(p Poll) bool  { return p.Waiting > 0 }
func (byWork) Interrupts() uint64 { return 0 }

type policyMaker struct {
	name, doc string
	make      func(Moderation) Policy
	usual     Moderation // the driver's defaults, where ethtool -c is not recorded
	byRing    bool       // the driver runs it for each receive ring
	byRatio   bool       // it compares the directions, and 3:2 is its edge
}

// policies is the table of all.
func policies() []policyMaker {
	mlx4 := Moderation{AdaptiveRX: true, RXUsecs: 16, RXFrames: 44, RXUsecsHigh: 128, PktRateLow: 400000, PktRateHigh: 450000}
	tg3 := Moderation{RXUsecs: 20, RXFrames: 5, RXFramesIRQ: 5, TXUsecs: 72, TXFrames: 53, TXFramesIRQ: 5}
	dim := func(direction string, cqe bool) func(Moderation) Policy {
		return func(m Moderation) Policy { return newNetDIM(m, direction == "tx", cqe) }
	}
	adaptive := Moderation{AdaptiveRX: true, AdaptiveTX: true}
	fixed := func(tx bool) func(Moderation) Policy {
		return func(m Moderation) Policy { return Fixed{Moderation: m, TX: tx} }
	}
	symmetric := func(m Moderation) Policy { return MLX4{Moderation: m} }
	exempt := func(m Moderation) Policy { return MLX4{Moderation: m, TXExempt: true} }
	ring := func(m Moderation) Policy { return MLX4Ring{Moderation: m} }
	byWork := func(m Moderation) Policy { return TG3{Moderation: m} }
	early := func(m Moderation) Policy { return TG3{Moderation: m, EarlyTag: true} }
	return []policyMaker{
		{name: "fixed", make: fixed(false), doc: "rx-usecs and rx-frames, and the -irq values while an interrupt is serviced"},
		{name: "fixed-tx", make: fixed(true), doc: "tx-usecs and tx-frames likewise"},
		{name: "mlx4-v1", make: symmetric, usual: mlx4, byRatio: true, doc: "mlx4_en to about Linux 2.6.37: either direction with more than 1.5 times the packets of the other is bulk"},
		{name: "mlx4-v2", make: exempt, usual: mlx4, byRatio: true, doc: "mlx4_en of Linux 2.6.38: a sender is exempt"},
		{name: "mlx4-v3", make: ring, usual: mlx4, byRing: true, doc: "mlx4_en of Linux 3.x and later: each receive ring by its rate and packet size"},
		{name: "tg3", make: byWork, usual: tg3, doc: "tg3 without tagged status: fixed, and an interrupt again only if work waits"},
		{name: "tg3-tagged", make: early, usual: tg3, doc: "tg3 that reads the status tag before the work: an interrupt again whenever anything came during the poll"},
		{name: "tg3-tagged-late", make: byWork, usual: tg3, doc: "tg3 that reads the tag after the work: again only if work waits"},
		{name: "net-dim", make: dim("rx", false), usual: adaptive, byRing: true, doc: "net_dim for receiving, timer from the last interrupt (EQE)"},
		{name: "net-dim-cqe", make: dim("rx", true), usual: adaptive, byRing: true, doc: "net_dim for receiving, timer from the last completion (CQE)"},
		{name: "net-dim-tx", make: dim("tx", false), usual: adaptive, doc: "net_dim for sending (EQE)"},
		{name: "net-dim-tx-cqe", make: dim("tx", true), usual: adaptive, doc: "net_dim for sending (CQE)"},
	}
}

// PolicyNames returns the names that PolicyByName takes.
func PolicyNames() []string {
	var names []string
	for _, p := range policies() {
		names = append(names, p.name)
	}
	return names
}

// PolicyDoc says in a phrase what a policy does.
func PolicyDoc(name string) string {
	p, _ := policyNamed(name)
	return p.doc
}

// PolicyByName returns a policy with the settings.
func PolicyByName(name string, m Moderation) (Policy, error) {
	p, err := policyNamed(name)
	if err != nil {
		return nil, err
	}
	return p.make(m), nil
}

func policyNamed(name string) (policyMaker, error) {
	for _, p := range policies() {
		if p.name == name {
			return p, nil
		}
	}
	return policyMaker{}, fmt.Errorf("%q is no moderation policy; there are %s", name, strings.Join(PolicyNames(), ", "))
}

// Fixed always sets the same: what ethtool -c shows with adaptive moderation off.
type Fixed struct {
	Moderation
	TX bool // for sending
	byWork
}

// Step implements Policy.
func (f Fixed) Step(Sample) Decision { return f.fixed(f.TX) }

// Interval implements Policy.
func (f Fixed) Interval() unit.Nanos { return 0 }

// fixed is the decision of settings that do not adapt.
func (m Moderation) fixed(tx bool) Decision {
	if tx {
		return Decision{m.TXUsecs, m.TXFrames, m.TXUsecsIRQ, m.TXFramesIRQ, ReasonFixed}
	}
	return Decision{m.RXUsecs, m.RXFrames, m.RXUsecsIRQ, m.RXFramesIRQ, ReasonFixed}
}

// received is a decision of adaptive receive moderation: only the time adapts.
func (m Moderation) received(usecs uint64, why Reason) Decision {
	d := m.fixed(false)
	d.Usecs, d.Reason = usecs, why
	return d
}

func (m Moderation) rings() uint64 { return cmp.Or(m.Rings, 1) }

// perSecond returns n in elapsed as a rate, held within the range of the type.
func perSecond(n uint64, elapsed unit.Nanos) uint64 {
	rate := float64(n) * 1e9 / float64(elapsed)
	if rate >= 1<<63 {
		return 1 << 63
	}
	return uint64(rate)
}
