package tcp

import (
	"fmt"

	"nettrace/finding"
)

// SpuriousRetransmission finds data that was sent again although it had arrived.
func SpuriousRetransmission() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/spurious-retransmission",
			Title: "data was sent again although it had arrived",
			Method: "A retransmission was needless if a D-SACK covers it (the first SACK block lies below the ACK number or within the second block), if its data was acknowledged before it passed, " +
				"or if a capture taken at the receiving end holds all of its data for the second time.",
			Params: []finding.Param{
				{Name: "notice-share", Default: 0.01, Unit: "ratio", Doc: "needless packets per data packet from which the finding is a notice; own choice: one in a hundred"},
			},
			FalsePositives: "A network that duplicates packets causes D-SACKs too; they count only if the range was seen to be sent again. Of more than 32 retransmissions that wait for their D-SACK the oldest are forgotten. " +
				"Without SACK nothing but early acknowledgement shows. tshark marks only data that was acknowledged before.",
			References: []string{"RFC 2883 section 4", "RFC 8985 (tail loss probe)", "RFC 3522"},
		},
		Judge: perServer(byCopies|byCut|byLoss, judgeSpurious),
	}
}

func judgeSpurious(s *trial) (f finding.Finding, ok bool) {
	var sum Loss
	var data int64
	for dir := range s.Directions {
		d := &s.Directions[dir]
		if d.SpuriousPackets > 0 {
			sum.add(&d.Loss)
			data += d.DataPackets
			f.Evidence = append(f.Evidence, s.evidence(dir, spuriousText, spurious)...)
		}
	}
	if sum.SpuriousPackets == 0 {
		return f, false
	}
	rate := share(sum.SpuriousPackets, data)
	if rate >= s.params["notice-share"] {
		f.Severity = finding.Notice
	}
	f.Confidence, f.Reasons = finding.High, []string{"proven by D-SACK, by an earlier ACK or by the second arrival"}
	f.Summary = fmt.Sprintf("%d of %d retransmitted packets were needless: their data had arrived", sum.SpuriousPackets, sum.RetransmittedPackets)
	f.Measures = []finding.Measure{
		{Name: "spurious_packets", Value: float64(sum.SpuriousPackets), Unit: "packets"},
		{Name: "retransmitted_packets", Value: float64(sum.RetransmittedPackets), Unit: "packets"},
		{Name: "spurious_share", Value: rate, Unit: "ratio", Threshold: finding.Threshold(s.params["notice-share"])},
	}
	f.Advice = []finding.Advice{
		{Text: "ACKs that are late or lost cause them: look at the receiver's delayed ACKs and at the way back before blaming loss; nstat -az TcpExtTCPLossProbes TcpExtTCPDSACKRecv on the sender counts them", Reference: "RFC 8985 section 7; nstat(8)"},
		s.show("tcp.options.sack.dsack || tcp.analysis.retransmission"),
	}
	return f, true
}

func spuriousText(_ *Connection, e *Event) string {
	return fmt.Sprintf("sends %d bytes again that had arrived", e.Value)
}
