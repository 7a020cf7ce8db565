package tcp

import (
	"fmt"

	"nettrace/finding"
)

// AboveOffload finds captures whose packets are not those of the wire.
func AboveOffload() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:           "capture/above-offload",
			Title:          "captured above segmentation offload",
			Method:         "A packet with more payload than the effective MSS was not yet cut (TSO, GSO) or was merged (GRO, LRO) where it was captured. Large packets that the MSS allows, as on loopback or with jumbo frames, are none.",
			FalsePositives: "Where the handshake is not in the capture, the MSS is that of the common step of payload lengths, or of Ethernet.",
			References:     []string{"Linux Documentation/networking/segmentation-offloads.rst", "ethtool(8) --show-offload"},
		},
		Judge: perCapture(judgeAboveOffload),
	}
}

func judgeAboveOffload(c *Capture, _ finding.Params) (f finding.Finding, ok bool) {
	v := &c.Picture.Above
	if v.Count == 0 {
		return f, false
	}
	a := &c.Totals.Activity
	f.Confidence, f.Reasons = finding.High, []string{"more payload than a packet on the wire can carry"}
	f.Summary = fmt.Sprintf("%d of %d data packets are super-segments of up to %d bytes: the capture has %d data packets, the wire %d", v.Count, a.DataPackets, v.Worst.Value, a.DataPackets, a.WirePackets)
	f.Measures = []finding.Measure{
		{Name: "super_segments", Value: float64(v.Count), Unit: "packets"},
		{Name: "largest_payload", Value: float64(v.Worst.Value), Unit: "bytes"},
		{Name: "wire_packets", Value: float64(a.WirePackets), Unit: "packets"},
	}
	f.Evidence = c.show(v, func(s *Sight) string { return fmt.Sprintf("%d bytes in one packet", s.Value) })
	f.Advice = []finding.Advice{{Text: "to see packets and times of the wire, capture on the way (a tap or mirror port), or for a test: ethtool -K DEV tso off gso off gro off lro off, which changes what is measured", Reference: "ethtool(8) --offload"}}
	return f, true
}
