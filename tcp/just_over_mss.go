package tcp

import (
	"fmt"

	"nettrace/finding"
)

// JustOverMSS finds messages whose small rest hides at the end of a super-segment.
func JustOverMSS() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/just-over-mss",
			Title: "messages are a few bytes longer than a multiple of the MSS: one packet more on the wire, not visible in the capture",
			Method: tailMethod + " A tail is hidden if it ends a packet with more payload than the MSS: the sender's device (TSO) sends it as a packet of its own, or the receiver's (GRO, LRO) got it as one. " +
				"Only payload above the MSS proves a super-segment, so large packets of jumbo frames and loopback are none.",
			Params: tailParams(),
			FalsePositives: "The extra packet is predicted from lengths, not seen: a device may segment by another size (a lower path MTU that the handshake does not show; then payloads have another common step, and that is used). " +
				"Whether it costs anything depends on the load: packets per request count where interrupt moderation or a packet-rate limit does. tshark and tcptrace know no super-segments.",
			References: []string{"RFC 6691 (MSS and options)", "Linux net/ipv4/tcp_output.c: tcp_xmit_size_goal, tcp_tso_autosize", "Linux Documentation/networking/segmentation-offloads.rst"},
		},
		Judge: perServer(byOffload|byCut, judgeJustOverMSS),
	}
}

func judgeJustOverMSS(s *trial) (f finding.Finding, ok bool) {
	sum := sumTails(s, func(t *Tails) int64 { return t.Hidden })
	if sum.count == 0 {
		return f, false
	}
	wire := int64(0)
	for _, dir := range sum.dirs {
		wire += s.Directions[dir].Tails.WirePackets
		f.Evidence = append(f.Evidence, s.evidence(dir, hiddenText(s.MSS[dir]), tailHidden)...)
	}
	main := sum.dirs[0]
	t, mss := &s.Directions[main].Tails, s.MSS[main]
	f.Confidence, f.Reasons = s.mssReasons(main)
	f.Severity = finding.Info
	if share(sum.count, wire) >= s.params["notice-packets"] {
		f.Severity = finding.Notice
	}
	f.Summary = fmt.Sprintf("%s: %d of %d messages longer than the MSS end in a %s rest that is a packet of its own only on the wire (%s)", sum.wayNames(), sum.count, t.Messages, t.tailBytes(), t.lengths(mss))
	f.Measures = []finding.Measure{
		{Name: "tails_hidden", Value: float64(sum.count), Unit: "packets"},
		{Name: "messages", Value: float64(t.Messages), Unit: "messages"},
		{Name: "packet_share", Value: share(sum.count, wire), Unit: "ratio", Threshold: finding.Threshold(s.params["notice-packets"])},
	}
	f.Advice = []finding.Advice{
		t.sizeAdvice(mss),
		{Text: "to see the packets, capture on the wire (a mirror port, a router), or for a test without offload: ethtool -K DEV tso off gso off gro off", Reference: "ethtool(8) --offload"},
		{Text: "compare the packets per request in both directions with the receiver's interrupt moderation: ethtool -c DEV (adaptive-rx treats unequal counts as bulk traffic on some drivers)", Reference: "ethtool(8) --show-coalesce"},
		s.show(fmt.Sprintf("tcp.len > %d && tcp.flags.push == 1", mss)),
	}
	return f, true
}

func hiddenText(mss int) func(*Connection, *Event) string {
	return func(_ *Connection, e *Event) string {
		return fmt.Sprintf("the last packet of a message of %d bytes holds its last full segments and the %d bytes that are left", e.Value, e.Value%int64(mss))
	}
}
