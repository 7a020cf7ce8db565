package bench

import (
	"fmt"
	"slices"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// CPUCost finds changes after which a unit of work costs more CPU time than the rate gains.
func CPUCost() finding.On[*Results] {
	return finding.On[*Results]{Rule: cpuCostRule(), Judge: judgeCPUCost}
}

func cpuCostRule() finding.Rule {
	return finding.Rule{
		Name:  "bench/cpu-cost",
		Title: "a change costs more CPU time for each byte or transaction than it gains in rate",
		Method: "Service demand, the CPU time for each KB or transaction, is compared before and after a change as bench/difference compares rates, on each host. " +
			"A proven rise of min-rise and more, and by a larger factor than the rate rises, is a finding: a machine whose CPUs are the limit gets slower by it.",
		Params: []finding.Param{
			{Name: "min-rise", Default: 0.05, Unit: "ratio", Doc: "least rise of the cost; single runs of 10 s repeat within 4 to 6 % (model of the published set-up, 40 seeds)"},
		},
		FalsePositives: "netperf measures all CPU time of the host, also that of others; an idle host that polls or runs at a lower frequency changes its cost without any change in work. " +
			"A rate that is bound by the link rises by nothing, so that each rise of the cost counts.",
		References: []string{"netperf manual, CPU Utilization (service demand)", "tg3, April 2005: packets for each interrupt and CPU utilisation of the same runs"},
	}
}

// costSides are the figures of cost, with the host that pays.
var costSides = [...]struct{ figure, host string }{{"local CPU cost", "local"}, {"remote CPU cost", "remote"}}

func judgeCPUCost(results *Results, p finding.Params) []finding.Finding {
	var findings []finding.Finding
	for _, pair := range beforeAndAfter(results.Runs) {
		list := Compare(pair.sets[:], CompareOptions{}).Comparisons
		for _, side := range costSides {
			for _, cost := range list {
				test, isCost := strings.CutSuffix(cost.Name, ", "+side.figure)
				at := slices.IndexFunc(list, func(c Comparison) bool { return c.Name == test })
				if !isCost || at < 0 || cost.Test == "none" {
					continue
				}
				rise, gain := ratioOf(cost), ratioOf(list[at])
				if cost.Significant && rise-1 >= p["min-rise"] && rise > gain {
					findings = append(findings, pair.dearer(list[at], cost, side.host, p))
				}
			}
		}
	}
	return findings
}

// isCost reports whether a comparison is of a cost, which bench/cpu-cost judges.
func isCost(c Comparison) bool {
	return slices.ContainsFunc(costSides[:], func(side struct{ figure, host string }) bool { return strings.HasSuffix(c.Name, side.figure) })
}

// ratioOf is the mean after over the mean before.
func ratioOf(c Comparison) float64 { return 1 + c.DifferencePercent/100 }

// dearer makes the finding about a host whose work costs more.
func (b beforeAfter) dearer(rate, cost Comparison, host string, p finding.Params) finding.Finding {
	rise, gain := ratioOf(cost)-1, ratioOf(rate)-1
	name := strings.TrimSpace(b.group + " " + rate.Name)
	gained := fmt.Sprintf("the rate changes by %+.3g %%", 100*gain)
	if !rate.Significant {
		gained = "no change of the rate is proven"
	}
	confidence, reasons := confidenceIn(cost)
	return finding.Finding{
		Severity:   finding.Warning,
		Confidence: confidence,
		Reasons:    reasons,
		Effect:     finding.Effect{Share: rise / (1 + rise)},
		Subject:    finding.Subject{Kind: "benchmark", Key: "cpu-cost " + host + " " + name, Name: name},
		Summary: fmt.Sprintf("%s: %s CPU time rises from %s to %s (%+.3g %% +/- %.2g %%) between before and after, and %s (%d and %d runs, %g %% confidence)",
			name, host, unit.Format(cost.Mean[0], cost.Unit), unit.Format(cost.Mean[1], cost.Unit), cost.DifferencePercent, cost.MarginPercent, gained, cost.N[0], cost.N[1], cost.Confidence),
		Measures: []finding.Measure{
			{Name: "cost_before", Value: cost.Mean[0], Unit: cost.Unit}, {Name: "cost_after", Value: cost.Mean[1], Unit: cost.Unit},
			{Name: "cost_rise", Value: rise, Unit: "ratio", Threshold: finding.Threshold(max(gain, p["min-rise"]))}, {Name: "rate_gain", Value: gain, Unit: "ratio"},
			{Name: "rate_before", Value: rate.Mean[0], Unit: rate.Unit}, {Name: "rate_after", Value: rate.Mean[1], Unit: rate.Unit},
		},
		Evidence: b.evidence(rate),
		Advice: []finding.Advice{
			{Text: "sample the stacks of the " + host + " host before and after (perf record -a -g -- sleep 10) and compare them", Reference: "nettrace flame"},
			{Text: "compare packets for each interrupt on both sides: nettrace analyze with /proc/interrupts and ethtool -S before and after", Reference: "tg3, April 2005"},
		},
		Caveats: append(slices.Clone(cost.Notes), "CPU time of other work on the host counts as well"),
	}
}
