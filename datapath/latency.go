package datapath

import (
	"math/bits"

	"nettrace/unit"
)

// latencies is a distribution of times as a log-linear table: 64 steps to the octave, so that a quantile is within 0.8 %.
type latencies struct {
	steps [(maxOctave - stepBits + 2) << stepBits]uint32
	count int64
	sum   unit.Nanos
	max   unit.Nanos
}

const (
	stepBits  = 6
	maxOctave = 42 // times up to 2^42 ns, more than an hour
)

func (l *latencies) add(v unit.Nanos) {
	l.steps[stepOf(uint64(v))]++
	l.count++
	l.sum += v
	l.max = max(l.max, v)
}

// stepOf returns the step of a time: times below 64 ns have one each.
func stepOf(v uint64) int {
	octave := bits.Len64(v)
	if octave <= stepBits {
		return int(v)
	}
	octave = min(octave, maxOctave)
	shift := octave - stepBits - 1
	return min((shift+1)<<stepBits+int(v>>shift)-1<<stepBits, (shift+2)<<stepBits-1)
}

// middle returns the time in the middle of a step.
func middle(step int) unit.Nanos {
	if step < 1<<stepBits {
		return unit.Nanos(step)
	}
	shift := step>>stepBits - 1
	low := uint64(step&(1<<stepBits-1)+1<<stepBits) << shift
	return unit.Nanos(low + (1<<shift)/2)
}

// mean returns the mean; 0 if there is none.
func (l *latencies) mean() unit.Nanos { return l.sum / unit.Nanos(max(l.count, 1)) }

// quantile returns the time below which a share q of all lie; 0 if there is none.
func (l *latencies) quantile(q float64) unit.Nanos {
	rank, seen := int64(q*float64(l.count)), int64(0)
	for i, n := range l.steps {
		if seen += int64(n); seen > rank {
			return min(middle(i), l.max)
		}
	}
	return l.max
}
