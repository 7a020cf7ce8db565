package tcp

import "nettrace/unit"

// busy returns the share of the path's capacity that the epoch, which took so long, made use of; 0 if it is not known.
//
// What comes out of the path as fast as it went in says nothing of its capacity: a sender that spaces its packets, by a
// pacing timer or for lack of data, makes any path look busy. The capacity is believed only once the sender has sent
// faster than it, or the round trip has grown by half, as of a queue.
func (l *limit) busy(took unit.Nanos) float64 {
	const pushes, near = 1.25, 1.5
	e := &l.epoch
	capacity, samples := l.capacity.quantile()
	if samples < 20 || took <= 0 {
		return 0
	}
	queued := e.least > 0 && took > e.least+e.least/2+5*unit.Millisecond
	if float64(e.sent)/took.Seconds() >= pushes*capacity || queued {
		l.pushed = capacity
	}
	if capacity > near*l.pushed || capacity*near < l.pushed {
		return 0
	}
	return float64(l.una-e.una) / took.Seconds() / capacity
}

// classes says what the sendings of the epoch waited for: those that an ACK released, and the others.
func (l *limit) classes(busy float64) (window, self limitClass) {
	e := &l.epoch
	grew := e.before == 0 || float64(e.most) >= growing*float64(e.before)
	near := max(e.most, e.before)-min(e.most, e.before) <= 2*l.seg && e.before > 0
	if !grew {
		if e.stagnant++; e.stagnant >= 2 {
			e.over = true
		}
	} else {
		e.stagnant = 0
	}
	self = limitPaced
	switch {
	case busy >= saturated:
		self = limitBandwidth
	case grew && !e.over: // spread over the round trip, and still doubling
		self = limitSlowStart
	}
	switch {
	case l.small():
		e.flat = 0
		return limitSmall, limitSmall
	case grew && !e.over:
		window = limitSlowStart
	case busy >= saturated:
		window = limitBandwidth
	case e.lossSeen && e.sinceLoss < lossEpochs:
		window = limitCongestion
	default:
		return l.constant(near), self
	}
	e.flat, e.flatTime = 0, 0
	return window, self
}

// small reports whether the writes were small: of the epoch's packets half end a write short. A third is enough where the
// first window (10 segments, RFC 6928) was never exceeded and nothing was lost, as no congestion window was in the way then:
// with Nagle's algorithm small writes leave in full segments and a rest.
func (l *limit) small() bool {
	e := &l.epoch
	const firstWindow = 10
	return e.short > 0 && (2*e.short >= e.sends || 3*e.short >= e.sends && !e.lossSeen && e.most <= firstWindow*l.seg)
}

// nearly says what the epoch's sendings waited for that an ACK released where the receiver's window had room for one or two
// segments. Away from the sender that room is known to a tick of the timestamps only, so that a window which is used up in
// turns seems to have some: it is the receiver's if that was seen for a part of the epoch.
func (l *limit) nearly(window limitClass, took unit.Nanos) limitClass {
	const part = 5
	if used := l.times[limitReceiver] - l.epoch.times[limitReceiver]; used*part >= took {
		return limitReceiver
	}
	return window
}

// constant tells a window of the sender's own, which stays the same for some epochs, from a congestion window.
func (l *limit) constant(near bool) limitClass {
	e := &l.epoch
	if !near {
		e.flat, e.flatTime = 0, 0
		return limitCongestion
	}
	if e.flat < flatEpochs {
		if e.flat++; e.flat < flatEpochs {
			e.flatTime += l.pending[0] + l.pending[2]
			return limitCongestion
		}
		l.times[limitCongestion] -= e.flatTime
		l.times[limitHostWindow] += e.flatTime
		e.flatTime = 0
		if n := l.nIntervals; n > 0 && l.intervals[n-1].class == limitCongestion && l.intervals[n-1].end-l.intervals[n-1].start <= (flatEpochs+1)*e.took {
			l.intervals[n-1].class = limitHostWindow
		}
	}
	return limitHostWindow
}

// doubt makes the time of some classes unknown.
func (l *limit) doubt(classes ...limitClass) {
	for _, class := range classes {
		l.times[limitUnknown] += l.times[class]
		l.times[class] = 0
		for i := range l.intervals[:l.nIntervals] {
			if l.intervals[i].class == class {
				l.intervals[i].class = limitUnknown
			}
		}
	}
}
