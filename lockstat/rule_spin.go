package lockstat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// Spinning finds CPU time that is burnt on all locks together.
func Spinning() finding.On[*Table] {
	return finding.On[*Table]{
		Rule: finding.Rule{
			Name:  "lock/spin",
			Title: "CPUs spin for locks",
			Method: "The time spun on all locks together is compared with elapsed time times CPUs. Many locks that each cost little can burn as much as one that lock/contention names; the finding lists those that burn most, and their part. " +
				"Without elapsed time, or where spinning is counted in loop iterations (illumos, Solaris), it says nothing.",
			Params: append([]finding.Param{
				{Name: "notice", Default: 0.01, Unit: "ratio", Doc: "share of all CPU time that is spun away; set by judgement: one percent is what a profile just shows"},
				{Name: "warning", Default: 0.05, Unit: "ratio", Doc: "the same for a warning; set by judgement. The mlx4_en thread had more than 30 %"},
			}, commonParams()...),
			FalsePositives: "A virtual CPU that is taken away while it holds a lock makes others spin long: then the host's load is to blame (steal in /proc/stat). Spinning of mutexes and semaphores is counted only where the tool tells it from sleeping: lockstat, raw events, not perf's tables.",
			References:     references("netdev 2011, mlx4_en: map entire pages to increase throughput"),
		},
		Judge: judgeSpinning,
	}
}

func judgeSpinning(t *Table, p finding.Params) []finding.Finding {
	j := newJudgement("lock/spin", t, p)
	all := &class{key: "all locks", stats: t.Total}
	for _, c := range j.classes {
		if c.stats.Spin > 0 {
			all.locks = append(all.locks, c.locks...)
		}
	}
	if !t.Keyed.byLock() || t.Seconds <= 0 || len(all.locks) == 0 {
		return nil
	}
	severity, threshold := finding.Info, p["notice"]
	switch share := j.spun(&t.Total); {
	case share > p["warning"]:
		severity, threshold = finding.Warning, p["warning"]
	case share > p["notice"]:
		severity = finding.Notice
	default:
		return nil
	}
	slices.SortStableFunc(j.classes, func(a, b *class) int { return -cmp.Compare(a.stats.Spin, b.stats.Spin) })
	f := j.finding(all, severity, "")
	f.Subject.Name, f.Effect = "spinning for locks", finding.Effect{Lost: t.Total.Spin, Share: min(j.spun(&t.Total), 1)}
	f.Summary = j.spinSummary()
	f.Measures = append(f.Measures, finding.Measure{Name: "spin_total", Value: float64(t.Total.Spin), Unit: "ns"})
	for i := range f.Measures {
		if f.Measures[i].Name == "spin_share" {
			f.Measures[i].Threshold = finding.Threshold(threshold)
		}
	}
	f.Measures = slices.DeleteFunc(f.Measures, func(m finding.Measure) bool { return strings.HasPrefix(m.Name, "rank_") })
	if known := j.classes[0].known; known != nil {
		f.Advice = j.advice(j.classes[0])
	}
	return []finding.Finding{f}
}

func (j *judgement) spinSummary() string {
	of := fmt.Sprintf("of the %s CPUs", unit.Number(j.cpus))
	if j.cpus == 1 && j.table.CPUs != 1 {
		of = "of one CPU"
	}
	var parts []string
	for _, c := range j.classes {
		if c.stats.Spin > 0 && len(parts) < 3 {
			parts = append(parts, fmt.Sprintf("%s %s", c.name(), unit.Percent(ratio(c.stats.Spin, j.table.Total.Spin))))
		}
	}
	return fmt.Sprintf("%s were spun for locks, %s %s: %s", j.table.Total.Spin, unit.Percent(j.spun(&j.table.Total)), of, strings.Join(parts, ", "))
}
