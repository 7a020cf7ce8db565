package bench

import (
	"bytes"

	"nettrace/source"
	"nettrace/unit"
)

// series collects the interim results of a run. Where there are more than maxInterim, neighbours are merged, so that it
// stays bounded and keeps its mean.
type series struct {
	points []Interim
	merge  int // how many further ones make one point, as a power of two; 0 or 1: each
	inLast int // how many are in the last point
}

const maxInterim = 4096

// interimWords is the form of an interim result (netlib.c, demo_stream_interval and others): lengths have two decimals
// in 2.5 and three in 2.7; versions before 2.5 end after "seconds".
var interimWords = [...]string{"Interim", "result:", "#", "unit", "over", "#", "seconds", "ending", "at", "#"}

const shortInterim = 7 // words of one without its end time

// interimFit compares words with the form of an interim result.
func interimFit(words []word) (int, verdict) {
	for i, want := range interimWords {
		if i == len(words) {
			return i, more
		}
		text := words[i].text
		switch {
		case want == "#" && kindOf(text) != notNumber, want == "unit" && rateUnit(text) != "", string(text) == want:
		case i == shortInterim:
			return i, taken
		default:
			return i, foreign
		}
	}
	return len(interimWords), taken
}

// interimAt reports whether words begin with an interim result that is there at least up to its length.
func interimAt(words []word) bool {
	n, v := interimFit(words)
	return v == taken || v == more && n >= shortInterim
}

// interimResult takes an interim result.
func (r *netperf) interimResult(words []word) (int, verdict) {
	n, v := interimFit(words)
	switch {
	case v == more && !r.final, v == foreign:
		return 0, v
	case v == more && n >= shortInterim:
		n = shortInterim
	case v == more:
		return 0, foreign
	}
	if r.inside == inCommand {
		r.finishCommand()
	}
	r.inside = inText
	if r.about.unit == "" {
		r.about.unit = rateUnit(words[3].text)
	}
	point := Interim{Rate: number(words[2].text), Length: unit.FromSeconds(number(words[5].text)), Pos: r.pos(words[0])}
	if n > shortInterim {
		point.EndSeconds, point.EndNanos = clock(words[9].text)
	}
	if point.Rate < 0 || point.Length <= 0 {
		r.note("incomplete-row", source.Warning, words[0], "an interim result without a length or with a negative rate; it is left out")
		return n, taken
	}
	if r.interim.add(point) {
		r.note("interim-merged", source.Note, words[0], "more than 4,096 interim results in one run; neighbours are merged, their mean is kept")
	}
	return n, taken
}

// clock reads Unix time with decimals: "1311209347.312".
func clock(text []byte) (seconds int64, below unit.Nanos) {
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	scale := unit.Second
	for _, c := range fraction[:min(len(fraction), 9)] {
		scale /= 10
		below += unit.Nanos(c-'0') * scale
	}
	return count(whole), below
}

// add enters a point and reports whether points were merged to make room.
func (s *series) add(point Interim) (merged bool) {
	if s.inLast > 0 && s.inLast < s.merge {
		last := &s.points[len(s.points)-1]
		*last = join(*last, point)
		s.inLast++
		return false
	}
	if len(s.points) == maxInterim {
		for i := range maxInterim / 2 {
			s.points[i] = join(s.points[2*i], s.points[2*i+1])
		}
		s.points = s.points[:maxInterim/2]
		s.merge, merged = max(2, 2*s.merge), true
	}
	s.points = append(s.points, point)
	s.inLast = 1
	return merged
}

// join makes one point of two that follow each other.
func join(a, b Interim) Interim {
	length := a.Length + b.Length
	a.Rate = (a.Rate*a.Length.Seconds() + b.Rate*b.Length.Seconds()) / length.Seconds()
	a.Length, a.EndSeconds, a.EndNanos = length, b.EndSeconds, b.EndNanos
	a.Bytes, a.Operations = a.Bytes+b.Bytes, a.Operations+b.Operations
	a.Datagrams, a.Lost, a.Jitter = a.Datagrams+b.Datagrams, a.Lost+b.Lost, max(a.Jitter, b.Jitter)
	return a
}

// mean returns the mean rate, weighted by the lengths of the intervals, and their sum.
func (s *series) mean() (rate, seconds float64) {
	sum := 0.0
	for _, p := range s.points {
		sum += p.Rate * p.Length.Seconds()
		seconds += p.Length.Seconds()
	}
	return sum / seconds, seconds
}
