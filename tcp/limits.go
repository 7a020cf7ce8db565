package tcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"nettrace/unit"
)

// limitNames are public.
var limitNames = [limitClasses]string{
	"unknown", "handshake", "idle", "peer", "small-writes", "nagle", "last-flight", "receiver-window", "delayed-ack", "loss", "timeout", "bandwidth", "congestion-window", "slow-start", "own-window", "paced", "closing",
}

// LimitTimes is how long each class kept a direction from sending. They add up to the life of the connection, to the
// nanosecond. In JSON it is an object with the names of the classes.
type LimitTimes [limitClasses]unit.Nanos

func (t *LimitTimes) add(b *LimitTimes) {
	for i := range t {
		t[i] += b[i]
	}
}

// Of returns the time of the class of that name.
func (t *LimitTimes) Of(name string) unit.Nanos {
	if i := slices.Index(limitNames[:], name); i >= 0 {
		return t[i]
	}
	return 0
}

// LimitNames returns the names of the classes.
func LimitNames() []string { return slices.Clone(limitNames[:]) }

// Largest returns the name of the class with the most time, without what comes before the first data and behind the last;
// "" if there is none.
func (t *LimitTimes) Largest() string {
	name, most := "", unit.Nanos(0)
	for i, took := range t {
		switch limitClass(i) {
		case limitHandshake, limitLastFlight, limitClosing:
			continue
		}
		if took > most {
			name, most = limitNames[i], took
		}
	}
	return name
}

// MarshalJSON writes the classes that there are, in a fixed order.
func (t LimitTimes) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, took := range t {
		if took != 0 {
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, "%q:%d", limitNames[i], int64(took))
		}
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *LimitTimes) UnmarshalJSON(text []byte) error {
	var times map[string]unit.Nanos
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&times); err != nil {
		return err
	}
	for i, name := range limitNames {
		t[i] = times[name]
	}
	return nil
}

// Limit says more of what kept one direction from sending.
type Limit struct {
	Epochs          int64           `json:"epochs"`                       // round trips of data
	Capacity        float64         `json:"capacity_bytes_per_s"`         // of the path behind its bottleneck, by dispersion; 0 if unknown
	CapacitySamples int64           `json:"capacity_samples"`             // that it rests on
	Remote          bool            `json:"remote,omitempty"`             // captured away from the sender, whose time line was recovered
	Timestamps      bool            `json:"timestamps,omitempty"`         // by its timestamps
	Queued          unit.Nanos      `json:"queued_ns,omitempty"`          // of bandwidth: with round trips above the shortest by a quarter and more
	SelfClocked     unit.Nanos      `json:"self_clocked_ns,omitempty"`    // of bandwidth: not released by ACKs
	BottleneckFull  unit.Nanos      `json:"bottleneck_full_ns,omitempty"` // of receiver-window: with the path busy and queued as well
	Growth          Growth          `json:"growth,omitzero"`
	Intervals       []LimitInterval `json:"intervals"` // in order; neighbours are joined where there would be too many
	Longest         []LimitGap      `json:"longest"`   // gap of each class
}

// LimitInterval is a time most of which went to one class.
type LimitInterval struct {
	Class string     `json:"class"`
	Start unit.Nanos `json:"start_ns"`
	End   unit.Nanos `json:"end_ns"`
	Bytes int64      `json:"bytes"` // acknowledged in it
}

// LimitGap is the longest silence of a class, by the packet that ended it.
type LimitGap struct {
	Class  string     `json:"class"`
	Record int64      `json:"record"`
	Offset int64      `json:"offset"`
	Time   unit.Nanos `json:"took_ns"`
}

func (l *limit) summary() *Limit {
	if l == nil {
		return nil
	}
	s := &Limit{Epochs: int64(l.epoch.count), Remote: l.remote, Timestamps: l.clock.set && l.clock.tick > 0, Queued: l.queued, SelfClocked: l.selfClocked, BottleneckFull: l.full, Growth: l.growth, Intervals: []LimitInterval{}, Longest: []LimitGap{}}
	if rate, n := l.capacity.quantile(); n >= 20 {
		s.Capacity, s.CapacitySamples = rate, int64(n)
	}
	for _, x := range l.intervals[:l.nIntervals] {
		s.Intervals = append(s.Intervals, LimitInterval{limitNames[x.class], x.start, x.end, int64(x.bytes)})
	}
	for class, g := range l.longest {
		if g.record > 0 {
			s.Longest = append(s.Longest, LimitGap{limitNames[class], g.record, g.offset, g.took})
		}
	}
	return s
}
