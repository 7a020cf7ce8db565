package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/finding"
	"nettrace/unit"
)

// zeroCopyThreshold finds from which message size on zero-copy sends pay: below it, pinning the pages of a message costs
// more than copying it.
func zeroCopyThreshold() rule {
	return rule{finding.Rule{
		Name:  "cross/zero-copy-threshold",
		Title: "zero-copy sends pay only from some message size on",
		Method: "Results over message sizes are split by a setting whose name or value tells of zero copy (SDP's sdp_zcopy_thresh, bzcopy, zerocopy, sendfile), and the curves of both variants are compared: where they cross, pinning and unpinning pages costs as much as copying. Where one variant is ahead at all sizes, the crossing is beyond them; this is told where the values of the setting say which variant is zero copy. " +
			"CPU cost per byte of both variants, where the results have it, says the same or not; with it the confidence is high. Runs that set a buffer size where the message size was meant are told apart by the message size that the result rows print. " +
			"Runs are compared if nothing that is known of them differs: the other end, the host (its folder, where it has recordings of a host, and the tags of the files' names) and, where recordings have dates, the time.",
		Params: []finding.Param{
			{Name: "min-gain", Default: 0.02, Unit: "ratio", Doc: "least difference on both sides of a crossing, as a share of the slower variant; single runs of 10 s differ by 4 to 6 %, those of a minute by less (the thread's 60 s runs of one size by 2 to 3 %)"},
			{Name: "costly", Default: 0.05, Unit: "ratio", Doc: "what the slower variant loses beyond the crossing, from which on it is a warning; set by judgement"},
			{Name: maxApartParam, Default: float64(24 * 3600 * unit.Second), Unit: "ns", Doc: "most time between runs that are compared; own choice: curves over sizes and variants take hours. Beyond an hour the confidence is not high"},
		},
		FalsePositives: "Notifications of completed sends can cost as much as the copy, so that the crossing moves with the application. Results of unlike days or machines cross for other reasons; only runs that agree in everything else are compared.",
		References:     []string{"ofa-general, 2008: Not seeing any SDP performance changes", "Linux Documentation/networking/msg_zerocopy.rst"},
	}, diagnoseZeroCopy}
}

// zeroCopyWords are parts of the names or values of settings that turn zero copy on.
func zeroCopyWords() []string {
	return []string{"zcopy", "zerocopy", "zero-copy", "zero_copy", "sendfile"}
}

func tellsZeroCopy(text string) bool {
	text = strings.ToLower(text)
	for _, word := range zeroCopyWords() {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// sessionSlack is how far apart runs may be without doubt that they were of one session.
const sessionSlack = 3600 * unit.Second

func diagnoseZeroCopy(r *analyze.Result, p finding.Params) (found []diagnosis) {
	for _, s := range sessions(r, p) {
		for _, d := range zeroCopyOf(r, s.runs, p) {
			if s.spread > sessionSlack {
				d.cause.Confidence = min(d.cause.Confidence, finding.Medium)
				d.cause.Reasons = append(d.cause.Reasons, apartReason(s.spread))
			}
			found = append(found, d)
		}
	}
	return found
}

// session are runs that can be compared.
type session struct {
	first  *place
	host   string // the other end
	runs   []bench.Run
	spread unit.Nanos // longest time from the first run
}

// sessions parts runs that are known to be of other hosts or times.
func sessions(r *analyze.Result, p finding.Params) (list []session) {
	t := &told{result: r, params: p, places: newPlaces(r)}
	at := map[string]*place{}
	for _, run := range r.Models.Runs {
		x := at[run.Pos.Source]
		if x == nil {
			x = t.places.of(&finding.Finding{Evidence: []finding.Evidence{finding.At(run.Pos, "")}})
			at[run.Pos.Source] = x
		}
		k := slices.IndexFunc(list, func(s session) bool {
			return (s.host == run.Host || s.host == "" || run.Host == "") && t.together(s.first, x) && !t.places.ofOtherHosts(s.first, x)
		})
		if k < 0 {
			k = len(list)
			list = append(list, session{first: x, host: run.Host})
		}
		list[k].host = cmp.Or(list[k].host, run.Host)
		list[k].runs = append(list[k].runs, run)
		list[k].spread = max(list[k].spread, list[k].first.gap(x))
	}
	return list
}

func zeroCopyOf(r *analyze.Result, runs []bench.Run, p finding.Params) (found []diagnosis) {
	for _, setting := range bench.Varied(runs) {
		sets := bench.SplitBy(runs, setting)
		about := tellsZeroCopy(setting)
		for _, s := range sets {
			about = about || tellsZeroCopy(s.Label)
		}
		if !about {
			continue
		}
		curves := bench.Curves(sets)
		crossings := len(found)
		for i := range curves {
			if d, ok := crossingOf(r, runs, &curves[i], setting, cheaper(curves), p); ok {
				found = append(found, d)
			}
		}
		if d, ok := oneSided(r, runs, curves, setting, p); ok && len(found) == crossings {
			found = append(found, d)
		}
	}
	return found
}

// cheaper returns the curves of CPU cost that stand beside those of throughput.
func cheaper(curves []bench.Curve) (costs []bench.Curve) {
	for _, c := range curves {
		if strings.Contains(c.Unit, "us/KB") || strings.Contains(c.Unit, "/KB") {
			costs = append(costs, c)
		}
	}
	return costs
}

// crossingOf makes the diagnosis of one curve of throughput over message sizes.
func crossingOf(r *analyze.Result, runs []bench.Run, c *bench.Curve, setting string, costs []bench.Curve, p finding.Params) (diagnosis, bool) {
	if c.Axis != "message" || strings.Contains(c.Unit, "/KB") {
		return diagnosis{}, false
	}
	for _, x := range c.Crossings {
		if x.Before < p["min-gain"] || x.After < p["min-gain"] {
			continue
		}
		f := finding.Finding{
			Severity: finding.Notice, Confidence: finding.Medium, Effect: finding.Effect{Share: x.After / (1 + x.After)},
			Subject: finding.Subject{Kind: "benchmark", Key: "zero-copy " + setting + " " + c.Name, Name: strings.TrimSpace(c.Name + " by " + setting)},
			Summary: fmt.Sprintf("%s is ahead by %s up to messages of %s bytes, %s by %s from %s bytes on: pinning pages costs as much as copying near %s bytes", x.First, unit.Percent(x.Before), unit.Count(int64(x.From)),
				x.Second, unit.Percent(x.After), unit.Count(int64(x.To)), unit.Count(int64(x.At))),
			Measures: []finding.Measure{
				{Name: "crossing_bytes", Value: x.At, Unit: "bytes"}, {Name: "ahead_up_to", Value: x.From, Unit: "bytes"}, {Name: "ahead_from", Value: x.To, Unit: "bytes"},
				{Name: "gain_below", Value: x.Before, Unit: "ratio", Threshold: finding.Threshold(p["min-gain"])}, {Name: "gain_above", Value: x.After, Unit: "ratio", Threshold: finding.Threshold(p["min-gain"])},
			},
			Advice: []finding.Advice{
				{Text: fmt.Sprintf("set the threshold of zero copy between %s and %s bytes (SDP: sdp_zcopy_thresh; MSG_ZEROCOPY: ask for it from that size on)", unit.Count(int64(x.From)), unit.Count(int64(x.To))), Reference: "Linux Documentation/networking/msg_zerocopy.rst"},
				{Text: "measure sizes between them, each at least three times, with netperf -c -C -- -m SIZE: the crossing is known only as closely as the sizes are", Reference: "bench/not-comparable"},
			},
			Caveats: []string{"the crossing depends on the cost of pinning (page size, IOMMU) and of copying (cache, memory) of these machines"},
		}
		f.Evidence = evidenceOf(runs, setting, x.From, x.To)
		f.Reasons = append(f.Reasons, fmt.Sprintf("both sides of the crossing differ by more than %s", unit.Percent(p["min-gain"])))
		if text, agrees := costsAgree(costs, x); agrees {
			f.Confidence = finding.High
			f.Reasons = append(f.Reasons, text)
		} else {
			f.Reasons = append(f.Reasons, "not recorded or not found: CPU cost per byte of both variants (netperf -c -C)")
		}
		if x.After >= p["costly"] {
			f.Severity = finding.Warning
		}
		return diagnosis{cause: f, symptoms: cliffsAt(r, runs, x)}, true
	}
	return diagnosis{}, false
}

// lead is how far zero copy is ahead of copying over the sizes that both were measured at, where it is ahead or behind at all.
type lead struct {
	curve          *bench.Curve
	zero, copied   *bench.CurveSeries
	from, to       float64 // sizes
	least, largest float64 // of the variant that is ahead, as a share of the other
	ahead          bool
}

// oneSided makes the diagnosis of curves that do not cross: the sizes measured are all above the threshold, or all below.
// Of several curves that with the largest lead counts.
func oneSided(r *analyze.Result, runs []bench.Run, curves []bench.Curve, setting string, p finding.Params) (diagnosis, bool) {
	var most lead
	for i := range curves {
		if l := leadOf(&curves[i]); l.least >= p["min-gain"] && l.largest > most.largest {
			most = l
		}
	}
	if most.curve == nil {
		return diagnosis{}, false
	}
	first, second, side := most.zero.Set, most.copied.Set, "below "+unit.Count(int64(most.from))
	if !most.ahead {
		first, second, side = second, first, "above "+unit.Count(int64(most.to))
	}
	f := finding.Finding{
		Severity: finding.Notice, Confidence: finding.Medium, Effect: finding.Effect{Share: most.largest / (1 + most.largest)},
		Subject: finding.Subject{Kind: "benchmark", Key: "zero-copy " + setting + " " + most.curve.Name, Name: strings.TrimSpace(most.curve.Name + " by " + setting)},
		Summary: fmt.Sprintf("%s is ahead of %s by %s to %s with messages of %s to %s bytes: pinning pages costs as much as copying %s bytes, where nothing was measured", first, second,
			unit.Percent(most.least), unit.Percent(most.largest), unit.Count(int64(most.from)), unit.Count(int64(most.to)), side),
		Measures: []finding.Measure{
			{Name: "gain_least", Value: most.least, Unit: "ratio", Threshold: finding.Threshold(p["min-gain"])}, {Name: "gain_largest", Value: most.largest, Unit: "ratio", Threshold: finding.Threshold(p["min-gain"])},
			{Name: "size_least", Value: most.from, Unit: "bytes"}, {Name: "size_largest", Value: most.to, Unit: "bytes"},
		},
		Advice: []finding.Advice{
			{Text: fmt.Sprintf("measure message sizes %s bytes in steps of 2, each at least three times: netperf -c -C -- -m SIZE; the threshold of zero copy belongs where the curves cross", side), Reference: "Linux Documentation/networking/msg_zerocopy.rst"},
		},
		Caveats:  []string{"what pinning and copying cost is that of these machines (page size, IOMMU, cache, memory)"},
		Reasons:  []string{fmt.Sprintf("the same at all %d sizes that both were measured at, by more than %s", len(most.common()), unit.Percent(p["min-gain"]))},
		Evidence: evidenceOf(runs, setting, most.from, most.to),
	}
	if text, agrees := costsAgree(cheaper(curves), bench.Crossing{First: second, Second: first, From: most.from, To: most.to}); agrees {
		f.Confidence, f.Reasons = finding.High, append(f.Reasons, text)
	}
	if most.largest >= p["costly"] {
		f.Severity = finding.Warning
	}
	return diagnosis{cause: f, symptoms: cliffsAt(r, runs, bench.Crossing{From: most.from})}, true
}

// leadOf compares a curve of throughput over message sizes whose two variants are told apart by their values: one names
// zero copy, the other does not.
func leadOf(c *bench.Curve) (l lead) {
	if c.Axis != "message" || strings.Contains(c.Unit, "/KB") || len(c.Series) != 2 {
		return lead{}
	}
	for i := range c.Series {
		if s := &c.Series[i]; tellsZeroCopy(s.Set[strings.IndexByte(s.Set, '=')+1:]) {
			l.zero = s
		} else {
			l.copied = s
		}
	}
	if l.zero == nil || l.copied == nil {
		return lead{}
	}
	for i, x := range l.common() {
		gain := x[1]/x[2] - 1
		if ahead := gain > 0; i == 0 {
			l.from, l.ahead = x[0], ahead
		} else if ahead != l.ahead {
			return lead{}
		}
		if !l.ahead {
			gain = x[2]/x[1] - 1
		}
		if l.to = x[0]; i == 0 || gain < l.least {
			l.least = gain
		}
		l.largest = max(l.largest, gain)
	}
	if l.from < l.to {
		l.curve = c
	}
	return l
}

// common returns the sizes that both variants were measured at, with both means.
func (l *lead) common() (list [][3]float64) {
	for _, p := range l.zero.Points {
		if q := l.copied.Point(p.At); q != nil && p.Mean > 0 && q.Mean > 0 {
			list = append(list, [3]float64{p.At, p.Mean, q.Mean})
		}
	}
	return list
}

// evidenceOf returns the result rows on both sides of a crossing.
func evidenceOf(runs []bench.Run, setting string, from, to float64) (list []finding.Evidence) {
	for i := range runs {
		run := &runs[i]
		size := float64(run.Sizes.Message)
		if size != from && size != to {
			continue
		}
		for _, s := range run.Settings {
			if strings.HasSuffix(s.Name, setting) && len(list) < evidenceMax {
				list = append(list, finding.At(run.Pos, "%s=%s: %s %s with messages of %s bytes", setting, s.Value, unit.Number(run.Rate), run.Unit, unit.Count(run.Sizes.Message)))
			}
		}
	}
	return list
}

// costsAgree reports whether the variant that is ahead of messages from the crossing on also costs less CPU for a byte.
func costsAgree(costs []bench.Curve, x bench.Crossing) (string, bool) {
	for i := range costs {
		var first, second *bench.CurvePoint
		for k := range costs[i].Series {
			switch s := &costs[i].Series[k]; s.Set {
			case x.First:
				first = s.Point(x.To)
			case x.Second:
				second = s.Point(x.To)
			}
		}
		if first != nil && second != nil && second.Mean < first.Mean {
			return fmt.Sprintf("%s also costs less CPU: %s against %s %s at %s bytes", x.Second, unit.Number(second.Mean), unit.Number(first.Mean), costs[i].Unit, unit.Count(int64(x.To))), true
		}
	}
	return "", false
}

// cliffsAt returns the cliffs at the sizes of a crossing, which it explains: the variant that copies falls where messages
// no longer fit its buffers.
func cliffsAt(r *analyze.Result, runs []bench.Run, x bench.Crossing) (ids []string) {
	for i := range r.Findings {
		f := &r.Findings[i]
		size, ok := f.Measure("size_after")
		among := slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool {
			return slices.ContainsFunc(runs, func(run bench.Run) bool { return run.Pos.Source == e.Source })
		})
		if f.Rule == "bench/cliff" && ok && size >= x.From && among {
			ids = append(ids, f.ID)
		}
	}
	return ids
}
