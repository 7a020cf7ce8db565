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

// workload is what the CPU time of a profile goes to, by classes of code.
type workload struct {
	profile *Profile
	event   *EventTotal

	busy, idle part
	classes    map[kernel.Class]*part // Softirq, InterruptEntry (what runs in the interrupt itself), Copy, DMAMap
	ksoftirqd  part                   // of Softirq, what its threads run
	displaced  int64                  // found where interrupts are turned on at the end of an interrupt: others' time
	cpus       map[string]*cpuLoad    // by label; empty where samples have none
}

// part is a share of a profile.
type part struct {
	value, samples int64
	functions      map[string]int64 // value by the function that told the class
	stacks         []int            // pprof samples
}

// cpuLoad is what of one CPU's samples is softirq work.
type cpuLoad struct{ all, softirq, samples int64 }

func (p *part) add(value, samples int64, function string, stack int) {
	p.value, p.samples = sum(p.value, value), sum(p.samples, samples)
	if p.functions == nil {
		p.functions = map[string]int64{}
	}
	p.functions[function] = sum(p.functions[function], value)
	p.stacks = append(p.stacks, stack)
}

// main names the functions with the most of the part.
func (p *part) main(n int) string {
	list := slices.SortedFunc(names(p.functions), func(a, b string) int {
		return cmp.Or(-cmp.Compare(p.functions[a], p.functions[b]), strings.Compare(a, b))
	})
	return strings.Join(list[:min(n, len(list))], ", ")
}

// newWorkload measures the main event; nil if its samples do not stand for CPU time.
func newWorkload(p *Profile) *workload {
	index, event, err := p.index(Column{})
	if err != nil || !samplesTime(event.Name) {
		return nil
	}
	w := &workload{profile: p, event: event, classes: map[kernel.Class]*part{}, cpus: map[string]*cpuLoad{}}
	for _, class := range []kernel.Class{kernel.Softirq, kernel.InterruptEntry, kernel.Copy, kernel.DMAMap} {
		w.classes[class] = &part{}
	}
	scan := newSpinScan(p)
	var stack []int32
	for i, s := range p.pprof.Sample {
		if value := s.Value[index]; value > 0 {
			stack = scan.view.stack(stack[:0], s)
			w.sample(scan, stack, value, s.Value[index-1], i, thread(s), label(s.Label["cpu"]))
		}
	}
	return w
}

func label(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func (w *workload) sample(scan *spinScan, stack []int32, value, samples int64, i int, thread, cpu string) {
	if code, at := scan.judge(stack); code != nil && code.Class == kernel.Idle {
		w.idle.add(value, samples, kernel.Function(scan.view.frames[stack[at]].Name), i)
		w.cpu(cpu, value, 0, samples)
		return
	}
	w.busy.add(value, samples, "", i)
	softirq := int64(0)
	for class, at := range w.classesOf(scan, stack) {
		function := kernel.Function(scan.view.frames[stack[at]].Name)
		w.classes[class].add(value, samples, function, i)
		if class == kernel.Softirq {
			softirq = value
			if strings.HasPrefix(thread, "ksoftirqd/") {
				w.ksoftirqd.add(value, samples, function, i)
			}
		}
	}
	if leaf := scan.leaf(stack); isSoftClock(w.event.Name) && endsInterrupt(leaf) {
		w.displaced = sum(w.displaced, value)
	}
	w.cpu(cpu, value, softirq, samples)
}

// classesOf walks from the leaf to where an interrupt or a switch took the CPU, and returns the classes that it meets,
// with the place of the innermost function of each. Time in an interrupt is the softirq's if one was run in it.
func (w *workload) classesOf(scan *spinScan, stack []int32) map[kernel.Class]int {
	found := map[kernel.Class]int{}
	leaf := scan.leaf(stack)
	for i := len(stack) - 1; i >= 0; i-- {
		code := scan.codes[stack[i]]
		if code == nil || isSoftClock(w.event.Name) && endsInterrupt(leaf) && (code.Class == kernel.Softirq || code.Class == kernel.InterruptEntry) {
			continue
		}
		_, seen := found[code.Class]
		switch code.Class {
		case kernel.Copy, kernel.DMAMap, kernel.Softirq:
			if !seen {
				found[code.Class] = i
			}
		case kernel.InterruptEntry:
			if _, softirq := found[kernel.Softirq]; !softirq {
				found[code.Class] = i
			}
			return found
		case kernel.ContextSwitch:
			return found
		}
	}
	return found
}

// endsInterrupt reports whether a leaf is where interrupts are turned on again within or behind an interrupt.
func endsInterrupt(leaf *kernel.Code) bool {
	return leaf != nil && leaf.Skid && (leaf.Class == kernel.Softirq || leaf.Class == kernel.InterruptEntry)
}

func (w *workload) cpu(cpu string, value, softirq, samples int64) {
	if cpu == "" {
		return
	}
	c := w.cpus[cpu]
	if c == nil {
		c = &cpuLoad{}
		w.cpus[cpu] = c
	}
	c.all, c.softirq, c.samples = sum(c.all, value), sum(c.softirq, softirq), sum(c.samples, samples)
}

// share returns what part of busy time a part is.
func (w *workload) share(p *part) float64 { return ratio(p.value, w.busy.value) }

func ratio(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// enough reports whether a part reaches a rule's lowest threshold with enough samples.
func (w *workload) enough(p *part, t finding.Params) bool {
	return w.share(p) >= t["share"] && float64(p.samples)/float64(w.profile.Scale) >= t["min-samples"]
}

// graded returns the severity that a share has.
func graded(share float64, t finding.Params) finding.Severity {
	for _, s := range []finding.Severity{finding.Critical, finding.Warning, finding.Notice} {
		if at, set := t[s.String()]; set && share >= at {
			return s
		}
	}
	return finding.Info
}

// finding makes the finding of a part of busy time; what is its verb: "copies payload".
func (w *workload) finding(rule string, p *part, subject finding.Subject, t finding.Params, what string) finding.Finding {
	share := w.share(p)
	f := finding.Finding{
		Severity: graded(share, t), Subject: subject, Source: w.profile.Source, Start: w.profile.Start, End: w.profile.End,
		Effect:  finding.Effect{Share: share},
		Summary: fmt.Sprintf("%s of busy CPU time (%s of %s samples) %s, mostly in %s", unit.Percent(share), w.count(p), w.count(&w.busy), what, p.main(2)),
		Measures: []finding.Measure{
			{Name: subject.Key + "_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(t["share"])},
			{Name: subject.Key + "_samples", Value: float64(p.samples) / float64(w.profile.Scale), Unit: "samples"},
			{Name: "idle_share", Value: w.idleShare(), Unit: "ratio"},
		},
		Evidence: stackEvidence(w.profile, rule, subject.Key, p.stacks),
		Caveats:  w.caveats(),
	}
	f.Confidence, f.Reasons = w.confidence(p)
	if f.Severity > finding.Info && isClock(w.event.Name) {
		f.Effect.Lost = unit.Nanos(p.value)
	}
	return f
}

func (w *workload) count(p *part) string { return unit.Count(rounded(p.samples, w.profile.Scale)) }

func (w *workload) idleShare() float64 {
	return ratio(w.idle.value, sum(w.idle.value, w.busy.value))
}

func (w *workload) confidence(p *part) (finding.Level, []string) {
	samples := "counted in " + w.count(p) + " samples"
	switch {
	case w.event.Name == perf.NoEvent:
		return finding.Low, []string{samples, "the text does not name the event, so the samples may not stand for CPU time"}
	case p.samples/w.profile.Scale < 100:
		return finding.Medium, []string{samples + ", too few for an exact share"}
	}
	return finding.High, []string{samples}
}

func (w *workload) caveats() []string {
	var caveats []string
	if w.displaced > 0 {
		caveats = append(caveats, fmt.Sprintf("%s is sampled without NMI: %s of busy time is found where interrupts are turned on at the end of an interrupt, and is not counted here",
			w.event.Name, unit.Percent(ratio(w.displaced, w.busy.value))))
	}
	return append(caveats, w.profile.lossCaveat()...)
}

// minSamples is the threshold that all rules over shares have.
func minSamples() finding.Param {
	return finding.Param{Name: "min-samples", Default: 10, Unit: "samples", Doc: "samples that a share needs: the standard error of a count of 10 is 32 %"}
}
