package bench

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"nettrace/finding"
	"nettrace/unit"
)

// NotComparable finds runs that look like a comparison and are none.
func NotComparable() finding.On[*Results] {
	return finding.On[*Results]{Rule: notComparableRule(), Judge: judgeNotComparable}
}

func notComparableRule() finding.Rule {
	return finding.Rule{
		Name:  "bench/not-comparable",
		Title: "runs that look like a comparison do not compare",
		Method: "Three judgements. A stream test of netperf with -r: that option sets the sizes of request/response tests only, so that the messages keep the size that the result row prints (the send buffer's, unless -m is given); " +
			"runs with several -r and one message size compare nothing but their noise. A benchmark before and after a change whose figures have units that do not convert into each other " +
			"(uperf's operations and netperf's transactions, us/KB and us/transaction, bytes of 1,024 and bits). " +
			"And two states (before and after, or two values of a setting: a column of a table, a line of a shell's log) of which one is ahead under one load and behind under another, by min-order and more in the geometric mean and at three of four sizes or numbers of streams: an average over both loads says nothing.",
		Params: []finding.Param{
			{Name: "min-sizes", Default: 2, Unit: "", Doc: "least number of different -r among runs of one message size that is a warning; below, a run alone is a notice"},
			{Name: "min-order", Default: 0.1, Unit: "ratio", Doc: "least lead that counts as one: twice what single runs of 10 s differ by (4 to 6 %, model of the published set-up, 40 seeds)"},
		},
		FalsePositives: "Runs with -r may have been made for something else than their sizes; then only the option is idle. netperf itself says nothing of it.",
		References: []string{
			"netperf manual, Options common to TCP UDP and SCTP _STREAM (-m) and _RR (-r) tests",
			"mailing list of OpenFabrics, January 2008: Not seeing any SDP performance changes (runs with -r 64K, 128K, 1M and messages of 16,384 bytes)",
			"FreeBSD, review of iflib's transmit ring, 2019 (with tx_abdicate the ring forwards more packets, and sends fewer)",
		},
	}
}

func judgeNotComparable(results *Results, p finding.Params) []finding.Finding {
	findings := append(unusedSizes(results.Runs, p), opposite(results.Runs, p)...)
	for _, pair := range beforeAndAfter(results.Runs) {
		for _, r := range Compare(pair.sets[:], CompareOptions{}).Refused {
			if len(r.Sets) > 1 { // not because one of them broke off, which the ledger tells
				findings = append(findings, pair.mixedUnits(r))
			}
		}
	}
	return findings
}

// idleSizes are the runs of a source that differ in -r and not in what they send.
type idleSizes struct {
	runs  []*Run
	sizes []string // the different -r, in the order of reading
}

// unusedSizes finds stream tests whose -r sets nothing.
func unusedSizes(runs []Run, p finding.Params) []finding.Finding {
	var groups []*idleSizes
	index := map[string]*idleSizes{}
	for i := range runs {
		r := &runs[i]
		asked, set := r.Setting("-- -r")
		if !set || r.Tool != "netperf" || layoutOf(r.Test) != layoutStream || r.Sizes.Message == 0 || sizeOf(asked) == r.Sizes.Message {
			continue
		}
		key := fmt.Sprintf("%s\x00%s\x00%s\x00%d", r.Pos.Source, r.Test, r.Host, r.Sizes.Message)
		g := index[key]
		if g == nil {
			g = &idleSizes{}
			index[key] = g
			groups = append(groups, g)
		}
		g.runs = append(g.runs, r)
		if !slices.Contains(g.sizes, asked) {
			g.sizes = append(g.sizes, asked)
		}
	}
	var findings []finding.Finding
	for _, g := range groups {
		findings = append(findings, g.finding(p))
	}
	return findings
}

// sizeOf reads a size as netperf takes it ("64K" of 1,024 bytes, "64k" of 1,000; the first of "64K,1"), 0 if it is none.
func sizeOf(text string) int64 {
	text, _, _ = strings.Cut(text, ",")
	power, thousand := 0, int64(1000)
	if n := len(text); n > 1 {
		if power = unit.Prefix(text[n-1]); power > 0 {
			if unicode.IsUpper(rune(text[n-1])) {
				thousand = 1024
			}
			text = text[:n-1]
		}
	}
	if kindOf([]byte(text)) != integer {
		return 0
	}
	size := count([]byte(text))
	for range power {
		size = min(size, 1<<41) * thousand
	}
	if size > 1<<40 {
		return 0
	}
	return size
}

func (g *idleSizes) finding(p finding.Params) finding.Finding {
	first := g.runs[0]
	low, high := first.Rate, first.Rate
	for _, r := range g.runs {
		low, high = min(low, r.Rate), max(high, r.Rate)
	}
	f := finding.Finding{
		Severity:   finding.Notice,
		Confidence: finding.High,
		Reasons:    []string{"the result rows print the message size themselves"},
		Subject:    finding.Subject{Kind: "benchmark", Key: "not-comparable -r " + first.key(), Name: testName(first)},
		Source:     first.Pos.Source,
		Summary: fmt.Sprintf("%s with -r %s sends messages of %s bytes: -r sets nothing in a stream test", testName(first), strings.Join(g.sizes, ", "),
			unit.Count(first.Sizes.Message)),
		Measures: []finding.Measure{
			{Name: "message_size", Value: float64(first.Sizes.Message), Unit: "bytes"},
			{Name: "sizes_asked", Value: float64(len(g.sizes)), Threshold: finding.Threshold(p["min-sizes"])},
			{Name: "runs", Value: float64(len(g.runs))},
			{Name: "rate_min", Value: low, Unit: first.Unit}, {Name: "rate_max", Value: high, Unit: first.Unit},
		},
		Advice: []finding.Advice{{Text: "set the message size with -m and repeat: netperf -t " + first.Test + " -H HOST -- -m " + g.sizes[0], Reference: "netperf manual, -m"}},
	}
	if float64(len(g.sizes)) >= p["min-sizes"] {
		f.Severity = finding.Warning
		f.Summary = fmt.Sprintf("%d runs of %s with -r %s all send messages of %s bytes: they compare no sizes, and their %s to %s %s is one size's noise or another setting's effect",
			len(g.runs), testName(first), strings.Join(g.sizes, ", "), unit.Count(first.Sizes.Message), unit.Number(low), unit.Number(high), first.Unit)
	}
	for _, r := range g.runs[:min(len(g.runs), 6)] {
		asked, _ := r.Setting("-- -r")
		f.Evidence = append(f.Evidence, finding.At(r.Pos, "-r %s: messages of %s bytes, %s", asked, unit.Count(r.Sizes.Message), unit.Format(r.Rate, r.Unit)))
	}
	return f
}

// mixedUnits is about a benchmark before and after whose units differ.
func (b beforeAfter) mixedUnits(r Refusal) finding.Finding {
	name := strings.TrimSpace(b.group + " " + r.Name)
	if name == "" {
		name = "the benchmark"
	}
	return finding.Finding{
		Severity:   finding.Warning,
		Confidence: finding.High,
		Reasons:    []string{"the units are as the outputs print them"},
		Subject:    finding.Subject{Kind: "benchmark", Key: "not-comparable units " + name, Name: name},
		Summary:    fmt.Sprintf("%s before and after does not compare: %s", name, r.Text),
		Evidence:   b.evidence(Comparison{Name: r.Name}),
		Advice:     []finding.Advice{{Text: "measure both states with the same tool and options", Reference: "bench/not-comparable"}},
	}
}
