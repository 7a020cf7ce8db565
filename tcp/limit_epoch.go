package tcp

import (
	"math"

	"nettrace/pcap"
	"nettrace/unit"
)

// epoch is one round trip of data.
type epoch struct {
	start          unit.Nanos
	end, una       uint64 // it ends when end is acknowledged; una is where it began
	most, before   uint64 // bytes in flight at most, in this one and the one before
	sends, short   uint32 // packets on the wire, and those that end a write short
	sent           uint64 // payload bytes
	count          uint32
	flat, stagnant uint8
	sinceLoss      uint8
	lossSeen, over bool // slow start is over
	flatTime       unit.Nanos
	took, least    unit.Nanos               // the last one's length, and the shortest
	times          [limitClasses]unit.Nanos // as the limit's, when it began
}

type interval struct {
	start, end unit.Nanos
	bytes      uint64 // acknowledged
	class      limitClass
}

// sentNow notes what the sending leaves behind.
func (l *limit) sentNow(d *direction, s *segment, now unit.Nanos) {
	e := &l.epoch
	if l.una >= e.end {
		l.close(now)
	}
	flight := l.nxt - min(l.nxt, l.una)
	e.most = max(e.most, flight)
	e.sends += uint32(s.wire)
	e.sent += uint64(s.header.Payload)
	if s.header.Flags&pcap.PSH != 0 && s.header.Payload%s.size != 0 {
		e.short++
	}
	if l.inFlight = flight > 0; l.inFlight {
		l.empty = none
	}
	l.shut = l.edge > 0 && l.nxt+l.seg > l.edge
	l.near = l.remote && l.edge > 0 && l.nxt+3*l.seg > l.edge
	l.opened = none
}

// close ends the epoch: now that its rate and growth are known, it is known what its sendings waited for.
func (l *limit) close(now unit.Nanos) {
	e := &l.epoch
	took := now - e.start
	busy, inflated := l.busy(took), e.least > 0 && took > e.least+e.least/4+unit.Millisecond
	window, self := l.classes(busy)
	if self == limitBandwidth {
		l.selfClocked += l.pending[1]
	}
	if busy >= saturated && inflated {
		if window == limitBandwidth {
			l.queued += l.pending[0]
		}
		l.full += l.times[limitReceiver] - e.times[limitReceiver]
	}
	for i, class := range [...]limitClass{window, self, l.nearly(window, took)} {
		l.times[class] += l.pending[i]
		if l.worst[i].took > l.longest[class].took {
			l.longest[class] = l.worst[i]
		}
	}
	l.pending, l.worst = [3]unit.Nanos{}, [3]gap{}
	l.interval(now)
	if took > 0 && l.una > e.una {
		e.took = took
		if e.least == 0 || took < e.least {
			e.least = took
		}
	}
	if !e.lossSeen {
		l.growth.note(e.count, e.most)
	}
	if e.count++; e.count%64 == 0 {
		l.capacity.halve()
	}
	e.sinceLoss = uint8(min(int(e.sinceLoss)+1, math.MaxUint8))
	e.start, e.una, e.end, e.before, e.most, e.sends, e.short, e.sent, e.times = now, l.una, l.nxt, e.most, 0, 0, 0, 0, l.times
}

// interval notes the class that had most of the epoch. When there is no room, the shortest interval joins its neighbour.
func (l *limit) interval(now unit.Nanos) {
	class, most := limitUnknown, unit.Nanos(0)
	for k := range l.times {
		if took := l.times[k] - l.epoch.times[k]; took > most && limitClass(k) != limitLastFlight {
			class, most = limitClass(k), took
		}
	}
	if most == 0 {
		return
	}
	if n := int(l.nIntervals); n > 0 && l.intervals[n-1].class == class {
		l.intervals[n-1].end = now
		l.intervals[n-1].bytes += l.una - l.epoch.una
		return
	}
	if int(l.nIntervals) == len(l.intervals) {
		l.join()
	}
	l.intervals[l.nIntervals] = interval{l.epoch.start, now, l.una - l.epoch.una, class}
	l.nIntervals++
}

func (l *limit) join() {
	list := l.intervals[:l.nIntervals]
	least := 1
	for i := 1; i < len(list); i++ {
		if list[i].end-list[i].start < list[least].end-list[least].start {
			least = i
		}
	}
	list[least-1].end = list[least].end
	list[least-1].bytes += list[least].bytes
	l.nIntervals = uint8(len(list) - 1)
	copy(list[least:], list[least+1:])
}
