package coalesce

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// OneQueue finds receive side scaling without effect: one queue takes all.
func OneQueue() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "rss/one-queue",
			Title: "one receive queue takes all packets",
			Method: "Packets of each receive queue, from two snapshots of ethtool -S. If one queue has nearly all, and had so since the interface came up over far more packets than were recorded, scaling has no effect on this traffic; " +
				"otherwise there may just be one flow, and it only says so. The settings that were recorded are gone through as causes: number of channels (-l), indirection table (-x), fields of the hash (-n).",
			Params: []finding.Param{
				{Name: "share", Default: 0.99, Unit: "ratio", Doc: "of all packets on one queue, in the series and since the interface came up"},
				{Name: "history", Default: 10, Unit: "ratio", Doc: "packets since the interface came up to those of the series, to speak of a lasting state; 925 in the recorded case"},
				{Name: "least-packets", Default: 1000, Unit: "packets", Doc: "of a queue, for it to count as active"},
				{Name: "least-rate", Default: 1000, Unit: "packets/s", Doc: "of all queues"},
				{Name: "least-time", Default: 1, Unit: "s", Doc: "length of the series"},
				{Name: "warning-rate", Default: 100000, Unit: "packets/s", Doc: "for a warning, and for an info: above it one CPU spends a large part of its time on them"},
			},
			FalsePositives: "One flow, or one pair of addresses where only these are hashed, stays on one queue by design. Traffic that the NIC cannot hash (tunnels, PPPoE, fragments, some VLAN stacks, not IP) goes to queue 0. Flow steering may do it on purpose.",
			References:     []string{"Linux Documentation/networking/scaling.rst, RSS", "ethtool(8), -l, -x, -n"},
		},
		Judge: judgeOneQueue,
	}
}

func judgeOneQueue(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, i := range h.Interfaces {
		s := i.spread(p)
		if s == nil || float64(s.busiest.Packets) < p["share"]*float64(s.total) {
			continue
		}
		if len(s.queues) > 1 {
			if f := i.oneQueue(h, s, p); f.Severity > finding.Info || s.rate >= p["warning-rate"] { // below it one CPU is enough
				found = append(found, f)
			}
		} else if f, ok := i.oneChannel(h, s, p); ok {
			found = append(found, f)
		}
	}
	return found
}

func (i *Interface) oneQueue(h *Host, s *queueSpread, p finding.Params) finding.Finding {
	q := s.busiest
	f := s.finding(h, i)
	f.Measures[0].Threshold = finding.Threshold(p["share"])
	ever := uint64(0)
	for _, x := range s.queues {
		ever += x.Last
	}
	share := unit.Percent(float64(q.Packets) / float64(s.total))
	lasting := float64(q.Last) >= p["share"]*float64(ever) && float64(ever) >= p["history"]*float64(s.total)
	if !lasting {
		f.Severity, f.Confidence = finding.Info, finding.Low
		f.Summary = fmt.Sprintf("%s of the packets of %s are on queue %d of %d: too few flows to judge whether they are spread", share, i.Name, q.Queue, len(s.queues))
		f.Caveats = append(f.Caveats, "whether there was one flow, or the NIC does not spread them, cannot be seen from counters")
		f.Advice = []finding.Advice{{Text: "for a test with one connection this is right; else count the flows (ss -tn | wc -l) and look at ethtool -x " + i.Name, Reference: "Linux Documentation/networking/scaling.rst"}}
		return f
	}
	f.Severity = finding.Notice
	if s.rate >= p["warning-rate"] {
		f.Severity = finding.Warning
	}
	f.Confidence = min(f.Confidence, finding.Medium)
	f.Summary = fmt.Sprintf("receive side scaling of %s has no effect: %s of the packets are on queue %d of %d, now and since the interface came up (%s)", i.Name, share, q.Queue, len(s.queues), count(q.Last))
	f.Caveats = append(f.Caveats, "that all packets are of one flow cannot be excluded by counters")
	i.scalingCauses(&f, len(s.queues))
	return f
}

// scalingCauses goes through the settings that could be at fault, and gives the advice that is left.
func (i *Interface) scalingCauses(f *finding.Finding, queues int) {
	if n, ok := i.channels(); ok && n > 1 {
		f.Reasons = append(f.Reasons, fmt.Sprintf("excluded: %d channels are set", n))
		f.Evidence = append(f.Evidence, i.channelEvidence()...)
	}
	fault := false
	switch n := i.tableQueues(); {
	case n == 1:
		fault = true
		f.Reasons = append(f.Reasons, "the indirection table holds one queue only")
		f.Advice = append(f.Advice, finding.Advice{Text: fmt.Sprintf("ethtool -X %s equal %d", i.Name, queues), Reference: "ethtool(8), -X"})
	case n > 1:
		f.Reasons = append(f.Reasons, fmt.Sprintf("excluded: the indirection table holds %d queues", n))
		f.Evidence = append(f.Evidence, i.settingEvidence("ethtool-x", "table-entries")...)
	}
	for _, s := range i.hashFields() {
		flow, what, _ := strings.Cut(s.Name, " ")
		f.Evidence = append(f.Evidence, finding.At(s.Pos, "hash of %s over %s: %s", flow, what, s.Value))
		if what == "ports" && s.Value.On() {
			f.Reasons = append(f.Reasons, "excluded: addresses and ports of "+flow+" are hashed")
		} else if what == "ports" {
			fault = true
			short := strings.NewReplacer("-ipv4", "4", "-ipv6", "6").Replace(flow)
			f.Reasons = append(f.Reasons, "ports of "+flow+" are not hashed: all flows between two addresses are one")
			f.Advice = append(f.Advice, finding.Advice{Text: fmt.Sprintf("ethtool -N %s rx-flow-hash %s sdfn", i.Name, short), Reference: "ethtool(8), -N"})
		}
	}
	if !fault {
		f.Advice = append(f.Advice, finding.Advice{Text: fmt.Sprintf("what remains is that the NIC or driver does not hash this traffic (tunnelled, VLAN or PPPoE frames, or a defective model), or that it is one flow: tcpdump -c 1000 -n -e -i %s tells which", i.Name), Reference: "Linux Documentation/networking/scaling.rst, RSS"})
	}
	f.Advice = append(f.Advice, finding.Advice{Text: fmt.Sprintf("meanwhile spread in software: echo MASK > /sys/class/net/%s/queues/rx-0/rps_cpus", i.Name), Reference: "Linux Documentation/networking/scaling.rst, RPS"})
}

// hashFields returns the settings of ethtool -n, of all flows that were asked about.
func (i *Interface) hashFields() (fields []Setting) {
	for _, d := range i.Dumps {
		if d.Tool == "ethtool-n" {
			fields = append(fields, d.Settings...)
		}
	}
	return fields
}

// channels returns the number of channels that can receive.
func (i *Interface) channels() (n uint64, ok bool) {
	for _, name := range []string{"combined", "rx"} {
		s, _ := i.Setting("ethtool-l", name)
		if v, known := s.Value.Number(); known {
			n, ok = n+v, true
		}
	}
	return n, ok
}

func (i *Interface) channelEvidence() []finding.Evidence {
	if e := i.settingEvidence("ethtool-l", "combined"); len(e) > 0 {
		return e
	}
	return i.settingEvidence("ethtool-l", "rx")
}

// oneChannel judges a device that has one queue and could have more.
func (i *Interface) oneChannel(h *Host, s *queueSpread, p finding.Params) (f finding.Finding, ok bool) {
	n, known := i.channels()
	most, _ := i.Setting("ethtool-l", "combined-max")
	limit, _ := most.Value.Number()
	if !known || n != 1 || limit < 2 || s.rate < p["warning-rate"] {
		return f, false
	}
	f = s.finding(h, i)
	f.Severity = finding.Notice
	f.Summary = fmt.Sprintf("%s receives %s packets/s on one queue and could have %d", i.Name, unit.Number(s.rate), limit)
	f.Evidence = append(f.Evidence, i.channelEvidence()...)
	f.Evidence = append(f.Evidence, i.settingEvidence("ethtool-l", "combined-max")...)
	f.Advice = []finding.Advice{{Text: fmt.Sprintf("ethtool -L %s combined %d (no more than CPUs of its NUMA node)", i.Name, min(limit, 8)), Reference: "ethtool(8), -L"}}
	return f, true
}
