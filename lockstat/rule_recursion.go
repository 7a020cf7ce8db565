package lockstat

import (
	"fmt"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// Recursion finds threads that take a lock which they have.
func Recursion() finding.On[*Table] {
	return finding.On[*Table]{
		Rule: finding.Rule{
			Name:  "lock/recursion",
			Title: "a thread takes a lock that it has",
			Method: "lockstat counts recursive entries (event 60); of lockdep's raw events an acquisition is one if the same thread has the same lock and neither tried nor only reads. FreeBSD allows it for locks made so (MTX_RECURSE, SX_RECURSE) and illumos and Linux for none: " +
				"there it is a dead lock, or events were lost between the two acquisitions. Where it is allowed, it hides how long the lock is really held.",
			Params:         append([]finding.Param{{Name: "least", Default: 1, Unit: "entries", Doc: "recursive entries at one place: one is enough"}}, commonParams()...),
			FalsePositives: "Lost events: a release that is not in the recording makes the next acquisition look recursive.",
			References:     references("FreeBSD mutex(9), sx(9)"),
		},
		Judge: judgeRecursion,
	}
}

func judgeRecursion(t *Table, p finding.Params) []finding.Finding {
	j := newJudgement("lock/recursion", t, p)
	known := kernel.NewLockIndex()
	var findings []finding.Finding
	for i := range t.Recursions {
		r := &t.Recursions[i]
		n := sum(r.Wait.Count, r.Spins.Count)
		if float64(n) < p["least"] || len(findings) == maxFindings {
			continue
		}
		lock := Lock{Name: r.Lock, Kind: r.Kind, Key: r.Lock}
		c := &class{key: function(r.Caller) + " recursion", locks: []*Lock{&lock}, known: known.Find(r.Lock, r.Caller)}
		f := j.finding(c, finding.Notice, "")
		f.Summary = fmt.Sprintf("%s was taken %s by a thread that had it", c.name(), unit.Count(n)+" times")
		if n == 1 {
			f.Summary = c.name() + " was taken once by a thread that had it"
		}
		if r.Caller != "" {
			f.Summary += ", at " + r.Caller
		}
		f.Measures = append(f.Measures[:4:4], finding.Measure{Name: "entries", Value: float64(n), Unit: "entries", Threshold: finding.Threshold(p["least"])}) // the four of all rules over locks
		f.Evidence = []finding.Evidence{finding.At(r.Pos, "%s at %s", r.Lock, r.Caller)}
		f.Advice = []finding.Advice{{Text: "see how it gets there twice: lockstat -s 10, or perf record -g -e lock:lock_acquire; split the function into one that takes the lock and one that expects it", Reference: "FreeBSD mutex(9)"}}
		findings = append(findings, f)
	}
	return findings
}
