package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// Reordering finds packets that arrive behind packets which were sent after them.
func Reordering() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/reordering",
			Title: "packets arrive in another order than they were sent in",
			Method: "A packet with payload fills a hole that later packets left, and was sent before them: its IP identification is below theirs, or its timestamp is older; where neither tells, the hole is younger than a round trip " +
				"(3 ms if that is unknown).",
			Params: []finding.Param{
				{Name: "notice-share", Default: 0.01, Unit: "ratio", Doc: "late packets per data packet from which the finding is a notice; own choice: one in a hundred"},
			},
			FalsePositives: "Seen only on the way or at the receiver. Several queues of a capturing device can record packets in another order than they came in. tshark calls late packets retransmissions when three duplicate ACKs came first, tcptrace counts retransmissions that fill a hole among them.",
			References:     []string{"RFC 4737", "RFC 8985 section 3.2 (RACK's reordering window)"},
		},
		Judge: perServer(byCopies|byLoss|byClock, judgeReordering),
	}
}

func judgeReordering(s *trial) (f finding.Finding, ok bool) {
	var late, data int64
	for dir := range s.Directions {
		d := &s.Directions[dir]
		if d.ReorderedPackets > 0 {
			late += d.ReorderedPackets
			data += d.DataPackets
			f.Evidence = append(f.Evidence, s.evidence(dir, lateText, reordering)...)
		}
	}
	if late == 0 {
		return f, false
	}
	rate := share(late, data)
	if rate >= s.params["notice-share"] {
		f.Severity = finding.Notice
	}
	f.Confidence, f.Reasons = s.order()
	f.Summary = fmt.Sprintf("%d of %d data packets came late, behind packets that were sent after them (%s)", late, data, unit.Percent(rate))
	f.Measures = []finding.Measure{
		{Name: "reordered_packets", Value: float64(late), Unit: "packets"},
		{Name: "reordered_share", Value: rate, Unit: "ratio", Threshold: finding.Threshold(s.params["notice-share"])},
	}
	f.Advice = []finding.Advice{
		{Text: "look for one flow on several paths or queues: per-packet load balancing, bonding with mode balance-rr, several transmit queues of one flow (XPS), receive steering that changes; ethtool -S DEV and ip -d link show", Reference: "RFC 4737; Linux Documentation/networking/scaling.rst"},
		s.show("tcp.analysis.out_of_order || tcp.analysis.retransmission"),
	}
	return f, true
}

func lateText(_ *Connection, e *Event) string {
	return fmt.Sprintf("fills a hole that later packets had left open for %v", unit.Nanos(e.Value))
}
