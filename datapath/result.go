package datapath

import "nettrace/unit"

// Result is what one run gave.
type Result struct {
	Seed         uint64     `json:"seed"`
	Duration     unit.Nanos `json:"duration_ns"`
	Transactions int64      `json:"transactions"`
	Rate         float64    `json:"transactions_per_second"`
	Latency      Latency    `json:"latency"`
	Interims     []Interim  `json:"interims"` // as netperf -D 0.25 would print them
	Client       HostResult `json:"client"`
	Server       HostResult `json:"server"`
	Events       int64      `json:"events"`
	Hash         uint64     `json:"hash,string"` // of the log of all events
}

// Latency is the time from the start of a request's write to the end of its response's read.
type Latency struct {
	Mean unit.Nanos `json:"mean_ns"`
	P50  unit.Nanos `json:"p50_ns"`
	P90  unit.Nanos `json:"p90_ns"`
	P99  unit.Nanos `json:"p99_ns"`
	Max  unit.Nanos `json:"max_ns"`
}

// HostResult is one host's part.
type HostResult struct {
	Packets             int64   `json:"packets"` // received by the poll, as frames on the wire
	Interrupts          int64   `json:"interrupts"`
	PacketsPerInterrupt float64 `json:"packets_per_interrupt"`
	InterruptsPerSecond float64 `json:"interrupts_per_second"`
	PureACKs            int64   `json:"pure_acks"`    // sent
	Samples             int     `json:"samples"`      // of the moderation policy
	HighSamples         int     `json:"high_samples"` // that took the traffic for bulk and set rx-usecs-high
	EdgeSamples         int     `json:"edge_samples"` // whose counts were so near to 3:2 that the moment of reading decided
	HighShare           float64 `json:"high_share"`
}

func (s *simulation) result(w Workload, seed uint64) Result {
	x := &s.exchange
	return Result{
		Seed: seed, Duration: w.Duration, Transactions: x.transactions, Rate: float64(x.transactions) / w.Duration.Seconds(),
		Latency:  Latency{x.latency.mean(), x.latency.quantile(0.5), x.latency.quantile(0.9), x.latency.quantile(0.99), x.latency.max},
		Interims: x.interims.reports,
		Client:   s.client.result(w.Duration), Server: s.server.result(w.Duration),
		Events: s.engine.events(), Hash: s.engine.hash,
	}
}

func (h *host) result(d unit.Nanos) HostResult {
	r := HostResult{Packets: h.napi.taken, Interrupts: h.nic.interrupts, PureACKs: h.tcp.pureACKs}
	r.PacketsPerInterrupt = ratio(r.Packets, r.Interrupts)
	r.InterruptsPerSecond = float64(r.Interrupts) / d.Seconds()
	if m := h.moderator; m != nil {
		r.Samples, r.HighSamples, r.EdgeSamples = m.samples, m.highSamples, m.edgeSamples
		r.HighShare = ratio(int64(m.highSamples), int64(m.samples))
	}
	return r
}

// ratio is a/b, and 0 where b is.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
