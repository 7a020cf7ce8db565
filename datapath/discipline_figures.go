package datapath

import (
	"context"
	"math"
	"strconv"
)

// disciplinePredictor predicts senders that share transmit queues: behind a plain lock, or behind mp_ring with a producer
// that drains for all (abdicate off) or a drain task (abdicate on). What the stack takes for a packet at so many senders,
// with its shared caches and hyper-threads, is given by another driver that needs no ring.
type disciplinePredictor struct{ constants *Constants }

func disciplineQuantities() []quantity {
	list := append(micros("ring-lone", "abdicate-lone"),
		quantity{"ring-queue", "Mpps", 0.001, 1000}, quantity{"abdicate-queue", "Mpps", 0.001, 1000}, quantity{"queues", "queues", 1, 1024},
		quantity{"forward-drain", "packets/s", 1, 1e9}, quantity{"forward-bypass", "packets/s", 1, 1e9},
		quantity{"drain-share", "ratio", 0, 1}, quantity{"sleep-share", "ratio", 0, 1})
	for n := 1; n <= maxStackSenders; n *= 2 {
		list = append(list, quantity{stackConstant(n), "Mpps", 0.001, 1000})
	}
	return list
}

// maxStackSenders is the largest number of senders whose stack was measured, in powers of 2.
const maxStackSenders = 128

func stackConstant(senders int) string { return "stack-" + strconv.Itoa(senders) }

func newDisciplinePredictor(c *Constants, _ effort) predictor { return disciplinePredictor{c} }

func (p disciplinePredictor) predict(_ context.Context, f figure) (Estimate, error) {
	switch f.text("step") {
	case "start":
		return exactly(p.constants.value("forward-drain")), nil
	case "two-lines":
		return p.twoLines(), nil
	}
	n, discipline := int(f.number("senders")), TXDiscipline(f.text("discipline"))
	if n < 1 || n > maxStackSenders || n&(n-1) != 0 {
		return Estimate{}, errFigure
	}
	if discipline == PlainLock {
		return exactly(p.constants.value(stackConstant(n))), nil
	}
	if discipline != Ring && discipline != RingAbdicate {
		return Estimate{}, errFigure
	}
	return p.placed(n, discipline), nil
}

// queueRate is Mpps of one queue with so many of n senders: a lone one pays for the ring; several fill the queue up to what
// one consumer drains.
func (p disciplinePredictor) queueRate(n, here int, discipline TXDiscipline) float64 {
	lone, limit := "ring-lone", "ring-queue"
	if discipline == RingAbdicate {
		lone, limit = "abdicate-lone", "abdicate-queue"
	}
	each := float64(n) / p.constants.value(stackConstant(n)) // us of a sender for a packet, its waits for a CPU included
	switch here {
	case 0:
		return 0
	case 1:
		return 1 / (each + p.constants.value(lone))
	}
	return min(float64(here)/each, p.constants.value(limit))
}

// placed is the mean over all ways to hash the flows to queues, with the lowest and highest of DefaultSeeds of them.
func (p disciplinePredictor) placed(n int, discipline TXDiscipline) Estimate {
	queues := int(p.constants.value("queues"))
	e := Estimate{Low: math.Inf(1), High: math.Inf(-1)}
	for here := 0; here <= n; here++ {
		e.Mean += float64(queues) * binomial(n, here, 1/float64(queues)) * p.queueRate(n, here, discipline)
	}
	at := make([]int, queues)
	for seed := range uint64(DefaultSeeds) {
		clear(at)
		hash := newStream(seed+1, "flow hash")
		for range n {
			at[hash.below(uint64(queues))]++
		}
		rate := 0.0
		for _, here := range at {
			rate += p.queueRate(n, here, discipline)
		}
		e.Low, e.High = min(e.Low, rate), max(e.High, rate)
	}
	e.Low, e.High = min(e.Low, e.Mean), max(e.High, e.Mean)
	return e
}

// binomial is the probability of k among n, each with probability p.
func binomial(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// twoLines is forwarding after the two lines are gone that made each transmit contend with the drain task: what the bypass
// run's profile says that they took is given back. How much that is has two readings: the time asleep on the queue's lock
// alone, or all of the drain. The published step starts from the run with a dedicated drain.
func (p disciplinePredictor) twoLines() Estimate {
	c := p.constants
	low := c.value("forward-bypass") / (1 - c.value("sleep-share"))
	high := c.value("forward-bypass") / (1 - c.value("sleep-share") - c.value("drain-share"))
	return Estimate{Mean: (low + high) / 2, Low: low, High: high}
}
