package coalesce

import "nettrace/unit"

// What mlx4_en has as constants (drivers/net/mlx4/mlx4_en.h, Linux 2.6.38 and later).
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
	byWork
}

// Interval implements Policy.
func (m MLX4) Interval() unit.Nanos { return mlx4Interval }

// Step implements Policy. The arithmetic is the driver's, in integers: a ratio of exactly 3:2 is balanced.
func (m MLX4) Step(s Sample) Decision {
	if !m.AdaptiveRX {
		return m.fixed(false)
	}
	if s.Elapsed <= 0 {
		return m.received(m.RXUsecs, ReasonQuiet)
	}
	rate := perSecond(max(s.RXPackets, s.TXPackets), s.Elapsed)
	if rate <= mlx4RateThreshold {
		return m.received(m.RXUsecs, ReasonQuiet)
	}
	rxHeavy, txHeavy := s.heavy()
	switch {
	case m.TXExempt && txHeavy && smallAsDriverTests(s):
		return m.received(m.RXUsecsLow, ReasonTXHeavy)
	case rxHeavy:
		return m.received(m.RXUsecsHigh, ReasonRXHeavy)
	case txHeavy && !m.TXExempt:
		return m.received(m.RXUsecsHigh, ReasonTXHeavy)
	}
	return m.byRate(rate)
}

// heavy reports whether one direction has more than 1.5 times the packets of the other.
func (s Sample) heavy() (rx, tx bool) {
	if s.RXPackets >= 1<<62 || s.TXPackets >= 1<<62 { // no driver counts so far: only without overflow
		return s.RXPackets/3 > s.TXPackets/2, s.TXPackets/3 > s.RXPackets/2
	}
	return 2*s.RXPackets > 3*s.TXPackets, 2*s.TXPackets > 3*s.RXPackets
}

// smallAsDriverTests is the driver's test for small packets. It divides packets by bytes in integers, where bytes by
// packets was meant, so that it is true of nearly all traffic.
func smallAsDriverTests(s Sample) bool {
	return s.RXBytes == 0 || s.RXPackets/s.RXBytes < mlx4SmallPacket
}

// byRate goes from the low time at pkt-rate-low to the high time at pkt-rate-high, linearly.
func (m Moderation) byRate(rate uint64) Decision {
	switch {
	case rate < m.PktRateLow:
		return m.received(m.RXUsecsLow, ReasonRateLow)
	case rate > m.PktRateHigh || m.PktRateHigh <= m.PktRateLow:
		return m.received(m.RXUsecsHigh, ReasonRateHigh)
	}
	low, high := int64(min(m.RXUsecsLow, maxUsecs)), int64(min(m.RXUsecsHigh, maxUsecs))
	above, span := int64(min(rate-m.PktRateLow, 1<<40)), int64(min(m.PktRateHigh-m.PktRateLow, 1<<40))
	return m.received(uint64(low+above*(high-low)/span), ReasonRateRange)
}

// MLX4Ring is mlx4_en's moderation from Linux 3.x on: each receive ring for itself, by its own packets only. A ring that
// is quick enough and has packets large enough goes by its rate, every other gets rx-usecs-low. The driver tells the
// device only if the value changed.
type MLX4Ring struct {
	Moderation // Rings divides the least rate
	byWork
}

// Interval implements Policy.
func (m MLX4Ring) Interval() unit.Nanos { return mlx4Interval }

// Step implements Policy; the sample is of one ring.
func (m MLX4Ring) Step(s Sample) Decision {
	if !m.AdaptiveRX {
		return m.fixed(false)
	}
	if s.Elapsed <= 0 || s.RXPackets == 0 {
		return m.received(m.RXUsecsLow, ReasonQuiet)
	}
	rate := perSecond(s.RXPackets, s.Elapsed)
	switch {
	case rate <= mlx4RateThreshold/m.rings():
		return m.received(m.RXUsecsLow, ReasonQuiet)
	case s.RXBytes/s.RXPackets <= mlx4SmallPacket:
		return m.received(m.RXUsecsLow, ReasonSmall)
	}
	return m.byRate(rate)
}
