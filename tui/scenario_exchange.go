package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/datapath"
	"nettrace/unit"
)

// exchangeScenarios are the request/response runs of benchmarks, or the thread's if there are none.
func exchangeScenarios(x *explorer) (list []scenario) {
	base, from := moderation(x.result)
	for _, r := range exchanges(x.result.Models.Runs) {
		s := exchangeScenario(base, r.w, recordedExchange(x.result, r))
		s.what = fmt.Sprintf("%s, %s transactions/s recorded; settings %s", r.tool, unit.Number(r.rate), from)
		list = append(list, s)
	}
	if len(list) == 0 {
		s := exchangeScenario(base, datapath.Workload{Request: 4345, Response: 1, Depth: 1}, nil)
		s.what = "requests and responses over two hosts; settings " + from
		list = append(list, s)
	}
	return list
}

// moderation returns the recorded settings of receive moderation, or those of the adaptive-rx thread.
func moderation(r *analyze.Result) (datapath.Config, string) {
	for _, h := range r.Models.Hosts {
		for _, i := range h.Interfaces {
			if m, ok := i.Moderation(); ok {
				c := datapath.Config{Client: datapath.NIC{Moderation: m}, Server: datapath.NIC{Moderation: m}}
				if c.Check() == nil {
					return c, "of " + clean(i.Name) + " on both hosts"
				}
			}
		}
	}
	return datapath.Thread(), "of the adaptive-rx thread"
}

// exchange is what benchmarks say of one size of requests and responses.
type exchange struct {
	w    datapath.Workload
	tool string
	rate float64
}

func exchanges(runs []bench.Run) (list []exchange) {
	counts := map[datapath.Workload]int{}
	for i := range runs {
		r := &runs[i]
		w := datapath.Workload{Request: int(r.Sizes.Request), Response: int(r.Sizes.Response), Depth: 1}
		if r.Unit != "transactions/s" || w.Request < 1 || w.Response < 1 || r.Streams > 1 || len(list) == maxScenarios {
			continue
		}
		n := counts[w]
		counts[w]++
		if n == 0 {
			list = append(list, exchange{w, clean(strings.TrimSpace(r.Tool + " " + r.Test)), r.Rate})
			continue
		}
		for k := range list {
			if list[k].w == w {
				list[k].rate += (r.Rate - list[k].rate) / float64(n+1)
			}
		}
	}
	return list
}

// recordedExchange is what was recorded of an exchange: its rate, and what counters of the same run say.
func recordedExchange(r *analyze.Result, e exchange) []figure {
	list := []figure{{name: transactionRate, unit: "", value: e.rate}, {name: latencyMean, unit: "ns", value: 1e9 / e.rate}}
	for _, h := range r.Models.Hosts {
		if x := h.Exchange; x == nil || int(x.RequestBytes) != e.w.Request || int(x.ResponseBytes) != e.w.Response {
			continue
		}
		side := "client"
		if h.Peer {
			side = "server"
		}
		for _, i := range h.Figures(false).Interfaces {
			if i.PacketsPerInterrupt != nil {
				list = append(list, figure{name: "packets/interrupt, " + side, value: *i.PacketsPerInterrupt})
			}
			if i.InterruptsPerSecond != nil {
				list = append(list, figure{name: "interrupts/s, " + side, value: *i.InterruptsPerSecond})
			}
		}
	}
	return list
}

func exchangeScenario(base datapath.Config, w datapath.Workload, recorded []figure) scenario {
	s := scenario{kind: "exchange", name: w.String(), seeds: datapath.DefaultSeeds}
	size := func(key, unit, doc string, initial, most int) {
		s.knobs = append(s.knobs, newKnob(datapath.Setting{Key: key, Values: fmt.Sprintf("1 to %d %s", most, unit), Doc: doc}, fmt.Sprint(initial)))
	}
	values := map[string]string{}
	for item := range strings.SplitSeq(base.String(), ",") {
		key, value, _ := strings.Cut(item, "=")
		values[key] = value
	}
	for _, k := range datapath.Settings() {
		s.knobs = append(s.knobs, newKnob(k, values[k.Key]))
	}
	size("request", "bytes", "length of a request", w.Request, datapath.MaxMessage)
	size("response", "bytes", "length of a response", w.Response, datapath.MaxMessage)
	size("depth", "requests", "how many are outstanding", max(w.Depth, 1), datapath.MaxDepth)
	sizes := []string{"request", "response", "depth"}
	workload := func(k knobs) string {
		return "rr:" + k.of("request") + "," + k.of("response") + "," + k.of("depth")
	}
	s.run = func(ctx context.Context, k knobs, seeds int) (outcome, error) {
		c := base
		if changes := k.changes(sizes...); changes != "" {
			if err := c.Apply(changes); err != nil {
				return outcome{}, err
			}
		}
		w, err := datapath.ParseWorkload(workload(k))
		if err != nil {
			return outcome{}, err
		}
		r, err := datapath.Seeds(ctx, c, w, seeds)
		if err != nil {
			return outcome{}, err
		}
		return outcome{exchangeFigures(r), recorded, append(slices.Clone(r.Warnings), r.Assumptions...)}, nil
	}
	s.command = func(k knobs) string {
		words := []string{"--workload", workload(k)}
		if own := notOf(datapath.Thread(), base); own != "" {
			words = append(words, "--set", own)
		}
		if changes := k.changes(sizes...); changes != "" {
			words = append(words, "--against", changes)
		}
		return commandLine("replay", words...)
	}
	return s
}

// notOf lists the settings of c that are not those of usual.
func notOf(usual, c datapath.Config) string {
	known := strings.Split(usual.String(), ",")
	own := slices.DeleteFunc(strings.Split(c.String(), ","), func(s string) bool { return slices.Contains(known, s) })
	return strings.Join(own, ",")
}

func exchangeFigures(r *datapath.Replay) []figure {
	list := []figure{
		{name: transactionRate, value: r.Rate.Mean},
		{name: latencyMean, unit: "ns", value: r.Latency.Mean.Mean},
		{name: "latency, p50", unit: "ns", value: r.Latency.P50.Mean},
		{name: "latency, p90", unit: "ns", value: r.Latency.P90.Mean},
		{name: "latency, p99", unit: "ns", value: r.Latency.P99.Mean},
	}
	for i, h := range []*datapath.HostEstimates{&r.Client, &r.Server} {
		side := []string{"client", "server"}[i]
		list = append(list, figure{name: "packets/interrupt, " + side, value: h.PacketsPerInterrupt.Mean}, figure{name: "interrupts/s, " + side, value: h.InterruptsPerSecond.Mean},
			figure{name: "taken for bulk, " + side, unit: "ratio", value: h.HighShare.Mean})
	}
	return append(list, figure{name: cpuTime, why: "the model of exchanges has no CPU time; the workloads stream and send have"})
}
