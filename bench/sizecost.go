package bench

import (
	"math"
	"strconv"

	"nettrace/finding"
)

// SizeCost is what an operation (a transaction, or a message of a stream) costs by its size, fitted:
//
//	time(size) = Fixed + PerByte size + PerSegment ceil(size/MSS) + the steps at the cliffs
type SizeCost struct {
	FixedMicros      float64 `json:"fixed_us"`
	PerByteNanos     float64 `json:"per_byte_ns"`
	PerSegmentMicros float64 `json:"per_segment_us"` // 0 where the sizes do not tell it from the cost of bytes
	MSS              int64   `json:"mss"`            // with which segments were counted; 0 without a term for them
	ErrorPercent     float64 `json:"error_percent"`  // root mean square of the relative errors
	Points           int     `json:"points"`
}

// CurveCliff is a step of a curve where the rate falls by more than the size explains, as bench/cliff judges it.
type CurveCliff struct {
	SizeBefore int64    `json:"size_before"`
	SizeAfter  int64    `json:"size_after"`
	RateBefore float64  `json:"rate_before"`
	RateAfter  float64  `json:"rate_after"`
	Expected   float64  `json:"rate_expected"` // least that the size explains
	Loss       float64  `json:"loss"`          // ratio
	StepMicros float64  `json:"step_us"`       // by which an operation takes longer than expected; 0 where the unit does not tell
	MSS        int64    `json:"mss"`           // of which SizeBefore is a multiple, or SizeAfter one byte more; 0 if of none
	Segments   int64    `json:"segments"`      // how many full ones
	Where      string   `json:"where"`         // "4,345 = 3 x 1,448 + 1 (MTU 1500, TCP timestamps)"
	Confidence string   `json:"confidence"`
	Reasons    []string `json:"reasons"`
	Caveats    []string `json:"caveats"`
}

// operationMicros returns the time of one operation of a size at a rate, or the CPU time that it costs where the figure
// is a service demand; 0 where the unit does not tell.
func operationMicros(rateUnit string, rate, size float64) float64 {
	if rate <= 0 {
		return 0
	}
	switch rateUnit {
	case "us/transaction":
		return rate
	case "us/KB":
		return rate * size / 1024
	}
	if rateUnit == transactions || rateUnit == operationsUnit {
		return 1e6 / rate
	}
	if scale, ok := bitScale(rateUnit); ok {
		return size * 8 / (rate * scale)
	}
	if kilobytes := perSecond(rateUnit); kilobytes > 0 {
		return size / 1024 / (rate * kilobytes) * 1e6
	}
	return 0
}

// cliffsOf finds the cliffs of a curve over sizes.
func cliffsOf(points []CurvePoint, along axis) []CurveCliff {
	s := sweep{axis: along}
	for _, p := range points {
		s.steps = append(s.steps, p.runs)
	}
	limits := cliffRule().Resolve(nil)
	cliffs := []CurveCliff{}
	for i := 1; i < len(s.steps); i++ {
		st := s.step(i)
		if st.cliff(limits) {
			cliffs = append(cliffs, st.curveCliff())
		}
	}
	return cliffs
}

func (st step) curveCliff() CurveCliff {
	var f finding.Finding
	st.weigh(&f)
	u := st.before[0].Unit
	c := CurveCliff{SizeBefore: st.sizes[0], SizeAfter: st.sizes[1], RateBefore: st.rates[0], RateAfter: st.rates[1], Expected: st.expected, Loss: st.loss,
		Confidence: f.Confidence.String(), Reasons: append([]string{}, f.Reasons...), Caveats: append([]string{}, f.Caveats...)}
	if took := operationMicros(u, st.rates[1], float64(st.sizes[1])); took > 0 {
		c.StepMicros = took - operationMicros(u, st.expected, float64(st.sizes[1]))
	}
	if m, ok := st.multiple(); ok {
		c.MSS, c.Segments, c.Where = m.mss, m.full, m.text(st.sizes)
	}
	return c
}

// Bounds of a fit: its steps, how many points it has beyond its terms, and the error in percent from which it is none:
// twice what single runs of 10 s differ by, doubled.
const (
	maxFitError  = 25
	maxFitSteps  = 3
	spareResults = 1
)

// fitSizeCost fits the cost of an operation by its size. nil with fewer points than terms, or without a unit of time.
func fitSizeCost(along axis, s *CurveSeries) *SizeCost {
	steps := s.Cliffs[:min(len(s.Cliffs), maxFitSteps)]
	base := 2 + len(steps)
	if len(s.Points) < base+spareResults {
		return nil
	}
	plain, left, ok := sizeTerms(s, steps, 0)
	if !ok {
		return nil
	}
	best := &SizeCost{FixedMicros: plain[0], PerByteNanos: 1e3 * plain[1], Points: len(s.Points)}
	if len(s.Points) > base+1+spareResults {
		for _, segment := range segmentsOf(s.Points[0].runs[0]) {
			c, sum, ok := sizeTerms(s, steps, segment.bytes)
			// A further term has to explain half of what is left, else noise chooses the MSS.
			if ok && sum < left && sum < 0.5*sumWithout(s, steps) && c[len(c)-1] > 0 {
				left = sum
				*best = SizeCost{FixedMicros: c[0], PerByteNanos: 1e3 * c[1], PerSegmentMicros: c[len(c)-1], MSS: segment.bytes, Points: len(s.Points)}
			}
		}
	}
	best.ErrorPercent = 100 * math.Sqrt(left/float64(len(s.Points)))
	if best.ErrorPercent > maxFitError {
		return nil
	}
	return best
}

func sumWithout(s *CurveSeries, steps []CurveCliff) float64 {
	_, left, _ := sizeTerms(s, steps, 0)
	return left
}

// sizeTerms fits fixed cost, bytes, steps and, with an MSS, segments.
func sizeTerms(s *CurveSeries, steps []CurveCliff, mss int64) (c []float64, left float64, ok bool) {
	var rows []terms
	for _, p := range s.Points {
		took := operationMicros(p.runs[0].Unit, p.Mean, p.At)
		if took <= 0 {
			return nil, 0, false
		}
		row := terms{1 / took, p.At / took}
		for _, step := range steps {
			beyond := 0.0
			if p.At > float64(step.SizeBefore) {
				beyond = 1
			}
			row = append(row, beyond/took)
		}
		if mss > 0 {
			row = append(row, math.Ceil(p.At/float64(mss))/took)
		}
		rows = append(rows, row)
	}
	return fitTerms(rows)
}

// segmentsOf are the segment sizes to try for a run: that which its output names, else the usual ones.
func segmentsOf(r *Run) []segmentSize {
	if mss, ok := r.Detail("mss_bytes"); ok && mss >= 1 && mss < 1<<16 {
		return []segmentSize{{int64(mss), "as the output says"}}
	}
	if text, ok := r.Setting("mss"); ok {
		if mss, err := strconv.ParseInt(text, 10, 32); err == nil && mss > 0 && mss < 1<<16 {
			return []segmentSize{{mss, "as the output says"}}
		}
	}
	if len(r.Test) >= 3 && r.Test[:3] == "UDP" {
		return udpSegments[:]
	}
	return tcpSegments[:]
}
