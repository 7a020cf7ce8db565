package flame

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// Truncated finds stacks that were cut off before their beginning.
func Truncated() finding.On[*Profile] {
	return finding.On[*Profile]{Judge: judgeTruncated, Rule: finding.Rule{
		Name:  "stack/truncated",
		Title: "Stacks are cut off before their beginning",
		Method: "A limit of depth shows as a pile: many stacks of exactly the greatest depth, more than twice as many as one frame below, that end in several different functions which begin no stack (a system call, an interrupt, the start of a thread or program). " +
			"Stacks whose outermost frame has no name break off elsewhere: in code without frame pointers. Both make the shares of callers too small, and a caller's boxes stand at the root beside its real place; the shares of the sampled functions are right.",
		Params: []finding.Param{
			{Name: "notice", Default: 0.1, Unit: "ratio", Doc: "share of samples in the pile from which on it is a notice; chosen: callers lose more than runs differ"},
			{Name: "broken", Default: 0.2, Unit: "ratio", Doc: "share of stacks that break off in code without names from which on it is told, at info; chosen. With a C library without frame pointers 60 to 99 % are usual, and only what stands above the system call is lost"},
			{Name: "roots", Default: 3, Unit: "functions", Doc: "how many different outermost functions a pile has at least; a program that calls only one way has one"},
			minSamples(),
		},
		FalsePositives: "Recursion that always goes equally deep, below functions that are not known as beginnings. Usual limits: perf 127 frames (kernel.perf_event_max_stack), FreeBSD's hwpmc 16 by default (kern.hwpmc.callchaindepth), DTrace 20 in the kernel (stackframes) and 100 in programs (ustackframes), bpftrace 127. " +
			"Stacks that were copied in part (perf record --call-graph dwarf,8192) end at no fixed depth and show only as broken ones.",
		References: []string{"Linux Documentation/admin-guide/sysctl/kernel.rst (perf_event_max_stack)", "FreeBSD hwpmc(4)", "dtrace(1) options stackframes, ustackframes"},
	}}
}

// depths counts stacks by their depth and by where they begin.
type depths struct {
	all       int64         // samples
	at        map[int]int64 // by depth
	deepest   int
	pile      part // of the deepest, those that end in functions that begin no stack, by function
	brokenOff part
}

func judgeTruncated(p *Profile, t finding.Params) []finding.Finding {
	index, _, err := p.index(Column{})
	if err != nil {
		return nil
	}
	d := measureDepths(p, index-1)
	if d.deepest < 2 {
		return nil // recorded without callers
	}
	pile := ratio(d.pile.samples, d.all)
	enough := func(samples int64) bool { return float64(samples)/float64(p.Scale) >= t["min-samples"] }
	switch {
	case pile >= t["notice"] && enough(d.pile.samples) && d.pile.samples > 2*d.at[d.deepest-1] && float64(len(d.pile.functions)) >= t["roots"]:
		return []finding.Finding{d.limited(p, t, pile)}
	case ratio(d.brokenOff.samples, d.all) >= t["broken"] && enough(d.brokenOff.samples):
		return []finding.Finding{d.brokenFinding(p, t)}
	}
	return nil
}

func measureDepths(p *Profile, samples int) *depths {
	d := &depths{at: map[int]int64{}}
	for _, s := range p.pprof.Sample {
		if s.Value[samples] > 0 {
			d.deepest = max(d.deepest, len(s.Location))
		}
	}
	for i, s := range p.pprof.Sample {
		n, depth := s.Value[samples], len(s.Location)
		if n <= 0 || depth == 0 {
			continue
		}
		d.all, d.at[depth] = sum(d.all, n), sum(d.at[depth], n)
		outermost := s.Location[depth-1]
		if object, _, missing := nameless(outermost); missing {
			if depth > 1 {
				d.brokenOff.add(n, n, object, i)
			}
			continue
		}
		if lines := outermost.Line; depth == d.deepest && len(lines) > 0 && !beginsStacks(lines[len(lines)-1].Function.Name) {
			d.pile.add(n, n, lines[len(lines)-1].Function.Name, i)
		}
	}
	return d
}

// beginsStacks reports whether a function is one that nothing calls: the way into the kernel, or the beginning of a thread
// or program.
func beginsStacks(name string) bool {
	if _, function, ok := strings.Cut(name, "`"); ok {
		name = function
	}
	for _, prefix := range []string{"entry_SYSCALL", "entry_INT80", "system_call", "sysenter", "sys_syscall", "_sys_sysenter", "ret_from_fork", "secondary_startup", "x86_64_start", "start_kernel", "asm_", "el0", "el1", "ret_fast_syscall",
		"__libc_start", "clone", "__clone", "start_thread", "thread_start", "_thread_start", "runtime.goexit", "runtime.mstart", "runtime.rt0", "runtime.mcall", "runtime.main", "runtime.systemstack", "kthread", "kernel_thread", "cpu_startup_entry", "do_syscall"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "_start", "main", "fork_exit", "fork_trampoline", "amd64_syscall", "Xfast_syscall", "_lwp_start", "syscall", "native_iret", "page_fault", "apic_timer_interrupt", "ret_from_intr", "xen_hvm_callback_vector":
		return true
	}
	return false
}

func (d *depths) limited(p *Profile, t finding.Params, share float64) finding.Finding {
	f := d.describe(p, &d.pile, share, "truncated")
	f.Severity = graded(share, t)
	f.Summary = fmt.Sprintf("%s of the stacks (%s of %s samples) have exactly %d frames, the most that any has, and end in %s different functions that begin no stack: a limit of depth cut them off", unit.Percent(share),
		unit.Count(rounded(d.pile.samples, p.Scale)), unit.Count(rounded(d.all, p.Scale)), d.deepest, unit.Count(int64(len(d.pile.functions))))
	f.Measures[0].Threshold = finding.Threshold(t["notice"])
	f.Measures = append(f.Measures, finding.Measure{Name: "depth", Value: float64(d.deepest), Unit: "frames"})
	f.Advice = []finding.Advice{deeper(p.Format)}
	return f
}

// deeper says how a recorder's limit is raised.
func deeper(format string) finding.Advice {
	switch format {
	case "pmcstat":
		return finding.Advice{Text: "record deeper: sysctl kern.hwpmc.callchaindepth=64 (a loader tunable on older versions)", Reference: "hwpmc(4)"}
	case "dtrace":
		return finding.Advice{Text: "record deeper: dtrace -x stackframes=100 -x ustackframes=200", Reference: "dtrace(1)"}
	case "bpftrace":
		return finding.Advice{Text: "record deeper: kstack and ustack without a number, or a larger one than kstack(N) has", Reference: "bpftrace(8)"}
	}
	return finding.Advice{Text: "record deeper: sysctl kernel.perf_event_max_stack=1024 before perf record, perf record --max-stack 1024, and perf script without a smaller --max-stack", Reference: "Linux Documentation/admin-guide/sysctl/kernel.rst"}
}

func (d *depths) brokenFinding(p *Profile, t finding.Params) finding.Finding {
	share := ratio(d.brokenOff.samples, d.all)
	f := d.describe(p, &d.brokenOff, share, "broken")
	f.Summary = fmt.Sprintf("%s of the stacks (%s of %s samples) break off in code without a name, mostly in %s: programs and libraries without frame pointers", unit.Percent(share),
		unit.Count(rounded(d.brokenOff.samples, p.Scale)), unit.Count(rounded(d.all, p.Scale)), d.brokenOff.main(2))
	f.Measures[0].Threshold = finding.Threshold(t["broken"])
	f.Advice = []finding.Advice{{Text: "if callers in programs matter: build with -fno-omit-frame-pointer, or perf record --call-graph dwarf (larger and slower), or --call-graph lbr on Intel hardware", Reference: "perf-record(1)"}}
	return f
}

func (d *depths) describe(p *Profile, of *part, share float64, key string) finding.Finding {
	return finding.Finding{
		Severity: finding.Info, Confidence: finding.Medium, Reasons: []string{"inferred from where stacks end; the text does not say that they were cut"},
		Subject: finding.Subject{Kind: "profile", Key: key, Name: key + " stacks"}, Source: p.Source, Start: p.Start, End: p.End,
		Measures: []finding.Measure{
			{Name: key + "_share", Value: share, Unit: "ratio"},
			{Name: key + "_samples", Value: float64(of.samples) / float64(p.Scale), Unit: "samples"},
		},
		Evidence: stackEvidence(p, "stack/truncated", key, of.stacks),
	}
}
