package datapath

import "nettrace/unit"

// Interim is one interim report of a benchmark.
type Interim struct {
	Rate   float64    `json:"transactions_per_second"`
	Length unit.Nanos `json:"length_ns"`
	End    unit.Nanos `json:"end_ns"` // since the start of the run
}

// netperf -D 0.25 in its omni tests (netperf 2.5, src/nettest_omni.c and nettest_bsd.c).
const (
	interimInterval = 250 * unit.Millisecond
	interimUnits    = 100 // transactions before the first look at the clock
)

// interims reproduces netperf's interim reports: it looks at the clock only after as many transactions as should fill the
// interval at the rate seen last, and reports if the interval is over. So reports come late when the rate falls, and never
// early.
type interims struct {
	reports []Interim
	units   int64 // transactions since the last report
	wanted  int64 // transactions at which to look at the clock
	since   unit.Nanos
}

func (r *interims) transaction(now unit.Nanos) {
	r.units++
	if r.units < r.wanted {
		return
	}
	length := now - r.since
	r.wanted = max(1, int64(float64(r.wanted)*float64(interimInterval)/float64(max(length, 1))))
	if length < interimInterval {
		return
	}
	r.reports = append(r.reports, Interim{Rate: float64(r.units) / length.Seconds(), Length: length, End: now})
	r.units, r.since = 0, now
}
