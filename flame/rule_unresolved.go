package flame

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"nettrace/finding"
	"nettrace/perf"
	"nettrace/unit"
)

// Unresolved finds profiles whose functions have no names.
func Unresolved() finding.On[*Profile] {
	return finding.On[*Profile]{Judge: judgeUnresolved, Rule: finding.Rule{
		Name:   "stack/unresolved",
		Title:  "Functions have no names",
		Method: "The sampled function itself, the leaf of each stack of the main event, is looked at: it has no symbol where the tool printed [unknown], an address, or a module with an address. The share is of all samples, and is told by object.",
		Params: []finding.Param{
			{Name: "share", Default: 0.02, Unit: "ratio", Doc: "share of all samples from which on it is told, at info; chosen"},
			{Name: "notice", Default: 0.1, Unit: "ratio", Doc: "share of all samples in functions of the kernel without names from which on it is a notice; chosen: what hides in it may be the main cost. 0 to 1 % are measured in recordings with symbols. Programs without names are told at info, as all rules on stacks are about the kernel"},
			{Name: "warning", Default: 0.5, Unit: "ratio", Doc: "the same for a warning; chosen: most of the profile cannot be read"},
			minSamples(),
		},
		FalsePositives: "Callers without names are not counted: libraries built without frame pointers give wrong ones (stack/truncated tells). Code that has no symbols on purpose, such as trampolines, stays without.",
		References:     []string{"perf-script(1), perf-report(1)", "Linux Documentation/admin-guide/sysctl/kernel.rst (kptr_restrict)", "Linux tools/perf/Documentation/jit-interface.txt"},
	}}
}

// unresolved is what a profile has without names.
type unresolved struct {
	all     int64
	samples int64
	part
	kinds map[Kind]int64
}

func judgeUnresolved(p *Profile, t finding.Params) []finding.Finding {
	index, _, err := p.index(Column{})
	if err != nil {
		return nil
	}
	u := unresolved{kinds: map[Kind]int64{}}
	for i, s := range p.pprof.Sample {
		value, samples := s.Value[index], s.Value[index-1]
		u.all, u.samples = sum(u.all, value), sum(u.samples, samples)
		if len(s.Location) == 0 || value == 0 {
			continue
		}
		if object, kind, missing := nameless(s.Location[0]); missing {
			u.add(value, samples, object, i)
			u.kinds[kind] = sum(u.kinds[kind], value)
		}
	}
	if ratio(u.value, u.all) < t["share"] || float64(u.part.samples)/float64(p.Scale) < t["min-samples"] {
		return nil
	}
	return []finding.Finding{u.finding(p, t)}
}

// nameless tells whether the innermost function of a location has no name, and what is known of it.
func nameless(l *profile.Location) (object string, kind Kind, missing bool) {
	if len(l.Line) == 0 {
		return "", User, false
	}
	name := l.Line[0].Function.Name
	module, address, ticked := strings.Cut(name, "`")
	if !ticked {
		module, address = "", name
	}
	if name != perf.Unknown && !isAddress([]byte(address)) {
		return "", User, false
	}
	if l.Mapping != nil {
		object = l.Mapping.File
	}
	kind = kindOf(object)
	if object == "" && len(address) == 18 && strings.HasPrefix(address, "0xffff") {
		kind = Kernel
	}
	return cmp.Or(module, object, "no known object"), kind, true
}

func (u *unresolved) finding(p *Profile, t finding.Params) finding.Finding {
	share := ratio(u.value, u.all)
	f := finding.Finding{
		Severity: graded(ratio(u.byName()[Kernel.String()], u.all), t), Confidence: finding.High, Reasons: []string{"the text itself says so"},
		Subject: finding.Subject{Kind: "profile", Key: "unresolved", Name: "functions without names"}, Source: p.Source, Start: p.Start, End: p.End,
		Summary: fmt.Sprintf("%s of the samples (%s of %s) are in functions without names, mostly in %s", unit.Percent(share),
			unit.Count(rounded(u.part.samples, p.Scale)), unit.Count(rounded(u.samples, p.Scale)), u.main(2)),
		Measures: []finding.Measure{
			{Name: "unresolved_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(t["share"])},
			{Name: "unresolved_samples", Value: float64(u.part.samples) / float64(p.Scale), Unit: "samples"},
		},
		Evidence: stackEvidence(p, "stack/unresolved", "unresolved", u.stacks),
	}
	kinds := slices.SortedFunc(names(u.byName()), func(a, b string) int { return cmp.Or(-cmp.Compare(u.byName()[a], u.byName()[b]), cmp.Compare(a, b)) })
	for _, kind := range kinds {
		if ratio(u.byName()[kind], u.value) >= 0.1 {
			f.Advice = append(f.Advice, symbolsOf(kind))
		}
	}
	return f
}

func (u *unresolved) byName() map[string]int64 {
	m := map[string]int64{}
	for kind, value := range u.kinds {
		if kind == Module {
			kind = Kernel
		}
		m[kind.String()] = sum(m[kind.String()], value)
	}
	return m
}

// symbolsOf says how the names of a kind of code are got.
func symbolsOf(kind string) finding.Advice {
	switch kind {
	case Kernel.String():
		return finding.Advice{Text: "the kernel hides its symbols from users without privilege: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=-1, or run perf record and perf script as root, on the machine and boot that was recorded; elsewhere give perf script --kallsyms FILE or --vmlinux FILE",
			Reference: "Linux Documentation/admin-guide/sysctl/kernel.rst"}
	case JIT.String():
		return finding.Advice{Text: "let the run-time compiler write its symbols: java -XX:+PreserveFramePointer with perf-map-agent or -XX:+DumpPerfMapAtExit, node --perf-basic-prof; or perf record -k 1 with a jitdump agent and perf inject --jit",
			Reference: "Linux tools/perf/Documentation/jitdump-specification.txt"}
	}
	return finding.Advice{Text: "install the debug symbols of the program and its libraries, or build without stripping them (file PROGRAM tells); print the stacks while the program runs and on the same machine, or take perf archive along",
		Reference: "perf-archive(1)"}
}
