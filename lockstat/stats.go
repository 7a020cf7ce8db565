package lockstat

import (
	"cmp"
	"math"
	"slices"

	"nettrace/unit"
)

// Stats is what a lock, a place or a whole table adds up to. Times are sums over threads: one second of two threads is
// two seconds.
type Stats struct {
	Contentions  int64      `json:"contentions"`         // waits; on FreeBSD a wait that first spins and then blocks counts in both tables
	Acquisitions int64      `json:"acquisitions"`        // hold events, or acquisitions; 0 where not recorded
	Wait         unit.Nanos `json:"wait_total_ns"`       // all waiting: spinning, blocked, and where the tool does not tell them apart
	WaitSlack    unit.Nanos `json:"wait_slack_ns"`       // how far the true total may be from Wait, because of rounding in print
	WaitMax      unit.Nanos `json:"wait_max_ns"`         // longest wait; where WaitMaxExact is false it is only known that one was at least that long
	WaitMaxExact bool       `json:"wait_max_exact"`      //
	Spin         unit.Nanos `json:"spin_total_ns"`       // part of Wait that burnt a CPU
	Block        unit.Nanos `json:"block_total_ns"`      // part of Wait in which others could run
	BlockMax     unit.Nanos `json:"block_max_ns"`        // longest wait of that part
	Iterations   int64      `json:"spin_iterations"`     // loops of spinning where the tool counts those; no time
	Hold         unit.Nanos `json:"hold_total_ns"`       //
	HoldMax      unit.Nanos `json:"hold_max_ns"`         //
	Bounces      int64      `json:"bounces"`             // contentions with a holder on another CPU; of raw events: those that got it from another CPU
	WaitersMax   int64      `json:"waiters_max"`         // most threads that waited for one lock at once; 0 where not known
	Waited       unit.Nanos `json:"waited_ns"`           // time in which one thread or more waited, added up over the locks; 0 where not known
	Waits        []Bin      `json:"waits,omitempty"`     // distribution of waits, where it was recorded
	Holds        []Bin      `json:"holds,omitempty"`     // distribution of holds
	SpinBins     []Bin      `json:"spin_bins,omitempty"` // distribution of loop iterations
}

// Bin counts values in [Low, High); both 0 stands for values that are exactly zero.
type Bin struct {
	Low   int64 `json:"low"`
	High  int64 `json:"high"`
	Count int64 `json:"count"`
}

// add takes a row in. Sums and maxima are commutative, so the order of rows is of no account.
func (s *Stats) add(r *Row) {
	s.Contentions = sum(s.Contentions, sum(r.Wait.Count, r.Spins.Count))
	s.Acquisitions = sum(s.Acquisitions, r.Hold.Count)
	s.Wait = sum(s.Wait, r.Wait.Total)
	s.WaitSlack = sum(s.WaitSlack, r.Wait.Slack)
	s.longest(r.Wait.Max, r.Wait.Exact)
	switch r.Act {
	case Spin:
		s.Spin = sum(s.Spin, r.Wait.Total)
	case Block:
		s.Block = sum(s.Block, r.Wait.Total)
		s.BlockMax = max(s.BlockMax, r.Wait.Max)
	case Wait:
		s.Spin = sum(s.Spin, r.Spun)
		if r.Spun > 0 {
			s.Block = sum(s.Block, r.Wait.Total-r.Spun)
		}
	}
	s.Iterations = sum(s.Iterations, int64(r.Spins.Total))
	s.Hold = sum(s.Hold, r.Hold.Total)
	s.HoldMax = max(s.HoldMax, r.Hold.Max)
	s.Bounces = sum(s.Bounces, r.Bounces)
	s.Waits = addBins(s.Waits, r.Wait.Bins)
	s.Holds = addBins(s.Holds, r.Hold.Bins)
	s.SpinBins = addBins(s.SpinBins, r.Spins.Bins)
}

// merge adds what others add up to.
func (s *Stats) merge(o *Stats) {
	s.Contentions, s.Acquisitions = sum(s.Contentions, o.Contentions), sum(s.Acquisitions, o.Acquisitions)
	s.Wait, s.WaitSlack = sum(s.Wait, o.Wait), sum(s.WaitSlack, o.WaitSlack)
	s.longest(o.WaitMax, o.WaitMaxExact)
	s.Spin, s.Block, s.BlockMax = sum(s.Spin, o.Spin), sum(s.Block, o.Block), max(s.BlockMax, o.BlockMax)
	s.WaitersMax, s.Waited = max(s.WaitersMax, o.WaitersMax), sum(s.Waited, o.Waited)
	s.Iterations, s.Bounces = sum(s.Iterations, o.Iterations), sum(s.Bounces, o.Bounces)
	s.Hold, s.HoldMax = sum(s.Hold, o.Hold), max(s.HoldMax, o.HoldMax)
	s.Waits, s.Holds, s.SpinBins = addBins(s.Waits, o.Waits), addBins(s.Holds, o.Holds), addBins(s.SpinBins, o.SpinBins)
}

// longest keeps the larger maximum, and of equal ones the exact.
func (s *Stats) longest(wait unit.Nanos, exact bool) {
	switch {
	case wait > s.WaitMax:
		s.WaitMax, s.WaitMaxExact = wait, exact
	case wait == s.WaitMax:
		s.WaitMaxExact = s.WaitMaxExact || exact
	}
}

// addBins adds distributions; the result is sorted and shares no memory with more.
func addBins(have, more []Bin) []Bin {
	for _, b := range more {
		i, found := slices.BinarySearchFunc(have, b, func(a, b Bin) int { return cmp.Or(cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High)) })
		if found {
			have[i].Count = sum(have[i].Count, b.Count)
		} else {
			have = slices.Insert(have, i, b)
		}
	}
	return have
}

// sum adds numbers that are not negative and stays at the largest instead of overflowing.
func sum[T ~int64](a, b T) T {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// product multiplies numbers that are not negative and stays at the largest instead of overflowing.
func product(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// ratio is a/b, and 0 where b is.
func ratio[A, B ~int64 | ~float64](a A, b B) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
