package lockstat

import (
	"nettrace/finding"
)

// Contention finds the locks that threads lose time on.
func Contention() finding.On[*Table] {
	return finding.On[*Table]{
		Rule: finding.Rule{
			Name:  "lock/contention",
			Title: "threads wait for a lock",
			Method: "Locks with one key (a class, a caller, or the known network lock behind heap addresses) are judged together. Time spun is compared with elapsed time times CPUs, since it burns them; " +
				"time waited with elapsed time, which gives how many threads wait on average. Where the output does not say how long was recorded (perf lock, /proc/lock_stat), the waits are compared with the holds and the acquisitions of the lock itself. " +
				"A single wait longer than max-wait is reported too. Each finding gives the lock's rank by time and by count, since a few long waits can outweigh thousands of short ones, and splits the callers by their part in the datapath.",
			Params: append([]finding.Param{
				{Name: "spin-notice", Default: 0.01, Unit: "ratio", Doc: "share of all CPU time that is spun away on one lock, from which on it is worth a notice; set by judgement"},
				{Name: "spin-warning", Default: 0.05, Unit: "ratio", Doc: "the same, from which on it is a warning; set by judgement. The mapping lock of the mlx4_en thread took more than 30 % of the CPUs"},
				{Name: "waiters-notice", Default: 0.1, Unit: "threads", Doc: "threads that wait for one lock on average (wait per elapsed time); set by judgement"},
				{Name: "waiters-warning", Default: 1, Unit: "threads", Doc: "the same for a warning: at any moment somebody waits. Also the number of waiters for each holder (wait per hold time) where elapsed time is not known"},
				{Name: "max-wait", Default: 10e6, Unit: "ns", Doc: "one wait that is worth a notice: longer than a network round trip and than most scheduler delays; set by judgement"},
				{Name: "contended-notice", Default: 0.1, Unit: "ratio", Doc: "share of the acquisitions that had to wait, where elapsed time is not known; set by judgement"},
				{Name: "least-wait", Default: 1e9, Unit: "ns", Doc: "total wait below which waiters-warning and contended-notice are not judged without elapsed time"},
				{Name: "least-share", Default: 0.01, Unit: "ratio", Doc: "share of all lock wait in the table below which a lock is not judged without elapsed time"},
			}, commonParams()...),
			FalsePositives: "A thread that sleeps on a lock may have had nothing better to do: waits of background work count like those of the packet path. On virtual machines a holder that lost its CPU makes others wait long. " +
				"On FreeBSD a wait that first spins and then blocks counts as two contentions (the times are separate parts of it). Loop iterations of illumos are not time: such locks are ranked by count only. " +
				"perf and lockstat name a heap lock by its address; locks of one caller are taken for one class. Differs from the tools' own ranking, which goes by one column, row by row.",
			References: references("netdev 2011, mlx4_en: map entire pages to increase throughput", "FreeBSD review D21122, iflib: bypass mp_ring"),
		},
		Judge: judgeContention,
	}
}

// maxFindings bounds the findings of one table.
const maxFindings = 8

func judgeContention(t *Table, p finding.Params) []finding.Finding {
	if !t.Keyed.byLock() { // threads are not to blame for the locks that they wait for
		return nil
	}
	j := newJudgement("lock/contention", t, p)
	var findings []finding.Finding
	for _, c := range j.classes {
		if s, why := j.severity(c); s > finding.Info && len(findings) < maxFindings {
			findings = append(findings, j.finding(c, s, why))
		}
	}
	if len(findings) == 0 && len(j.classes) > 0 && j.classes[0].waited() {
		findings = append(findings, j.finding(j.classes[0], finding.Info, "below every threshold"))
	}
	return findings
}
