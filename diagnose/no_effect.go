package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/finding"
	"nettrace/flame"
	"nettrace/unit"
)

// noEffect finds comparisons whose two sides do not show the change that they claim, or look exchanged.
func noEffect() rule {
	return rule{noEffectRule(), diagnoseNoEffect}
}

func noEffectRule() finding.Rule {
	return finding.Rule{
		Name:  "bench/no-effect",
		Title: "two sides of a comparison do not show the change that they claim, or look exchanged",
		Method: "Two judgements. Profiles whose file names differ in one word of a pair of opposites (before and after, off and on, disabled and enabled, 0 and 1) are the two sides of a change. If no function's own share of the samples moved by min-move and beyond chance " +
			"(two standard deviations of numbers of samples), the change is not to be seen; if a function that is named as the setting is runs on the side without it only, the sides look exchanged. " +
			"And outputs of ministat whose sets are labelled with the same setting (x bypass=0, + bypass=1) and which prove differences in opposite directions: the labels are exchanged in one of them, the setting did nothing in one of them, or something else changed between them.",
		Params: []finding.Param{
			{Name: "min-samples", Default: 1000, Unit: "samples", Doc: "least size of both profiles: a share of 2 % then is known to 22 % (20 samples, one standard deviation)"},
			{Name: "min-move", Default: 0.02, Unit: "ratio", Doc: "least change of a function's own share that counts as one: in the two halves of one recording of 1,054 samples functions moved by up to 4 %, none of them beyond chance (own recording, cpu-clock)"},
			{Name: "min-marker", Default: 10, Unit: "samples", Doc: "least samples of a function named as the setting: fewer may be chance"},
		},
		FalsePositives: "A change may do its work without moving any function's share: fewer wake-ups, better placement, less waiting. Profiles of idle hosts look alike whatever is set. " +
			"Between two outputs of ministat a patch may have been added on purpose, as in the review below, where the sign of the last comparison is the result.",
		References: []string{
			"FreeBSD, review of iflib's transmit ring, 2019: labels of two flame graphs exchanged, then a bypass that both sides did not run, since it was set after the interfaces had been configured",
		},
	}
}

func diagnoseNoEffect(r *analyze.Result, p finding.Params) []diagnosis {
	var found []diagnosis
	for i, a := range r.Models.Profiles {
		for _, b := range r.Models.Profiles[i+1:] {
			if pair, ok := oppositesIn(a.Source, b.Source); ok {
				off, on := a, b
				if pair.swapped {
					off, on = b, a
				}
				if f, ok := judgeProfiles(off, on, pair.setting, p); ok {
					found = append(found, diagnosis{cause: f})
				}
			}
		}
	}
	for _, c := range bench.Contradictions(r.Models.Runs) {
		found = append(found, diagnosis{cause: contradiction(c)})
	}
	return found
}

// opposites are words of file names that tell the two sides of a change apart: without it, with it.
var opposites = [...][2]string{{"before", "after"}, {"off", "on"}, {"disabled", "enabled"}, {"0", "1"}, {"without", "with"}, {"old", "new"}, {"base", "patched"}}

// opposed is a pair of names that differ in one word of a pair of opposites.
type opposed struct {
	setting string // the words before it: "bypass_mpring"
	swapped bool   // the first name is the side with the change
}

// oppositesIn compares two file names word by word.
func oppositesIn(a, b string) (opposed, bool) {
	split := func(name string) []string {
		return strings.FieldsFunc(name[strings.LastIndexAny(name, `/\`)+1:], func(r rune) bool { return strings.ContainsRune("._-= ", r) })
	}
	x, y := split(a), split(b)
	if len(x) != len(y) {
		return opposed{}, false
	}
	at := -1
	for i := range x {
		if strings.EqualFold(x[i], y[i]) {
			continue
		}
		if at >= 0 {
			return opposed{}, false
		}
		at = i
	}
	if at < 0 {
		return opposed{}, false
	}
	for _, o := range opposites {
		straight := strings.EqualFold(x[at], o[0]) && strings.EqualFold(y[at], o[1])
		if straight || strings.EqualFold(x[at], o[1]) && strings.EqualFold(y[at], o[0]) {
			return opposed{setting: strings.Join(x[:at], "_"), swapped: !straight}, true
		}
	}
	return opposed{}, false
}

// seen is what the profiles of the two sides show of a change.
type seen struct {
	difference *flame.Difference
	moved      []flame.Changed // functions whose own share moved
	most       float64         // the largest change of an own share, moved or not
	marker     *flame.Changed  // the function named as the setting that most samples are in; nil if there is none
	exchanged  bool            // it runs on the side without the change only
}

// markerWord is the shortest word of a setting's name that a function is looked for by.
const markerWord = 5

func lookAt(off, on *flame.Profile, setting string, p finding.Params) (seen, bool) {
	d, err := flame.Diff(off, on, flame.DiffOptions{Merged: true})
	if err != nil || float64(min(d.Base.Samples, d.Other.Samples)) < p["min-samples"] {
		return seen{}, false
	}
	s := seen{difference: d}
	for i := range d.Functions {
		f := &d.Functions[i]
		moved := math.Abs(share(f.Other.Self, d.Other.Value) - share(f.Base.Self, d.Base.Value))
		s.most = max(s.most, moved)
		if moved >= p["min-move"] && !d.SelfNoise(&f.Pair) {
			s.moved = append(s.moved, *f)
		}
		if named(d.Frames[f.Frame].Name, setting) && (s.marker == nil || f.Base.Samples+f.Other.Samples > s.marker.Base.Samples+s.marker.Other.Samples) {
			s.marker = f
		}
	}
	s.exchanged = s.marker != nil && float64(s.marker.Base.Samples) >= p["min-marker"] && s.marker.Other.Samples == 0
	return s, true
}

// named reports whether a function's name holds a word of the setting's.
func named(function, setting string) bool {
	function = strings.ToLower(function)
	for _, w := range strings.FieldsFunc(strings.ToLower(setting), func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if len(w) >= markerWord && strings.Contains(function, w) {
			return true
		}
	}
	return false
}

func judgeProfiles(off, on *flame.Profile, setting string, p finding.Params) (finding.Finding, bool) {
	s, ok := lookAt(off, on, setting, p)
	if !ok || len(s.moved) > 0 && !s.exchanged {
		return finding.Finding{}, false
	}
	d := s.difference
	name := setting
	if name == "" {
		name = "the change"
	}
	f := finding.Finding{
		Severity:   finding.Notice,
		Confidence: finding.Medium,
		Subject:    finding.Subject{Kind: "benchmark", Key: "no-effect " + name, Name: name},
		Measures: []finding.Measure{
			{Name: "samples_without", Value: float64(d.Base.Samples), Unit: "samples"}, {Name: "samples_with", Value: float64(d.Other.Samples), Unit: "samples"},
			{Name: "largest_move", Value: s.most, Unit: "ratio", Threshold: finding.Threshold(p["min-move"])}, {Name: "functions_moved", Value: float64(len(s.moved))},
		},
		Evidence: []finding.Evidence{placeOf(off, "without the change"), placeOf(on, "with it")},
	}
	if !s.exchanged {
		f.Reasons = []string{fmt.Sprintf("%s and %s samples: a function of 2 %% is known to %s", unit.Count(d.Base.Samples), unit.Count(d.Other.Samples), unit.Percent(1/math.Sqrt(0.02*float64(min(d.Base.Samples, d.Other.Samples)))))}
		f.Summary = fmt.Sprintf("%s: the profiles of both sides are alike: no function's own share moved by more than %s", name, unit.Percent(s.most))
		f.Advice = []finding.Advice{{Text: "check on the running system that the setting is in force, and that the code it switches on is called: read it back, and count its function (perf stat -e probe:..., dtrace -n 'fbt::FUNCTION:entry{@=count()}')", Reference: "bench/no-effect"}}
		f.Caveats = []string{"a change may work without moving any share: compare waiting (off-CPU stacks) and the benchmark's own figures"}
		return f, true
	}
	marker := d.Frames[s.marker.Frame].Name
	f.Severity, f.Confidence = finding.Warning, finding.High
	f.Reasons = []string{fmt.Sprintf("%s is in %s samples of one side and in none of the other", marker, unit.Count(s.marker.Base.Samples))}
	f.Measures = append(f.Measures, finding.Measure{Name: "marker_without", Value: float64(s.marker.Base.Samples), Unit: "samples"}, finding.Measure{Name: "marker_with", Value: float64(s.marker.Other.Samples), Unit: "samples"})
	f.Summary = fmt.Sprintf("%s: %s runs on the side that is named as the one without it (%s samples), and not on the other: the two look exchanged", name, marker, unit.Count(s.marker.Base.Samples))
	f.Advice = []finding.Advice{{Text: "exchange the names of the two sides, or record both anew with the setting read back in the same script", Reference: "bench/no-effect"}}
	f.Caveats = []string{"a function may be named after what it avoids"}
	return f, true
}

func placeOf(p *flame.Profile, text string) finding.Evidence {
	var e finding.Evidence
	e.Source, e.Line, e.Text = p.Source, max(1, p.Line), text
	return e
}

// contradiction makes the finding about outputs that prove opposite differences of one setting.
func contradiction(c bench.Contradiction) finding.Finding {
	name := c.Setting
	if c.Others != "" {
		name += " with " + c.Others
	}
	f := finding.Finding{
		Severity:   finding.Warning,
		Confidence: finding.Low,
		Reasons:    []string{"each difference is proven by itself (Student's t); what the sets had in common is told by their labels only"},
		Subject:    finding.Subject{Kind: "benchmark", Key: "no-effect " + name, Name: name},
		Summary:    fmt.Sprintf("%s: %s against %s is proven to raise and to lower the result: %s; the labels of one output are exchanged, the setting was not in force in one, or something else changed between them", name, c.To, c.From, differencesText(c.Outputs)),
		Advice:     []finding.Advice{{Text: "read the setting back with each run, write what else was changed into the labels, and record both states in turns on one build", Reference: "bench/no-effect"}},
		Caveats:    []string{"a patch that was applied between two outputs explains them as well"},
	}
	if c.SameLoad {
		f.Confidence = finding.Medium
		f.Reasons = append(f.Reasons, "the labels name one load")
	}
	for _, o := range c.Outputs {
		f.Measures = append(f.Measures, finding.Measure{Name: "difference_ratio", Value: o.Percent / 100, Unit: "ratio"})
		f.Evidence = append(f.Evidence, finding.At(o.Pos, "%s: %+.3g %% +/- %.2g %%", o.Label, o.Percent, o.MarginPercent))
	}
	return f
}

func differencesText(outputs []bench.LabelledDifference) string {
	var words []string
	for _, o := range outputs {
		words = append(words, fmt.Sprintf("%+.3g %%", o.Percent))
	}
	return strings.Join(words, ", ")
}

// noEffectOf says of two results what speaks against that they are two sides of a change.
func noEffectOf(c *Changes, base, other *analyze.Result) []string {
	texts := []string{}
	limits := noEffectRule().Resolve(nil)
	for _, p := range c.Profiles {
		for i := range base.Models.Profiles {
			for k := range other.Models.Profiles {
				off, on := base.Models.Profiles[i], other.Models.Profiles[k]
				if off.Source != p.Base || on.Source != p.Other {
					continue
				}
				if f, ok := judgeProfiles(off, on, "", limits); ok {
					texts = append(texts, strings.TrimPrefix(f.Summary, "the change: "))
				}
			}
		}
	}
	if tools := settingTools(base, other); c.Counters != nil && len(c.Counters.Settings) == 0 && len(tools) > 0 {
		texts = append(texts, "the settings that both sides recorded ("+strings.Join(tools, ", ")+") are the same: what was changed is not among them, or was not in force")
	}
	return texts
}

// settingTools returns the outputs of settings that both results have.
func settingTools(base, other *analyze.Result) []string {
	tools := func(r *analyze.Result) []string {
		var list []string
		for _, h := range r.Models.Hosts {
			for _, i := range h.Interfaces {
				for _, d := range i.Dumps {
					if len(d.Settings) > 0 && strings.HasPrefix(d.Tool, "ethtool-") && !slices.Contains(list, d.Tool) {
						list = append(list, d.Tool)
					}
				}
			}
		}
		return list
	}
	others := tools(other)
	return slices.DeleteFunc(tools(base), func(t string) bool { return !slices.Contains(others, t) })
}
