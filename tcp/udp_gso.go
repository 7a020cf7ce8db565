package tcp

import (
	"cmp"
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// UDPGSO finds datagrams that segmentation offload makes or merges, so that the capture shows fewer and larger ones than
// the wire, and batches that end in a small rest.
func UDPGSO() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "udp/gso",
			Title: "UDP super-datagrams: the wire has more packets than the capture",
			Method: "With UDP_SEGMENT a sender hands up to 128 datagrams (64 before Linux 6.9) to the kernel as one of up to 64 KiB, and UDP GRO merges received ones the same way. Such a packet is no IP fragment and is larger than an Ethernet frame, with a checksum that was left to the device; above 9216 bytes, the largest frame that switches pass, it needs no further sign. " +
				"A datagram of it is as large as the largest that the flow sends singly, or as an Ethernet frame allows. A rest of at most an eighth of that is a packet of its own which a batch one byte shorter would not have needed.",
			Params: []finding.Param{
				{Name: "min-super", Default: 4, Unit: "packets", Doc: "super-datagrams below which nothing is said; own choice"},
				{Name: "notice-tails", Default: 0.25, Unit: "ratio", Doc: "part of the super-datagrams that end in a small rest from which the finding is a notice; by chance one in eight does"},
			},
			FalsePositives: "On a link with jumbo frames, datagrams between 1500 and 9216 bytes are single ones: the confidence is medium where all are in that range. The size of a datagram inside is not in the packet; where none was seen singly, an Ethernet frame's is assumed.",
			References:     []string{"udp(7) UDP_SEGMENT, UDP_GRO", "Linux net/ipv4/udp_offload.c: __udp_gso_segment, udp_gro_complete"},
		},
		Judge: perFlowHost(judgeUDPGSO),
	}
}

func judgeUDPGSO(t *flowTrial) (f finding.Finding, ok bool) {
	var super, wire, bytes, tails int64
	largest, segment, seen := 0, 0, true
	size := map[int64]int64{}
	for _, flow := range t.flows {
		for dir := range flow.Directions {
			d := &flow.Directions[dir]
			if d.Super == 0 {
				continue
			}
			super += d.Super
			bytes += d.SuperBytes
			wire += d.WirePackets - (d.Packets - d.Super)
			tails += d.Tails
			largest, segment, seen = max(largest, d.LargestBytes), max(segment, d.SegmentBytes), seen && d.SegmentSeen
			f.Evidence = append(f.Evidence, t.at(flow, d.WorstSuper, "%s, %d bytes: about %d on the wire", ways[dir], d.WorstSuper.Value, (d.WorstSuper.Value+int64(d.SegmentBytes)-1)/int64(max(d.SegmentBytes, 1))))
			size[d.WorstSuper.Record] = d.WorstSuper.Value
		}
	}
	if float64(super) < t.params["min-super"] {
		return f, false
	}
	part := share(tails, super)
	f.Summary = fmt.Sprintf("%s of up to %s stand for about %s datagrams of %d bytes on the wire", count(super, "super-datagram"), unit.Bytes(int64(largest)), unit.Count(wire), segment)
	if part >= t.params["notice-tails"] {
		f.Severity = finding.Notice
		f.Summary += fmt.Sprintf("; %s of them end in a small rest, a packet of its own", unit.Count(tails))
		f.Effect = finding.Effect{Share: share(tails, wire)}
		f.Advice = append(f.Advice, finding.Advice{Text: fmt.Sprintf("hand over multiples of the segment size: at most %d bytes at once for segments of %d", 65507/max(segment, 1)*segment, segment), Reference: "udp(7) UDP_SEGMENT"})
	}
	f.Confidence, f.Reasons = finding.High, []string{"larger than any frame"}
	if largest+28 <= jumboMTU {
		f.Confidence, f.Reasons = finding.Medium, []string{"larger than an Ethernet frame with the checksum left to the device; jumbo frames would look the same"}
	}
	if !seen {
		f.Caveats = append(f.Caveats, "the size of a datagram was not seen; an Ethernet frame's is assumed")
	}
	f.Measures = []finding.Measure{
		{Name: "super_datagrams", Value: float64(super), Unit: "packets", Threshold: finding.Threshold(t.params["min-super"])},
		{Name: "wire_packets", Value: float64(wire), Unit: "packets"},
		{Name: "segment", Value: float64(segment), Unit: "bytes"},
		{Name: "tails_hidden", Value: float64(tails), Unit: "packets"},
		{Name: "tails_share", Value: part, Unit: "ratio", Threshold: finding.Threshold(t.params["notice-tails"])},
	}
	f.Evidence = handful(f.Evidence, func(a, b finding.Evidence) int {
		return cmp.Or(cmp.Compare(size[b.Record], size[a.Record]), cmp.Compare(a.Record, b.Record))
	})
	f.Advice = append(f.Advice, t.show("ip.len > 1500"))
	return f, true
}
