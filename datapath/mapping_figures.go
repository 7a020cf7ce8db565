package datapath

import "context"

// mappingPredictor predicts what mapping for DMA under one lock costs, as a closed queueing network of the threads, the
// CPUs, the lock of each host and the link.
type mappingPredictor struct{ constants *Constants }

func mappingQuantities() []quantity {
	return append(micros("lock-hold", "map", "packet", "round", "acknowledged"),
		quantity{"byte", "ns/B", 0, 1000}, quantity{"cpus", "CPUs", 1, 1024}, quantity{"threads", "threads", 1, 1024},
		quantity{"link-rate", "Gb/s", 0.001, 1000}, quantity{"mss", "B", 88, 65160})
}

func newMappingPredictor(c *Constants, _ effort) predictor { return mappingPredictor{c} }

func (p mappingPredictor) predict(_ context.Context, f figure) (Estimate, error) {
	policy, err := ParseDMAPolicy(f.text("dma"))
	switch {
	case err != nil:
		return Estimate{}, err
	case f.text("workload") == "stream":
		return p.streamed(policy, f)
	case f.number("size") >= 1:
		return exactly(p.exchange(policy, int(f.number("size")))), nil
	}
	return Estimate{}, errFigure
}

// streamed is a figure of a stream: of depth streams, or as many as there are CPUs.
func (p mappingPredictor) streamed(policy DMAPolicy, f figure) (Estimate, error) {
	if depth := f.number("depth"); depth > 0 {
		p.constants = p.constants.with("cpus", min(depth, p.constants.value("cpus")))
	}
	s := p.stream(policy)
	c, pairs := p.constants, float64(policy.receivePairs(int(p.constants.value("mss"))))
	switch f.text("measure") {
	case "", "rate":
		return exactly(s.rate), nil
	case "lock-share":
		return exactly(s.waitShare), nil
	case "packet":
		return exactly(c.value("packet")), nil
	case "map":
		return exactly(pairs * c.value("map")), nil
	case "hold":
		return exactly(2 * pairs * c.value("lock-hold")), nil
	case "wait":
		return exactly(s.wait), nil
	}
	return Estimate{}, errFigure
}

// mappedStream is a bulk stream into one host.
type mappedStream struct {
	rate      float64 // Gb/s of payload
	wait      float64 // us for each packet, for the lock
	waitShare float64 // of the CPUs' time, spent so
}

// stream is what the receiving CPUs take, or the link: each packet takes work outside the lock and two visits for each pair.
func (p mappingPredictor) stream(policy DMAPolicy) mappedStream {
	c := p.constants
	mss := c.value("mss")
	pairs := float64(policy.receivePairs(int(mss)))
	n := network{customers: int(c.value("cpus")), delay: c.value("packet") + pairs*c.value("map"), stations: []station{{demand: 2 * pairs * c.value("lock-hold")}}}
	solved := n.solve()
	line := c.value("link-rate") * mss / (mss + headerBytes + framingBytes)
	rate := solved.rounds * mss * 8 / 1000
	share := solved.waiting[0] * solved.rounds / c.value("cpus")
	return mappedStream{min(rate, line), solved.waiting[0], share * min(1, line/rate)}
}

// exchange is operations/s of threads that write a message of a size and read one of the same size back; a write and a read
// count as one operation each.
func (p mappingPredictor) exchange(policy DMAPolicy, size int) float64 {
	c := p.constants
	mss := int(c.value("mss"))
	s := segment(size, mss)
	packets := s.frames()
	pairs := policy.sendPairs(size)
	for left := size; left > 0; left -= mss {
		pairs += policy.receivePairs(min(left, mss))
	}
	cpu := c.value("byte")*float64(size)/1000 + c.value("packet")*float64(packets-1)
	if packets > 1 { // a pure ACK comes back
		pairs += policy.receivePairs(0)
		cpu += c.value("packet") + c.value("acknowledged")
	}
	cpu += float64(pairs) * c.value("map")
	lock := 2 * float64(pairs) * c.value("lock-hold")
	wire := float64(size+packets*(headerBytes+framingBytes)) * 8 / (1000 * c.value("link-rate"))
	host := station{demand: cpu, servers: int(c.value("cpus"))}
	n := network{int(c.value("threads")), c.value("round"), []station{{demand: lock}, {demand: lock}, {demand: wire}, {demand: wire}, host, host}}
	return 2 * n.solve().rounds * 1e6
}
