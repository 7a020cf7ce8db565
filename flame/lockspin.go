package flame

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/perf"
	"nettrace/unit"
)

// LockSpin finds functions for whose locks CPUs spin.
func LockSpin() finding.On[*Profile] {
	return finding.On[*Profile]{Judge: judgeLockSpin, Rule: finding.Rule{
		Name:  "stack/lock-spin",
		Title: "CPU time is burnt waiting for a kernel lock",
		Method: "Of the samples of the event that stands for CPU time, those are counted whose stack, from the leaf on, comes to the slow path of a spin lock, or of a lock that spins " +
			"before it sleeps, before it comes to an interrupt, a context switch or a sleep. Each is charged to the first caller that is no part of a lock. The share is of " +
			"busy time: idle samples are left out. Functions that turn interrupts on are no contention, however hot they look.",
		Params: []finding.Param{
			{Name: "share", Default: 0.01, Unit: "ratio", Doc: "share of busy CPU time from which on a caller is named, at notice; chosen: run-to-run differences of a benchmark hide less"},
			{Name: "warning", Default: 0.05, Unit: "ratio", Doc: "share from which on it is a warning; chosen: a core of twenty does nothing else"},
			{Name: "critical", Default: 0.25, Unit: "ratio", Doc: "share from which on it is the main cost; the report of IOMMU lock contention below mlx4_en speaks of more than 30 % of the time"},
			{Name: "min-samples", Default: 10, Unit: "samples", Doc: "samples that a caller needs: the standard error of a count of 10 is 32 %"},
		},
		FalsePositives: "The share is a lower bound where the event is a clock without an NMI (cpu-clock, task-clock, virtual machines): a CPU that spins with interrupts off is sampled only when it turns " +
			"them on, at _raw_spin_unlock_irqrestore and the like, where the wait cannot be told from the work done under the lock. These samples are measured apart and never counted. " +
			"Kernels with ticket locks (Linux before 4.2) spin within _raw_spin_lock itself and show nothing here. A virtual CPU that is descheduled while it holds a lock makes others spin for a time that the " +
			"bare machine would not show. perf report and flame graph tools show the slow path's time by stack and leave it to the reader to join the callers; they agree with the sum.",
		References: []string{"Linux kernel/locking/qspinlock.c, qrwlock.c, mutex.c, rwsem.c", "FreeBSD sys/kern/kern_mutex.c, kern_rwlock.c, kern_sx.c", "illumos usr/src/uts/common/os/mutex.c"},
	}}
}

func judgeLockSpin(p *Profile, t finding.Params) []finding.Finding {
	index, event, err := p.index(Column{})
	if err != nil || !samplesTime(event.Name) {
		return nil
	}
	j := spinJudge{profile: p, event: event, params: t, spinning: newSpinScan(p).measure(p, index, index-1), locks: kernel.NewLockIndex()}
	others := &spinCaller{name: "other callers", locks: map[*kernel.Code]int64{}}
	var findings []finding.Finding
	for _, name := range slices.Sorted(names(j.callers)) {
		c := j.callers[name]
		if j.enough(c) {
			findings = append(findings, j.finding(c))
		} else {
			others.merge(c)
		}
	}
	if j.enough(others) {
		findings = append(findings, j.finding(others))
	}
	return findings
}

func names[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

// spinJudge makes findings of what was measured.
type spinJudge struct {
	*spinning
	profile *Profile
	event   *EventTotal
	params  finding.Params
	locks   *kernel.LockIndex
}

func (j *spinJudge) share(value int64) float64 {
	if j.busy == 0 {
		return 0
	}
	return float64(value) / float64(j.busy)
}

func (j *spinJudge) enough(c *spinCaller) bool {
	return j.share(c.value) >= j.params["share"] && float64(c.samples)/float64(j.profile.Scale) >= j.params["min-samples"]
}

func (j *spinJudge) finding(c *spinCaller) finding.Finding {
	share, code := j.share(c.value), c.lock()
	f := finding.Finding{
		Severity: finding.Notice,
		Subject:  finding.Subject{Kind: "function", Key: c.name, Name: c.name},
		Source:   j.profile.Source,
		Start:    j.profile.Start, End: j.profile.End,
		Effect:  finding.Effect{Share: share},
		Summary: fmt.Sprintf("CPUs spin %s of their busy time (%s of %s samples) for %s that %s takes", unit.Percent(share), j.count(c.samples), j.count(j.busySamples), withArticle(code.Lock), c.name),
		Measures: []finding.Measure{
			{Name: "spin_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(j.params["share"])},
			{Name: "spin_samples", Value: float64(c.samples) / float64(j.profile.Scale), Unit: "samples"},
			{Name: "idle_share", Value: float64(j.idle) / float64(max(sum(j.idle, j.busy), 1)), Unit: "ratio"},
			{Name: "interrupts_enabled_share", Value: j.share(j.interruptsEnabled), Unit: "ratio"},
		},
		Evidence: stackEvidence(j.profile, "stack/lock-spin", c.name, c.stacks),
		Advice:   j.advice(c, code),
		Caveats:  j.caveats(c),
	}
	switch {
	case share >= j.params["critical"]:
		f.Severity = finding.Critical
	case share >= j.params["warning"]:
		f.Severity = finding.Warning
	}
	if isClock(j.event.Name) {
		f.Effect.Lost = unit.Nanos(c.value)
		f.Measures = append(f.Measures, finding.Measure{Name: "spin_time", Value: float64(c.value), Unit: "ns"})
	}
	f.Confidence, f.Reasons = j.confidence(c)
	return f
}

func (j *spinJudge) count(samples int64) string { return unit.Count(rounded(samples, j.profile.Scale)) }

func withArticle(noun string) string {
	if noun != "" && strings.Contains("aeiou", noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}

// lock returns the slow path with the most time.
func (c *spinCaller) lock() *kernel.Code {
	var best *kernel.Code
	for code, value := range c.locks {
		if best == nil || cmp.Or(-cmp.Compare(value, c.locks[best]), strings.Compare(code.Functions[0], best.Functions[0])) < 0 {
			best = code
		}
	}
	return best
}

func (j *spinJudge) confidence(c *spinCaller) (finding.Level, []string) {
	samples := "counted in " + j.count(c.samples) + " samples"
	switch {
	case j.event.Name == perf.NoEvent:
		return finding.Low, []string{samples, "the text does not name the event, so the samples may not stand for CPU time"}
	case c.samples < 100:
		return finding.Medium, []string{samples + ", too few for an exact share"}
	}
	return finding.High, []string{samples, "the slow path runs only when the lock is held by another CPU"}
}

func (j *spinJudge) caveats(c *spinCaller) []string {
	var caveats []string
	if isSoftClock(j.event.Name) {
		caveats = append(caveats, fmt.Sprintf("%s is sampled without NMI: spinning with interrupts off shows only where they are turned on (%s of busy time is found there and not counted), so the share is a lower bound",
			j.event.Name, unit.Percent(j.share(j.interruptsEnabled))))
	}
	caveats = append(caveats, j.profile.lossCaveat()...)
	if j.spunIn("__pv_queued_spin_lock_slowpath", c) {
		caveats = append(caveats, "a virtual machine: a CPU of it that the host stops while it holds the lock makes the others spin")
	}
	return caveats
}

// spunIn reports whether one of the caller's stacks holds a function.
func (j *spinJudge) spunIn(function string, c *spinCaller) bool {
	for _, i := range c.stacks {
		for _, l := range j.profile.pprof.Sample[i].Location {
			for _, line := range l.Line {
				if kernel.Function(line.Function.Name) == function {
					return true
				}
			}
		}
	}
	return false
}

func (j *spinJudge) advice(c *spinCaller, code *kernel.Code) []finding.Advice {
	var advice []finding.Advice
	if lock := j.locks.Find("", c.name); lock != nil {
		for _, text := range lock.Advice {
			advice = append(advice, finding.Advice{Text: lock.Title + ": " + text, Reference: lock.Reference})
		}
	}
	switch code.System {
	case "Linux":
		return append(advice, finding.Advice{Text: "perf lock record -a -- sleep 5; perf lock contention -l tells which lock it is, who waits and how long; nettrace locks reads its output", Reference: "perf-lock(1)"})
	case "FreeBSD":
		return append(advice, finding.Advice{Text: "lockstat -A -s 8 sleep 5 tells which lock it is, who holds it and for how long; nettrace locks reads its output", Reference: "lockstat(1)"})
	}
	return append(advice, finding.Advice{Text: "lockstat -A -s 8 sleep 5 tells which lock it is and who waits; nettrace locks reads its output", Reference: "lockstat(1M)"})
}
