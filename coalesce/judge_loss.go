package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// What the rules of losses share: what was lost, set against what passed.

// grade turns a share of what passed into a severity; ok is false below the threshold.
func grade(share, notice, warning float64) (s finding.Severity, ok bool) {
	switch {
	case share >= warning:
		return finding.Warning, true
	case share >= notice:
		return finding.Notice, true
	}
	return finding.Info, false
}

// lost is a loss as a finding states it.
type lost struct {
	what    string // "packets"
	delta   uint64
	of      uint64 // that passed and that were lost together; 0 if what passed is not counted
	counter string
	change  Change
	series  *Series
}

func (l lost) share() float64 {
	if l.of == 0 {
		return 0
	}
	return min(1, float64(l.delta)/float64(l.of))
}

// grade is the severity of a loss by its share; where that is not known, a notice.
func (l lost) grade(p finding.Params) (s finding.Severity, ok bool) {
	if l.of == 0 {
		return finding.Notice, l.delta > 0
	}
	return grade(l.share(), p["share"], p["warning-share"])
}

// finding states a loss; the caller adds summary and advice.
func (l lost) finding(subject finding.Subject, threshold float64) finding.Finding {
	f := finding.Finding{Subject: subject}
	f.Confidence, f.Reasons, f.Caveats = l.series.trust()
	f.End = l.series.Span()
	f.Effect.Share = l.share()
	f.Measures = []finding.Measure{{Name: "lost_" + l.what, Value: float64(l.delta), Unit: l.what}}
	if l.of > 0 {
		f.Measures = append(f.Measures, finding.Measure{Name: "lost_share", Value: l.share(), Unit: "ratio", Threshold: finding.Threshold(threshold)})
	}
	if seconds := l.change.Span.Seconds(); seconds > 0 {
		f.Measures = append(f.Measures, finding.Measure{Name: "lost_per_second", Value: float64(l.delta) / seconds, Unit: l.what + "/s"})
	}
	f.Evidence = ends(l.counter, l.change)
	return f
}

// text says how much was lost: "30,000 of 18,030,000 packets (0.17 %, 1,000/s)".
func (l lost) text() string {
	total, share := "", "how many came is not counted"
	if l.of > 0 {
		total, share = "of "+count(l.of)+" ", unit.Percent(l.share())
	}
	s := fmt.Sprintf("%s %s%s (%s", count(l.delta), total, l.what, share)
	if seconds := l.change.Span.Seconds(); seconds > 0 {
		s += ", " + rateText(float64(l.delta)/seconds)
	}
	return s + ")"
}

// lost states what the interface lost at a place, of the packets that it received or lost there.
func (i *Interface) lost(place kernel.LossPlace) (l lost, also []string, ok bool) {
	loss, ok := i.Loss(place)
	if !ok {
		return l, nil, false
	}
	l = lost{what: "packets", delta: loss.Delta, counter: loss.Name, change: loss.change, series: loss.series}
	if received, known := i.received(); known {
		l.of = loss.Delta + received
	}
	return l, loss.Also, true
}

// received returns the packets that the interface received over its series, if they are counted.
func (i *Interface) received() (n uint64, ok bool) {
	if t, ok := i.Traffic(); ok {
		n, _ := sum(t.RX)
		return n, true
	}
	if c := i.kernelCounter("rx_packets"); c != nil {
		return c.Delta, true
	}
	for _, s := range i.Counters {
		if n, _ := sum(s.packets(kernel.RX, false, -1)); n > 0 {
			return n, true
		}
	}
	queues := i.QueueLoad()
	for _, q := range queues {
		n += q.Packets
	}
	return n, len(queues) > 0
}

// alsoText names further counters of the same loss.
func alsoText(f *finding.Finding, also []string) {
	for _, name := range also {
		f.Reasons = append(f.Reasons, name+" rose too: the same packets counted in another place, not more of them")
	}
}

// busyShare returns the share of its time that a CPU spent on softirqs, from /proc/stat, and the row to cite.
func (h *Host) busyShare(cpu int) (share float64, row *CPURow, ok bool) {
	for _, s := range h.tables("proc-stat") {
		var part, all uint64
		for k := range s.Rows {
			r := &s.Rows[k]
			if r.Key == "guest" || r.Key == "guest_nice" { // counted in user and nice
				continue
			}
			for _, c := range r.CPUs {
				if c.CPU != cpu {
					continue
				}
				all += c.Delta
				if r.Key == "softirq" {
					part, row = c.Delta, r
				}
			}
		}
		if len(s.Snapshots) > 1 && all > 0 && row != nil {
			return float64(part) / float64(all), row, true
		}
	}
	return 0, nil, false
}

// row returns a row of a series, or nil.
func (s *CPUSeries) row(key string) *CPURow {
	for k := range s.Rows {
		if s.Rows[k].Key == key {
			return &s.Rows[k]
		}
	}
	return nil
}

// top returns the CPU that counted most in a row and its share; of several the lowest.
func (r *CPURow) top() (cpu int, delta uint64, share float64) {
	for _, c := range r.CPUs {
		if c.Delta > delta {
			cpu, delta = c.CPU, c.Delta
		}
	}
	if r.Delta > 0 {
		share = float64(delta) / float64(r.Delta)
	}
	return cpu, delta, share
}
