package coalesce

import (
	"math"

	"nettrace/unit"
)

// dimInterrupts is how many interrupts net_dim measures over (DIM_NEVENTS).
const dimInterrupts = 64

// dimProfile is one of net_dim's settings.
type dimProfile struct{ usecs, frames uint64 }

const dimProfiles = 5

// dimTable returns the profiles of a direction and a mode, from the shortest delay to the longest
// (Linux lib/dim/net_dim.c, to 6.10 the only ones; since 6.11 a device's can be set over netlink).
func dimTable(tx, cqe bool) [dimProfiles]dimProfile {
	switch {
	case tx && cqe:
		return [dimProfiles]dimProfile{{5, 128}, {8, 64}, {16, 32}, {32, 32}, {64, 32}}
	case tx:
		return [dimProfiles]dimProfile{{1, 128}, {8, 128}, {32, 128}, {64, 128}, {128, 128}}
	case cqe:
		return [dimProfiles]dimProfile{{2, 256}, {8, 128}, {16, 64}, {32, 64}, {64, 64}}
	default:
		return [dimProfiles]dimProfile{{1, 256}, {8, 256}, {64, 256}, {128, 256}, {256, 256}}
	}
}

// NetDIM is the kernel's generic dynamic interrupt moderation (Linux lib/dim/net_dim.c and dim.c), of one ring and one
// direction. It climbs: as long as a step to another profile made things better it goes on, and turns when it did not.
// It stays where a single step back followed several forward, or at an end, until the traffic changes; after ten
// steps without such a place it rests for as many measurements.
type NetDIM struct {
	moderation Moderation
	tx         bool
	table      [dimProfiles]dimProfile
	byWork

	profile               int
	state                 Reason
	stepsLeft, stepsRight int // since the last turn that way
	tired                 int
	previous              dimRates
}

// dimRates are a measurement: bytes, packets and interrupts for each millisecond, rounded up.
type dimRates struct{ bytes, packets, interrupts uint64 }

func newNetDIM(m Moderation, tx, cqe bool) *NetDIM {
	return &NetDIM{moderation: m, tx: tx, table: dimTable(tx, cqe), profile: 1, state: ReasonTop}
}

// Interval implements Policy.
func (d *NetDIM) Interval() unit.Nanos { return 0 }

// Interrupts implements Policy.
func (d *NetDIM) Interrupts() uint64 { return dimInterrupts }

// Profile returns the number of the profile in force, from 0.
func (d *NetDIM) Profile() int { return d.profile }

// Step implements Policy. The sample is of 64 interrupts; where it does not count them, it is taken to be.
func (d *NetDIM) Step(s Sample) Decision {
	adaptive := d.moderation.AdaptiveRX
	if d.tx {
		adaptive = d.moderation.AdaptiveTX
	}
	if !adaptive {
		return d.moderation.fixed(d.tx)
	}
	now, ok := d.measure(s)
	if !ok {
		return d.decision(ReasonMeasuring)
	}
	before := d.state
	d.decide(now)
	if before != ReasonTop || d.state != ReasonTop { // while it stays, it compares with what it found when it came
		d.previous = now
	}
	return d.decision(d.state)
}

func (d *NetDIM) decision(why Reason) Decision {
	p := d.table[d.profile]
	return Decision{Usecs: p.usecs, Frames: p.frames, Reason: why}
}

func (d *NetDIM) measure(s Sample) (r dimRates, ok bool) {
	us := uint64(max(0, s.Elapsed) / unit.Microsecond)
	if us == 0 {
		return r, false
	}
	packets, bytes, interrupts := s.RXPackets, s.RXBytes, s.Interrupts
	if d.tx {
		packets, bytes = s.TXPackets, s.TXBytes
	}
	if interrupts == 0 {
		interrupts = dimInterrupts
	}
	return dimRates{perMilli(bytes, us), perMilli(packets, us), perMilli(interrupts, us)}, true
}

func perMilli(n, us uint64) uint64 {
	if n > math.MaxUint64/1000-us {
		return n / us * 1000
	}
	return (n*1000 + us - 1) / us
}

// decide is net_dim_decision.
func (d *NetDIM) decide(now dimRates) {
	switch d.state {
	case ReasonTop:
		if now.compare(d.previous) != same {
			d.leave()
		}
	case ReasonTired:
		if d.tired--; d.tired == 0 {
			d.leave()
		}
	default:
		d.climb(now)
	}
}

// climb goes on, turns, or stays.
func (d *NetDIM) climb(now dimRates) {
	if now.compare(d.previous) != better {
		d.turn()
	}
	if d.onTop() {
		d.park(ReasonTop)
		return
	}
	switch d.step() {
	case onEdge:
		d.park(ReasonTop)
	case tooTired:
		d.park(ReasonTired)
	}
}

func (d *NetDIM) turn() {
	if d.state == ReasonRight {
		d.state, d.stepsLeft = ReasonLeft, 0
	} else {
		d.state, d.stepsRight = ReasonRight, 0
	}
}

// onTop reports that several steps one way were followed by a single one back: the place between is the best.
func (d *NetDIM) onTop() bool {
	if d.state == ReasonRight {
		return d.stepsLeft > 1 && d.stepsRight == 1
	}
	return d.stepsRight > 1 && d.stepsLeft == 1
}

func (d *NetDIM) park(state Reason) {
	d.stepsLeft, d.stepsRight, d.state = 0, 0, state
	if state == ReasonTop {
		d.tired = 0
	}
}

// leave begins to climb again.
func (d *NetDIM) leave() {
	d.state = ReasonLeft
	if d.profile == 0 {
		d.state = ReasonRight
	}
	d.step()
}

type stepResult int

const (
	stepped stepResult = iota
	onEdge
	tooTired
)

func (d *NetDIM) step() stepResult {
	switch {
	case d.tired == 2*dimProfiles:
		return tooTired
	case d.state == ReasonRight:
		if d.profile == dimProfiles-1 {
			return onEdge
		}
		d.profile++
		d.stepsRight++
	case d.state == ReasonLeft:
		if d.profile == 0 {
			return onEdge
		}
		d.profile--
		d.stepsLeft++
	}
	d.tired++
	return stepped
}

type comparison int

const (
	same comparison = iota
	better
	worse
)

// compare sets a measurement against the one before: more bytes are better, else more packets, else fewer interrupts; a
// difference of 10 % or less does not count.
func (r dimRates) compare(before dimRates) comparison {
	switch {
	case before.bytes == 0:
		return betterIf(r.bytes > 0)
	case differs(r.bytes, before.bytes):
		return betterElseWorse(r.bytes > before.bytes)
	case before.packets == 0:
		return betterIf(r.packets > 0)
	case differs(r.packets, before.packets):
		return betterElseWorse(r.packets > before.packets)
	case before.interrupts > 0 && differs(r.interrupts, before.interrupts):
		return betterElseWorse(r.interrupts < before.interrupts)
	}
	return same
}

func betterIf(is bool) comparison {
	if is {
		return better
	}
	return same
}

func betterElseWorse(is bool) comparison {
	if is {
		return better
	}
	return worse
}

// differs is the kernel's test, in integers: more than 10 whole percent.
func differs(value, reference uint64) bool {
	gap := max(value, reference) - min(value, reference)
	if gap > math.MaxUint64/100 {
		return gap/reference > 0
	}
	return 100*gap/reference > 10
}
