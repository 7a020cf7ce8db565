package bench

import (
	"fmt"
	"math"
	"slices"

	"nettrace/finding"
	"nettrace/unit"
)

// Cliff finds the size from which the rate falls far more than the size explains.
func Cliff() finding.On[*Results] {
	return finding.On[*Results]{Rule: cliffRule(), Judge: judgeCliffs}
}

func cliffRule() finding.Rule {
	return finding.Rule{
		Name:  "bench/cliff",
		Title: "the rate falls off from one size to the next",
		Method: "Runs that follow each other in one output and differ in one size only make a sweep; where the size turns back, another begins, so that pairs measured under other settings are judged each on its own. " +
			"From one size to the next the rate may fall by as much as if all cost were per byte (transactions: by the ratio of the bytes moved; throughput: not at all), " +
			"or by what the other steps of the sweep cost per byte (their median, of at least three). A fall below that by more than min-loss is a cliff. " +
			"If the smaller size is a multiple of an MSS, or the larger one byte more than one, the finding says which.",
		Params: []finding.Param{
			{Name: "min-loss", Default: 0.2, Unit: "ratio", Doc: "least loss beyond what the size explains; single runs of 10 s repeat within 5.3 % (model of the published set-up, 40 seeds), so that two differ by 20 % in 1 of 100 pairs or fewer"},
			{Name: "critical-loss", Default: 0.5, Unit: "ratio", Doc: "loss from which the finding is critical: more than half of the rate"},
			{Name: "max-growth", Default: 2.5, Unit: "ratio", Doc: "largest factor between two sizes that still are neighbours; sweeps double their sizes"},
		},
		FalsePositives: "Settings that were changed between two sizes look like a cliff; the output does not tell. A single short run can be off by more than the threshold. " +
			"A throughput test whose larger messages take another path (zero copy from a threshold on) has a cliff there by design. netperf's packet_byte_script prints the same data and leaves the judgement to the reader.",
		References: []string{
			"netdev, July 2011: Just one more byte, it is wafer thin (10,030 to 3,407 transactions/s from 4,344 to 4,345 bytes)",
			"RFC 6691 and RFC 7323, section 3.2: the MSS option counts no options, timestamps take 12 bytes of each segment",
			"netperf, doc/examples/packet_byte_script",
		},
	}
}

// step is the fall from one size of a sweep to the next.
type step struct {
	sweep         *sweep
	at            int // of the larger size in the sweep
	before, after []*Run
	sizes         [2]int64 // before, after
	rates         [2]float64
	expected      float64 // least rate that the size explains
	loss          float64
}

func judgeCliffs(results *Results, p finding.Params) []finding.Finding {
	var findings []finding.Finding
	var seen []step
	for _, s := range sweeps(results.Runs) {
		for i := 1; i < len(s.steps); i++ {
			st := s.step(i)
			if !st.cliff(p) || slices.ContainsFunc(seen, st.quotes) {
				continue
			}
			seen = append(seen, st)
			findings = append(findings, st.finding(p))
		}
	}
	return findings
}

// cliff reports whether the rate falls by more than the size explains.
func (st step) cliff(p finding.Params) bool {
	return st.rates[0] > 0 && st.rates[1] >= 0 && // a rate below 0 is damage
		float64(st.sizes[1]) <= p["max-growth"]*float64(st.sizes[0]) && st.rates[1] < (1-p["min-loss"])*st.expected
}

// step returns the step to the i-th size.
func (s *sweep) step(i int) step {
	st := step{sweep: s, at: i, before: s.steps[i-1], after: s.steps[i]}
	st.sizes = [2]int64{s.axis.of(st.before[0].Sizes), s.axis.of(st.after[0].Sizes)}
	st.rates = [2]float64{meanRate(st.before), meanRate(st.after)}
	st.loss = 1 - st.rates[1]/st.rates[0]
	st.expected = st.rates[0]
	if st.before[0].Unit == transactions {
		st.expected *= bytesMoved(st.before[0]) / bytesMoved(st.after[0])
	}
	if cost, known := s.costPerByte(i); known {
		trend := operations(st.before[0], st.rates[0])
		trend = 1 / (1/trend + cost*float64(st.sizes[1]-st.sizes[0]))
		st.expected = min(st.expected, trend/operations(st.after[0], 1))
	}
	return st
}

func meanRate(runs []*Run) float64 {
	sum := 0.0
	for _, r := range runs {
		sum += r.Rate
	}
	return sum / float64(len(runs))
}

func bytesMoved(r *Run) float64 { return float64(max(1, r.Sizes.Request+r.Sizes.Response)) }

// operations converts a rate of the run's unit into operations (transactions or messages) in an arbitrary unit of time.
func operations(r *Run, rate float64) float64 {
	if r.Unit == transactions {
		return rate
	}
	return rate / float64(max(1, r.Sizes.Message))
}

// costPerByte is the median time that a further byte takes in the other steps of the sweep, if they are three or more.
func (s *sweep) costPerByte(except int) (cost float64, known bool) {
	var costs []float64
	for i := 1; i < len(s.steps); i++ {
		a, b := s.steps[i-1], s.steps[i]
		more := s.axis.of(b[0].Sizes) - s.axis.of(a[0].Sizes)
		slower := 1/operations(b[0], meanRate(b)) - 1/operations(a[0], meanRate(a))
		if i != except && !math.IsInf(slower, 0) && !math.IsNaN(slower) {
			costs = append(costs, slower/float64(more))
		}
	}
	if len(costs) < 3 {
		return 0, false
	}
	slices.Sort(costs)
	return max(0, costs[len(costs)/2]), true
}

// quotes reports whether another step is this one again, as where a mail quotes an output.
func (st step) quotes(other step) bool {
	return st.sizes == other.sizes && st.rates == other.rates && alike(st.after[0], other.after[0])
}

func (st step) finding(p finding.Params) finding.Finding {
	a, b := st.before[0], st.after[0]
	u := a.Unit
	f := finding.Finding{
		Severity: finding.Warning,
		Effect:   finding.Effect{Share: st.loss},
		Subject: finding.Subject{
			Kind: "benchmark",
			Key:  fmt.Sprintf("%s %s %d-%d", a.key(), st.sweep.axis, st.sizes[0], st.sizes[1]),
			Name: fmt.Sprintf("%s from %s to %s bytes", testName(a), unit.Count(st.sizes[0]), unit.Count(st.sizes[1])),
		},
		Source:  b.Pos.Source,
		Summary: st.summary(),
		Measures: []finding.Measure{
			{Name: "rate_before", Value: st.rates[0], Unit: u},
			{Name: "rate_after", Value: st.rates[1], Unit: u, Expected: finding.Threshold(st.expected), Threshold: finding.Threshold((1 - p["min-loss"]) * st.expected)},
			{Name: "size_before", Value: float64(st.sizes[0]), Unit: "bytes"},
			{Name: "size_after", Value: float64(st.sizes[1]), Unit: "bytes"},
			{Name: "loss", Value: st.loss, Unit: "ratio", Threshold: finding.Threshold(p["min-loss"])},
		},
		Advice: st.advice(),
	}
	if st.loss > p["critical-loss"] {
		f.Severity = finding.Critical
	}
	for _, r := range st.after {
		f.Effect.Lost += unit.FromSeconds(r.Seconds * max(0, 1-st.rates[1]/st.expected))
	}
	if m, ok := st.multiple(); ok {
		f.Measures = append(f.Measures, finding.Measure{Name: "mss", Value: float64(m.mss), Unit: "bytes"}, finding.Measure{Name: "segments_before", Value: float64(m.full)})
	}
	f.Evidence = append(evidenceOf(st.before, st.sizes[0]), evidenceOf(st.after, st.sizes[1])...)
	st.weigh(&f)
	return f
}

// evidenceOf cites the first runs of a size.
func evidenceOf(runs []*Run, size int64) []finding.Evidence {
	var cited []finding.Evidence
	for _, r := range runs[:min(len(runs), 3)] {
		cited = append(cited, finding.At(r.Pos, "%s bytes: %s over %s", unit.Count(size), unit.Format(r.Rate, r.Unit), unit.FromSeconds(r.Seconds)))
	}
	return cited
}

func testName(r *Run) string {
	name := r.Test
	if name == "" {
		name = r.Tool
	}
	if r.Host != "" {
		name += " to " + r.Host
	}
	if label := r.rowLabel(); label != "" {
		name += " (" + label + ")"
	}
	return name
}

func (st step) summary() string {
	a := st.before[0]
	text := fmt.Sprintf("%s falls from %s to %s %s (-%s) from a %s of %s to %s bytes", testName(a), unit.Number(st.rates[0]), unit.Number(st.rates[1]), a.Unit,
		unit.Percent(st.loss), st.sweep.axis, unit.Count(st.sizes[0]), unit.Count(st.sizes[1]))
	if m, ok := st.multiple(); ok {
		text += ": " + m.text(st.sizes)
	}
	return text
}

// weigh sets the confidence with its reasons and caveats.
func (st step) weigh(f *finding.Finding) {
	f.Confidence = finding.Medium
	explained := max(0, 1-st.expected/st.rates[0])
	f.Reasons = append(f.Reasons, fmt.Sprintf("the size grows by %s, which explains at most %s of the loss of %s",
		unit.Percent(float64(st.sizes[1]-st.sizes[0])/float64(st.sizes[0])), unit.Percent(explained), unit.Percent(st.loss)))
	if runs := min(len(st.before), len(st.after)); runs >= 3 && separate(st.before, st.after) {
		f.Confidence = finding.High
		f.Reasons = append(f.Reasons, fmt.Sprintf("all of %d and %d repetitions agree", len(st.before), len(st.after)))
	} else if st.loss > 0.5 {
		f.Confidence = finding.High
		f.Reasons = append(f.Reasons, "the loss is far beyond the 4 to 6 % by which single runs differ")
	}
	if stays := st.stays(); stays > 0 {
		f.Confidence = finding.High
		f.Reasons = append(f.Reasons, fmt.Sprintf("the %d larger sizes stay below it", stays))
	}
	st.weighSeries(f, st.before, st.sizes[0])
	st.weighSeries(f, st.after, st.sizes[1])
	if st.before[0].Group != st.after[0].Group {
		f.Confidence = min(f.Confidence, finding.Medium)
		f.Caveats = append(f.Caveats, "other text stands between the two results; if a setting was changed there, this is not the cost of the size")
	}
	if len(st.before) == 1 || len(st.after) == 1 {
		f.Caveats = append(f.Caveats, "one run of a size: repeat it (single runs of 10 s differ by 4 to 6 %)")
	}
	if s := st.after[len(st.after)-1].Seconds; s > 0 && s < 1 {
		f.Confidence = finding.Low
		f.Caveats = append(f.Caveats, "the runs are shorter than a second")
	}
}

// weighSeries says what the interim results of a size show beside its mean.
func (st step) weighSeries(f *finding.Finding, runs []*Run, size int64) {
	p := recognise(runs[0].series(), true, limitsOf(noisyRule().Resolve(nil)))
	if p.kind == steady {
		return
	}
	f.Caveats = append(f.Caveats, fmt.Sprintf("the interim series of %s bytes %s (bench/noisy)", unit.Count(size), p.sentence(runs[0], 1)))
}

// separate reports whether all rates before are above all rates after.
func separate(before, after []*Run) bool {
	low := slices.MinFunc(before, byRate)
	high := slices.MaxFunc(after, byRate)
	return low.Rate > high.Rate
}

func byRate(a, b *Run) int {
	switch {
	case a.Rate < b.Rate:
		return -1
	case a.Rate > b.Rate:
		return 1
	}
	return 0
}

// stays counts the larger sizes of the sweep if none of them comes back to the expected rate.
func (st step) stays() int {
	larger := st.sweep.steps[st.at+1:]
	for _, runs := range larger {
		if meanRate(runs) >= (st.rates[1]+st.expected)/2 {
			return 0
		}
	}
	return len(larger)
}

func (st step) advice() []finding.Advice {
	a := st.before[0]
	between := finding.Advice{
		Text:      fmt.Sprintf("repeat both sizes, each at least three times and with interim results (netperf -D 0.25), and sizes between %s and %s", unit.Count(st.sizes[0]), unit.Count(st.sizes[1])),
		Reference: "netperf manual, section Global Options",
	}
	if st.sizes[1]-st.sizes[0] == 1 {
		between.Text = "repeat both sizes, each at least three times and with interim results: netperf -D 0.25 -i 10,3"
	}
	if a.Unit != transactions {
		return []finding.Advice{between, {
			Text:      "look for a threshold at that size (zero copy, socket buffer, MTU), and compare CPU cost per KB on both sides: netperf -c -C",
			Reference: "netperf manual, section Options common to TCP UDP and SCTP",
		}}
	}
	return []finding.Advice{
		{Text: "look at adaptive interrupt moderation on both hosts (ethtool -c IFACE), then repeat with ethtool -C IFACE adaptive-rx off", Reference: "netdev, July 2011: Just one more byte, it is wafer thin"},
		{Text: "capture both sizes on both hosts (tcpdump -i IFACE -s 128 -w SIZE.pcap): tcp/tso-split tells whether the rest leaves as a packet of its own", Reference: "tcp/tso-split"},
		between,
	}
}
