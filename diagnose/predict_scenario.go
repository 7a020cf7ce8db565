package diagnose

import (
	"context"
	"fmt"

	"nettrace/datapath"
	"nettrace/finding"
	"nettrace/unit"
)

// scenarioChange is what a story's first advice comes to on the machine of the published figures of its kind.
type scenarioChange struct {
	workload      string
	before, after string
	measure       string // of the scenario
	recorded      float64
	unit          string
	missing       string // what of the recording the scenario needs and does not have, "" if it has all
}

// streams is how many streams the thread of the map-pages figures sent.
const streams = 16

// scenarioOf returns what can be tried for a cause: the gain is that of a measure, and what it makes of the recorded figure.
func scenarioOf(f *finding.Finding) scenarioChange {
	if f.Rule == "cross/map-lock" {
		return scenarioChange{workload: fmt.Sprintf("stream:1448,%d", streams), before: "dma=per-fragment", after: "dma=per-page", measure: "throughput", recorded: 1, unit: "x the throughput"}
	}
	rate, _ := f.Measure("interrupts_per_second")
	each, _ := f.Measure("packets_per_interrupt")
	c := scenarioChange{workload: fmt.Sprintf("forward:%.0f", rate*each), before: "driver=tagged", after: "driver=tagged-late", measure: "interrupts", recorded: rate, unit: "interrupts/s"}
	if rate*each < 1 {
		c.missing = "the packets for each interrupt are not recorded (/proc/interrupts and ethtool -S before and after)"
	}
	return c
}

// predictScenario runs the workload of a story with and without what is advised.
func predictScenario(ctx context.Context, t trial) ([]*finding.Prediction, string) {
	change := scenarioOf(t.cause)
	if change.missing != "" {
		return nil, change.missing
	}
	before, err := datapath.PredictScenario(ctx, change.workload, []string{change.before})
	if err != nil {
		return nil, err.Error() // a load that the machine of the model cannot take
	}
	after, err := datapath.PredictScenario(ctx, change.workload, []string{change.after})
	if err != nil {
		return nil, err.Error()
	}
	from, to := figureOf(before, change.measure), figureOf(after, change.measure)
	if from.Mean <= 0 || to.Mean <= 0 {
		return nil, "the model's machine does nothing at this load"
	}
	return []*finding.Prediction{around(change.recorded*to.Mean/from.Mean, modelError, change.unit,
		append([]string{fmt.Sprintf("to see it: nettrace replay --workload %s --set %s --against %s", change.workload, change.before, change.after)},
			append(after.Assumptions, fmt.Sprintf("the machine of the published %s figures is another than the recorded one: the gain is its; the interval allows for %s of error on such a machine", after.Machine, unit.Percent(modelError)))...)...)}, ""
}

// figureOf returns a scenario's figure of that name.
func figureOf(s *datapath.Scenario, name string) datapath.Estimate {
	for _, m := range s.Measures {
		if m.Name == name {
			return m.Estimate
		}
	}
	return datapath.Estimate{}
}
