package tcp

import (
	"cmp"
	"fmt"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// UDPLoss finds UDP flows whose datagrams do not arrive: by sequence numbers that lack, or because ICMP says so.
func UDPLoss() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "udp/loss",
			Title: "UDP datagrams are lost",
			Method: "UDP has no sequence numbers, but what it carries may: iperf3 and iperf 2 tests, and RTP. They are recognised by eight datagrams in step. Lost is what lacks between the first and the highest number and did not come late. " +
				"Where nobody listens, or a filter is in the way, the other end's ICMP errors say so; each of them stands for one datagram at least, as hosts limit how many they send.",
			Params: []finding.Param{
				{Name: "notice-share", Default: 0.001, Unit: "ratio", Doc: "part of the datagrams that must be lost for a notice (ITU-T Y.1541 table 1: the loss ratio that its classes 0 to 4 allow)"},
				{Name: "warning-share", Default: 0.01, Unit: "ratio", Doc: "and for a warning (ITU-T G.1010 table I.1: what video conferences bear)"},
				{Name: "min-lost", Default: 3, Unit: "datagrams", Doc: "lost ones below which nothing is said; own choice"},
			},
			FalsePositives: "Captured at the sender, a number that lacks was dropped above the capture (the socket's queue, the qdisc) or by the capture itself, not by the network: the confidence is low there. What the receiving socket drops for lack of buffer (nstat UdpRcvbufErrors, socket/receive-buffer) comes behind the capture and does not show. A sender that skips numbers on purpose looks like loss. tshark counts lost RTP packets (-z rtp,streams), not iperf's.",
			References:     []string{"RFC 3550 appendix A", "iperf3 iperf_udp.c", "RFC 1122 section 3.2.2.1", "ITU-T Y.1541", "ITU-T G.1010"},
		},
		Judge: perFlowHost(judgeUDPLoss),
	}
}

// lossSum is what sequence numbers of some flows tell together.
type lossSum struct {
	expected, lost, late, duplicates, gaps int64
	jitter                                 unit.Nanos
	protocol                               string
	evidence                               []finding.Evidence
	worst                                  map[int64]int64 // lost by record
	atSender, flows                        int64
}

func (t *flowTrial) losses() lossSum {
	s := lossSum{worst: map[int64]int64{}}
	for _, f := range t.flows {
		for dir := range f.Directions {
			q := f.Directions[dir].Sequence
			if q == nil {
				continue
			}
			s.expected += q.Expected
			s.late += q.Late
			s.duplicates += q.Duplicates
			s.jitter = max(s.jitter, q.Jitter)
			if q.Lost == 0 {
				continue
			}
			s.lost += q.Lost
			s.gaps += q.Gaps
			s.protocol = q.Protocol
			s.flows++
			if f.atSender(dir) {
				s.atSender++
			}
			s.evidence = append(s.evidence, t.at(f, q.Worst, "%s of %s lack before it, %s: %s of %s in all", count(q.Worst.Value, "datagram"), ways[dir], q.Protocol, unit.Count(q.Lost), unit.Count(q.Expected)))
			s.worst[q.Worst.Record] = q.Lost
		}
	}
	return s
}

func judgeUDPLoss(t *flowTrial) (f finding.Finding, ok bool) {
	s := t.losses()
	part := share(s.lost, s.expected)
	refused, where := t.refused()
	bySequence := float64(s.lost) >= t.params["min-lost"] && part > 0
	if !bySequence && refused == 0 {
		return f, false
	}
	f.Confidence, f.Reasons = finding.High, []string{"sequence numbers of " + s.protocol + " tell"}
	if bySequence {
		f.Summary = fmt.Sprintf("%s of %s datagrams are lost (%s), in %s", unit.Count(s.lost), unit.Count(s.expected), unit.Percent(part), count(s.gaps, "gap"))
		f.Severity = graded(part, t.params["notice-share"], t.params["warning-share"])
		f.Effect = finding.Effect{Share: part}
		if s.late > 0 {
			f.Summary += fmt.Sprintf("; %s came late", unit.Count(s.late))
		}
		if s.atSender == s.flows {
			f.Confidence, f.Reasons = finding.Low, append(f.Reasons, "captured at the sender: they lack above the network, or the capture dropped them")
		} else if t.capture.Dropped() > 0 {
			f.Confidence, f.Reasons = finding.Medium, append(f.Reasons, "the capture itself dropped packets")
		}
		f.Evidence = handful(s.evidence, func(a, b finding.Evidence) int {
			return cmp.Or(cmp.Compare(s.worst[b.Record], s.worst[a.Record]), cmp.Compare(a.Record, b.Record))
		})
	}
	if refused > 0 {
		t.refusal(&f, refused, where, bySequence)
	}
	f.Measures = append(f.Measures,
		finding.Measure{Name: "lost_datagrams", Value: float64(s.lost), Unit: "datagrams", Threshold: finding.Threshold(t.params["min-lost"])},
		finding.Measure{Name: "expected_datagrams", Value: float64(s.expected), Unit: "datagrams"},
		finding.Measure{Name: "lost_share", Value: part, Unit: "ratio", Threshold: finding.Threshold(t.params["notice-share"])},
		finding.Measure{Name: "late_datagrams", Value: float64(s.late), Unit: "datagrams"},
		finding.Measure{Name: "duplicate_datagrams", Value: float64(s.duplicates), Unit: "datagrams"},
		finding.Measure{Name: "icmp_errors", Value: float64(refused), Unit: "packets"})
	if s.jitter > 0 {
		f.Measures = append(f.Measures, finding.Measure{Name: "jitter", Value: float64(s.jitter), Unit: "ns"})
	}
	if bySequence {
		f.Advice = append(f.Advice, finding.Advice{
			Text:      "find where they are dropped: nstat -az UdpRcvbufErrors UdpInErrors and ss -uamn at the receiver (raise net.core.rmem_max and the socket's SO_RCVBUF), ethtool -S on both ends, tc -s qdisc at the sender; then send slower or pace (iperf3 -b, fq)",
			Reference: "udp(7), nstat(8), tc-fq(8)",
		})
	}
	f.Advice = append(f.Advice, t.show(""))
	return f, true
}

// refused counts the ICMP errors about the flows, and returns the first of each flow.
func (t *flowTrial) refused() (n int64, where []*Notice) {
	for _, f := range t.flows {
		for _, x := range t.capture.about(f.Client, f.Server, "port-unreachable", "host-unreachable", "net-unreachable", "prohibited", "hops-exceeded", "fragment-missing", tooBigNotice) {
			n += x.Count
			where = append(where, x)
		}
	}
	return n, where
}

// tooBigNotice is the kind of notice of a packet that does not fit the next link.
const tooBigNotice = "packet-too-big"

// refusal adds what ICMP says to the finding.
func (t *flowTrial) refusal(f *finding.Finding, n int64, where []*Notice, also bool) {
	text := fmt.Sprintf("%s: %s, about datagrams to %s", count(n, "ICMP error"), where[0].Kind, where[0].Dst)
	if also {
		f.Summary += "; " + text
	} else {
		f.Summary = text
		f.Reasons = []string{"the other side or a router says so"}
	}
	f.Severity = max(f.Severity, finding.Notice)
	var list []finding.Evidence
	for _, x := range where {
		list = append(list, finding.At(source.Pos{Source: t.capture.Source, Record: x.Record, Offset: x.Offset}, "%s says %s about %s > %s, %s", x.From, x.Kind, x.Src, x.Dst, count(x.Count, "time")))
	}
	f.Evidence = append(f.Evidence, handful(list, func(a, b finding.Evidence) int { return cmp.Compare(a.Record, b.Record) })...)
	advice := "a filter or the route is in the way: traceroute -U -p PORT, nft list ruleset"
	switch where[0].Kind {
	case "port-unreachable":
		advice = "nobody listens on that port: ss -lun there, or the program ended before its peer"
	case tooBigNotice:
		advice = fmt.Sprintf("the datagrams are larger than the path's MTU (%d): send smaller ones, or let the kernel fragment (IP_MTU_DISCOVER)", where[0].MTU)
	}
	f.Advice = append(f.Advice, finding.Advice{Text: advice, Reference: "udp(7), ip(7)"})
}
