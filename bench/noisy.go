package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nettrace/finding"
	"nettrace/unit"
)

// Noisy finds runs, and repetitions of one run, that have no single rate.
func Noisy() finding.On[*Results] {
	return finding.On[*Results]{Rule: noisyRule(), Judge: judgeNoise}
}

func noisyRule() finding.Rule {
	return finding.Rule{
		Name:  "bench/noisy",
		Title: "a result is the mean of several rates, or of a beginning and a steady rest",
		Method: "The interim results of a run (netperf -D), or the results of a run that was repeated, are values weighted by the length of their intervals. " +
			"A series that is steady but for its first values (at most a fifth) is called transient. Otherwise the values are cut into the two groups that explain most of their variance; " +
			"the series is bimodal if the widest gap between values is more than half of their range, or if, with enough values, the groups explain nearly all of the variance, and if each group holds three values and its share of the time. " +
			"The rate of a mode is where its values are densest. A bimodal series that changes its mode only once is called a shift. A series that is none of these and whose neighbours are far apart again and again flaps. " +
			"Of a list of numbers the order is not known to be that of time: only its modes are looked for.",
		Params: []finding.Param{
			{Name: "min-points", Default: 6, Unit: "values", Doc: "least length of a series; below six not even a median has a 95 % interval (benchstat)"},
			{Name: "many-points", Default: 20, Unit: "values", Doc: "from how many on the explained share counts; 20 normal values reach 0.82 in 1 of 100 draws (simulated, 1,000 draws)"},
			{Name: "explained", Default: 0.85, Unit: "ratio", Doc: "share of the variance that two groups must explain; even spread explains 0.75, one normal mode 0.64, the published series of 4,344 bytes 0.865"},
			{Name: "gap", Default: 0.5, Unit: "ratio", Doc: "gap between the groups as a share of the range; of 6 normal values with three on each side 3 % have one, of 10 0.3 % (simulated, 4,000 draws)"},
			{Name: "mode-ratio", Default: 1.25, Unit: "ratio", Doc: "least factor between the modes, or between a beginning and the rest; runs of 10 s repeat within 4 to 6 % (model of the published set-up, 40 seeds)"},
			{Name: "mode-share", Default: 0.15, Unit: "ratio", Doc: "least share of the time in each mode"},
			{Name: "flap-ratio", Default: 1.5, Unit: "ratio", Doc: "factor between neighbours that counts as a jump; the published series with unchanged settings jumps so between adaptive moderation's samples"},
			{Name: "flap-share", Default: 0.33, Unit: "ratio", Doc: "least share of such steps; of normal values that spread by 20 % a fifth jumps so"},
			{Name: "steady-spread", Default: 0.1, Unit: "ratio", Doc: "standard deviation below which a series counts as steady, as a share of its mean; twice the spread of repeated runs"},
			{Name: "costly", Default: 0.1, Unit: "ratio", Doc: "loss against the better mode from which the finding is a warning"},
		},
		FalsePositives: "A test that shares its CPUs with others, or a virtual machine, is noisy without any fault of the network. Evenly spread values of wide range are called bimodal now and then (about 1 of 15 series of 20). " +
			"netperf reports when a count of units is reached, so intervals get longer when the rate falls: hence the weights. A mode much shorter than an interval is averaged away. ministat and benchstat do not look for modes.",
		References: []string{
			"N. Otsu, A threshold selection method from gray-level histograms, IEEE Trans. SMC 9 (1979)",
			"D. R. Bickel, R. Frühwirth, On a fast, robust estimator of the mode, Comput. Stat. Data Anal. 50 (2006)",
			"netdev, July 2011: Just one more byte, it is wafer thin (interim series of 4,344 and 4,345 bytes)",
			"netperf manual, section Global Options, -D",
		},
	}
}

func limitsOf(p finding.Params) limits {
	return limits{
		points: int(p["min-points"]), manyPoints: int(p["many-points"]), ratio: p["mode-ratio"], share: p["mode-share"], explained: p["explained"],
		gap: p["gap"], flapRatio: p["flap-ratio"], flapShare: p["flap-share"], steadySpread: p["steady-spread"],
	}
}

func judgeNoise(results *Results, p finding.Params) []finding.Finding {
	var findings []finding.Finding
	l := limitsOf(p)
	for i := range results.Runs {
		run := &results.Runs[i]
		pattern := recognise(run.series(), len(run.Values) == 0, l)
		if pattern.kind != steady {
			findings = append(findings, noise([]*Run{run}, pattern, p["costly"]))
		}
	}
	for _, runs := range repeated(results.Runs) {
		pattern := recognise(values(runs), runs[0].Tool != "numbers", l)
		if pattern.kind != steady {
			findings = append(findings, noise(runs, pattern, p["costly"]))
		}
	}
	return findings
}

// series returns the interim results, or the values of a long column, as weighted values.
func (r *Run) series() []weighted {
	var s []weighted
	for _, i := range r.Interim {
		s = append(s, weighted{i.Rate, i.Length.Seconds()})
	}
	values, step := r.Values, 1+len(r.Values)/modesLookedFor
	if step > 1 {
		values = slices.Sorted(slices.Values(values)) // so that those that are taken stand for all, whatever repeats in the list
	}
	for i := 0; i < len(values); i += step {
		s = append(s, weighted{values[i], 1})
	}
	return s
}

// values returns the rates of repeated runs, each of the weight 1.
func values(runs []*Run) []weighted {
	var s []weighted
	for _, r := range runs {
		s = append(s, weighted{r.Rate, 1})
	}
	return s
}

// noise makes the finding about one run's series, or about several runs.
func noise(runs []*Run, p pattern, costly float64) finding.Finding {
	run := runs[0]
	cost := 0.0
	if p.kind != transient && p.best > 0 {
		cost = max(0, 1-p.mean/p.best)
	}
	f := finding.Finding{
		Severity:   finding.Notice,
		Confidence: finding.Medium,
		Effect:     finding.Effect{Share: cost},
		Subject:    finding.Subject{Kind: "benchmark", Key: run.key() + " " + sizesKey(run.Sizes), Name: run.name()},
		Source:     run.Pos.Source,
		Summary:    run.name() + " " + p.sentence(run, len(runs)),
		Measures:   append(p.measures(run.Unit), sizeMeasure(run)...),
		Advice:     noiseAdvice(run, p),
	}
	for _, r := range runs {
		f.Effect.Lost += unit.FromSeconds(cost * r.Seconds)
	}
	switch {
	case p.kind == transient:
		f.Severity = finding.Info
	case cost >= costly:
		f.Severity = finding.Warning
	}
	if p.values >= 20 {
		f.Confidence = finding.High
	}
	f.Reasons = []string{fmt.Sprintf("%d values", p.values)}
	f.Evidence = noiseEvidence(runs, p)
	f.Caveats = []string{"other load on either host, or a virtual machine's lost CPU time, looks the same"}
	return f
}

// sentence says what the series looks like; it follows the run's name.
func (p pattern) sentence(run *Run, runs int) string {
	printed := fmt.Sprintf("the printed %s is their mean", unit.Number(run.Rate))
	switch {
	case !p.ordered:
		n := p.values
		if run.Summary != nil {
			n = run.Summary.N // of a long column only some values are looked at
		}
		return fmt.Sprintf("is bimodal: %s of the values are about %s and %s about %s; the mean of the %s values, %s, is none of them",
			unit.Percent(p.high.share), about3(p.high.rate), unit.Percent(p.low.share), about3(p.low.rate), unit.Count(int64(n)), unit.Number(p.mean))
	case runs > 1:
		printed = fmt.Sprintf("the mean of the %d runs, %s, is none of them", runs, unit.Number(p.mean))
	case run.Partial:
		printed = fmt.Sprintf("their mean is %s", unit.Number(run.Rate))
	}
	u := ""
	if run.Unit != "" {
		u = " " + run.Unit
	}
	switch p.kind {
	case transient:
		return fmt.Sprintf("is steady at %s%s after a transient of %s at %s: the mean of all, %s, is %s off the steady rate",
			unit.Number(p.restMean), u, valuesText(p.lead), unit.Number(p.leadMean), unit.Number(p.mean), unit.Percent(math.Abs(p.mean/p.restMean-1)))
	case bimodal:
		return fmt.Sprintf("is bimodal: about %s%s in %s of the time and about %s in %s, changing %d times; %s",
			about3(p.high.rate), u, unit.Percent(p.high.share), about3(p.low.rate), unit.Percent(p.low.share), p.changes, printed)
	case shifted:
		return fmt.Sprintf("moves once between two rates, about %s%s in %s of the time and about %s in %s; %s",
			about3(p.high.rate), u, unit.Percent(p.high.share), about3(p.low.rate), unit.Percent(p.low.share), printed)
	default:
		return fmt.Sprintf("flaps: %d times neighbouring values differ more than the jump that is allowed; %s%s is reached, the mean is %s",
			p.changes, about3(p.best), u, unit.Number(p.mean))
	}
}

func valuesText(n int) string {
	if n == 1 {
		return "one value"
	}
	return unit.Count(int64(n)) + " values"
}

// about3 prints a rate with three significant digits: "14,500".
func about3(v float64) string {
	if v <= 0 || math.IsInf(v, 0) {
		return unit.Number(v)
	}
	step := math.Pow(10, math.Floor(math.Log10(v))-2)
	return unit.Number(math.Round(v/step) * step)
}

func (p pattern) measures(u string) []finding.Measure {
	m := []finding.Measure{{Name: "mean", Value: p.mean, Unit: u}}
	switch p.kind {
	case transient:
		return append(m, finding.Measure{Name: "steady_rate", Value: p.restMean, Unit: u}, finding.Measure{Name: "transient_rate", Value: p.leadMean, Unit: u},
			finding.Measure{Name: "transient_values", Value: float64(p.lead)})
	case bimodal, shifted:
		m = append(m, finding.Measure{Name: "high_mode", Value: p.high.rate, Unit: u}, finding.Measure{Name: "high_share", Value: p.high.share, Unit: "ratio"},
			finding.Measure{Name: "low_mode", Value: p.low.rate, Unit: u}, finding.Measure{Name: "low_share", Value: p.low.share, Unit: "ratio"})
		if p.ordered {
			m = append(m, finding.Measure{Name: "changes", Value: float64(p.changes)})
		}
		return m
	default:
		return append(m, finding.Measure{Name: "reached", Value: p.best, Unit: u}, finding.Measure{Name: "changes", Value: float64(p.changes)})
	}
}

// noiseEvidence cites the extremes and the result.
func noiseEvidence(runs []*Run, p pattern) []finding.Evidence {
	if len(runs) > 1 {
		low, high := runs[0], runs[0]
		for _, r := range runs {
			if r.Rate < low.Rate {
				low = r
			}
			if r.Rate > high.Rate {
				high = r
			}
		}
		return inOrder(
			finding.At(low.Pos, "lowest: %s", unit.Format(low.Rate, low.Unit)),
			finding.At(high.Pos, "highest: %s", unit.Format(high.Rate, high.Unit)))
	}
	run := runs[0]
	if len(run.Interim) == 0 { // a long column, of whose values the places are not kept
		return []finding.Evidence{finding.At(run.Pos, "%s values from %s to %s", unit.Count(int64(p.values)), unit.Format(slices.Min(run.Values), run.Unit), unit.Format(slices.Max(run.Values), run.Unit))}
	}
	low, high := run.Interim[0], run.Interim[0]
	for _, i := range run.Interim {
		if i.Rate < low.Rate {
			low = i
		}
		if i.Rate > high.Rate {
			high = i
		}
	}
	return inOrder(
		finding.At(high.Pos, "highest interim result: %s over %s", unit.Format(high.Rate, run.Unit), high.Length),
		finding.At(low.Pos, "lowest interim result: %s over %s", unit.Format(low.Rate, run.Unit), low.Length),
		finding.At(run.Pos, "result: %s over %s", unit.Format(run.Rate, run.Unit), unit.FromSeconds(run.Seconds)))
}

// inOrder puts evidence of one source in the order of reading.
func inOrder(cited ...finding.Evidence) []finding.Evidence {
	slices.SortStableFunc(cited, func(a, b finding.Evidence) int { return cmp.Compare(a.Offset, b.Offset) })
	return cited
}

func noiseAdvice(run *Run, p pattern) []finding.Advice {
	if p.kind == transient {
		return []finding.Advice{{Text: "report the steady rate, or leave the first seconds out (netperf: a longer -l)", Reference: "netperf manual, Global Options"}}
	}
	advice := []finding.Advice{{
		Text:      "report both rates with their shares, not the mean; look for what changes at that pace (the frequency of CPUs, other load, interrupt moderation)",
		Reference: "bench/noisy",
	}}
	if run.Unit == transactions {
		advice = append(advice, finding.Advice{
			Text:      "compare with fixed moderation on both hosts: ethtool -c IFACE, then ethtool -C IFACE adaptive-rx off, and repeat with netperf -D 0.25",
			Reference: "netdev, July 2011: Just one more byte, it is wafer thin",
		})
	}
	return advice
}

// sizeMeasure tells which size was measured, where the run has one.
func sizeMeasure(run *Run) []finding.Measure {
	size := max(run.Sizes.Request, run.Sizes.Message)
	if size == 0 {
		return nil
	}
	return []finding.Measure{{Name: "size", Value: float64(size), Unit: "bytes"}}
}
