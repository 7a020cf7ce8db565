package tui

import (
	"context"
	"strings"

	"nettrace/datapath"
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

// scenarios are what can be tried of an incident: benchmark runs of requests and responses, recorded connections, and the
// workloads of published figures.
func scenarios(x *explorer) []scenario {
	list := append(exchangeScenarios(x), recordedScenarios(x)...)
	return append(list, workloadScenarios()...)
}

// maxScenarios bounds how many of each kind are listed.
const maxScenarios = 200

// Names of figures that several kinds of scenarios have.
const (
	transactionRate = "transactions/s"
	latencyMean     = "latency, mean"
	cpuTime         = "CPU"
)

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
