package lockstat

import (
	"fmt"
	"slices"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// confidence says how far the figures of a class can be trusted.
func (j *judgement) confidence(c *class) (finding.Level, []string) {
	level, reasons := finding.High, []string{}
	lower := func(to finding.Level, reason string) {
		level = min(level, to)
		reasons = append(reasons, reason)
	}
	if j.suspect(c) {
		lower(finding.Low, "events were lost, and most of the wait is one wait: its end may be that of another")
	} else if j.lossy {
		lower(finding.Medium, "events were lost")
	}
	switch {
	case j.table.Seconds == 0:
		lower(finding.Medium, "the output does not say how long was recorded")
	case j.table.Seconds < 1:
		lower(finding.Medium, "less than a second was recorded")
	}
	if slices.ContainsFunc(j.table.Losses, func(l Loss) bool { return l.Name == "cut-input" || l.Name == "cut-by-hand" || l.Name == "damaged-line" }) {
		lower(finding.Medium, "rows of the table are missing")
	}
	if level == finding.High {
		reasons = append(reasons, "every wait in the recording was counted")
	}
	return level, reasons
}

// caveats says why a finding may be wrong.
func (j *judgement) caveats(c *class) []string {
	t, s, list := j.table, &c.stats, []string{}
	for _, l := range t.Losses {
		list = append(list, l.Text)
	}
	if n := len(t.Quarantined); n > 0 {
		q := &t.Quarantined[0]
		list = append(list, fmt.Sprintf("in no sum, since they cannot be true: %s, such as %s (%s; %s)", number(int64(n), "row"), q.Caller+q.Lock, q.Reason, place(q.Pos)))
	}
	if t.Seconds > 0 && t.CPUs == 0 && s.Spin > 0 {
		if j.cpus == 1 {
			list = append(list, "the number of CPUs is not in the output, so spinning is given as a share of one; set it with --param "+j.rule+".cpus=N")
		} else {
			list = append(list, fmt.Sprintf("spinning is judged for %s CPUs, as set", unit.Number(j.cpus)))
		}
	}
	if s.WaitSlack > 0 && s.Wait > 0 && ratio(s.WaitSlack, s.Wait) >= 0.01 {
		list = append(list, fmt.Sprintf("the total is computed from rounded figures and may be off by %s", s.WaitSlack))
	}
	if s.Iterations > 0 {
		list = append(list, "spinning was counted in loop iterations, not in time: the total wait lacks it")
	}
	if c.known == nil && len(c.locks) > 1 && isAddress(c.locks[0].Name) {
		list = append(list, fmt.Sprintf("the %d locks are heap addresses taken together by their caller; they may be unlike", len(c.locks)))
	}
	if slices.Contains(t.Tool.Options, "-W") || slices.Contains(t.Tool.Options, "-w") {
		list = append(list, "recorded with -w or -W: a row sums all callers or all locks and names only the hottest")
	}
	if load := j.load(); load >= 0.01 {
		list = append(list, fmt.Sprintf("recording took about %s of a CPU by itself (%s events/s at %s each): under it locks are held longer than without", unit.Percent(load), unit.Number(j.events()/t.Seconds), unit.Nanos(j.params["probe-cost"])))
	}
	return list
}

func place(p source.Pos) string { return fmt.Sprintf("line %d", p.Line) }

// events is how many events were recorded.
func (j *judgement) events() float64 {
	n := float64(0)
	for _, e := range j.table.Events {
		n += float64(e.Count)
	}
	return n
}

// load is what the recording itself took, as a share of one CPU.
func (j *judgement) load() float64 {
	if j.table.Seconds == 0 {
		return 0
	}
	return j.events() / j.table.Seconds * j.params["probe-cost"] / 1e9
}
