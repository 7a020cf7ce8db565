package datapath

import (
	"context"
	"fmt"
	"strconv"
)

// receivePredictor predicts a receiver: packets that a hash of their flows spreads over queues, with a ring and a CPU for each
// queue. The busiest one is the limit. No figures are published of it: what a packet costs and how flows lie are given by
// what was recorded, and what follows is arithmetic and, where only the number of flows is known, chance.
type receivePredictor struct{ constants *Constants }

// Most of what a receiver may have.
const (
	maxQueues = 1024
	maxFlows  = 1 << 16
)

func receiveQuantities() []quantity {
	return append(micros("packet"), quantity{"ring", "descriptors", 1, 1 << 16}, quantity{"flows", "flows", 1, maxFlows}, quantity{"busiest", "ratio", 0, 1})
}

func newReceivePredictor(c *Constants, _ effort) predictor { return receivePredictor{c} }

func (p receivePredictor) predict(_ context.Context, f figure) (Estimate, error) {
	rate := f.number("rate")
	queues, err := strconv.Atoi(f.text("queues"))
	if err != nil || queues < 1 || queues > maxQueues || rate < 1 {
		return Estimate{}, fmt.Errorf("%s queues: expected 1 to %d: %w", f.text("queues"), maxQueues, errFigure)
	}
	var of func(share float64) float64
	switch f.text("measure") {
	case "busy":
		of = func(share float64) float64 { return min(1, rate*share*p.constants.value("packet")/1e6) }
	case "capacity":
		of = func(share float64) float64 { return 1e6 / (share * max(p.constants.value("packet"), 1e-3)) }
	case "bridged":
		of = func(share float64) float64 { return p.constants.value("ring") / (rate * share) * 1e6 }
	default:
		return Estimate{}, fmt.Errorf("measure %q: %w", f.text("measure"), errFigure)
	}
	var values []float64
	for _, share := range p.busiest(queues) {
		values = append(values, of(share))
	}
	return estimate(values), nil
}

// busiest is the share of the packets that the busiest queue has: as it was measured, or in each of DefaultSeeds ways in which
// flows of the same rate may be hashed.
func (p receivePredictor) busiest(queues int) (shares []float64) {
	if queues == 1 {
		return []float64{1}
	}
	if measured := p.constants.value("busiest"); measured > 0 {
		return []float64{max(measured, 1/float64(queues))}
	}
	flows := int(p.constants.value("flows"))
	at := make([]int, queues)
	for seed := range uint64(DefaultSeeds) {
		clear(at)
		hash := newStream(seed+1, "flow hash")
		most := 0
		for range flows {
			q := hash.below(uint64(queues))
			at[q]++
			most = max(most, at[q])
		}
		shares = append(shares, float64(most)/float64(flows))
	}
	return shares
}
