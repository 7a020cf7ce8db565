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
	workload      func(*finding.Finding) string // "" if the finding does not tell enough
	before, after string
	measure       string                                                   // of the scenario
	scale         func(f *finding.Finding, gain float64) (float64, string) // what the gain makes of the finding's figure, with its unit
}

// streams is how many streams the thread of the map-pages figures sent.
const streams = 16

// scenarioOf returns what can be tried for a rule.
func scenarioOf(rule string) (scenarioChange, bool) {
	switch rule {
	case "cross/map-lock":
		return scenarioChange{func(*finding.Finding) string { return fmt.Sprintf("stream:1448,%d", streams) }, "dma=per-fragment", "dma=per-page", "throughput",
			func(_ *finding.Finding, gain float64) (float64, string) { return gain, "x the throughput" }}, true
	case "cross/tag-race":
		return scenarioChange{forwarded, "driver=tagged", "driver=tagged-late", "interrupts",
			func(f *finding.Finding, gain float64) (float64, string) {
				rate, _ := f.Measure("interrupts_per_second")
				return rate * gain, "interrupts/s"
			}}, true
	}
	return scenarioChange{}, false
}

// forwarded is the load of a tag race: the packets that its interrupts brought.
func forwarded(f *finding.Finding) string {
	rate, _ := f.Measure("interrupts_per_second")
	each, _ := f.Measure("packets_per_interrupt")
	if rate*each < 1 {
		return ""
	}
	return fmt.Sprintf("forward:%.0f", rate*each)
}

// predictScenario runs the workload of a story with and without what is advised.
func predictScenario(ctx context.Context, f *finding.Finding) *finding.Prediction {
	change, ok := scenarioOf(f.Rule)
	workload := ""
	if ok {
		workload = change.workload(f)
	}
	if workload == "" {
		return nil
	}
	before, err := datapath.PredictScenario(ctx, workload, []string{change.before})
	if err != nil {
		return nil // a load that the machine of the model cannot take: no prediction
	}
	after, err := datapath.PredictScenario(ctx, workload, []string{change.after})
	if err != nil {
		return nil
	}
	from, to := figureOf(before, change.measure), figureOf(after, change.measure)
	if from.Mean <= 0 || to.Mean <= 0 {
		return nil
	}
	value, name := change.scale(f, to.Mean/from.Mean)
	return &finding.Prediction{Value: value, Low: value * (1 - modelError), High: value * (1 + modelError), Unit: name,
		Assumptions: append([]string{fmt.Sprintf("to see it: nettrace replay --workload %s --set %s --against %s", workload, change.before, change.after)},
			append(after.Assumptions, fmt.Sprintf("the machine of the published %s figures is another than the recorded one: the gain is its; the interval allows for %s of error on such a machine", after.Machine, unit.Percent(modelError)))...)}
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
