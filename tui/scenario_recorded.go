package tui

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/datapath"
	"nettrace/tcp"
	"nettrace/unit"
)

// recordedScenarios are the connections of captures that carried data.
func recordedScenarios(x *explorer) (list []scenario) {
	for _, c := range x.result.Models.Captures {
		load := sync.OnceValues(func() ([]*datapath.Recording, error) {
			r, _, err := analyze.Recordings(x.library.ctx, c.Source, analyze.Options{})
			return r, err
		})
		for i := range c.Connections {
			n := &c.Connections[i]
			if n.Directions[0].Bytes+n.Directions[1].Bytes > 0 && len(list) < maxScenarios {
				list = append(list, recordedScenario(x, c, n, load))
			}
		}
	}
	return list
}

func recordedScenario(x *explorer, c *tcp.Capture, n *tcp.Connection, load func() ([]*datapath.Recording, error)) scenario {
	s := scenario{kind: "recorded", name: fmt.Sprintf("connection %d of %s", n.Number, clean(x.names[c.Source])), what: clean(n.Name())}
	for _, p := range datapath.PlaybackSettings() {
		k := knob{key: p.Key, doc: p.Doc + " (" + p.Values + ")", values: append([]string{asRecorded}, steps(p.Values)...)}
		s.knobs = append(s.knobs, k)
	}
	s.knobs = append(s.knobs, knob{key: "nic", doc: "a card with this driver's interrupt moderation in both hosts", values: append([]string{asRecorded, "mlx4"}, coalesce.PolicyNames()...)})
	for _, p := range datapath.Settings() {
		if p.Key != "policy" { // that is the card
			s.knobs = append(s.knobs, knob{key: p.Key, doc: "of that card: " + p.Doc + " (" + p.Values + ")", values: append([]string{asRecorded}, steps(p.Values)...)})
		}
	}
	s.run = func(_ context.Context, k knobs, _ int) (outcome, error) {
		recordings, err := load()
		if err != nil {
			return outcome{}, err
		}
		i := slices.IndexFunc(recordings, func(r *datapath.Recording) bool { return r.Number == n.Number })
		if i < 0 {
			return outcome{}, fmt.Errorf("the connection is beyond what replay keeps of a capture")
		}
		var nic *datapath.NIC
		if name := k.of("nic"); name != asRecorded {
			if nic, err = datapath.NICByName(name); err != nil {
				return outcome{}, err
			}
		}
		p, err := recordings[i].Play(nic, k.changes("nic"))
		if err != nil {
			return outcome{}, err
		}
		now := p.Baseline
		if p.Changed != nil {
			now = *p.Changed
		}
		return outcome{trafficFigures(&now), trafficFigures(&p.Recorded), append(slices.Clone(p.Warnings), p.Assumptions...)}, nil
	}
	s.command = func(k knobs) string {
		words := []string{c.Source, "--connection", fmt.Sprint(n.Number)}
		if name := k.of("nic"); name != asRecorded {
			words = append(words, "--nic", name)
		}
		if changes := k.changes("nic"); changes != "" {
			words = append(words, "--set", changes)
		}
		return commandLine("replay", words...)
	}
	return s
}

func trafficFigures(t *datapath.Traffic) []figure {
	rate := figure{name: transactionRate, why: "no request was answered"}
	if t.Exchanges > 0 && t.Duration > 0 {
		rate = figure{name: transactionRate, value: float64(t.Exchanges) / t.Duration.Seconds()}
	}
	count := func(name string, n int) figure { return figure{name: name, value: float64(n)} }
	time := func(name string, v unit.Nanos) figure { return figure{name: name, unit: "ns", value: float64(v)} }
	return []figure{
		rate, time("latency, p50", t.ExchangeP50), time("latency, longest", t.ExchangeMax), time("duration", t.Duration),
		count("packets", t.Packets), count("on the wire", t.WirePackets), count("pure ACKs", t.PureACKs), count("advancing ACKs", t.AdvancingACKs),
		{name: "packets/interrupt", why: "a capture does not tell interrupts, and its replay counts none"},
		{name: cpuTime, why: "a capture does not tell CPU time; the workloads stream and send have a model of it"},
	}
}
