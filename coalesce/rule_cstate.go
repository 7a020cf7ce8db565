package coalesce

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// CState finds idle states whose exit delays the packets of a busy but not full host.
func CState() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "host/c-state",
			Title: "CPUs sleep so deeply between packets that waking up is a part of each transaction",
			Method: "An idle state costs its exit latency whenever an interrupt ends it. The rule takes the states that a CPU was in for a good part of the time (cpuidle's own counters over the recording, or turbostat), with their latency as cpuidle tells it (the kernel's figure for C6 where only turbostat was recorded), and sets it against the time of an observed transaction: " +
				"once for each end that sleeps. Without a transaction it only says so, if packets come at a rate at which the CPU sleeps and wakes for each.",
			Params: []finding.Param{
				{Name: "residency", Default: 0.2, Unit: "ratio", Doc: "of the CPU's time in the state"},
				{Name: "latency", Default: 40, Unit: "us", Doc: "of the state's exit: C1 has 1 to 2 us, C1E 4 to 10, C3 40 to 80, C6 85 to 290 (drivers/idle/intel_idle.c)"},
				{Name: "typical", Default: 133, Unit: "us", Doc: "latency of C6 and deeper where cpuidle's figure was not recorded: Skylake server's (intel_idle.c, skx_cstates)"},
				{Name: "share", Default: 0.1, Unit: "ratio", Doc: "of a transaction's time, for a notice"},
				{Name: "warning-share", Default: 0.3, Unit: "ratio", Doc: "for a warning"},
				{Name: "rate", Default: 1000, Unit: "interrupts/s", Doc: "of network devices on the CPU, without an observed transaction, for an info"},
			},
			FalsePositives: "The latencies are worst cases that the kernel plans with; measured ones are about half. A CPU that sleeps deeply may not be the one that takes the packets. Virtual machines halt instead, at their host's cost. Saving power is why it is so: an idle host is right to sleep.",
			References:     []string{"Linux Documentation/admin-guide/pm/cpuidle.rst", "Linux drivers/idle/intel_idle.c", "cpupower-idle-set(1)"},
		},
		Judge: judgeCState,
	}
}

// sleep is a deep state that a CPU was in.
type sleep struct {
	cpu       int
	state     string
	residency float64
	latency   float64 // us
	assumed   bool
	evidence  finding.Evidence
}

func judgeCState(h *Host, p finding.Params) []finding.Finding {
	deepest, ok := h.deepest(p)
	if !ok {
		return nil
	}
	f := finding.Finding{Subject: h.subject("host", "idle states"), Confidence: finding.Medium}
	f.Summary = fmt.Sprintf("CPU %d is in %s for %s of the time, which takes up to %s us to leave", deepest.cpu, deepest.state, unit.Percent(deepest.residency), unit.Number(deepest.latency))
	f.Reasons = []string{"cpuidle's counters over the recording"}
	if deepest.assumed {
		f.Confidence, f.Reasons = finding.Low, []string{"turbostat's residency, with the usual latency of the state"}
	}
	f.Measures = []finding.Measure{{Name: "residency", Value: deepest.residency, Unit: "ratio", Threshold: finding.Threshold(p["residency"])}, {Name: "exit_latency", Value: deepest.latency, Unit: "us", Threshold: finding.Threshold(p["latency"])}}
	f.Evidence = []finding.Evidence{deepest.evidence}
	f.Advice = []finding.Advice{{Text: fmt.Sprintf("cpupower idle-set -D %d, and run it once more; for good: tuned-adm profile network-latency, or a program that holds /dev/cpu_dma_latency open", int(p["latency"])/4), Reference: "cpupower-idle-set(1); Linux Documentation/admin-guide/pm/cpuidle.rst"}}
	e := h.Exchange
	if e == nil || e.Outstanding != 1 || e.Transaction() <= 0 {
		if h.networkInterrupts(deepest.cpu) < p["rate"] {
			return nil
		}
		f.Severity = finding.Info
		f.Summary += "; its network interrupts come at " + rateText(h.networkInterrupts(deepest.cpu))
		f.Caveats = []string{"what it costs is not known without a request/response rate of the same time"}
		return []finding.Finding{f}
	}
	share := min(0.9, deepest.latency/1e6/e.Transaction().Seconds())
	severity, over := grade(share, p["share"], p["warning-share"])
	if !over {
		return nil
	}
	f.Severity, f.Effect.Share, f.Source = severity, share*deepest.residency, e.Pos.Source
	f.Summary += fmt.Sprintf(": %s of a transaction's %v", unit.Percent(share), e.Transaction())
	f.Measures = append(f.Measures, finding.Measure{Name: "latency_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(p["share"])})
	f.Evidence = append(f.Evidence, finding.At(e.Pos, "%s: %s transactions/s, one outstanding", e.From, unit.Number(e.Rate)))
	f.Advice[0].Predicted = &finding.Prediction{Value: e.Rate / (1 - share/2), Low: e.Rate, High: e.Rate / (1 - share), Unit: "transactions/s",
		Assumptions: []string{"each transaction wakes this CPU once, at half of the state's latency; from never to once at all of it"}}
	return []finding.Finding{f}
}

// deepest returns the state that costs most: of the CPUs that were in one for long enough, that with the longest latency,
// and of several the one with most time in it.
func (h *Host) deepest(p finding.Params) (found sleep, ok bool) {
	for _, s := range append(h.cpuidle(), h.turbostat(p["typical"])...) {
		if s.residency < p["residency"] || s.latency < p["latency"] {
			continue
		}
		if !ok || s.latency > found.latency || s.latency == found.latency && s.residency > found.residency {
			found, ok = s, true
		}
	}
	return found, ok
}

// cpuidle returns the states that were counted at two times, as shares of the time between.
func (h *Host) cpuidle() []sleep {
	var list []sleep
	for _, s := range h.Machine.IdleStates {
		seconds := s.Seconds
		if seconds <= 0 || s.Disable {
			continue
		}
		list = append(list, sleep{cpu: s.CPU, state: s.Name, residency: min(1, float64(s.Time)/1e6/seconds), latency: float64(s.Latency),
			evidence: finding.At(s.Pos, "state %d of CPU %d, %s: %s us in %s times", s.State, s.CPU, s.Name, count(s.Time), count(s.Usage))})
	}
	return list
}

// turbostat returns the residency in C6 and deeper.
func (h *Host) turbostat(latency float64) []sleep {
	var list []sleep
	for _, r := range h.Reported {
		cpu, isCPU := strings.CutPrefix(r.Subject, "CPU ")
		n, number := parseUint([]byte(cpu))
		deep := r.Name == "CPU%c6" || r.Name == "CPU%c7" || r.Name == "%c6" || r.Name == "%c7"
		if r.Tool != "turbostat" || !isCPU || !number || n >= maxCPU || !deep {
			continue
		}
		list = append(list, sleep{cpu: int(n), state: strings.ToUpper(r.Name[len(r.Name)-2:]), residency: r.Mean / 100, latency: latency, assumed: true,
			evidence: finding.At(r.Pos, "turbostat: %s of CPU %d is %s as a mean", r.Name, n, unit.Percent(r.Mean/100))})
	}
	return list
}

// networkInterrupts returns the rate of network interrupts of a CPU.
func (h *Host) networkInterrupts(cpu int) (rate float64) {
	for _, s := range h.tables("proc-interrupts") {
		if !s.Timed() {
			continue
		}
		for _, d := range h.devices(s) {
			for _, r := range d.rows {
				for _, c := range r.CPUs {
					if c.CPU == cpu {
						rate += float64(c.Delta) / s.Span().Seconds()
					}
				}
			}
		}
	}
	return rate
}
