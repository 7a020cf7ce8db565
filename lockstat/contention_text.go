package lockstat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// finding says what a class of locks costs.
func (j *judgement) finding(c *class, severity finding.Severity, why string) finding.Finding {
	f := finding.Finding{
		Severity: severity,
		Subject:  finding.Subject{Kind: "lock", Key: c.key, Name: c.name()},
		Source:   j.table.Source,
		End:      unit.FromSeconds(j.table.Seconds),
		Effect:   finding.Effect{Lost: c.stats.Wait, Share: j.effect(c)},
		Summary:  j.summary(c),
		Measures: j.measures(c, why),
		Evidence: j.evidence(c),
		Advice:   j.advice(c),
		Caveats:  j.caveats(c),
	}
	f.Confidence, f.Reasons = j.confidence(c)
	return f
}

// name is what people call the class: a known title with what was printed.
func (c *class) name() string {
	name := c.locks[0].Name
	if n := len(c.locks); n > 1 {
		name = fmt.Sprintf("%s and %d more", name, n-1)
	}
	if c.known != nil {
		return c.known.Title + " (" + name + ")"
	}
	return name
}

// effect is the larger share: of the CPUs spun away, or of the time that one thread or more waited.
func (j *judgement) effect(c *class) float64 {
	if j.table.Seconds == 0 {
		return 0
	}
	return min(max(j.spun(&c.stats), j.waiters(&c.stats)), 1)
}

func (j *judgement) summary(c *class) string {
	s := &c.stats
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", c.name(), counted(s))
	if j.table.Seconds > 0 && s.Spin > 0 {
		of := "the CPUs"
		if j.cpus == 1 && j.table.CPUs != 1 {
			of = "one CPU"
		}
		fmt.Fprintf(&b, ", %s of %s spun away", unit.Percent(j.spun(s)), of)
	}
	if j.table.Seconds > 0 && j.waiters(s) >= 0.01 {
		fmt.Fprintf(&b, ", %s threads waiting on average", unit.Number(j.waiters(s)))
	}
	if j.table.Total.Wait > 0 {
		fmt.Fprintf(&b, "; %s of all lock wait, number %d by time and %d by count", unit.Percent(ratio(s.Wait, j.table.Total.Wait)), c.byTime, c.count)
	}
	if who := c.who(); who != "" {
		b.WriteString("; " + who)
	}
	if c.known != nil {
		b.WriteString("; " + c.known.Meaning)
	}
	return b.String()
}

// counted says how often and how long.
func counted(s *Stats) string {
	text := number(s.Contentions, "contention")
	switch {
	case s.Contentions == 0 && s.Acquisitions > 0: // none waited, or the tool does not tell which
		text = number(s.Acquisitions, "acquisition")
	case s.Acquisitions >= s.Contentions && s.Acquisitions > 0:
		text += " in " + number(s.Acquisitions, "acquisition")
	}
	if s.Iterations > 0 {
		text += ", " + unit.Count(s.Iterations) + " loop iterations of spinning"
	}
	if s.Wait == 0 {
		return text
	}
	longest := "at least "
	if s.WaitMaxExact {
		longest = ""
	}
	return fmt.Sprintf("%s, %s of wait, longest %s%s", text, s.Wait, longest, s.WaitMax)
}

// number is a count with its noun.
func number(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return unit.Count(n) + " " + noun + "s"
}

// who tells who waits: by the parts that callers play in the datapath where those are unlike, else by the callers.
func (c *class) who() string {
	var roles, callers []part
	for _, s := range c.sites() {
		if s.Contentions == 0 {
			continue
		}
		callers = add(callers, s.Caller, s)
		if s.Role != "" {
			roles = add(roles, s.Role, s)
		}
	}
	switch {
	case len(roles) > 1:
		return c.shares(roles)
	case len(callers) > 1:
		return c.shares(callers[:min(len(callers), 3)])
	}
	return ""
}

// part is what places of one name add up to.
type part struct {
	name, caller string
	stats        Stats
}

func add(parts []part, name string, s *Site) []part {
	i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
	if i < 0 {
		i = len(parts)
		parts = append(parts, part{name: name, caller: s.Caller})
	}
	parts[i].stats.merge(&s.Stats)
	return parts
}

// shares lists parts with their share of the wait, or of the contentions where the places are not timed.
func (c *class) shares(parts []part) string {
	var texts []string
	for i, p := range parts {
		share, of := ratio(p.stats.Wait, c.stats.Wait), " of the wait"
		if p.stats.Wait == 0 {
			share, of = ratio(p.stats.Contentions, c.stats.Contentions), " of the contentions"
		}
		if i > 0 {
			of = ""
		}
		text := p.name + " " + unit.Percent(share) + of
		if p.name != p.caller {
			text += " (" + p.caller + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// sites returns the places of all locks of the class, longest wait first.
func (c *class) sites() []*Site {
	var list []*Site
	for _, l := range c.locks {
		for i := range l.Sites {
			list = append(list, &l.Sites[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *Site) int { return cmp.Or(longer(&a.Stats, &b.Stats), cmp.Compare(a.Caller, b.Caller)) })
	return list
}

func (j *judgement) measures(c *class, why string) []finding.Measure {
	s := &c.stats
	threshold := func(names ...string) *float64 {
		for _, n := range names {
			if n == why {
				return finding.Threshold(j.params[n])
			}
		}
		return nil
	}
	list := []finding.Measure{
		{Name: "contentions", Value: float64(s.Contentions), Unit: "contentions"},
		{Name: "wait_total", Value: float64(s.Wait), Unit: "ns"},
		{Name: "wait_max", Value: float64(s.WaitMax), Unit: "ns", Threshold: threshold("max-wait")},
		{Name: "wait_share", Value: ratio(s.Wait, j.table.Total.Wait), Unit: "ratio"},
		{Name: "rank_by_time", Value: float64(c.byTime)},
		{Name: "rank_by_count", Value: float64(c.count)},
	}
	if j.table.Seconds > 0 {
		list = append(list,
			finding.Measure{Name: "spin_share", Value: j.spun(s), Unit: "ratio", Threshold: threshold("spin-warning", "spin-notice")},
			finding.Measure{Name: "waiters", Value: j.waiters(s), Unit: "threads", Threshold: threshold("waiters-warning", "waiters-notice")})
	}
	if s.Acquisitions > 0 && s.Contentions > 0 {
		list = append(list, finding.Measure{Name: "contended_share", Value: ratio(s.Contentions, s.Acquisitions), Unit: "ratio", Threshold: threshold("contended-notice")})
	}
	if s.Hold > 0 {
		list = append(list, finding.Measure{Name: "hold_total", Value: float64(s.Hold), Unit: "ns"})
		if j.table.Seconds == 0 {
			list = append(list, finding.Measure{Name: "waiters_per_holder", Value: ratio(s.Wait, s.Hold), Unit: "threads", Threshold: threshold("waiters-warning")})
		}
	}
	if s.Iterations > 0 {
		list = append(list, finding.Measure{Name: "spin_iterations", Value: float64(s.Iterations), Unit: "iterations"})
	}
	return list
}

// evidence cites the rows of the places that wait longest, or of the lock where the tool times only that.
func (j *judgement) evidence(c *class) []finding.Evidence {
	list := []finding.Evidence{}
	for _, l := range c.locks {
		if len(list) < 2 && len(l.Pos) > 0 && !l.timedBySite() {
			list = append(list, finding.At(l.Pos[0], "%s: %s", l.Name, counted(&l.Stats)))
		}
	}
	for _, s := range c.sites() {
		if len(list) == 4 {
			break
		}
		role := ""
		if s.Role != "" {
			role = " (" + s.Role + ")"
		}
		for _, pos := range s.Pos[:min(len(s.Pos), 1)] {
			list = append(list, finding.At(pos, "%s%s: %s", s.Caller, role, counted(&s.Stats)))
		}
	}
	for _, h := range c.locks[0].Holders[:min(len(c.locks[0].Holders), 2)] {
		for _, pos := range h.Pos[:min(len(h.Pos), 1)] {
			list = append(list, finding.At(pos, "%s held it during %s", h.Caller, number(h.Contentions, "contention")))
		}
	}
	return list
}

func (j *judgement) advice(c *class) []finding.Advice {
	list := []finding.Advice{}
	if c.known != nil {
		for _, a := range c.known.Advice {
			list = append(list, finding.Advice{Text: a, Reference: c.known.Reference})
		}
		return list
	}
	if j.table.Tool.Program == "lockstat" {
		return append(list, finding.Advice{Text: "see which paths lead to it: lockstat -s 10 -x aggsize=4m sleep 10; and how long it is held: lockstat -H -s 10 sleep 10", Reference: "lockstat(1)"})
	}
	return append(list, finding.Advice{Text: "see which paths lead to it: perf lock record -a -g -- sleep 10, then perf lock contention -v; and which lock it is: perf lock contention -a -b -l sleep 10", Reference: "perf-lock(1)"})
}
