package lockstat

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// Convoy finds locks behind which threads queue.
func Convoy() finding.On[*Table] {
	return finding.On[*Table]{
		Rule: finding.Rule{
			Name:  "lock/convoy",
			Title: "threads queue for a lock",
			Method: "A convoy is a queue that does not dissolve: who gets the lock comes back before the others are through, and each acquisition waits for several holds. Raw events tell how many waited at once: wait time by the time in which anybody waited is the mean queue. " +
				"Where a tool tells waits, holds and acquisitions, a mean wait of several mean holds while most acquisitions wait says the same. More threads then add to the wait and to nothing else.",
			Params: append([]finding.Param{
				{Name: "queue", Default: 3, Unit: "threads", Doc: "mean number of waiters while anybody waits, or mean wait by mean hold: two can happen by chance, at three the lock is passed on along a queue; set by judgement"},
				{Name: "most", Default: 4, Unit: "threads", Doc: "waiters at once, where they are known"},
				{Name: "waited-share", Default: 0.1, Unit: "ratio", Doc: "share of elapsed time in which somebody waits, where it is known: shorter queues dissolve"},
				{Name: "contended", Default: 0.5, Unit: "ratio", Doc: "share of the acquisitions that wait, where waiters are not known"},
				{Name: "least", Default: 100, Unit: "contentions", Doc: "fewer waits are no queue to judge"},
			}, commonParams()...),
			FalsePositives: "A class of many locks has no common queue: for lockdep's classes the mean wait by the mean hold is that of each. A few very long holds lengthen the mean wait without a queue: see the histogram. Of readers and a writer that wait together, all readers get the lock at once.",
			References:     references("M. Blasgen et al., The convoy phenomenon, Operating Systems Review 13(2), 1979"),
		},
		Judge: judgeConvoy,
	}
}

func judgeConvoy(t *Table, p finding.Params) []finding.Finding {
	if !t.Keyed.byLock() {
		return nil
	}
	j := newJudgement("lock/convoy", t, p)
	var findings []finding.Finding
	for _, c := range j.classes {
		q := j.queue(c)
		if q.threads < p["queue"] || float64(c.stats.Contentions) < p["least"] || len(findings) == maxFindings {
			continue
		}
		severity := finding.Notice
		if t.Seconds > 0 && c.stats.Wait.Seconds()/t.Seconds >= 1 {
			severity = finding.Warning
		}
		f := j.finding(c, severity, "")
		f.Summary = fmt.Sprintf("%s: %s; %s", c.name(), q.text, counted(&c.stats))
		if who := c.who(); who != "" {
			f.Summary += "; " + who
		}
		f.Measures = append(f.Measures, finding.Measure{Name: "queue", Value: q.threads, Unit: "threads", Threshold: finding.Threshold(p["queue"])})
		if c.stats.WaitersMax > 0 {
			f.Measures = append(f.Measures, finding.Measure{Name: "waiters_max", Value: float64(c.stats.WaitersMax), Unit: "threads"})
		}
		f.Caveats = append(f.Caveats, "more threads would only wait: shorten what is done under the lock, or give each CPU one of its own")
		findings = append(findings, f)
	}
	return findings
}

// queue is how many threads stand before a lock on average, 0 where it is no queue or not known.
type queue struct {
	threads float64
	text    string
}

func (j *judgement) queue(c *class) queue {
	s, p := &c.stats, j.params
	if s.Waited > 0 {
		mean := ratio(s.Wait, s.Waited)
		if float64(s.WaitersMax) < p["most"] || j.table.Seconds > 0 && s.Waited.Seconds()/j.table.Seconds < p["waited-share"] {
			return queue{}
		}
		return queue{mean, fmt.Sprintf("while anybody waited, %s threads did on average, at most %d", unit.Number(mean), s.WaitersMax)}
	}
	if s.Contentions == 0 || s.Acquisitions == 0 || s.Hold == 0 || ratio(s.Contentions, s.Acquisitions) < p["contended"] {
		return queue{}
	}
	wait, hold := s.Wait/unit.Nanos(s.Contentions), s.Hold/unit.Nanos(s.Acquisitions)
	return queue{ratio(wait, hold), fmt.Sprintf("a wait of %s lasts %s holds of %s on average, and %s of the acquisitions wait", wait, unit.Number(ratio(wait, hold)), hold, unit.Percent(ratio(s.Contentions, s.Acquisitions)))}
}
