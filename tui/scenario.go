package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/coalesce"
	"nettrace/datapath"
	"nettrace/tcp"
	"nettrace/unit"
)

// scenario is something that the reference datapath can run under other settings, as nettrace replay does.
type scenario struct {
	kind, name, what string
	knobs            []knob
	seeds            int // that a run rests on; 0 where there is no chance in it
	run              func(ctx context.Context, k knobs, seeds int) (outcome, error)
	command          func(k knobs) string
}

// knob is a setting that can be moved.
type knob struct {
	key, doc    string
	values      []string
	at, initial int
}

func (k *knob) value() string { return k.values[k.at] }
func (k *knob) moved() bool   { return k.at != k.initial }

type knobs []knob

func (k knobs) of(key string) string {
	for i := range k {
		if k[i].key == key {
			return k[i].value()
		}
	}
	return ""
}

// changes are the settings that were moved, as the program takes them; those that except names are no settings.
func (k knobs) changes(except ...string) string {
	var list []string
	for i := range k {
		if k[i].moved() && !slices.Contains(except, k[i].key) {
			list = append(list, k[i].key+"="+k[i].value())
		}
	}
	return strings.Join(list, ",")
}

// outcome is what a run gives, and what was recorded of the same.
type outcome struct {
	figures, recorded []figure
	notes             []string
}

// figure is one number of an outcome, or why it is not known.
type figure struct {
	name, unit string
	value      float64
	why        string
}

func (f *figure) text() string {
	if f.why != "" {
		return "-"
	}
	return unit.Format(f.value, f.unit)
}

// asRecorded is the value of a knob that leaves things as they were recorded.
const asRecorded = "recorded"

// newKnob makes a knob of a setting: its choices, or, of a number, powers of two within its range. The initial value is always
// among them.
func newKnob(s datapath.Setting, initial string) knob {
	k := knob{key: s.Key, doc: s.Doc + " (" + s.Values + ")", values: steps(s.Values)}
	if i := slices.Index(k.values, initial); i >= 0 {
		k.at, k.initial = i, i
		return k
	}
	k.insert(initial)
	k.initial = k.at
	return k
}

// insert goes to a value, which takes its place among the others.
func (k *knob) insert(value string) {
	at := slices.Index(k.values, value)
	if at < 0 {
		v, err := strconv.ParseFloat(value, 64)
		at = 0
		for at < len(k.values) && err == nil {
			if w, werr := strconv.ParseFloat(k.values[at], 64); werr == nil && w > v {
				break
			}
			at++
		}
		k.values = slices.Insert(slices.Clone(k.values), at, value)
		if at <= k.initial && k.at != at {
			k.initial++
		}
	}
	k.at = at
}

// steps returns the values of a setting: "on, off" as they are, "0 to 4096 us" as 0, 1, 2, 4 and so on.
func steps(values string) (list []string) {
	low, rest, number := strings.Cut(values, " to ")
	if !number {
		return strings.Split(values, ", ")
	}
	high, _, _ := strings.Cut(rest, " ")
	from, err1 := strconv.ParseFloat(low, 64)
	to, err2 := strconv.ParseFloat(high, 64)
	if err1 != nil || err2 != nil {
		return []string{low}
	}
	if from == 0 {
		list = append(list, "0")
	}
	for v := max(from, 1); v <= to; v *= 2 {
		list = append(list, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return list
}

// scenarios are what can be tried of an incident: benchmark runs of requests and responses, recorded connections, and the
// workloads of published figures.
func scenarios(x *explorer) []scenario {
	list := append(exchangeScenarios(x), recordedScenarios(x)...)
	return append(list, workloadScenarios()...)
}

// maxScenarios bounds how many of each kind are listed.
const maxScenarios = 200

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

// Names of figures that several kinds of scenarios have.
const (
	transactionRate = "transactions/s"
	latencyMean     = "latency, mean"
	cpuTime         = "CPU"
)

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

// workloadScenarios are the workloads of published figures, each with the choice that its model has.
func workloadScenarios() (list []scenario) {
	for _, w := range []struct{ kind, size, sizes, initial, what string }{
		{"stream", "depth", "1 to 16 streams", "8", "bytes received while a driver maps pages under one lock"},
		{"send", "size", "1024 to 1048576 bytes", "65536", "bytes sent by copy, or from the sender's own pages"},
		{"senders", "senders", "1 to 128 senders", "16", "CPUs that send on shared transmit queues"},
		{"forward", "rate", "1000 to 64000 packets/s", "60000", "packets forwarded by a driver with a status block"},
	} {
		choice, ok := datapath.ScenarioChoice(w.kind)
		if !ok {
			continue
		}
		first, _, _ := strings.Cut(choice.Values, ", ")
		s := scenario{kind: "workload", name: w.kind, what: w.what}
		s.knobs = []knob{newKnob(choice, first), newKnob(datapath.Setting{Key: w.size, Values: w.sizes, Doc: "of the workload"}, w.initial)}
		workload := func(k knobs) string {
			if w.kind == "stream" {
				return "stream:65536," + k.of(w.size)
			}
			return w.kind + ":" + k.of(w.size)
		}
		s.run = func(ctx context.Context, k knobs, _ int) (outcome, error) {
			p, err := datapath.PredictScenario(ctx, workload(k), []string{choice.Key + "=" + k.of(choice.Key)})
			if err != nil {
				return outcome{}, err
			}
			out := outcome{notes: p.Assumptions}
			for _, x := range p.Measures {
				out.figures = append(out.figures, figure{name: x.Name, unit: x.Unit, value: x.Estimate.Mean})
			}
			return out, nil
		}
		s.command = func(k knobs) string {
			return commandLine("replay", "--workload", workload(k), "--set", choice.Key+"="+k.of(choice.Key))
		}
		list = append(list, s)
	}
	return list
}
