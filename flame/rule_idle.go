package flame

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// Idle tells how much of a profile is idle CPUs, since pictures and tables of all of it hide the rest.
func Idle() finding.On[*Profile] {
	return finding.On[*Profile]{Judge: judgeIdle, Rule: finding.Rule{
		Name:   "stack/idle",
		Title:  "A part of the profile is idle CPUs",
		Method: "Samples whose stack comes to a kernel's idle loop before it comes to an interrupt, as a share of all. The shares that other rules tell are of the rest. It is a fact and no fault, so its severity is info.",
		Params: []finding.Param{
			{Name: "share", Default: 0.1, Unit: "ratio", Doc: "share of all samples from which on it is told; chosen: below, shares of all and of busy time look alike"},
			minSamples(),
		},
		FalsePositives: "An event that stops with the CPU's clock (cycles) has no samples of halted CPUs, so that idle time does not show. perf record of programs, not of all CPUs (-a), has none either. In a virtual machine an idle guest CPU may be polling (poll_idle, haltpoll).",
		References:     []string{"Linux drivers/cpuidle, kernel/sched/idle.c", "FreeBSD sys/x86/x86/cpu_machdep.c", "illumos usr/src/uts/i86pc/os/mp_machdep.c"},
	}}
}

func judgeIdle(p *Profile, t finding.Params) []finding.Finding {
	w := newWorkload(p)
	if w == nil || w.idleShare() < t["share"] || float64(w.idle.samples)/float64(p.Scale) < t["min-samples"] {
		return nil
	}
	f := finding.Finding{
		Severity: finding.Info, Subject: finding.Subject{Kind: "profile", Key: "idle", Name: "idle CPUs"}, Source: p.Source, Start: p.Start, End: p.End,
		Summary: fmt.Sprintf("%s of the samples (%s) are of idle CPUs, in %s; shares of busy time are of the rest", unit.Percent(w.idleShare()), w.count(&w.idle), w.idle.main(2)),
		Measures: []finding.Measure{
			{Name: "idle_share", Value: w.idleShare(), Unit: "ratio", Threshold: finding.Threshold(t["share"])},
			{Name: "idle_samples", Value: float64(w.idle.samples) / float64(p.Scale), Unit: "samples"},
		},
		Evidence: stackEvidence(p, "stack/idle", "idle", w.idle.stacks),
		Caveats:  p.lossCaveat(),
	}
	f.Confidence, f.Reasons = w.confidence(&w.idle)
	return []finding.Finding{f}
}
