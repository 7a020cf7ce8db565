package datapath

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"nettrace/unit"
)

// DefaultSeeds is how many runs a prediction rests on.
const DefaultSeeds = 20

// maxSeeds bounds the results that are kept.
const maxSeeds = 10000

// Replay is a workload under settings, over several seeds.
type Replay struct {
	Workload    string           `json:"workload"`
	Settings    string           `json:"settings"` // all of them, as Config.Apply takes them
	Rate        Estimate         `json:"transactions_per_second"`
	Latency     LatencyEstimates `json:"latency_ns"`
	Client      HostEstimates    `json:"client"`
	Server      HostEstimates    `json:"server"`
	Assumptions []string         `json:"assumptions"` // what the prediction rests on
	Warnings    []string         `json:"warnings"`    // why it may be no useful answer
	Runs        []Result         `json:"runs"`        // by seed, from 1
}

// LatencyEstimates is Latency over seeds, in ns.
type LatencyEstimates struct {
	Mean Estimate `json:"mean"`
	P50  Estimate `json:"p50"`
	P90  Estimate `json:"p90"`
	P99  Estimate `json:"p99"`
}

// HostEstimates is one host's part over seeds.
type HostEstimates struct {
	PacketsPerInterrupt Estimate `json:"packets_per_interrupt"`
	InterruptsPerSecond Estimate `json:"interrupts_per_second"`
	HighShare           Estimate `json:"high_share"` // of the moderation samples
	EdgeShare           Estimate `json:"edge_share"` // decided by the moment of reading
}

// Seeds simulates the runs with the seeds 1 to n, on all CPUs. It returns an error if the arguments cannot be simulated or
// the context ends.
func Seeds(ctx context.Context, c Config, w Workload, n int) (*Replay, error) {
	if n < 1 || n > maxSeeds {
		return nil, fmt.Errorf("%d seeds: expected 1 to %d", n, maxSeeds)
	}
	if c.Constants == nil {
		frozen, err := FrozenConstants(adaptiveRX)
		if err != nil {
			return nil, err
		}
		c.Constants = frozen
	}
	runs, err := parallel(ctx, n, func(i int) (Result, error) { return Run(c, w, uint64(i+1)) })
	if err != nil {
		return nil, err
	}
	r := &Replay{Workload: w.String(), Settings: c.String(), Runs: runs, Assumptions: assumptions(c, w)}
	r.Rate = r.over(func(x *Result) float64 { return x.Rate })
	r.Latency = LatencyEstimates{
		Mean: r.over(func(x *Result) float64 { return float64(x.Latency.Mean) }),
		P50:  r.over(func(x *Result) float64 { return float64(x.Latency.P50) }),
		P90:  r.over(func(x *Result) float64 { return float64(x.Latency.P90) }),
		P99:  r.over(func(x *Result) float64 { return float64(x.Latency.P99) }),
	}
	r.Client = r.host(func(x *Result) *HostResult { return &x.Client })
	r.Server = r.host(func(x *Result) *HostResult { return &x.Server })
	r.Warnings = r.warnings()
	return r, nil
}

// parallel calls do for 0 to n-1 and returns the results in that order.
func parallel[T any](ctx context.Context, n int, do func(int) (T, error)) ([]T, error) {
	results, errs := make([]T, n), make([]error, n)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				results[i], errs[i] = do(i)
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

func (r *Replay) over(value func(*Result) float64) Estimate {
	values := make([]float64, len(r.Runs))
	for i := range r.Runs {
		values[i] = value(&r.Runs[i])
	}
	return estimate(values)
}

func (r *Replay) host(of func(*Result) *HostResult) HostEstimates {
	return HostEstimates{
		PacketsPerInterrupt: r.over(func(x *Result) float64 { return of(x).PacketsPerInterrupt }),
		InterruptsPerSecond: r.over(func(x *Result) float64 { return of(x).InterruptsPerSecond }),
		HighShare:           r.over(func(x *Result) float64 { return of(x).HighShare }),
		EdgeShare:           r.over(func(x *Result) float64 { return ratio(int64(of(x).EdgeSamples), int64(of(x).Samples)) }),
	}
}

// InterimsAbove is the share of a run's interim reports with a rate above the given one.
func (r *Replay) InterimsAbove(rate float64) Estimate {
	return r.over(func(x *Result) float64 {
		above := 0
		for _, i := range x.Interims {
			if i.Rate > rate {
				above++
			}
		}
		return ratio(int64(above), int64(len(x.Interims)))
	})
}

// Gain is the transaction rate of r as a multiple of that of base, seed by seed as far as both have them.
func (r *Replay) Gain(base *Replay) Estimate {
	var values []float64
	for i := range min(len(r.Runs), len(base.Runs)) {
		if base.Runs[i].Transactions > 0 {
			values = append(values, r.Runs[i].Rate/base.Runs[i].Rate)
		}
	}
	return estimate(values)
}

// edgeWarning is the share of samples on the edge from which on the mean is no useful answer.
const edgeWarning = 0.1

func (r *Replay) warnings() []string {
	warnings := []string{}
	for _, h := range []struct {
		name string
		HostEstimates
	}{{"client", r.Client}, {"server", r.Server}} {
		if h.EdgeShare.Mean > edgeWarning {
			warnings = append(warnings, fmt.Sprintf("%s: in %s of its moderation samples the packet counts are so near to 3:2 that the moment of reading them decides; the rate jumps between samples, and a run's mean is chance",
				h.name, unit.Percent(h.EdgeShare.Mean)))
		}
	}
	return warnings
}

// assumptions lists what a prediction rests on.
func assumptions(c Config, w Workload) []string {
	count := map[Role]int{}
	for _, k := range c.Constants.List() {
		count[k.Role]++
	}
	list := []string{
		fmt.Sprintf("times of the adaptive-rx thread's machines: %d constants given, %d fitted on four of its rates, %d assumed; 1 us more in a transaction is 1.4 %% at 14,000 transactions/s", count[Given], count[Fitted], count[Assumed]),
		"two hosts alike but for their settings, nothing else on the link or the CPUs, no loss",
		"a message of several segments leaves as a TSO burst and, if there is one, a remainder of its own",
	}
	if c.Client.AdaptiveRX || c.Server.AdaptiveRX {
		list = append(list, fmt.Sprintf("moderation by the rule %s, sampled every 250 ms and a tick", c.policies()))
	}
	if w.Depth > 1 {
		list = append(list, "windows large enough for all outstanding requests; no point with several outstanding has been compared with a measurement")
	}
	return list
}

func (c Config) policies() string {
	client, server := c.Client.withDefaults().Policy, c.Server.withDefaults().Policy
	if client == server {
		return client
	}
	return client + " (client) and " + server + " (server)"
}
