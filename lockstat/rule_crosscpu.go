package lockstat

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// CrossCPU finds locks that are handed from CPU to CPU.
func CrossCPU() finding.On[*Table] {
	return finding.On[*Table]{
		Rule: finding.Rule{
			Name:  "lock/cross-cpu",
			Title: "a contended lock moves from CPU to CPU",
			Method: "/proc/lock_stat counts contentions whose holder is on another CPU (con-bounces); of raw events those are counted that get a lock which another CPU had last. Where nearly all contentions are such, and waiting costs something, the lock and what it guards travel between the caches with each acquisition: " +
				"work for one queue, one socket or one table is done on several CPUs.",
			Params: append([]finding.Param{
				{Name: "share", Default: 0.8, Unit: "ratio", Doc: "share of the contentions; a spin lock is only ever contended from another CPU, so what counts is that it costs, too; set by judgement"},
				{Name: "least", Default: 1000, Unit: "contentions", Doc: "fewer contentions are not judged"},
				{Name: "waiting", Default: 0.01, Unit: "threads", Doc: "wait per elapsed time below which it costs nothing"},
				{Name: "least-wait", Default: 1e9, Unit: "ns", Doc: "total wait below which it is not judged without elapsed time"},
			}, commonParams()...),
			FalsePositives: "On a machine with two CPUs every contention of a spin lock is between the two. A global lock that is rarely taken by each of many CPUs bounces as much and may cost little. The tools do not tell whether the other CPU shares a cache with this one.",
			References:     references(),
		},
		Judge: judgeCrossCPU,
	}
}

func judgeCrossCPU(t *Table, p finding.Params) []finding.Finding {
	if !t.Keyed.byLock() {
		return nil
	}
	j := newJudgement("lock/cross-cpu", t, p)
	var findings []finding.Finding
	for _, c := range j.classes {
		s := &c.stats
		share := ratio(s.Bounces, s.Contentions)
		costs := float64(s.Wait) >= p["least-wait"]
		if t.Seconds > 0 {
			costs = s.Wait.Seconds()/t.Seconds >= p["waiting"]
		}
		if share < p["share"] || float64(s.Contentions) < p["least"] || !costs || len(findings) == maxFindings {
			continue
		}
		f := j.finding(c, finding.Notice, "")
		f.Summary = fmt.Sprintf("%s: %s of %s came from another CPU; %s of wait", c.name(), unit.Percent(share), number(s.Contentions, "contention"), s.Wait)
		if who := c.who(); who != "" {
			f.Summary += "; " + who
		}
		f.Measures = append(f.Measures, finding.Measure{Name: "bounce_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(p["share"])},
			finding.Measure{Name: "bounces", Value: float64(s.Bounces), Unit: "contentions"})
		findings = append(findings, f)
	}
	return findings
}
