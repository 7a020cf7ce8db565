package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// RSSImbalance finds receive queues that take very unequal parts of the traffic.
func RSSImbalance() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "rss/imbalance",
			Title: "receive queues are loaded very unequally",
			Method: "Packets of each receive queue, from two snapshots of ethtool -S. Queues with at least least-packets are active; the busiest is set against the mean of the active ones. If all queues of the table are active there are flows enough to judge. " +
				"If some are idle, either there are few flows, which counters do not tell (then it only says so), or only the first ones are used: the indirection table (ethtool -x) tells.",
			Params: []finding.Param{
				{Name: "ratio", Default: 2, Unit: "ratio", Doc: "busiest queue to the mean of the active ones; 16 flows on 4 queues gave 1.5 by chance"},
				{Name: "least-packets", Default: 1000, Unit: "packets", Doc: "of a queue, for it to count as active: fewer say nothing of how load is spread"},
				{Name: "least-rate", Default: 1000, Unit: "packets/s", Doc: "of all queues"},
				{Name: "least-time", Default: 1, Unit: "s", Doc: "length of the series"},
				{Name: "warning-rate", Default: 100000, Unit: "packets/s", Doc: "of the busiest queue, for a warning, and of all for an info: below it one CPU carries it easily"},
			},
			FalsePositives: "A hash spreads flows, not packets: with fewer than about four flows for each queue, or one very large one, this is what it does. Flow steering (ethtool -N, aRFS) and RSS contexts spread on purpose. Counters of queues are not read at one instant.",
			References:     []string{"Linux Documentation/networking/scaling.rst, RSS", "ethtool(8), -x, -X"},
		},
		Judge: judgeRSSImbalance,
	}
}

// queueSpread is how the packets of an interface lie over its receive queues.
type queueSpread struct {
	queues  []QueueLoad
	active  int // queues with at least some packets
	busiest *QueueLoad
	total   uint64
	mean    float64 // of the active
	rate    float64 // packets/s of all
	idle    int
}

// spread returns nil if the queues' load over a known time is not known, or too little to judge.
func (i *Interface) spread(p finding.Params) *queueSpread {
	s := queueSpread{queues: i.QueueLoad()}
	sum := uint64(0)
	for k := range s.queues {
		q := &s.queues[k]
		s.total += q.Packets
		if s.busiest == nil || q.Packets > s.busiest.Packets {
			s.busiest = q
		}
		if float64(q.Packets) >= p["least-packets"] {
			s.active++
			sum += q.Packets
		}
	}
	if s.active == 0 || !s.busiest.series.Timed() || s.busiest.series.Span().Seconds() < p["least-time"] {
		return nil
	}
	s.mean, s.idle = float64(sum)/float64(s.active), len(s.queues)-s.active
	s.rate = float64(s.total) / s.busiest.series.Span().Seconds()
	if s.rate < p["least-rate"] {
		return nil
	}
	return &s
}

func judgeRSSImbalance(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, i := range h.Interfaces {
		s := i.spread(p)
		if s == nil || s.active < 2 {
			continue
		}
		ratio := float64(s.busiest.Packets) / s.mean
		if ratio <= p["ratio"] && s.idle == 0 {
			continue
		}
		if f := i.imbalanced(h, s, ratio, p); f.Severity > finding.Info || s.rate >= p["warning-rate"] { // below it one CPU is enough
			found = append(found, f)
		}
	}
	return found
}

func (i *Interface) imbalanced(h *Host, s *queueSpread, ratio float64, p finding.Params) finding.Finding {
	q := s.busiest
	f := s.finding(h, i)
	f.Measures = append([]finding.Measure{{Name: "busiest_to_mean", Value: ratio, Unit: "ratio", Threshold: finding.Threshold(p["ratio"])}}, f.Measures...)
	show := finding.Advice{Text: fmt.Sprintf("ethtool -x %s shows the table; ethtool -X %s equal %d, or weights, spreads it anew; then compare the queues again", i.Name, i.Name, len(s.queues)), Reference: "ethtool(8), -X"}
	covered := i.tableQueues()
	switch {
	case s.idle > 0 && covered > 0 && covered < len(s.queues) && s.active >= covered:
		f.Severity = finding.Notice
		f.Summary = fmt.Sprintf("the indirection table of %s covers only %d of its %d receive queues: the other %d are idle", i.Name, covered, len(s.queues), s.idle)
		f.Advice = []finding.Advice{show}
		f.Evidence = append(f.Evidence, i.settingEvidence("ethtool-x", "table-entries")...)
	case s.idle > 0 || ratio <= p["ratio"]:
		f.Severity, f.Confidence = finding.Info, finding.Low
		f.Summary = fmt.Sprintf("%d of %d receive queues of %s are idle: too few flows to judge how load is spread", s.idle, len(s.queues), i.Name)
		f.Caveats = append(f.Caveats, "whether there were few flows, or the table leaves queues out, cannot be seen from counters")
		f.Advice = []finding.Advice{{Text: "count the flows (ss -tn | wc -l), and look at the table: ethtool -x " + i.Name, Reference: "Linux Documentation/networking/scaling.rst"}}
	default:
		f.Severity = finding.Notice
		if float64(q.Packets)/q.series.Span().Seconds() >= p["warning-rate"] {
			f.Severity = finding.Warning
		}
		f.Confidence = min(f.Confidence, finding.Medium)
		f.Reasons = append(f.Reasons, "all queues are active, so that there are several flows for each; their sizes are not known")
		f.Summary = fmt.Sprintf("receive queue %d of %s takes %s of the packets, %s times the mean of its %d active queues", q.Queue, i.Name, unit.Percent(float64(q.Packets)/float64(s.total)), unit.Number(ratio), s.active)
		f.Caveats = append(f.Caveats, "one very large flow looks the same; a hash cannot divide it")
		f.Advice = []finding.Advice{show}
	}
	return f
}

// finding begins a finding about the queues of an interface.
func (s *queueSpread) finding(h *Host, i *Interface) finding.Finding {
	f := finding.Finding{Subject: h.subject("interface", i.Name)}
	f.Confidence, f.Reasons, f.Caveats = s.busiest.series.trust()
	f.End = s.busiest.series.Span()
	f.Measures = []finding.Measure{
		{Name: "queue_share", Value: float64(s.busiest.Packets) / float64(max(1, s.total)), Unit: "ratio"},
		{Name: "active_queues", Value: float64(s.active), Unit: "queues"},
		{Name: "queues", Value: float64(len(s.queues)), Unit: "queues"},
		{Name: "packets_per_second", Value: s.rate, Unit: "packets/s"},
	}
	f.Evidence = ends(s.busiest.Name, s.busiest.change)
	for k := range s.queues {
		if q := &s.queues[k]; q != s.busiest && len(f.Evidence) < 5 {
			f.Evidence = append(f.Evidence, finding.At(q.Pos, "%s: +%s to %s", q.Name, count(q.Packets), count(q.Last)))
		}
	}
	return f
}

// tableQueues returns how many queues the indirection table holds, 0 if it is not recorded.
func (i *Interface) tableQueues() (n int) {
	if d := i.dump("ethtool-x"); d != nil {
		for _, s := range d.Settings {
			if s.Name == "table-entries" && s.Queue >= 0 {
				n++
			}
		}
	}
	return n
}
