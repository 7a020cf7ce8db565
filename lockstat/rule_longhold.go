package lockstat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// LongHold finds locks that are held so long that the work under them is serial.
func LongHold() finding.On[*Table] {
	return finding.On[*Table]{
		Rule: finding.Rule{
			Name:  "lock/long-hold",
			Title: "a lock is held for much of the time",
			Method: "The time for which one lock was held is compared with elapsed time. What is done under it is done by one CPU at a time, so with a share h no number of CPUs makes the whole more than 1/h times as fast as it is (Amdahl's law). " +
				"Holds of readers are left out, since they may overlap; a class of several locks has no such bound, and says so. A single hold longer than max-hold is reported too: whoever comes then waits as long.",
			Params: append([]finding.Param{
				{Name: "share", Default: 0.5, Unit: "ratio", Doc: "share of elapsed time for which one lock is held: half of it bounds the speed-up at 2; a notice, and a warning where threads waited for it"},
				{Name: "max-hold", Default: 10e6, Unit: "ns", Doc: "one hold that is worth a notice: longer than a network round trip; set by judgement"},
			}, commonParams()...),
			FalsePositives: "A lock that one thread holds and nobody else wants costs nothing. A mutex that is held while its thread sleeps (for a command of the firmware, for the disk) is held long without work. klockstat and lockstat time their own probes with each hold.",
			References:     references("G. Amdahl, Validity of the single processor approach, AFIPS 1967"),
		},
		Judge: judgeLongHold,
	}
}

func judgeLongHold(t *Table, p finding.Params) []finding.Finding {
	if !t.Keyed.byLock() {
		return nil
	}
	j := newJudgement("lock/long-hold", t, p)
	var findings []finding.Finding
	for _, c := range j.classes {
		hold := c.exclusive()
		share := 0.0
		if t.Seconds > 0 {
			share = hold.Seconds() / t.Seconds
		}
		long := float64(c.stats.HoldMax) > p["max-hold"]
		if share < p["share"] && !long || len(findings) == maxFindings {
			continue
		}
		severity := finding.Notice
		if share >= p["share"] && c.waited() {
			severity = finding.Warning
		}
		f := j.finding(c, severity, "")
		f.Summary, f.Evidence = j.holdSummary(c, hold, share), append(c.holds(), f.Evidence[:min(len(f.Evidence), 1)]...)
		m := finding.Measure{Name: "hold_max", Value: float64(c.stats.HoldMax), Unit: "ns"}
		if long {
			m.Threshold = finding.Threshold(p["max-hold"])
		}
		f.Measures = append(f.Measures, m)
		if share >= p["share"] {
			f.Measures = append(f.Measures, finding.Measure{Name: "hold_share", Value: share, Unit: "ratio", Threshold: finding.Threshold(p["share"])})
			if share <= 1 && c.single() {
				f.Measures = append(f.Measures, finding.Measure{Name: "speedup_bound", Value: 1 / share})
			}
		}
		findings = append(findings, f)
	}
	return findings
}

// holds cites the places that hold the lock longest.
func (c *class) holds() []finding.Evidence {
	list := []finding.Evidence{}
	sites := c.sites()
	slices.SortStableFunc(sites, func(a, b *Site) int { return -cmp.Compare(a.Hold, b.Hold) })
	for _, s := range sites[:min(len(sites), 3)] {
		if s.Hold > 0 && len(s.Pos) > 0 {
			list = append(list, finding.At(s.Pos[len(s.Pos)-1], "%s: held %s in %s", s.Caller, s.Hold, number(s.Acquisitions, "acquisition")))
		}
	}
	return list
}

// exclusive is how long the class was held without the holds that readers share.
func (c *class) exclusive() unit.Nanos {
	var total unit.Nanos
	for _, l := range c.locks {
		hold := l.Hold
		for _, s := range l.Shares {
			if s.Event == "R/W reader hold" || s.Event == "SX shared hold" {
				hold -= min(s.Time, hold)
			}
		}
		for i := range l.Sites {
			if strings.HasSuffix(l.Sites[i].Kind, ":R") {
				hold -= min(l.Sites[i].Hold, hold)
			}
		}
		if l.Kind != "read" {
			total = sum(total, hold)
		}
	}
	return total
}

// single reports whether the class is one lock: a name of its own, as global variables have, and no class of lockdep's
// for members of structures ("&list->lock").
func (c *class) single() bool {
	names := map[string]bool{}
	for _, l := range c.locks {
		names[strings.TrimSuffix(l.Name, "-W")] = true
		if strings.Contains(l.Name, "->") || strings.HasPrefix(l.Name, "&") || l.Name == otherLocks {
			return false
		}
	}
	return len(names) == 1
}

func (j *judgement) holdSummary(c *class, hold unit.Nanos, share float64) string {
	text := fmt.Sprintf("%s: held %s", c.name(), hold)
	if c.stats.Acquisitions > 0 {
		text += " in " + number(c.stats.Acquisitions, "acquisition")
	}
	if c.stats.HoldMax > 0 {
		text += ", longest at least " + c.stats.HoldMax.String()
	}
	switch {
	case share < j.params["share"]:
	case share > 1:
		text += fmt.Sprintf("; %s of the time: several locks of one class, each of them held for a part of it", unit.Percent(share))
	case !c.single():
		text += fmt.Sprintf("; %s of the time, if it is one lock, which bounds what more CPUs can bring at %s times the work", unit.Percent(share), unit.Number(1/share))
	default:
		text += fmt.Sprintf("; %s of the time, so that more CPUs can bring at most %s times the work", unit.Percent(share), unit.Number(1/share))
	}
	if c.waited() {
		text += "; " + counted(&c.stats)
	} else {
		text += "; nobody was seen to wait for it"
	}
	if who := c.who(); who != "" {
		text += "; " + who
	}
	return text
}
