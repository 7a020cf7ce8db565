package tcp

import (
	"fmt"

	"nettrace/finding"
)

// StretchACK finds receivers that acknowledge more than two full-sized segments at once, most of the time.
func StretchACK() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/stretch-ack",
			Title: "the receiver acknowledges many segments at once",
			Method: "A stretch ACK is a packet without payload that acknowledges more than 2*RMSS bytes, RMSS being the MSS option of the acknowledging end. Data that came in order only: not the ACKs that end a recovery. " +
				"Answers that carry the ACK, SYN and RST do not count. Its degree is the bytes acknowledged over the effective MSS of the data. " +
				"A direction is reported if stretch ACKs of a degree above 4 cover more than byte-share of the bytes acknowledged and there are at least min-acks of them. " +
				"Severity follows effect: info, unless at least one percent of the data in the same direction was lost, when bursts that such ACKs release make loss likelier and every lost ACK costs more.",
			Params: []finding.Param{
				{Name: "min-acks", Default: 8, Unit: "packets", Doc: "stretch ACKs of a degree above 4 that there must be; own choice: five of 269 (a receiver without GRO whose reader held the socket) are none of its habits"},
				{Name: "byte-share", Default: 0.5, Unit: "ratio", Doc: "part of the acknowledged bytes that they must cover; own choice: most of the transfer"},
				{Name: "notice-loss", Default: 0.01, Unit: "ratio", Doc: "loss in the same direction from which the finding is a notice; at 1 % Mathis et al. (1997) give 12 segments per round trip"},
			},
			FalsePositives: "On the sender's side a stretch may be the loss or thinning of ACKs on the path (RFC 3449): the receiver's capture tells. Linux senders count bytes acknowledged since 2015, so that window growth does not suffer; how many rounds of slow start an older stack lost is not judged. " +
				"tshark and tcptrace know no stretch ACKs.",
			References: []string{"RFC 5681 section 4.2", "RFC 2525 section 2.13", "RFC 9293 section 3.8.6.3", "RFC 3449 section 5.2", "Linux net/ipv4/tcp_input.c: __tcp_ack_snd_check"},
		},
		Judge: perServer(byOffload|byCut|byLoss, judgeStretchACK),
	}
}

func judgeStretchACK(s *trial) (f finding.Finding, ok bool) {
	var sum ACKs
	var dirs []int
	lossy := false
	for dir := range s.Directions {
		d := &s.Directions[dir]
		a := d.ACKs
		if float64(a.Big) >= s.params["min-acks"] && share(a.BigBytes, a.Bytes) > s.params["byte-share"] {
			dirs = append(dirs, dir)
			lossy = lossy || d.LostPackets > 0 && share(d.LostPackets, d.WirePackets) >= s.params["notice-loss"]
			sum.add(&a)
			f.Evidence = append(f.Evidence, s.evidence(dir, stretchText(s.MSS[dir]), stretchACK)...)
		} else {
			sum.Advancing += a.Advancing
		}
	}
	if len(dirs) == 0 {
		return f, false
	}
	data := dirs[0]
	d := &s.Directions[data]
	f.Confidence = finding.High
	f.Severity = finding.Info
	if lossy {
		f.Severity = finding.Notice
	}
	f.Summary = fmt.Sprintf("the %s acknowledges %s in %d stretch ACKs of %d advancing ones (up to %.0f segments at once, %.0f %% of the bytes)",
		senders[1-data], ways[data]+" data", sum.Stretch, sum.Advancing, sum.LargestDegree, 100*share(sum.StretchBytes, sum.Bytes))
	cause, reason := s.stretchCause(data)
	f.Summary += "; " + cause
	f.Reasons = []string{reason}
	f.Measures = []finding.Measure{
		{Name: "stretch_acks", Value: float64(sum.Stretch), Unit: "packets", Threshold: finding.Threshold(s.params["min-acks"])},
		{Name: "advancing_acks", Value: float64(sum.Advancing), Unit: "packets"},
		{Name: "largest_degree", Value: sum.LargestDegree, Unit: "MSS"},
		{Name: "stretch_byte_share", Value: share(sum.StretchBytes, sum.Bytes), Unit: "ratio", Threshold: finding.Threshold(s.params["byte-share"])},
		{Name: "lost_packets", Value: float64(d.LostPackets), Unit: "packets"},
	}
	f.Advice = []finding.Advice{
		{Text: fmt.Sprintf("if the sender's window grows slowly or bursts are dropped, try on the %s: ethtool -K DEV gro off lro off, and compare throughput and CPU", senders[1-data]), Reference: "ethtool(8) --offload"},
		{Text: fmt.Sprintf("on a Linux %s, smooth the bursts instead: sysctl net.core.default_qdisc=fq", senders[data]), Reference: "tc-fq(8)"},
		s.show(fmt.Sprintf("tcp.len == 0 && tcp.dstport %s %d", [2]string{"!=", "=="}[data], s.Endpoint.Port())),
	}
	return f, true
}

// stretchCause says what makes the ACKs so few, as far as the capture tells.
func (s *trial) stretchCause(data int) (cause, reason string) {
	receiver := endNames[1-data]
	merged := s.Directions[data].SuperSegments > 0
	for _, k := range s.connections() {
		if !k.Side.at(receiver) {
			continue
		}
		if merged {
			return "its GRO or LRO hands up merged packets, and one ACK covers each", "captured at the receiver, above its offload: the data packets there are merged"
		}
		return "packets are not merged where this was captured: they are merged behind it, or the ACKs wait for a busy reader", "captured at the receiver or next to it: single packets arrive, few ACKs leave"
	}
	return "its GRO or LRO merges packets, or ACKs were lost or thinned on the path", "not captured at the receiver: the cause is not established"
}

func stretchText(mss int) func(*Connection, *Event) string {
	return func(_ *Connection, e *Event) string {
		return fmt.Sprintf("acknowledges %d bytes at once, %.1f segments", e.Value, float64(e.Value)/float64(max(mss, 1)))
	}
}
