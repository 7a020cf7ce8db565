package bench

import (
	"cmp"
	"fmt"
	"slices"

	"nettrace/finding"
	"nettrace/unit"
)

// Scaling finds the number of senders from which more of them stop paying.
func Scaling() finding.On[*Results] {
	return finding.On[*Results]{Rule: scalingRule(), Judge: judgeScaling}
}

func scalingRule() finding.Rule {
	return finding.Rule{
		Name:  "bench/scaling",
		Title: "more senders stop paying",
		Method: "Runs of one source that differ in their number of parallel streams only are a curve, if there are four numbers and more. A step to the next number pays if the rate gains at least min-gain of what it would gain in proportion. " +
			"The number behind which no step pays is where scaling stops: a notice, and a warning where the last rate is below the highest by more than fall. " +
			"The Universal Scalability Law is fitted: contention is the share of the work that only one sender can do at a time (a lock, a queue, a CPU, the link itself), coherency what each pair of senders costs each other (cache lines that move from CPU to CPU); with it the rate falls beyond a peak.",
		Params: []finding.Param{
			{Name: "min-gain", Default: 0.1, Unit: "ratio", Doc: "share of a proportional gain that a step must reach: doubling the senders then brings 10 %, twice the spread of single runs (4 to 6 %, model of the published set-up, 40 seeds)"},
			{Name: "fall", Default: 0.05, Unit: "ratio", Doc: "loss against the highest rate from which the finding is a warning: more than single runs differ by"},
		},
		FalsePositives: "A link that is full stops scaling without any fault; compare the rate with the link's. With more streams than CPUs the scheduler is measured as well.",
		References: []string{
			"N. J. Gunther, A simple capacity model of massively parallel transaction systems, CMG 1993",
			"FreeBSD, review of iflib's transmit ring, 2019 (1 to 128 copies of netperf)",
		},
	}
}

// curve is the runs of one test by number of streams, ascending.
type curve struct {
	first  *Run
	steps  [][]*Run
	points []Point
}

// curves finds the curves in runs, in the order of reading.
func curves(runs []Run) []curve {
	var groups [][]*Run
	for i := range runs {
		r := &runs[i]
		if r.Streams < 1 || r.Partial || r.Rate <= 0 {
			continue
		}
		at := slices.IndexFunc(groups, func(g []*Run) bool { return alikeButStreams(g[0], r) })
		if at < 0 {
			groups = append(groups, nil)
			at = len(groups) - 1
		}
		groups[at] = append(groups[at], r)
	}
	var found []curve
	for _, g := range groups {
		c := curve{first: g[0]}
		slices.SortStableFunc(g, func(a, b *Run) int { return cmp.Compare(a.Streams, b.Streams) })
		for i, r := range g {
			if i == 0 || r.Streams != g[i-1].Streams {
				c.steps = append(c.steps, nil)
			}
			last := len(c.steps) - 1
			c.steps[last] = append(c.steps[last], r)
		}
		for _, s := range c.steps {
			c.points = append(c.points, Point{float64(s[0].Streams), meanRate(s)})
		}
		if len(c.points) >= leastSenders {
			found = append(found, c)
		}
	}
	return found
}

func alikeButStreams(a, b *Run) bool {
	other := *b
	other.Streams = a.Streams
	return alike(a, &other) && a.Sizes == b.Sizes
}

func judgeScaling(results *Results, p finding.Params) []finding.Finding {
	var findings []finding.Finding
	for _, c := range curves(results.Runs) {
		if at := c.stops(p["min-gain"]); at >= 0 {
			findings = append(findings, c.finding(at, p))
		}
	}
	return findings
}

// stops returns the point behind which no step pays, -1 if the last one does.
func (c *curve) stops(minGain float64) int {
	at := len(c.points) - 1
	for ; at > 0; at-- {
		a, b := c.points[at-1], c.points[at]
		if b.Rate/a.Rate-1 >= minGain*(b.Senders/a.Senders-1) {
			break
		}
	}
	if at == len(c.points)-1 {
		return -1
	}
	return at
}

func (c *curve) finding(at int, p finding.Params) finding.Finding {
	stop, last := c.points[at], c.points[len(c.points)-1]
	peak := slices.MaxFunc(c.points, func(a, b Point) int { return cmp.Compare(a.Rate, b.Rate) })
	fall := 1 - last.Rate/peak.Rate
	r := c.first
	f := finding.Finding{
		Severity:   finding.Notice,
		Confidence: finding.Medium,
		Reasons:    []string{fmt.Sprintf("%d numbers of streams", len(c.points))},
		Effect:     finding.Effect{Share: fall},
		Subject:    finding.Subject{Kind: "benchmark", Key: "scaling " + r.key() + " " + sizesKey(r.Sizes), Name: r.name()},
		Source:     r.Pos.Source,
		Summary: fmt.Sprintf("%s: more than %s streams do not pay: %s with %s, %s with %s", r.name(), unit.Number(stop.Senders),
			unit.Format(stop.Rate, r.Unit), unit.Number(stop.Senders), unit.Format(last.Rate, r.Unit), unit.Number(last.Senders)),
		Measures: []finding.Measure{
			{Name: "streams_at_stop", Value: stop.Senders}, {Name: "rate_at_stop", Value: stop.Rate, Unit: r.Unit},
			{Name: "rate_max", Value: peak.Rate, Unit: r.Unit}, {Name: "rate_last", Value: last.Rate, Unit: r.Unit},
			{Name: "fall", Value: fall, Unit: "ratio", Threshold: finding.Threshold(p["fall"])},
		},
		Advice: []finding.Advice{
			{Text: "look at what all senders share with that many streams: lock statistics (lockstat, perf lock contention), one transmit queue, one busy CPU (mpstat -P ALL)", Reference: "lock/contention, rss/one-queue"},
		},
		Caveats: []string{"a full link stops scaling as well: compare the rate with the link's"},
	}
	if fall > p["fall"] {
		f.Severity = finding.Warning
	}
	if u, ok := FitUSL(c.points); ok {
		f.Summary += fmt.Sprintf("; fitted contention %s, coherency %s", unit.Percent(u.Contention), unit.Percent(u.Coherency))
		f.Measures = append(f.Measures, finding.Measure{Name: "contention", Value: u.Contention, Unit: "ratio"}, finding.Measure{Name: "coherency", Value: u.Coherency, Unit: "ratio"},
			finding.Measure{Name: "fit", Value: u.Fit, Unit: "ratio"})
	}
	for _, s := range [][]*Run{c.steps[0], c.steps[at], c.steps[len(c.steps)-1]} {
		f.Evidence = append(f.Evidence, finding.At(s[0].Pos, "%d streams: %s", s[0].Streams, unit.Format(s[0].Rate, r.Unit)))
	}
	f.Evidence = inOrder(f.Evidence...)
	return f
}
