package tcp

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
	case grew && !e.over && e.before > 0: // spread over the round trip, and still doubling
		self = limitSlowStart
	}
	switch {
	case 2*e.short >= e.sends && e.short > 0:
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

// constant tells a window of the sender's own, which stays the same for some epochs, from a congestion window.
func (l *limit) constant(near bool) limitClass {
	e := &l.epoch
	if !near {
		e.flat, e.flatTime = 0, 0
		return limitCongestion
	}
	if e.flat < flatEpochs {
		if e.flat++; e.flat < flatEpochs {
			e.flatTime += l.pending[0]
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
