package tcp

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// Retransmission finds data that was sent again, and says how much was lost.
func Retransmission() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/retransmission",
			Title: "data was sent again",
			Method: "A packet with payload that begins below the highest sequence number seen is a retransmission if any of its data was captured before. If none was, it fills a hole: it was sent again if its IP identification is above, " +
				"or its timestamp newer than, those of the packets that came before; where neither tells, if the hole is older than a round trip (3 ms if that is unknown); otherwise it came late (tcp/reordering). " +
				"Copies in the capture, keep-alives and window probes are set aside before, the data of a refused Fast Open SYN, SYN and FIN are not counted. " +
				"Why it was sent: fast, if since the last new ACK duplicate ACKs or SACK blocks told of a hole in what was then outstanding (RFC 5681, RFC 6675, RACK); by the timer, if it is the first unacknowledged byte after at least 200 ms of silence, and so until all that was sent before is acknowledged; " +
				"a tail-loss probe, if it is the last segment, at least 1.5 round trips after the last sending, and no ACK told of a hole. " +
				"Lost are the retransmitted packets on the wire that were not needless (tcp/spurious-retransmission).",
			Params: []finding.Param{
				{Name: "notice-loss", Default: 0.001, Unit: "ratio", Doc: "lost packets per data packet on the wire from which the finding is a notice; by Mathis et al. (1997) 39 segments per round trip"},
				{Name: "warning-loss", Default: 0.01, Unit: "ratio", Doc: "and a warning; by the same formula 12 segments per round trip, 7 Mbit/s at 20 ms"},
			},
			FalsePositives: "What the sender resends needlessly but no D-SACK or earlier ACK shows is counted as lost. A capture that drops packets turns retransmissions into first sendings. " +
				"tshark calls retransmissions that follow within 3 ms or the initial round trip out-of-order, also on the sender's side where that cannot be; it counts the copies of a capture with several interfaces; tcptrace calls every filler of a hole out-of-order.",
			References: []string{"RFC 5681 section 3.2", "RFC 6298", "RFC 6675", "RFC 8985", "Mathis et al., The macroscopic behavior of the TCP congestion avoidance algorithm, CCR 27(3), 1997"},
		},
		Judge: perServer(byCopies|byCut|byLoss|byClock, judgeRetransmission),
	}
}

func judgeRetransmission(s *trial) (f finding.Finding, ok bool) {
	var sum Loss
	var data int64
	var parts []string
	for dir := range s.Directions {
		d := &s.Directions[dir]
		if d.RetransmittedPackets == 0 {
			continue
		}
		sum.add(&d.Loss)
		data += d.WirePackets
		parts = append(parts, fmt.Sprintf("%s %d of %d", ways[dir], d.RetransmittedPackets, d.DataPackets))
		f.Evidence = append(f.Evidence, s.evidence(dir, resentText, retransmission)...)
	}
	if len(parts) == 0 {
		return f, false
	}
	rate := share(sum.LostPackets, data)
	f.Effect = finding.Effect{Lost: sum.TimeoutTime, Share: min(1, share(sum.TimeoutTime, s.End-s.Start))}
	switch {
	case sum.LostPackets > 0 && (rate >= s.params["warning-loss"] || sum.Timeouts > 0):
		f.Severity = finding.Warning
	case sum.LostPackets > 0 && rate >= s.params["notice-loss"]:
		f.Severity = finding.Notice
	}
	f.Confidence, f.Reasons = s.order()
	f.Summary = fmt.Sprintf("data packets sent again: %s; %s lost on the wire (%s)", strings.Join(parts, ", "), count(sum.LostPackets, "packet"), unit.Percent(rate))
	if causes := sum.Causes(); causes != "" {
		f.Summary += "; " + causes
	}
	if sum.SpuriousPackets > 0 {
		f.Summary += fmt.Sprintf(", %d of the resent ones needless", sum.SpuriousPackets)
	}
	if sum.Timeouts > 0 {
		f.Summary += fmt.Sprintf("; %s took %v", count(sum.Timeouts, "timeout"), sum.TimeoutTime)
	}
	f.Measures = []finding.Measure{
		{Name: "retransmitted_packets", Value: float64(sum.RetransmittedPackets), Unit: "packets"},
		{Name: "retransmitted_wire_packets", Value: float64(sum.RetransmittedWirePackets), Unit: "packets"},
		{Name: "lost_packets", Value: float64(sum.LostPackets), Unit: "packets"},
		{Name: "loss_rate", Value: rate, Unit: "ratio", Threshold: finding.Threshold(s.params["warning-loss"])},
		{Name: "fast_packets", Value: float64(sum.FastPackets), Unit: "packets"},
		{Name: "probe_packets", Value: float64(sum.ProbePackets), Unit: "packets"},
		{Name: "timeout_packets", Value: float64(sum.TimeoutPackets), Unit: "packets"},
		{Name: "timeouts", Value: float64(sum.Timeouts), Unit: "timeouts"},
		{Name: "time_lost", Value: float64(sum.TimeoutTime), Unit: "ns"},
	}
	f.Advice = []finding.Advice{
		{Text: "look for the place that drops: ethtool -S DEV (rx_missed, rx_no_buffer, fifo errors), tc -s qdisc show dev DEV, nstat -az | grep -i retrans, at both ends and on the way", Reference: "ethtool(8), tc(8), nstat(8)"},
		s.show("tcp.analysis.retransmission || tcp.analysis.out_of_order"),
	}
	return f, true
}

func resentText(_ *Connection, e *Event) string {
	return fmt.Sprintf("sends data again, %v after the last data of this direction", unit.Nanos(e.Value))
}
