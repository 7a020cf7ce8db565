package coalesce

import (
	"fmt"
	"strings"

	"nettrace/unit"
)

// Moderation are the settings of ethtool -c that policies work with.
type Moderation struct {
	AdaptiveRX  bool
	RXUsecs     uint64 // rx-usecs: longest delay from a packet's arrival to the interrupt
	RXFrames    uint64 // rx-frames: packets that cause the interrupt at once, 0 for no limit
	RXUsecsLow  uint64
	RXUsecsHigh uint64
	PktRateLow  uint64 // packets/s
	PktRateHigh uint64
}

// Sample is the traffic since the last sample, as the driver counts it: mlx4_en counts packets on the wire, before LRO
// and after TSO.
type Sample struct {
	Elapsed   unit.Nanos
	RXPackets uint64
	TXPackets uint64
	RXBytes   uint64
	TXBytes   uint64
}

// Reason says why a policy chose what it chose.
type Reason string

const (
	ReasonFixed     Reason = "fixed"       // not adaptive
	ReasonQuiet     Reason = "quiet"       // fewer packets than it matters for
	ReasonRXHeavy   Reason = "rx-heavy"    // much more received than sent: taken for bulk traffic
	ReasonTXHeavy   Reason = "tx-heavy"    // much more sent than received
	ReasonRateLow   Reason = "rate-low"    // below pkt-rate-low
	ReasonRateHigh  Reason = "rate-high"   // above pkt-rate-high
	ReasonRateRange Reason = "rate-linear" // between the two
)

// Decision is the moderation that a policy sets for the time to come.
type Decision struct {
	RXUsecs uint64
	Reason  Reason
}

// Policy is a driver's interrupt moderation as a state machine: a pure function of its state and the samples.
type Policy interface {
	// Step takes the traffic since the last step.
	Step(Sample) Decision
	// Interval is the time between steps, 0 if the policy never changes.
	Interval() unit.Nanos
}

// PolicyNames returns the names that PolicyByName takes.
func PolicyNames() []string { return []string{"fixed", "mlx4-v1", "mlx4-v2"} }

// PolicyByName returns a policy with the settings.
func PolicyByName(name string, m Moderation) (Policy, error) {
	switch name {
	case "fixed":
		return Fixed{m.RXUsecs}, nil
	case "mlx4-v1":
		return MLX4{Moderation: m}, nil
	case "mlx4-v2":
		return MLX4{Moderation: m, TXExempt: true}, nil
	}
	return nil, fmt.Errorf("%q is no moderation policy; there are %s", name, strings.Join(PolicyNames(), ", "))
}

// Fixed always sets the same time.
type Fixed struct{ RXUsecs uint64 }

// Step implements Policy.
func (f Fixed) Step(Sample) Decision { return Decision{f.RXUsecs, ReasonFixed} }

// Interval implements Policy.
func (f Fixed) Interval() unit.Nanos { return 0 }

// What mlx4_en has as constants (drivers/net/mlx4/mlx4_en.h, Linux 2.6.38).
const (
	mlx4RateThreshold = 7812 // packets/s (10^6/128) above which moderation adapts
	mlx4SmallPacket   = 256  // bytes
	mlx4Interval      = 250 * unit.Millisecond
	maxUsecs          = 1<<16 - 1 // the device's timer has 16 bits
)

// MLX4 is the automatic receive moderation of mlx4_en. In the older form, to about Linux 2.6.37 and in the vendor's
// driver that the adaptive-rx thread measured, either direction with more than 1.5 times the packets of the other counts
// as bulk traffic; in 2.6.38 (TXExempt) a sender of small packets is exempt. The driver runs it in its statistics task,
// every 250 ms, and so reacts up to 250 ms late.
type MLX4 struct {
	Moderation
	TXExempt bool
}

// Interval implements Policy.
func (m MLX4) Interval() unit.Nanos { return mlx4Interval }

// Step implements Policy. The arithmetic is the driver's, in integers: a ratio of exactly 3:2 is balanced.
func (m MLX4) Step(s Sample) Decision {
	if !m.AdaptiveRX {
		return Decision{m.RXUsecs, ReasonFixed}
	}
	if s.Elapsed <= 0 {
		return Decision{m.RXUsecs, ReasonQuiet}
	}
	rate := perSecond(max(s.RXPackets, s.TXPackets), s.Elapsed)
	if rate <= mlx4RateThreshold {
		return Decision{m.RXUsecs, ReasonQuiet}
	}
	rxHeavy, txHeavy := s.RXPackets/3 > s.TXPackets/2, s.TXPackets/3 > s.RXPackets/2
	if s.RXPackets < 1<<62 && s.TXPackets < 1<<62 {
		rxHeavy, txHeavy = 2*s.RXPackets > 3*s.TXPackets, 2*s.TXPackets > 3*s.RXPackets
	}
	switch {
	case m.TXExempt && txHeavy && smallAsDriverTests(s):
		return Decision{m.RXUsecsLow, ReasonTXHeavy}
	case rxHeavy:
		return Decision{m.RXUsecsHigh, ReasonRXHeavy}
	case txHeavy && !m.TXExempt:
		return Decision{m.RXUsecsHigh, ReasonTXHeavy}
	}
	return m.byRate(rate)
}

// smallAsDriverTests is the driver's test for small packets. It divides packets by bytes in integers, where bytes by
// packets was meant, so that it is true of nearly all traffic.
func smallAsDriverTests(s Sample) bool {
	return s.RXBytes == 0 || s.RXPackets/s.RXBytes < mlx4SmallPacket
}

// byRate goes from the low time at pkt-rate-low to the high time at pkt-rate-high, linearly.
func (m MLX4) byRate(rate uint64) Decision {
	switch {
	case rate < m.PktRateLow:
		return Decision{m.RXUsecsLow, ReasonRateLow}
	case rate > m.PktRateHigh || m.PktRateHigh <= m.PktRateLow:
		return Decision{m.RXUsecsHigh, ReasonRateHigh}
	}
	low, high := int64(min(m.RXUsecsLow, maxUsecs)), int64(min(m.RXUsecsHigh, maxUsecs))
	above, span := int64(min(rate-m.PktRateLow, 1<<40)), int64(min(m.PktRateHigh-m.PktRateLow, 1<<40))
	return Decision{uint64(low + above*(high-low)/span), ReasonRateRange}
}

// perSecond returns n in elapsed as a rate, held within the range of the type.
func perSecond(n uint64, elapsed unit.Nanos) uint64 {
	rate := float64(n) * 1e9 / float64(elapsed)
	if rate >= 1<<63 {
		return 1 << 63
	}
	return uint64(rate)
}
