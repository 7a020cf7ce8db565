package lockstat

import (
	"cmp"
	"slices"

	"nettrace/finding"
	"nettrace/kernel"
)

// class is all locks of a table with one key.
type class struct {
	key    string
	stats  Stats
	locks  []*Lock
	known  *kernel.NetworkLock
	byTime int // rank, from 1
	count  int // rank by contentions
}

// judgement is a table on trial.
type judgement struct {
	rule    string
	table   *Table
	params  finding.Params
	classes []*class // longest wait first
	cpus    float64  // 1 where not known
	lossy   bool     // events were lost in recording
}

func newJudgement(rule string, t *Table, p finding.Params) *judgement {
	j := &judgement{rule: rule, table: t, params: p, cpus: float64(t.CPUs), lossy: lossy(t)}
	if j.cpus == 0 {
		j.cpus = max(p["cpus"], 1)
	}
	known := map[string]kernel.NetworkLock{}
	for _, n := range kernel.NetworkLocks() {
		if _, dup := known[n.Name]; !dup || n.System == t.Tool.System {
			known[n.Name] = n
		}
	}
	for _, c := range t.classes() {
		if n, ok := known[c.locks[0].Known]; ok {
			c.known = &n
		}
		if c.stats.Contentions > 0 || c.stats.Wait > 0 || c.stats.Hold > 0 {
			j.classes = append(j.classes, c)
		}
	}
	j.rank()
	return j
}

// classes takes the locks of a table with one key together, in the order of their first ones.
func (t *Table) classes() []*class {
	var list []*class
	byKey := map[string]*class{}
	for i := range t.Locks {
		l := &t.Locks[i]
		c := byKey[l.Key]
		if c == nil {
			c = &class{key: l.Key}
			byKey[l.Key] = c
			list = append(list, c)
		}
		c.locks = append(c.locks, l)
		c.stats.merge(&l.Stats)
	}
	return list
}

func (j *judgement) rank() {
	slices.SortStableFunc(j.classes, func(a, b *class) int { return cmp.Or(compare(ByCount, &a.stats, &b.stats), cmp.Compare(a.key, b.key)) })
	for i, c := range j.classes {
		c.count = i + 1
	}
	slices.SortStableFunc(j.classes, func(a, b *class) int { return cmp.Or(longer(&a.stats, &b.stats), cmp.Compare(a.key, b.key)) })
	for i, c := range j.classes {
		c.byTime = i + 1
	}
}

// waited reports whether threads waited for the class.
func (c *class) waited() bool { return c.stats.Contentions > 0 || c.stats.Wait > 0 }

// commonParams are the thresholds that all rules over locks share.
func commonParams() []finding.Param {
	return []finding.Param{
		{Name: "cpus", Default: 0, Unit: "CPUs", Doc: "CPUs of the machine, where the output does not say; 0 judges spinning as a share of one CPU"},
		{Name: "probe-cost", Default: 1000, Unit: "ns", Doc: "what recording one event costs, for the caveat on the load of the recording itself: about 1 us for a DTrace probe with an aggregation or a perf event with its stack; an estimate, measure your own"},
	}
}

// references are the manuals that say how locks are measured.
func references(more ...string) []string {
	return append([]string{"FreeBSD lockstat(1)", "illumos lockstat(8)", "Linux Documentation/locking/lockstat.rst", "perf-lock(1)"}, more...)
}

// lossy reports whether the recording missed events, so that counts are too low and waits may be wrong.
func lossy(t *Table) bool {
	for _, l := range t.Losses {
		switch l.Name {
		case "records-lost", "aggregation-drops", "dynamic-variable-drops", "trace-drops", "events-lost", "samples-lost", "bad-pairs", "begin-without-end":
			return true
		}
	}
	return len(t.Quarantined) > 0
}

// severity grades a class by what it costs, and says by which measure.
func (j *judgement) severity(c *class) (finding.Severity, string) {
	s, p := &c.stats, j.params
	worst, why := finding.Info, ""
	raise := func(to finding.Severity, reason string) {
		if to > worst {
			worst, why = to, reason
		}
	}
	long := float64(s.WaitMax) > p["max-wait"]
	if long {
		raise(finding.Notice, "max-wait")
	}
	if j.table.Seconds > 0 {
		switch spun := j.spun(s); {
		case spun > p["spin-warning"]:
			raise(finding.Warning, "spin-warning")
		case spun > p["spin-notice"]:
			raise(finding.Notice, "spin-notice")
		}
		switch waiters := j.waiters(s); {
		case waiters > p["waiters-warning"]:
			raise(finding.Warning, "waiters-warning")
		case waiters > p["waiters-notice"]:
			raise(finding.Notice, "waiters-notice")
		}
	} else if float64(s.Wait) >= p["least-wait"] && ratio(s.Wait, j.table.Total.Wait) >= p["least-share"] {
		if ratio(s.Wait, s.Hold) > p["waiters-warning"] {
			raise(finding.Warning, "waiters-warning")
		}
		if ratio(s.Contentions, s.Acquisitions) > p["contended-notice"] {
			raise(finding.Notice, "contended-notice")
		}
	}
	if worst > finding.Notice && j.suspect(c) {
		worst = finding.Notice
	}
	return worst, why
}

// spun is the share of all CPU time that was spun away.
func (j *judgement) spun(s *Stats) float64 { return s.Spin.Seconds() / (j.table.Seconds * j.cpus) }

// waiters is how many threads waited without spinning, on average.
func (j *judgement) waiters(s *Stats) float64 { return (s.Wait - s.Spin).Seconds() / j.table.Seconds }

// suspect reports whether most of the wait may be one pair of events whose middle was lost.
func (j *judgement) suspect(c *class) bool {
	return j.lossy && c.stats.WaitMax > c.stats.Wait/2 && float64(c.stats.WaitMax) > j.params["max-wait"]
}
